// log and its relatives, roots and error functions on f16 and bf16, correctly rounded.
//
// Written by `make generate` from gpubcast/hlo/elementary/half_logarithm.py; do not edit.
#ifndef GB_ELEMENTARY_HALF_LOGARITHM_CUH
#define GB_ELEMENTARY_HALF_LOGARITHM_CUH

#include "scalar.cuh"
#include "elementary/logarithm.cuh"
#include "elementary/logarithm_bases.cuh"
#include "elementary/special.cuh"

namespace gb {

// The natural logarithm of 0, a denormal or infinite number, of one below 0 and of NaN.
GB_RARE float log_bf16_edge(float x) {
  GB_ENTER
  return log(x);
}

// The logarithm to base 2 of 0, a denormal or infinite number, of one below 0 and of NaN.
GB_RARE float log2_bf16_edge(float x) {
  GB_ENTER
  return log2(x);
}

// 1 / sqrt(x) of 0, a denormal or infinite number, of one below 0 and of NaN.
GB_RARE float rsqrt_bf16_edge(float x) {
  GB_ENTER
  return rsqrt(x);
}

// The natural logarithm: e ln 2 + log(1 + f) of x = (1 + f) 2^e. What is added of x counts
// where x is infinite.
GB_FN float log_f16(float x) {
  GB_ENTER
  const u32 t1 = bits_as<u32>(x);
  const u32 t5 = (t1 - 0x3f3504f3u) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(t5));
  const float f = bits_as<float>(t1 - t5) - 1.0f;
  const float t17 = fma(fma(fma(0.11480865f, f, -0.18450487f), f, 0.205829f), f,
      -0.24939214f);
  const float t23 = fma(fma(fma(t17, f, 0.3330789f), f, -0.5000019f), f, 1.0000026f);
  const float y = fma(x, 8.6736174e-19f, fma(e, 8.262958e-08f, f * t23));
  const float t34 = (x == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  return (x > 0.0f) ? y : t34;
}

// The logarithm to base 2: e + log2(1 + f) of x = (1 + f) 2^e.
GB_FN float log2_f16(float x) {
  GB_ENTER
  const u32 t1 = bits_as<u32>(x);
  const u32 t5 = (t1 - 0x3f3504f3u) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(t5));
  const float f = bits_as<float>(t1 - t5) - 1.0f;
  const float t17 = fma(fma(fma(0.17168522f, f, -0.26018062f), f, 0.2939163f), f,
      -0.36017182f);
  const float t23 = fma(fma(fma(t17, f, 0.48072925f), f, -0.721353f), f, 1.4426953f);
  const float y = fma(x, 8.6736174e-19f, fma(e, 1.1920929e-07f, f * t23));
  const float t34 = (x == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  return (x > 0.0f) ? y : t34;
}

// The natural logarithm: e ln 2 + log(1 + f) of x = (1 + f) 2^e.
GB_FN float log_bf16(float x) {
  GB_ENTER
  const u32 t1 = bits_as<u32>(x);
  const u32 t5 = (t1 - 0x3f3504f3u) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(t5));
  const float f = bits_as<float>(t1 - t5) - 1.0f;
  const float t17 = fma(fma(fma(0.20756905f, f, -0.277735f), f, 0.331999f), f, -0.4990376f);
  const float y = fma(e, 8.262958e-08f, f * fma(t17, f, 1.000079f));
  const float t29 = (((t1 - 0x800000u) < 0x7f000000u) ^ true) ? log_bf16_edge(x) : y;
  return t29;
}

// The logarithm to base 2: e + log2(1 + f) of x = (1 + f) 2^e.
GB_FN float log2_bf16(float x) {
  GB_ENTER
  const u32 t1 = bits_as<u32>(x);
  const u32 t5 = (t1 - 0x3f3504f3u) & 0xff800000u;
  const float e = static_cast<float>(static_cast<i32>(t5));
  const float f = bits_as<float>(t1 - t5) - 1.0f;
  const float t17 = fma(fma(fma(0.28600606f, f, -0.39530396f), f, 0.48403454f), f,
      -0.7199128f);
  const float y = fma(e, 1.1920929e-07f, f * fma(t17, f, 1.4426298f));
  const float t29 = (((t1 - 0x800000u) < 0x7f000000u) ^ true) ? log2_bf16_edge(x) : y;
  return t29;
}

