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
  const float t7 = t + 1.0f;
  const float t8 = t7 - t;
  const float z = reflect ? t7 : x;
  const float z_low = reflect ? ((t - (t7 - t8)) + (1.0f - t8)) : 0.0f;
  const bool large = t >= 2.5f;
  const bool low_part = t < 0.5f;
  const bool high_part = t >= 1.5f;
  const float argument = (large | low_part) ? z : (high_part ? t : 1.0f);
  const float t24 = low_part ? z_low : 0.0f;
  const u32 t25 = bits_as<u32>(argument);
  const u32 t29 = static_cast<u32>(static_cast<i32>(t25 - 0x3f3504f3u) >> 23);
  const u32 t30 = t29 << 23;
  const float t33 = bits_as<float>(t25 - t30) - 1.0f;
  const float t34 = 0.5f * t33;
  const float t35 = t34 * t33;
  const float t36 = -t35;
  const float t38 = t33 + t36;
  const float t49 = fma(fma(fma(-0.07643457f, t33, 0.12767443f), t33, -0.13159648f), t33,
      0.14200921f);
  const float t55 = fma(fma(fma(t49, t33, -0.16623324f), t33, 0.20001261f), t33,
      -0.25000823f);
  const float t59 = fma(t33 * (t35 + t35), fma(t55, t33, 0.3333333f), -fma(t34, t33, t36));
  const float t65 = (t24 == 0.0f) ? 0.0f : bits_as<float>(bits_as<u32>(t24) - t30);
  const float t70 = fma(t65, fma(t33, fma(t33, 0.9f, -1.0f), 1.0f), (t36 - (t38 - t33)) +
      t59);
  const float t75 = bits_as<float>(t29 + 0x4b400000u) - 12582912.0f;
  const float t77 = t75 * 0.69314575f;
  const float t78 = t77 + t38;
  const float t83 = (t38 - (t78 - t77)) + fma(t75, 1.4286068e-06f, t70);
  const float steep = t78 + t83;
  const float t86 = t83 - (steep - t78);
  const float less = steep + (-1.0f);
  const float less_low = (-1.0f) - (less - steep);
  const float high = large ? less : steep;
  const float low = large ? (less_low + t86) : t86;
  const float above = z + (-0.5f);
  const float above_low = (-0.5f) - (above - z);
  const float factor = large ? above : (low_part ? (-1.0f) : 1.0f);
  const float d = t - (low_part ? 0.0f : (high_part ? 2.0f : 1.0f));
  const float inverse = 1.0f / z;
  const float t104 = inverse * inverse;
  const float t109 = fma(fma(-0.00052164396f, t104, 0.00079386716f), t104, -0.0027779315f);
  const float series = inverse * fma(t109, t104, 0.083333336f);
  const float t118 = fma(fma(-0.0003025823f, d, 0.00056123943f), d, -0.0011615226f);
  const float t124 = fma(fma(fma(t118, d, 0.002882563f), d, -0.007389929f), d, 0.02058121f);
  const float t129 = d * fma(fma(t124, d, -0.067352116f), d, 0.32246703f);
  const float slope = 0.42278433f + t129;
  const float slope_low = t129 - (slope - 0.42278433f);
  const float t133 = d * slope;
  const float other = large ? 0.41893855f : t133;
  const float lost = fma(above_low, high, fma(steep, z_low, series + (-1.4168145e-08f)));
  const float other_low = large ? lost : fma(d, slope_low + 6.63777e-09f, fma(d, slope,
      -t133));
  const float product = factor * high;
  const float product_low = fma(factor, high, -product);
  const float value = product + other;
  const float t150 = value - product;
  const float t156 = ((product - (value - t150)) + (other - t150)) + fma(factor, low,
      product_low);
  const float value_low = t156 + other_low;
  const float r = fabs(x - rint(x));
  const float square = r * r;
  const float t166 = fma(fma(-0.0022146916f, square, 0.02610443f), square, -0.19074535f);
  const float t171 = square * fma(fma(t166, square, 0.811742f), square, -1.644934f);
  const float t172 = 1.0f + t171;
  const bool small = r < 7.888609e-31f;
  const float scaled = small ? (r * 2.8147498e+14f) : r;
  const float sine = scaled * t172;
  const float error = fma(scaled, t172, -sine);
  const float sine_low = fma(scaled, t171 - (t172 - 1.0f), error);
  const u32 t186 = bits_as<u32>(sine);
  const u32 t188 = static_cast<u32>(static_cast<i32>(t186 - 0x3f3504f3u) >> 23);
  const u32 t189 = t188 << 23;
  const float t192 = bits_as<float>(t186 - t189) - 1.0f;
  const float t193 = 0.5f * t192;
  const float t194 = t193 * t192;
  const float t195 = -t194;
  const float t197 = t192 + t195;
  const float t204 = fma(fma(fma(-0.07643457f, t192, 0.12767443f), t192, -0.13159648f), t192,
      0.14200921f);
  const float t207 = fma(fma(fma(t204, t192, -0.16623324f), t192, 0.20001261f), t192,
      -0.25000823f);
  const float t210 = fma(t192 * (t194 + t194), fma(t207, t192, 0.3333333f), -fma(t193, t192,
      t195));
  const float t216 = (sine_low == 0.0f) ? 0.0f : bits_as<float>(bits_as<u32>(sine_low) -
      t189);
  const float t219 = fma(t216, fma(t192, fma(t192, 0.9f, -1.0f), 1.0f), (t195 - (t197 -
      t192)) + t210);
  const float t223 = (bits_as<float>(t188 + 0x4b400000u) - 12582912.0f) + (small ? (-48.0f) :
      0.0f);
  const float t224 = t223 * 0.69314575f;
  const float log = t224 + t197;
  const float log_low = (t197 - (log - t224)) + fma(t223, 1.4286068e-06f, t219);
  const float t230 = log + value;
  const float t231 = t230 - log;
  const float total_low = (((log - (t230 - t231)) + (value - t231)) + log_low) + value_low;
  const float total = -(t230 + total_low);
  const float t243 = (value < bits_as<float>(0x7f800000u)) ? (value + value_low) : value;
  const float result = reflect ? total : t243;
  const bool pole = (reflect ? r : 1.0f) == 0.0f;
  const float t250 = (pole | (fabs(x) == bits_as<float>(0x7f800000u))) ?
      bits_as<float>(0x7f800000u) : result;
  return t250;
}

