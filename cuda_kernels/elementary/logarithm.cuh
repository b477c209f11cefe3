// Logarithms of numbers and of sums.
//
// Written by `make generate` from gpubcast/hlo/elementary/logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_LOGARITHM_CUH
#define GB_ELEMENTARY_LOGARITHM_CUH

#include "scalar.cuh"
#include "elementary/native.cuh"

namespace gb {

#ifndef GB_HAS_TABLE_9f8e42e6
#define GB_HAS_TABLE_9f8e42e6
GB_TABLE float TABLE_9f8e42e6[2][16] = {
  {1.0f, 0.91786164f, 0.8701152f, 0.8152427f,
   0.7845498f, 0.74152845f, 0.71087205f, 0.6858854f,
   1.3020586f, 1.245546f, 1.2099724f, 1.1691363f,
   1.1174376f, 1.0768616f, 1.0568392f, 1.0f,
  },
  {0.0f, 0.08570862f, 0.13912964f, 0.20426941f,
   0.24264526f, 0.29904175f, 0.34126282f, 0.37704468f,
   -0.26394653f, -0.21957397f, -0.19059753f, -0.15626526f,
   -0.11103821f, -0.0740509f, -0.055282593f, 0.0f,
  },
};
#endif
// The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table.
GB_FN float log(float x) {
  GB_ENTER
  const float t1 = mantissa(x);
  const u32 t4 = bits_as<u32>(t1) >> 19;
  const float t8 = fma(t1, TABLE_9f8e42e6[0][t4 & 15], -1.0f);
  const float t9 = exponent(x);
  const float t13 = (t1 < 1.0f) ? (t9 + 1.0f) : t9;
  const float t15 = fma(t13, 0.69314575f, TABLE_9f8e42e6[1][t4 & 15]);
  const float t16 = t15 + t8;
  const float t26 = fma(fma(fma(0.18884762f, t8, -0.25009185f), t8, 0.33334476f), t8, -0.5f);
  const float t31 = t16 + ((t8 - (t16 - t15)) + fma(t8 * t8, t26, t13 * 1.4286068e-06f));
  return log_domain(x, t31);
}

#ifndef GB_HAS_TABLE_94308929
#define GB_HAS_TABLE_94308929
GB_TABLE double TABLE_94308929[1][16] = {
  {1.0, 0.9140243058801596, 0.8652917352718384, 0.8212012981091272,
   0.7808316509859077, 0.7449193005865826, 0.711278308894159, 0.6810564465857456,
   1.3051727842977157, 1.2545284959681968, 1.2086568493711427, 1.1641642683323394,
   1.1219575845251009, 1.0857255283531642, 1.048556227717474, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_f0f73ec7
#define GB_HAS_TABLE_f0f73ec7
GB_TABLE double TABLE_f0f73ec7[1][16] = {
  {0.0, 0.08989811501487566, 0.14468856270150354, 0.1969870130919844,
   0.24739570809379074, 0.29447938783005156, 0.340691492725, 0.3841100884765183,
   -0.26633543377101887, -0.22675980156691367, -0.1895097012138649, -0.1520034633490468,
   -0.11507500293237172, -0.08224845324548369, -0.04741419673882774, 0.0,
  },
};
#endif
// The natural logarithm: e ln 2 + log(m) of x = m 2^e, and log(m) by a table.
GB_FN double log(double x) {
  GB_ENTER
  const double t1 = mantissa(x);
  const u64 t4 = bits_as<u64>(t1) >> 48;
  const double t8 = fma(t1, TABLE_94308929[0][t4 & 15], -1.0);
  const double t9 = exponent(x);
  const double t13 = (t1 < 1.0) ? (t9 + 1.0) : t9;
  const double t15 = fma(t13, 0.6931471805601177, TABLE_f0f73ec7[0][t4 & 15]);
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

#ifndef GB_HAS_TABLE_70cbb2ff
#define GB_HAS_TABLE_70cbb2ff
GB_TABLE float TABLE_70cbb2ff[2][16] = {
  {1.0f, 0.9131231f, 0.8698713f, 0.8162984f,
   0.785328f, 0.7399767f, 0.7099244f, 0.6776938f,
   1.3009197f, 1.2638404f, 1.2124486f, 1.1593636f,
   1.1314173f, 1.0779054f, 1.045777f, 1.0f,
  },
  {0.0f, 0.13111877f, 0.2011261f, 0.29283142f,
   0.3486328f, 0.43444824f, 0.4942627f, 0.56129456f,
   0.62046814f, 0.66218567f, 0.7220764f, 0.78666687f,
   0.8218689f, 0.8917694f, 0.9354248f, 1.0f,
  },
};
#endif
// The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table.
GB_FN float log2(float x) {
  GB_ENTER
  const float t1 = mantissa(x);
  const u32 t4 = bits_as<u32>(t1) >> 19;
  const float _ = TABLE_70cbb2ff[0][t4 & 15];
  const float table = TABLE_70cbb2ff[1][t4 & 15];
  const float r = fma(t1, _, -1.0f);
  const float total = exponent(x) + table;
  const float head = fma(r, 1.442695f, total);
  const float t19 = fma(fma(fma(0.27059805f, r, -0.36071077f), r, 0.48091587f), r,
      -0.7213476f);
  const float rest = fma(r, t19, 1.925963e-08f);
  const float y = head + fma(r, rest, fma(r, 1.442695f, total - head));
  return log_domain(x, y);
}

#ifndef GB_HAS_TABLE_3ea933ac
#define GB_HAS_TABLE_3ea933ac
GB_TABLE double TABLE_3ea933ac[1][16] = {
  {1.0, 0.9140303094028567, 0.8644991821782725, 0.8198977287893808,
   0.779998012006473, 0.743609965761803, 0.7113178106390355, 0.6811682280248307,
   1.3068166420327263, 1.2543568150300286, 1.2072169601722167, 1.1633468774177225,
   1.1231661405299442, 1.084047466874075, 1.0488496484613075, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_24c5cfc0
#define GB_HAS_TABLE_24c5cfc0
GB_TABLE double TABLE_24c5cfc0[1][16] = {
  {0.0, 0.12968608879418753, 0.2100634958178489, 0.2864841307300594,
   0.3584576479279349, 0.4273819896934583, 0.4914338073494946, 0.5539169504463644,
   0.6139432675790886, 0.6730522036536968, 0.7283150204802951, 0.7817186678366852,
   0.8324286507208853, 0.883572071053095, 0.9311921161415739, 1.0,
  },
};
#endif
// The logarithm to base 2: e + log2(m) of x = m 2^e, and log2(m) by a table.
GB_FN double log2(double x) {
  GB_ENTER
  const double t1 = mantissa(x);
  const u64 t4 = bits_as<u64>(t1) >> 48;
  const double _ = TABLE_3ea933ac[0][t4 & 15];
  const double table = TABLE_24c5cfc0[0][t4 & 15];
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

#ifndef GB_HAS_TABLE_11667b7a
#define GB_HAS_TABLE_11667b7a
GB_TABLE float TABLE_11667b7a[2][16] = {
  {1.0f, 0.93929327f, 0.8647178f, 0.81589174f,
   0.7764915f, 0.7425466f, 0.7076449f, 0.68438494f,
   1.3190527f, 1.2608908f, 1.2197031f, 1.1540418f,
   1.1280048f, 1.0740228f, 1.0380726f, 1.0f,
  },
  {0.0f, 0.027198792f, 0.06312561f, 0.08836746f,
   0.10986328f, 0.12927628f, 0.15018463f, 0.16469955f,
   -0.120262146f, -0.10067749f, -0.08625412f, -0.062221527f,
   -0.052310944f, -0.031013489f, -0.016227722f, 0.0f,
  },
};
#endif
// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e, and log10(m) by a table.
GB_FN float log10(float x) {
  GB_ENTER
  const float m = mantissa(x);
  const u32 t4 = bits_as<u32>(m) >> 19;
  const float _ = TABLE_11667b7a[0][t4 & 15];
  const float table = TABLE_11667b7a[1][t4 & 15];
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

#ifndef GB_HAS_TABLE_6d9eaee9
#define GB_HAS_TABLE_6d9eaee9
GB_TABLE double TABLE_6d9eaee9[1][16] = {
  {1.0, 0.9377918261045174, 0.8685421460446554, 0.8236705465843557,
   0.7808406566584185, 0.7387133181316419, 0.7136122442399935, 0.6772180508195416,
   1.3064564072449838, 1.2692978324120723, 1.1946441866702868, 1.171871287330146,
   1.1267170713363712, 1.080078431554094, 1.0360530858068722, 1.0,
  },
};
#endif
#ifndef GB_HAS_TABLE_f9d12819
#define GB_HAS_TABLE_f9d12819
GB_TABLE double TABLE_f9d12819[1][16] = {
  {0.0, 0.027893556938579422, 0.06120910254730916, 0.08424646355933874,
   0.10743758199259901, 0.131524071090098, 0.14653770689392331, 0.16927147456362945,
   -0.1160949231266386, -0.10356353840415977, -0.07723857409109769, -0.06887991349776712,
   -0.05181487453455702, -0.033455293592851376, -0.015382008577489614, 0.0,
  },
};
#endif
// The logarithm to base 10: e log10(2) + log10(m) of x = m 2^e, and log10(m) by a table.
GB_FN double log10(double x) {
  GB_ENTER
  const double m = mantissa(x);
  const u64 t4 = bits_as<u64>(m) >> 48;
  const double _ = TABLE_6d9eaee9[0][t4 & 15];
  const double table = TABLE_f9d12819[0][t4 & 15];
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
  const float t12 = TABLE_9f8e42e6[0][t11 & 15];
  const float t15 = fma(t8, t12, -1.0f);
  const float t16 = exponent(total);
  const float t19 = (t8 < 1.0f) ? (t16 + 1.0f) : t16;
  const float t21 = fma(t19, 0.69314575f, TABLE_9f8e42e6[1][t11 & 15]);
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
  const double t12 = TABLE_94308929[0][t11 & 15];
  const double t15 = fma(t8, t12, -1.0);
  const double t16 = exponent(total);
  const double t19 = (t8 < 1.0) ? (t16 + 1.0) : t16;
  const double t21 = fma(t19, 0.6931471805601177, TABLE_f0f73ec7[0][t11 & 15]);
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
  const float t62 = TABLE_9f8e42e6[0][t61 & 15];
  const float t65 = fma(t58, t62, -1.0f);
  const float t66 = exponent(total);
  const float t69 = (t58 < 1.0f) ? (t66 + 1.0f) : t66;
  const float t71 = fma(t69, 0.69314575f, TABLE_9f8e42e6[1][t61 & 15]);
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
  const double t72 = TABLE_94308929[0][t71 & 15];
  const double t75 = fma(t68, t72, -1.0);
  const double t76 = exponent(total);
  const double t79 = (t68 < 1.0) ? (t76 + 1.0) : t76;
  const double t81 = fma(t79, 0.6931471805601177, TABLE_f0f73ec7[0][t71 & 15]);
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

}  // namespace gb

#endif
