// XPOSE: operands of unit stride along x and operands of unit stride along y, in one kernel.
//
// ROWS, but the R rows of a thread lie below each other: it owns a patch of V x R elements. A
// CROSSED operand is loaded as V vectors of R elements along y and read across, in registers: all
// operands are coalesced, with neither shared memory nor a barrier. A warp is 8 lanes wide, so that
// it covers 4 patches along y: runs of 4 vectors in a CROSSED operand, of 8 in the others. The warps
// of a block lie below each other, or some beside each other where there are few rows.
#ifndef GB_XPOSE_CUH
#define GB_XPOSE_CUH

#include "rows.cuh"

namespace gb {

// The word of the elements r of four vectors: of 4 x 4 bytes, 4 words take 8 permutations.
template <class T, int R>
GB_FN u32 word_across(const Vec<T, R>& a, const Vec<T, R>& b, const Vec<T, R>& c,
                      const Vec<T, R>& d, int r) {
  if constexpr (R % 4 != 0) return word_of(a.data[r], b.data[r], c.data[r], d.data[r]);
  const int first = r / 4 * 4, halves = r % 4 < 2 ? 0x5140 : 0x7362;
  const u32 low = permute(word_of<4>(a, first), word_of<4>(b, first), halves);
  const u32 high = permute(word_of<4>(c, first), word_of<4>(d, first), halves);
  return permute(low, high, r % 2 ? 0x7632 : 0x5410);
}

template <int SLOT, int V, int R, class T, int W>
struct RowsRead<SLOT, V, R, Read<T, CROSSED, W>> {
  static constexpr int VECTOR = 16 / sizeof(T);  // R elements may be two of them
  const T* at;
  i64 next;  // from one column to the next
  Vec<T, R> q[V];
  template <class S>
  GB_FN void start(const S&, u64 slot, i64 base, i64, i64 column_stride, Place to) {
    at = address<const T>(slot) + (base + to.x0 * column_stride) + to.y + to.x * column_stride;
    next = column_stride;
  }
  GB_FN void load_all() {
    GB_UNROLL for (int k = 0; k < V; ++k) {
      q[k] = ld_stream<SLOT, R, (W < VECTOR ? W : VECTOR)>(at + k * next);
    }
  }
  GB_FN void load(int r) {
    GB_UNROLL for (int k = 0; k < V; ++k) {
      q[k].data[r] = ld_keep<SLOT, 1>(at + k * next + r).data[0];
    }
  }
  GB_FN compute_t<T> value(int r, int k) const { return to_compute(q[k].data[r]); }
  GB_FN u32 word(int r, int k) const {
    return word_across(q[k], q[k + 1], q[k + 2], q[k + 3], r);
  }
};

// Threads of a block along x.
constexpr i32 PATCHES_X = 8;

// DOWN: the patches of a block along y. A patch at an edge is done row by row.
template <int V, int R, int DOWN, bool FILL, int B, class Body, class Reads, class Writes, int N,
          int M>
GB_FN void xpose(const RowsParams<N, B, M>& p) {
  constexpr i32 width = BLOCK / DOWN * V, height = DOWN * R;
  const RowsTile<N> tile = rows_tile<FILL, Reads>(p, width, height);
  i32 x = threadIdx.x * V, y = threadIdx.y * R;
  if constexpr (DOWN < BLOCK / PATCHES_X) {
    x += threadIdx.y / DOWN * (PATCHES_X * V);
    y = threadIdx.y % DOWN * R;
  }
  if (tile.inside_columns >= width && tile.inside_rows >= height) {
    const rows_thread<R, Body, Reads, Writes> thread(p, tile, y, 1);
    rows_patch<V, R, Reads, Writes> patch(p, tile, x, y, 1);
    patch.template compute<false, Body>(p, tile, thread, tile.inside_rows);
    return;
  }
  GB_ROLLED for (i32 r = y; r < y + R && r < tile.rows; ++r) {
    const rows_thread<1, Body, Reads, Writes> thread(p, tile, r, 1);
    rows_rest<V, 1, FILL, Body, Reads, Writes>(p, tile, thread, x, r, 1);
  }
}

}  // namespace gb

#endif
