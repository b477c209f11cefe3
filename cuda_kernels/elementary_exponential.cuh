// exp and its relatives.
//
// Written by `make generate` from gpubcast/elementary/exponential.py; do not edit.
#ifndef GB_ELEMENTARY_EXPONENTIAL_CUH
#define GB_ELEMENTARY_EXPONENTIAL_CUH

#include "scalar.cuh"

namespace gb {

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN float exp(float x) {
  const float n = rint(x * 1.442695f);
  const float r = fma(n, 0.00021219444f, fma(n, -0.6933594f, x));
  const float t15 = fma(fma(fma(0.00019869854f, r, 0.001391735f), r, 0.008333535f), r,
      0.041665677f);
  const float y = fma(r * r, fma(fma(t15, r, 0.16666657f), r, 0.5f), r) + 1.0f;
  const u32 whole = bits_as<u32>(n + 12582912.0f) - 0x4b400000u;
  const u32 half = static_cast<u32>(static_cast<i32>(whole) >> 1);
  const float t40 = (y * bits_as<float>((half + 0x7fu) << 23)) * bits_as<float>(((whole -
      half) + 0x7fu) << 23);
  const float scaled = (x > 89.0f) ? bits_as<float>(0x7f800000u) : t40;
  return (x < (-104.0f)) ? 0.0f : scaled;
}

// e ** x: 2^n e^r with n = round(x / ln 2) and a polynomial in r.
GB_FN double exp(double x) {
  const double n = rint(x * 1.4426950408889634);
  const double r = fma(n, -1.9082149292705877e-10, fma(n, -0.6931471803691238, x));
  const double t13 = fma(fma(1.6059043836821613e-10, r, 2.08767569878681e-09), r,
      2.505210838544172e-08);
  const double t17 = fma(fma(t13, r, 2.755731922398589e-07), r, 2.7557319223985893e-06);
  const double t21 = fma(fma(t17, r, 2.48015873015873e-05), r, 0.0001984126984126984);
  const double t25 = fma(fma(t21, r, 0.001388888888888889), r, 0.008333333333333333);
  const double t29 = fma(fma(t25, r, 0.041666666666666664), r, 0.16666666666666666);
  const double y = fma(r * r, fma(t29, r, 0.5), r) + 1.0;
  const u64 whole = bits_as<u64>(n + 6755399441055744.0) - 0x4338000000000000ull;
  const u64 half = static_cast<u64>(static_cast<i64>(whole) >> 1);
  const double t52 = (y * bits_as<double>((half + 0x3ffull) << 52)) * bits_as<double>(((whole
      - half) + 0x3ffull) << 52);
  const double scaled = (x > 710.0) ? bits_as<double>(0x7ff0000000000000ull) : t52;
  return (x < (-746.0)) ? 0.0 : scaled;
}

}  // namespace gb

#endif
