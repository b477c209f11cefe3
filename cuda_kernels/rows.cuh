// ROWS: rows of unit stride, a row axis, and B batch axes.
//
// A block of TX x TY threads covers a tile of TX * V columns and TY * R rows of one batch element.
// Divisions are done once per tile, on the tile's number; inside a tile every offset is a constant
// of the thread. A whole tile runs without a predicate, all loads of its R rows before the first
// store. With FILL the extents cover the padding, which is written and for which nothing is read.
#ifndef GB_ROWS_CUH
#define GB_ROWS_CUH

#include "scalar.cuh"

namespace gb {

template <int N> constexpr int at_least_one = N < 1 ? 1 : N;

// Python, with B at least 1: struct "@{N}Q{N}q{B*N}q4q6I{3*B}I{B}i{M}Q"; no member needs padding.
template <int N, int B, int M = 1> struct RowsParams {
  u64 slots[N];                            // reads, then writes
  i64 row_stride[N];                       // elements
  i64 batch_stride[at_least_one<B>][N];    // elements; axes major to minor
  i64 nx, ny;                              // extents to visit
  i64 size_x, size_y;                      // logical sizes; read with FILL only
  FastDiv tiles_x, tiles_y;                // tiles along x and y
  FastDiv batch[at_least_one<B>];          // extents of the batch axes
  i32 batch_size[at_least_one<B>];         // logical sizes; read with FILL only
  u64 fill[M];                             // storage bits of the padding value, one per write
};
static_assert(sizeof(RowsParams<3, 1>) == 8 * (3 + 3 + 3 + 4 + 1) + 24 + 16, "no padding");
static_assert(sizeof(RowsParams<2, 2, 2>) == 8 * (2 + 2 + 4 + 4 + 2) + 24 + 32, "no padding");

// The first element of a thread: column x0 + x, row y of its tile.
struct Place {
  i64 x0;
  u32 x, y;
};

template <int SLOT, int V, int R, class Operand> struct RowsRead;

template <int SLOT, int V, int R, class T, Kind K>
struct RowsRead<SLOT, V, R, Read<T, K>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE, "ROWS reads: TILE, ROW, COLUMN, SCALAR or VALUE");
  GB_FN void start(u64 slot, i64 base, i64, Place) { this->fetch(slot, base); }
};

template <int SLOT, int V, int R, class T> struct RowsRead<SLOT, V, R, Read<T, TILE>> {
  const T* at;
  i64 step;
  Vec<T, V> v[R];
  GB_FN void start(u64 slot, i64 base, i64 stride, Place to) {
    at = address<const T>(slot) + (base + to.x0) + to.y * stride + to.x;
    step = blockDim.y * stride;
  }
  GB_FN void load(int r) { v[r] = ld_stream<SLOT, V>(at + r * step); }
  GB_FN compute_t<T> value(int r, int k) const { return to_compute(v[r].data[k]); }
};

template <int SLOT, int V, int R, class T> struct RowsRead<SLOT, V, R, Read<T, ROW>> {
  Vec<T, V> v;
  GB_FN void start(u64 slot, i64 base, i64, Place to) {
    v = ld_keep<SLOT, V>(address<const T>(slot) + (base + to.x0) + to.x);
  }
  GB_FN void load(int) {}
  GB_FN compute_t<T> value(int, int k) const { return to_compute(v.data[k]); }
};

template <int SLOT, int V, int R, class T> struct RowsRead<SLOT, V, R, Read<T, COLUMN>> {
  const T* at;
  i64 step;
  T c[R];
  GB_FN void start(u64 slot, i64 base, i64 stride, Place to) {
    at = address<const T>(slot) + base + to.y * stride;
    step = blockDim.y * stride;
  }
  GB_FN void load(int r) { c[r] = ld_keep<SLOT, 1>(at + r * step).data[0]; }
  GB_FN compute_t<T> value(int r, int) const { return to_compute(c[r]); }
};

template <int SLOT, int V, class W> struct RowsWrite;

template <int SLOT, int V, class T>
struct RowsWrite<SLOT, V, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T* at;
  i64 step;
  GB_FN void start(u64 slot, i64 base, i64 stride, Place to) {
    at = address<T>(slot) + (base + to.x0) + to.y * stride + to.x;
    step = blockDim.y * stride;
  }
  GB_FN void store(int r) const { Result<SLOT, V, T>::store(at + r * step); }
};

// Where a tile starts (column x0; its row and batch element as an offset in elements of each slot)
// and how much of it there is: `columns` x `rows` are visited, `inside_columns` x `inside_rows` of
// them are not padding. All four at most 2^30.
template <int N> struct RowsTile {
  i64 x0;
  i64 base[N];
  i32 columns, rows, inside_columns, inside_rows;
};

GB_FN i32 remaining(i64 end, i64 start) {
  constexpr i64 most = 1 << 30;
  return static_cast<i32>(end <= start ? 0 : end - start < most ? end - start : most);
}

