// Steps that some processors have an instruction for.
//
// Written by `make generate` from gpubcast/hlo/elementary/native.py; do not edit.
#ifndef GB_ELEMENTARY_NATIVE_CUH
#define GB_ELEMENTARY_NATIVE_CUH

#include "scalar.cuh"

namespace gb {

// x > 0 times a power of two, from 3/4 to below 3/2; any number, where x is another one.
GB_FN float mantissa(float x) {
  GB_ENTER
  const u32 word = bits_as<u32>((x < 1.1754944e-38f) ? (x * 16777216.0f) : x) - 0x3f400000u;
  return bits_as<float>((word & 0x7fffffu) + 0x3f400000u);
}

// x > 0 times a power of two, from 3/4 to below 3/2; any number, where x is another one.
GB_FN double mantissa(double x) {
  GB_ENTER
  const u64 t6 = bits_as<u64>((x < 2.2250738585072014e-308) ? (x * 9007199254740992.0) : x);
  const u64 word = t6 - 0x3fe8000000000000ull;
  const double t12 = bits_as<double>((word & 0xfffffffffffffull) + 0x3fe8000000000000ull);
  return t12;
}

// The exponent of the power of two next below x > 0; any number, where x is another one.
GB_FN float exponent(float x) {
  GB_ENTER
  const bool small = x < 1.1754944e-38f;
  const u32 word = bits_as<u32>(small ? (x * 16777216.0f) : x);
  const float whole = bits_as<float>((word >> 23) | 0x4b000000u);
  return whole - (small ? (8388735.0f + 24.0f) : 8388735.0f);
}

// The exponent of the power of two next below x > 0; any number, where x is another one.
GB_FN double exponent(double x) {
  GB_ENTER
  const bool small = x < 2.2250738585072014e-308;
  const u64 word = bits_as<u64>(small ? (x * 9007199254740992.0) : x);
  const double whole = bits_as<double>((word >> 52) | 0x4330000000000000ull);
  const double t16 = whole - (small ? (4503599627371519.0 + 53.0) : 4503599627371519.0);
  return t16;
}

// y 2^n, rounded once, for a whole n of less than twice the largest exponent on either side and
// 1/64 <= abs(y) < 4; where y is NaN so is n.
GB_FN float scaled(float y, float n) {
  GB_ENTER
  const u32 both = bits_as<u32>(n + 12583166.0f);
  const u32 half = both >> 1;
  const float t14 = (y * bits_as<float>(half << 23)) * bits_as<float>((both - half) << 23);
  return t14;
}

// y 2^n, rounded once, for a whole n of less than twice the largest exponent on either side and
// 1/64 <= abs(y) < 4; where y is NaN so is n.
GB_FN double scaled(double y, double n) {
  GB_ENTER
  const u64 both = bits_as<u64>(n + 6755399441057790.0);
  const u64 half = both >> 1;
  const double t14 = (y * bits_as<double>(half << 52)) * bits_as<double>((both - half) << 52);
  return t14;
}

// y 2^n, rounded once, for a whole n from -151 (F32) or -1077 (F64) to 64 and
// 1/2 <= abs(y) < 4; where y is NaN so is n.
GB_FN float scaled_down(float y, float n) {
  GB_ENTER
  const u32 word = bits_as<u32>(n + 12583065.0f);
  return (y * bits_as<float>(word << 23)) * 1.4901161e-08f;
}

// y 2^n, rounded once, for a whole n from -151 (F32) or -1077 (F64) to 64 and
// 1/2 <= abs(y) < 4; where y is NaN so is n.
GB_FN double scaled_down(double y, double n) {
  GB_ENTER
  const u64 word = bits_as<u64>(n + 6755399441056822.0);
  return (y * bits_as<double>(word << 52)) * 2.7755575615628914e-17;
}

// y, a logarithm of x, where x is positive and finite, and the logarithm elsewhere.
GB_FN float log_domain(float x, float y) {
  GB_ENTER
  const float edge = (x == 0.0f) ? bits_as<float>(0xff800000u) : bits_as<float>(0x7fc00000u);
  const float t11 = (x > 0.0f) ? ((x < bits_as<float>(0x7f800000u)) ? y : x) : edge;
  return t11;
}

// y, a logarithm of x, where x is positive and finite, and the logarithm elsewhere.
GB_FN double log_domain(double x, double y) {
  GB_ENTER
  const double edge = (x == 0.0) ? bits_as<double>(0xfff0000000000000ull) :
      bits_as<double>(0x7ff8000000000000ull);
  const double t11 = (x > 0.0) ? ((x < bits_as<double>(0x7ff0000000000000ull)) ? y : x) :
      edge;
  return t11;
}

}  // namespace gb

#endif
