// What threads of a block do together: shuffles, barriers and shared memory.
//
// A kernel that does is told apart by its parameters: their struct says COOPERATES.
#ifndef GB_COOPERATION_CUH
#define GB_COOPERATION_CUH

#include "prelude.cuh"

namespace gb {

constexpr u32 WARP = 32;

// A variable that all threads of a block share. Nothing is in it when a block begins.
#ifdef GB_EMU
#define GB_SHARED(TYPE, NAME)                                                                     \
  static TYPE NAME;                                                                               \
  emu::fresh(&NAME, sizeof(NAME));
#else
#define GB_SHARED(TYPE, NAME) __shared__ TYPE NAME;
#endif

// All threads of the block come here; what they stored is seen by all.
GB_FN void barrier() {
#ifdef GB_EMU
  emu::barrier();
#else
  __syncthreads();
#endif
}

GB_FN u32 shuffle_xor(u32 word, u32 mask) {
#ifdef GB_EMU
  emu::shuffle(&word, sizeof(word), (threadIdx.y * blockDim.x + threadIdx.x) ^ mask);
  return word;
#else
  return __shfl_xor_sync(~0u, word, static_cast<int>(mask));
#endif
}

// The value of the lane whose number differs in the bits of a mask. Every lane of the warp takes
// part.
template <class T> GB_FN T shuffle_xor(T x, u32 mask) {
  if constexpr (is_complex<T>) {
    return {shuffle_xor(x.re, mask), shuffle_xor(x.im, mask)};
  } else if constexpr (is_float<T> && sizeof(T) == 4) {
    return bits_as<float>(shuffle_xor(bits_as<u32>(x), mask));
  } else if constexpr (sizeof(T) == 8) {
    const u64 bits = bits_as<u64>(x);
    const u64 low = shuffle_xor(static_cast<u32>(bits), mask);
    const u64 high = shuffle_xor(static_cast<u32>(bits >> 32), mask);
    return bits_as<T>(high << 32 | low);
  } else {
    return static_cast<T>(shuffle_xor(static_cast<u32>(x), mask));
  }
}

}  // namespace gb

#endif
