// Element types, vector memory access and fast division.
//
// No CUDA header is included: NVRTC alone compiles this. Under GB_EMU the same text is compiled for
// the CPU by tests/support/emulator; every piece of PTX has its host twin beside it.
#ifndef GB_PRELUDE_CUH
#define GB_PRELUDE_CUH

// GB_ENTER is the first line of an elementary function; the emulator counts there.
#ifdef GB_EMU
#define GB_FN inline
#define GB_RARE inline
#define GB_UNROLL
#define GB_ROLLED
#define GB_TABLE static const
#define GB_ENTER emu::Evaluation evaluation;
#else
#define GB_FN __device__ __forceinline__
#define GB_RARE static __device__ __noinline__  // called by few threads, so kept out of their way
#define GB_UNROLL _Pragma("unroll")
#define GB_ROLLED _Pragma("unroll 1")
#define GB_TABLE static __device__ const
#define GB_ENTER
#endif

namespace gb {

// --- types ---------------------------------------------------------------------------------------

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

// Storage types: what an element is in memory. Integers, float and double store as themselves.
struct pred { u8 byte; };  // any non-zero byte reads as true; 0 and 1 are written
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e5m2 { u8 bits; };
struct f8e4m3fn { u8 bits; };
struct f8e4m3b11fnuz { u8 bits; };
struct f8e4m3fnuz { u8 bits; };
struct f8e5m2fnuz { u8 bits; };
struct s4 { u8 byte; };  // the low 4 bits; the others are not read, and written as 0
struct u4 { u8 byte; };

// What is in no memory: the element at address 8 * i is i. A load only looks at the address.
struct index { i64 value; };

// A complex number: a storage type and its own compute type.
template <class F> struct alignas(2 * sizeof(F)) complex { F re, im; };
using c64 = complex<float>;
using c128 = complex<double>;

// The type an operation runs in.
template <class T> struct Compute { using type = T; };
template <> struct Compute<pred> { using type = bool; };
template <> struct Compute<f16> { using type = float; };
template <> struct Compute<bf16> { using type = float; };
template <> struct Compute<f8e5m2> { using type = float; };
template <> struct Compute<f8e4m3fn> { using type = float; };
template <> struct Compute<f8e4m3b11fnuz> { using type = float; };
template <> struct Compute<f8e4m3fnuz> { using type = float; };
template <> struct Compute<f8e5m2fnuz> { using type = float; };
template <> struct Compute<s4> { using type = i8; };
template <> struct Compute<u4> { using type = u8; };
template <> struct Compute<index> { using type = i64; };
template <class T> using compute_t = typename Compute<T>::type;

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;
template <class C> constexpr bool is_float = same<C, float> || same<C, double>;
template <class T> constexpr bool is_complex = same<T, c64> || same<T, c128>;
template <class T> constexpr bool is_narrow_float = same<compute_t<T>, float> && sizeof(T) < 4;
template <class T> constexpr bool is_f8 = is_narrow_float<T> && sizeof(T) == 1;
template <class T> constexpr int bits_of = same<T, s4> || same<T, u4> ? 4 : 8 * sizeof(T);

// The first sizeof(To) bytes of a value, read as another type (both sides are little-endian).
template <class To, class From> GB_FN To bits_as(From x) {
  static_assert(sizeof(To) <= sizeof(From), "bits_as never invents bytes");
  union { From from; To to; } u;
  u.from = x;
  return u.to;
}

// --- f16 and bf16: round to nearest even, denormals kept, NaN stays NaN --------------------------

// The hardware's conversions know one NaN, whatever the sign and payload of theirs was; so do the
// host twins. Source: the host code of NVIDIA's cuda_fp16.hpp and cuda_bf16.hpp.
constexpr u16 NAN_16 = 0x7fff;
constexpr u32 NAN_32 = 0x7fffffff;

GB_FN float f16_to_f32(u16 bits) {
#ifdef GB_EMU
  if ((bits & 0x7fff) > 0x7c00) return bits_as<float>(NAN_32);
  return static_cast<float>(bits_as<_Float16>(bits));
#else
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
#endif
}

GB_FN u16 f32_to_f16(float x) {
#ifdef GB_EMU
  return x != x ? NAN_16 : bits_as<u16>(static_cast<_Float16>(x));
#else
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#endif
}

GB_FN float bf16_to_f32(u16 bits) { return bits_as<float>(static_cast<u32>(bits) << 16); }

GB_FN u16 f32_to_bf16(float x) {
#if !defined(GB_EMU) && __CUDA_ARCH__ >= 800
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
#else
  const u32 bits = bits_as<u32>(x);
  if (x != x) return NAN_16;
  return static_cast<u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
#endif
}

// --- f8: the same ---------------------------------------------------------------------------------

// What the largest codes mean. IEEE: infinity, then NaN. FN: the last one is NaN. FNUZ: all are
// finite; the code of -0.0, which does not exist, is NaN.
enum Specials { IEEE, FN, FNUZ };
template <class T> struct F8;
template <> struct F8<f8e5m2> { static constexpr int MANTISSA = 2, BIAS = 15, KIND = IEEE; };
template <> struct F8<f8e4m3fn> { static constexpr int MANTISSA = 3, BIAS = 7, KIND = FN; };
template <> struct F8<f8e4m3b11fnuz> { static constexpr int MANTISSA = 3, BIAS = 11, KIND = FNUZ; };
template <> struct F8<f8e4m3fnuz> { static constexpr int MANTISSA = 3, BIAS = 8, KIND = FNUZ; };
template <> struct F8<f8e5m2fnuz> { static constexpr int MANTISSA = 2, BIAS = 16, KIND = FNUZ; };

template <class T> GB_FN float f8_to_f32(u8 bits) {
  using F = F8<T>;
  const u32 code = bits & 0x7f, sign = static_cast<u32>(bits & 0x80) << 24;
  constexpr u32 unit = static_cast<u32>(128 - F::BIAS - F::MANTISSA) << 23;  // of the denormals
  u32 word = (code << (23 - F::MANTISSA)) + (static_cast<u32>(127 - F::BIAS) << 23);
  if (code < 1u << F::MANTISSA) word = bits_as<u32>(static_cast<float>(code) * bits_as<float>(unit));
  if (F::KIND == IEEE && code >= 0x7c) word = code == 0x7c ? 0x7f800000 : 0x7fc00000;
  if (F::KIND == FN && code == 0x7f) word = 0x7fc00000;
  if (F::KIND == FNUZ && bits == 0x80) word = 0x7fc00000;
  return bits_as<float>(word | sign);
}

template <class T> GB_FN u8 f32_to_f8(float x) {
  using F = F8<T>;
  constexpr u32 end = F::KIND == IEEE ? 0x7c : F::KIND == FN ? 0x7f : 0x80;  // first not finite
  constexpr int dropped = 23 - F::MANTISSA;
  const u32 word = bits_as<u32>(x), size = word & 0x7fffffff, sign = word >> 24 & 0x80;
  u32 code = (size + ((1u << (dropped - 1)) - 1) + (size >> dropped & 1)) >> dropped;
  code -= static_cast<u32>(127 - F::BIAS) << F::MANTISSA;
  if (size < static_cast<u32>(128 - F::BIAS) << 23) {
    // Denormal: the last place of this sum is their unit.
    constexpr u32 large = static_cast<u32>(151 - F::BIAS - F::MANTISSA) << 23;
    code = bits_as<u32>(bits_as<float>(size) + bits_as<float>(large)) - large;
  }
  if (code > end) code = end;
  if (x != x) code = F::KIND == IEEE ? 0x7e : end;
  if (F::KIND == FNUZ) return static_cast<u8>(code == 0 || code == end ? code : code | sign);
  return static_cast<u8>(code | sign);
}

// --- storage and compute types -------------------------------------------------------------------

template <class T> GB_FN compute_t<T> to_compute(T x) {
  if constexpr (same<T, pred>) return x.byte != 0;
  else if constexpr (same<T, s4>) return static_cast<i8>(static_cast<i8>(x.byte << 4) >> 4);
  else if constexpr (same<T, u4>) return static_cast<u8>(x.byte & 15);
  else if constexpr (is_f8<T>) return f8_to_f32<T>(x.bits);
  else if constexpr (same<T, f16>) return f16_to_f32(x.bits);
  else if constexpr (same<T, bf16>) return bf16_to_f32(x.bits);
  else if constexpr (same<T, index>) return x.value;
  else return x;
}

template <class T> GB_FN T from_compute(compute_t<T> c) {
  if constexpr (same<T, pred>) return pred{static_cast<u8>(c)};
  else if constexpr (bits_of<T> == 4) return T{static_cast<u8>(c & 15)};
  else if constexpr (is_f8<T>) return T{f32_to_f8<T>(c)};
  else if constexpr (same<T, f16>) return f16{f32_to_f16(c)};
  else if constexpr (same<T, bf16>) return bf16{f32_to_bf16(c)};
  else return c;
}

// The value as memory would hold it, back in the compute type.
template <class T> GB_FN compute_t<T> round_to(compute_t<T> c) {
  return to_compute<T>(from_compute<T>(c));
}

// The storage bits of a padding value: what does not fit into a word is 0.
template <class T> GB_FN T padding_as(u64 bits) {
  if constexpr (same<T, c128>) return {bits_as<double>(bits), 0};
  else return bits_as<T>(bits);
}

// --- division by a run-time constant: Granlund and Montgomery, 1994 ------------------------------

// d: divisor, 1 <= d <= 2^31; s = ceil(log2 d); m = floor(2^32 (2^s - d) / d) + 1; n < 2^31.
struct FastDiv { u32 d, m, s; };
// The same with 64 bits: 1 <= d <= 2^63, n < 2^63.
struct FastDiv64 { u64 d, m, s; };

// n < 2^12 and 1 <= d <= 2^12, in a product fewer: minus = -d, s = 12 + ceil(log2 d),
// m = ceil(2^s / d).
struct ShortDiv { u32 minus, m, s; };

GB_FN u32 divide(u32 n, const FastDiv& by) { return (__umulhi(n, by.m) + n) >> by.s; }
GB_FN u64 divide(u64 n, const FastDiv64& by) { return (__umul64hi(n, by.m) + n) >> by.s; }

// Returns n mod d and leaves n / d in n.
template <class N, class D> GB_FN N take(N& n, const D& by) {
  const N quotient = divide(n, by);
  const N remainder = n - quotient * by.d;
  n = quotient;
  return remainder;
}

GB_FN u32 take(u32& n, const ShortDiv& by) {
  const u32 quotient = n * by.m >> by.s;
  const u32 remainder = n + quotient * by.minus;
  n = quotient;
  return remainder;
}

// --- memory --------------------------------------------------------------------------------------

// V elements.
template <class T, int V> struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) Vec {
  T data[V];
};

