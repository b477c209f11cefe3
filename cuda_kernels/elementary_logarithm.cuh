// log and its relatives, inverse hyperbolic functions, and pow.
//
// Written by `make generate` from gpubcast/elementary/logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_CUH
#define GB_ELEMENTARY_LOGARITHM_CUH

#include "scalar.cuh"
#include "elementary_native.cuh"

namespace gb {

GB_TABLE float TABLE_f2a695b8[16] = {
  1.0f, 0.91786164f, 0.8701152f, 0.8152427f,
  0.7845498f, 0.74152845f, 0.71087205f, 0.6858854f,
  1.3020586f, 1.245546f, 1.2099724f, 1.1691363f,
  1.1174376f, 1.0768616f, 1.0568392f, 1.0f,
};
GB_TABLE float TABLE_cceb3669[16] = {
  0.0f, 0.08570862f, 0.13912964f, 0.20426941f,
  0.24264526f, 0.29904175f, 0.34126282f, 0.37704468f,
  -0.26394653f, -0.21957397f, -0.19059753f, -0.15626526f,
  -0.11103821f, -0.0740509f, -0.055282593f, 0.0f,
};
// The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table.
GB_FN float log(float x) {
  GB_ENTER
  const float t1 = mantissa(x);
  const u32 t4 = bits_as<u32>(t1) >> 19;
  const float t8 = fma(t1, TABLE_f2a695b8[t4 & 15], -1.0f);
  const float t9 = exponent(x);
  const float t13 = (t1 < 1.0f) ? (t9 + 1.0f) : t9;
  const float t15 = fma(t13, 0.69314575f, TABLE_cceb3669[t4 & 15]);
  const float t16 = t15 + t8;
  const float t26 = fma(fma(fma(0.18884762f, t8, -0.25009185f), t8, 0.33334476f), t8, -0.5f);
  const float t31 = t16 + ((t8 - (t16 - t15)) + fma(t8 * t8, t26, t13 * 1.4286068e-06f));
  return log_domain(x, t31);
}

GB_TABLE double TABLE_35121f13[16] = {
  1.0, 0.9140243058801596, 0.8652917352718384, 0.8212012981091272,
  0.7808316509859077, 0.7449193005865826, 0.711278308894159, 0.6810564465857456,
  1.3051727842977157, 1.2545284959681968, 1.2086568493711427, 1.1641642683323394,
  1.1219575845251009, 1.0857255283531642, 1.048556227717474, 1.0,
};
GB_TABLE double TABLE_858ffe45[16] = {
  0.0, 0.08989811501487566, 0.14468856270150354, 0.1969870130919844,
  0.24739570809379074, 0.29447938783005156, 0.340691492725, 0.3841100884765183,
  -0.26633543377101887, -0.22675980156691367, -0.1895097012138649, -0.1520034633490468,
  -0.11507500293237172, -0.08224845324548369, -0.04741419673882774, 0.0,
};
// The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table.
GB_FN double log(double x) {
  GB_ENTER
  const double t1 = mantissa(x);
  const u64 t4 = bits_as<u64>(t1) >> 48;
  const double t8 = fma(t1, TABLE_35121f13[t4 & 15], -1.0);
  const double t9 = exponent(x);
  const double t13 = (t1 < 1.0) ? (t9 + 1.0) : t9;
  const double t15 = fma(t13, 0.6931471805601177, TABLE_858ffe45[t4 & 15]);
  const double t16 = t15 + t8;
  const double t24 = fma(fma(0.07943081504681777, t8, -0.09970829073707954), t8,
      0.1111382520379317);
  const double t28 = fma(fma(t24, t8, -0.1250012609324571), t8, 0.14285712390724703);
  const double t32 = fma(fma(t28, t8, -0.1666666653051613), t8, 0.20000000000328122);
  const double t36 = fma(fma(t32, t8, -0.2500000000005287), t8, 0.33333333333333354);
  const double t41 = fma(t8 * t8, fma(t36, t8, -0.49999999999999994), t13 *
      (-1.7239444525614835e-13));
  return log_domain(x, t16 + ((t8 - (t16 - t15)) + t41));
}

GB_TABLE float TABLE_cb7e8d70[16] = {
  1.0f, 0.9131231f, 0.8698713f, 0.8162984f,
  0.785328f, 0.7399767f, 0.7099244f, 0.6776938f,
  1.3009197f, 1.2638404f, 1.2124486f, 1.1593636f,
  1.1314173f, 1.0779054f, 1.045777f, 1.0f,
};
GB_TABLE float TABLE_e6e1282f[16] = {
  0.0f, 0.13111877f, 0.2011261f, 0.29283142f,
  0.3486328f, 0.43444824f, 0.4942627f, 0.56129456f,
  0.62046814f, 0.66218567f, 0.7220764f, 0.78666687f,
  0.8218689f, 0.8917694f, 0.9354248f, 1.0f,
};
// The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table.
GB_FN float log2(float x) {
  GB_ENTER
  const float t1 = mantissa(x);
  const u32 t4 = bits_as<u32>(t1) >> 19;
  const float _ = TABLE_cb7e8d70[t4 & 15];
  const float table = TABLE_e6e1282f[t4 & 15];
  const float r = fma(t1, _, -1.0f);
  const float total = exponent(x) + table;
  const float head = fma(r, 1.442695f, total);
  const float t19 = fma(fma(fma(0.27059805f, r, -0.36071077f), r, 0.48091587f), r,
      -0.7213476f);
  const float rest = fma(r, t19, 1.925963e-08f);
  const float y = head + fma(r, rest, fma(r, 1.442695f, total - head));
  return log_domain(x, y);
}

GB_TABLE double TABLE_8ef7cd96[16] = {
  1.0, 0.9140303094028567, 0.8644991821782725, 0.8198977287893808,
  0.779998012006473, 0.743609965761803, 0.7113178106390355, 0.6811682280248307,
  1.3068166420327263, 1.2543568150300286, 1.2072169601722167, 1.1633468774177225,
  1.1231661405299442, 1.084047466874075, 1.0488496484613075, 1.0,
};
GB_TABLE double TABLE_bbaa9a24[16] = {
  0.0, 0.12968608879418753, 0.2100634958178489, 0.2864841307300594,
  0.3584576479279349, 0.4273819896934583, 0.4914338073494946, 0.5539169504463644,
  0.6139432675790886, 0.6730522036536968, 0.7283150204802951, 0.7817186678366852,
  0.8324286507208853, 0.883572071053095, 0.9311921161415739, 1.0,
};
// The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table.
GB_FN double log2(double x) {
  GB_ENTER
  const double t1 = mantissa(x);
  const u64 t4 = bits_as<u64>(t1) >> 48;
  const double _ = TABLE_8ef7cd96[t4 & 15];
  const double table = TABLE_bbaa9a24[t4 & 15];
  const double r = fma(t1, _, -1.0);
  const double total = exponent(x) + table;
  const double head = fma(r, 1.4426950408889634, total);
  const double t17 = fma(fma(0.09912792191924837, r, -0.14146543158291694), r,
      0.16025607800937153);
  const double t21 = fma(fma(t17, r, -0.18034205105413548), r, 0.20609947188767905);
  const double t25 = fma(fma(t21, r, -0.24044917086368126), r, 0.28853900804381255);
  const double t31 = fma(fma(fma(t25, r, -0.36067376022259057), r, 0.4808983469630148), r,
      -0.7213475204444817);
  const double rest = fma(r, t31, 2.0355273740931033e-17);
  const double y = head + fma(r, rest, fma(r, 1.4426950408889634, total - head));
  return log_domain(x, y);
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN float log1p(float x) {
  GB_ENTER
  const float total = 1.0f + x;
  const float t3 = total - 1.0f;
  const float low = (1.0f - (total - t3)) + (x - t3);
  const float t8 = mantissa(total);
  const u32 t11 = bits_as<u32>(t8) >> 19;
  const float t12 = TABLE_f2a695b8[t11 & 15];
  const float t15 = fma(t8, t12, -1.0f);
  const float t16 = exponent(total);
  const float t19 = (t8 < 1.0f) ? (t16 + 1.0f) : t16;
  const float t21 = fma(t19, 0.69314575f, TABLE_cceb3669[t11 & 15]);
  const float t22 = t21 + t15;
  const float t32 = fma(fma(fma(0.18884762f, t15, -0.25009185f), t15, 0.33334476f), t15,
      -0.5f);
  const u32 t43 = bits_as<u32>(12583039.0f - ((t19 < 127.0f) ? t19 : 127.0f)) << 23;
  const float t48 = fma(low * bits_as<float>(t43), fma(-t12, t15, t12), fma(t15 * t15, t32,
      t19 * 1.4286068e-06f));
  const u32 t55 = bits_as<u32>(t22 + ((t15 - (t22 - t21)) + t48)) | (bits_as<u32>(x) &
      0x80000000u);
  const float y = bits_as<float>(t55);
  return log_domain(total, y);
}

// log(1 + x), accurate near 0: the rounding error of the sum is carried on.
GB_FN double log1p(double x) {
  GB_ENTER
  const double total = 1.0 + x;
  const double t3 = total - 1.0;
  const double low = (1.0 - (total - t3)) + (x - t3);
  const double t8 = mantissa(total);
  const u64 t11 = bits_as<u64>(t8) >> 48;
  const double t12 = TABLE_35121f13[t11 & 15];
  const double t15 = fma(t8, t12, -1.0);
  const double t16 = exponent(total);
  const double t19 = (t8 < 1.0) ? (t16 + 1.0) : t16;
  const double t21 = fma(t19, 0.6931471805601177, TABLE_858ffe45[t11 & 15]);
  const double t22 = t21 + t15;
  const double t30 = fma(fma(0.07943081504681777, t15, -0.09970829073707954), t15,
      0.1111382520379317);
  const double t34 = fma(fma(t30, t15, -0.1250012609324571), t15, 0.14285712390724703);
  const double t38 = fma(fma(t34, t15, -0.1666666653051613), t15, 0.20000000000328122);
  const double t42 = fma(fma(t38, t15, -0.2500000000005287), t15, 0.33333333333333354);
  const double t47 = fma(t15 * t15, fma(t42, t15, -0.49999999999999994), t19 *
      (-1.7239444525614835e-13));
  const u64 t53 = bits_as<u64>(6755399441056767.0 - ((t19 < 1023.0) ? t19 : 1023.0));
  const double t60 = fma(low * bits_as<double>(t53 << 52), fma(-t12, t15, t12), t47);
  const u64 t67 = bits_as<u64>(t22 + ((t15 - (t22 - t21)) + t60)) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  const double y = bits_as<double>(t67);
  return log_domain(total, y);
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
  const float t24 = mantissa(t19);
  const u32 t27 = bits_as<u32>(t24) >> 19;
  const float t28 = TABLE_f2a695b8[t27 & 15];
  const float t31 = fma(t24, t28, -1.0f);
  const float t32 = exponent(t19);
  const float t35 = (t24 < 1.0f) ? (t32 + 1.0f) : t32;
  const float t36 = t35 + (large ? 1.0f : 0.0f);
  const float t38 = fma(t36, 0.69314575f, TABLE_cceb3669[t27 & 15]);
  const float t39 = t38 + t31;
  const float t49 = fma(fma(fma(0.18884762f, t31, -0.25009185f), t31, 0.33334476f), t31,
      -0.5f);
  const u32 t60 = bits_as<u32>(12583039.0f - ((t35 < 127.0f) ? t35 : 127.0f)) << 23;
  const float t65 = fma((large ? 0.0f : (low + z_low)) * bits_as<float>(t60), fma(-t28, t31,
      t28), fma(t31 * t31, t49, t36 * 1.4286068e-06f));
  const float y = t39 + ((t31 - (t39 - t38)) + t65);
  const u32 t75 = bits_as<u32>((a < bits_as<float>(0x7f800000u)) ? y : a) | (bits_as<u32>(x)
      & 0x80000000u);
  return bits_as<float>(t75);
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
  const double t24 = mantissa(t19);
  const u64 t27 = bits_as<u64>(t24) >> 48;
  const double t28 = TABLE_35121f13[t27 & 15];
  const double t31 = fma(t24, t28, -1.0);
  const double t32 = exponent(t19);
  const double t35 = (t24 < 1.0) ? (t32 + 1.0) : t32;
  const double t36 = t35 + (large ? 1.0 : 0.0);
  const double t38 = fma(t36, 0.6931471805601177, TABLE_858ffe45[t27 & 15]);
  const double t39 = t38 + t31;
  const double t47 = fma(fma(0.07943081504681777, t31, -0.09970829073707954), t31,
      0.1111382520379317);
  const double t51 = fma(fma(t47, t31, -0.1250012609324571), t31, 0.14285712390724703);
  const double t55 = fma(fma(t51, t31, -0.1666666653051613), t31, 0.20000000000328122);
  const double t59 = fma(fma(t55, t31, -0.2500000000005287), t31, 0.33333333333333354);
  const double t64 = fma(t31 * t31, fma(t59, t31, -0.49999999999999994), t36 *
      (-1.7239444525614835e-13));
  const u64 t70 = bits_as<u64>(6755399441056767.0 - ((t35 < 1023.0) ? t35 : 1023.0));
  const double t77 = fma((large ? 0.0 : (low + z_low)) * bits_as<double>(t70 << 52),
      fma(-t28, t31, t28), t64);
  const double y = t39 + ((t31 - (t39 - t38)) + t77);
  const u64 t83 = bits_as<u64>((a < bits_as<double>(0x7ff0000000000000ull)) ? y : a);
  const double t88 = bits_as<double>(t83 | (bits_as<u64>(x) & 0x8000000000000000ull));
  return t88;
}

// log(1 + z) where z = t + sqrt(t^2 + 2 t) and t = x - 1.
GB_FN float acosh(float x) {
  GB_ENTER
  const float t = x - 1.0f;
  const float twice = t + t;
  const float square = fma(t, t, twice);
  const float root = sqrt(square);
  const float t6 = -root;
  const float rest = fma(t6, root, square) + fma(t, t, twice - square);
  const float t14 = bits_as<float>(0x7ef311c7u - bits_as<u32>(root));
  const float root_low = rest * ((t14 * fma(t6, t14, 2.0f)) * 0.5f);
  const float z = root + t;
  const float total = 1.0f + z;
  const float t25 = total - 1.0f;
  const float low = (1.0f - (total - t25)) + (z - t25);
  const float z_low = (t - (z - root)) + root_low;
  const bool large = x > 8192.0f;
  const float t33 = large ? x : total;
  const float t38 = mantissa(t33);
  const u32 t41 = bits_as<u32>(t38) >> 19;
  const float t42 = TABLE_f2a695b8[t41 & 15];
  const float t45 = fma(t38, t42, -1.0f);
  const float t46 = exponent(t33);
  const float t49 = (t38 < 1.0f) ? (t46 + 1.0f) : t46;
  const float t50 = t49 + (large ? 1.0f : 0.0f);
  const float t52 = fma(t50, 0.69314575f, TABLE_cceb3669[t41 & 15]);
  const float t53 = t52 + t45;
  const float t63 = fma(fma(fma(0.18884762f, t45, -0.25009185f), t45, 0.33334476f), t45,
      -0.5f);
  const u32 t74 = bits_as<u32>(12583039.0f - ((t49 < 127.0f) ? t49 : 127.0f)) << 23;
  const float t79 = fma((large ? 0.0f : (low + z_low)) * bits_as<float>(t74), fma(-t42, t45,
      t42), fma(t45 * t45, t63, t50 * 1.4286068e-06f));
  const float y = t53 + ((t45 - (t53 - t52)) + t79);
  const float t87 = (x < 1.0f) ? bits_as<float>(0x7fc00000u) : ((x <
      bits_as<float>(0x7f800000u)) ? y : x);
  return t87;
}

// log(1 + z) where z = t + sqrt(t^2 + 2 t) and t = x - 1.
GB_FN double acosh(double x) {
  GB_ENTER
  const double t = x - 1.0;
  const double twice = t + t;
  const double square = fma(t, t, twice);
  const double root = sqrt(square);
  const double t6 = -root;
  const double rest = fma(t6, root, square) + fma(t, t, twice - square);
  const double t14 = bits_as<double>(0x7fde623822fc16e6ull - bits_as<u64>(root));
  const double root_low = rest * ((t14 * fma(t6, t14, 2.0)) * 0.5);
  const double z = root + t;
  const double total = 1.0 + z;
  const double t25 = total - 1.0;
  const double low = (1.0 - (total - t25)) + (z - t25);
  const double z_low = (t - (z - root)) + root_low;
  const bool large = x > 268435456.0;
  const double t33 = large ? x : total;
  const double t38 = mantissa(t33);
  const u64 t41 = bits_as<u64>(t38) >> 48;
  const double t42 = TABLE_35121f13[t41 & 15];
  const double t45 = fma(t38, t42, -1.0);
  const double t46 = exponent(t33);
  const double t49 = (t38 < 1.0) ? (t46 + 1.0) : t46;
  const double t50 = t49 + (large ? 1.0 : 0.0);
  const double t52 = fma(t50, 0.6931471805601177, TABLE_858ffe45[t41 & 15]);
  const double t53 = t52 + t45;
  const double t61 = fma(fma(0.07943081504681777, t45, -0.09970829073707954), t45,
      0.1111382520379317);
  const double t65 = fma(fma(t61, t45, -0.1250012609324571), t45, 0.14285712390724703);
  const double t69 = fma(fma(t65, t45, -0.1666666653051613), t45, 0.20000000000328122);
  const double t73 = fma(fma(t69, t45, -0.2500000000005287), t45, 0.33333333333333354);
  const double t78 = fma(t45 * t45, fma(t73, t45, -0.49999999999999994), t50 *
      (-1.7239444525614835e-13));
  const u64 t84 = bits_as<u64>(6755399441056767.0 - ((t49 < 1023.0) ? t49 : 1023.0));
  const double t91 = fma((large ? 0.0 : (low + z_low)) * bits_as<double>(t84 << 52),
      fma(-t42, t45, t42), t78);
  const double y = t53 + ((t45 - (t53 - t52)) + t91);
  const double t99 = (x < 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((x <
      bits_as<double>(0x7ff0000000000000ull)) ? y : x);
  return t99;
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
  const float t21 = mantissa(total);
  const u32 t24 = bits_as<u32>(t21) >> 19;
  const float t25 = TABLE_f2a695b8[t24 & 15];
  const float t28 = fma(t21, t25, -1.0f);
  const float t29 = exponent(total);
  const float t32 = (t21 < 1.0f) ? (t29 + 1.0f) : t29;
  const float t34 = fma(t32, 0.69314575f, TABLE_cceb3669[t24 & 15]);
  const float t35 = t34 + t28;
  const float t45 = fma(fma(fma(0.18884762f, t28, -0.25009185f), t28, 0.33334476f), t28,
      -0.5f);
  const u32 t56 = bits_as<u32>(12583039.0f - ((t32 < 127.0f) ? t32 : 127.0f)) << 23;
  const float t61 = fma((low + z_low) * bits_as<float>(t56), fma(-t25, t28, t25), fma(t28 *
      t28, t45, t32 * 1.4286068e-06f));
  const float y = (t35 + ((t28 - (t35 - t34)) + t61)) * 0.5f;
  const float t73 = (a > 1.0f) ? bits_as<float>(0x7fc00000u) : ((a < 2.0f) ?
      bits_as<float>(0x7f800000u) : a);
  const u32 t79 = bits_as<u32>((a < 1.0f) ? y : t73) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t79);
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
  const double t21 = mantissa(total);
  const u64 t24 = bits_as<u64>(t21) >> 48;
  const double t25 = TABLE_35121f13[t24 & 15];
  const double t28 = fma(t21, t25, -1.0);
  const double t29 = exponent(total);
  const double t32 = (t21 < 1.0) ? (t29 + 1.0) : t29;
  const double t34 = fma(t32, 0.6931471805601177, TABLE_858ffe45[t24 & 15]);
  const double t35 = t34 + t28;
  const double t43 = fma(fma(0.07943081504681777, t28, -0.09970829073707954), t28,
      0.1111382520379317);
  const double t47 = fma(fma(t43, t28, -0.1250012609324571), t28, 0.14285712390724703);
  const double t51 = fma(fma(t47, t28, -0.1666666653051613), t28, 0.20000000000328122);
  const double t55 = fma(fma(t51, t28, -0.2500000000005287), t28, 0.33333333333333354);
  const double t60 = fma(t28 * t28, fma(t55, t28, -0.49999999999999994), t32 *
      (-1.7239444525614835e-13));
  const u64 t66 = bits_as<u64>(6755399441056767.0 - ((t32 < 1023.0) ? t32 : 1023.0));
  const double t73 = fma((low + z_low) * bits_as<double>(t66 << 52), fma(-t25, t28, t25),
      t60);
  const double y = (t35 + ((t28 - (t35 - t34)) + t73)) * 0.5;
  const double t85 = (a > 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((a < 2.0) ?
      bits_as<double>(0x7ff0000000000000ull) : a);
  const u64 t91 = bits_as<u64>((a < 1.0) ? y : t85) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t91);
}

// x ** y = 2 ** (y log2 |x|), the exponent in two parts; signs and edges are those of C.
GB_FN float pow(float x, float y) {
  GB_ENTER
  const float a = fabs(x);
  const float t3 = mantissa(a);
  const float t4 = exponent(a);
  const bool t6 = t3 > 1.4142135f;
  const float t11 = (t6 ? (t3 * 0.5f) : t3) - 1.0f;
  const float t15 = (t6 | (t3 < 1.0f)) ? (t4 + 1.0f) : t4;
  const float t17 = 2.0f + t11;
  const float t20 = 1.0f / t17;
  const float t21 = t11 * t20;
  const float t22 = -t21;
  const float t25 = fma(t22, t11 - (t17 - 2.0f), fma(t22, t17, t11)) * t20;
  const float t26 = t21 * t21;
  const float t32 = t26 * 0.9617967f;
  const float t43 = fma(fma(t21 + t21, t25, fma(t21, t21, -t26)), 0.9617967f, fma(t26,
      -7.028462e-09f, fma(t26, 0.9617967f, -t32)));
  const float t44 = fma(t26 * t26, fma(fma(0.33781976f, t26, 0.41184995f), t26, 0.5770802f),
      t43);
  const float t46 = 2.88539f + t32;
  const float t52 = t21 * t46;
  const float t56 = fma(t21, (t32 - (t46 - 2.88539f)) + (t44 + 3.851926e-08f), fma(t25, t46,
      fma(t21, t46, -t52)));
  const float t57 = t15 + t52;
  const float t60 = (t52 - (t57 - t15)) + t56;
  const float t61 = t57 + t60;
  const float low = t60 - (t61 - t57);
  const float high = log_domain(a, t61);
  const float t67 = (y < (-1.2676506e+30f)) ? (-1.2676506e+30f) : y;
  const float times = (t67 > 1.2676506e+30f) ? 1.2676506e+30f : t67;
  const float t71 = times * high;
  const float t74 = fma(times, low, fma(times, high, -t71));
  const float t77 = (t74 < 0.0009765625f) ? t74 : 0.0009765625f;
  const float power_low = (t77 > (-0.0009765625f)) ? t77 : (-0.0009765625f);
  const float t83 = (t71 < (-151.0f)) ? (-151.0f) : t71;
  const float power = (t83 > 129.0f) ? 129.0f : t83;
  const float n = fma(power, 1.0f, 12582912.0f) - 12582912.0f;
  const float r = (power - n) + power_low;
  const float t98 = fma(fma(fma(0.00015328907f, r, 0.0013390976f), r, 0.0096185f), r,
      0.055503596f);
  const float size = scaled(fma(fma(fma(t98, r, 0.24022648f), r, 0.6931472f), r, 1.0f), n);
  const float rest = fabs(fma(trunc(times * 0.5f), -2.0f, times));
  const bool is_odd = rest == 1.0f;
  const u32 t117 = bits_as<u32>(size) | (is_odd ? (bits_as<u32>(x) & 0x80000000u) : 0x0u);
  const bool refused = ((x < 0.0f) & (high < bits_as<float>(0x7f800000u))) & ((is_odd | (rest
      == 0.0f)) ^ true);
  const float value = refused ? bits_as<float>(0x7fc00000u) : bits_as<float>(t117);
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : value;
}

// x ** y = 2 ** (y log2 |x|), the exponent in two parts; signs and edges are those of C.
GB_FN double pow(double x, double y) {
  GB_ENTER
  const double a = fabs(x);
  const double t3 = mantissa(a);
  const double t4 = exponent(a);
  const bool t6 = t3 > 1.4142135623730951;
  const double t11 = (t6 ? (t3 * 0.5) : t3) - 1.0;
  const double t15 = (t6 | (t3 < 1.0)) ? (t4 + 1.0) : t4;
  const double t17 = 2.0 + t11;
  const double t20 = 1.0 / t17;
  const double t21 = t11 * t20;
  const double t22 = -t21;
  const double t25 = fma(t22, t11 - (t17 - 2.0), fma(t22, t17, t11)) * t20;
  const double t26 = t21 * t21;
  const double t32 = t26 * 0.9617966939259756;
  const double t38 = fma(fma(0.19038299902946998, t26, 0.19125539814239242), t26,
      0.2219839888524645);
  const double t42 = fma(fma(t38, t26, 0.2623077012845996), t26, 0.3205989022722306);
  const double t46 = fma(fma(t42, t26, 0.41219858309194407), t26, 0.577078016355618);
  const double t50 = fma(t26, 5.0577616648125907e-17, fma(t26, 0.9617966939259756, -t32));
  const double t51 = fma(fma(t21 + t21, t25, fma(t21, t21, -t26)), 0.9617966939259756, t50);
  const double t54 = 2.8853900817779268 + t32;
  const double t59 = (t32 - (t54 - 2.8853900817779268)) + (fma(t26 * t26, t46, t51) +
      4.0710547481862066e-17);
  const double t60 = t21 * t54;
  const double t65 = t15 + t60;
  const double t68 = (t60 - (t65 - t15)) + fma(t21, t59, fma(t25, t54, fma(t21, t54, -t60)));
  const double t69 = t65 + t68;
  const double low = t68 - (t69 - t65);
  const double high = log_domain(a, t69);
  const double t75 = (y < (-1.2676506002282294e+30)) ? (-1.2676506002282294e+30) : y;
  const double times = (t75 > 1.2676506002282294e+30) ? 1.2676506002282294e+30 : t75;
  const double t79 = times * high;
  const double t82 = fma(times, low, fma(times, high, -t79));
  const double t85 = (t82 < 0.0009765625) ? t82 : 0.0009765625;
  const double power_low = (t85 > (-0.0009765625)) ? t85 : (-0.0009765625);
  const double t91 = (t79 < (-1076.0)) ? (-1076.0) : t79;
  const double power = (t91 > 1025.0) ? 1025.0 : t91;
  const double n = fma(power, 1.0, 6755399441055744.0) - 6755399441055744.0;
  const double r = (power - n) + power_low;
  const double t104 = fma(fma(4.43970939153344e-10, r, 7.073312527592007e-09), r,
      1.0178154738384346e-07);
  const double t108 = fma(fma(t104, r, 1.321543833708892e-06), r, 1.5252733645546427e-05);
  const double t112 = fma(fma(t108, r, 0.00015403530450130865), r, 0.001333355814653625);
  const double t116 = fma(fma(t112, r, 0.009618129107600636), r, 0.05550410866482175);
  const double t121 = fma(fma(fma(t116, r, 0.2402265069591011), r, 0.6931471805599453), r,
      1.0);
  const double size = scaled(t121, n);
  const double rest = fabs(fma(trunc(times * 0.5), -2.0, times));
  const bool is_odd = rest == 1.0;
  const u64 t135 = bits_as<u64>(size) | (is_odd ? (bits_as<u64>(x) & 0x8000000000000000ull) :
      0x0ull);
  const bool refused = ((x < 0.0) & (high < bits_as<double>(0x7ff0000000000000ull))) &
      ((is_odd | (rest == 0.0)) ^ true);
  const double value = refused ? bits_as<double>(0x7ff8000000000000ull) :
      bits_as<double>(t135);
  return ((y == 0.0) | (x == 1.0)) ? 1.0 : value;
}

}  // namespace gb

#endif
