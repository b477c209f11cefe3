// FLAT: one axis; every operand has unit stride or is one element.
//
// A block covers BLOCK * V * U elements. Its base is the only 64-bit arithmetic; a whole tile runs
// without a predicate, all loads before the first store. The last block goes vector by vector. What
// is before the first aligned vector (the head) and behind the last one, fewer elements than two
// vectors have, is done one by one, by the first and by the last block.
#ifndef GB_FLAT_CUH
#define GB_FLAT_CUH

#include "scalar.cuh"

namespace gb {

// Python: struct "@{N}Q2q".
template <int N> struct FlatParams {
  u64 slots[N];  // reads, then writes
  i64 n;         // elements
  i64 head;      // elements before the first vector, fewer than two vectors have
};
static_assert(sizeof(FlatParams<3>) == 40, "no padding");

template <int SLOT, int V, int U, class R> struct FlatRead;

template <int SLOT, int V, int U, class T, AccessPattern K, int W>
struct FlatRead<SLOT, V, U, Read<T, K, W>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE, "FLAT reads are LINEAR, SCALAR or VALUE");
  GB_FN void start(u64 slot, i64) { this->fetch(slot, 0); }
  GB_FN void load(int, u32) {}
};

template <int SLOT, int V, int U, class T, int W> struct FlatRead<SLOT, V, U, Read<T, LINEAR, W>> {
  const T* at;
  Vec<T, V> v[U];
  GB_FN void start(u64 slot, i64 base) { at = address<const T>(slot) + base; }
  GB_FN void load(int u, u32 offset) {
    // A hint that leaves no line in L1 costs 3 % on an H100 where there are two operands.
    v[u] = ld_keep<SLOT, V, W>(at + offset + u * (BLOCK * V));
  }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u].data[k]); }
  GB_FN u32 word(int u, int k) const { return word_of<W>(v[u], k); }
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

// What a block has of a run of vectors.
template <int V, int U> struct RunBlock {
  i64 base;    // its first vector
  bool whole;  // V * U elements per thread, and nothing beside them
  template <class P> GB_FN explicit RunBlock(const P& p) {
    constexpr u32 SIZE = BLOCK * V * U;
    base = static_cast<i64>(blockIdx.x) * SIZE + p.head;
    whole = base + SIZE <= p.n && (blockIdx.x != 0 || p.head == 0);
  }
  // Elements from the first vector on, of a block that is not whole.
  template <class P> GB_FN u32 left(const P& p) const {
    constexpr u32 SIZE = BLOCK * V * U;
    const i64 n = p.n - base;
    return n >= SIZE ? SIZE : n > 0 ? static_cast<u32>(n) : 0;
  }
  // The element beside all vectors that this thread has; -1 for none. The first threads have what is
  // before the vectors, the last ones what is behind them.
  template <class P> GB_FN i64 single(const P& p) const {
    const u32 from_end = BLOCK - 1 - threadIdx.x;
    if (blockIdx.x == 0 && threadIdx.x < p.head) return threadIdx.x;
    return from_end < left(p) % V ? p.n - 1 - from_end : -1;
  }
};

template <int V, int U, class Body, class Reads, class Writes, int N>
GB_FN void flat(const FlatParams<N>& p) {
  const RunBlock<V, U> block(p);
  typename Body::Scalars scalars;
  if (U > 1 && block.whole) {
    flat_tile<V, U, Reads, Writes> tile(p, block.base);
    tile.template start<Body>(scalars);
    tile.template run<Body>(scalars, threadIdx.x * V);
    return;
  }
  const i64 single = block.single(p);
  if (single >= 0) {
    flat_tile<1, 1, Reads, Writes> tile(p, single);
    tile.template start<Body>(scalars);
    tile.template run<Body>(scalars, 0);
  }
  const u32 left = block.left(p);
  flat_tile<V, 1, Reads, Writes> tile(p, block.base);
  tile.template start<Body>(scalars);
  GB_ROLLED for (u32 j = threadIdx.x * V; j + V <= left; j += BLOCK * V) {
    tile.template run<Body>(scalars, j);
  }
}

}  // namespace gb

#endif
