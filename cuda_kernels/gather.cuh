// GATHER: any strides on any axes, neighbouring lanes on neighbouring elements. What no other
// schedule takes.
//
// A block of BLOCK / E threads covers BLOCK elements: each thread has E of them, loads all before it
// stores the first, and fetches strides and divisors once; along one axis the next of them lies a
// step further. The last block goes one by one.
//
// gather32 visits fewer than 2^31 elements, at offsets below 2^31 elements, and computes both in 32
// bits; gather64 is its twin.
#ifndef GB_GATHER_CUH
#define GB_GATHER_CUH

#include "scalar.cuh"

namespace gb {

// Python: struct "@{N}Q{RANK*N}qq{RANK}q", then "{3*RANK}I" (FastDiv) or "{3*RANK}Q" (FastDiv64),
// then "{M}Q"; "@" aligns the last member as C does (FastDiv and an odd RANK leave 4 bytes).
template <class Division, int N, int RANK, int M> struct GatherParams {
  u64 slots[N];          // reads, then writes
  i64 stride[RANK][N];   // elements; axes major to minor
  i64 n;                 // elements to visit: the product of the extents
  i64 size[RANK];        // logical sizes; read with FILL only
  Division axis[RANK];   // extents
  u64 fill[M];           // storage bits of the padding value, one per write
};
template <int N, int RANK, int M = 1> using GatherParams32 = GatherParams<FastDiv, N, RANK, M>;
template <int N, int RANK, int M = 1> using GatherParams64 = GatherParams<FastDiv64, N, RANK, M>;
static_assert(sizeof(GatherParams32<3, 2>) == 8 * (3 + 6 + 1 + 2 + 1) + 24, "no padding");
static_assert(sizeof(GatherParams32<3, 1>) == 8 * (3 + 3 + 1 + 1 + 1) + 12 + 4, "4 before fill");
static_assert(sizeof(GatherParams64<3, 1>) == 8 * (3 + 3 + 1 + 1 + 1) + 24, "no padding");

template <int SLOT, class Operand> struct GatherRead;

template <int SLOT, class T, AccessPattern K, int W>
struct GatherRead<SLOT, Read<T, K, W>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE || K == LINEAR || K == GATHERED,
                "GATHER reads are LINEAR, SCALAR, VALUE or GATHERED");
  const T* at;
  GB_FN void start(u64 slot, i64 linear, i64 gathered) {
    if constexpr (K == GATHERED || K == LINEAR) {
      at = address<const T>(slot) + (K == LINEAR ? linear : gathered);
      read();
    } else {
      this->fetch(slot, 0);
    }
  }
  template <int AHEAD> GB_FN void follow(const GatherRead& other, i64 stride) {
    this->c = other.c;
    if constexpr (K == GATHERED || K == LINEAR) {
      at = K == LINEAR ? other.at + AHEAD : fixed(other.at + AHEAD * stride);
      read();
    }
  }
  GB_FN void read() { this->c = to_compute(ld_keep<SLOT, 1>(at).data[0]); }
};

template <int SLOT, class W> struct GatherWrite;

template <int SLOT, class T, AccessPattern K>
struct GatherWrite<SLOT, Write<T, K>> : Result<SLOT, 1, T> {
  static_assert(K == LINEAR || K == GATHERED || K == PARTIAL,
                "GATHER writes are LINEAR, GATHERED or PARTIAL");
  T* at;
  bool first;
  GB_FN void start(u64 slot, i64 linear, i64 gathered, bool is_first) {
    at = address<T>(slot) + (K == LINEAR ? linear : gathered);
    first = K != PARTIAL || is_first;
  }
  template <int AHEAD> GB_FN void follow(const GatherWrite& other, i64 stride) {
    at = K == LINEAR ? other.at + AHEAD : fixed(other.at + AHEAD * stride);
    first = true;
  }
  GB_FN void store() const {
    if (first) Result<SLOT, 1, T>::store(at);
  }
};

template <class W> constexpr bool is_partial = false;
template <class T> constexpr bool is_partial<Write<T, PARTIAL>> = true;

// One element as its operands: where it lies in each, and whether it is padding.
template <bool FILL, class Body, int RANK, class Offset, class Reads, class I, class Writes,
          class O>
struct GatherElement;

