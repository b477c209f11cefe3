// ROWS: rows of unit stride, a row axis, and B batch axes.
//
// A block of TX x TY threads covers a tile of TX * V columns and TY * R rows of one batch element.
// Divisions are done on the tile's number; inside a tile every offset is a constant of the thread.
// What a thread's rows share, and what its columns share, is loaded and computed once. A whole tile
// runs without a predicate, all loads of a thread's R rows before the first store. With FILL the
// extents cover the padding, which is written and for which nothing is read.
#ifndef GB_ROWS_CUH
#define GB_ROWS_CUH

#include "scalar.cuh"

namespace gb {

template <int N> constexpr int at_least_one = N < 1 ? 1 : N;

// Python, with B at least 1: struct "@{N}Q{2*N}q{B*N}q4q6I{3*B}I{B}i{M}Q"; no member needs padding.
template <int N, int B, int M = 1> struct RowsParams {
  u64 slots[N];                            // reads, then writes
  i64 row_stride[N];                       // elements
  i64 column_stride[N];                    // elements; of GATHERED and CROSSED operands
  i64 batch_stride[at_least_one<B>][N];    // elements; axes major to minor
  i64 nx, ny;                              // extents to visit
  i64 size_x, size_y;                      // logical sizes; read with FILL only
  FastDiv tiles_x, tiles_y;                // tiles along x and y
  FastDiv batch[at_least_one<B>];          // extents of the batch axes
  i32 batch_size[at_least_one<B>];         // logical sizes; read with FILL only
  u64 fill[M];                             // storage bits of the padding value, one per write
};
static_assert(sizeof(RowsParams<3, 1>) == 8 * (3 + 3 + 3 + 3 + 4 + 1) + 24 + 16, "no padding");
static_assert(sizeof(RowsParams<2, 2, 2>) == 8 * (2 + 2 + 2 + 4 + 4 + 2) + 24 + 32, "no padding");

// The first element of a thread: column x0 + x, row y of its tile; its rows are `gap` apart.
struct Place {
  i64 x0;
  u32 x, y, gap;
};

// What a thread holds of an operand for all its columns. Of TILE and ROW: nothing.
template <int SLOT, int R, class Operand> struct RowsShared {
  GB_FN void start(u64, i64, i64, u32, u32) {}
  GB_FN void load(int) {}
};

template <int SLOT, int R, class T, int W> struct RowsShared<SLOT, R, Read<T, VALUE, W>>
    : Constant<SLOT, T, VALUE> {
  GB_FN void start(u64 slot, i64, i64, u32, u32) { this->fetch(slot, 0); }
};

template <int SLOT, int R, class T, int W> struct RowsShared<SLOT, R, Read<T, SCALAR, W>>
    : Constant<SLOT, T, SCALAR> {
  GB_FN void start(u64 slot, i64 base, i64, u32, u32) { this->fetch(slot, base); }
};

template <int SLOT, int R, class T, int W> struct RowsShared<SLOT, R, Read<T, COLUMN, W>> {
  const T* at;
  i64 step;
  T c[R];
  GB_FN void start(u64 slot, i64 base, i64 stride, u32 y, u32 gap) {
    at = address<const T>(slot) + base + y * stride;
    step = gap * stride;
  }
  GB_FN void load(int r) { c[r] = ld_keep<SLOT, 1>(at + r * step).data[0]; }
  GB_FN compute_t<T> value(int r, int) const { return to_compute(c[r]); }
  GB_FN u32 word(int r, int) const { return word_of(c[r]); }
};

// The operand as the functor sees it, of V columns.
template <int SLOT, int V, int R, class Operand> struct RowsRead;

template <int SLOT, int V, int R, class T, AccessPattern K, int W>
struct RowsRead<SLOT, V, R, Read<T, K, W>> : RowsShared<SLOT, R, Read<T, K, W>> {
  static_assert(K == SCALAR || K == VALUE || K == COLUMN,
                "no kind of ROWS or XPOSE");
  using Shared = RowsShared<SLOT, R, Read<T, K, W>>;
  GB_FN void start(const Shared& shared, u64, i64, i64, i64, Place) {
    static_cast<Shared&>(*this) = shared;
  }
  GB_FN void load_all() {}
  GB_FN void load(int) {}
};

// Loads its R rows one after the other.
template <class Own, int R> struct RowByRow {
  GB_FN void load_all() {
    GB_UNROLL for (int r = 0; r < R; ++r) static_cast<Own*>(this)->load(r);
  }
};

template <int SLOT, int V, int R, class T, int W>
struct RowsRead<SLOT, V, R, Read<T, TILE, W>>
    : RowByRow<RowsRead<SLOT, V, R, Read<T, TILE, W>>, R> {
  const T* at;
  i64 step;
  Vec<T, V> v[R];
  template <class S> GB_FN void start(const S&, u64 slot, i64 base, i64 stride, i64, Place to) {
    at = address<const T>(slot) + (base + to.x0) + to.y * stride + to.x;
    step = to.gap * stride;
  }
  GB_FN void load(int r) { v[r] = ld_stream<SLOT, V, W>(at + r * step); }
  GB_FN compute_t<T> value(int r, int k) const { return to_compute(v[r].data[k]); }
  GB_FN u32 word(int r, int k) const { return word_of<W>(v[r], k); }
};

template <int SLOT, int V, int R, class T, int W>
struct RowsRead<SLOT, V, R, Read<T, GATHERED, W>>
    : RowByRow<RowsRead<SLOT, V, R, Read<T, GATHERED, W>>, R> {
  const T* at;
  i64 step, next;
  T v[R][V];
  template <class S>
  GB_FN void start(const S&, u64 slot, i64 base, i64 stride, i64 column_stride, Place to) {
    at = address<const T>(slot) + (base + to.x0 * column_stride) + to.y * stride +
         to.x * column_stride;
    step = to.gap * stride;
    next = column_stride;
  }
  GB_FN void load(int r) {
    GB_UNROLL for (int k = 0; k < V; ++k) {
      v[r][k] = ld_keep<SLOT, 1>(at + r * step + k * next).data[0];
    }
  }
  GB_FN compute_t<T> value(int r, int k) const { return to_compute(v[r][k]); }
  GB_FN u32 word(int r, int k) const { return word_at(v[r] + k); }
};

template <int SLOT, int V, int R, class T, int W> struct RowsRead<SLOT, V, R, Read<T, ROW, W>> {
  Vec<T, V> v;
  template <class S> GB_FN void start(const S&, u64 slot, i64 base, i64, i64, Place to) {
    v = ld_keep<SLOT, V, W>(address<const T>(slot) + (base + to.x0) + to.x);
  }
  GB_FN void load_all() {}
  GB_FN void load(int) {}
  GB_FN compute_t<T> value(int, int k) const { return to_compute(v.data[k]); }
  GB_FN u32 word(int, int k) const { return word_of<W>(v, k); }
};

// Results that all columns share, of outputs without the inner axis: written by the threads of
// column 0. Of other outputs: nothing.
template <int SLOT, int R, class W> struct RowsSharedWrite {
  GB_FN void start(u64, i64, i64, u32, u32, bool, bool) {}
  GB_FN void store_scalar() const {}
  GB_FN void store(int) const {}
};

template <int SLOT, int R, class T> struct RowsSharedWrite<SLOT, R, Write<T, SCALAR>>
    : Result<SLOT, 1, T> {
  T* at;
  bool first;
  GB_FN void start(u64 slot, i64 base, i64, u32, u32, bool column, bool row) {
    at = address<T>(slot) + base;
    first = column && row;
  }
  GB_FN void store_scalar() const {
    if (first) Result<SLOT, 1, T>::store(at);
  }
  GB_FN void store(int) const {}
};

template <int SLOT, int R, class T> struct RowsSharedWrite<SLOT, R, Write<T, COLUMN>> {
  T* at;
  i64 step;
  bool first;
  Vec<T, 1> c[R];
  GB_FN void start(u64 slot, i64 base, i64 stride, u32 y, u32 gap, bool column, bool) {
    at = address<T>(slot) + base + y * stride;
    step = gap * stride;
    first = column;
  }
  GB_FN void keep(int r, compute_t<T> value) { c[r].data[0] = from_compute<T>(value); }
  GB_FN void store_scalar() const {}
  GB_FN void store(int r) const {
    if (first) st_stream<SLOT>(at + r * step, c[r]);
  }
};

// Results of V columns. LINEAR is what ROWS calls TILE; PARTIAL is one of those.
template <int SLOT, int V, class W> struct RowsWrite {
  GB_FN void start(u64, i64, i64, i64, Place, bool, bool) {}
  GB_FN void store_row() const {}
  GB_FN void store(int) const {}
  GB_FN void fill(u64) {}
};

template <int SLOT, int V, class T>
struct RowsWrite<SLOT, V, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T* at;
  i64 step;
  GB_FN void start(u64 slot, i64 base, i64 stride, i64, Place to, bool, bool) {
    at = address<T>(slot) + (base + to.x0) + to.y * stride + to.x;
    step = to.gap * stride;
  }
  GB_FN void store_row() const {}
  GB_FN void store(int r) const { Result<SLOT, V, T>::store(at + r * step); }
};

