// Modulus, sign and quotient of complex numbers.
//
// Written by `make generate` from gpubcast/hlo/elementary/complex_arithmetic.py; do not edit.
#ifndef GB_ELEMENTARY_COMPLEX_ARITHMETIC_CUH
#define GB_ELEMENTARY_COMPLEX_ARITHMETIC_CUH

#include "scalar.cuh"

namespace gb {

// The modulus, without overflow.
GB_FN float complex_abs(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const float t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 4.611686e+18f;
  const bool t9 = t5 < 8.881784e-16f;
  const float t14 = t7 ? 8.077936e-28f : (t9 ? 1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float t23 = sqrt((t15 * t15) + (t16 * t16)) * (t7 ? 1.23794004e+27f : (t9 ?
      8.077936e-28f : 1.0f));
  return t23;
}

// The modulus, without overflow.
GB_FN double complex_abs(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const double t5 = (t2 < t3) ? t3 : t2;
  const bool t7 = t5 > 6.703903964971299e+153;
  const bool t9 = t5 < 6.717876107567089e-139;
  const double t14 = t7 ? 2.409919865102884e-181 : (t9 ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t22 = t7 ? 4.149515568880993e+180 : (t9 ? 2.409919865102884e-181 : 1.0);
  return sqrt((t15 * t15) + (t16 * t16)) * t22;
}

// z divided by its modulus; 0 at 0.
GB_FN complex<float> complex_sign(complex<float> z) {
  GB_ENTER
  const float t2 = fabs(z.re);
  const float t3 = fabs(z.im);
  const float t5 = (t2 < t3) ? t3 : t2;
  const float t14 = (t5 > 4.611686e+18f) ? 8.077936e-28f : ((t5 < 8.881784e-16f) ?
      1.23794004e+27f : 1.0f);
  const float t15 = z.re * t14;
  const float t16 = z.im * t14;
  const float t20 = sqrt((t15 * t15) + (t16 * t16));
  const bool zero = t20 == 0.0f;
  return {zero ? 0.0f : (t15 / t20), zero ? 0.0f : (t16 / t20)};
}

// z divided by its modulus; 0 at 0.
GB_FN complex<double> complex_sign(complex<double> z) {
  GB_ENTER
  const double t2 = fabs(z.re);
  const double t3 = fabs(z.im);
  const double t5 = (t2 < t3) ? t3 : t2;
  const double t14 = (t5 > 6.703903964971299e+153) ? 2.409919865102884e-181 : ((t5 <
      6.717876107567089e-139) ? 4.149515568880993e+180 : 1.0);
  const double t15 = z.re * t14;
  const double t16 = z.im * t14;
  const double t20 = sqrt((t15 * t15) + (t16 * t16));
  const bool zero = t20 == 0.0;
  return {zero ? 0.0 : (t15 / t20), zero ? 0.0 : (t16 / t20)};
}

// x / y by Smith's algorithm (1962), which scales by the larger part of y.
GB_FN complex<float> complex_div(complex<float> x, complex<float> y) {
  GB_ENTER
  const float t4 = fabs(y.re);
  const float t5 = fabs(y.im);
  const bool swap = t4 < t5;
  const float large = swap ? y.im : y.re;
  const float small = swap ? y.re : y.im;
  const float first = swap ? x.re : x.im;
  const float second = swap ? x.im : x.re;
  const float ratio = small / large;
  const float divisor = large + (small * ratio);
  const float re = ((ratio * first) + second) / divisor;
  const float turned = ratio * second;
  const float im = (swap ? (turned - x.re) : (x.im - turned)) / divisor;
  const u32 t27 = bits_as<u32>(y.re) & 0x80000000u;
  const float t29 = bits_as<float>(bits_as<u32>(fabs(bits_as<float>(0x7f800000u))) | t27);
  const float by_zero_re = t29 * x.re;
  const float by_zero_im = t29 * x.im;
  const float t33 = fabs(x.re);
  const bool t34 = t33 == bits_as<float>(0x7f800000u);
  const u32 t41 = bits_as<u32>(fabs(t34 ? 1.0f : 0.0f)) | (bits_as<u32>(x.re) & 0x80000000u);
  const float t44 = (x.re != x.re) ? 0.0f : bits_as<float>(t41);
  const float t45 = fabs(x.im);
  const bool t46 = t45 == bits_as<float>(0x7f800000u);
  const u32 t52 = bits_as<u32>(fabs(t46 ? 1.0f : 0.0f)) | (bits_as<u32>(x.im) & 0x80000000u);
  const float t55 = (x.im != x.im) ? 0.0f : bits_as<float>(t52);
  const float infinite_re = bits_as<float>(0x7f800000u) * ((t44 * y.re) + (t55 * y.im));
  const float infinite_im = bits_as<float>(0x7f800000u) * ((t55 * y.re) - (t44 * y.im));
  const bool t64 = t4 == bits_as<float>(0x7f800000u);
  const float t71 = (y.re != y.re) ? 0.0f : bits_as<float>(bits_as<u32>(fabs(t64 ? 1.0f :
      0.0f)) | t27);
  const bool t72 = t5 == bits_as<float>(0x7f800000u);
  const u32 t78 = bits_as<u32>(fabs(t72 ? 1.0f : 0.0f)) | (bits_as<u32>(y.im) & 0x80000000u);
  const float t81 = (y.im != y.im) ? 0.0f : bits_as<float>(t78);
  const float vanishing_re = 0.0f * ((x.re * t71) + (x.im * t81));
  const float vanishing_im = 0.0f * ((x.im * t71) - (x.re * t81));
  const bool zero = (y.re == 0.0f) & (y.im == 0.0f);
  const bool infinite_x = t34 | t46;
  const bool infinite_y = t64 | t72;
  const bool finite_x = (t33 < bits_as<float>(0x7f800000u)) & (t45 <
      bits_as<float>(0x7f800000u));
  const bool finite_y = (t4 < bits_as<float>(0x7f800000u)) & (t5 <
      bits_as<float>(0x7f800000u));
  const bool lost = (re != re) & (im != im);
  const bool t105 = (lost & infinite_y) & finite_x;
  const bool t109 = (lost & infinite_x) & finite_y;
  const bool t112 = lost & zero;
  const float t113 = t112 ? by_zero_re : (t109 ? infinite_re : (t105 ? vanishing_re : re));
  const float t114 = t112 ? by_zero_im : (t109 ? infinite_im : (t105 ? vanishing_im : im));
  return {t113, t114};
}

// x / y by Smith's algorithm (1962), which scales by the larger part of y.
GB_FN complex<double> complex_div(complex<double> x, complex<double> y) {
  GB_ENTER
  const double t4 = fabs(y.re);
  const double t5 = fabs(y.im);
  const bool swap = t4 < t5;
  const double large = swap ? y.im : y.re;
  const double small = swap ? y.re : y.im;
  const double first = swap ? x.re : x.im;
  const double second = swap ? x.im : x.re;
  const double ratio = small / large;
  const double divisor = large + (small * ratio);
  const double re = ((ratio * first) + second) / divisor;
  const double turned = ratio * second;
  const double im = (swap ? (turned - x.re) : (x.im - turned)) / divisor;
  const u64 t27 = bits_as<u64>(y.re) & 0x8000000000000000ull;
  const u64 t28 = bits_as<u64>(fabs(bits_as<double>(0x7ff0000000000000ull))) | t27;
  const double t29 = bits_as<double>(t28);
  const double by_zero_re = t29 * x.re;
  const double by_zero_im = t29 * x.im;
  const double t33 = fabs(x.re);
  const bool t34 = t33 == bits_as<double>(0x7ff0000000000000ull);
  const u64 t41 = bits_as<u64>(fabs(t34 ? 1.0 : 0.0)) | (bits_as<u64>(x.re) &
      0x8000000000000000ull);
  const double t44 = (x.re != x.re) ? 0.0 : bits_as<double>(t41);
  const double t45 = fabs(x.im);
  const bool t46 = t45 == bits_as<double>(0x7ff0000000000000ull);
  const u64 t52 = bits_as<u64>(fabs(t46 ? 1.0 : 0.0)) | (bits_as<u64>(x.im) &
      0x8000000000000000ull);
  const double t55 = (x.im != x.im) ? 0.0 : bits_as<double>(t52);
  const double infinite_re = bits_as<double>(0x7ff0000000000000ull) * ((t44 * y.re) + (t55 *
      y.im));
  const double infinite_im = bits_as<double>(0x7ff0000000000000ull) * ((t55 * y.re) - (t44 *
      y.im));
  const bool t64 = t4 == bits_as<double>(0x7ff0000000000000ull);
  const double t71 = (y.re != y.re) ? 0.0 : bits_as<double>(bits_as<u64>(fabs(t64 ? 1.0 :
      0.0)) | t27);
  const bool t72 = t5 == bits_as<double>(0x7ff0000000000000ull);
  const u64 t78 = bits_as<u64>(fabs(t72 ? 1.0 : 0.0)) | (bits_as<u64>(y.im) &
      0x8000000000000000ull);
  const double t81 = (y.im != y.im) ? 0.0 : bits_as<double>(t78);
  const double vanishing_re = 0.0 * ((x.re * t71) + (x.im * t81));
  const double vanishing_im = 0.0 * ((x.im * t71) - (x.re * t81));
  const bool zero = (y.re == 0.0) & (y.im == 0.0);
  const bool infinite_x = t34 | t46;
  const bool infinite_y = t64 | t72;
  const bool finite_x = (t33 < bits_as<double>(0x7ff0000000000000ull)) & (t45 <
      bits_as<double>(0x7ff0000000000000ull));
  const bool finite_y = (t4 < bits_as<double>(0x7ff0000000000000ull)) & (t5 <
      bits_as<double>(0x7ff0000000000000ull));
  const bool lost = (re != re) & (im != im);
  const bool t105 = (lost & infinite_y) & finite_x;
  const bool t109 = (lost & infinite_x) & finite_y;
  const bool t112 = lost & zero;
  const double t113 = t112 ? by_zero_re : (t109 ? infinite_re : (t105 ? vanishing_re : re));
  const double t114 = t112 ? by_zero_im : (t109 ? infinite_im : (t105 ? vanishing_im : im));
  return {t113, t114};
}

}  // namespace gb

#endif
