// Inverse hyperbolic functions, by the logarithm of a sum.
//
// Written by `make generate` from gpubcast/hlo/elementary/inverse_hyperbolic.py; do not edit.
#ifndef GB_ELEMENTARY_INVERSE_HYPERBOLIC_CUH
#define GB_ELEMENTARY_INVERSE_HYPERBOLIC_CUH

#include "scalar.cuh"
#include "elementary/logarithm.cuh"

namespace gb {

#ifndef GB_HAS_TABLE_481cc6e9
#define GB_HAS_TABLE_481cc6e9
GB_TABLE float TABLE_481cc6e9[2][8] = {
  {1.0f, 0.84178895f, 0.7591249f, 0.6970162f,
   1.2806208f, 1.195365f, 1.0909028f, 1.0f,
  },
  {0.0f, 0.17222595f, 0.275589f, 0.36094666f,
   -0.24734497f, -0.17845154f, -0.087005615f, 0.0f,
  },
};
#endif
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
  const float t24 = normal_mantissa(t19);
  const float t25 = normal_exponent(t19);
  const u32 t28 = bits_as<u32>(t24) >> 20;
  const float t29 = TABLE_481cc6e9[0][t28 & 7];
  const float t32 = fma(t24, t29, -1.0f);
  const u32 t40 = bits_as<u32>(12583039.0f - ((t25 < 127.0f) ? t25 : 127.0f)) << 23;
  const float t43 = t25 + (large ? 1.0f : 0.0f);
  const float t45 = fma(t43, 0.69314575f, TABLE_481cc6e9[1][t28 & 7]);
  const float t46 = t45 + t32;
  const float t51 = fma((large ? 0.0f : (low + z_low)) * bits_as<float>(t40), fma(-t29, t32,
      t29), t32 - (t46 - t45));
  const float t61 = fma(fma(fma(-0.14431211f, t32, 0.20001717f), t32, -0.25012267f), t32,
      0.33333486f);
  const float t64 = fma(t32 * t32, fma(t61, t32, -0.49999985f), fma(t43, 1.4286068e-06f,
      t51));
  const float y = t46 + t64;
  const u32 t73 = bits_as<u32>((a < bits_as<float>(0x7f800000u)) ? y : a) | (bits_as<u32>(x)
      & 0x80000000u);
  return bits_as<float>(t73);
}