// ln |gamma(x)|. Below 1/2: ln(pi / |sin(pi x)|) - lgamma(1 - x). From 3.5 on Stirling's
// series, between a polynomial around 2 and the logarithm of the factor that leads there.
GB_FN double lgamma(double x) {
  GB_ENTER
  const bool reflect = x < 0.5;
  const double t = reflect ? (-x) : (x - 1.0);
  const double t7 = t + 1.0;
  const double t8 = t7 - t;
  const double z = reflect ? t7 : x;
  const double z_low = reflect ? ((t - (t7 - t8)) + (1.0 - t8)) : 0.0;
  const bool large = t >= 2.5;
  const bool low_part = t < 0.5;
  const bool high_part = t >= 1.5;
  const double argument = (large | low_part) ? z : (high_part ? t : 1.0);
  const double t24 = low_part ? z_low : 0.0;
  const u64 t25 = bits_as<u64>(argument);
  const u64 t29 = static_cast<u64>(static_cast<i64>(t25 - 0x3fe6a09e667f3bcdull) >> 52);
  const u64 t30 = t29 << 52;
  const double t33 = bits_as<double>(t25 - t30) - 1.0;
  const double t34 = 0.5 * t33;
  const double t35 = t34 * t33;
  const double t36 = -t35;
  const double t38 = t33 + t36;
  const double t43 = t33 * t33;
  const double t48 = fma(fma(-0.02431663868850226, t43, -0.0627663511376849), t43,
      -0.05325878640637993);
  const double t52 = fma(fma(t48, t43, -0.0626995347889356), t43, -0.07141987054483441);
  const double t56 = fma(fma(t52, t43, -0.08333346389682886), t43, -0.10000000365738536);
  const double t60 = fma(fma(t56, t43, -0.12499999982288176), t43, -0.16666666666912378);
  const double t65 = fma(fma(0.05702826792959752, t43, 0.05414363243414106), t43,
      0.05817895478325771);
  const double t69 = fma(fma(t65, t43, 0.06675155086785937), t43, 0.07691712893037726);
  const double t73 = fma(fma(t69, t43, 0.09090933610753268), t43, 0.1111111051256426);
  const double t78 = fma(fma(fma(t73, t43, 0.14285714293901283), t33, t60), t33,
      0.19999999999945653);
  const double t82 = fma(fma(t78, t33, -0.24999999999998926), t33, 0.33333333333333454);
  const double t85 = (t36 - (t38 - t33)) + fma(t33 * (t35 + t35), t82, -fma(t34, t33, t36));
  const double t95 = fma((t24 == 0.0) ? 0.0 : bits_as<double>(bits_as<u64>(t24) - t30),
      fma(t33, fma(t33, 0.9, -1.0), 1.0), t85);
  const double t100 = bits_as<double>(t29 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t102 = t100 * 0.6931471805598903;
  const double t103 = t102 + t38;
  const double t108 = (t38 - (t103 - t102)) + fma(t100, 5.497923018708371e-14, t95);
  const double steep = t103 + t108;
  const double t111 = t108 - (steep - t103);
  const double less = steep + (-1.0);
  const double less_low = (-1.0) - (less - steep);
  const double high = large ? less : steep;
  const double low = large ? (less_low + t111) : t111;
  const double above = z + (-0.5);
  const double above_low = (-0.5) - (above - z);
  const double factor = large ? above : (low_part ? (-1.0) : 1.0);
  const double d = t - (low_part ? 0.0 : (high_part ? 2.0 : 1.0));
  const double inverse = 1.0 / z;
  const double t129 = inverse * inverse;
  const double t134 = fma(fma(0.4830295187035231, t129, -0.3083401779043376), t129,
      0.1011073969815977);
  const double t138 = fma(fma(t134, t129, -0.02516996814944383), t129, 0.0062335684698658);
  const double t142 = fma(fma(t138, t129, -0.001912586968411943), t129,
      0.0008416592516054223);
  const double t146 = fma(fma(t142, t129, -0.0005952370376343989), t129,
      0.0007936507867864125);
  const double t150 = fma(fma(t146, t129, -0.0027777777777570757), t129, 0.08333333333333331);
  const double series = inverse * t150;
  const double t157 = fma(fma(3.080896332705301e-07, d, -5.806152196056352e-07), d,
      8.893123093381746e-07);
  const double t161 = fma(fma(t157, d, -1.974939780123102e-06), d, 4.397935839387542e-06);
  const double t165 = fma(fma(t161, d, -9.455977620550951e-06), d, 2.0502577393763665e-05);
  const double t169 = fma(fma(t165, d, -4.492380756670971e-05), d, 9.945806274628894e-05);
  const double t173 = fma(fma(t169, d, -0.0002231549659356592), d, 0.0005096694870965465);
  const double t177 = fma(fma(t173, d, -0.001192753901925129), d, 0.00289051033211252);
  const double t181 = fma(fma(t177, d, -0.007385551028896697), d, 0.020580808427762484);
  const double t185 = fma(fma(t181, d, -0.06735230105319635), d, 0.3224670334241133);
  const double t186 = d * t185;
  const double slope = 0.42278433509846713 + t186;
  const double slope_low = t186 - (slope - 0.42278433509846713);
  const double t190 = d * slope;
  const double t195 = fma(d, slope_low + 4.942915152430645e-18, fma(d, slope, -t190));
  const double other = large ? 0.4189385332046727 : t190;
  const double lost = fma(above_low, high, fma(steep, z_low, series +
      1.6728209650585413e-17));
  const double other_low = large ? lost : t195;
  const double product = factor * high;
  const double product_low = fma(factor, high, -product);
  const double value = product + other;
  const double t207 = value - product;
  const double t213 = ((product - (value - t207)) + (other - t207)) + fma(factor, low,
      product_low);
  const double value_low = t213 + other_low;
  const double r = fabs(x - rint(x));
  const double square = r * r;
  const double t223 = fma(fma(2.4526351676234745e-07, square, -6.972343907281148e-06),
      square, 0.00014842794580950888);
  const double t227 = fma(fma(t223, square, -0.0023460809189509934), square,
      0.02614784780852221);
  const double t231 = fma(fma(t227, square, -0.19075182412170458), square,
      0.8117424252833467);
  const double t234 = square * fma(t231, square, -1.6449340668482264);
  const double t235 = 1.0 + t234;
  const bool small = r < 1.1830521861667747e-271;
  const double scaled = small ? (r * 3.402823669209385e+38) : r;
  const double sine = scaled * t235;
  const double error = fma(scaled, t235, -sine);
  const double sine_low = fma(scaled, t234 - (t235 - 1.0), error);
  const u64 t249 = bits_as<u64>(sine);
  const u64 t251 = static_cast<u64>(static_cast<i64>(t249 - 0x3fe6a09e667f3bcdull) >> 52);
  const u64 t252 = t251 << 52;
  const double t255 = bits_as<double>(t249 - t252) - 1.0;
  const double t256 = 0.5 * t255;
  const double t257 = t256 * t255;
  const double t258 = -t257;
  const double t260 = t255 + t258;
  const double t265 = t255 * t255;
  const double t267 = fma(fma(-0.02431663868850226, t265, -0.0627663511376849), t265,
      -0.05325878640637993);
  const double t269 = fma(fma(t267, t265, -0.0626995347889356), t265, -0.07141987054483441);
  const double t271 = fma(fma(t269, t265, -0.08333346389682886), t265, -0.10000000365738536);
  const double t273 = fma(fma(t271, t265, -0.12499999982288176), t265, -0.16666666666912378);
  const double t275 = fma(fma(0.05702826792959752, t265, 0.05414363243414106), t265,
      0.05817895478325771);
  const double t277 = fma(fma(t275, t265, 0.06675155086785937), t265, 0.07691712893037726);
  const double t279 = fma(fma(t277, t265, 0.09090933610753268), t265, 0.1111111051256426);
  const double t282 = fma(fma(fma(t279, t265, 0.14285714293901283), t255, t273), t255,
      0.19999999999945653);
  const double t284 = fma(fma(t282, t255, -0.24999999999998926), t255, 0.33333333333333454);
  const double t287 = (t258 - (t260 - t255)) + fma(t255 * (t257 + t257), t284, -fma(t256,
      t255, t258));
  const double t292 = (sine_low == 0.0) ? 0.0 : bits_as<double>(bits_as<u64>(sine_low) -
      t252);
  const double t298 = bits_as<double>(t251 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t299 = t298 + (small ? (-128.0) : 0.0);
  const double t300 = t299 * 0.6931471805598903;
  const double log = t300 + t260;
  const double t304 = fma(t299, 5.497923018708371e-14, fma(t292, fma(t255, fma(t255, 0.9,
      -1.0), 1.0), t287));
  const double log_low = (t260 - (log - t300)) + t304;
  const double t306 = log + value;
  const double t307 = t306 - log;
  const double total_low = (((log - (t306 - t307)) + (value - t307)) + log_low) + value_low;
  const double total = -(t306 + total_low);
  const double t319 = (value < bits_as<double>(0x7ff0000000000000ull)) ? (value + value_low)
      : value;
  const double result = reflect ? total : t319;
  const bool pole = (reflect ? r : 1.0) == 0.0;
  const double t326 = (pole | (fabs(x) == bits_as<double>(0x7ff0000000000000ull))) ?
      bits_as<double>(0x7ff0000000000000ull) : result;
  return t326;
}

// The derivative of lgamma. Below 1/2: digamma(1 - x) - pi cot(pi x). From 3.5 on Stirling's
// series, between a polynomial on [1, 2.5] and at most one step of digamma(z + 1) - 1 / z.
GB_FN float digamma(float x) {
  GB_ENTER
  const bool reflect = x < 0.5f;
  const float t = reflect ? (-x) : (x - 1.0f);
  const float z = reflect ? (t + 1.0f) : x;
  const bool t10 = t < 0.0f;
  const bool t12 = t >= 1.5f;
  const bool large = t >= 2.5f;
  const float y = t10 ? (t + 2.0f) : (t12 ? t : z);
  const float t19 = y - 1.5f;
  const float t24 = fma(fma(-0.0015564708f, t19, 0.006919937f), t19, -0.013949183f);
  const float t30 = fma(fma(fma(t24, t19, 0.019587401f), t19, -0.026859622f), t19,
      0.040305793f);
  const float t36 = fma(fma(fma(t30, t19, -0.061865386f), t19, 0.09503521f), t19,
      -0.14841223f);
  const float t40 = fma(fma(t36, t19, 0.24054077f), t19, -0.42362723f);
  const float rise = t40 * t19;
  const float rise_low = fma(t40, t19, -rise);
  const float slope = 0.9510559f + rise;
  const float slope_low = rise - (slope - 0.9510559f);
  const float t49 = y - 1.4616321f;
  const float gap = t49 + (-1.243815e-08f);
  const float gap_low = (-1.243815e-08f) - (gap - t49);
  const float t54 = gap * slope;
  const float t60 = fma(gap, slope, -t54) + fma(gap, slope_low + rise_low, gap_low * slope);
  const float divisor = (large | t10) ? z : (t12 ? t : 1.0f);
  const float t64 = 1.0f / divisor;
  const float t65 = -t64;
  const float step = t10 ? t65 : (t12 ? t64 : 0.0f);
  const float near = t54 + step;
  const float t69 = near - t54;
  const float near_low = fma(fma(t65, divisor, 1.0f), step, ((t54 - (near - t69)) + (step -
      t69)) + t60);
  const u32 t78 = bits_as<u32>(large ? z : 1.0f);
  const u32 t82 = static_cast<u32>(static_cast<i32>(t78 - 0x3f3504f3u) >> 23);
  const float t86 = bits_as<float>(t78 - (t82 << 23)) - 1.0f;
  const float t87 = 0.5f * t86;
  const float t88 = t87 * t86;
  const float t89 = -t88;
  const float t91 = t86 + t89;
  const float t102 = fma(fma(fma(-0.07643457f, t86, 0.12767443f), t86, -0.13159648f), t86,
      0.14200921f);
  const float t108 = fma(fma(fma(t102, t86, -0.16623324f), t86, 0.20001261f), t86,
      -0.25000823f);
  const float t112 = fma(t86 * (t88 + t88), fma(t108, t86, 0.3333333f), -fma(t87, t86, t89));
  const float t118 = bits_as<float>(t82 + 0x4b400000u) - 12582912.0f;
  const float t120 = t118 * 0.69314575f;
  const float high = t120 + t91;
  const float low = (t91 - (high - t120)) + fma(t118, 1.4286068e-06f, (t89 - (t91 - t86)) +
      t112);
  const float t127 = t64 * t64;
  const float t132 = fma(fma(-0.0030674594f, t127, 0.0039018712f), t127, -0.008331693f);
  const float series = fma(t127, fma(t132, t127, 0.08333332f), 0.5f * t64);
  const float value = large ? high : near;
  const float value_low = large ? (low - series) : near_low;
  const float r = x - rint(x);
  const float size = fabs(r);
  const bool far = size > 0.25f;
  const float q = far ? (0.5f - size) : size;
  const float square = q * q;
  const float unit = far ? 9.869604f : 1.0f;
  const float unit_low = far ? 2.903716e-07f : 0.0f;
  const float t156 = fma(fma(-0.18759859f, square, 0.8116271f), square, -1.6449329f);
  const float t158 = unit * (square * t156);
  const float t159 = unit + t158;
  const float sine = q * t159;
  const float sine_low = fma(q, (t158 - (t159 - unit)) + unit_low, fma(q, t159, -sine));
  const float t171 = fma(fma(0.22875498f, square, -1.3347362f), square, 4.0586963f);
  const float t174 = square * fma(t171, square, -4.934802f);
  const float cosine = 1.0f + t174;
  const float cosine_low = t174 - (cosine - 1.0f);
  const float above = far ? sine : cosine;
  const float above_low = far ? sine_low : cosine_low;
  const float below = far ? cosine : sine;
  const float below_low = far ? cosine_low : sine_low;
  const float inverse = 1.0f / below;
  const float cotangent = above * inverse;
  const float t184 = -cotangent;
  const float error = fma(t184, below, above) + fma(t184, below_low, above_low);
  const float sign = bits_as<float>(bits_as<u32>(1.0f) | (bits_as<u32>(r) & 0x80000000u));
  const float t194 = t184 * sign;
  const float t195 = value + t194;
  const float t196 = t195 - value;
  const float total_low = (value - (t195 - t196)) + (t194 - t196);
  const float total = (cotangent < bits_as<float>(0x7f800000u)) ? (t195 + fma((-error) *
      inverse, sign, total_low + value_low)) : t194;
  const float result = reflect ? total : (value + value_low);
  const bool pole = (reflect ? r : 1.0f) == 0.0f;
  const float t214 = (x == bits_as<float>(0x7f800000u)) ? bits_as<float>(0x7f800000u) :
      result;
  return pole ? bits_as<float>(0x7fc00000u) : t214;
}

// The derivative of lgamma. Below 1/2: digamma(1 - x) - pi cot(pi x). From 3.5 on Stirling's
// series, between a polynomial on [1, 2.5] and at most one step of digamma(z + 1) - 1 / z.
GB_FN double digamma(double x) {
  GB_ENTER
  const bool reflect = x < 0.5;
  const double t = reflect ? (-x) : (x - 1.0);
  const double z = reflect ? (t + 1.0) : x;
  const bool t10 = t < 0.0;
  const bool t12 = t >= 1.5;
  const bool large = t >= 2.5;
  const double y = t10 ? (t + 2.0) : (t12 ? t : z);
  const double t19 = y - 1.5;
  const double t24 = fma(fma(-1.2288386058293066e-06, t19, 9.761872964195006e-06), t19,
      -3.4679651498778426e-05);
  const double t28 = fma(fma(t24, t19, 7.393006864170139e-05), t19, -0.00011132704378449644);
  const double t32 = fma(fma(t28, t19, 0.00014384347175563998), t19, -0.00019756774187144465);
  const double t36 = fma(fma(t32, t19, 0.0003006575864370396), t19, -0.0004629337476598032);
  const double t40 = fma(fma(t36, t19, 0.0006973144404325667), t19, -0.001042644300980008);
  const double t44 = fma(fma(t40, t19, 0.0015623547823508596), t19, -0.002344424156005251);
  const double t48 = fma(fma(t44, t19, 0.0035181934760308625), t19, -0.005280057865160276);
  const double t52 = fma(fma(t48, t19, 0.00792701943792574), t19, -0.011908211390565429);
  const double t56 = fma(fma(t52, t19, 0.017907248098629987), t19, -0.026975797047041297);
  const double t60 = fma(fma(t56, t19, 0.04076083396163688), t19, -0.06192213326575695);
  const double t64 = fma(fma(t60, t19, 0.09498872445226271), t19, -0.1484049230539977);
  const double t68 = fma(fma(t64, t19, 0.24054248424079333), t19, -0.42362742128146014);
  const double rise = t68 * t19;
  const double rise_low = fma(t68, t19, -rise);
  const double slope = 0.9510558760318328 + rise;
  const double slope_low = rise - (slope - 0.9510558760318328);
  const double t77 = y - 1.4616321449683622;
  const double gap = t77 + (-9.549995429965697e-17);
  const double gap_low = (-9.549995429965697e-17) - (gap - t77);
  const double t82 = gap * slope;
  const double t88 = fma(gap, slope, -t82) + fma(gap, slope_low + rise_low, gap_low * slope);
  const double divisor = (large | t10) ? z : (t12 ? t : 1.0);
  const double t92 = 1.0 / divisor;
  const double t93 = -t92;
  const double step = t10 ? t93 : (t12 ? t92 : 0.0);
  const double near = t82 + step;
  const double t97 = near - t82;
  const double near_low = fma(fma(t93, divisor, 1.0), step, ((t82 - (near - t97)) + (step -
      t97)) + t88);
  const u64 t106 = bits_as<u64>(large ? z : 1.0);
  const u64 t110 = static_cast<u64>(static_cast<i64>(t106 - 0x3fe6a09e667f3bcdull) >> 52);
  const double t114 = bits_as<double>(t106 - (t110 << 52)) - 1.0;
  const double t115 = 0.5 * t114;
  const double t116 = t115 * t114;
  const double t117 = -t116;
  const double t119 = t114 + t117;
  const double t124 = t114 * t114;
  const double t129 = fma(fma(-0.02431663868850226, t124, -0.0627663511376849), t124,
      -0.05325878640637993);
  const double t133 = fma(fma(t129, t124, -0.0626995347889356), t124, -0.07141987054483441);
  const double t137 = fma(fma(t133, t124, -0.08333346389682886), t124, -0.10000000365738536);
  const double t141 = fma(fma(t137, t124, -0.12499999982288176), t124, -0.16666666666912378);
  const double t146 = fma(fma(0.05702826792959752, t124, 0.05414363243414106), t124,
      0.05817895478325771);
  const double t150 = fma(fma(t146, t124, 0.06675155086785937), t124, 0.07691712893037726);
  const double t154 = fma(fma(t150, t124, 0.09090933610753268), t124, 0.1111111051256426);
  const double t159 = fma(fma(fma(t154, t124, 0.14285714293901283), t114, t141), t114,
      0.19999999999945653);
  const double t163 = fma(fma(t159, t114, -0.24999999999998926), t114, 0.33333333333333454);
  const double t166 = (t117 - (t119 - t114)) + fma(t114 * (t116 + t116), t163, -fma(t115,
      t114, t117));
  const double t171 = bits_as<double>(t110 + 0x4338000000000000ull) - 6755399441055744.0;
  const double t173 = t171 * 0.6931471805598903;
  const double high = t173 + t119;
  const double low = (t119 - (high - t173)) + fma(t171, 5.497923018708371e-14, t166);
  const double t180 = t92 * t92;
  const double t185 = fma(fma(7.336447635371341, t180, -4.67390991479891), t180,
      1.5043439401451761);
  const double t189 = fma(fma(t185, t180, -0.3557684649248672), t180, 0.07967547198824468);
  const double t193 = fma(fma(t189, t180, -0.02098445421934614), t180, 0.007573577317722308);
  const double t197 = fma(fma(t193, t180, -0.0041666384641906975), t180,
      0.0039682537533984345);
  const double t201 = fma(fma(t197, t180, -0.008333333332510292), t180, 0.08333333333333223);
  const double series = fma(t180, t201, 0.5 * t92);
  const double value = large ? high : near;
  const double value_low = large ? (low - series) : near_low;
  const double r = x - rint(x);
  const double size = fabs(r);
  const bool far = size > 0.25;
  const double q = far ? (0.5 - size) : size;
  const double square = q * q;
  const double unit = far ? 9.869604401089358 : 1.0;
  const double unit_low = far ? 6.265295508739711e-16 : 0.0;
  const double t223 = fma(fma(0.0001469306784132575, square, -0.002345954869779536), square,
      0.02614784258902895);
  const double t227 = fma(fma(t223, square, -0.19075182401257854), square,
      0.8117424252823006);
  const double t231 = unit * (square * fma(t227, square, -1.644934066848223));
  const double t232 = unit + t231;
  const double sine = q * t232;
  const double sine_low = fma(q, (t231 - (t232 - unit)) + unit_low, fma(q, t232, -sine));
  const double t244 = fma(fma(-0.00010298023444584312, square, 0.0019293401562399174),
      square, -0.02580687517365156);
  const double t248 = fma(fma(t244, square, 0.2353306297620729), square, -1.3352627688430894);
  const double t252 = fma(fma(t248, square, 4.058712126416665), square, -4.934802200544679);
  const double t253 = square * t252;
  const double cosine = 1.0 + t253;
  const double cosine_low = t253 - (cosine - 1.0);
  const double above = far ? sine : cosine;
  const double above_low = far ? sine_low : cosine_low;
  const double below = far ? cosine : sine;
  const double below_low = far ? cosine_low : sine_low;
  const double inverse = 1.0 / below;
  const double cotangent = above * inverse;
  const double t263 = -cotangent;
  const double error = fma(t263, below, above) + fma(t263, below_low, above_low);
  const double sign = bits_as<double>(bits_as<u64>(1.0) | (bits_as<u64>(r) &
      0x8000000000000000ull));
  const double t273 = t263 * sign;
  const double t274 = value + t273;
  const double t275 = t274 - value;
  const double total_low = (value - (t274 - t275)) + (t273 - t275);
  const double total = (cotangent < bits_as<double>(0x7ff0000000000000ull)) ? (t274 +
      fma((-error) * inverse, sign, total_low + value_low)) : t273;
  const double result = reflect ? total : (value + value_low);
  const bool pole = (reflect ? r : 1.0) == 0.0;
  const double t293 = (x == bits_as<double>(0x7ff0000000000000ull)) ?
      bits_as<double>(0x7ff0000000000000ull) : result;
  return pole ? bits_as<double>(0x7ff8000000000000ull) : t293;
}

}  // namespace gb

#endif
