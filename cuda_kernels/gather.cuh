// GATHER: any strides on any axes, one element per thread, neighbouring lanes on neighbouring
// elements. What no other schedule takes.
//
// gather32 visits fewer than 2^31 elements and divides in 32 bits; gather64 is its twin.
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

template <int SLOT, class T, Kind K>
struct GatherRead<SLOT, Read<T, K>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE || K == LINEAR || K == GATHERED,
                "GATHER reads are LINEAR, SCALAR, VALUE or GATHERED");
  GB_FN void start(u64 slot, i64 linear, i64 gathered) {
    this->fetch(slot, K == GATHERED ? gathered : K == LINEAR ? linear : 0);
  }
};

template <int SLOT, class W> struct GatherWrite;

template <int SLOT, class T, Kind K>
struct GatherWrite<SLOT, Write<T, K>> : Result<SLOT, 1, T> {
  static_assert(K == LINEAR || K == GATHERED || K == PARTIAL,
                "GATHER writes are LINEAR, GATHERED or PARTIAL");
  T* at;
  bool first;
  GB_FN void start(u64 slot, i64 linear, i64 gathered, bool is_first) {
    at = address<T>(slot) + (K == LINEAR ? linear : gathered);
    first = K != PARTIAL || is_first;
  }
  GB_FN void store() const {
    if (first) Result<SLOT, 1, T>::store(at);
  }
};

template <bool FILL, class Body, int RANK, class U, class D, int N, int M, class... R, int... I,
          class... W, int... O>
GB_FN void gather(const GatherParams<D, N, RANK, M>& p, List<R...>, Index<I...>, List<W...>,
                  Index<O...>) {
  constexpr int READS = sizeof...(R);
  static_assert(N == READS + sizeof...(W), "one slot per operand");
  static_assert(!FILL || M == sizeof...(W), "one padding value per write");
  const i64 linear = static_cast<i64>(blockIdx.x) * BLOCK + threadIdx.x;
  if (linear >= p.n) return;

  i64 offset[N] = {};
  bool first[N];  // whether this is the first index of every axis that the operand lacks
  GB_UNROLL for (int i = 0; i < N; ++i) first[i] = true;
  bool inside = true;
  U rest = static_cast<U>(linear);
  GB_UNROLL for (int a = RANK - 1; a >= 0; --a) {
    const i64 k = a == 0 ? rest : take(rest, p.axis[a]);
    if (FILL) inside = inside && k < p.size[a];
    GB_UNROLL for (int i = 0; i < N; ++i) {
      offset[i] += k * p.stride[a][i];
      first[i] = first[i] && (k == 0 || p.stride[a][i] != 0);
    }
  }

  Tuple<Index<O...>, GatherWrite<READS + O, W>...> out;
  (get<O>(out).start(p.slots[READS + O], linear, offset[READS + O], first[READS + O]), ...);
  if (inside) {
    Tuple<Index<I...>, GatherRead<I, R>...> in;
    (get<I>(in).start(p.slots[I], linear, offset[I]), ...);
    typename Body::Scalars scalars;
    Body::scalars(in, out, scalars);
    const typename Body::Rows rows[1] = {};
    evaluate<Body, 1>(in, out, scalars, typename Body::Columns{}, rows, 0);
  } else {
    if constexpr (FILL) (get<O>(out).fill(p.fill[O]), ...);
  }
  (get<O>(out).store(), ...);
}

template <int RANK, bool FILL, class Body, class Reads, class Writes, int N, int M>
GB_FN void gather32(const GatherParams32<N, RANK, M>& p) {
  gather<FILL, Body, RANK, u32>(p, Reads{}, indices<Reads>{}, Writes{}, indices<Writes>{});
}

template <int RANK, bool FILL, class Body, class Reads, class Writes, int N, int M>
GB_FN void gather64(const GatherParams64<N, RANK, M>& p) {
  gather<FILL, Body, RANK, u64>(p, Reads{}, indices<Reads>{}, Writes{}, indices<Writes>{});
}

}  // namespace gb

#endif