#ifndef GB_HAS_TABLE_5c1a66cd
#define GB_HAS_TABLE_5c1a66cd
GB_TABLE double TABLE_5c1a66cd[1][8] = {
  {1.0, 0.8421052428592407, 0.7619047556301802, 0.6956521766277668,
   1.2799999905081907, 1.185185210133655, 1.103448248483607, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_df6d9be0
#define GB_HAS_TABLE_df6d9be0
GB_TABLE double TABLE_df6d9be0[1][8] = {
  {0.0, 0.17185028103131117, 0.27193372371903024, 0.3629054897869537,
   -0.24686007051604975, -0.16989905784566872, -0.09844004800152106, 0.0,
  },
};
#endif
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
  const double t24 = normal_mantissa(t19);
  const double t25 = normal_exponent(t19);
  const u64 t28 = bits_as<u64>(t24) >> 49;
  const double t29 = TABLE_5c1a66cd[0][t28 & 7];
  const double t32 = fma(t24, t29, -1.0);
  const u64 t38 = bits_as<u64>(6755399441056767.0 - ((t25 < 1023.0) ? t25 : 1023.0));
  const double t43 = t25 + (large ? 1.0 : 0.0);
  const double t45 = fma(t43, 0.6931471805601177, TABLE_df6d9be0[0][t28 & 7]);
  const double t46 = t45 + t32;
  const double t51 = fma((large ? 0.0 : (low + z_low)) * bits_as<double>(t38 << 52),
      fma(-t29, t32, t29), t32 - (t46 - t45));
  const double t59 = fma(fma(0.05224709948779367, t32, -0.08029299574476996), t32,
      0.09092636695632472);
  const double t63 = fma(fma(t59, t32, -0.10003149434698166), t32, 0.11111260070436367);
  const double t67 = fma(fma(t63, t32, -0.12499990200666337), t32, 0.14285713557317845);
  const double t71 = fma(fma(t67, t32, -0.1666666667738924), t32, 0.20000000001198348);
  const double t75 = fma(fma(t71, t32, -0.2499999999999716), t32, 0.3333333333333273);
  const double t78 = fma(t32 * t32, fma(t75, t32, -0.5), fma(t43, -1.7239444525614835e-13,
      t51));
  const double y = t46 + t78;
  const u64 t83 = bits_as<u64>((a < bits_as<double>(0x7ff0000000000000ull)) ? y : a);
  const double t88 = bits_as<double>(t83 | (bits_as<u64>(x) & 0x8000000000000000ull));
  return t88;
}

// log(x / 2 + sqrt(x^2 - 1) / 2) + ln 2: the root is that of t^2 + t, t = (x - 1) / 2.
GB_FN float acosh(float x) {
  GB_ENTER
  const float t = fma(x, 0.5f, -0.5f);
  const float square = fma(t, t, t);
  const float root = sqrt(square);
  const float t6 = -root;
  const float rest = fma(t6, root, square) + fma(t, t, t - square);
  const float t14 = bits_as<float>(0x7ef311c7u - bits_as<u32>(root));
  const float root_low = rest * ((t14 * fma(t6, t14, 2.0f)) * 0.5f);
  const float t20 = x * 0.5f;
  const float total = t20 + root;
  const float low = root - (total - t20);
  const bool large = x > 8192.0f;
  const float t26 = large ? x : total;
  const float t31 = normal_mantissa(t26);
  const float t32 = normal_exponent(t26);
  const u32 t35 = bits_as<u32>(t31) >> 20;
  const float t36 = TABLE_481cc6e9[0][t35 & 7];
  const float t39 = fma(t31, t36, -1.0f);
  const u32 t47 = bits_as<u32>(12583039.0f - ((t32 < 127.0f) ? t32 : 127.0f)) << 23;
  const float t50 = t32 + 1.0f;
  const float t52 = fma(t50, 0.69314575f, TABLE_481cc6e9[1][t35 & 7]);
  const float t53 = t52 + t39;
  const float t58 = fma((large ? 0.0f : (low + root_low)) * bits_as<float>(t47), fma(-t36,
      t39, t36), t39 - (t53 - t52));
  const float t68 = fma(fma(fma(-0.14431211f, t39, 0.20001717f), t39, -0.25012267f), t39,
      0.33333486f);
  const float t71 = fma(t39 * t39, fma(t68, t39, -0.49999985f), fma(t50, 1.4286068e-06f,
      t58));
  const float y = t53 + t71;
  const float t78 = (x < 1.0f) ? bits_as<float>(0x7fc00000u) : ((x <
      bits_as<float>(0x7f800000u)) ? y : x);
  return t78;
}

// log(x / 2 + sqrt(x^2 - 1) / 2) + ln 2: the root is that of t^2 + t, t = (x - 1) / 2.
GB_FN double acosh(double x) {
  GB_ENTER
  const double t = fma(x, 0.5, -0.5);
  const double square = fma(t, t, t);
  const double root = sqrt(square);
  const double t6 = -root;
  const double rest = fma(t6, root, square) + fma(t, t, t - square);
  const double t14 = bits_as<double>(0x7fde623822fc16e6ull - bits_as<u64>(root));
  const double root_low = rest * ((t14 * fma(t6, t14, 2.0)) * 0.5);
  const double t20 = x * 0.5;
  const double total = t20 + root;
  const double low = root - (total - t20);
  const bool large = x > 268435456.0;
  const double t26 = large ? x : total;
  const double t31 = normal_mantissa(t26);
  const double t32 = normal_exponent(t26);
  const u64 t35 = bits_as<u64>(t31) >> 49;
  const double t36 = TABLE_5c1a66cd[0][t35 & 7];
  const double t39 = fma(t31, t36, -1.0);
  const u64 t45 = bits_as<u64>(6755399441056767.0 - ((t32 < 1023.0) ? t32 : 1023.0));
  const double t50 = t32 + 1.0;
  const double t52 = fma(t50, 0.6931471805601177, TABLE_df6d9be0[0][t35 & 7]);
  const double t53 = t52 + t39;
  const double t58 = fma((large ? 0.0 : (low + root_low)) * bits_as<double>(t45 << 52),
      fma(-t36, t39, t36), t39 - (t53 - t52));
  const double t66 = fma(fma(0.05224709948779367, t39, -0.08029299574476996), t39,
      0.09092636695632472);
  const double t70 = fma(fma(t66, t39, -0.10003149434698166), t39, 0.11111260070436367);
  const double t74 = fma(fma(t70, t39, -0.12499990200666337), t39, 0.14285713557317845);
  const double t78 = fma(fma(t74, t39, -0.1666666667738924), t39, 0.20000000001198348);
  const double t82 = fma(fma(t78, t39, -0.2499999999999716), t39, 0.3333333333333273);
  const double t84 = fma(t39 * t39, fma(t82, t39, -0.5), fma(t50, -1.7239444525614835e-13,
      t58));
  const double y = t53 + t84;
  const double t91 = (x < 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((x <
      bits_as<double>(0x7ff0000000000000ull)) ? y : x);
  return t91;
}

// log((1 + |x|) / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts.
GB_FN float atanh(float x) {
  GB_ENTER
  const float a = fabs(x);
  const float above = 1.0f + a;
  const float above_low = a - (above - 1.0f);
  const float t6 = -a;
  const float below = 1.0f + t6;
  const float below_low = t6 - (below - 1.0f);
  const float inverse = 1.0f / below;
  const float total = above * inverse;
  const float t12 = -total;
  const float low = (fma(t12, below, above) + fma(t12, below_low, above_low)) * inverse;
  const float t17 = normal_mantissa(total);
  const float t18 = normal_exponent(total);
  const u32 t21 = bits_as<u32>(t17) >> 20;
  const float t22 = TABLE_481cc6e9[0][t21 & 7];
  const float t25 = fma(t17, t22, -1.0f);
  const u32 t33 = bits_as<u32>(12583039.0f - ((t18 < 127.0f) ? t18 : 127.0f)) << 23;
  const float t37 = fma(t18, 0.69314575f, TABLE_481cc6e9[1][t21 & 7]);
  const float t38 = t37 + t25;
  const float t43 = fma(low * bits_as<float>(t33), fma(-t22, t25, t22), t25 - (t38 - t37));
  const float t53 = fma(fma(fma(-0.14431211f, t25, 0.20001717f), t25, -0.25012267f), t25,
      0.33333486f);
  const float t56 = fma(t25 * t25, fma(t53, t25, -0.49999985f), fma(t18, 1.4286068e-06f,
      t43));
  const float y = (t38 + t56) * 0.5f;
  const float t67 = (a > 1.0f) ? bits_as<float>(0x7fc00000u) : ((a < 2.0f) ?
      bits_as<float>(0x7f800000u) : a);
  const u32 t73 = bits_as<u32>((a < 1.0f) ? y : t67) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t73);
}

// log((1 + |x|) / (1 - |x|)) / 2 with the sign of x; the quotient is in two parts.
GB_FN double atanh(double x) {
  GB_ENTER
  const double a = fabs(x);
  const double above = 1.0 + a;
  const double above_low = a - (above - 1.0);
  const double t6 = -a;
  const double below = 1.0 + t6;
  const double below_low = t6 - (below - 1.0);
  const double inverse = 1.0 / below;
  const double total = above * inverse;
  const double t12 = -total;
  const double low = (fma(t12, below, above) + fma(t12, below_low, above_low)) * inverse;
  const double t17 = normal_mantissa(total);
  const double t18 = normal_exponent(total);
  const u64 t21 = bits_as<u64>(t17) >> 49;
  const double t22 = TABLE_5c1a66cd[0][t21 & 7];
  const double t25 = fma(t17, t22, -1.0);
  const u64 t31 = bits_as<u64>(6755399441056767.0 - ((t18 < 1023.0) ? t18 : 1023.0));
  const double t37 = fma(t18, 0.6931471805601177, TABLE_df6d9be0[0][t21 & 7]);
  const double t38 = t37 + t25;
  const double t43 = fma(low * bits_as<double>(t31 << 52), fma(-t22, t25, t22), t25 - (t38 -
      t37));
  const double t51 = fma(fma(0.05224709948779367, t25, -0.08029299574476996), t25,
      0.09092636695632472);
  const double t55 = fma(fma(t51, t25, -0.10003149434698166), t25, 0.11111260070436367);
  const double t59 = fma(fma(t55, t25, -0.12499990200666337), t25, 0.14285713557317845);
  const double t63 = fma(fma(t59, t25, -0.1666666667738924), t25, 0.20000000001198348);
  const double t67 = fma(fma(t63, t25, -0.2499999999999716), t25, 0.3333333333333273);
  const double t70 = fma(t25 * t25, fma(t67, t25, -0.5), fma(t18, -1.7239444525614835e-13,
      t43));
  const double y = (t38 + t70) * 0.5;
  const double t81 = (a > 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((a < 2.0) ?
      bits_as<double>(0x7ff0000000000000ull) : a);
  const u64 t87 = bits_as<u64>((a < 1.0) ? y : t81) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t87);
}

}  // namespace gb

#endif