#ifdef GB_EMU
template <int SLOT, int BYTES, int SIZE = 4>
GB_FN void access_stream(void* to, const void* from) {
  emu::read(SLOT, to, from, BYTES, false);
}
template <int SLOT, int BYTES, int SIZE = 4>
GB_FN void access_keep(void* to, const void* from) {
  emu::read(SLOT, to, from, BYTES, true);
}
template <int SLOT, int BYTES, int SIZE = 4>
GB_FN void access_store(void* to, const void* from) {
  emu::write(SLOT, to, from, BYTES);
}
#else
// Every global access is a volatile asm, so they keep the program's order: all loads of a tile are
// issued before its first store, and an operand may be overwritten in place. For that reason the
// loads do not use the read-only (.nc) path either. 32 bytes are one access from sm_100 on. An
// element of 8 bytes is a pair of registers, two of 4 bytes are two.
#if __CUDA_ARCH__ >= 1000 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1209
#define GB_LOAD_32(NAME, HINT)                                                                    \
      u32* w = static_cast<u32*>(to);                                                             \
      asm volatile("ld.global" HINT ".v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"             \
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]),      \
                     "=r"(w[6]), "=r"(w[7]) : "l"(from));
#define GB_STORE_32                                                                               \
    const u32* w = static_cast<const u32*>(from);                                                 \
    asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"                       \
                 :: "l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]),    \
                    "r"(w[6]), "r"(w[7]) : "memory");
