// The law of sums: in which order the elements of a sequence are combined.
//
// A sequence is cut into chunks of CHUNK elements; element e of a chunk goes to lane e mod LANES,
// and a lane combines its elements in their order. Lanes are combined by halves: lane l with lane
// l + 64, where there is one, then with l + 32, and so on. Chunks' results are a sequence again.
//
// So what lane l stands for after the step of S is the tree of the lanes l, l + S, l + 2 S, ...:
// R(l, S) = R(l, 2 S) with R(l + S, 2 S). A thread that takes lanes in the order of their reversed
// numbers completes such trees one after the other, and holds one value for each step. Lanes that
// are not there change nothing.
#ifndef GB_SEQUENCES_CUH
#define GB_SEQUENCES_CUH

#include "combination.cuh"
#include "cooperation.cuh"

namespace gb {

constexpr int LANES = 128;
constexpr int CHUNK = 4 * LANES;
// The most chunks of a sequence that one launch reduces to one value: 32,768 elements.
constexpr int MOST_CHUNKS = 64;
constexpr int LANE_STEPS = 7, CHUNK_STEPS = 6;

// A functor on sequences walks them in PASSES passes, whose numbers begin at 1; the walk after the
// last one is for results that have an element's index.
template <int P> struct Pass {};
// What the reductions of a pass have made of some elements.
template <class Body, int P> using terms_t = decltype(Body::none(Pass<P>{}));

// i with its lowest bits in opposite order; bits < 32
GB_FN u32 reversed(u32 i, u32 bits) {
#ifdef GB_EMU
  u32 turned = 0;
  for (u32 b = 0; b < bits; ++b) turned |= (i >> b & 1) << (bits - 1 - b);
  return turned;
#else
  return __brev(i) >> 1 >> (31 - bits);
#endif
}

// The least number whose power of two is at least n.
GB_FN u32 bits_for(u32 n) { return 32 - static_cast<u32>(leading_zeros(n - 1)); }

// Values combined by halves: they are given in the order of their reversed numbers, 2^STEPS at most.
template <class Body, class T, int STEPS> struct Halves {
  T open[STEPS + 1];  // of each step the value whose partner is still to come

  // i: how many values were given before
  GB_FN void add(u32 i, T value) {
    bool moves = true;
    GB_UNROLL for (int b = 0; b <= STEPS; ++b) {
      if (moves) {
        if (b < STEPS && (i >> b & 1)) {
          value = Body::combine(open[b], value);
        } else {
          open[b] = value;
          moves = false;
        }
      }
    }
  }

  // What 2^steps values came to.
  GB_FN T result(u32 steps) const {
    T found = open[0];
    GB_UNROLL for (int b = 1; b <= STEPS; ++b) {
      if (steps == static_cast<u32>(b)) found = open[b];
    }
    return found;
  }
};

// The lanes first, first + step, first + 2 step, ... of a chunk, 2^bits of them, by one thread.
// term(e): what element e is.
template <class Body, class T, class Term>
GB_FN T lanes_of_chunk(const T& none, i32 count, i32 first, i32 step, u32 bits, Term term) {
  Halves<Body, T, LANE_STEPS> halves;
  GB_ROLLED for (u32 i = 0; i < 1u << bits; ++i) {
    const i32 lane = first + step * static_cast<i32>(reversed(i, bits));
    T value = none;
    if (lane < count) {
      value = term(lane);
      GB_ROLLED for (i32 e = lane + LANES; e < count; e += LANES) {
        value = Body::combine(value, term(e));
      }
    }
    halves.add(i, value);
  }
  return halves.result(bits);
}

// Elements of the chunk that begins at an element of a sequence.
GB_FN i32 chunk_count(i64 length, i64 begin) {
  const i64 left = length - begin;
  return left >= CHUNK ? CHUNK : left > 0 ? static_cast<i32>(left) : 0;
}

// A whole sequence by one thread. term(j): what its element j is.
template <class Body, class T, class Term>
GB_FN T whole_sequence(const T& none, i64 length, Term term) {
  const u32 chunks = static_cast<u32>((length + CHUNK - 1) / CHUNK);
  const u32 chunk_bits = bits_for(chunks < 1 ? 1 : chunks);
  const u32 bits = bits_for(length >= LANES ? LANES : length < 1 ? 1 : static_cast<u32>(length));
  Halves<Body, T, CHUNK_STEPS> halves;
  GB_ROLLED for (u32 i = 0; i < 1u << chunk_bits; ++i) {
    const i64 begin = static_cast<i64>(reversed(i, chunk_bits)) * CHUNK;
    halves.add(i, lanes_of_chunk<Body>(none, chunk_count(length, begin), 0, 1, bits,
                                       [&](i32 e) { return term(begin + e); }));
  }
  return halves.result(chunk_bits);
}

}  // namespace gb

#endif
