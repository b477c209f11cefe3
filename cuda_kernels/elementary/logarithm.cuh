// log and its relatives, inverse hyperbolic functions, and pow.
//
// Written by `make generate` from gpubcast/hlo/elementary/logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_CUH
#define GB_ELEMENTARY_LOGARITHM_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

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

GB_TABLE float TABLE_4ad827b9[16] = {
  1.0f, 0.93929327f, 0.8647178f, 0.81589174f,
  0.7764915f, 0.7425466f, 0.7076449f, 0.68438494f,
  1.3190527f, 1.2608908f, 1.2197031f, 1.1540418f,
  1.1280048f, 1.0740228f, 1.0380726f, 1.0f,
};
GB_TABLE float TABLE_b230f461[16] = {
  0.0f, 0.027198792f, 0.06312561f, 0.08836746f,
  0.10986328f, 0.12927628f, 0.15018463f, 0.16469955f,
  -0.120262146f, -0.10067749f, -0.08625412f, -0.062221527f,
  -0.052310944f, -0.031013489f, -0.016227722f, 0.0f,
};
// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e, and log10(m) by a table.
GB_FN float log10(float x) {
  GB_ENTER
  const float m = mantissa(x);
  const u32 t4 = bits_as<u32>(m) >> 19;
  const float _ = TABLE_4ad827b9[t4 & 15];
  const float table = TABLE_b230f461[t4 & 15];
  const float r = fma(m, _, -1.0f);
  const float t9 = exponent(x);
  const float e = (m < 1.0f) ? (t9 + 1.0f) : t9;
  const float total = fma(e, 0.3010292f, table);
  const float head = fma(r, 0.4342945f, total);
  const float t24 = fma(fma(fma(0.08145813f, r, -0.10858476f), r, 0.1447701f), r,
      -0.21714726f);
  const float rest = fma(r, fma(r, t24, -1.010305e-08f), e * 7.903417e-07f);
  const float t34 = log_domain(x, head + (fma(r, 0.4342945f, total - head) + rest));
  return t34;
}

