// exp and its relatives on f16 and bf16, correctly rounded.
//
// Written by `make generate` from gpubcast/hlo/elementary/half_exponential.py; do not edit.
#ifndef GB_ELEMENTARY_HALF_EXPONENTIAL_CUH
#define GB_ELEMENTARY_HALF_EXPONENTIAL_CUH

#include "scalar.cuh"

namespace gb {

// e ** x: 2^n 2^r with n = round(x / ln 2) and a polynomial in r.
GB_FN float exp_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -18.0f), 12.0f);
  const float t7 = fma(x, 1.442695f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float t14 = fma(x, 1.442695f, -n);
  const float t21 = fma(fma(fma(0.0011860863f, t14, 0.009525256f), t14, 0.05552655f), t14,
      0.24024853f);
  return fma(fma(t21, t14, 0.6931472f), t14, 0.99999994f) * power;
}

// e ** x: the square of e ** (x / 2), so that only the last product is a denormal number.
GB_FN float exp_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -94.0f), 9e+01f);
  const float t7 = fma(x, 0.7213475f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float t14 = fma(x, 0.7213475f, -n);
  const float t21 = fma(fma(fma(0.00995431f, t14, 0.055790495f), t14, 0.24018626f), t14,
      0.693135f);
  const float root = fma(t21, t14, 1.0000007f) * power;
  return root * root;
}

// 2 ** x: 2^n 2^r with n = round(x) and a polynomial in r, which is rounded again by 3/2.
GB_FN float exp2_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -26.0f), 17.0f);
  const float t7 = fma(x, 1.0f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float t13 = x - n;
  const float t20 = fma(fma(fma(0.0009812426f, t13, 0.006379594f), t13, 0.03698151f), t13,
      0.16015834f);
  const float t27 = (fma(fma(t20, t13, 0.46209955f), t13, 0.6666667f) * 1.5f) * power;
  return t27;
}

// 2 ** x: the square of 2 ** (x / 2), so that only the last product is a denormal number.
GB_FN float exp2_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -136.0f), 129.0f);
  const float t7 = fma(x, 0.5f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float t14 = fma(x, 0.5f, -n);
  const float t21 = fma(fma(fma(0.009630734f, t14, 0.05587163f), t14, 0.24022847f), t14,
      0.6931289f);
  const float root = fma(t21, t14, 0.99999905f) * power;
  return root * root;
}

// e ** x - 1: 2^n (e^r - 1) - (1 - 2^n) with n = round(x / ln 2); -0.0 keeps its sign.
GB_FN float expm1_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -9.0f), 12.0f);
  const float t7 = fma(x, 1.442695f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float r = fma(n, -0.6931472f, x);
  const float t21 = fma(fma(fma(0.008325484f, r, 0.041802727f), r, 0.16666545f), r,
      0.49999738f);
  return fma(power, r * fma(t21, r, 1.0f), -(1.0f - power));
}

// e ** x - 1: twice 2^(n-1) (e^r - 1) - (1/2 - 2^(n-1)), whose powers are finite.
GB_FN float expm1_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -7.0f), 89.0f);
  const float t7 = fma(x, 1.442695f, 12583038.0f);
  const float n = t7 - 12583038.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float r = fma(n, -0.6931472f, x);
  const float t21 = fma(fma(fma(0.008121372f, r, 0.04067994f), r, 0.16658516f), r,
      0.5000725f);
  const float t30 = fma(power, r * fma(t21, r, 0.999999f), -(0.5f - power)) * 2.0f;
  return t30;
}

// 1 / (1 + e ** -x): 2^n e^-r with n the whole number below -x / ln 2, so that numbers on both
// sides of 0, which lie just beside the middle of two results, are told apart.
GB_FN float logistic_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -18.0f), 1e+01f);
  const float t10 = fma(fma(x, -1.442695f, -0.5f), 1.0f, 12583039.0f);
  const float n = t10 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t10) << 23);
  const float t17 = fma(n, 0.6931472f, x);
  const float t24 = fma(fma(fma(-0.009140336f, t17, 0.04300657f), t17, -0.16545548f), t17,
      0.5003192f);
  const float t28 = fma(fma(fma(t24, t17, -0.9999743f), t17, 1.0f), power, 1.0f);
  const float t32 = bits_as<float>(0x7ef315c0u - bits_as<u32>(t28));
  const float t33 = -t28;
  const float y = t32 * fma(t33, t32, 2.0015f);
  const float e = fma(t33, y, 1.0f);
  return fma(y, fma(e, e, e), y);
}

// The square of a = e ** (x / 2) over 1 + a^2: only the last product is a denormal number.
GB_FN float logistic_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -94.0f), 8.0f);
  const float t7 = fma(x, 0.7213475f, 12583039.0f);
  const float n = t7 - 12583039.0f;
  const float power = bits_as<float>(bits_as<u32>(t7) << 23);
  const float t14 = fma(x, 0.7213475f, -n);
  const float t21 = fma(fma(fma(0.0107178455f, t14, 0.055912092f), t14, 0.24001671f), t14,
      0.69309545f);
  const float root = fma(t21, t14, 1.0000011f) * power;
  const float t26 = fma(root, root, 1.0f);
  const float t30 = bits_as<float>(0x7ef315c0u - bits_as<u32>(t26));
  const float t31 = -t26;
  const float y = t30 * fma(t31, t30, 2.0015f);
  const float e = fma(t31, y, 1.0f);
  const float near = root * y;
  return fma(near, e, near) * root;
}

// x times a quotient of polynomials in x^2, where it is not yet 1.
GB_FN float tanh_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -4.59375f), 4.59375f);
  const float z = x * x;
  const float t12 = fma(fma(fma(0.00017339231f, z, 0.022264788f), z, 0.45916024f), z, 1.0f);
  const float t16 = bits_as<float>(0x7ef315c0u - bits_as<u32>(t12));
  const float t17 = -t12;
  const float y = t16 * fma(t17, t16, 2.0015f);
  const float e = fma(t17, y, 1.0f);
  const float t28 = fma(fma(fma(5.411557e-06f, z, 0.0025439917f), z, 0.12582745f), z,
      0.9999999f);
  const float near = (x * t28) * y;
  return fma(near, fma(e, e, e), near);
}

// x times a polynomial in x^2 - 6, where it is not yet 1.
GB_FN float tanh_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -3.5f), 3.5f);
  const float t6 = fma(x, x, -6.0f);
  const float t11 = fma(fma(8.545806e-10f, t6, -6.6799584e-09f), t6, -3.149734e-08f);
  const float t17 = fma(fma(fma(t11, t6, 2.1046753e-07f), t6, 1.5162427e-06f), t6,
      -1.0848809e-05f);
  const float t23 = fma(fma(fma(t17, t6, 3.803234e-05f), t6, -0.00035289815f), t6,
      0.003417572f);
  return x * fma(fma(t23, t6, -0.031156737f), t6, 0.40220988f);
}

}  // namespace gb

#endif
