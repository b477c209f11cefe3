// Exponentials, logarithms, roots, powers, sines and tangents of complex numbers.
//
// Written by `make generate` from gpubcast/hlo/elementary/complex_functions.py; do not edit.
#ifndef GB_ELEMENTARY_COMPLEX_FUNCTIONS_CUH
#define GB_ELEMENTARY_COMPLEX_FUNCTIONS_CUH

#include "scalar.cuh"
#include "elementary/exponential.cuh"
#include "elementary/logarithm.cuh"
#include "elementary/special.cuh"
#include "elementary/trigonometric.cuh"

namespace gb {

// e^re (cos im + i sin im).
GB_FN complex<float> exp(complex<float> z) {
  GB_ENTER
  const float t4 = (z.re > 2e+02f) ? 2e+02f : z.re;
  const bool t6 = t4 > 8e+01f;
  const float t9 = t6 ? (t4 - 64.0f) : t4;
  const float t12 = t6 ? 6.235149e+27f : 1.0f;
  const bool t13 = t9 > 8e+01f;
  const float rest = t13 ? (t9 - 64.0f) : t9;
  const float step = t13 ? 6.235149e+27f : 1.0f;
  const float size = exp(rest);
  const float im = ((size * sin(z.im)) * t12) * step;
  return {((size * cos(z.im)) * t12) * step, (z.im == 0.0f) ? z.im : im};
}

// e^re (cos im + i sin im).
GB_FN complex<double> exp(complex<double> z) {
  GB_ENTER
  const double t4 = (z.re > 1500.0) ? 1500.0 : z.re;
  const bool t6 = t4 > 700.0;
  const double t9 = t6 ? (t4 - 512.0) : t4;
  const double t12 = t6 ? 2.2844135865397565e+222 : 1.0;
  const bool t13 = t9 > 700.0;
  const double rest = t13 ? (t9 - 512.0) : t9;
  const double step = t13 ? 2.2844135865397565e+222 : 1.0;
  const double size = exp(rest);
  const double im = ((size * sin(z.im)) * t12) * step;
  return {((size * cos(z.im)) * t12) * step, (z.im == 0.0) ? z.im : im};
}

// 2^re (cos + i sin)(im log 2); the angle is a sum of two, of which the second is the rounding
// error of the first, as long as it says anything of the angle.
GB_FN complex<double> exp2(complex<double> z) {
  GB_ENTER
  const double high = z.im * 0.6931471805599453;
  const double t8 = fma(z.im, 0.6931471805599453, -high) + (z.im * 2.3190468138462996e-17);
  const double low = (fabs(high) < 4.056481920730334e+31) ? t8 : 0.0;
  const double cosine = cos(high);
  const double sine = sin(high);
  const double turn_re = cos(low);
  const double turn_im = sin(low);
  const double unit_re = fma(-sine, turn_im, cosine * turn_re);
  const double unit_im = fma(cosine, turn_im, sine * turn_re);
  const double rest = (z.re > 2200.0) ? 2200.0 : z.re;
  const bool large = rest > 1000.0;
  const double size = exp2(0.5 * (large ? (rest - 1000.0) : rest));
  const double t35 = large ? 1.0715086071862673e+301 : 1.0;
  const double found_im = size * (size * (t35 * unit_im));
  return {size * (size * (t35 * unit_re)), (z.im == 0.0) ? z.im : found_im};
}

// The same in f64: the angle's error would be large beside the result.
GB_FN complex<float> exp2(complex<float> z) {
  GB_ENTER
  const double t2 = static_cast<double>(z.re);
  const double t3 = static_cast<double>(z.im);
  const complex<double> exp2_4 = exp2(complex<double>{t2, t3});
  return {static_cast<float>(exp2_4.re), static_cast<float>(exp2_4.im)};
}

// e^re (cos im + i sin im) - 1, accurate near 0: expm1(re) cos im - 2 sin(im / 2)^2.
GB_FN complex<float> expm1(complex<float> z) {
  GB_ENTER
  const complex<float> exp_2 = exp(complex<float>{z.re, z.im});
  const float half = sin(0.5f * z.im);
  const float re = (z.re > 8e+01f) ? exp_2.re : fma(expm1(z.re), cos(z.im), ((-2.0f) * half)
      * half);
  return {re, exp_2.im};
}

// e^re (cos im + i sin im) - 1, accurate near 0: expm1(re) cos im - 2 sin(im / 2)^2.
GB_FN complex<double> expm1(complex<double> z) {
  GB_ENTER
  const complex<double> exp_2 = exp(complex<double>{z.re, z.im});
  const double half = sin(0.5 * z.im);
  const double re = (z.re > 700.0) ? exp_2.re : fma(expm1(z.re), cos(z.im), ((-2.0) * half) *
      half);
  return {re, exp_2.im};
}

// The logarithm of the modulus, and the angle.
GB_FN complex<float> log(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const bool t4 = t2 < t3;
  const float t5 = t4 ? t3 : t2;
  const bool t7 = t5 > 4.611686e+18f;
  const bool t9 = t5 < 8.881784e-16f;
  const float t14 = t7 ? 8.077936e-28f : (t9 ? 1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float t20 = sqrt((t15 * t15) + (t16 * t16));
  const float t21 = t4 ? t2 : t3;
  const float t22 = t20 * t20;
  const float t44 = (((t5 < 2.0f) & (t22 > 0.5f)) & (t22 < 3.0f)) ? (0.5f * log1p(fma(t5 -
      1.0f, t5 + 1.0f, t21 * t21))) : (log(t20) + (t7 ? 62.383247f : (t9 ? (-62.383247f) :
      0.0f)));
  return {t44, atan2(z.im, z.re)};
}

// The logarithm of the modulus, and the angle.
GB_FN complex<double> log(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const bool t4 = t2 < t3;
  const double t5 = t4 ? t3 : t2;
  const bool t7 = t5 > 6.703903964971299e+153;
  const bool t9 = t5 < 6.717876107567089e-139;
  const double t14 = t7 ? 2.409919865102884e-181 : (t9 ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t20 = sqrt((t15 * t15) + (t16 * t16));
  const double t21 = t4 ? t2 : t3;
  const double t22 = t20 * t20;
  const double t43 = log(t20) + (t7 ? 415.88830833596717 : (t9 ? (-415.88830833596717) :
      0.0));
  const double t44 = (((t5 < 2.0) & (t22 > 0.5)) & (t22 < 3.0)) ? (0.5 * log1p(fma(t5 - 1.0,
      t5 + 1.0, t21 * t21))) : t43;
  return {t44, atan2(z.im, z.re)};
}

// The logarithm divided by that of 2.
GB_FN complex<float> log2(complex<float> z) {
  GB_ENTER
  const complex<float> log_3 = log(complex<float>{z.re, z.im});
  return {1.442695f * log_3.re, 1.442695f * log_3.im};
}

// The logarithm divided by that of 2.
GB_FN complex<double> log2(complex<double> z) {
  GB_ENTER
  const complex<double> log_3 = log(complex<double>{z.re, z.im});
  return {1.4426950408889634 * log_3.re, 1.4426950408889634 * log_3.im};
}

// The logarithm divided by that of 10.
GB_FN complex<float> log10(complex<float> z) {
  GB_ENTER
  const complex<float> log_3 = log(complex<float>{z.re, z.im});
  return {0.4342945f * log_3.re, 0.4342945f * log_3.im};
}

// The logarithm divided by that of 10.
GB_FN complex<double> log10(complex<double> z) {
  GB_ENTER
  const complex<double> log_3 = log(complex<double>{z.re, z.im});
  return {0.43429448190325176 * log_3.re, 0.43429448190325176 * log_3.im};
}

// log(1 + z), accurate near 0.
GB_FN complex<float> log1p(complex<float> z) {
  GB_ENTER
  const float moved_re = z.re + 1.0f;
  const float t7 = fabs(z.im);
  const bool near = (fabs(z.re) < 0.5f) & (t7 < 0.5f);
  const float here = 0.5f * log1p(fma(z.re, z.re + 2.0f, z.im * z.im));
  const float t16 = fabs(moved_re);
  const bool t17 = t16 < t7;
  const float t18 = t17 ? t7 : t16;
  const bool t20 = t18 > 4.611686e+18f;
  const bool t22 = t18 < 8.881784e-16f;
  const float t26 = t20 ? 8.077936e-28f : (t22 ? 1.23794004e+27f : 1.0f);
  const float t27 = moved_re * t26;
  const float t28 = z.im * t26;
  const float t32 = sqrt((t27 * t27) + (t28 * t28));
  const float t33 = t17 ? t16 : t7;
  const float t34 = t32 * t32;
  const float t54 = (((t18 < 2.0f) & (t34 > 0.5f)) & (t34 < 3.0f)) ? (0.5f * log1p(fma(t18 -
      1.0f, t18 + 1.0f, t33 * t33))) : (log(t32) + (t20 ? 62.383247f : (t22 ? (-62.383247f) :
      0.0f)));
  return {near ? here : t54, atan2(z.im, moved_re)};
}

// log(1 + z), accurate near 0.
GB_FN complex<double> log1p(complex<double> z) {
  GB_ENTER
  const double moved_re = z.re + 1.0;
  const double t7 = fabs(z.im);
  const bool near = (fabs(z.re) < 0.5) & (t7 < 0.5);
  const double here = 0.5 * log1p(fma(z.re, z.re + 2.0, z.im * z.im));
  const double t16 = fabs(moved_re);
  const bool t17 = t16 < t7;
  const double t18 = t17 ? t7 : t16;
  const bool t20 = t18 > 6.703903964971299e+153;
  const bool t22 = t18 < 6.717876107567089e-139;
  const double t26 = t20 ? 2.409919865102884e-181 : (t22 ? 4.149515568880993e+180 : 1.0);
  const double t27 = moved_re * t26;
  const double t28 = z.im * t26;
  const double t32 = sqrt((t27 * t27) + (t28 * t28));
  const double t33 = t17 ? t16 : t7;
  const double t34 = t32 * t32;
  const double t51 = t20 ? 415.88830833596717 : (t22 ? (-415.88830833596717) : 0.0);
  const double t54 = (((t18 < 2.0) & (t34 > 0.5)) & (t34 < 3.0)) ? (0.5 * log1p(fma(t18 -
      1.0, t18 + 1.0, t33 * t33))) : (log(t32) + t51);
  return {near ? here : t54, atan2(z.im, moved_re)};
}

// 1 / (1 + w) for re >= 0 and w / (1 + w) below, where w = e^-z or e^z is at most 1.
GB_FN complex<float> logistic(complex<float> z) {
  GB_ENTER
  const bool left = z.re < 0.0f;
  const float down = -fabs(z.re);
  const float size = exp(down);
  const float cosine = cos(z.im);
  const float turn = sin(z.im);
  const float w_re = size * cosine;
  const float w_im = size * (left ? turn : (-turn));
  const float half = cos(0.5f * z.im);
  const float re = (w_re < (-0.5f)) ? (((2.0f * half) * half) + (expm1(down) * cosine)) :
      (w_re + 1.0f);
  const float top_re = left ? w_re : 1.0f;
  const float top_im = left ? w_im : 0.0f;
  const float scale = 1.0f / fma(re, re, w_im * w_im);
  return {fma(top_re, re, top_im * w_im) * scale, fma(top_im, re, -(top_re * w_im)) * scale};
}

// 1 / (1 + w) for re >= 0 and w / (1 + w) below, where w = e^-z or e^z is at most 1.
GB_FN complex<double> logistic(complex<double> z) {
  GB_ENTER
  const bool left = z.re < 0.0;
  const double down = -fabs(z.re);
  const double size = exp(down);
  const double cosine = cos(z.im);
  const double turn = sin(z.im);
  const double w_re = size * cosine;
  const double w_im = size * (left ? turn : (-turn));
  const double half = cos(0.5 * z.im);
  const double re = (w_re < (-0.5)) ? (((2.0 * half) * half) + (expm1(down) * cosine)) :
      (w_re + 1.0);
  const double top_re = left ? w_re : 1.0;
  const double top_im = left ? w_im : 0.0;
  const double scale = 1.0 / fma(re, re, w_im * w_im);
  return {fma(top_re, re, top_im * w_im) * scale, fma(top_im, re, -(top_re * w_im)) * scale};
}

// The root in the right half plane, from sqrt((modulus + |re|) / 2).
GB_FN complex<float> complex_sqrt(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const float t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 4.611686e+18f;
  const bool t9 = t5 < 8.881784e-16f;
  const float t14 = t7 ? 8.077936e-28f : (t9 ? 1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float t20 = sqrt((t15 * t15) + (t16 * t16));
  const float major = sqrt(0.5f * (t20 + fabs(t15))) * (t7 ? 3.5184372e+13f : (t9 ?
      2.842171e-14f : 1.0f));
  const float minor = t3 / (major + major);
  const bool t34 = t15 < 0.0f;
  const bool zero = t20 == 0.0f;
  const bool infinite = t3 == bits_as<float>(0x7f800000u);
  const float re = infinite ? bits_as<float>(0x7f800000u) : (zero ? 0.0f : (t34 ? minor :
      major));
  const float im = infinite ? bits_as<float>(0x7f800000u) : (zero ? 0.0f : (t34 ? major :
      minor));
  const float t50 = bits_as<float>(bits_as<u32>(fabs(im)) | (bits_as<u32>(z.im) &
      0x80000000u));
  return {re, t50};
}

// The root in the right half plane, from sqrt((modulus + |re|) / 2).
GB_FN complex<double> complex_sqrt(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const double t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 6.703903964971299e+153;
  const bool t9 = t5 < 6.717876107567089e-139;
  const double t14 = t7 ? 2.409919865102884e-181 : (t9 ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t20 = sqrt((t15 * t15) + (t16 * t16));
  const double t29 = t7 ? 2.037035976334486e+90 : (t9 ? 4.909093465297727e-91 : 1.0);
  const double major = sqrt(0.5 * (t20 + fabs(t15))) * t29;
  const double minor = t3 / (major + major);
  const bool t34 = t15 < 0.0;
  const bool zero = t20 == 0.0;
  const bool infinite = t3 == bits_as<double>(0x7ff0000000000000ull);
  const double re = infinite ? bits_as<double>(0x7ff0000000000000ull) : (zero ? 0.0 : (t34 ?
      minor : major));
  const double im = infinite ? bits_as<double>(0x7ff0000000000000ull) : (zero ? 0.0 : (t34 ?
      major : minor));
  const u64 t49 = bits_as<u64>(fabs(im)) | (bits_as<u64>(z.im) & 0x8000000000000000ull);
  return {re, bits_as<double>(t49)};
}

// 1 / sqrt(z): the conjugate of the root divided by the modulus.
GB_FN complex<float> rsqrt(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const float t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 4.611686e+18f;
  const bool t9 = t5 < 8.881784e-16f;
  const float t14 = t7 ? 8.077936e-28f : (t9 ? 1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float t20 = sqrt((t15 * t15) + (t16 * t16));
  const float major = sqrt(0.5f * (t20 + fabs(t15)));
  const float minor = (0.5f * fabs(t16)) / major;
  const bool t30 = t15 < 0.0f;
  const float t37 = t7 ? 2.842171e-14f : (t9 ? 3.5184372e+13f : 1.0f);
  const bool infinite = (t2 == bits_as<float>(0x7f800000u)) | (t3 ==
      bits_as<float>(0x7f800000u));
  const bool t48 = t20 == 0.0f;
  const float re = t48 ? bits_as<float>(0x7f800000u) : (infinite ? 0.0f : (((t30 ? minor :
      major) / t20) * t37));
  const float im = t48 ? bits_as<float>(0x7fc00000u) : (infinite ? 0.0f : (((t30 ? major :
      minor) / t20) * t37));
  const float t58 = bits_as<float>(bits_as<u32>(fabs(im)) | (bits_as<u32>(-z.im) &
      0x80000000u));
  return {re, t58};
}

// 1 / sqrt(z): the conjugate of the root divided by the modulus.
GB_FN complex<double> rsqrt(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const double t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 6.703903964971299e+153;
  const bool t9 = t5 < 6.717876107567089e-139;
  const double t14 = t7 ? 2.409919865102884e-181 : (t9 ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t20 = sqrt((t15 * t15) + (t16 * t16));
  const double major = sqrt(0.5 * (t20 + fabs(t15)));
  const double minor = (0.5 * fabs(t16)) / major;
  const bool t30 = t15 < 0.0;
  const double t37 = t7 ? 4.909093465297727e-91 : (t9 ? 2.037035976334486e+90 : 1.0);
  const bool infinite = (t2 == bits_as<double>(0x7ff0000000000000ull)) | (t3 ==
      bits_as<double>(0x7ff0000000000000ull));
  const bool t48 = t20 == 0.0;
  const double re = t48 ? bits_as<double>(0x7ff0000000000000ull) : (infinite ? 0.0 : (((t30 ?
      minor : major) / t20) * t37));
  const double im = t48 ? bits_as<double>(0x7ff8000000000000ull) : (infinite ? 0.0 : (((t30 ?
      major : minor) / t20) * t37));
  const u64 t57 = bits_as<u64>(fabs(im)) | (bits_as<u64>(-z.im) & 0x8000000000000000ull);
  return {re, bits_as<double>(t57)};
}

// The root of a third of the angle.
GB_FN complex<float> cbrt(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const float t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 4.611686e+18f;
  const bool t9 = t5 < 8.881784e-16f;
  const float t14 = t7 ? 8.077936e-28f : (t9 ? 1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float size = cbrt(sqrt((t15 * t15) + (t16 * t16))) * (t7 ? 1.0737418e+09f : (t9 ?
      9.313226e-10f : 1.0f));
  const float angle = atan2(z.im, z.re) * 0.33333334f;
  return {size * cos(angle), size * sin(angle)};
}

// The root of a third of the angle.
GB_FN complex<double> cbrt(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const double t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 6.703903964971299e+153;
  const bool t9 = t5 < 6.717876107567089e-139;
  const double t14 = t7 ? 2.409919865102884e-181 : (t9 ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t25 = t7 ? 1.6069380442589903e+60 : (t9 ? 6.223015277861142e-61 : 1.0);
  const double size = cbrt(sqrt((t15 * t15) + (t16 * t16))) * t25;
  const double angle = atan2(z.im, z.re) * 0.3333333333333333;
  return {size * cos(angle), size * sin(angle)};
}

// sinh re cos im + i cosh re sin im.
GB_FN complex<float> sinh(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t5 = (t2 > 2e+02f) ? 2e+02f : t2;
  const bool t7 = t5 > 8e+01f;
  const float t10 = t7 ? (t5 - 64.0f) : t5;
  const float t13 = t7 ? 6.235149e+27f : 1.0f;
  const bool t14 = t10 > 8e+01f;
  const float rest = t14 ? (t10 - 64.0f) : t10;
  const float step = t14 ? 6.235149e+27f : 1.0f;
  const float t18 = expm1(rest);
  const float t19 = t18 + 1.0f;
  const float t20 = 1.0f / t19;
  const float wide = 0.5f * (t19 + t20);
  const float narrow = 0.5f * (t18 + ((t18 > 1.2676506e+30f) ? 1.0f : (t18 * t20)));
  const u32 t35 = bits_as<u32>(fabs(narrow)) | (bits_as<u32>(z.re) & 0x80000000u);
  const float im = ((wide * sin(z.im)) * t13) * step;
  return {((bits_as<float>(t35) * cos(z.im)) * t13) * step, (z.im == 0.0f) ? z.im : im};
}

// sinh re cos im + i cosh re sin im.
GB_FN complex<double> sinh(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t5 = (t2 > 1500.0) ? 1500.0 : t2;
  const bool t7 = t5 > 700.0;
  const double t10 = t7 ? (t5 - 512.0) : t5;
  const double t13 = t7 ? 2.2844135865397565e+222 : 1.0;
  const bool t14 = t10 > 700.0;
  const double rest = t14 ? (t10 - 512.0) : t10;
  const double step = t14 ? 2.2844135865397565e+222 : 1.0;
  const double t18 = expm1(rest);
  const double t19 = t18 + 1.0;
  const double t20 = 1.0 / t19;
  const double wide = 0.5 * (t19 + t20);
  const double narrow = 0.5 * (t18 + ((t18 > 1.2676506002282294e+30) ? 1.0 : (t18 * t20)));
  const u64 t35 = bits_as<u64>(fabs(narrow)) | (bits_as<u64>(z.re) & 0x8000000000000000ull);
  const double im = ((wide * sin(z.im)) * t13) * step;
  return {((bits_as<double>(t35) * cos(z.im)) * t13) * step, (z.im == 0.0) ? z.im : im};
}

// cosh re cos im + i sinh re sin im.
GB_FN complex<float> cosh(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t5 = (t2 > 2e+02f) ? 2e+02f : t2;
  const bool t7 = t5 > 8e+01f;
  const float t10 = t7 ? (t5 - 64.0f) : t5;
  const float t13 = t7 ? 6.235149e+27f : 1.0f;
  const bool t14 = t10 > 8e+01f;
  const float rest = t14 ? (t10 - 64.0f) : t10;
  const float step = t14 ? 6.235149e+27f : 1.0f;
  const float t18 = expm1(rest);
  const float t19 = t18 + 1.0f;
  const float t20 = 1.0f / t19;
  const float wide = 0.5f * (t19 + t20);
  const float narrow = 0.5f * (t18 + ((t18 > 1.2676506e+30f) ? 1.0f : (t18 * t20)));
  const u32 t37 = bits_as<u32>(fabs(narrow)) | (bits_as<u32>(z.re) & 0x80000000u);
  const float im = ((bits_as<float>(t37) * sin(z.im)) * t13) * step;
  return {((wide * cos(z.im)) * t13) * step, (z.re != z.re) ? ((z.im == 0.0f) ? z.im : im) :
      im};
}

// cosh re cos im + i sinh re sin im.
GB_FN complex<double> cosh(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t5 = (t2 > 1500.0) ? 1500.0 : t2;
  const bool t7 = t5 > 700.0;
  const double t10 = t7 ? (t5 - 512.0) : t5;
  const double t13 = t7 ? 2.2844135865397565e+222 : 1.0;
  const bool t14 = t10 > 700.0;
  const double rest = t14 ? (t10 - 512.0) : t10;
  const double step = t14 ? 2.2844135865397565e+222 : 1.0;
  const double t18 = expm1(rest);
  const double t19 = t18 + 1.0;
  const double t20 = 1.0 / t19;
  const double wide = 0.5 * (t19 + t20);
  const double narrow = 0.5 * (t18 + ((t18 > 1.2676506002282294e+30) ? 1.0 : (t18 * t20)));
  const u64 t37 = bits_as<u64>(fabs(narrow)) | (bits_as<u64>(z.re) & 0x8000000000000000ull);
  const double im = ((bits_as<double>(t37) * sin(z.im)) * t13) * step;
  return {((wide * cos(z.im)) * t13) * step, (z.re != z.re) ? ((z.im == 0.0) ? z.im : im) :
      im};
}

// -i sinh(i z).
GB_FN complex<float> sin(complex<float> z) {
  GB_ENTER
  const float t2 = -z.im;
  const complex<float> sinh_3 = sinh(complex<float>{t2, z.re});
  return {sinh_3.im, -sinh_3.re};
}

// -i sinh(i z).
GB_FN complex<double> sin(complex<double> z) {
  GB_ENTER
  const double t2 = -z.im;
  const complex<double> sinh_3 = sinh(complex<double>{t2, z.re});
  return {sinh_3.im, -sinh_3.re};
}

// cosh(i z).
GB_FN complex<float> cos(complex<float> z) {
  GB_ENTER
  const float t2 = -z.im;
  const complex<float> cosh_3 = cosh(complex<float>{t2, z.re});
  return {cosh_3.re, cosh_3.im};
}

// cosh(i z).
GB_FN complex<double> cos(complex<double> z) {
  GB_ENTER
  const double t2 = -z.im;
  const complex<double> cosh_3 = cosh(complex<double>{t2, z.re});
  return {cosh_3.re, cosh_3.im};
}

// (sinh re cosh re + i sin im cos im) / (cos(im)^2 + sinh(re)^2).
GB_FN complex<float> tanh(complex<float> z) {
  GB_ENTER
  const float size = fabs(z.re);
  const bool t4 = size > 1e+01f;
  const float t6 = expm1(t4 ? 1e+01f : size);
  const float t8 = t6 + 1.0f;
  const float t9 = 1.0f / t8;
  const float wide = 0.5f * (t8 + t9);
  const float narrow = 0.5f * (t6 + ((t6 > 1.2676506e+30f) ? 1.0f : (t6 * t9)));
  const float cosine = cos(z.im);
  const float both = sin(z.im);
  const float below = fma(narrow, narrow, cosine * cosine);
  const float t33 = ((4.0f * both) * cosine) * exp((-2.0f) * size);
  const bool t36 = fabs(size) == bits_as<float>(0x7f800000u);
  const bool known = t36 & (t33 != t33);
  const float far = known ? 0.0f : t33;
  const bool spoilt = (both != both) & (t36 ^ true);
  const float re = t4 ? (spoilt ? both : 1.0f) : ((narrow * wide) / below);
  const float im = t4 ? far : ((both * cosine) / below);
  const float t54 = bits_as<float>(bits_as<u32>(fabs(re)) | (bits_as<u32>(z.re) &
      0x80000000u));
  return {t54, (z.im == 0.0f) ? z.im : im};
}

// (sinh re cosh re + i sin im cos im) / (cos(im)^2 + sinh(re)^2).
GB_FN complex<double> tanh(complex<double> z) {
  GB_ENTER
  const double size = fabs(z.re);
  const bool t4 = size > 20.0;
  const double t6 = expm1(t4 ? 20.0 : size);
  const double t8 = t6 + 1.0;
  const double t9 = 1.0 / t8;
  const double wide = 0.5 * (t8 + t9);
  const double narrow = 0.5 * (t6 + ((t6 > 1.2676506002282294e+30) ? 1.0 : (t6 * t9)));
  const double cosine = cos(z.im);
  const double both = sin(z.im);
  const double below = fma(narrow, narrow, cosine * cosine);
  const double t33 = ((4.0 * both) * cosine) * exp((-2.0) * size);
  const bool t36 = fabs(size) == bits_as<double>(0x7ff0000000000000ull);
  const bool known = t36 & (t33 != t33);
  const double far = known ? 0.0 : t33;
  const bool spoilt = (both != both) & (t36 ^ true);
  const double re = t4 ? (spoilt ? both : 1.0) : ((narrow * wide) / below);
  const double im = t4 ? far : ((both * cosine) / below);
  const u64 t53 = bits_as<u64>(fabs(re)) | (bits_as<u64>(z.re) & 0x8000000000000000ull);
  return {bits_as<double>(t53), (z.im == 0.0) ? z.im : im};
}

// -i tanh(i z).
GB_FN complex<float> tan(complex<float> z) {
  GB_ENTER
  const float t2 = -z.im;
  const complex<float> tanh_3 = tanh(complex<float>{t2, z.re});
  return {tanh_3.im, -tanh_3.re};
}

// -i tanh(i z).
GB_FN complex<double> tan(complex<double> z) {
  GB_ENTER
  const double t2 = -z.im;
  const complex<double> tanh_3 = tanh(complex<double>{t2, z.re});
  return {tanh_3.im, -tanh_3.re};
}

// e^(y log x); x ** 0 and 1 ** y are 1.
GB_FN complex<double> pow(complex<double> x, complex<double> y) {
  GB_ENTER
  const double t4 = fabs(x.re);
  const double t5 = fabs(x.im);
  const bool t6 = t4 < t5;
  const double t7 = t6 ? t5 : t4;
  const bool t9 = t7 > 6.703903964971299e+153;
  const bool t11 = t7 < 6.717876107567089e-139;
  const double t16 = t9 ? 2.409919865102884e-181 : (t11 ? 4.149515568880993e+180 : 1.0);
  const double t17 = x.re * t16;
  const double t18 = x.im * t16;
  const double t22 = sqrt((t17 * t17) + (t18 * t18));
  const double t23 = t6 ? t4 : t5;
  const double t24 = t22 * t22;
  const double t45 = log(t22) + (t9 ? 415.88830833596717 : (t11 ? (-415.88830833596717) :
      0.0));
  const double size = (((t7 < 2.0) & (t24 > 0.5)) & (t24 < 3.0)) ? (0.5 * log1p(fma(t7 - 1.0,
      t7 + 1.0, t23 * t23))) : t45;
  const double angle = atan2(x.im, x.re);
  const double t50 = (y.re * size) - (y.im * angle);
  const double t53 = (y.im * size) + (y.re * angle);
  const complex<double> exp_54 = exp(complex<double>{t50, t53});
  const bool t56 = x.im == 0.0;
  const bool t57 = y.im == 0.0;
  const bool real = t56 & t57;
  const bool t59 = y.re > 0.0;
  const double infinity = t59 ? x.re : 0.0;
  const bool t65 = (real & (x.re == bits_as<double>(0x7ff0000000000000ull))) & (y.re == y.re);
  const bool t70 = (real & (x.re == 0.0)) & t59;
  const double found_re = t70 ? 0.0 : (t65 ? infinity : exp_54.re);
  const double found_im = t70 ? 0.0 : (t65 ? 0.0 : exp_54.im);
  const bool simple = ((y.re == 0.0) & t57) | ((x.re == 1.0) & t56);
  return {simple ? 1.0 : found_re, simple ? 0.0 : found_im};
}

// The power in f64: the exponent's error would be large beside the result.
GB_FN complex<float> pow(complex<float> x, complex<float> y) {
  GB_ENTER
  const double t4 = static_cast<double>(x.re);
  const double t5 = static_cast<double>(x.im);
  const double t6 = static_cast<double>(y.re);
  const double t7 = static_cast<double>(y.im);
  const complex<double> pow_8 = pow(complex<double>{t4, t5}, complex<double>{t6, t7});
  return {static_cast<float>(pow_8.re), static_cast<float>(pow_8.im)};
}

}  // namespace gb

#endif