#else
#define GB_LOAD_32(NAME, HINT)                                                                    \
      NAME<SLOT, 16>(to, from);                                                                   \
      NAME<SLOT, 16>(static_cast<char*>(to) + 16, static_cast<const char*>(from) + 16);
#define GB_STORE_32                                                                               \
    access_store<SLOT, 16>(to, from);                                                             \
    access_store<SLOT, 16>(static_cast<char*>(to) + 16, static_cast<const char*>(from) + 16);
#endif
#define GB_DEFINE_LOAD(NAME, HINT)                                                                \
  template <int SLOT, int BYTES, int SIZE = 4> GB_FN void NAME(void* to, const void* from) {      \
    if constexpr (BYTES == 32) {                                                                  \
      GB_LOAD_32(NAME, HINT)                                                                      \
    } else if constexpr (BYTES == 16) {                                                                  \
      u32* w = static_cast<u32*>(to);                                                             \
      asm volatile("ld.global" HINT ".v4.u32 {%0, %1, %2, %3}, [%4];"                             \
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "l"(from));                 \
    } else if constexpr (SIZE == 8 && BYTES == 8) {                                               \
      asm volatile("ld.global" HINT ".u64 %0, [%1];" : "=l"(*static_cast<u64*>(to)) : "l"(from)); \
    } else if constexpr (BYTES == 8) {                                                            \
      u32* w = static_cast<u32*>(to);                                                             \
      asm volatile("ld.global" HINT ".v2.u32 {%0, %1}, [%2];"                                     \
                   : "=r"(w[0]), "=r"(w[1]) : "l"(from));                                         \
    } else if constexpr (BYTES == 4) {                                                            \
      asm volatile("ld.global" HINT ".u32 %0, [%1];" : "=r"(*static_cast<u32*>(to)) : "l"(from)); \
    } else if constexpr (BYTES == 2) {                                                            \
      asm volatile("ld.global" HINT ".u16 %0, [%1];" : "=h"(*static_cast<u16*>(to)) : "l"(from)); \
    } else {                                                                                      \
      u32 w;                                                                                      \
      asm volatile("ld.global" HINT ".u8 %0, [%1];" : "=r"(w) : "l"(from));                       \
      *static_cast<u8*>(to) = static_cast<u8>(w);                                                 \
    }                                                                                             \
  }
