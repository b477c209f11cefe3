// Inverse hyperbolic functions, by the logarithm of a sum.
//
// Written by `make generate` from gpubcast/hlo/elementary/inverse_hyperbolic.py; do not edit.
#ifndef GB_ELEMENTARY_INVERSE_HYPERBOLIC_CUH
#define GB_ELEMENTARY_INVERSE_HYPERBOLIC_CUH

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
  const float t28 = TABLE_9f8e42e6[0][t27 & 15];
  const float t31 = fma(t24, t28, -1.0f);
  const float t32 = exponent(t19);
  const float t35 = (t24 < 1.0f) ? (t32 + 1.0f) : t32;
  const float t36 = t35 + (large ? 1.0f : 0.0f);
  const float t38 = fma(t36, 0.69314575f, TABLE_9f8e42e6[1][t27 & 15]);
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
  const double t28 = TABLE_94308929[0][t27 & 15];
  const double t31 = fma(t24, t28, -1.0);
  const double t32 = exponent(t19);
  const double t35 = (t24 < 1.0) ? (t32 + 1.0) : t32;
  const double t36 = t35 + (large ? 1.0 : 0.0);
  const double t38 = fma(t36, 0.6931471805601177, TABLE_f0f73ec7[0][t27 & 15]);
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
  const float t35 = TABLE_9f8e42e6[0][t34 & 15];
  const float t38 = fma(t31, t35, -1.0f);
  const float t39 = exponent(t26);
  const float t42 = (t31 < 1.0f) ? (t39 + 1.0f) : t39;
  const float t43 = t42 + 1.0f;
  const float t45 = fma(t43, 0.69314575f, TABLE_9f8e42e6[1][t34 & 15]);
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
  const double t35 = TABLE_94308929[0][t34 & 15];
  const double t38 = fma(t31, t35, -1.0);
  const double t39 = exponent(t26);
  const double t42 = (t31 < 1.0) ? (t39 + 1.0) : t39;
  const double t43 = t42 + 1.0;
  const double t45 = fma(t43, 0.6931471805601177, TABLE_f0f73ec7[0][t34 & 15]);
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
  const float t21 = TABLE_9f8e42e6[0][t20 & 15];
  const float t24 = fma(t17, t21, -1.0f);
  const float t25 = exponent(total);
  const float t28 = (t17 < 1.0f) ? (t25 + 1.0f) : t25;
  const float t30 = fma(t28, 0.69314575f, TABLE_9f8e42e6[1][t20 & 15]);
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
  const double t21 = TABLE_94308929[0][t20 & 15];
  const double t24 = fma(t17, t21, -1.0);
  const double t25 = exponent(total);
  const double t28 = (t17 < 1.0) ? (t25 + 1.0) : t25;
  const double t30 = fma(t28, 0.6931471805601177, TABLE_f0f73ec7[0][t20 & 15]);
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

}  // namespace gb

#endif
