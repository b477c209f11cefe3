// PHASE: short inner axes. The inner G axes are one run of `period` elements, the same in memory as
// in every write; rows of them follow each other without a gap.
//
// A tile is a whole number of rows, so many that a thread's V elements have the same place in every
// tile: what depends on that place alone (PERIODIC operands, offsets of GATHERED ones) is loaded and
// computed once, for all the tiles of a block. A block covers p.steps times U tiles, one below the
// other; divisions are done once per thread. Whole tiles run without a predicate, all loads of U
// tiles before the first store.
#ifndef GB_PHASE_CUH
#define GB_PHASE_CUH

#include "scalar.cuh"

namespace gb {

// Python, with B at least 1: struct "@{N}Q{N}q{G*N}q{B*N}q2q2I{6+3*G+3*B}I0q".
template <int N, int G, int B> struct PhaseParams {
  u64 slots[N];                                  // reads, then writes
  i64 row_stride[N];                             // elements
  i64 inner_stride[G][N];                        // elements; axes major to minor
  i64 batch_stride[B < 1 ? 1 : B][N];            // elements; axes major to minor
  i64 rows, steps;                               // of the row axis; times U tiles of a block
  u32 span, height;                              // elements and rows of a tile
  FastDiv period, tiles;                         // of the inner axes; blocks along the rows
  FastDiv inner[G];                              // sizes of the inner axes
  FastDiv batch[B < 1 ? 1 : B];                  // sizes of the batch axes
};
static_assert(sizeof(PhaseParams<3, 1, 0>) == 8 * (3 + 3 + 3 + 3 + 2 + 1) + 48, "no padding");
static_assert(sizeof(PhaseParams<2, 2, 1>) == 8 * (2 + 2 + 4 + 2 + 2 + 1) + 60 + 4, "4 at the end");

// An operand as a thread holds it. `start` is told where the batch element begins, the thread's
// first element l, the block's first row as an offset, and the distance of a tile from the next;
// `place`, where element l + k lies: its row in the tile and its offset in the row.
template <int SLOT, int V, int U, class Offset, class Operand> struct PhaseRead;

template <int SLOT, int V, int U, class Offset, class T, Kind K>
struct PhaseRead<SLOT, V, U, Offset, Read<T, K>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE,
                "PHASE reads: LINEAR, PERIODIC, GATHERED, SCALAR or VALUE");
  GB_FN void start(u64 slot, i64 base, u32, i64, i64) { this->fetch(slot, base); }
  GB_FN void place(int, u32, i64, i64) {}
  GB_FN void load(int) {}
  GB_FN void load(int, int) {}
  GB_FN void advance() {}
};

// The same in every row.
template <int SLOT, int V, int U, class Offset, class T>
struct PhaseRead<SLOT, V, U, Offset, Read<T, PERIODIC>> {
  const T* at;
  T c[V];
  GB_FN void start(u64 slot, i64 base, u32, i64, i64) { at = address<const T>(slot) + base; }
  GB_FN void place(int k, u32, i64 inner, i64) { c[k] = ld_keep<SLOT, 1>(at + inner).data[0]; }
  GB_FN void load(int) {}
  GB_FN void load(int, int) {}
  GB_FN void advance() {}
  GB_FN compute_t<T> value(int, int k) const { return to_compute(c[k]); }
};

// The same memory order as the writes.
template <int SLOT, int V, int U, class Offset, class T>
struct PhaseRead<SLOT, V, U, Offset, Read<T, LINEAR>> {
  const T* at;
  i64 step;
  Vec<T, V> v[U];
  GB_FN void start(u64 slot, i64 base, u32 l, i64 row_offset, i64 tile_step) {
    at = address<const T>(slot) + base + row_offset + l;
    step = tile_step;
  }
  GB_FN void place(int, u32, i64, i64) {}
  GB_FN void load(int u) { v[u] = ld_stream<SLOT, V>(at + u * step); }
  GB_FN void load(int u, int k) { v[u].data[k] = ld_stream<SLOT, 1>(at + u * step + k).data[0]; }
  GB_FN void advance() { at += U * step; }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u].data[k]); }
};

// Any strides.
template <int SLOT, int V, int U, class Offset, class T>
struct PhaseRead<SLOT, V, U, Offset, Read<T, GATHERED>> {
  const T* at;
  i64 step;
  Offset offset[V];
  T v[U][V];
  GB_FN void start(u64 slot, i64 base, u32, i64 row_offset, i64 tile_step) {
    at = address<const T>(slot) + base + row_offset;
    step = tile_step;
  }
  GB_FN void place(int k, u32 row, i64 inner, i64 row_stride) {
    offset[k] = static_cast<Offset>(row * row_stride + inner);
  }
  GB_FN void load(int u) {
    GB_UNROLL for (int k = 0; k < V; ++k) load(u, k);
  }
  GB_FN void load(int u, int k) { v[u][k] = ld_keep<SLOT, 1>(at + u * step + offset[k]).data[0]; }
  GB_FN void advance() { at += U * step; }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u][k]); }
};