GB_DEFINE_LOAD(access_stream, ".L1::no_allocate")
GB_DEFINE_LOAD(access_keep, "")
#undef GB_DEFINE_LOAD
#undef GB_LOAD_32

template <int SLOT, int BYTES, int SIZE = 4>
GB_FN void access_store(void* to, const void* from) {
  if constexpr (BYTES == 32) {
    GB_STORE_32
  } else if constexpr (BYTES == 16) {
    const u32* w = static_cast<const u32*>(from);
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :: "l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
  } else if constexpr (SIZE == 8 && BYTES == 8) {
    const u64 w = *static_cast<const u64*>(from);
    asm volatile("st.global.u64 [%0], %1;" :: "l"(to), "l"(w) : "memory");
  } else if constexpr (BYTES == 8) {
    const u32* w = static_cast<const u32*>(from);
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" :: "l"(to), "r"(w[0]), "r"(w[1]) : "memory");
  } else if constexpr (BYTES == 4) {
    const u32 w = *static_cast<const u32*>(from);
    asm volatile("st.global.u32 [%0], %1;" :: "l"(to), "r"(w) : "memory");
  } else if constexpr (BYTES == 2) {
    const u16 w = *static_cast<const u16*>(from);
    asm volatile("st.global.u16 [%0], %1;" :: "l"(to), "h"(w) : "memory");
  } else {
    const u32 w = *static_cast<const u8*>(from);
    asm volatile("st.global.u8 [%0], %1;" :: "l"(to), "r"(w) : "memory");
  }
}
#undef GB_STORE_32
#endif

// The widest access.
template <class T> constexpr int MOST = 32 / sizeof(T);

// V elements, at most W of them at a time. SLOT is the operand's number in the parameters; only the
// emulator's statistics use it.
#define GB_DEFINE_VECTOR_LOAD(NAME, ACCESS)                                                       \
  template <int SLOT, int V, int W = V, class T> GB_FN Vec<T, V> NAME(const T* at) {              \
    constexpr int PART = V < W ? V : W, STEP = PART < MOST<T> ? PART : MOST<T>;                   \
    Vec<T, V> v;                                                                                  \
    GB_UNROLL for (int k = 0; k < V; k += STEP) {                                                 \
      ACCESS<SLOT, STEP * sizeof(T), sizeof(T)>(v.data + k, at + k);                              \
    }                                                                                             \
    return v;                                                                                     \
  }
GB_DEFINE_VECTOR_LOAD(ld_once, access_stream)  // read once: leaves no line in L1
GB_DEFINE_VECTOR_LOAD(ld_keep, access_keep)    // read again by this block or its neighbours
#undef GB_DEFINE_VECTOR_LOAD

template <int SLOT, int V, int W = V> GB_FN Vec<index, V> ld_keep(const index* at) {
  Vec<index, V> v;
  GB_UNROLL for (int k = 0; k < V; ++k) v.data[k].value = (reinterpret_cast<i64>(at) >> 3) + k;
  return v;
}

// Each element is read once: parts of a vector share a sector, which L1 keeps for the others.
template <int SLOT, int V, int W = V, class T> GB_FN Vec<T, V> ld_stream(const T* at) {
  if constexpr (W < V || same<T, index>) return ld_keep<SLOT, V, W>(at);
  else return ld_once<SLOT, V>(at);
}

template <int SLOT, int V, class T> GB_FN void st_stream(T* at, const Vec<T, V>& v) {
  constexpr int STEP = V < MOST<T> ? V : MOST<T>;
  GB_UNROLL for (int k = 0; k < V; k += STEP) {
    access_store<SLOT, STEP * sizeof(T), sizeof(T)>(at + k, v.data + k);
  }
}

template <class T> GB_FN T* address(u64 slot) { return reinterpret_cast<T*>(slot); }

// The same address, or word, which the compiler keeps in a register: it would compute it anew for
// each element, or where two ways join.
template <class T> GB_FN T* fixed(T* at) {
#ifndef GB_EMU
  asm("" : "+l"(at));
#endif
  return at;
}

GB_FN u32 fixed(u32 word) {
#ifndef GB_EMU
  asm("" : "+r"(word));
#endif
  return word;
}

constexpr int BLOCK = 256;  // threads of a block, in every schedule

}  // namespace gb

#endif