template <int SLOT, int V, class T>
struct RowsWrite<SLOT, V, Write<T, PARTIAL>> : RowsWrite<SLOT, V, Write<T, LINEAR>> {
  bool first;
  GB_FN void start(u64 slot, i64 base, i64 stride, i64, Place to, bool batch, bool) {
    RowsWrite<SLOT, V, Write<T, LINEAR>>::start(slot, base, stride, 1, to, false, false);
    first = batch;
  }
  GB_FN void store(int r) const {
    if (first) RowsWrite<SLOT, V, Write<T, LINEAR>>::store(r);
  }
};

template <int SLOT, int V, class T>
struct RowsWrite<SLOT, V, Write<T, ROW>> : Result<SLOT, V, T> {
  T* at;
  bool first;
  GB_FN void start(u64 slot, i64 base, i64, i64, Place to, bool batch, bool row) {
    at = address<T>(slot) + (base + to.x0) + to.x;
    first = batch && row;
  }
  GB_FN void store_row() const {
    if (first) Result<SLOT, V, T>::store(at);
  }
  GB_FN void store(int) const {}
};

// Elements that are apart, of an output that has all axes.
template <int SLOT, int V, class T>
struct RowsWrite<SLOT, V, Write<T, GATHERED>> : Result<SLOT, V, T> {
  T* at;
  i64 step, next;
  GB_FN void start(u64 slot, i64 base, i64 stride, i64 column_stride, Place to, bool, bool) {
    at = address<T>(slot) + (base + to.x0 * column_stride) + to.y * stride + to.x * column_stride;
    step = to.gap * stride;
    next = column_stride;
  }
  GB_FN void store_row() const {}
  GB_FN void store(int r) const {
    GB_UNROLL for (int k = 0; k < V; ++k) {
      st_stream<SLOT>(at + r * step + k * next, Vec<T, 1>{{this->v.data[k]}});
    }
  }
};

