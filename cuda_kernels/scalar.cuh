// XLA's semantics on single values, in compute types: what the expressions of gpubcast/hlo/ops.py call.
//
// sqrt, floor, fabs, fma, rint, trunc and fmod are CUDA's own overloads from the global namespace,
// and so is every elementary function that has no header of its own (elementary/*.cuh).
#ifndef GB_SCALAR_CUH
#define GB_SCALAR_CUH

#include "operands.cuh"

namespace gb {

template <class T> constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
template <class T> constexpr int width = 8 * sizeof(T);

template <int BYTES> struct UnsignedOf;
template <> struct UnsignedOf<1> { using type = u8; };
template <> struct UnsignedOf<2> { using type = u16; };
template <> struct UnsignedOf<4> { using type = u32; };
template <> struct UnsignedOf<8> { using type = u64; };
template <class T> using unsigned_t = typename UnsignedOf<sizeof(T)>::type;
template <int BYTES> struct SignedOf;
template <> struct SignedOf<4> { using type = i32; };
template <> struct SignedOf<8> { using type = i64; };
template <class T> using signed_t = typename SignedOf<sizeof(T)>::type;

// Unsigned, and wide enough not to be promoted to int: arithmetic in it wraps.
template <class T> using wrapping_t = typename UnsignedOf<(sizeof(T) < 4 ? 4 : sizeof(T))>::type;

// --- integers: wrap, and no operand is undefined -------------------------------------------------

template <class T> GB_FN T add(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}

template <class T> GB_FN T sub(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}

template <class T> GB_FN T mul(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}

template <class T> GB_FN T neg(T a) { return sub(static_cast<T>(0), a); }

// x / 0 is -1 (all ones); INT_MIN / -1 is INT_MIN.
template <class T> GB_FN T div(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (is_signed<T> && b == static_cast<T>(-1)) return neg(a);
  return static_cast<T>(a / b);
}

// x rem 0 is x; INT_MIN rem -1 is 0.
template <class T> GB_FN T rem(T a, T b) {
  if (b == 0) return a;
  if (is_signed<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

template <class T> GB_FN T pow_unsigned(T a, T b) {
  T result = 1;
  for (unsigned_t<T> rest = static_cast<unsigned_t<T>>(b); rest != 0; rest >>= 1) {
    if (rest & 1) result = mul(result, a);
    a = mul(a, a);
  }
  return result;
}

// A negative exponent gives 0, unless the base is 1 or -1.
template <class T> GB_FN T pow_signed(T a, T b) {
  if (b >= 0) return pow_unsigned(a, b);
  if (a == 1) return 1;
  if (a == static_cast<T>(-1)) return (b & 1) ? static_cast<T>(-1) : static_cast<T>(1);
  return 0;
}

// Shifts read the amount as unsigned; at or past the width only copies of the filling bit are left.
template <class T> GB_FN T shift_left(T a, T b) {
  const unsigned_t<T> amount = static_cast<unsigned_t<T>>(b);
  return amount < width<T> ? static_cast<T>(static_cast<wrapping_t<T>>(a) << amount) : T(0);
}

// BITS: the width of the element type, which may have less than its compute type.
template <int BITS, class T> GB_FN T shift_right_logical(T a, T b) {
  constexpr unsigned_t<T> all = static_cast<unsigned_t<T>>(~unsigned_t<T>(0));
  const unsigned_t<T> amount = static_cast<unsigned_t<T>>(b);
  const unsigned_t<T> bits = static_cast<unsigned_t<T>>(a) & (all >> (width<T> - BITS));
  return amount < width<T> ? static_cast<T>(bits >> amount) : T(0);
}

// The top bit is replicated on unsigned types too, as XLA does.
template <int BITS, class T> GB_FN T shift_right_arithmetic(T a, T b) {
  const unsigned_t<T> amount = static_cast<unsigned_t<T>>(b);
  constexpr int spare = width<T> - BITS;
  const int by = (amount < BITS ? static_cast<int>(amount) : BITS - 1) + spare;
  a = static_cast<T>(static_cast<wrapping_t<T>>(a) << spare);
  if constexpr (sizeof(T) == 8) return static_cast<T>(static_cast<i64>(a) >> by);
  else if constexpr (sizeof(T) == 4) return static_cast<T>(static_cast<i32>(a) >> by);
  else if constexpr (sizeof(T) == 2) return static_cast<T>(static_cast<i16>(a) >> by);
  else return static_cast<T>(static_cast<i8>(a) >> by);
}

GB_FN int leading_zeros(u32 x) {
#ifdef GB_EMU
  return x == 0 ? 32 : __builtin_clz(x);
#else
  return __clz(static_cast<int>(x));
#endif
}

GB_FN int leading_zeros(u64 x) {
#ifdef GB_EMU
  return x == 0 ? 64 : __builtin_clzll(x);
#else
  return __clzll(static_cast<i64>(x));
#endif
}

// BITS: the width of the element type, as above.
template <int BITS, class T> GB_FN T count_leading_zeros(T x) {
  const u64 bits = static_cast<u64>(x) & (~u64(0) >> (64 - BITS));
  if constexpr (BITS <= 32) return static_cast<T>(leading_zeros(static_cast<u32>(bits)) - (32 - BITS));
  else return static_cast<T>(leading_zeros(bits));
}

template <int BITS, class T> GB_FN T population_count(T x) {
  const u64 bits = static_cast<u64>(x) & (~u64(0) >> (64 - BITS));
#ifdef GB_EMU
  return static_cast<T>(__builtin_popcountll(bits));
#else
  return static_cast<T>(BITS <= 32 ? __popc(static_cast<u32>(bits)) : __popcll(bits));
#endif
}

// --- complex numbers: the textbook's formulas, infinities are not recovered from NaN ---------------

template <class F> GB_FN complex<F> make_complex(F re, F im) { return {re, im}; }

template <class F> GB_FN F real(complex<F> x) { return x.re; }
template <class F> GB_FN F imag(complex<F> x) { return x.im; }
GB_FN float imag(float) { return 0; }
GB_FN double imag(double) { return 0; }
template <class F> GB_FN complex<F> conj(complex<F> x) { return {x.re, -x.im}; }
template <class F> GB_FN complex<F> conj(F x) { return {x, -F(0)}; }

template <class F> GB_FN complex<F> operator+(complex<F> a, complex<F> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class F> GB_FN complex<F> operator-(complex<F> a, complex<F> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class F> GB_FN complex<F> operator-(complex<F> a) { return {-a.re, -a.im}; }
template <class F> GB_FN complex<F> operator*(complex<F> a, complex<F> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class F> GB_FN bool operator==(complex<F> a, complex<F> b) {
  return a.re == b.re && a.im == b.im;
}
template <class F> GB_FN bool operator!=(complex<F> a, complex<F> b) { return !(a == b); }

// --- constant powers: squares, and products from the lowest bit of the exponent on ----------------

template <class T> GB_FN T one(T) { return 1; }
template <class F> GB_FN complex<F> one(complex<F>) { return {1, 0}; }
template <class T> GB_FN T product(T a, T b) {
  if constexpr (is_float<T>) return a * b;
  else return mul(a, b);
}
template <class F> GB_FN complex<F> product(complex<F> a, complex<F> b) { return a * b; }

// done * x^N
template <u64 N, class T> GB_FN T times_power(T done, T x) {
  if constexpr (N & 1) done = product(done, x);
  if constexpr (N > 1) return times_power<(N >> 1)>(done, product(x, x));
  else return done;
}

// x^|Y|
template <i64 Y, class T> GB_FN T integer_pow(T x) {
  if constexpr (Y < 0) return integer_pow<-Y>(x);
  else if constexpr (Y == 0) return one(x);
  else if constexpr (Y == 1) return x;
  else if constexpr (Y & 1) return times_power<(Y >> 1)>(x, product(x, x));
  else return integer_pow<(Y >> 1)>(product(x, x));
}

// --- order: a NaN in any operand is the result ---------------------------------------------------

template <class T> GB_FN T max(T a, T b) { return a > b || a != a ? a : b; }
template <class T> GB_FN T min(T a, T b) { return a < b || a != a ? a : b; }
template <class T> GB_FN T clamp(T lo, T x, T hi) { return min(max(lo, x), hi); }

// x and a limit, which is no NaN: one instruction, where NVVM makes a comparison and a choice of the
// other text.
GB_FN float at_least(float x, float low) {
#if !defined(GB_EMU) && __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(low));
  return y;
#else
  return x < low ? low : x;
#endif
}

GB_FN float at_most(float x, float high) {
#if !defined(GB_EMU) && __CUDA_ARCH__ >= 800
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(high));
  return y;
#else
  return x > high ? high : x;
#endif
}

// NaN and signed zeros are returned as they are.
template <class T> GB_FN T sign(T x) {
  return x > 0 ? static_cast<T>(1) : x < 0 ? static_cast<T>(-1) : x;
}

GB_FN bool is_finite(float x) { return fabs(x) < bits_as<float>(0x7f800000u); }
GB_FN bool is_finite(double x) { return fabs(x) < bits_as<double>(0x7ff0000000000000ull); }

GB_FN bool is_infinite(float x) { return fabs(x) == bits_as<float>(0x7f800000u); }
GB_FN bool is_infinite(double x) { return fabs(x) == bits_as<double>(0x7ff0000000000000ull); }
template <class F> GB_FN bool is_infinite(complex<F> x) {
  return is_infinite(x.re) || is_infinite(x.im);
}

// --- signs: of zeros and NaN, too ----------------------------------------------------------------

GB_FN bool sign_bit(float x) { return bits_as<unsigned>(x) >> 31; }
GB_FN bool sign_bit(double x) { return bits_as<unsigned long long>(x) >> 63; }
// Signs of f16 and bf16 from their storage bits: the conversion of an f16 NaN to f32 loses its sign.
GB_FN bool sign_bit(u16 bits) { return bits >> 15; }
GB_FN float copy_sign(float x, float y) {
  return bits_as<float>((bits_as<unsigned>(x) & 0x7fffffffu) | (bits_as<unsigned>(y) & 0x80000000u));
}
GB_FN float copy_sign(float x, u16 bits) {
  return copy_sign(x, bits_as<float>(static_cast<unsigned>(bits) << 16));
}
GB_FN double copy_sign(double x, double y) {
  const unsigned long long sign = 0x8000000000000000ull;
  return bits_as<double>((bits_as<unsigned long long>(x) & ~sign) |
                         (bits_as<unsigned long long>(y) & sign));
}

// --- whole numbers and neighbours ----------------------------------------------------------------

template <class F> GB_FN F round_even(F x) { return rint(x); }

// Halves are rounded away from zero.
template <class F> GB_FN F round_away_from_zero(F x) {
  const F whole = trunc(x);
  return fabs(x - whole) < F(0.5) ? whole : whole + (x < 0 ? F(-1) : F(1));
}

// The next number of type T from x towards y, by its code: sign and magnitude.
template <class T> GB_FN compute_t<T> nextafter(compute_t<T> x, compute_t<T> y) {
  using W = wrapping_t<T>;
  if (x != x) return x;
  if (y != y) return y;
  if (x == y) return y;
  const W sign = W(1) << (width<T> - 1);
  W code = bits_as<unsigned_t<T>>(from_compute<T>(x)) & (sign - 1);
  if (x == 0) code = 1;
  else code += (x < y) == (x > 0) ? W(1) : ~W(0);
  const compute_t<T> size = to_compute(bits_as<T>(static_cast<unsigned_t<T>>(code)));
  // A sign is put onto the number: some types have no -0.0.
  return (x == 0 ? y : x) < 0 ? -size : size;
}

// --- conversions ---------------------------------------------------------------------------------

// 2^n, exact in both float types.
template <class F> GB_FN constexpr F two_to(int n) {
  F x = 1;
  for (int i = 0; i < n; ++i) x *= 2;
  return x;
}

// Float to integer: truncates, saturates, NaN is 0.
template <class T, int BITS = width<T>, class F> GB_FN T saturate(F x) {
  constexpr F end = two_to<F>(BITS - is_signed<T>);  // the first value too large
  constexpr F low = is_signed<T> ? -end : F(0);
  constexpr unsigned_t<T> all = static_cast<unsigned_t<T>>(~unsigned_t<T>(0));
  constexpr unsigned_t<T> top = all >> (width<T> - BITS + is_signed<T>);
  if (x != x) return 0;
  if (x >= end) return static_cast<T>(top);
  if (x <= low) return is_signed<T> ? static_cast<T>(~static_cast<T>(top)) : T(0);
  return static_cast<T>(x);
}

// f64 to f32, rounded to odd: an inexact result has its last bit set. Rounding that to f8, f16 or
// bf16 equals rounding the f64 once (Boldo and Melquiond, 2008), since f32 has at least two more bits.
GB_FN float round_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  u32 bits = bits_as<u32>(nearest);
  if (back == x || x != x || (bits & 1)) return nearest;
  const bool away = (x < 0 ? -back : back) > (x < 0 ? -x : x);
  bits += away ? ~0u : 1u;
  return bits_as<float>(bits);
}

// A 64-bit integer as a double that rounds to f8, f16 and bf16 as the integer does: from 2^32 on, the
// low 16 bits are folded into one sticky bit, which leaves at least 16 bits above it.
template <class T> GB_FN double folded(T x) {
  const bool negative = x < 0;
  const u64 magnitude = negative ? u64(0) - static_cast<u64>(x) : static_cast<u64>(x);
  const u64 kept = (magnitude >> 16) | ((magnitude & 0xffff) != 0);
  const double size = magnitude >> 32 ? static_cast<double>(kept) * 65536.0
                                      : static_cast<double>(static_cast<u32>(magnitude));
  return negative ? -size : size;
}

// A value of From as a float that rounds to f8, f16 and bf16 as the value does.
template <class From> GB_FN float roundable(compute_t<From> x) {
  using C = compute_t<From>;
  if constexpr (same<C, double>) return round_to_odd(x);
  else if constexpr (is_float<C> || sizeof(C) < 4) return static_cast<float>(x);
  else if constexpr (sizeof(C) == 4) return round_to_odd(static_cast<double>(x));
  else return round_to_odd(folded(x));
}

template <class T> struct PartOf { using type = T; };
template <class F> struct PartOf<complex<F>> { using type = F; };
template <class T> using part_t = typename PartOf<T>::type;

// XLA's convert between storage types, on compute values: to pred x != 0 (NaN is true), float to
// integer saturates, integers keep their low bits, everything else rounds once to nearest even.
// A complex number becomes real by losing its imaginary part.
template <class To, class From> GB_FN compute_t<To> convert(compute_t<From> x) {
  using C = compute_t<From>;
  using R = compute_t<To>;
  if constexpr (is_complex<C> && is_complex<R>)
    return {convert<part_t<To>, part_t<From>>(x.re), convert<part_t<To>, part_t<From>>(x.im)};
  else if constexpr (is_complex<C>) return convert<To, part_t<From>>(x.re);
  else if constexpr (is_complex<R>) return {convert<part_t<To>, From>(x), 0};
  else if constexpr (same<To, pred>) return x != C(0);
  else if constexpr (is_narrow_float<To>) return round_to<To>(roundable<From>(x));
  else if constexpr (is_float<C> && !is_float<R>) return saturate<R, bits_of<To>>(x);
  else if constexpr (bits_of<To> == 4) return round_to<To>(static_cast<R>(x));
  else return static_cast<R>(x);
}

// XLA's ReducePrecision to E exponent and M mantissa bits, on the bits of the element type (f8: of
// f16): the mantissa is rounded to nearest even, and what the exponent cannot hold becomes infinity
// or, denormals included, zero.
template <class T, int E, int M> GB_FN compute_t<T> reduce_precision(compute_t<T> x) {
  if constexpr (is_f8<T>) {
    return reduce_precision<f16, E, M>(x);
  } else {
    using W = wrapping_t<T>;
    constexpr int exponent = sizeof(T) == 8 ? 11 : same<T, f16> ? 5 : 8;
    constexpr int mantissa = width<T> - 1 - exponent;
    constexpr W sign = W(1) << (width<T> - 1), infinity = ((W(1) << exponent) - 1) << mantissa;
    W bits = bits_as<unsigned_t<T>>(from_compute<T>(x));
    if constexpr (M < mantissa) {
      constexpr W last = W(1) << (mantissa - M);
      bits = (bits + (last / 2 - 1) + (bits / last & 1)) & ~(last - 1);
    }
    if constexpr (E < exponent) {
      constexpr W bias = (W(1) << (exponent - 1)) - 1, own = (W(1) << (E - 1)) - 1;
      const W power = (bits & infinity) >> mantissa;
      if (power > bias + own) bits = (bits & sign) | infinity;
      if (power <= bias - own) bits &= sign;
    }
    return x != x ? x : to_compute(bits_as<T>(static_cast<unsigned_t<T>>(bits)));
  }
}

// Float bits as an integer whose order is the total order of floats: negative numbers count down.
GB_FN i32 total_order_key(float x) {
  const i32 bits = bits_as<i32>(x);
  return bits ^ static_cast<i32>(static_cast<u32>(bits >> 31) >> 1);
}
GB_FN i32 total_order_key(u16 bits) {
  const i32 x = static_cast<i16>(bits);
  return x ^ ((x >> 31) & 0x7fff);
}
GB_FN i64 total_order_key(double x) {
  const i64 bits = bits_as<i64>(x);
  return bits ^ static_cast<i64>(static_cast<u64>(bits >> 63) >> 1);
}

// The storage bits of a value, read as another type of the same width. What is only moved and
// reinterpreted arrives as bits (gpubcast/codegen/bit_carriers.py), so that its NaN are whole.
template <class To, class From> GB_FN compute_t<To> bitcast(compute_t<From> x) {
  static_assert(sizeof(To) == sizeof(From), "bitcast keeps the width");
  return to_compute(bits_as<To>(from_compute<From>(x)));
}

}  // namespace gb

#endif