template <int SLOT, int V, class W> struct PhaseWrite;

template <int SLOT, int V, class T>
struct PhaseWrite<SLOT, V, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T* at;
  i64 step;
  GB_FN void start(u64 slot, i64 base, u32 l, i64 row_offset, i64 tile_step) {
    at = address<T>(slot) + base + row_offset + l;
    step = tile_step;
  }
  GB_FN void store(int u) const { Result<SLOT, V, T>::store(at + u * step); }
  GB_FN void store(int u, int k) const {
    st_stream<SLOT>(at + u * step + k, Vec<T, 1>{{this->v.data[k]}});
  }
  template <int U> GB_FN void advance() { at += U * step; }
};

template <int V, int U, class Offset, class Body, class Reads, class I, class Writes, class O>
struct PhaseThread;

template <int V, int U, class Offset, class Body, class... Rd, int... I, class... W, int... O>
struct PhaseThread<V, U, Offset, Body, List<Rd...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(Rd);
  static constexpr int N = READS + sizeof...(W);
  u32 l;  // the thread's first element in a tile
  Tuple<Index<I...>, PhaseRead<I, V, U, Offset, Rd>...> in;
  Tuple<Index<O...>, PhaseWrite<READS + O, V, W>...> out;
  typename Body::Scalars scalars;
  typename Body::Rows rows[V];

  // `base`: where the batch element starts in each slot; `row`: the block's first row.
  template <int G, int B>
  GB_FN PhaseThread(const PhaseParams<N, G, B>& p, const i64 (&base)[N], i64 row, u32 first)
      : l(first) {
    (get<I>(in).start(p.slots[I], base[I], l, row * p.row_stride[I],
                      p.height * p.row_stride[I]), ...);
    (get<O>(out).start(p.slots[READS + O], base[READS + O], l, row * p.row_stride[READS + O],
                       p.height * p.row_stride[READS + O]), ...);
    GB_UNROLL for (int k = 0; k < V; ++k) {
      u32 rest = l + k;
      u32 along = take(rest, p.period);  // leaves the row
      i64 inner[N] = {};
      GB_UNROLL for (int g = G - 1; g >= 0; --g) {
        const u32 c = g == 0 ? along : take(along, p.inner[g]);
        GB_UNROLL for (int i = 0; i < READS; ++i) inner[i] += c * p.inner_stride[g][i];
      }
      (get<I>(in).place(k, rest, inner[I], p.row_stride[I]), ...);
    }
    Body::scalars(in, out, scalars);
    GB_UNROLL for (int k = 0; k < V; ++k) Body::rows(in, out, scalars, rows[k], k);
  }

  // U whole tiles.
  GB_FN void whole() {
    GB_UNROLL for (int u = 0; u < U; ++u) (get<I>(in).load(u), ...);
    GB_UNROLL for (int u = 0; u < U; ++u) store(u);
  }

  GB_FN void store(int u) {
    evaluate<Body, V>(in, out, scalars, typename Body::Columns{}, rows, u);
    (get<O>(out).store(u), ...);
  }

  // The elements of U tiles before `end`, which counts from the first tile's first element. One
  // thread has the vector that crosses it.
  GB_FN void part(i64 end, u32 span) {
    GB_UNROLL for (int u = 0; u < U; ++u) {
      const i64 left = end - static_cast<i64>(u) * span - l;
      if (left >= V) {
        (get<I>(in).load(u), ...);
        store(u);
        continue;
      }
      GB_UNROLL for (int k = 0; k + 1 < V; ++k) {
        if (k < left) {
          (get<I>(in).load(u, k), ...);
          Body::run(in, out, scalars, typename Body::Columns{}, rows[k], u, k);
          (get<O>(out).store(u, k), ...);
        }
      }
    }
  }

  GB_FN void advance() {
    (get<I>(in).advance(), ...);
    (get<O>(out).template advance<U>(), ...);
  }
};

template <int V, int U, int G, int B, class Offset, class Body, class Reads, class Writes, int N>
GB_FN void phase(const PhaseParams<N, G, B>& p) {
  const u32 l = threadIdx.x * V;
  if (l >= p.span) return;
  u32 number = blockIdx.x;
  i64 row = take(number, p.tiles) * (p.steps * U * p.height);
  i64 base[N] = {};
  GB_UNROLL for (int b = B - 1; b >= 0; --b) {
    const u32 k = take(number, p.batch[b]);
    GB_UNROLL for (int i = 0; i < N; ++i) base[i] += k * p.batch_stride[b][i];
  }
  PhaseThread<V, U, Offset, Body, Reads, indices<Reads>, Writes, indices<Writes>> thread(p, base,
                                                                                         row, l);
  GB_ROLLED for (i64 s = 0; s < p.steps; ++s) {
    const i64 left = p.rows - row;
    if (left >= static_cast<i64>(U) * p.height) {
      thread.whole();
    } else {
      if (left > 0) thread.part(left * p.period.d, p.span);
      return;
    }
    row += U * p.height;
    thread.advance();
  }
}

}  // namespace gb

#endif
