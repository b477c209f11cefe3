// log and its relatives, inverse hyperbolic functions, and pow.
//
// Written by `make generate` from gpubcast/elementary/logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_CUH
#define GB_ELEMENTARY_LOGARITHM_CUH

#include "scalar.cuh"

namespace gb {

// The natural logarithm: e ln 2 + log(m) of x = m 2^e, with m around 1.
GB_FN float log(float x) {
  GB_ENTER
  const bool t2 = x < 1.1754944e-38f;
  const u32 t11 = bits_as<u32>(t2 ? (x * 8388608.0f) : x) + 0x4afb0du;
  const u32 _ = t11 >> 23;
  const float e = bits_as<float>(_ | 0x4b000000u) - (t2 ? 8388758.0f : 8388735.0f);
  const float m = bits_as<float>((t11 & 0x7fffffu) + 0x3f3504f3u);
  const float t24 = m - 1.0f;
  const float t26 = e * 0.69314575f;
  const float t27 = t26 + t24;
  const float t37 = fma(fma(fma(-0.076361686f, t24, 0.12762101f), t24, -0.1315963f), t24,
      0.14201589f);
  const float t43 = fma(fma(fma(t37, t24, -0.16623409f), t24, 0.20001242f), t24, -0.2500082f);
  const float t50 = fma(e, 1.4286068e-06f, (t24 * t24) * fma(t24, fma(t43, t24, 0.3333333f),
      -0.5f));
  const float t57 = (x == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  const float t61 = (x < bits_as<float>(0x7f800000u)) ? (t27 + ((t24 - (t27 - t26)) + t50)) :
      x;
  return (x > 0.0f) ? t61 : t57;
}

// The natural logarithm: e ln 2 + log(m) of x = m 2^e, with m around 1.
GB_FN double log(double x) {
  GB_ENTER
  const bool t2 = x < 2.2250738585072014e-308;
  const u64 t11 = bits_as<u64>(t2 ? (x * 4503599627370496.0) : x) + 0x95f619980c433ull;
  const u64 _ = t11 >> 52;
  const double e = bits_as<double>(_ | 0x4330000000000000ull) - (t2 ? 4503599627371571.0 :
      4503599627371519.0);
  const double m = bits_as<double>((t11 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t24 = m - 1.0;
  const double t26 = e * 0.6931471805592082;
  const double t27 = t26 + t24;
  const double t32 = t24 / (t24 + 2.0);
  const double t33 = t32 * t32;
  const double t36 = (t24 * t24) * 0.5;
  const double t41 = fma(fma(0.14795605576636703, t33, 0.15314087634537904), t33,
      0.18183562742915865);
  const double t45 = fma(fma(t41, t33, 0.22222198607073765), t33, 0.2857142874201019);
  const double t49 = fma(fma(t45, t33, 0.399999999994167), t33, 0.6666666666666734);
  const double t54 = fma(e, 7.371002565167799e-13, fma(t32, fma(t33, t49, t36), -t36));
  const double t61 = (x == 0.0) ? bits_as<double>(0xfff0000000000000ull) :
      bits_as<double>(0x7ff8000000000000ull);
  const double t65 = (x < bits_as<double>(0x7ff0000000000000ull)) ? (t27 + ((t24 - (t27 -
      t26)) + t54)) : x;
  return (x > 0.0) ? t65 : t61;
}

// The logarithm to base 2: e + log(m) / ln 2, the product in two parts.
GB_FN float log2(float x) {
  GB_ENTER
  const bool t2 = x < 1.1754944e-38f;
  const u32 t11 = bits_as<u32>(t2 ? (x * 8388608.0f) : x) + 0x4afb0du;
  const u32 _ = t11 >> 23;
  const float e = bits_as<float>(_ | 0x4b000000u) - (t2 ? 8388758.0f : 8388735.0f);
  const float m = bits_as<float>((t11 & 0x7fffffu) + 0x3f3504f3u);
  const float f = m - 1.0f;
  const float product = f * 1.442695f;
  const float t34 = fma(fma(fma(-0.076361686f, f, 0.12762101f), f, -0.1315963f), f,
      0.14201589f);
  const float t40 = fma(fma(fma(t34, f, -0.16623409f), f, 0.20001242f), f, -0.2500082f);
  const float rest = fma((f * f) * fma(f, fma(t40, f, 0.3333333f), -0.5f), 1.442695f, fma(f,
      1.925963e-08f, fma(f, 1.442695f, -product)));
  const float head = e + product;
  const float tail = product - (head - e);
  const float t60 = (x == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  const float t64 = (x < bits_as<float>(0x7f800000u)) ? (head + (tail + rest)) : x;
  return (x > 0.0f) ? t64 : t60;
}

// The logarithm to base 2: e + log(m) / ln 2, the product in two parts.
GB_FN double log2(double x) {
  GB_ENTER
  const bool t2 = x < 2.2250738585072014e-308;
  const u64 t11 = bits_as<u64>(t2 ? (x * 4503599627370496.0) : x) + 0x95f619980c433ull;
  const u64 _ = t11 >> 52;
  const double e = bits_as<double>(_ | 0x4330000000000000ull) - (t2 ? 4503599627371571.0 :
      4503599627371519.0);
  const double m = bits_as<double>((t11 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double f = m - 1.0;
  const double product = f * 1.4426950408889634;
  const double t29 = f / (f + 2.0);
  const double t30 = t29 * t29;
  const double t33 = (f * f) * 0.5;
  const double t38 = fma(fma(0.14795605576636703, t30, 0.15314087634537904), t30,
      0.18183562742915865);
  const double t42 = fma(fma(t38, t30, 0.22222198607073765), t30, 0.2857142874201019);
  const double t46 = fma(fma(t42, t30, 0.399999999994167), t30, 0.6666666666666734);
  const double t53 = fma(f, 2.0355273740931033e-17, fma(f, 1.4426950408889634, -product));
  const double rest = fma(fma(t29, fma(t30, t46, t33), -t33), 1.4426950408889634, t53);
  const double head = e + product;
  const double tail = product - (head - e);
  const double t64 = (x == 0.0) ? bits_as<double>(0xfff0000000000000ull) :
      bits_as<double>(0x7ff8000000000000ull);
  const double t68 = (x < bits_as<double>(0x7ff0000000000000ull)) ? (head + (tail + rest)) :
      x;
  return (x > 0.0) ? t68 : t64;
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN float log1p(float x) {
  GB_ENTER
  const float total = 1.0f + x;
  const float t3 = total - 1.0f;
  const float low = (1.0f - (total - t3)) + (x - t3);
  const u32 t10 = bits_as<u32>(total) + 0x4afb0du;
  const u32 t12 = t10 >> 23;
  const float t17 = bits_as<float>(t12 | 0x4b000000u) - 8388735.0f;
  const float t31 = (total > 7.0368744e+13f) ? 0.0f : (low * bits_as<float>((0xfeu - t12) <<
      23));
  const float t32 = bits_as<float>((t10 & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float t33 = t32 + t31;
  const float t37 = t17 * 0.69314575f;
  const float t38 = t37 + t33;
  const float t48 = fma(fma(fma(-0.076361686f, t33, 0.12762101f), t33, -0.1315963f), t33,
      0.14201589f);
  const float t54 = fma(fma(fma(t48, t33, -0.16623409f), t33, 0.20001242f), t33, -0.2500082f);
  const float t60 = ((t33 * t33) * fma(t33, fma(t54, t33, 0.3333333f), -0.5f)) + (t31 - (t33
      - t32));
  const u32 t65 = bits_as<u32>(t38 + ((t33 - (t38 - t37)) + fma(t17, 1.4286068e-06f, t60)));
  const float y = bits_as<float>(t65 | (bits_as<u32>(x) & 0x80000000u));
  const float t77 = (total == 0.0f) ? bits_as<float>(0xff800000u) :
      bits_as<float>(0x7fc00000u);
  const float t80 = (total < bits_as<float>(0x7f800000u)) ? ((x <
      bits_as<float>(0x7f800000u)) ? y : x) : total;
  return (total > 0.0f) ? t80 : t77;
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN double log1p(double x) {
  GB_ENTER
  const double total = 1.0 + x;
  const double t3 = total - 1.0;
  const double low = (1.0 - (total - t3)) + (x - t3);
  const u64 t10 = bits_as<u64>(total) + 0x95f619980c433ull;
  const u64 t12 = t10 >> 52;
  const double t17 = bits_as<double>(t12 | 0x4330000000000000ull) - 4503599627371519.0;
  const double t22 = bits_as<double>((t10 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t31 = (total > 2.028240960365167e+31) ? 0.0 : (low * bits_as<double>((0x7feull
      - t12) << 52));
  const double t32 = t22 - 1.0;
  const double t33 = t32 + t31;
  const double t37 = t17 * 0.6931471805592082;
  const double t38 = t37 + t33;
  const double t43 = t33 / (t33 + 2.0);
  const double t44 = t43 * t43;
  const double t47 = (t33 * t33) * 0.5;
  const double t52 = fma(fma(0.14795605576636703, t44, 0.15314087634537904), t44,
      0.18183562742915865);
  const double t56 = fma(fma(t52, t44, 0.22222198607073765), t44, 0.2857142874201019);
  const double t60 = fma(fma(t56, t44, 0.399999999994167), t44, 0.6666666666666734);
  const double t66 = fma(t17, 7.371002565167799e-13, fma(t43, fma(t44, t60, t47), -t47) +
      (t31 - (t33 - t32)));
  const u64 t73 = bits_as<u64>(t38 + ((t33 - (t38 - t37)) + t66)) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  const double y = bits_as<double>(t73);
  const double t81 = (total == 0.0) ? bits_as<double>(0xfff0000000000000ull) :
      bits_as<double>(0x7ff8000000000000ull);
  const double t84 = (total < bits_as<double>(0x7ff0000000000000ull)) ? ((x <
      bits_as<double>(0x7ff0000000000000ull)) ? y : x) : total;
  return (total > 0.0) ? t84 : t81;
}

// log(1 + z) with the sign of x, where z = |x| + x^2 / (1 + sqrt(x^2 + 1)).
GB_FN float asinh(float x) {
  GB_ENTER
  const float a = fabs(x);
  const float square = a * a;
  const float t7 = square / (sqrt(square + 1.0f) + 1.0f);
  const float z = a + t7;
  const float z_low = t7 - (z - a);
  const float total = 1.0f + z;
  const float t12 = total - 1.0f;
  const float low = (1.0f - (total - t12)) + (z - t12);
  const bool large = a > 8192.0f;
  const float t19 = large ? a : total;
  const u32 t26 = bits_as<u32>(t19) + 0x4afb0du;
  const u32 t28 = t26 >> 23;
  const float t45 = (large ? 0.0f : (low + z_low)) * bits_as<float>((0xfeu - t28) << 23);
  const float t46 = (t19 > 7.0368744e+13f) ? 0.0f : t45;
  const float t47 = bits_as<float>((t26 & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float t48 = t47 + t46;
  const float t51 = (bits_as<float>(t28 | 0x4b000000u) - 8388735.0f) + (large ? 1.0f : 0.0f);
  const float t53 = t51 * 0.69314575f;
  const float t54 = t53 + t48;
  const float t64 = fma(fma(fma(-0.076361686f, t48, 0.12762101f), t48, -0.1315963f), t48,
      0.14201589f);
  const float t70 = fma(fma(fma(t64, t48, -0.16623409f), t48, 0.20001242f), t48, -0.2500082f);
  const float t76 = ((t48 * t48) * fma(t48, fma(t70, t48, 0.3333333f), -0.5f)) + (t46 - (t48
      - t47));
  const float y = t54 + ((t48 - (t54 - t53)) + fma(t51, 1.4286068e-06f, t76));
  const u32 t88 = bits_as<u32>((a < bits_as<float>(0x7f800000u)) ? y : a) | (bits_as<u32>(x)
      & 0x80000000u);
  return bits_as<float>(t88);
}

// log(1 + z) with the sign of x, where z = |x| + x^2 / (1 + sqrt(x^2 + 1)).
GB_FN double asinh(double x) {
  GB_ENTER
  const double a = fabs(x);
  const double square = a * a;
  const double t7 = square / (sqrt(square + 1.0) + 1.0);
  const double z = a + t7;
  const double z_low = t7 - (z - a);
  const double total = 1.0 + z;
  const double t12 = total - 1.0;
  const double low = (1.0 - (total - t12)) + (z - t12);
  const bool large = a > 268435456.0;
  const double t19 = large ? a : total;
  const u64 t26 = bits_as<u64>(t19) + 0x95f619980c433ull;
  const u64 t28 = t26 >> 52;
  const double t33 = bits_as<double>(t28 | 0x4330000000000000ull) - 4503599627371519.0;
  const double t38 = bits_as<double>((t26 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t45 = (large ? 0.0 : (low + z_low)) * bits_as<double>((0x7feull - t28) << 52);
  const double t46 = (t19 > 2.028240960365167e+31) ? 0.0 : t45;
  const double t47 = t38 - 1.0;
  const double t48 = t47 + t46;
  const double t51 = t33 + (large ? 1.0 : 0.0);
  const double t53 = t51 * 0.6931471805592082;
  const double t54 = t53 + t48;
  const double t59 = t48 / (t48 + 2.0);
  const double t60 = t59 * t59;
  const double t63 = (t48 * t48) * 0.5;
  const double t68 = fma(fma(0.14795605576636703, t60, 0.15314087634537904), t60,
      0.18183562742915865);
  const double t72 = fma(fma(t68, t60, 0.22222198607073765), t60, 0.2857142874201019);
  const double t76 = fma(fma(t72, t60, 0.399999999994167), t60, 0.6666666666666734);
  const double t82 = fma(t51, 7.371002565167799e-13, fma(t59, fma(t60, t76, t63), -t63) +
      (t46 - (t48 - t47)));
  const double y = t54 + ((t48 - (t54 - t53)) + t82);
  const u64 t88 = bits_as<u64>((a < bits_as<double>(0x7ff0000000000000ull)) ? y : a);
  const double t93 = bits_as<double>(t88 | (bits_as<u64>(x) & 0x8000000000000000ull));
  return t93;
}

// log(1 + z) where z = t + sqrt(t^2 + 2 t) and t = x - 1.
GB_FN float acosh(float x) {
  GB_ENTER
  const float t = x - 1.0f;
  const float twice = t + t;
  const float square = fma(t, t, twice);
  const float root = sqrt(square);
  const float rest = fma(-root, root, square) + fma(t, t, twice - square);
  const float root_low = rest * (0.5f / ((root > 0.0f) ? root : 1.0f));
  const float z = root + t;
  const float total = 1.0f + z;
  const float t21 = total - 1.0f;
  const float low = (1.0f - (total - t21)) + (z - t21);
  const float z_low = (t - (z - root)) + root_low;
  const bool large = x > 8192.0f;
  const float t29 = large ? x : total;
  const u32 t35 = bits_as<u32>(t29) + 0x4afb0du;
  const u32 t37 = t35 >> 23;
  const float t54 = (large ? 0.0f : (low + z_low)) * bits_as<float>((0xfeu - t37) << 23);
  const float t55 = (t29 > 7.0368744e+13f) ? 0.0f : t54;
  const float t56 = bits_as<float>((t35 & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float t57 = t56 + t55;
  const float t60 = (bits_as<float>(t37 | 0x4b000000u) - 8388735.0f) + (large ? 1.0f : 0.0f);
  const float t62 = t60 * 0.69314575f;
  const float t63 = t62 + t57;
  const float t73 = fma(fma(fma(-0.076361686f, t57, 0.12762101f), t57, -0.1315963f), t57,
      0.14201589f);
  const float t79 = fma(fma(fma(t73, t57, -0.16623409f), t57, 0.20001242f), t57, -0.2500082f);
  const float t85 = ((t57 * t57) * fma(t57, fma(t79, t57, 0.3333333f), -0.5f)) + (t55 - (t57
      - t56));
  const float y = t63 + ((t57 - (t63 - t62)) + fma(t60, 1.4286068e-06f, t85));
  const float t95 = (x < 1.0f) ? bits_as<float>(0x7fc00000u) : ((x <
      bits_as<float>(0x7f800000u)) ? y : x);
  return t95;
}

// log(1 + z) where z = t + sqrt(t^2 + 2 t) and t = x - 1.
GB_FN double acosh(double x) {
  GB_ENTER
  const double t = x - 1.0;
  const double twice = t + t;
  const double square = fma(t, t, twice);
  const double root = sqrt(square);
  const double rest = fma(-root, root, square) + fma(t, t, twice - square);
  const double root_low = rest * (0.5 / ((root > 0.0) ? root : 1.0));
  const double z = root + t;
  const double total = 1.0 + z;
  const double t21 = total - 1.0;
  const double low = (1.0 - (total - t21)) + (z - t21);
  const double z_low = (t - (z - root)) + root_low;
  const bool large = x > 268435456.0;
  const double t29 = large ? x : total;
  const u64 t35 = bits_as<u64>(t29) + 0x95f619980c433ull;
  const u64 t37 = t35 >> 52;
  const double t42 = bits_as<double>(t37 | 0x4330000000000000ull) - 4503599627371519.0;
  const double t47 = bits_as<double>((t35 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t54 = (large ? 0.0 : (low + z_low)) * bits_as<double>((0x7feull - t37) << 52);
  const double t55 = (t29 > 2.028240960365167e+31) ? 0.0 : t54;
  const double t56 = t47 - 1.0;
  const double t57 = t56 + t55;
  const double t60 = t42 + (large ? 1.0 : 0.0);
  const double t62 = t60 * 0.6931471805592082;
  const double t63 = t62 + t57;
  const double t68 = t57 / (t57 + 2.0);
  const double t69 = t68 * t68;
  const double t71 = (t57 * t57) * 0.5;
  const double t76 = fma(fma(0.14795605576636703, t69, 0.15314087634537904), t69,
      0.18183562742915865);
  const double t80 = fma(fma(t76, t69, 0.22222198607073765), t69, 0.2857142874201019);
  const double t84 = fma(fma(t80, t69, 0.399999999994167), t69, 0.6666666666666734);
  const double t90 = fma(t60, 7.371002565167799e-13, fma(t68, fma(t69, t84, t71), -t71) +
      (t55 - (t57 - t56)));
  const double y = t63 + ((t57 - (t63 - t62)) + t90);
  const double t98 = (x < 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((x <
      bits_as<double>(0x7ff0000000000000ull)) ? y : x);
  return t98;
}

// log(1 + 2 |x| / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts.
GB_FN float atanh(float x) {
  GB_ENTER
  const float a = fabs(x);
  const float t3 = -a;
  const float below = 1.0f + t3;
  const float below_low = t3 - (below - 1.0f);
  const float inverse = 1.0f / below;
  const float t8 = a + a;
  const float z = t8 * inverse;
  const float t10 = -z;
  const float z_low = fma(t10, below_low, fma(t10, below, t8)) * inverse;
  const float total = 1.0f + z;
  const float t15 = total - 1.0f;
  const float low = (1.0f - (total - t15)) + (z - t15);
  const u32 t23 = bits_as<u32>(total) + 0x4afb0du;
  const u32 t25 = t23 >> 23;
  const float t30 = bits_as<float>(t25 | 0x4b000000u) - 8388735.0f;
  const float t44 = (total > 7.0368744e+13f) ? 0.0f : ((low + z_low) * bits_as<float>((0xfeu
      - t25) << 23));
  const float t45 = bits_as<float>((t23 & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float t46 = t45 + t44;
  const float t50 = t30 * 0.69314575f;
  const float t51 = t50 + t46;
  const float t61 = fma(fma(fma(-0.076361686f, t46, 0.12762101f), t46, -0.1315963f), t46,
      0.14201589f);
  const float t67 = fma(fma(fma(t61, t46, -0.16623409f), t46, 0.20001242f), t46, -0.2500082f);
  const float t73 = ((t46 * t46) * fma(t46, fma(t67, t46, 0.3333333f), -0.5f)) + (t44 - (t46
      - t45));
  const float y = (t51 + ((t46 - (t51 - t50)) + fma(t30, 1.4286068e-06f, t73))) * 0.5f;
  const float t87 = (a > 1.0f) ? bits_as<float>(0x7fc00000u) : ((a < 2.0f) ?
      bits_as<float>(0x7f800000u) : a);
  const u32 t93 = bits_as<u32>((a < 1.0f) ? y : t87) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t93);
}

// log(1 + 2 |x| / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts.
GB_FN double atanh(double x) {
  GB_ENTER
  const double a = fabs(x);
  const double t3 = -a;
  const double below = 1.0 + t3;
  const double below_low = t3 - (below - 1.0);
  const double inverse = 1.0 / below;
  const double t8 = a + a;
  const double z = t8 * inverse;
  const double t10 = -z;
  const double z_low = fma(t10, below_low, fma(t10, below, t8)) * inverse;
  const double total = 1.0 + z;
  const double t15 = total - 1.0;
  const double low = (1.0 - (total - t15)) + (z - t15);
  const u64 t23 = bits_as<u64>(total) + 0x95f619980c433ull;
  const u64 t25 = t23 >> 52;
  const double t30 = bits_as<double>(t25 | 0x4330000000000000ull) - 4503599627371519.0;
  const double t35 = bits_as<double>((t23 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t44 = (total > 2.028240960365167e+31) ? 0.0 : ((low + z_low) *
      bits_as<double>((0x7feull - t25) << 52));
  const double t45 = t35 - 1.0;
  const double t46 = t45 + t44;
  const double t50 = t30 * 0.6931471805592082;
  const double t51 = t50 + t46;
  const double t56 = t46 / (t46 + 2.0);
  const double t57 = t56 * t56;
  const double t60 = (t46 * t46) * 0.5;
  const double t65 = fma(fma(0.14795605576636703, t57, 0.15314087634537904), t57,
      0.18183562742915865);
  const double t69 = fma(fma(t65, t57, 0.22222198607073765), t57, 0.2857142874201019);
  const double t73 = fma(fma(t69, t57, 0.399999999994167), t57, 0.6666666666666734);
  const double t79 = fma(t30, 7.371002565167799e-13, fma(t56, fma(t57, t73, t60), -t60) +
      (t44 - (t46 - t45)));
  const double y = (t51 + ((t46 - (t51 - t50)) + t79)) * 0.5;
  const double t89 = (a > 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((a < 2.0) ?
      bits_as<double>(0x7ff0000000000000ull) : a);
  const u64 t95 = bits_as<u64>((a < 1.0) ? y : t89) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t95);
}

// x ** y = 2 ** (y log2 |x|), the exponent in two parts; signs and edges are those of C.
GB_FN float pow(float x, float y) {
  GB_ENTER
  const float a = fabs(x);
  const bool t4 = a < 1.1754944e-38f;
  const u32 t13 = bits_as<u32>(t4 ? (a * 8388608.0f) : a) + 0x4afb0du;
  const float t19 = bits_as<float>((t13 >> 23) | 0x4b000000u) - (t4 ? 8388758.0f :
      8388735.0f);
  const float t26 = bits_as<float>((t13 & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float t28 = 2.0f + t26;
  const float t31 = 1.0f / t28;
  const float t32 = t26 * t31;
  const float t33 = -t32;
  const float t36 = fma(t33, t26 - (t28 - 2.0f), fma(t33, t28, t26)) * t31;
  const float t37 = t32 * t32;
  const float t43 = t37 * 0.9617967f;
  const float t54 = fma(fma(t32 + t32, t36, fma(t32, t32, -t37)), 0.9617967f, fma(t37,
      -7.028462e-09f, fma(t37, 0.9617967f, -t43)));
  const float t55 = fma(t37 * t37, fma(fma(0.33781976f, t37, 0.41184995f), t37, 0.5770802f),
      t54);
  const float t57 = 2.88539f + t43;
  const float t63 = t32 * t57;
  const float t67 = fma(t32, (t43 - (t57 - 2.88539f)) + (t55 + 3.851926e-08f), fma(t36, t57,
      fma(t32, t57, -t63)));
  const float t68 = t19 + t63;
  const float t71 = (t63 - (t68 - t19)) + t67;
  const float t72 = t68 + t71;
  const float low = t71 - (t72 - t68);
  const float high = (a < bits_as<float>(0x7f800000u)) ? ((a == 0.0f) ?
      bits_as<float>(0xff800000u) : t72) : a;
  const float t84 = (y < (-1.2676506e+30f)) ? (-1.2676506e+30f) : y;
  const float times = (t84 > 1.2676506e+30f) ? 1.2676506e+30f : t84;
  const float t88 = times * high;
  const float power_low = (fabs(t88) > 2.8e+02f) ? 0.0f : fma(times, low, fma(times, high,
      -t88));
  const float t98 = (t88 < (-151.0f)) ? (-151.0f) : t88;
  const float power = (t98 > 129.0f) ? 129.0f : t98;
  const bool t102 = power < 0.0f;
  const float offset = t102 ? 32.0f : (-2.0f);
  const float factor = t102 ? 2.3283064e-10f : 4.0f;
  const float t110 = offset + 12583039.0f;
  const float t111 = fma(power, 1.0f, t110);
  const float n = t111 - t110;
  const float scale = bits_as<float>(bits_as<u32>(t111) << 23);
  const float r = (power - n) + power_low;
  const float t124 = fma(fma(fma(0.00015328907f, r, 0.0013390976f), r, 0.0096185f), r,
      0.055503596f);
  const float t130 = fma(r, fma(fma(t124, r, 0.24022648f), r, 0.6931472f), 1.0f) * scale;
  const float size = t130 * factor;
  const float half = y * 0.5f;
  const bool whole = trunc(y) == y;
  const bool is_odd = whole & ((trunc(half) == half) ^ true);
  const u32 t147 = bits_as<u32>(size) | (is_odd ? (bits_as<u32>(x) & 0x80000000u) : 0x0u);
  const bool refused = ((x < 0.0f) & (x > bits_as<float>(0xff800000u))) & (whole ^ true);
  const float value = refused ? bits_as<float>(0x7fc00000u) : bits_as<float>(t147);
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : value;
}

// x ** y = 2 ** (y log2 |x|), the exponent in two parts; signs and edges are those of C.
GB_FN double pow(double x, double y) {
  GB_ENTER
  const double a = fabs(x);
  const bool t4 = a < 2.2250738585072014e-308;
  const u64 t13 = bits_as<u64>(t4 ? (a * 4503599627370496.0) : a) + 0x95f619980c433ull;
  const double t19 = bits_as<double>((t13 >> 52) | 0x4330000000000000ull) - (t4 ?
      4503599627371571.0 : 4503599627371519.0);
  const double t24 = bits_as<double>((t13 & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double t26 = t24 - 1.0;
  const double t28 = 2.0 + t26;
  const double t31 = 1.0 / t28;
  const double t32 = t26 * t31;
  const double t33 = -t32;
  const double t36 = fma(t33, t26 - (t28 - 2.0), fma(t33, t28, t26)) * t31;
  const double t37 = t32 * t32;
  const double t43 = t37 * 0.9617966939259756;
  const double t49 = fma(fma(0.19038299902946998, t37, 0.19125539814239242), t37,
      0.2219839888524645);
  const double t53 = fma(fma(t49, t37, 0.2623077012845996), t37, 0.3205989022722306);
  const double t57 = fma(fma(t53, t37, 0.41219858309194407), t37, 0.577078016355618);
  const double t61 = fma(t37, 5.0577616648125907e-17, fma(t37, 0.9617966939259756, -t43));
  const double t62 = fma(fma(t32 + t32, t36, fma(t32, t32, -t37)), 0.9617966939259756, t61);
  const double t65 = 2.8853900817779268 + t43;
  const double t70 = (t43 - (t65 - 2.8853900817779268)) + (fma(t37 * t37, t57, t62) +
      4.0710547481862066e-17);
  const double t71 = t32 * t65;
  const double t76 = t19 + t71;
  const double t79 = (t71 - (t76 - t19)) + fma(t32, t70, fma(t36, t65, fma(t32, t65, -t71)));
  const double t80 = t76 + t79;
  const double low = t79 - (t80 - t76);
  const double high = (a < bits_as<double>(0x7ff0000000000000ull)) ? ((a == 0.0) ?
      bits_as<double>(0xfff0000000000000ull) : t80) : a;
  const double t92 = (y < (-1.2676506002282294e+30)) ? (-1.2676506002282294e+30) : y;
  const double times = (t92 > 1.2676506002282294e+30) ? 1.2676506002282294e+30 : t92;
  const double t96 = times * high;
  const double power_low = (fabs(t96) > 2101.0) ? 0.0 : fma(times, low, fma(times, high,
      -t96));
  const double t106 = (t96 < (-1076.0)) ? (-1076.0) : t96;
  const double power = (t106 > 1025.0) ? 1025.0 : t106;
  const bool t110 = power < 0.0;
  const double offset = t110 ? 128.0 : (-2.0);
  const double factor = t110 ? 2.938735877055719e-39 : 4.0;
  const double t118 = offset + 6755399441056767.0;
  const double t119 = fma(power, 1.0, t118);
  const double n = t119 - t118;
  const double scale = bits_as<double>(bits_as<u64>(t119) << 52);
  const double r = (power - n) + power_low;
  const double t130 = fma(fma(4.43970939153344e-10, r, 7.073312527592007e-09), r,
      1.0178154738384346e-07);
  const double t134 = fma(fma(t130, r, 1.321543833708892e-06), r, 1.5252733645546427e-05);
  const double t138 = fma(fma(t134, r, 0.00015403530450130865), r, 0.001333355814653625);
  const double t142 = fma(fma(t138, r, 0.009618129107600636), r, 0.05550410866482175);
  const double t147 = fma(r, fma(fma(t142, r, 0.2402265069591011), r, 0.6931471805599453),
      1.0);
  const double size = (t147 * scale) * factor;
  const double half = y * 0.5;
  const bool whole = trunc(y) == y;
  const bool is_odd = whole & ((trunc(half) == half) ^ true);
  const u64 t165 = bits_as<u64>(size) | (is_odd ? (bits_as<u64>(x) & 0x8000000000000000ull) :
      0x0ull);
  const bool refused = ((x < 0.0) & (x > bits_as<double>(0xfff0000000000000ull))) & (whole ^
      true);
  const double value = refused ? bits_as<double>(0x7ff8000000000000ull) :
      bits_as<double>(t165);
  return ((y == 0.0) | (x == 1.0)) ? 1.0 : value;
}

}  // namespace gb

#endif
