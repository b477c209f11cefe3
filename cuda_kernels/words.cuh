// Words: four elements of one byte each, the first in the lowest byte, computed all at a time.
#ifndef GB_WORDS_CUH
#define GB_WORDS_CUH

#include "prelude.cuh"

namespace gb {

// Elements of less than four bytes that fill words; others have none.
template <int V, class T> constexpr bool fills_words = sizeof(T) < 4 && V * sizeof(T) % 4 == 0;

// Each byte of the result is one of the eight bytes b:a, by its number in a nibble of `chosen`.
GB_FN u32 permute(u32 a, u32 b, u32 chosen) {
#ifdef GB_EMU
  const u64 bytes = static_cast<u64>(b) << 32 | a;
  u32 word = 0;
  for (int i = 0; i < 4; ++i) {
    word |= static_cast<u32>(bytes >> 8 * (chosen >> 4 * i & 7) & 0xff) << 8 * i;
  }
  return word;
#else
  u32 word;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(a), "r"(b), "r"(chosen));
  return word;
#endif
}

// An element of one or two bytes at the lower end of a word.
template <class T> GB_FN u32 low_bits(T x) {
  if constexpr (sizeof(T) == 1) return bits_as<u8>(x);
  else return bits_as<u16>(x);
}

// pred: every byte that is not 0 becomes 1.
template <class T> GB_FN u32 canonical(u32 word) {
  if constexpr (!same<T, pred>) return word;
  return (((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word) >> 7 & 0x01010101;
}

// Two bytes, by a pipe that permutations leave idle.
template <class T> GB_FN u32 pair(const T* v) {
  u32 a = low_bits(v[0]), b = low_bits(v[1]);
#ifdef GB_EMU
  a += b << 8;
#else
  asm("mad.lo.u32 %0, %1, 256, %0;" : "+r"(a) : "r"(b));
#endif
  return a;
}

// Two elements of two bytes or four of one, in a word.
template <class T> GB_FN u32 joined(const T* v) {
  if constexpr (sizeof(T) == 2) return permute(low_bits(v[0]), low_bits(v[1]), 0x5410);
  else return permute(pair(v), pair(v + 2), 0x5410);
}

// The word of one element four times, of four elements, and of those from k on of a vector.
template <class T> GB_FN u32 word_of(T x) { return canonical<T>(permute(low_bits(x), 0, 0)); }
template <class T> GB_FN u32 word_of(T a, T b, T c, T d) {
  const T v[] = {a, b, c, d};
  return canonical<T>(joined(v));
}
template <class T> GB_FN u32 word_at(const T* four) { return canonical<T>(joined(four)); }
// W: how many elements of the vector are in one register.
template <int W, class T, int V> GB_FN u32 word_of(const Vec<T, V>& v, int k) {
  if (W == 1) return word_at(v.data + k);
  u32 word;
  memcpy(&word, v.data + k, 4);
  return canonical<T>(word);
}

// --- operations on words: integers wrap, of pred each byte is 0 or 1 -----------------------------

GB_FN u32 add_words(u32 a, u32 b) {
  return ((a & 0x7f7f7f7f) + (b & 0x7f7f7f7f)) ^ ((a ^ b) & 0x80808080);
}

GB_FN u32 sub_words(u32 a, u32 b) {
  return ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080);
}

GB_FN u32 select_words(u32 p, u32 a, u32 b) {
  const u32 mask = p * 255;
  return (a & mask) | (b & ~mask);
}

}  // namespace gb

#endif
