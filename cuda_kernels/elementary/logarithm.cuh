// Natural logarithms of numbers and of sums, and what others are made of.
//
// Written by `make generate` from gpubcast/hlo/elementary/logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_CUH
#define GB_ELEMENTARY_LOGARITHM_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

namespace gb {

// m of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one.
GB_FN float normal_mantissa(float x) {
  GB_ENTER
  const float t7 = bits_as<float>(((bits_as<u32>(x) - 0x3f400000u) & 0x7fffffu) +
      0x3f400000u);
  return t7;
}

// m of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one.
GB_FN double normal_mantissa(double x) {
  GB_ENTER
  const u64 t5 = (bits_as<u64>(x) - 0xfff8000000000000ull) & 0xfffffffffffffull;
  return bits_as<double>(t5 + 0x3fe8000000000000ull);
}

// e of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one.
GB_FN float normal_exponent(float x) {
  GB_ENTER
  const u32 word = bits_as<u32>(x) - 0x3f400000u;
  const float t6 = static_cast<float>(static_cast<i32>(static_cast<u32>(static_cast<i32>(word) >> 23)));
  return t6;
}

// e of a normal x = m 2^e > 0 with 3/4 <= m < 3/2; any number, where x is another one.
GB_FN double normal_exponent(double x) {
  GB_ENTER
  const u64 word = bits_as<u64>(x) - 0xfff8000000000000ull;
  const double t10 = bits_as<double>((word >> 52) | 0x4330000000000000ull) -
      4503599627371519.0;
  return t10;
}

// The exponent of the power of two next below a normal x > 0; any number, where x is another
// one.
GB_FN float floor_exponent(float x) {
  GB_ENTER
  const float t8 = bits_as<float>((bits_as<u32>(x) >> 23) | 0x4b000000u) - 8388735.0f;
  return t8;
}

// The exponent of the power of two next below a normal x > 0; any number, where x is another
// one.
GB_FN double floor_exponent(double x) {
  GB_ENTER
  const double t6 = bits_as<double>((bits_as<u64>(x) >> 52) | 0x4330000000000000ull);
  return t6 - 4503599627371519.0;
}

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
// The natural logarithm of any number.
GB_RARE float log_edge(float x) {
  GB_ENTER
  const bool t2 = x < 1.1754944e-38f;
  const float t5 = t2 ? (x * 16777216.0f) : x;
  const float t6 = normal_mantissa(t5);
  const u32 t10 = bits_as<u32>(t6) >> 20;
  const float t14 = fma(t6, TABLE_481cc6e9[0][t10 & 7], -1.0f);
  const float t18 = normal_exponent(t5) - (t2 ? 24.0f : 0.0f);
  const float t20 = fma(t18, 0.69314575f, TABLE_481cc6e9[1][t10 & 7]);
  const float t21 = t20 + t14;
  const float t33 = fma(fma(fma(-0.14431211f, t14, 0.20001717f), t14, -0.25012267f), t14,
      0.33333486f);
  const float t36 = fma(t14 * t14, fma(t33, t14, -0.49999985f), fma(t18, 1.4286068e-06f, t14
      - (t21 - t20)));
  return log_domain(x, t21 + t36);
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
// The natural logarithm of any number.
GB_RARE double log_edge(double x) {
  GB_ENTER
  const bool t2 = x < 2.2250738585072014e-308;
  const double t5 = t2 ? (x * 9007199254740992.0) : x;
  const double t6 = normal_mantissa(t5);
  const u64 t10 = bits_as<u64>(t6) >> 49;
  const double t14 = fma(t6, TABLE_5c1a66cd[0][t10 & 7], -1.0);
  const double t18 = normal_exponent(t5) - (t2 ? 53.0 : 0.0);
  const double t20 = fma(t18, 0.6931471805601177, TABLE_df6d9be0[0][t10 & 7]);
  const double t21 = t20 + t14;
  const double t31 = fma(fma(0.05224709948779367, t14, -0.08029299574476996), t14,
      0.09092636695632472);
  const double t35 = fma(fma(t31, t14, -0.10003149434698166), t14, 0.11111260070436367);
  const double t39 = fma(fma(t35, t14, -0.12499990200666337), t14, 0.14285713557317845);
  const double t43 = fma(fma(t39, t14, -0.1666666667738924), t14, 0.20000000001198348);
  const double t47 = fma(fma(t43, t14, -0.2499999999999716), t14, 0.3333333333333273);
  const double t50 = fma(t14 * t14, fma(t47, t14, -0.5), fma(t18, -1.7239444525614835e-13,
      t14 - (t21 - t20)));
  return log_domain(x, t21 + t50);
}

// y, a natural logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN float log_ends(float x, float y) {
  GB_ENTER
  const float t9 = (((bits_as<u32>(x) - 0x800000u) < 0x7f000000u) ^ true) ? log_edge(x) : y;
  return t9;
}

// y, a natural logarithm, where x is normal and positive, and the logarithm of x elsewhere.
GB_FN double log_ends(double x, double y) {
  GB_ENTER
  const bool t6 = (bits_as<u64>(x) - 0x10000000000000ull) < 0x7fe0000000000000ull;
  return (t6 ^ true) ? log_edge(x) : y;
}

// The natural logarithm: e ln 2 + log(m) of x = m 2^e.
GB_FN float log(float x) {
  GB_ENTER
  const float t1 = normal_mantissa(x);
  const float t2 = normal_exponent(x);
  const u32 t5 = bits_as<u32>(t1) >> 20;
  const float t9 = fma(t1, TABLE_481cc6e9[0][t5 & 7], -1.0f);
  const float t11 = fma(t2, 0.69314575f, TABLE_481cc6e9[1][t5 & 7]);
  const float t12 = t11 + t9;
  const float t24 = fma(fma(fma(-0.14431211f, t9, 0.20001717f), t9, -0.25012267f), t9,
      0.33333486f);
  const float t27 = fma(t9 * t9, fma(t24, t9, -0.49999985f), fma(t2, 1.4286068e-06f, t9 -
      (t12 - t11)));
  return log_ends(x, t12 + t27);
}

// The natural logarithm: e ln 2 + log(m) of x = m 2^e.
GB_FN double log(double x) {
  GB_ENTER
  const double t1 = normal_mantissa(x);
  const double t2 = normal_exponent(x);
  const u64 t5 = bits_as<u64>(t1) >> 49;
  const double t9 = fma(t1, TABLE_5c1a66cd[0][t5 & 7], -1.0);
  const double t11 = fma(t2, 0.6931471805601177, TABLE_df6d9be0[0][t5 & 7]);
  const double t12 = t11 + t9;
  const double t22 = fma(fma(0.05224709948779367, t9, -0.08029299574476996), t9,
      0.09092636695632472);
  const double t26 = fma(fma(t22, t9, -0.10003149434698166), t9, 0.11111260070436367);
  const double t30 = fma(fma(t26, t9, -0.12499990200666337), t9, 0.14285713557317845);
  const double t34 = fma(fma(t30, t9, -0.1666666667738924), t9, 0.20000000001198348);
  const double t38 = fma(fma(t34, t9, -0.2499999999999716), t9, 0.3333333333333273);
  const double t41 = fma(t9 * t9, fma(t38, t9, -0.5), fma(t2, -1.7239444525614835e-13, t9 -
      (t12 - t11)));
  return log_ends(x, t12 + t41);
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN float log1p(float x) {
  GB_ENTER
  const float total = 1.0f + x;
  const float t3 = total - 1.0f;
  const float low = (1.0f - (total - t3)) + (x - t3);
  const float t8 = normal_mantissa(total);
  const float t9 = normal_exponent(total);
  const u32 t12 = bits_as<u32>(t8) >> 20;
  const float t13 = TABLE_481cc6e9[0][t12 & 7];
  const float t16 = fma(t8, t13, -1.0f);
  const u32 t24 = bits_as<u32>(12583039.0f - ((t9 < 127.0f) ? t9 : 127.0f)) << 23;
  const float t28 = fma(t9, 0.69314575f, TABLE_481cc6e9[1][t12 & 7]);
  const float t29 = t28 + t16;
  const float t34 = fma(low * bits_as<float>(t24), fma(-t13, t16, t13), t16 - (t29 - t28));
  const float t44 = fma(fma(fma(-0.14431211f, t16, 0.20001717f), t16, -0.25012267f), t16,
      0.33333486f);
  const float t47 = fma(t16 * t16, fma(t44, t16, -0.49999985f), fma(t9, 1.4286068e-06f, t34));
  const float y = bits_as<float>(bits_as<u32>(t29 + t47) | (bits_as<u32>(x) & 0x80000000u));
  return log_domain(total, y);
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN double log1p(double x) {
  GB_ENTER
  const double total = 1.0 + x;
  const double t3 = total - 1.0;
  const double low = (1.0 - (total - t3)) + (x - t3);
  const double t8 = normal_mantissa(total);
  const double t9 = normal_exponent(total);
  const u64 t12 = bits_as<u64>(t8) >> 49;
  const double t13 = TABLE_5c1a66cd[0][t12 & 7];
  const double t16 = fma(t8, t13, -1.0);
  const u64 t22 = bits_as<u64>(6755399441056767.0 - ((t9 < 1023.0) ? t9 : 1023.0));
  const double t28 = fma(t9, 0.6931471805601177, TABLE_df6d9be0[0][t12 & 7]);
  const double t29 = t28 + t16;
  const double t34 = fma(low * bits_as<double>(t22 << 52), fma(-t13, t16, t13), t16 - (t29 -
      t28));
  const double t42 = fma(fma(0.05224709948779367, t16, -0.08029299574476996), t16,
      0.09092636695632472);
  const double t46 = fma(fma(t42, t16, -0.10003149434698166), t16, 0.11111260070436367);
  const double t50 = fma(fma(t46, t16, -0.12499990200666337), t16, 0.14285713557317845);
  const double t54 = fma(fma(t50, t16, -0.1666666667738924), t16, 0.20000000001198348);
  const double t58 = fma(fma(t54, t16, -0.2499999999999716), t16, 0.3333333333333273);
  const double t61 = fma(t16 * t16, fma(t58, t16, -0.5), fma(t9, -1.7239444525614835e-13,
      t34));
  const u64 t67 = bits_as<u64>(t29 + t61) | (bits_as<u64>(x) & 0x8000000000000000ull);
  const double y = bits_as<double>(t67);
  return log_domain(total, y);
}

// The larger operand + log(1 + e^d): the difference d is in two parts, and so is e^d.
GB_FN float logaddexp(float x, float y) {
  GB_ENTER
  const bool above = x > y;
  const float larger = above ? x : y;
  const float smaller = above ? y : x;
  const float t5 = -larger;
  const float t6 = smaller + t5;
  const float t7 = t6 - smaller;
  const float t14 = (x == y) ? 0.0f : t6;
  const float d_low = (t6 > (-104.0f)) ? ((smaller - (t6 - t7)) + (t5 - t7)) : 0.0f;
  const float d = (t14 < (-104.0f)) ? (-104.0f) : t14;
  const float n = fma(d, 1.442695f, 12582912.0f) - 12582912.0f;
  const float r = fma(n, -5.769999e-08f, fma(n, -0.6931471f, d)) + d_low;
  const float t36 = fma(fma(fma(0.0013820748f, r, 0.008368677f), r, 0.041668266f), r,
      0.16666521f);
  const float t39 = fma(r * r, fma(t36, r, 0.49999994f), r);
  const float power = 1.0f + t39;
  const float power_low = t39 - (power - 1.0f);
  const float t = scaled(power, n);
  const float total = 1.0f + t;
  const float low = t - (total - 1.0f);
  const float t51 = bits_as<float>(0x7ef311c7u - bits_as<u32>(power));
  const float rest = fma(t, power_low * (t51 * fma(-power, t51, 2.0f)), low);
  const float t58 = normal_mantissa(total);
  const float t59 = normal_exponent(total);
  const u32 t62 = bits_as<u32>(t58) >> 20;
  const float t63 = TABLE_481cc6e9[0][t62 & 7];
  const float t66 = fma(t58, t63, -1.0f);
  const u32 t74 = bits_as<u32>(12583039.0f - ((t59 < 127.0f) ? t59 : 127.0f)) << 23;
  const float t78 = fma(t59, 0.69314575f, TABLE_481cc6e9[1][t62 & 7]);
  const float t79 = t78 + t66;
  const float t84 = fma(rest * bits_as<float>(t74), fma(-t63, t66, t63), t66 - (t79 - t78));
  const float t94 = fma(fma(fma(-0.14431211f, t66, 0.20001717f), t66, -0.25012267f), t66,
      0.33333486f);
  const float t97 = fma(t66 * t66, fma(t94, t66, -0.49999985f), fma(t59, 1.4286068e-06f,
      t84));
  return larger + log_domain(total, t79 + t97);
}

// The larger operand + log(1 + e^d): the difference d is in two parts, and so is e^d.
GB_FN double logaddexp(double x, double y) {
  GB_ENTER
  const bool above = x > y;
  const double larger = above ? x : y;
  const double smaller = above ? y : x;
  const double t5 = -larger;
  const double t6 = smaller + t5;
  const double t7 = t6 - smaller;
  const double t14 = (x == y) ? 0.0 : t6;
  const double d_low = (t6 > (-746.0)) ? ((smaller - (t6 - t7)) + (t5 - t7)) : 0.0;
  const double d = (t14 < (-746.0)) ? (-746.0) : t14;
  const double n = fma(d, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  const double t27 = fma(n, -2.3190468138462996e-17, fma(n, -0.6931471805599453, d));
  const double r = t27 + d_low;
  const double t34 = fma(fma(2.500961773811377e-08, r, 2.7630483934343876e-07), r,
      2.755755553229745e-06);
  const double t38 = fma(fma(t34, r, 2.4801492390655727e-05), r, 0.00019841269542138592);
  const double t42 = fma(fma(t38, r, 0.0013888888944381223), r, 0.008333333333477345);
  const double t48 = fma(fma(fma(t42, r, 0.041666666666526894), r, 0.1666666666666644), r,
      0.5000000000000011);
  const double t49 = fma(r * r, t48, r);
  const double power = 1.0 + t49;
  const double power_low = t49 - (power - 1.0);
  const double t = scaled(power, n);
  const double total = 1.0 + t;
  const double low = t - (total - 1.0);
  const double t61 = bits_as<double>(0x7fde623822fc16e6ull - bits_as<u64>(power));
  const double rest = fma(t, power_low * (t61 * fma(-power, t61, 2.0)), low);
  const double t68 = normal_mantissa(total);
  const double t69 = normal_exponent(total);
  const u64 t72 = bits_as<u64>(t68) >> 49;
  const double t73 = TABLE_5c1a66cd[0][t72 & 7];
  const double t76 = fma(t68, t73, -1.0);
  const u64 t82 = bits_as<u64>(6755399441056767.0 - ((t69 < 1023.0) ? t69 : 1023.0));
  const double t88 = fma(t69, 0.6931471805601177, TABLE_df6d9be0[0][t72 & 7]);
  const double t89 = t88 + t76;
  const double t94 = fma(rest * bits_as<double>(t82 << 52), fma(-t73, t76, t73), t76 - (t89 -
      t88));
  const double t102 = fma(fma(0.05224709948779367, t76, -0.08029299574476996), t76,
      0.09092636695632472);
  const double t106 = fma(fma(t102, t76, -0.10003149434698166), t76, 0.11111260070436367);
  const double t110 = fma(fma(t106, t76, -0.12499990200666337), t76, 0.14285713557317845);
  const double t114 = fma(fma(t110, t76, -0.1666666667738924), t76, 0.20000000001198348);
  const double t118 = fma(fma(t114, t76, -0.2499999999999716), t76, 0.3333333333333273);
  const double t121 = fma(t76 * t76, fma(t118, t76, -0.5), fma(t69, -1.7239444525614835e-13,
      t94));
  return larger + log_domain(total, t89 + t121);
}

}  // namespace gb

#endif
