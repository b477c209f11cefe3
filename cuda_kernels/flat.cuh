// FLAT: one axis; every operand has unit stride or is one element.
//
// A block covers BLOCK * V * U elements. Its base is the only 64-bit arithmetic; a whole tile runs
// without a predicate, all loads before the first store. Elements that fill no tile are done one by
// one, in the last block.
#ifndef GB_FLAT_CUH
#define GB_FLAT_CUH

#include "scalar.cuh"

namespace gb {

// Python: struct "@{N}Qq".
template <int N> struct FlatParams {
  u64 slots[N];  // reads, then writes
  i64 n;         // elements
};
static_assert(sizeof(FlatParams<3>) == 32, "no padding");

template <int SLOT, int V, int U, class R> struct FlatRead;

template <int SLOT, int V, int U, class T, Kind K>
struct FlatRead<SLOT, V, U, Read<T, K>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE, "FLAT reads are LINEAR, SCALAR or VALUE");
  GB_FN void start(u64 slot, i64) { this->fetch(slot, 0); }
  GB_FN void load(int, u32) {}
};

template <int SLOT, int V, int U, class T> struct FlatRead<SLOT, V, U, Read<T, LINEAR>> {
  const T* at;
  Vec<T, V> v[U];
  GB_FN void start(u64 slot, i64 base) { at = address<const T>(slot) + base; }
  GB_FN void load(int u, u32 offset) { v[u] = ld_stream<SLOT, V>(at + offset + u * (BLOCK * V)); }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u].data[k]); }
};

template <int SLOT, int V, class W> struct FlatWrite;

template <int SLOT, int V, class T>
struct FlatWrite<SLOT, V, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T* at;
  GB_FN void start(u64 slot, i64 base) { at = address<T>(slot) + base; }
  GB_FN void store_first() const {}
  GB_FN void store(int u, u32 offset) const {
    Result<SLOT, V, T>::store(at + offset + u * (BLOCK * V));
  }
};

// One element, written by one thread of the grid.
template <int SLOT, int V, class T>
struct FlatWrite<SLOT, V, Write<T, SCALAR>> : Result<SLOT, 1, T> {
  T* at;
  bool first;
  GB_FN void start(u64 slot, i64 base) {
    at = address<T>(slot);
    first = base == 0 && threadIdx.x == 0;
  }
  GB_FN void store_first() const {
    if (first) Result<SLOT, 1, T>::store(at);
  }
  GB_FN void store(int, u32) const {}
};

template <int V, int U, class Reads, class I, class Writes, class O> struct FlatTile;

// The operands of one thread: U vectors of V elements, BLOCK vectors apart.
template <int V, int U, class... R, int... I, class... W, int... O>
struct FlatTile<V, U, List<R...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  Tuple<Index<I...>, FlatRead<I, V, U, R>...> in;
  Tuple<Index<O...>, FlatWrite<READS + O, V, W>...> out;

  template <class P> GB_FN FlatTile(const P& p, i64 base) {
    static_assert(sizeof(p.slots) == sizeof(u64) * (READS + sizeof...(W)), "one slot per operand");
    (get<I>(in).start(p.slots[I], base), ...);
    (get<O>(out).start(p.slots[READS + O], base), ...);
  }

  template <class Body> GB_FN void start(typename Body::Scalars& scalars) {
    Body::scalars(in, out, scalars);
    (get<O>(out).store_first(), ...);
  }

  template <class Body> GB_FN void run(const typename Body::Scalars& scalars, u32 offset) {
    GB_UNROLL for (int u = 0; u < U; ++u) (get<I>(in).load(u, offset), ...);
    GB_UNROLL for (int u = 0; u < U; ++u) {
      const typename Body::Rows rows[V] = {};
      evaluate<Body, V>(in, out, scalars, typename Body::Columns{}, rows, u);
      (get<O>(out).store(u, offset), ...);
    }
  }
};

template <int V, int U, class Reads, class Writes>
using flat_tile = FlatTile<V, U, Reads, indices<Reads>, Writes, indices<Writes>>;

template <int V, int U, class Body, class Reads, class Writes, int N>
GB_FN void flat(const FlatParams<N>& p) {
  constexpr u32 SIZE = BLOCK * V * U;
  const i64 base = static_cast<i64>(blockIdx.x) * SIZE;
  typename Body::Scalars scalars;
  if (base + SIZE <= p.n) {
    flat_tile<V, U, Reads, Writes> tile(p, base);
    tile.template start<Body>(scalars);
    tile.template run<Body>(scalars, threadIdx.x * V);
  } else {
    const u32 rest = static_cast<u32>(p.n - base);
    flat_tile<1, 1, Reads, Writes> tile(p, base);
    tile.template start<Body>(scalars);
    GB_ROLLED for (u32 j = threadIdx.x; j < rest; j += BLOCK) tile.template run<Body>(scalars, j);
  }
}

}  // namespace gb

#endif
