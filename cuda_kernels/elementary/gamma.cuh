// The logarithm of gamma and its derivative.
//
// Written by `make generate` from gpubcast/hlo/elementary/gamma.py; do not edit.
#ifndef GB_ELEMENTARY_GAMMA_CUH
#define GB_ELEMENTARY_GAMMA_CUH

#include "scalar.cuh"

namespace gb {

// ln |gamma(x)|. Below 1/2: ln(pi / |sin(pi x)|) - lgamma(1 - x). From 3.5 on Stirling's
// series, between a polynomial around 2 and the logarithm of the factor that leads there.
GB_FN float lgamma(float x) {
  GB_ENTER
  const bool reflect = x < 0.5f;
  const float t = reflect ? (-x) : (x - 1.0f);
  const float z = t + 1.0f;
  const float t8 = z - t;
  const float z_low = (t - (z - t8)) + (1.0f - t8);
  const bool large = t >= 2.5f;
  const bool low_part = t < 0.5f;
  const bool high_part = t >= 1.5f;
  const float argument = (large | low_part) ? z : (high_part ? t : 1.0f);
  const float t22 = low_part ? z_low : 0.0f;
  const u32 t23 = bits_as<u32>(argument);
  const u32 t27 = static_cast<u32>(static_cast<i32>(t23 - 0x3f3504f3u) >> 23);
  const u32 t28 = t27 << 23;
  const float t31 = bits_as<float>(t23 - t28) - 1.0f;
  const float t32 = 0.5f * t31;
  const float t33 = t32 * t31;
  const float t34 = -t33;
  const float t36 = t31 + t34;
  const float t47 = fma(fma(fma(-0.07643457f, t31, 0.12767443f), t31, -0.13159648f), t31,
      0.14200921f);
  const float t53 = fma(fma(fma(t47, t31, -0.16623324f), t31, 0.20001261f), t31,
      -0.25000823f);
  const float t57 = fma(t31 * (t33 + t33), fma(t53, t31, 0.3333333f), -fma(t32, t31, t34));
  const float t63 = (t22 == 0.0f) ? 0.0f : bits_as<float>(bits_as<u32>(t22) - t28);
  const float t68 = fma(t63, fma(t31, fma(t31, 0.9f, -1.0f), 1.0f), (t34 - (t36 - t31)) +
      t57);
  const float t73 = bits_as<float>(t27 + 0x4b400000u) - 12582912.0f;
  const float t75 = t73 * 0.69314575f;
  const float t76 = t75 + t36;
  const float t81 = (t36 - (t76 - t75)) + fma(t73, 1.4286068e-06f, t68);
  const float steep = t76 + t81;
  const float t84 = t81 - (steep - t76);
  const float less = steep + (-1.0f);
  const float less_low = (-1.0f) - (less - steep);
  const float high = large ? less : steep;
  const float low = large ? (less_low + t84) : t84;
  const float factor = large ? (z - 0.5f) : (low_part ? (-1.0f) : 1.0f);
  const float d = t - (low_part ? 0.0f : (high_part ? 2.0f : 1.0f));
  const float inverse = 1.0f / z;
  const float t99 = inverse * inverse;
  const float t104 = fma(fma(-0.00052164396f, t99, 0.00079386716f), t99, -0.0027779315f);
  const float series = inverse * fma(t104, t99, 0.083333336f);
  const float t113 = fma(fma(-0.0003025823f, d, 0.00056123943f), d, -0.0011615226f);
  const float t119 = fma(fma(fma(t113, d, 0.002882563f), d, -0.007389929f), d, 0.02058121f);
  const float t124 = d * fma(fma(t119, d, -0.067352116f), d, 0.32246703f);
  const float slope = 0.42278433f + t124;
  const float slope_low = t124 - (slope - 0.42278433f);
  const float t128 = d * slope;
  const float other = large ? 0.41893855f : t128;
  const float other_low = large ? fma(steep, z_low, series + (-1.4168145e-08f)) : fma(d,
      slope_low + 6.63777e-09f, fma(d, slope, -t128));
  const float product = factor * high;
  const float product_low = fma(factor, high, -product);
  const float value = product + other;
  const float t144 = value - product;
  const float t150 = ((product - (value - t144)) + (other - t144)) + fma(factor, low,
      product_low);
  const float value_low = t150 + other_low;
  const float r = fabs(x - rint(x));
  const float square = r * r;
  const float t160 = fma(fma(-0.0022146916f, square, 0.02610443f), square, -0.19074535f);
  const float t165 = square * fma(fma(t160, square, 0.811742f), square, -1.644934f);
  const float t166 = 1.0f + t165;
  const bool small = r < 7.888609e-31f;
  const float scaled = small ? (r * 2.8147498e+14f) : r;
  const float sine = scaled * t166;
  const float error = fma(scaled, t166, -sine);
  const float sine_low = fma(scaled, t165 - (t166 - 1.0f), error);
  const u32 t180 = bits_as<u32>(sine);
  const u32 t182 = static_cast<u32>(static_cast<i32>(t180 - 0x3f3504f3u) >> 23);
  const u32 t183 = t182 << 23;
  const float t186 = bits_as<float>(t180 - t183) - 1.0f;
  const float t187 = 0.5f * t186;
  const float t188 = t187 * t186;
  const float t189 = -t188;
  const float t191 = t186 + t189;
  const float t198 = fma(fma(fma(-0.07643457f, t186, 0.12767443f), t186, -0.13159648f), t186,
      0.14200921f);
  const float t201 = fma(fma(fma(t198, t186, -0.16623324f), t186, 0.20001261f), t186,
      -0.25000823f);
  const float t204 = fma(t186 * (t188 + t188), fma(t201, t186, 0.3333333f), -fma(t187, t186,
      t189));
  const float t210 = (sine_low == 0.0f) ? 0.0f : bits_as<float>(bits_as<u32>(sine_low) -
      t183);
  const float t213 = fma(t210, fma(t186, fma(t186, 0.9f, -1.0f), 1.0f), (t189 - (t191 -
      t186)) + t204);
  const float t217 = (bits_as<float>(t182 + 0x4b400000u) - 12582912.0f) + (small ? (-48.0f) :
      0.0f);
  const float t218 = t217 * 0.69314575f;
  const float log = t218 + t191;
  const float log_low = (t191 - (log - t218)) + fma(t217, 1.4286068e-06f, t213);
  const float t224 = log + value;
  const float t225 = t224 - log;
  const float total_low = (((log - (t224 - t225)) + (value - t225)) + log_low) + value_low;
  const float total = -(t224 + total_low);
  const float t237 = (value < bits_as<float>(0x7f800000u)) ? (value + value_low) : value;
  const float result = reflect ? total : t237;
  const bool pole = (reflect ? r : 1.0f) == 0.0f;
  const float t244 = (pole | (fabs(x) == bits_as<float>(0x7f800000u))) ?
      bits_as<float>(0x7f800000u) : result;
  return t244;
}

// ln |gamma(x)|. Below 1/2: ln(pi / |sin(pi x)|) - lgamma(1 - x). From 3.5 on Stirling's
// series, between a polynomial around 2 and the logarithm of the factor that leads there.
GB_FN double lgamma(double x) {
  GB_ENTER
  const bool reflect = x < 0.5;
  const double t = reflect ? (-x) : (x - 1.0);
  const double z = t + 1.0;
  const double t8 = z - t;
  const double z_low = (t - (z - t8)) + (1.0 - t8);
  const bool large = t >= 2.5;
  const bool low_part = t < 0.5;
  const bool high_part = t >= 1.5;
  const double argument = (large | low_part) ? z : (high_part ? t : 1.0);
  const double t22 = low_part ? z_low : 0.0;
  const u64 t23 = bits_as<u64>(argument);
  const u64 t27 = static_cast<u64>(static_cast<i64>(t23 - 0x3fe6a09e667f3bcdull) >> 52);
  const u64 t28 = t27 << 52;
  const double t31 = bits_as<double>(t23 - t28) - 1.0;
  const double t32 = 0.5 * t31;
  const double t33 = t32 * t31;
  const double t34 = -t33;
  const double t36 = t31 + t34;
  const double t45 = fma(fma(-0.02431663868850226, t31, 0.05702826792959752), t31,
      -0.0627663511376849);
  const double t49 = fma(fma(t45, t31, 0.05414363243414106), t31, -0.05325878640637993);
  const double t53 = fma(fma(t49, t31, 0.05817895478325771), t31, -0.0626995347889356);
  const double t57 = fma(fma(t53, t31, 0.06675155086785937), t31, -0.07141987054483441);
  const double t61 = fma(fma(t57, t31, 0.07691712893037726), t31, -0.08333346389682886);
  const double t65 = fma(fma(t61, t31, 0.09090933610753268), t31, -0.10000000365738536);
  const double t69 = fma(fma(t65, t31, 0.1111111051256426), t31, -0.12499999982288176);
  const double t73 = fma(fma(t69, t31, 0.14285714293901283), t31, -0.16666666666912378);
  const double t77 = fma(fma(t73, t31, 0.19999999999945653), t31, -0.24999999999998926);
  const double t81 = fma(t31 * (t33 + t33), fma(t77, t31, 0.33333333333333454), -fma(t32,
      t31, t34));
  const double t92 = fma((t22 == 0.0) ? 0.0 : bits_as<double>(bits_as<u64>(t22) - t28),
      fma(t31, fma(t31, 0.9, -1.0), 1.0), (t34 - (t36 - t31)) + t81);
  const double t97 = bits_as<double>(t27 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t99 = t97 * 0.6931471805598903;
  const double t100 = t99 + t36;
  const double t105 = (t36 - (t100 - t99)) + fma(t97, 5.497923018708371e-14, t92);
  const double steep = t100 + t105;
  const double t108 = t105 - (steep - t100);
  const double less = steep + (-1.0);
  const double less_low = (-1.0) - (less - steep);
  const double high = large ? less : steep;
  const double low = large ? (less_low + t108) : t108;
  const double factor = large ? (z - 0.5) : (low_part ? (-1.0) : 1.0);
  const double d = t - (low_part ? 0.0 : (high_part ? 2.0 : 1.0));
  const double inverse = 1.0 / z;
  const double t123 = inverse * inverse;
  const double t128 = fma(fma(0.4830295187035231, t123, -0.3083401779043376), t123,
      0.1011073969815977);
  const double t132 = fma(fma(t128, t123, -0.02516996814944383), t123, 0.0062335684698658);
  const double t136 = fma(fma(t132, t123, -0.001912586968411943), t123,
      0.0008416592516054223);
  const double t140 = fma(fma(t136, t123, -0.0005952370376343989), t123,
      0.0007936507867864125);
  const double t144 = fma(fma(t140, t123, -0.0027777777777570757), t123, 0.08333333333333331);
  const double series = inverse * t144;
  const double t151 = fma(fma(3.080896332705301e-07, d, -5.806152196056352e-07), d,
      8.893123093381746e-07);
  const double t155 = fma(fma(t151, d, -1.974939780123102e-06), d, 4.397935839387542e-06);
  const double t159 = fma(fma(t155, d, -9.455977620550951e-06), d, 2.0502577393763665e-05);
  const double t163 = fma(fma(t159, d, -4.492380756670971e-05), d, 9.945806274628894e-05);
  const double t167 = fma(fma(t163, d, -0.0002231549659356592), d, 0.0005096694870965465);
  const double t171 = fma(fma(t167, d, -0.001192753901925129), d, 0.00289051033211252);
  const double t175 = fma(fma(t171, d, -0.007385551028896697), d, 0.020580808427762484);
  const double t179 = fma(fma(t175, d, -0.06735230105319635), d, 0.3224670334241133);
  const double t180 = d * t179;
  const double slope = 0.42278433509846713 + t180;
  const double slope_low = t180 - (slope - 0.42278433509846713);
  const double t184 = d * slope;
  const double t189 = fma(d, slope_low + 4.942915152430645e-18, fma(d, slope, -t184));
  const double other = large ? 0.4189385332046727 : t184;
  const double other_low = large ? fma(steep, z_low, series + 1.6728209650585413e-17) : t189;
  const double product = factor * high;
  const double product_low = fma(factor, high, -product);
  const double value = product + other;
  const double t200 = value - product;
  const double t206 = ((product - (value - t200)) + (other - t200)) + fma(factor, low,
      product_low);
  const double value_low = t206 + other_low;
  const double r = fabs(x - rint(x));
  const double square = r * r;
  const double t216 = fma(fma(2.4526351676234745e-07, square, -6.972343907281148e-06),
      square, 0.00014842794580950888);
  const double t220 = fma(fma(t216, square, -0.0023460809189509934), square,
      0.02614784780852221);
  const double t224 = fma(fma(t220, square, -0.19075182412170458), square,
      0.8117424252833467);
  const double t227 = square * fma(t224, square, -1.6449340668482264);
  const double t228 = 1.0 + t227;
  const bool small = r < 1.1830521861667747e-271;
  const double scaled = small ? (r * 3.402823669209385e+38) : r;
  const double sine = scaled * t228;
  const double error = fma(scaled, t228, -sine);
  const double sine_low = fma(scaled, t227 - (t228 - 1.0), error);
  const u64 t242 = bits_as<u64>(sine);
  const u64 t244 = static_cast<u64>(static_cast<i64>(t242 - 0x3fe6a09e667f3bcdull) >> 52);
  const u64 t245 = t244 << 52;
  const double t248 = bits_as<double>(t242 - t245) - 1.0;
  const double t249 = 0.5 * t248;
  const double t250 = t249 * t248;
  const double t251 = -t250;
  const double t253 = t248 + t251;
  const double t259 = fma(fma(-0.02431663868850226, t248, 0.05702826792959752), t248,
      -0.0627663511376849);
  const double t261 = fma(fma(t259, t248, 0.05414363243414106), t248, -0.05325878640637993);
  const double t263 = fma(fma(t261, t248, 0.05817895478325771), t248, -0.0626995347889356);
  const double t265 = fma(fma(t263, t248, 0.06675155086785937), t248, -0.07141987054483441);
  const double t267 = fma(fma(t265, t248, 0.07691712893037726), t248, -0.08333346389682886);
  const double t269 = fma(fma(t267, t248, 0.09090933610753268), t248, -0.10000000365738536);
  const double t271 = fma(fma(t269, t248, 0.1111111051256426), t248, -0.12499999982288176);
  const double t273 = fma(fma(t271, t248, 0.14285714293901283), t248, -0.16666666666912378);
  const double t275 = fma(fma(t273, t248, 0.19999999999945653), t248, -0.24999999999998926);
  const double t278 = fma(t248 * (t250 + t250), fma(t275, t248, 0.33333333333333454),
      -fma(t249, t248, t251));
  const double t284 = (sine_low == 0.0) ? 0.0 : bits_as<double>(bits_as<u64>(sine_low) -
      t245);
  const double t287 = fma(t284, fma(t248, fma(t248, 0.9, -1.0), 1.0), (t251 - (t253 - t248))
      + t278);
  const double t290 = bits_as<double>(t244 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t291 = t290 + (small ? (-128.0) : 0.0);
  const double t292 = t291 * 0.6931471805598903;
  const double log = t292 + t253;
  const double log_low = (t253 - (log - t292)) + fma(t291, 5.497923018708371e-14, t287);
  const double t298 = log + value;
  const double t299 = t298 - log;
  const double total_low = (((log - (t298 - t299)) + (value - t299)) + log_low) + value_low;
  const double total = -(t298 + total_low);
  const double t311 = (value < bits_as<double>(0x7ff0000000000000ull)) ? (value + value_low)
      : value;
  const double result = reflect ? total : t311;
  const bool pole = (reflect ? r : 1.0) == 0.0;
  const double t318 = (pole | (fabs(x) == bits_as<double>(0x7ff0000000000000ull))) ?
      bits_as<double>(0x7ff0000000000000ull) : result;
  return t318;
}

// The derivative of lgamma. Below 1/2: digamma(1 - x) - pi cot(pi x). From 3.5 on Stirling's
// series, between a polynomial on [1, 2.5] and at most one step of digamma(z + 1) - 1 / z.
GB_FN float digamma(float x) {
  GB_ENTER
  const bool reflect = x < 0.5f;
  const float t = reflect ? (-x) : (x - 1.0f);
  const float z = t + 1.0f;
  const bool t9 = t < 0.0f;
  const bool t11 = t >= 1.5f;
  const bool large = t >= 2.5f;
  const float y = t9 ? (t + 2.0f) : (t11 ? t : z);
  const float t22 = y - 1.5f;
  const float t27 = fma(fma(-0.0015564708f, t22, 0.006919937f), t22, -0.013949183f);
  const float t33 = fma(fma(fma(t27, t22, 0.019587401f), t22, -0.026859622f), t22,
      0.040305793f);
  const float t39 = fma(fma(fma(t33, t22, -0.061865386f), t22, 0.09503521f), t22,
      -0.14841223f);
  const float t45 = fma(fma(fma(t39, t22, 0.24054077f), t22, -0.42362723f), t22, 0.9510559f);
  const float t46 = ((y - 1.4616321f) - 1.243815e-08f) * t45;
  const float divisor = (large | t9) ? z : (t11 ? t : 1.0f);
  const float t50 = 1.0f / divisor;
  const float t51 = -t50;
  const float step = t9 ? t51 : (t11 ? t50 : 0.0f);
  const float near = t46 + step;
  const float t55 = near - t46;
  const float near_low = fma(fma(t51, divisor, 1.0f), step, (t46 - (near - t55)) + (step -
      t55));
  const u32 t63 = bits_as<u32>(large ? z : 1.0f);
  const u32 t67 = static_cast<u32>(static_cast<i32>(t63 - 0x3f3504f3u) >> 23);
  const float t71 = bits_as<float>(t63 - (t67 << 23)) - 1.0f;
  const float t72 = 0.5f * t71;
  const float t73 = t72 * t71;
  const float t74 = -t73;
  const float t76 = t71 + t74;
  const float t87 = fma(fma(fma(-0.07643457f, t71, 0.12767443f), t71, -0.13159648f), t71,
      0.14200921f);
  const float t93 = fma(fma(fma(t87, t71, -0.16623324f), t71, 0.20001261f), t71,
      -0.25000823f);
  const float t97 = fma(t71 * (t73 + t73), fma(t93, t71, 0.3333333f), -fma(t72, t71, t74));
  const float t103 = bits_as<float>(t67 + 0x4b400000u) - 12582912.0f;
  const float t105 = t103 * 0.69314575f;
  const float high = t105 + t76;
  const float low = (t76 - (high - t105)) + fma(t103, 1.4286068e-06f, (t74 - (t76 - t71)) +
      t97);
  const float t112 = t50 * t50;
  const float t117 = fma(fma(-0.0030674594f, t112, 0.0039018712f), t112, -0.008331693f);
  const float series = fma(t112, fma(t117, t112, 0.08333332f), 0.5f * t50);
  const float value = large ? high : near;
  const float value_low = large ? (low - series) : near_low;
  const float r = x - rint(x);
  const float size = fabs(r);
  const bool far = size > 0.25f;
  const float q = far ? (0.5f - size) : size;
  const float square = q * q;
  const float unit = far ? 9.869604f : 1.0f;
  const float unit_low = far ? 2.903716e-07f : 0.0f;
  const float t141 = fma(fma(-0.18759859f, square, 0.8116271f), square, -1.6449329f);
  const float t143 = unit * (square * t141);
  const float t144 = unit + t143;
  const float sine = q * t144;
  const float sine_low = fma(q, (t143 - (t144 - unit)) + unit_low, fma(q, t144, -sine));
  const float t156 = fma(fma(0.22875498f, square, -1.3347362f), square, 4.0586963f);
  const float t159 = square * fma(t156, square, -4.934802f);
  const float cosine = 1.0f + t159;
  const float cosine_low = t159 - (cosine - 1.0f);
  const float above = far ? sine : cosine;
  const float above_low = far ? sine_low : cosine_low;
  const float below = far ? cosine : sine;
  const float below_low = far ? cosine_low : sine_low;
  const float inverse = 1.0f / below;
  const float cotangent = above * inverse;
  const float t169 = -cotangent;
  const float error = fma(t169, below, above) + fma(t169, below_low, above_low);
  const float sign = bits_as<float>(bits_as<u32>(1.0f) | (bits_as<u32>(r) & 0x80000000u));
  const float t179 = t169 * sign;
  const float t180 = value + t179;
  const float t181 = t180 - value;
  const float total_low = (value - (t180 - t181)) + (t179 - t181);
  const float total = (cotangent < bits_as<float>(0x7f800000u)) ? (t180 + fma((-error) *
      inverse, sign, total_low + value_low)) : t179;
  const float result = reflect ? total : (value + value_low);
  const bool pole = (reflect ? r : 1.0f) == 0.0f;
  const float t199 = (x == bits_as<float>(0x7f800000u)) ? bits_as<float>(0x7f800000u) :
      result;
  return pole ? bits_as<float>(0x7fc00000u) : t199;
}

// The derivative of lgamma. Below 1/2: digamma(1 - x) - pi cot(pi x). From 3.5 on Stirling's
// series, between a polynomial on [1, 2.5] and at most one step of digamma(z + 1) - 1 / z.
GB_FN double digamma(double x) {
  GB_ENTER
  const bool reflect = x < 0.5;
  const double t = reflect ? (-x) : (x - 1.0);
  const double z = t + 1.0;
  const bool t9 = t < 0.0;
  const bool t11 = t >= 1.5;
  const bool large = t >= 2.5;
  const double y = t9 ? (t + 2.0) : (t11 ? t : z);
  const double t22 = y - 1.5;
  const double t27 = fma(fma(-1.2288386058293066e-06, t22, 9.761872964195006e-06), t22,
      -3.4679651498778426e-05);
  const double t31 = fma(fma(t27, t22, 7.393006864170139e-05), t22, -0.00011132704378449644);
  const double t35 = fma(fma(t31, t22, 0.00014384347175563998), t22, -0.00019756774187144465);
  const double t39 = fma(fma(t35, t22, 0.0003006575864370396), t22, -0.0004629337476598032);
  const double t43 = fma(fma(t39, t22, 0.0006973144404325667), t22, -0.001042644300980008);
  const double t47 = fma(fma(t43, t22, 0.0015623547823508596), t22, -0.002344424156005251);
  const double t51 = fma(fma(t47, t22, 0.0035181934760308625), t22, -0.005280057865160276);
  const double t55 = fma(fma(t51, t22, 0.00792701943792574), t22, -0.011908211390565429);
  const double t59 = fma(fma(t55, t22, 0.017907248098629987), t22, -0.026975797047041297);
  const double t63 = fma(fma(t59, t22, 0.04076083396163688), t22, -0.06192213326575695);
  const double t67 = fma(fma(t63, t22, 0.09498872445226271), t22, -0.1484049230539977);
  const double t71 = fma(fma(t67, t22, 0.24054248424079333), t22, -0.42362742128146014);
  const double t74 = ((y - 1.4616321449683622) - 9.549995429965697e-17) * fma(t71, t22,
      0.9510558760318328);
  const double divisor = (large | t9) ? z : (t11 ? t : 1.0);
  const double t78 = 1.0 / divisor;
  const double t79 = -t78;
  const double step = t9 ? t79 : (t11 ? t78 : 0.0);
  const double near = t74 + step;
  const double t83 = near - t74;
  const double near_low = fma(fma(t79, divisor, 1.0), step, (t74 - (near - t83)) + (step -
      t83));
  const u64 t91 = bits_as<u64>(large ? z : 1.0);
  const u64 t95 = static_cast<u64>(static_cast<i64>(t91 - 0x3fe6a09e667f3bcdull) >> 52);
  const double t99 = bits_as<double>(t91 - (t95 << 52)) - 1.0;
  const double t100 = 0.5 * t99;
  const double t101 = t100 * t99;
  const double t102 = -t101;
  const double t104 = t99 + t102;
  const double t113 = fma(fma(-0.02431663868850226, t99, 0.05702826792959752), t99,
      -0.0627663511376849);
  const double t117 = fma(fma(t113, t99, 0.05414363243414106), t99, -0.05325878640637993);
  const double t121 = fma(fma(t117, t99, 0.05817895478325771), t99, -0.0626995347889356);
  const double t125 = fma(fma(t121, t99, 0.06675155086785937), t99, -0.07141987054483441);
  const double t129 = fma(fma(t125, t99, 0.07691712893037726), t99, -0.08333346389682886);
  const double t133 = fma(fma(t129, t99, 0.09090933610753268), t99, -0.10000000365738536);
  const double t137 = fma(fma(t133, t99, 0.1111111051256426), t99, -0.12499999982288176);
  const double t141 = fma(fma(t137, t99, 0.14285714293901283), t99, -0.16666666666912378);
  const double t145 = fma(fma(t141, t99, 0.19999999999945653), t99, -0.24999999999998926);
  const double t149 = fma(t99 * (t101 + t101), fma(t145, t99, 0.33333333333333454),
      -fma(t100, t99, t102));
  const double t155 = bits_as<double>(t95 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t157 = t155 * 0.6931471805598903;
  const double high = t157 + t104;
  const double t162 = fma(t155, 5.497923018708371e-14, (t102 - (t104 - t99)) + t149);
  const double low = (t104 - (high - t157)) + t162;
  const double t164 = t78 * t78;
  const double t169 = fma(fma(7.336447635371341, t164, -4.67390991479891), t164,
      1.5043439401451761);
  const double t173 = fma(fma(t169, t164, -0.3557684649248672), t164, 0.07967547198824468);
  const double t177 = fma(fma(t173, t164, -0.02098445421934614), t164, 0.007573577317722308);
  const double t181 = fma(fma(t177, t164, -0.0041666384641906975), t164,
      0.0039682537533984345);
  const double t185 = fma(fma(t181, t164, -0.008333333332510292), t164, 0.08333333333333223);
  const double series = fma(t164, t185, 0.5 * t78);
  const double value = large ? high : near;
  const double value_low = large ? (low - series) : near_low;
  const double r = x - rint(x);
  const double size = fabs(r);
  const bool far = size > 0.25;
  const double q = far ? (0.5 - size) : size;
  const double square = q * q;
  const double unit = far ? 9.869604401089358 : 1.0;
  const double unit_low = far ? 6.265295508739711e-16 : 0.0;
  const double t207 = fma(fma(0.0001469306784132575, square, -0.002345954869779536), square,
      0.02614784258902895);
  const double t211 = fma(fma(t207, square, -0.19075182401257854), square,
      0.8117424252823006);
  const double t215 = unit * (square * fma(t211, square, -1.644934066848223));
  const double t216 = unit + t215;
  const double sine = q * t216;
  const double sine_low = fma(q, (t215 - (t216 - unit)) + unit_low, fma(q, t216, -sine));
  const double t228 = fma(fma(-0.00010298023444584312, square, 0.0019293401562399174),
      square, -0.02580687517365156);
  const double t232 = fma(fma(t228, square, 0.2353306297620729), square, -1.3352627688430894);
  const double t236 = fma(fma(t232, square, 4.058712126416665), square, -4.934802200544679);
  const double t237 = square * t236;
  const double cosine = 1.0 + t237;
  const double cosine_low = t237 - (cosine - 1.0);
  const double above = far ? sine : cosine;
  const double above_low = far ? sine_low : cosine_low;
  const double below = far ? cosine : sine;
  const double below_low = far ? cosine_low : sine_low;
  const double inverse = 1.0 / below;
  const double cotangent = above * inverse;
  const double t247 = -cotangent;
  const double error = fma(t247, below, above) + fma(t247, below_low, above_low);
  const double sign = bits_as<double>(bits_as<u64>(1.0) | (bits_as<u64>(r) &
      0x8000000000000000ull));
  const double t257 = t247 * sign;
  const double t258 = value + t257;
  const double t259 = t258 - value;
  const double total_low = (value - (t258 - t259)) + (t257 - t259);
  const double total = (cotangent < bits_as<double>(0x7ff0000000000000ull)) ? (t258 +
      fma((-error) * inverse, sign, total_low + value_low)) : t257;
  const double result = reflect ? total : (value + value_low);
  const bool pole = (reflect ? r : 1.0) == 0.0;
  const double t277 = (x == bits_as<double>(0x7ff0000000000000ull)) ?
      bits_as<double>(0x7ff0000000000000ull) : result;
  return pole ? bits_as<double>(0x7ff8000000000000ull) : t277;
}

}  // namespace gb

#endif