// Where a tile starts (column x0, row y0; its row and batch element as an offset in elements of
// each slot) and how much of it there is: `columns` x `rows` are visited, from `inside_columns` and
// `inside_rows` on they are padding. `first`: whether the batch element is the first along every
// axis that a slot lacks.
template <int N> struct RowsTile {
  i64 x0, y0;
  i64 base[N];
  bool first[N];
  i32 columns, rows, inside_columns, inside_rows;
};

// How many of the `most` elements from `start` on lie before `end`.
GB_FN i32 remaining(i64 end, i64 start, i64 most) {
  return static_cast<i32>(end <= start ? 0 : end - start < most ? end - start : most);
}

template <class R> constexpr bool crosses = false;
template <class T, int W> constexpr bool crosses<Read<T, CROSSED, W>> = true;

// Whether operand i has unit stride along y.
template <class... R> GB_FN constexpr bool is_crossed(List<R...>, int i) {
  int k = 0;
  return ((k++ == i && crosses<R>) || ...);
}

// Decodes the block's number, of tiles of a width and a height; the same for all its threads.
template <bool FILL, class Reads, int N, int B, int M>
GB_FN RowsTile<N> rows_tile(const RowsParams<N, B, M>& p, i64 width, i64 height) {
  u32 number = blockIdx.x;
  RowsTile<N> tile;
  tile.x0 = take(number, p.tiles_x) * width;
  tile.y0 = take(number, p.tiles_y) * height;
  GB_UNROLL for (int i = 0; i < N; ++i) {
    tile.base[i] = is_crossed(Reads{}, i) ? tile.y0 : tile.y0 * p.row_stride[i];
    tile.first[i] = true;
  }
  bool inside = true;
  GB_UNROLL for (int b = B - 1; b >= 0; --b) {
    const u32 k = take(number, p.batch[b]);
    if (FILL) inside = inside && k < static_cast<u32>(p.batch_size[b]);
    GB_UNROLL for (int i = 0; i < N; ++i) {
      tile.base[i] += k * p.batch_stride[b][i];
      tile.first[i] = tile.first[i] && (k == 0 || p.batch_stride[b][i] != 0);
    }
  }
  tile.columns = remaining(p.nx, tile.x0, width);
  tile.rows = remaining(p.ny, tile.y0, height);
  tile.inside_columns = !FILL ? tile.columns : inside ? remaining(p.size_x, tile.x0, width) : 0;
  tile.inside_rows = !FILL ? tile.rows : inside ? remaining(p.size_y, tile.y0, height) : 0;
  return tile;
}