template <bool FILL, class Body, int RANK, class Offset, class... R, int... I, class... W, int... O>
struct GatherElement<FILL, Body, RANK, Offset, List<R...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  Tuple<Index<I...>, GatherRead<I, R>...> in;
  Tuple<Index<O...>, GatherWrite<READS + O, W>...> out;
  bool inside;

  template <class U, class P> GB_FN void load(const P& p, U linear) {
    static_assert(sizeof(p.slots) == sizeof(u64) * N, "one slot per operand");
    static_assert(!FILL || sizeof(p.fill) == sizeof(u64) * sizeof...(W), "one per write");
    Offset offset[N] = {};
    bool first[N];  // whether this is the first index of every axis that the operand lacks
    GB_UNROLL for (int i = 0; i < N; ++i) first[i] = true;
    inside = true;
    U rest = linear;
    GB_UNROLL for (int a = RANK - 1; a >= 0; --a) {
      const Offset k = a == 0 ? rest : take(rest, p.axis[a]);
      if (FILL) inside = inside && k < p.size[a];
      GB_UNROLL for (int i = 0; i < N; ++i) {
        offset[i] += k * static_cast<Offset>(p.stride[a][i]);
        first[i] = first[i] && (k == 0 || p.stride[a][i] != 0);
      }
    }
    (get<O>(out).start(p.slots[READS + O], linear, offset[READS + O], first[READS + O]), ...);
    if (inside) (get<I>(in).start(p.slots[I], linear, offset[I]), ...);
  }

  // Along one axis: the element AHEAD of another one of the thread.
  static constexpr bool FOLLOWS = RANK == 1 && !FILL && !(is_partial<W> || ...);
  template <int AHEAD, class P> GB_FN void follow(const P& p, const GatherElement& other) {
    inside = true;
    (get<O>(out).template follow<AHEAD>(get<O>(other.out), p.stride[0][READS + O]), ...);
    (get<I>(in).template follow<AHEAD>(get<I>(other.in), p.stride[0][I]), ...);
  }

  template <class P> GB_FN void store(const P& p) {
    if (inside) {
      typename Body::Scalars scalars;
      Body::scalars(in, out, scalars);
      const typename Body::Rows rows[1] = {};
      evaluate<Body, 1>(in, out, scalars, typename Body::Columns{}, rows, 0);
    } else {
      if constexpr (FILL) (get<O>(out).fill(p.fill[O]), ...);
    }
    (get<O>(out).store(), ...);
  }
};

// The elements of a block are counted past the end: below 2^31 + BLOCK they fit into u32.
template <int E, bool FILL, class Body, int RANK, class U, class Offset, class Reads, class Writes,
          class P>
GB_FN void gather(const P& p) {
  using Element =
      GatherElement<FILL, Body, RANK, Offset, Reads, indices<Reads>, Writes, indices<Writes>>;
  constexpr u32 THREADS = BLOCK / E;
  const U base = static_cast<U>(blockIdx.x) * BLOCK, n = static_cast<U>(p.n);
  if (base + BLOCK <= n) {
    Element element[E];
    GB_UNROLL for (u32 e = 0; e < E; ++e) {
      if constexpr (Element::FOLLOWS) {
        if (e > 0) {
          element[e].template follow<THREADS>(p, element[e - 1]);
          continue;
        }
      }
      element[e].load(p, static_cast<U>(base + threadIdx.x + e * THREADS));
    }
    GB_UNROLL for (u32 e = 0; e < E; ++e) element[e].store(p);
  } else {
    GB_ROLLED for (U j = base + threadIdx.x; j < n; j += THREADS) {
      Element one;
      one.load(p, j);
      one.store(p);
    }
  }
}

template <int RANK, int E, bool FILL, class Body, class Reads, class Writes, int N, int M>
GB_FN void gather32(const GatherParams32<N, RANK, M>& p) {
  gather<E, FILL, Body, RANK, u32, i32, Reads, Writes>(p);
}

template <int RANK, int E, bool FILL, class Body, class Reads, class Writes, int N, int M>
GB_FN void gather64(const GatherParams64<N, RANK, M>& p) {
  gather<E, FILL, Body, RANK, u64, i64, Reads, Writes>(p);
}

}  // namespace gb

#endif