// log(1 + x), accurate near 0.
GB_FN float log1p_f16(float x) {
  GB_ENTER
  const float t2 = x + 1.0f;
  const u32 t7 = (0x3fadc836u - bits_as<u32>(t2)) & 0xff800000u;
  const float t10 = bits_as<float>(t7 + 0x40ce8980u);
  const float t17 = fma(x * 0.25f, t10, -fma(t10, -0.25f, 1.6135712f));
  const float t23 = fma(fma(0.0052018813f, t17, -0.010651465f), t17, 0.018306296f);
  const float t29 = fma(fma(fma(t23, t17, -0.03674333f), t17, 0.0793462f), t17, -0.19204277f);
  const float y = fma(static_cast<float>(static_cast<i32>(t7)), -8.262958e-08f, t17 *
      fma(t29, t17, 0.61974335f));
  const float t40 = (t2 == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  return (t2 > 0.0f) ? y : t40;
}

// log(1 + x), accurate near 0.
GB_FN float log1p_bf16(float x) {
  GB_ENTER
  const float t2 = x + 1.0f;
  const u32 t7 = (0x3fb504f2u - bits_as<u32>(t2)) & 0xff800000u;
  const float t10 = bits_as<float>(t7 + 0x40800000u);
  const float t16 = fma(x * 0.25f, t10, -fma(t10, -0.25f, 1.0f));
  const float t24 = fma(fma(fma(0.042859577f, t16, -0.13183634f), t16, 0.20623161f), t16,
      -0.25525466f);
  const float t30 = fma(fma(fma(t24, t16, 0.33340606f), t16, -0.49983504f), t16, 0.9999997f);
  const float y = fma(static_cast<float>(static_cast<i32>(t7)), -8.262958e-08f, t16 * t30);
  const float t39 = (t2 == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  return (t2 > 0.0f) ? y : t39;
}

// 1 / sqrt(x); the guess at 0 is too large for the type, and that at infinity too small.
GB_FN float rsqrt_f16(float x) {
  GB_ENTER
  const float t3 = at_most(fabs(x), 1.7014118e+38f);
  const float t9 = bits_as<float>(0x5f1ffff9u - (bits_as<u32>(t3) >> 1));
  const float t16 = (t9 * fma(-(t3 * t9), t9, 2.3892446f)) * 0.70395225f;
  const float e = fma(-(t3 * t16), t16, 1.0f);
  const float y = fma(t16 * e, fma(e, 0.375f, 0.5f), t16);
  const float t33 = bits_as<float>(bits_as<u32>(y) | (bits_as<u32>(x) & 0x80000000u));
  return (x < 0.0f) ? bits_as<float>(0x7fc00000u) : t33;
}

// 1 / sqrt(x).
GB_FN float rsqrt_bf16(float x) {
  GB_ENTER
  const u32 t1 = bits_as<u32>(x);
  const float t6 = bits_as<float>(0x5f1ffff9u - (t1 >> 1));
  const float y = (t6 * fma(-(x * t6), t6, 2.3892446f)) * 0.70395225f;
  const float e = fma(-(x * y), y, 1.0f);
  const float t27 = (((t1 - 0x800000u) < 0x7f000000u) ^ true) ? rsqrt_bf16_edge(x) : fma(y *
      e, 0.5f, y);
  return t27;
}

// x times a polynomial in x^2, where it is not yet 1.
GB_FN float erf_f16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -2.75f), 2.75f);
  const float t6 = fma(x, x, -3.78125f);
  const float t11 = fma(fma(-1.4202513e-08f, t6, 6.035745e-08f), t6, -3.8135323e-07f);
  const float t17 = fma(fma(fma(t11, t6, 5.3631106e-06f), t6, -4.221605e-05f), t6,
      0.0002874157f);
  const float t23 = fma(fma(fma(t17, t6, -0.0018603555f), t6, 0.011037659f), t6,
      -0.06419731f);
  return x * fma(t23, t6, 0.5111944f);
}

// x times a polynomial in x^2, where it is not yet 1.
GB_FN float erf_bf16(float x0) {
  GB_ENTER
  const float x = at_most(at_least(x0, -2.296875f), 2.296875f);
  const float t6 = fma(x, x, -2.645f);
  const float t11 = fma(fma(2.6951448e-05f, t6, -9.5151176e-05f), t6, 0.0005589153f);
  const float t17 = fma(fma(fma(t11, t6, -0.0039691427f), t6, 0.020559302f), t6,
      -0.09850977f);
  return x * fma(t17, t6, 0.60163796f);
}

// The fourth power of a polynomial, and a small number.
GB_FN float erfc_f16(float x) {
  GB_ENTER
  const float t5 = at_most(fabs(x), 3.9589844f) - 1.375f;
  const float t10 = fma(fma(-1.8816081e-07f, t5, 2.5861912e-06f), t5, 3.7146956e-06f);
  const float t16 = fma(fma(fma(t10, t5, -7.9241254e-05f), t5, 5.348681e-05f), t5,
      0.0012355915f);
  const float t22 = fma(fma(fma(t16, t5, -0.0025438678f), t5, -0.011197552f), t5,
      0.03890316f);
  const float t28 = fma(fma(fma(t22, t5, 0.05583645f), t5, -0.39207724f), t5, 0.47713932f);
  const float y = t28 * t28;
  const float t31 = fma(y, y, -1.8237502e-08f);
  return (x < 0.0f) ? (2.0f - t31) : t31;
}

// The 32nd power of a polynomial: only the last product is a denormal number.
GB_FN float erfc_bf16(float x) {
  GB_ENTER
  const float t5 = at_most(fabs(x), 9.5f) - 4.0f;
  const float t10 = fma(fma(-3.433068e-10f, t5, -8.792587e-09f), t5, 1.6817658e-08f);
  const float t16 = fma(fma(fma(t10, t5, 3.3573622e-06f), t5, -2.7859722e-05f), t5,
      -0.00017786368f);
  const float t22 = fma(fma(fma(t16, t5, 0.0027724614f), t5, 0.0015391676f), t5,
      -0.14670597f);
  const float t24 = fma(t22, t5, 0.5700017f);
  const float t25 = t24 * t24;
  const float t26 = t25 * t25;
  const float t27 = t26 * t26;
  const float t28 = t27 * t27;
  const float y = t28 * t28;
  return (x < 0.0f) ? (2.0f - y) : y;
}

}  // namespace gb

#endif
