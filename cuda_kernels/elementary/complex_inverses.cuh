// Inverse sines and tangents of complex numbers: principal values, continuous onto the branch cuts
//
// Written by `make generate` from gpubcast/hlo/elementary/complex_inverses.py; do not edit.
#ifndef GB_ELEMENTARY_COMPLEX_INVERSES_CUH
#define GB_ELEMENTARY_COMPLEX_INVERSES_CUH

#include "scalar.cuh"
#include "elementary/complex_arithmetic.cuh"
#include "elementary/complex_functions.cuh"
#include "elementary/inverse_hyperbolic.cuh"
#include "elementary/logarithm.cuh"
#include "elementary/trigonometric.cuh"

namespace gb {

// The arc sine.
GB_FN complex<float> asin(complex<float> z) {
  GB_ENTER
  const float t3 = 1.0f - z.re;
  const float t4 = -z.im;
  const complex<float> complex_sqrt_5 = complex_sqrt(complex<float>{t3, t4});
  const float t7 = 1.0f + z.re;
  const complex<float> complex_sqrt_8 = complex_sqrt(complex<float>{t7, z.im});
  const float t10 = fabs(z.re);
  const float t11 = fabs(z.im);
  const float t13 = (t10 < t11) ? t11 : t10;
  const bool t15 = t13 > 4.611686e+18f;
  const bool t17 = t13 < 8.881784e-16f;
  const float t21 = t15 ? 8.077936e-28f : (t17 ? 1.23794004e+27f : 1.0f);
  const float t22 = z.re * t21;
  const float t23 = z.im * t21;
  const bool t33 = (fabs(t10) == bits_as<float>(0x7f800000u)) | (fabs(t11) ==
      bits_as<float>(0x7f800000u));
  const float t38 = (0.5f * sqrt((t22 * t22) + (t23 * t23))) * (t15 ? 1.23794004e+27f : (t17
      ? 8.077936e-28f : 1.0f));
  const bool t42 = (t10 > 4.611686e+18f) | (t11 >= 4.611686e+18f);
  const float t45 = (complex_sqrt_5.re * complex_sqrt_8.re) - (complex_sqrt_5.im *
      complex_sqrt_8.im);
  const float across = t42 ? t11 : t45;
  const float t50 = (complex_sqrt_5.re * complex_sqrt_8.im) - (complex_sqrt_5.im *
      complex_sqrt_8.re);
  const u32 t55 = bits_as<u32>(z.im) & 0x80000000u;
  const u32 t56 = bits_as<u32>(fabs(t33 ? bits_as<float>(0x7f800000u) : t38)) | t55;
  const float t66 = t42 ? bits_as<float>(bits_as<u32>(fabs(0.6931472f)) | t55) : (-0.0f);
  return {atan2(z.re, across), asinh(t42 ? bits_as<float>(t56) : t50) + t66};
}

// The arc sine.
GB_FN complex<double> asin(complex<double> z) {
  GB_ENTER
  const double t3 = 1.0 - z.re;
  const double t4 = -z.im;
  const complex<double> complex_sqrt_5 = complex_sqrt(complex<double>{t3, t4});
  const double t7 = 1.0 + z.re;
  const complex<double> complex_sqrt_8 = complex_sqrt(complex<double>{t7, z.im});
  const double t10 = fabs(z.re);
  const double t11 = fabs(z.im);
  const double t13 = (t10 < t11) ? t11 : t10;
  const bool t15 = t13 > 6.703903964971299e+153;
  const bool t17 = t13 < 6.717876107567089e-139;
  const double t21 = t15 ? 2.409919865102884e-181 : (t17 ? 4.149515568880993e+180 : 1.0);
  const double t22 = z.re * t21;
  const double t23 = z.im * t21;
  const bool t33 = (fabs(t10) == bits_as<double>(0x7ff0000000000000ull)) | (fabs(t11) ==
      bits_as<double>(0x7ff0000000000000ull));
  const double t37 = t15 ? 4.149515568880993e+180 : (t17 ? 2.409919865102884e-181 : 1.0);
  const double t39 = t33 ? bits_as<double>(0x7ff0000000000000ull) : ((0.5 * sqrt((t22 * t22)
      + (t23 * t23))) * t37);
  const bool t42 = (t10 > 6.703903964971299e+153) | (t11 >= 6.703903964971299e+153);
  const double t45 = (complex_sqrt_5.re * complex_sqrt_8.re) - (complex_sqrt_5.im *
      complex_sqrt_8.im);
  const double across = t42 ? t11 : t45;
  const double t50 = (complex_sqrt_5.re * complex_sqrt_8.im) - (complex_sqrt_5.im *
      complex_sqrt_8.re);
  const u64 t55 = bits_as<u64>(z.im) & 0x8000000000000000ull;
  const double t59 = asinh(t42 ? bits_as<double>(bits_as<u64>(fabs(t39)) | t55) : t50);
  const double t66 = t42 ? bits_as<double>(bits_as<u64>(fabs(0.6931471805599453)) | t55) :
      (-0.0);
  return {atan2(z.re, across), t59 + t66};
}

// The arc cosine.
GB_FN complex<float> acos(complex<float> z) {
  GB_ENTER
  const float t3 = 1.0f - z.re;
  const float t4 = -z.im;
  const complex<float> complex_sqrt_5 = complex_sqrt(complex<float>{t3, t4});
  const float t7 = 1.0f + z.re;
  const complex<float> complex_sqrt_8 = complex_sqrt(complex<float>{t7, z.im});
  const float t10 = fabs(z.re);
  const float t11 = fabs(z.im);
  const float t13 = (t10 < t11) ? t11 : t10;
  const bool t15 = t13 > 4.611686e+18f;
  const bool t17 = t13 < 8.881784e-16f;
  const float t21 = t15 ? 8.077936e-28f : (t17 ? 1.23794004e+27f : 1.0f);
  const float t22 = z.re * t21;
  const float t23 = z.im * t21;
  const bool t33 = (fabs(t10) == bits_as<float>(0x7f800000u)) | (fabs(t11) ==
      bits_as<float>(0x7f800000u));
  const float t38 = (0.5f * sqrt((t22 * t22) + (t23 * t23))) * (t15 ? 1.23794004e+27f : (t17
      ? 8.077936e-28f : 1.0f));
  const bool t42 = (t10 > 4.611686e+18f) | (t11 >= 4.611686e+18f);
  const float angle = atan2(t42 ? t11 : complex_sqrt_5.re, t42 ? z.re : complex_sqrt_8.re);
  const float t51 = (complex_sqrt_8.re * complex_sqrt_5.im) - (complex_sqrt_8.im *
      complex_sqrt_5.re);
  const u32 t56 = bits_as<u32>(t4) & 0x80000000u;
  const u32 t57 = bits_as<u32>(fabs(t33 ? bits_as<float>(0x7f800000u) : t38)) | t56;
  const float t67 = t42 ? bits_as<float>(bits_as<u32>(fabs(0.6931472f)) | t56) : (-0.0f);
  return {t42 ? angle : (2.0f * angle), asinh(t42 ? bits_as<float>(t57) : t51) + t67};
}

// The arc cosine.
GB_FN complex<double> acos(complex<double> z) {
  GB_ENTER
  const double t3 = 1.0 - z.re;
  const double t4 = -z.im;
  const complex<double> complex_sqrt_5 = complex_sqrt(complex<double>{t3, t4});
  const double t7 = 1.0 + z.re;
  const complex<double> complex_sqrt_8 = complex_sqrt(complex<double>{t7, z.im});
  const double t10 = fabs(z.re);
  const double t11 = fabs(z.im);
  const double t13 = (t10 < t11) ? t11 : t10;
  const bool t15 = t13 > 6.703903964971299e+153;
  const bool t17 = t13 < 6.717876107567089e-139;
  const double t21 = t15 ? 2.409919865102884e-181 : (t17 ? 4.149515568880993e+180 : 1.0);
  const double t22 = z.re * t21;
  const double t23 = z.im * t21;
  const bool t33 = (fabs(t10) == bits_as<double>(0x7ff0000000000000ull)) | (fabs(t11) ==
      bits_as<double>(0x7ff0000000000000ull));
  const double t37 = t15 ? 4.149515568880993e+180 : (t17 ? 2.409919865102884e-181 : 1.0);
  const double t39 = t33 ? bits_as<double>(0x7ff0000000000000ull) : ((0.5 * sqrt((t22 * t22)
      + (t23 * t23))) * t37);
  const bool t42 = (t10 > 6.703903964971299e+153) | (t11 >= 6.703903964971299e+153);
  const double angle = atan2(t42 ? t11 : complex_sqrt_5.re, t42 ? z.re : complex_sqrt_8.re);
  const double t51 = (complex_sqrt_8.re * complex_sqrt_5.im) - (complex_sqrt_8.im *
      complex_sqrt_5.re);
  const u64 t56 = bits_as<u64>(t4) & 0x8000000000000000ull;
  const double t60 = asinh(t42 ? bits_as<double>(bits_as<u64>(fabs(t39)) | t56) : t51);
  const double t67 = t42 ? bits_as<double>(bits_as<u64>(fabs(0.6931471805599453)) | t56) :
      (-0.0);
  return {t42 ? angle : (2.0 * angle), t60 + t67};
}

// -i asin(i z).
GB_FN complex<float> asinh(complex<float> z) {
  GB_ENTER
  const float t2 = -z.im;
  const complex<float> asin_3 = asin(complex<float>{t2, z.re});
  return {asin_3.im, -asin_3.re};
}

// -i asin(i z).
GB_FN complex<double> asinh(complex<double> z) {
  GB_ENTER
  const double t2 = -z.im;
  const complex<double> asin_3 = asin(complex<double>{t2, z.re});
  return {asin_3.im, -asin_3.re};
}

// The inverse hyperbolic cosine.
GB_FN complex<float> acosh(complex<float> z) {
  GB_ENTER
  const float t3 = z.re - 1.0f;
  const complex<float> complex_sqrt_4 = complex_sqrt(complex<float>{t3, z.im});
  const float t6 = z.re + 1.0f;
  const complex<float> complex_sqrt_7 = complex_sqrt(complex<float>{t6, z.im});
  const float t9 = fabs(z.re);
  const float t10 = fabs(z.im);
  const float t12 = (t9 < t10) ? t10 : t9;
  const bool t14 = t12 > 4.611686e+18f;
  const bool t16 = t12 < 8.881784e-16f;
  const float t20 = t14 ? 8.077936e-28f : (t16 ? 1.23794004e+27f : 1.0f);
  const float t21 = z.re * t20;
  const float t22 = z.im * t20;
  const bool t32 = (fabs(t9) == bits_as<float>(0x7f800000u)) | (fabs(t10) ==
      bits_as<float>(0x7f800000u));
  const float t37 = (0.5f * sqrt((t21 * t21) + (t22 * t22))) * (t14 ? 1.23794004e+27f : (t16
      ? 8.077936e-28f : 1.0f));
  const bool t41 = (t9 > 4.611686e+18f) | (t10 >= 4.611686e+18f);
  const float angle = atan2(t41 ? z.im : complex_sqrt_4.im, t41 ? z.re : complex_sqrt_7.re);
  const float t47 = (complex_sqrt_4.re * complex_sqrt_7.re) + (complex_sqrt_4.im *
      complex_sqrt_7.im);
  const u32 t52 = bits_as<u32>(t9) & 0x80000000u;
  const u32 t53 = bits_as<u32>(fabs(t32 ? bits_as<float>(0x7f800000u) : t37)) | t52;
  const float t63 = t41 ? bits_as<float>(bits_as<u32>(fabs(0.6931472f)) | t52) : (-0.0f);
  return {asinh(t41 ? bits_as<float>(t53) : t47) + t63, t41 ? angle : (2.0f * angle)};
}

// The inverse hyperbolic cosine.
GB_FN complex<double> acosh(complex<double> z) {
  GB_ENTER
  const double t3 = z.re - 1.0;
  const complex<double> complex_sqrt_4 = complex_sqrt(complex<double>{t3, z.im});
  const double t6 = z.re + 1.0;
  const complex<double> complex_sqrt_7 = complex_sqrt(complex<double>{t6, z.im});
  const double t9 = fabs(z.re);
  const double t10 = fabs(z.im);
  const double t12 = (t9 < t10) ? t10 : t9;
  const bool t14 = t12 > 6.703903964971299e+153;
  const bool t16 = t12 < 6.717876107567089e-139;
  const double t20 = t14 ? 2.409919865102884e-181 : (t16 ? 4.149515568880993e+180 : 1.0);
  const double t21 = z.re * t20;
  const double t22 = z.im * t20;
  const bool t32 = (fabs(t9) == bits_as<double>(0x7ff0000000000000ull)) | (fabs(t10) ==
      bits_as<double>(0x7ff0000000000000ull));
  const double t36 = t14 ? 4.149515568880993e+180 : (t16 ? 2.409919865102884e-181 : 1.0);
  const double t38 = t32 ? bits_as<double>(0x7ff0000000000000ull) : ((0.5 * sqrt((t21 * t21)
      + (t22 * t22))) * t36);
  const bool t41 = (t9 > 6.703903964971299e+153) | (t10 >= 6.703903964971299e+153);
  const double angle = atan2(t41 ? z.im : complex_sqrt_4.im, t41 ? z.re : complex_sqrt_7.re);
  const double t47 = (complex_sqrt_4.re * complex_sqrt_7.re) + (complex_sqrt_4.im *
      complex_sqrt_7.im);
  const u64 t52 = bits_as<u64>(t9) & 0x8000000000000000ull;
  const double t56 = asinh(t41 ? bits_as<double>(bits_as<u64>(fabs(t38)) | t52) : t47);
  const double t63 = t41 ? bits_as<double>(bits_as<u64>(fabs(0.6931471805599453)) | t52) :
      (-0.0);
  return {t56 + t63, t41 ? angle : (2.0 * angle)};
}

// log1p(4 |re| / |1 - z|^2) / 4, and half the angle of (1 + z) (1 - conj z).
GB_FN complex<float> atanh(complex<float> z) {
  GB_ENTER
  const float x = fabs(z.re);
  const float y = fabs(z.im);
  const float t7 = 1.0f - x;
  const float t9 = y * y;
  const bool near_one = (x == 1.0f) & (y < 9.313226e-10f);
  const float t24 = near_one ? (0.5f * (0.6931472f - log(y))) : (0.25f * log1p((4.0f * x) /
      ((t7 * t7) + t9)));
  const float t33 = (x < y) ? y : x;
  const float t41 = (t33 > 4.611686e+18f) ? 8.077936e-28f : ((t33 < 8.881784e-16f) ?
      1.23794004e+27f : 1.0f);
  const float t42 = z.re * t41;
  const float t43 = z.im * t41;
  const float t47 = sqrt((t42 * t42) + (t43 * t43));
  const float far = ((fabs(t42) / t47) / t47) * t41;
  const bool t55 = (x > 4.611686e+18f) | (y >= 4.611686e+18f);
  const float t57 = t55 ? 1.5707964f : (0.5f * atan2(2.0f * y, (t7 * (1.0f + x)) - t9));
  const bool infinite = (fabs(x) == bits_as<float>(0x7f800000u)) | (fabs(y) ==
      bits_as<float>(0x7f800000u));
  const float t70 = ((x != x) & (y < bits_as<float>(0x7f800000u))) ? x : (infinite ?
      1.5707964f : t57);
  const float re = (x == 0.0f) ? x : (infinite ? 0.0f : (t55 ? far : t24));
  const float im = (y != y) ? y : t70;
  const float t81 = bits_as<float>(bits_as<u32>(fabs(re)) | (bits_as<u32>(z.re) &
      0x80000000u));
  const float t87 = bits_as<float>(bits_as<u32>(fabs(im)) | (bits_as<u32>(z.im) &
      0x80000000u));
  return {t81, t87};
}

// log1p(4 |re| / |1 - z|^2) / 4, and half the angle of (1 + z) (1 - conj z).
GB_FN complex<double> atanh(complex<double> z) {
  GB_ENTER
  const double x = fabs(z.re);
  const double y = fabs(z.im);
  const double t7 = 1.0 - x;
  const double t9 = y * y;
  const bool near_one = (x == 1.0) & (y < 9.313225746154785e-10);
  const double t24 = near_one ? (0.5 * (0.6931471805599453 - log(y))) : (0.25 * log1p((4.0 *
      x) / ((t7 * t7) + t9)));
  const double t33 = (x < y) ? y : x;
  const double t41 = (t33 > 6.703903964971299e+153) ? 2.409919865102884e-181 : ((t33 <
      6.717876107567089e-139) ? 4.149515568880993e+180 : 1.0);
  const double t42 = z.re * t41;
  const double t43 = z.im * t41;
  const double t47 = sqrt((t42 * t42) + (t43 * t43));
  const double far = ((fabs(t42) / t47) / t47) * t41;
  const bool t55 = (x > 6.703903964971299e+153) | (y >= 6.703903964971299e+153);
  const double t57 = t55 ? 1.5707963267948966 : (0.5 * atan2(2.0 * y, (t7 * (1.0 + x)) - t9));
  const bool infinite = (fabs(x) == bits_as<double>(0x7ff0000000000000ull)) | (fabs(y) ==
      bits_as<double>(0x7ff0000000000000ull));
  const double t70 = ((x != x) & (y < bits_as<double>(0x7ff0000000000000ull))) ? x :
      (infinite ? 1.5707963267948966 : t57);
  const double re = (x == 0.0) ? x : (infinite ? 0.0 : (t55 ? far : t24));
  const double im = (y != y) ? y : t70;
  const u64 t80 = bits_as<u64>(fabs(re)) | (bits_as<u64>(z.re) & 0x8000000000000000ull);
  const u64 t86 = bits_as<u64>(fabs(im)) | (bits_as<u64>(z.im) & 0x8000000000000000ull);
  return {bits_as<double>(t80), bits_as<double>(t86)};
}

// -i atanh(i z).
GB_FN complex<float> atan(complex<float> z) {
  GB_ENTER
  const float t2 = -z.im;
  const complex<float> atanh_3 = atanh(complex<float>{t2, z.re});
  return {atanh_3.im, -atanh_3.re};
}

// -i atanh(i z).
GB_FN complex<double> atan(complex<double> z) {
  GB_ENTER
  const double t2 = -z.im;
  const complex<double> atanh_3 = atanh(complex<double>{t2, z.re});
  return {atanh_3.im, -atanh_3.re};
}

// -i log((x + i y) / sqrt(x^2 + y^2)), from the logarithm of its square, (x + i y) / (x - i y),
// or near 0 from atan(y / x); the number itself says whether half a turn is missing.
GB_FN complex<float> atan2(complex<float> x0, complex<float> x2) {
  GB_ENTER
  const float t4 = fabs(x2.re);
  const float t5 = fabs(x2.im);
  const float t6 = fabs(x0.re);
  const float t7 = fabs(x0.im);
  const float t9 = (t4 < t5) ? t5 : t4;
  const float t11 = (t9 < t6) ? t6 : t9;
  const float t13 = (t11 < t7) ? t7 : t11;
  const float t22 = (t13 > 4.611686e+18f) ? 8.077936e-28f : ((t13 < 8.881784e-16f) ?
      1.23794004e+27f : 1.0f);
  const float x_re = t22 * x2.re;
  const float x_im = t22 * x2.im;
  const float y_re = t22 * x0.re;
  const float y_im = t22 * x0.im;
  const float above_re = x_re - y_im;
  const float above_im = x_im + y_re;
  const float below_re = x_re + y_im;
  const float below_im = x_im - y_re;
  const float t31 = -above_im;
  const float t32 = t31 * below_im;
  const float t33 = fma(above_re, below_re, t32);
  const float t35 = fma(t31, below_im, -t32);
  const float squares_re = (t35 == 0.0f) ? t33 : (t33 + t35);
  const float t40 = y_re * y_im;
  const float t41 = fma(x_re, x_im, t40);
  const float t43 = fma(y_re, y_im, -t40);
  const float squares_im = 2.0f * ((t43 == 0.0f) ? t41 : (t41 + t43));
  const complex<float> complex_sqrt_49 = complex_sqrt(complex<float>{squares_re, squares_im});
  const complex<float> complex_div_51 = complex_div(complex<float>{above_re, above_im},
      complex<float>{complex_sqrt_49.re, complex_sqrt_49.im});
  const float crude = atan2(complex_div_51.im, complex_div_51.re);
  const complex<float> complex_div_54 = complex_div(complex<float>{above_re, above_im},
      complex<float>{below_re, below_im});
  const complex<float> log_56 = log(complex<float>{complex_div_54.re, complex_div_54.im});
  const float far_re = (0.0f * log_56.re) + (0.5f * log_56.im);
  const float far_im = (0.0f * log_56.im) - (0.5f * log_56.re);
  const complex<float> complex_div_65 = complex_div(complex<float>{y_re, y_im},
      complex<float>{x_re, x_im});
  const bool t71 = (fabs(complex_div_65.re) < 0.5f) & (fabs(complex_div_65.im) < 0.5f);
  const bool t72 = crude == crude;
  const bool small = t71 & t72;
  const complex<float> atan_74 = atan(complex<float>{complex_div_65.re, complex_div_65.im});
  const float re = small ? atan_74.re : far_re;
  const float im = small ? atan_74.im : far_im;
  const u32 t87 = bits_as<u32>(fabs(3.1415927f)) | (bits_as<u32>((re == 0.0f) ? crude :
      (-re)) & 0x80000000u);
  const float half_turn = bits_as<float>(t87);
  const bool missing = fabs(crude - re) > 1.5707964f;
  return {re + (missing ? half_turn : 0.0f), t72 ? im : crude};
}

// -i log((x + i y) / sqrt(x^2 + y^2)), from the logarithm of its square, (x + i y) / (x - i y),
// or near 0 from atan(y / x); the number itself says whether half a turn is missing.
GB_FN complex<double> atan2(complex<double> x0, complex<double> x2) {
  GB_ENTER
  const double t4 = fabs(x2.re);
  const double t5 = fabs(x2.im);
  const double t6 = fabs(x0.re);
  const double t7 = fabs(x0.im);
  const double t9 = (t4 < t5) ? t5 : t4;
  const double t11 = (t9 < t6) ? t6 : t9;
  const double t13 = (t11 < t7) ? t7 : t11;
  const double t22 = (t13 > 6.703903964971299e+153) ? 2.409919865102884e-181 : ((t13 <
      6.717876107567089e-139) ? 4.149515568880993e+180 : 1.0);
  const double x_re = t22 * x2.re;
  const double x_im = t22 * x2.im;
  const double y_re = t22 * x0.re;
  const double y_im = t22 * x0.im;
  const double above_re = x_re - y_im;
  const double above_im = x_im + y_re;
  const double below_re = x_re + y_im;
  const double below_im = x_im - y_re;
  const double t31 = -above_im;
  const double t32 = t31 * below_im;
  const double t33 = fma(above_re, below_re, t32);
  const double t35 = fma(t31, below_im, -t32);
  const double squares_re = (t35 == 0.0) ? t33 : (t33 + t35);
  const double t40 = y_re * y_im;
  const double t41 = fma(x_re, x_im, t40);
  const double t43 = fma(y_re, y_im, -t40);
  const double squares_im = 2.0 * ((t43 == 0.0) ? t41 : (t41 + t43));
  const complex<double> complex_sqrt_49 = complex_sqrt(complex<double>{squares_re,
      squares_im});
  const complex<double> complex_div_51 = complex_div(complex<double>{above_re, above_im},
      complex<double>{complex_sqrt_49.re, complex_sqrt_49.im});
  const double crude = atan2(complex_div_51.im, complex_div_51.re);
  const complex<double> complex_div_54 = complex_div(complex<double>{above_re, above_im},
      complex<double>{below_re, below_im});
  const complex<double> log_56 = log(complex<double>{complex_div_54.re, complex_div_54.im});
  const double far_re = (0.0 * log_56.re) + (0.5 * log_56.im);
  const double far_im = (0.0 * log_56.im) - (0.5 * log_56.re);
  const complex<double> complex_div_65 = complex_div(complex<double>{y_re, y_im},
      complex<double>{x_re, x_im});
  const bool t71 = (fabs(complex_div_65.re) < 0.5) & (fabs(complex_div_65.im) < 0.5);
  const bool t72 = crude == crude;
  const bool small = t71 & t72;
  const complex<double> atan_74 = atan(complex<double>{complex_div_65.re, complex_div_65.im});
  const double re = small ? atan_74.re : far_re;
  const double im = small ? atan_74.im : far_im;
  const u64 t86 = bits_as<u64>((re == 0.0) ? crude : (-re)) & 0x8000000000000000ull;
  const double half_turn = bits_as<double>(bits_as<u64>(fabs(3.141592653589793)) | t86);
  const bool missing = fabs(crude - re) > 1.5707963267948966;
  return {re + (missing ? half_turn : 0.0), t72 ? im : crude};
}

}  // namespace gb

#endif
