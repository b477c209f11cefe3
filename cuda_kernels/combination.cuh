// How reductions combine two values.
#ifndef GB_COMBINATION_CUH
#define GB_COMBINATION_CUH

#include "scalar.cuh"

namespace gb {

// Sums and products that are never contracted.
#ifdef GB_EMU
template <class F> GB_FN F add_rn(F a, F b) { return a + b; }
template <class F> GB_FN F mul_rn(F a, F b) { return a * b; }
#else
GB_FN float add_rn(float a, float b) { return __fadd_rn(a, b); }
GB_FN double add_rn(double a, double b) { return __dadd_rn(a, b); }
GB_FN float mul_rn(float a, float b) { return __fmul_rn(a, b); }
GB_FN double mul_rn(double a, double b) { return __dmul_rn(a, b); }
#endif
template <class F> GB_FN complex<F> add_rn(complex<F> a, complex<F> b) {
  return {add_rn(a.re, b.re), add_rn(a.im, b.im)};
}
template <class F> GB_FN complex<F> mul_rn(complex<F> a, complex<F> b) {
  return {add_rn(mul_rn(a.re, b.re), -mul_rn(a.im, b.im)),
          add_rn(mul_rn(a.re, b.im), mul_rn(a.im, b.re))};
}

// max and min with -0.0 below +0.0.
template <class F> GB_FN F greatest(F a, F b) {
#if !defined(GB_EMU) && __CUDA_ARCH__ >= 800
  if constexpr (same<F, float>) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  if (a == b) return bits_as<signed_t<F>>(b) < 0 ? a : b;
  return max(a, b);
}
template <class F> GB_FN F least(F a, F b) {
#if !defined(GB_EMU) && __CUDA_ARCH__ >= 800
  if constexpr (same<F, float>) {
    asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  if (a == b) return bits_as<signed_t<F>>(b) < 0 ? b : a;
  return min(a, b);
}

}  // namespace gb

#endif