// Decodes the block's number; the same for all its threads.
template <bool FILL, int V, int R, int N, int B, int M>
GB_FN RowsTile<N> rows_tile(const RowsParams<N, B, M>& p) {
  u32 number = blockIdx.x;
  RowsTile<N> tile;
  tile.x0 = static_cast<i64>(take(number, p.tiles_x)) * (blockDim.x * V);
  const i64 y = static_cast<i64>(take(number, p.tiles_y)) * (blockDim.y * R);
  GB_UNROLL for (int i = 0; i < N; ++i) tile.base[i] = y * p.row_stride[i];
  bool inside = true;
  GB_UNROLL for (int b = B - 1; b >= 0; --b) {
    const u32 k = take(number, p.batch[b]);
    if (FILL) inside = inside && k < static_cast<u32>(p.batch_size[b]);
    GB_UNROLL for (int i = 0; i < N; ++i) tile.base[i] += k * p.batch_stride[b][i];
  }
  tile.columns = remaining(p.nx, tile.x0);
  tile.rows = remaining(p.ny, y);
  tile.inside_columns = !FILL ? tile.columns : inside ? remaining(p.size_x, tile.x0) : 0;
  tile.inside_rows = !FILL ? tile.rows : inside ? remaining(p.size_y, y) : 0;
  return tile;
}

template <int V, int R, class Reads, class I, class Writes, class O> struct RowsPatch;

// The part of a tile that one thread computes: V columns from x on, R rows y, y + TY, ...
template <int V, int R, class... Rd, int... I, class... W, int... O>
struct RowsPatch<V, R, List<Rd...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(Rd);
  static constexpr int N = READS + sizeof...(W);
  Place place;
  Tuple<Index<O...>, RowsWrite<READS + O, V, W>...> out;

  template <int B, int M>
  GB_FN RowsPatch(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, u32 x, u32 y)
      : place{tile.x0, x, y} {
    (get<O>(out).start(p.slots[READS + O], tile.base[READS + O], p.row_stride[READS + O], place),
     ...);
  }

  // GUARD: only the rows below `end`.
  template <bool GUARD, class Body, int B, int M>
  GB_FN void compute(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, u32 end) {
    if (GUARD && place.y >= end) return;
    Tuple<Index<I...>, RowsRead<I, V, R, Rd>...> in;
    (get<I>(in).start(p.slots[I], tile.base[I], p.row_stride[I], place), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (!GUARD || place.y + r * blockDim.y < end) (get<I>(in).load(r), ...);
    }
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (!GUARD || place.y + r * blockDim.y < end) {
        evaluate<Body, V>(in, out, r, Index<I...>{}, Index<O...>{});
        (get<O>(out).store(r), ...);
      }
    }
  }

  // The padding value in the rows from `begin` up to `end`.
  template <int B, int M> GB_FN void fill(const RowsParams<N, B, M>& p, u32 begin, u32 end) {
    static_assert(M == sizeof...(W), "one padding value per write");
    (get<O>(out).fill(p.fill[O]), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      const u32 row = place.y + r * blockDim.y;
      if (row >= begin && row < end) (get<O>(out).store(r), ...);
    }
  }
};

template <int V, int R, class Reads, class Writes>
using rows_patch = RowsPatch<V, R, Reads, indices<Reads>, Writes, indices<Writes>>;

// The patch at (x, y), which lies wholly inside or wholly in the padding along x.
template <int V, int R, bool FILL, class Body, class Reads, class Writes, int N, int B, int M>
GB_FN void rows_edge(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, u32 x, u32 y) {
  rows_patch<V, R, Reads, Writes> patch(p, tile, x, y);
  const u32 end = x < static_cast<u32>(tile.inside_columns) ? tile.inside_rows : 0;
  patch.template compute<true, Body>(p, tile, end);
  if constexpr (FILL) patch.fill(p, end, tile.rows);
}

template <int V, int R, bool FILL, int B, class Body, class Reads, class Writes, int N, int M>
GB_FN void rows(const RowsParams<N, B, M>& p) {
  const RowsTile<N> tile = rows_tile<FILL, V, R>(p);
  const i32 x = threadIdx.x * V, y = threadIdx.y;
  const i32 width = blockDim.x * V, height = blockDim.y * R;
  if (tile.inside_columns >= width && tile.inside_rows >= height) {
    rows_patch<V, R, Reads, Writes> patch(p, tile, x, y);
    patch.template compute<false, Body>(p, tile, height);
  } else if (x + V <= tile.inside_columns ||
             (FILL && x >= tile.inside_columns && x + V <= tile.columns)) {
    rows_edge<V, R, FILL, Body, Reads, Writes>(p, tile, x, y);
  } else {
    // A vector that crosses an edge.
    GB_ROLLED for (i32 k = x; k < x + V && k < tile.columns; ++k) {
      rows_edge<1, R, FILL, Body, Reads, Writes>(p, tile, k, y);
    }
  }
}

}  // namespace gb

#endif