// What the R rows y, y + gap, ... of one thread share along x.
template <int R, class Body, class Reads, class I, class Writes, class O> struct RowsThread;

template <int R, class Body, class... Rd, int... I, class... W, int... O>
struct RowsThread<R, Body, List<Rd...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(Rd);
  static constexpr int N = READS + sizeof...(W);
  Tuple<Index<I...>, RowsShared<I, R, Rd>...> in;
  typename Body::Scalars scalars;
  typename Body::Columns columns[R];

  template <int B, int M>
  GB_FN RowsThread(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, u32 y, u32 gap) {
    const u32 end = tile.inside_columns > 0 ? tile.inside_rows : 0;
    if (y >= end) return;
    const bool column = tile.x0 == 0 && threadIdx.x == 0, row = tile.y0 == 0 && y == 0;
    Tuple<Index<O...>, RowsSharedWrite<READS + O, R, W>...> out;
    (get<I>(in).start(p.slots[I], tile.base[I], p.row_stride[I], y, gap), ...);
    (get<O>(out).start(p.slots[READS + O], tile.base[READS + O], p.row_stride[READS + O], y, gap,
                       column && tile.first[READS + O], row), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (y + r * gap < end) (get<I>(in).load(r), ...);
    }
    Body::scalars(in, out, scalars);
    (get<O>(out).store_scalar(), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (y + r * gap < end) {
        Body::columns(in, out, scalars, columns[r], r);
        (get<O>(out).store(r), ...);
      }
    }
  }
};

template <int R, class Body, class Reads, class Writes>
using rows_thread = RowsThread<R, Body, Reads, indices<Reads>, Writes, indices<Writes>>;

template <int V, int R, class Reads, class I, class Writes, class O> struct RowsPatch;