GB_TABLE double TABLE_8904cc14[16] = {
  1.0, 0.9377918261045174, 0.8685421460446554, 0.8236705465843557,
  0.7808406566584185, 0.7387133181316419, 0.7136122442399935, 0.6772180508195416,
  1.3064564072449838, 1.2692978324120723, 1.1946441866702868, 1.171871287330146,
  1.1267170713363712, 1.080078431554094, 1.0360530858068722, 1.0,
};
GB_TABLE double TABLE_a91dfc83[16] = {
  0.0, 0.027893556938579422, 0.06120910254730916, 0.08424646355933874,
  0.10743758199259901, 0.131524071090098, 0.14653770689392331, 0.16927147456362945,
  -0.1160949231266386, -0.10356353840415977, -0.07723857409109769, -0.06887991349776712,
  -0.05181487453455702, -0.033455293592851376, -0.015382008577489614, 0.0,
};
// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e, and log10(m) by a table.
GB_FN double log10(double x) {
  GB_ENTER
  const double m = mantissa(x);
  const u64 t4 = bits_as<u64>(m) >> 48;
  const double _ = TABLE_8904cc14[t4 & 15];
  const double table = TABLE_a91dfc83[t4 & 15];
  const double r = fma(m, _, -1.0);
  const double t9 = exponent(x);
  const double e = (m < 1.0) ? (t9 + 1.0) : t9;
  const double total = fma(e, 0.3010299956640665, table);
  const double head = fma(r, 0.4342944819032518, total);
  const double t22 = fma(fma(0.0298404779055308, r, -0.042585338256008715), r,
      0.04824188646828775);
  const double t26 = fma(fma(t22, r, -0.05428836684685988), r, 0.062042123128696836);
  const double t30 = fma(fma(t26, r, -0.07238241286250184), r, 0.08685889634031833);
  const double t34 = fma(fma(t30, r, -0.10857362047591823), r, 0.14476482730109208);
  const double t38 = fma(r, fma(t34, r, -0.2171472409516259), 1.098319650216765e-17);
  const double rest = fma(r, t38, e * (-8.532344317057107e-14));
  const double t46 = log_domain(x, head + (fma(r, 0.4342944819032518, total - head) + rest));
  return t46;
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
  const float t31 = mantissa(t26);
  const u32 t34 = bits_as<u32>(t31) >> 19;
  const float t35 = TABLE_f2a695b8[t34 & 15];
  const float t38 = fma(t31, t35, -1.0f);
  const float t39 = exponent(t26);
  const float t42 = (t31 < 1.0f) ? (t39 + 1.0f) : t39;
  const float t43 = t42 + 1.0f;
  const float t45 = fma(t43, 0.69314575f, TABLE_cceb3669[t34 & 15]);
  const float t46 = t45 + t38;
  const float t55 = fma(fma(fma(0.18884762f, t38, -0.25009185f), t38, 0.33334476f), t38,
      -0.5f);
  const u32 t66 = bits_as<u32>(12583039.0f - ((t42 < 127.0f) ? t42 : 127.0f)) << 23;
  const float t71 = fma((large ? 0.0f : (low + root_low)) * bits_as<float>(t66), fma(-t35,
      t38, t35), fma(t38 * t38, t55, t43 * 1.4286068e-06f));
  const float y = t46 + ((t38 - (t46 - t45)) + t71);
  const float t79 = (x < 1.0f) ? bits_as<float>(0x7fc00000u) : ((x <
      bits_as<float>(0x7f800000u)) ? y : x);
  return t79;
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
  const double t31 = mantissa(t26);
  const u64 t34 = bits_as<u64>(t31) >> 48;
  const double t35 = TABLE_35121f13[t34 & 15];
  const double t38 = fma(t31, t35, -1.0);
  const double t39 = exponent(t26);
  const double t42 = (t31 < 1.0) ? (t39 + 1.0) : t39;
  const double t43 = t42 + 1.0;
  const double t45 = fma(t43, 0.6931471805601177, TABLE_858ffe45[t34 & 15]);
  const double t46 = t45 + t38;
  const double t54 = fma(fma(0.07943081504681777, t38, -0.09970829073707954), t38,
      0.1111382520379317);
  const double t58 = fma(fma(t54, t38, -0.1250012609324571), t38, 0.14285712390724703);
  const double t62 = fma(fma(t58, t38, -0.1666666653051613), t38, 0.20000000000328122);
  const double t66 = fma(fma(t62, t38, -0.2500000000005287), t38, 0.33333333333333354);
  const double t71 = fma(t38 * t38, fma(t66, t38, -0.49999999999999994), t43 *
      (-1.7239444525614835e-13));
  const u64 t77 = bits_as<u64>(6755399441056767.0 - ((t42 < 1023.0) ? t42 : 1023.0));
  const double t84 = fma((large ? 0.0 : (low + root_low)) * bits_as<double>(t77 << 52),
      fma(-t35, t38, t35), t71);
  const double y = t46 + ((t38 - (t46 - t45)) + t84);
  const double t92 = (x < 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((x <
      bits_as<double>(0x7ff0000000000000ull)) ? y : x);
  return t92;
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
  const float t17 = mantissa(total);
  const u32 t20 = bits_as<u32>(t17) >> 19;
  const float t21 = TABLE_f2a695b8[t20 & 15];
  const float t24 = fma(t17, t21, -1.0f);
  const float t25 = exponent(total);
  const float t28 = (t17 < 1.0f) ? (t25 + 1.0f) : t25;
  const float t30 = fma(t28, 0.69314575f, TABLE_cceb3669[t20 & 15]);
  const float t31 = t30 + t24;
  const float t41 = fma(fma(fma(0.18884762f, t24, -0.25009185f), t24, 0.33334476f), t24,
      -0.5f);
  const u32 t52 = bits_as<u32>(12583039.0f - ((t28 < 127.0f) ? t28 : 127.0f)) << 23;
  const float t57 = fma(low * bits_as<float>(t52), fma(-t21, t24, t21), fma(t24 * t24, t41,
      t28 * 1.4286068e-06f));
  const float y = (t31 + ((t24 - (t31 - t30)) + t57)) * 0.5f;
  const float t69 = (a > 1.0f) ? bits_as<float>(0x7fc00000u) : ((a < 2.0f) ?
      bits_as<float>(0x7f800000u) : a);
  const u32 t75 = bits_as<u32>((a < 1.0f) ? y : t69) | (bits_as<u32>(x) & 0x80000000u);
  return bits_as<float>(t75);
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
  const double t17 = mantissa(total);
  const u64 t20 = bits_as<u64>(t17) >> 48;
  const double t21 = TABLE_35121f13[t20 & 15];
  const double t24 = fma(t17, t21, -1.0);
  const double t25 = exponent(total);
  const double t28 = (t17 < 1.0) ? (t25 + 1.0) : t25;
  const double t30 = fma(t28, 0.6931471805601177, TABLE_858ffe45[t20 & 15]);
  const double t31 = t30 + t24;
  const double t39 = fma(fma(0.07943081504681777, t24, -0.09970829073707954), t24,
      0.1111382520379317);
  const double t43 = fma(fma(t39, t24, -0.1250012609324571), t24, 0.14285712390724703);
  const double t47 = fma(fma(t43, t24, -0.1666666653051613), t24, 0.20000000000328122);
  const double t51 = fma(fma(t47, t24, -0.2500000000005287), t24, 0.33333333333333354);
  const double t56 = fma(t24 * t24, fma(t51, t24, -0.49999999999999994), t28 *
      (-1.7239444525614835e-13));
  const u64 t62 = bits_as<u64>(6755399441056767.0 - ((t28 < 1023.0) ? t28 : 1023.0));
  const double t69 = fma(low * bits_as<double>(t62 << 52), fma(-t21, t24, t21), t56);
  const double y = (t31 + ((t24 - (t31 - t30)) + t69)) * 0.5;
  const double t81 = (a > 1.0) ? bits_as<double>(0x7ff8000000000000ull) : ((a < 2.0) ?
      bits_as<double>(0x7ff0000000000000ull) : a);
  const u64 t87 = bits_as<u64>((a < 1.0) ? y : t81) | (bits_as<u64>(x) &
      0x8000000000000000ull);
  return bits_as<double>(t87);
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
  const float t58 = mantissa(total);
  const u32 t61 = bits_as<u32>(t58) >> 19;
  const float t62 = TABLE_f2a695b8[t61 & 15];
  const float t65 = fma(t58, t62, -1.0f);
  const float t66 = exponent(total);
  const float t69 = (t58 < 1.0f) ? (t66 + 1.0f) : t66;
  const float t71 = fma(t69, 0.69314575f, TABLE_cceb3669[t61 & 15]);
  const float t72 = t71 + t65;
  const float t82 = fma(fma(fma(0.18884762f, t65, -0.25009185f), t65, 0.33334476f), t65,
      -0.5f);
  const u32 t93 = bits_as<u32>(12583039.0f - ((t69 < 127.0f) ? t69 : 127.0f)) << 23;
  const float t98 = fma(rest * bits_as<float>(t93), fma(-t62, t65, t62), fma(t65 * t65, t82,
      t69 * 1.4286068e-06f));
  return larger + log_domain(total, t72 + ((t65 - (t72 - t71)) + t98));
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
  const double t68 = mantissa(total);
  const u64 t71 = bits_as<u64>(t68) >> 48;
  const double t72 = TABLE_35121f13[t71 & 15];
  const double t75 = fma(t68, t72, -1.0);
  const double t76 = exponent(total);
  const double t79 = (t68 < 1.0) ? (t76 + 1.0) : t76;
  const double t81 = fma(t79, 0.6931471805601177, TABLE_858ffe45[t71 & 15]);
  const double t82 = t81 + t75;
  const double t90 = fma(fma(0.07943081504681777, t75, -0.09970829073707954), t75,
      0.1111382520379317);
  const double t94 = fma(fma(t90, t75, -0.1250012609324571), t75, 0.14285712390724703);
  const double t98 = fma(fma(t94, t75, -0.1666666653051613), t75, 0.20000000000328122);
  const double t102 = fma(fma(t98, t75, -0.2500000000005287), t75, 0.33333333333333354);
  const double t107 = fma(t75 * t75, fma(t102, t75, -0.49999999999999994), t79 *
      (-1.7239444525614835e-13));
  const u64 t113 = bits_as<u64>(6755399441056767.0 - ((t79 < 1023.0) ? t79 : 1023.0));
  const double t120 = fma(rest * bits_as<double>(t113 << 52), fma(-t72, t75, t72), t107);
  const double t124 = larger + log_domain(total, t82 + ((t75 - (t82 - t81)) + t120));
  return t124;
}

GB_TABLE float TABLE_9fc8887c[32] = {
  0.0f, 0.04800415f, 0.081344604f, 0.09843445f,
  0.13352966f, 0.1515503f, 0.18859863f, 0.2076416f,
  0.22705078f, 0.26705933f, 0.2876892f, 0.30873108f,
  0.33024597f, 0.35221863f, 0.37469482f, 0.39768982f,
  0.42121887f, 0.43319702f, 0.45758057f, 0.47000122f,
  0.49531555f, 0.5082245f, 0.5345459f, 0.5479584f,
  0.57536316f, 0.58935547f, 0.6035309f, 0.6179199f,
  0.6325226f, 0.64733887f, 0.6623688f, 0.69314575f,
};
GB_TABLE float TABLE_1a1620b0[32] = {
  0.0f, 5.068796e-06f, 1.0349618e-06f, 5.6245713e-06f,
  1.7295386e-06f, -3.9484155e-07f, -7.4630047e-06f, -2.2367842e-06f,
  6.669385e-06f, 3.459077e-06f, -7.1365325e-06f, 4.4025483e-06f,
  -4.284809e-06f, 1.9656597e-06f, -1.3747773e-06f, -6.8516697e-06f,
  -5.406994e-06f, -7.3653614e-06f, 5.4284095e-07f, 2.4085425e-06f,
  5.885472e-06f, 3.5476126e-07f, -3.7480543e-06f, 6.796692e-06f,
  9.857239e-07f, -5.0818717e-06f, 4.1380813e-06f, 3.8374474e-06f,
  -2.4264303e-08f, -1.2226589e-06f, 6.7474793e-06f, 1.4286068e-06f,
};
GB_TABLE float TABLE_09528d59[32] = {
  1.0f, 0.953125f, 0.921875f, 0.90625f,
  0.875f, 0.859375f, 0.828125f, 0.8125f,
  0.796875f, 0.765625f, 0.75f, 0.734375f,
  0.71875f, 0.703125f, 0.6875f, 0.671875f,
  1.3125f, 1.296875f, 1.265625f, 1.25f,
  1.21875f, 1.203125f, 1.171875f, 1.15625f,
  1.125f, 1.109375f, 1.09375f, 1.078125f,
  1.0625f, 1.046875f, 1.03125f, 1.0f,
};
// x ** y = e ** (y log |x|), the exponent in two parts; signs and edges are those of C.
GB_FN float pow(float x, float y) {
  GB_ENTER
  const float a = fabs(x);
  const float t3 = mantissa(a);
  const float t4 = exponent(a);
  const u32 t7 = bits_as<u32>(t3) >> 18;
  const float t10 = fma(t4, 0.69314575f, TABLE_9fc8887c[t7 & 31]);
  const float t16 = fma(t3, TABLE_09528d59[t7 & 31], -1.0f);
  const float t18 = t16 * (-0.5f);
  const float t19 = t18 * t16;
  const float t22 = t16 + t19;
  const float t25 = t16 * t16;
  const float t31 = t25 * fma(-0.40014604f, t16, fma(0.3256937f, t25, 0.5000031f));
  const float t35 = (t19 - (t22 - t16)) + fma(t19, fma(t16, -0.6666666f, t31), fma(t18, t16,
      -t19));
  const float t36 = t10 + t22;
  const float t39 = (t22 - (t36 - t10)) + fma(t4, 1.4286068e-06f, TABLE_1a1620b0[t7 & 31]);
  const float low = t39 + t35;
  const float high = log_domain(a, t36);
  const float t42 = y * high;
  const float t45 = fma(y, low, fma(y, high, -t42));
  const float t48 = (t45 < 0.0625f) ? t45 : 0.0625f;
  const float power_low = (t48 > (-0.0625f)) ? t48 : (-0.0625f);
  const float t54 = (t42 < (-104.5f)) ? (-104.5f) : t42;
  const float power = (t54 > 89.0f) ? 89.0f : t54;
  const float n = fma(power + power_low, 1.442695f, 12582912.0f) - 12582912.0f;
  const float r = fma(n, -0.6931471f, power);
  const float r_low = fma(n, -5.769999e-08f, power_low);
  const float total = r + r_low;
  const float z = total * total;
  const float t77 = fma(fma(0.008368677f, z, 0.16666521f), total, fma(fma(0.0013820748f, z,
      0.041668266f), z, 0.49999994f));
  const float near = r + fma(z, t77, r_low);
  const float size = ((y == 0.0f) | (a == 1.0f)) ? 1.0f : scaled(near + 1.0f, n);
  const float half = y * 0.5f;
  const bool whole = trunc(y) == y;
  const bool even = trunc(half) == half;
  const u32 t102 = (whole & (even ^ true)) ? (bits_as<u32>(x) & 0x80000000u) : 0x0u;
  const float value = bits_as<float>(bits_as<u32>(size) | t102);
  const bool t110 = ((x < 0.0f) & (high < bits_as<float>(0x7f800000u))) & (whole ^ true);
  return t110 ? bits_as<float>(0x7fc00000u) : value;
}

GB_TABLE double TABLE_ae26ff39[16] = {
  0.0, 0.09844017028808594, 0.1335315704345703, 0.20763921737670898,
  0.24686002731323242, 0.28768205642700195, 0.33024168014526367, 0.3746933937072754,
  0.42121362686157227, 0.470003604888916, 0.49532127380371094, 0.5479650497436523,
  0.5753641128540039, 0.6035351753234863, 0.6325225830078125, 0.6931471824645996,
};
GB_TABLE double TABLE_9bc071ba[16] = {
  0.0, -9.747483341759711e-08, -1.7781004768935365e-07, 1.4740153551724045e-07,
  5.061829337600964e-08, 1.6024778974314217e-08, 6.7253131844044075e-09, 5.5734135302981986e-08,
  -1.6178526871503944e-07, 2.4356819538025937e-08, 1.6342631449155466e-07, 1.209717950683853e-07,
  3.2049557948628435e-08, -1.5345322815132773e-07, -2.4264302033163373e-08, -1.904654299957768e-09,
};
GB_TABLE double TABLE_0d62f16f[16] = {
  1.0, 0.90625, 0.875, 0.8125,
  0.78125, 0.75, 0.71875, 0.6875,
  1.3125, 1.25, 1.21875, 1.15625,
  1.125, 1.09375, 1.0625, 1.0,
};
// x ** y = e ** (y log |x|), the exponent in two parts; signs and edges are those of C.
GB_FN double pow(double x, double y) {
  GB_ENTER
  const double a = fabs(x);
  const double t3 = mantissa(a);
  const double t4 = exponent(a);
  const u64 t7 = bits_as<u64>(t3) >> 48;
  const double t10 = fma(t4, 0.6931471824645996, TABLE_ae26ff39[t7 & 15]);
  const double t16 = fma(t3, TABLE_0d62f16f[t7 & 15], -1.0);
  const double t18 = t16 * (-0.5);
  const double t19 = t18 * t16;
  const double t22 = t16 + t19;
  const double t25 = t16 * t16;
  const double t30 = fma(fma(-0.1814779823094625, t25, -0.2222247008211726), t25,
      -0.28571428210916694);
  const double t34 = fma(fma(t30, t25, -0.40000000000192387), t25, -0.04166666666666635);
  const double t39 = fma(fma(0.1461567645757157, t25, 0.20006693002284984), t25,
      0.24999992698673618);
  const double t43 = fma(fma(t39, t25, 0.33333333336399995), t25, 0.4999999999999959);
  const double t47 = fma(t16, -0.625, t16 * fma(t43, t16, t34));
  const double t48 = t19 * t47;
  const double t49 = t22 + t48;
  const double t56 = ((t19 - (t22 - t16)) + (t48 - (t49 - t22))) + (fma(t18, t16, -t19) +
      fma(t19, t47, -t48));
  const double t57 = t10 + t49;
  const double t60 = (t49 - (t57 - t10)) + fma(t4, -1.904654299957768e-09, TABLE_9bc071ba[t7
      & 15]);
  const double low = t60 + t56;
  const double high = log_domain(a, t57);
  const double t63 = y * high;
  const double t66 = fma(y, low, fma(y, high, -t63));
  const double t69 = (t66 < 0.0625) ? t66 : 0.0625;
  const double power_low = (t69 > (-0.0625)) ? t69 : (-0.0625);
  const double t75 = (t63 < (-746.0)) ? (-746.0) : t63;
  const double power = (t75 > 710.0) ? 710.0 : t75;
  const double n = fma(power, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  const double r = fma(n, -0.6931471805599453, power);
  const double r_low = fma(n, -2.3190468138462996e-17, power_low);
  const double total = r + r_low;
  const double z = total * total;
  const double t93 = fma(fma(2.7630483934343876e-07, z, 2.4801492390655727e-05), z,
      0.0013888888944381223);
  const double t102 = fma(fma(2.500961773811377e-08, z, 2.755755553229745e-06), z,
      0.00019841269542138592);
  const double t106 = fma(fma(t102, z, 0.008333333333477345), z, 0.1666666666666644);
  const double t107 = fma(t106, total, fma(fma(t93, z, 0.041666666666526894), z,
      0.5000000000000011));
  const double near = r + fma(z, t107, r_low);
  const double size = ((y == 0.0) | (a == 1.0)) ? 1.0 : scaled(near + 1.0, n);
  const double half = y * 0.5;
  const bool whole = trunc(y) == y;
  const bool even = trunc(half) == half;
  const u64 t132 = (whole & (even ^ true)) ? (bits_as<u64>(x) & 0x8000000000000000ull) :
      0x0ull;
  const double value = bits_as<double>(bits_as<u64>(size) | t132);
  const bool t140 = ((x < 0.0) & (high < bits_as<double>(0x7ff0000000000000ull))) & (whole ^
      true);
  return t140 ? bits_as<double>(0x7ff8000000000000ull) : value;
}

}  // namespace gb

#endif