// The part of a tile that one thread computes: V columns from x on, R rows from y on.
template <int V, int R, class... Rd, int... I, class... W, int... O>
struct RowsPatch<V, R, List<Rd...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(Rd);
  static constexpr int N = READS + sizeof...(W);
  Place place;
  Tuple<Index<O...>, RowsWrite<READS + O, V, W>...> out;

  template <int B, int M>
  GB_FN RowsPatch(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, u32 x, u32 y, u32 gap)
      : place{tile.x0, x, y, gap} {
    const bool row = tile.y0 == 0 && y == 0;
    (get<O>(out).start(p.slots[READS + O], tile.base[READS + O], p.row_stride[READS + O],
                       p.column_stride[READS + O], place, tile.first[READS + O], row), ...);
  }

  // GUARD: only the rows below `end`.
  template <bool GUARD, class Body, class Thread, int B, int M>
  GB_FN void compute(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, const Thread& thread,
                     u32 end) {
    if (GUARD && place.y >= end) return;
    Tuple<Index<I...>, RowsRead<I, V, R, Rd>...> in;
    (get<I>(in).start(get<I>(thread.in), p.slots[I], tile.base[I], p.row_stride[I],
                      p.column_stride[I], place), ...);
    if constexpr (!GUARD) (get<I>(in).load_all(), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (GUARD && place.y + r * place.gap < end) (get<I>(in).load(r), ...);
    }
    typename Body::Rows rows[V];
    GB_UNROLL for (int k = 0; k < V; ++k) Body::rows(in, out, thread.scalars, rows[k], k);
    (get<O>(out).store_row(), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      if (!GUARD || place.y + r * place.gap < end) {
        evaluate<Body, V>(in, out, thread.scalars, thread.columns[r], rows, r);
        (get<O>(out).store(r), ...);
      }
    }
  }

  // The padding value in the rows from `begin` up to `end`.
  template <int B, int M> GB_FN void fill(const RowsParams<N, B, M>& p, u32 begin, u32 end) {
    static_assert(M == sizeof...(W), "one padding value per write");
    (get<O>(out).fill(p.fill[O]), ...);
    GB_UNROLL for (int r = 0; r < R; ++r) {
      const u32 row = place.y + r * place.gap;
      if (row >= begin && row < end) (get<O>(out).store(r), ...);
    }
  }
};

template <int V, int R, class Reads, class Writes>
using rows_patch = RowsPatch<V, R, Reads, indices<Reads>, Writes, indices<Writes>>;

// The patch at (x, y), which lies wholly inside or wholly in the padding along x.
template <int V, int R, bool FILL, class Body, class Reads, class Writes, class Thread, int N,
          int B, int M>
GB_FN void rows_edge(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, const Thread& thread,
                     u32 x, u32 y, u32 gap) {
  rows_patch<V, R, Reads, Writes> patch(p, tile, x, y, gap);
  const u32 end = x < static_cast<u32>(tile.inside_columns) ? tile.inside_rows : 0;
  patch.template compute<true, Body>(p, tile, thread, end);
  if constexpr (FILL) patch.fill(p, end, tile.rows);
}

// The V columns from x on, of which some may be missing or padding.
template <int V, int R, bool FILL, class Body, class Reads, class Writes, class Thread, int N,
          int B, int M>
GB_FN void rows_rest(const RowsParams<N, B, M>& p, const RowsTile<N>& tile, const Thread& thread,
                     i32 x, u32 y, u32 gap) {
  if (x + V <= tile.inside_columns ||
      (FILL && x >= tile.inside_columns && x + V <= tile.columns)) {
    rows_edge<V, R, FILL, Body, Reads, Writes>(p, tile, thread, x, y, gap);
  } else {
    // A vector that crosses an edge.
    GB_ROLLED for (i32 k = x; k < x + V && k < tile.columns; ++k) {
      rows_edge<1, R, FILL, Body, Reads, Writes>(p, tile, thread, k, y, gap);
    }
  }
}

template <int V, int R, bool FILL, int B, class Body, class Reads, class Writes, int N, int M>
GB_FN void rows(const RowsParams<N, B, M>& p) {
  const i64 width = blockDim.x * V, height = blockDim.y * R;
  const i32 x = threadIdx.x * V;
  const u32 y = threadIdx.y, gap = blockDim.y;
  const RowsTile<N> tile = rows_tile<FILL, Reads>(p, width, height);
  const rows_thread<R, Body, Reads, Writes> thread(p, tile, y, gap);
  if (x + V <= tile.inside_columns && tile.inside_rows >= height) {
    rows_patch<V, R, Reads, Writes> patch(p, tile, x, y, gap);
    patch.template compute<false, Body>(p, tile, thread, tile.inside_rows);
    return;
  }
  rows_rest<V, R, FILL, Body, Reads, Writes>(p, tile, thread, x, y, gap);
}

}  // namespace gb

#endif
