// RUNNING: rows that begin anywhere in the vectors of a dense output.
//
// The output is walked as in FLAT, as one run of vectors. Where a vector lies in its row, of what
// axes that row is and where the next one begins is computed once per vector; an operand that is
// not dense is then read by the words or elements that a vector has of it, or twice where it is the
// same for a whole row. A vector is no longer than a row, so that two rows have a part in it at most.
#ifndef GB_RUNNING_CUH
#define GB_RUNNING_CUH

#include "flat.cuh"

namespace gb {

// Python: struct "@{N}Q2q{N}q{B*N}q3Q{3+3*B}I0q".
template <int N, int B> struct RunningParams {
  u64 slots[N];               // reads, then writes
  i64 n, head;                // elements; those before the first vector, as in FLAT
  i64 column_stride[N];       // elements, along a row
  i64 row_stride[B][N];       // elements; axes of the rows, major to minor
  FastDiv64 length;           // of a row
  FastDiv period;             // the same in 32 bits
  FastDiv axis[B];            // extents of the axes of the rows
};
static_assert(sizeof(RunningParams<3, 1>) == 8 * (3 + 2 + 3 + 3 + 3 + 3), "no padding");
static_assert(sizeof(RunningParams<2, 2>) == 8 * (2 + 2 + 2 + 4 + 3) + 36 + 4, "4 at the end");

// Where a vector lies: `column` elements of its row are before it, `left` from its first one on.
struct RunPlace {
  u32 column, left;
};

// The four bytes of high:low that begin `bits` mod 32 bits from the lowest.
GB_FN u32 shifted(u32 low, u32 high, u32 bits) {
#ifdef GB_EMU
  return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> (bits & 31));
#else
  u32 word;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(low), "r"(high), "r"(bits));
  return word;
#endif
}

// 0 for 64 bits and more.
GB_FN u64 moved_left(u64 x, u32 bits) {
#ifdef GB_EMU
  return bits < 64 ? x << bits : 0;
#else
  asm("shl.b64 %0, %0, %1;" : "+l"(x) : "r"(bits));
  return x;
#endif
}

// An operand as a thread holds it. `place` is told where the row of a vector and the next one begin.
// INSIDE: the vector and a word behind it lie in its row.
template <int SLOT, int V, int U, class Operand> struct RunRead;

template <int SLOT, int V, int U, class T, AccessPattern K, int W>
struct RunRead<SLOT, V, U, Read<T, K, W>> : FlatRead<SLOT, V, U, Read<T, K, W>> {
  template <bool INSIDE> GB_FN void place(int, i64, i64, i64, RunPlace) {}
};

// What is kept in words: Own::bits(u, i) is the i-th word of vector u.
template <class Own, class T> struct RunWords {
  static constexpr int EACH = 4 / sizeof(T);
  GB_FN compute_t<T> value(int u, int k) const {
    const u32 bits = static_cast<const Own*>(this)->bits(u, k / EACH);
    return to_compute(bits_as<T>(bits >> 8 * sizeof(T) * (k % EACH)));
  }
  GB_FN u32 word(int u, int k) const {
    return canonical<T>(static_cast<const Own*>(this)->bits(u, k / EACH));
  }
  GB_FN void load(int, u32) {}
};

// The same in a whole row.
template <int SLOT, int V, int U, class T, bool WORDS = fills_words<V, T>> struct RunColumn {
  const T* at;
  T c[U], next[U];
  u32 left[U];
  GB_FN void start(u64 slot, i64) { at = address<const T>(slot); }
  template <bool INSIDE> GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    left[u] = to.left;
    c[u] = ld_keep<SLOT, 1>(at + row).data[0];
    if (!INSIDE && to.left < V) next[u] = ld_keep<SLOT, 1>(at + following).data[0];
  }
  GB_FN void load(int, u32) {}
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(k < left[u] ? c[u] : next[u]); }
};

// The same of small elements: a word is some bytes of `c` and some of `next`, as four bits say of
// each byte.
template <int SLOT, int V, int U, class T>
struct RunColumn<SLOT, V, U, T, true> : RunWords<RunColumn<SLOT, V, U, T, true>, T> {
  static constexpr int BITS = 4 * sizeof(T), MANY = 64 / BITS, GROUPS = (V + MANY - 1) / MANY;
  const T* at;
  u32 c[U], next[U];
  u64 others[U][GROUPS];
  GB_FN void start(u64 slot, i64) { at = address<const T>(slot); }
  template <bool INSIDE> GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    c[u] = next[u] = low_bits(ld_keep<SLOT, 1>(at + row).data[0]);
    if (!INSIDE && to.left < V) next[u] = low_bits(ld_keep<SLOT, 1>(at + following).data[0]);
    GB_UNROLL for (int g = 0; g < GROUPS; ++g) {
      const u32 before = to.left < g * MANY ? 0 : to.left - g * MANY;
      others[u][g] =
          INSIDE ? 0 : moved_left(0x4444444444444444, BITS * (before < MANY ? before : MANY));
    }
  }
  GB_FN u32 bits(int u, int i) const {
    const u32 chosen = static_cast<u32>(others[u][i / 4] >> 16 * (i % 4));
    return permute(c[u], next[u], sizeof(T) == 1 ? chosen : chosen + 0x1010);
  }
};

template <int SLOT, int V, int U, class T, int W>
struct RunRead<SLOT, V, U, Read<T, COLUMN, W>> : RunColumn<SLOT, V, U, T> {};

// What a register holds of an element from the load on: where two ways join, less would be masked.
template <class T, bool SMALL = sizeof(T) < 4> struct RunHeld {
  T x;
  GB_FN void hold(T from) { x = from; }
  GB_FN T held() const { return x; }
};
template <class T> struct RunHeld<T, true> {
  u32 x;
  GB_FN void hold(T from) { x = fixed(low_bits(from)); }
  GB_FN T held() const { return bits_as<T>(x); }
};

// ROW: unit stride along a row, the same in every row; TILE: unit stride, any row; GATHERED: any.
// Elements are `step` apart.
template <int SLOT, int V, int U, class T> struct RunElements {
  const T* at;
  RunHeld<T> v[U][V];
  GB_FN void start(u64 slot, i64) { at = address<const T>(slot); }
  template <bool INSIDE>
  GB_FN void place(int u, i64 row, i64 following, i64 step, RunPlace to) {
    const T* here = at + row + to.column * step;
    const T* there = at + following - to.left * step;
    GB_UNROLL for (int k = 0; k < V; ++k) {
      v[u][k].hold(ld_keep<SLOT, 1>((INSIDE || k < to.left ? here : there) + k * step).data[0]);
    }
  }
  GB_FN void load(int, u32) {}
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u][k].held()); }
  GB_FN u32 word(int u, int k) const {
    return canonical<T>(joined(v[u][k].x, v[u][k + 1].x, v[u][k + 2].x, v[u][k + 3].x));
  }
};

template <int SLOT, int V, int U, class T, int W>
struct RunRead<SLOT, V, U, Read<T, GATHERED, W>> : RunElements<SLOT, V, U, T> {};

// Unit stride.
template <int SLOT, int V, int U, class T, bool WORDS = fills_words<V, T>>
struct RunUnit : RunElements<SLOT, V, U, T> {};

// The same of small elements. Inside its row a vector is read by words, each of which has an element
// of the row, and is shifted when it is used: the loads of all vectors are under way by then.
template <int SLOT, int V, int U, class T>
struct RunUnit<SLOT, V, U, T, true> : RunWords<RunUnit<SLOT, V, U, T, true>, T> {
  static constexpr int EACH = 4 / sizeof(T), COUNT = V / EACH;
  const T* at;
  u32 w[U][COUNT + 1], shift[U];
  GB_FN void start(u64 slot, i64) { at = address<const T>(slot); }
  template <bool INSIDE> GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    const T* here = at + row + to.column;
    if constexpr (INSIDE) {
      const u64 begin = reinterpret_cast<u64>(here);
      const u32* words = address<const u32>(begin & ~static_cast<u64>(3));
      GB_UNROLL for (int i = 0; i <= COUNT; ++i) w[u][i] = ld_keep<SLOT, 1>(words + i).data[0];
      shift[u] = static_cast<u32>(begin) << 3;
    } else {
      const T* there = at + following - to.left;
      T v[V];
      GB_UNROLL for (int k = 0; k < V; ++k) {
        v[k] = ld_keep<SLOT, 1>(fixed(to.left > k ? here : there) + k).data[0];
      }
      GB_UNROLL for (int i = 0; i < COUNT; ++i) w[u][i] = joined(v + i * EACH);
      w[u][COUNT] = shift[u] = 0;
    }
  }
  GB_FN u32 bits(int u, int i) const { return shifted(w[u][i], w[u][i + 1], shift[u]); }
};

template <int SLOT, int V, int U, class T, int W>
struct RunRead<SLOT, V, U, Read<T, TILE, W>> : RunUnit<SLOT, V, U, T> {
  template <bool INSIDE> GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    RunUnit<SLOT, V, U, T>::template place<INSIDE>(u, row, following, 1, to);
  }
};

template <int SLOT, int V, int U, class T, int W>
struct RunRead<SLOT, V, U, Read<T, ROW, W>> : RunUnit<SLOT, V, U, T> {
  template <bool INSIDE> GB_FN void place(int u, i64, i64, i64, RunPlace to) {
    RunUnit<SLOT, V, U, T>::template place<INSIDE>(u, 0, 0, 1, to);
  }
};

template <int V, int U, class Reads, class I, class Writes, class O> struct RunTile;

// The operands of one thread: U vectors of V elements, BLOCK vectors apart.
template <int V, int U, class... R, int... I, class... W, int... O>
struct RunTile<V, U, List<R...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  static constexpr u32 AROUND = 4;  // the most elements of a word
  Tuple<Index<I...>, RunRead<I, V, U, R>...> in;
  Tuple<Index<O...>, FlatWrite<READS + O, V, W>...> out;
  u32 first_row, first_column;

  template <class P> GB_FN RunTile(const P& p, i64 base)
      : first_row(static_cast<u32>(divide(static_cast<u64>(base), p.length))),
        first_column(static_cast<u32>(base) - first_row * p.period.d) {
    (get<I>(in).start(p.slots[I], base), ...);
    (get<O>(out).start(p.slots[READS + O], base), ...);
  }

  // Where a row begins in each slot.
  template <int B> GB_FN void row(const RunningParams<N, B>& p, u32 number, i64 (&begin)[N]) {
    GB_UNROLL for (int i = 0; i < N; ++i) begin[i] = 0;
    GB_UNROLL for (int b = B - 1; b >= 0; --b) {
      const u32 c = b == 0 ? number : take(number, p.axis[b]);
      GB_UNROLL for (int i = 0; i < READS; ++i) begin[i] += c * p.row_stride[b][i];
    }
  }

  template <class Body, int B>
  GB_FN void run(const RunningParams<N, B>& p, const typename Body::Scalars& scalars, u32 offset) {
    GB_UNROLL for (int u = 0; u < U; ++u) {
      u32 down = first_column + offset + u * (BLOCK * V);
      const u32 column = take(down, p.period);
      const u32 number = first_row + down;
      const RunPlace to{column, p.period.d - column};
      i64 here[N];
      row(p, number, here);
      if (to.left >= V + AROUND) {
        (get<I>(in).template place<true>(u, here[I], 0, p.column_stride[I], to), ...);
      } else {
        i64 there[N];
        row(p, number + 1, there);
        (get<I>(in).template place<false>(u, here[I], there[I], p.column_stride[I], to), ...);
      }
      (get<I>(in).load(u, offset), ...);
    }
    GB_UNROLL for (int u = 0; u < U; ++u) {
      const typename Body::Rows rows[V] = {};
      evaluate<Body, V>(in, out, scalars, typename Body::Columns{}, rows, u);
      (get<O>(out).store(u, offset), ...);
    }
  }

  template <class Body> GB_FN void start(typename Body::Scalars& scalars) {
    Body::scalars(in, out, scalars);
  }
};

template <int V, int U, class Reads, class Writes>
using run_tile = RunTile<V, U, Reads, indices<Reads>, Writes, indices<Writes>>;

template <int V, int U, int B, class Body, class Reads, class Writes, int N>
GB_FN void running(const RunningParams<N, B>& p) {
  const RunBlock<V, U> block(p);
  typename Body::Scalars scalars;
  if (U > 1 && block.whole) {
    run_tile<V, U, Reads, Writes> tile(p, block.base);
    tile.template start<Body>(scalars);
    tile.template run<Body>(p, scalars, threadIdx.x * V);
    return;
  }
  const i64 single = block.single(p);
  if (single >= 0) {
    run_tile<1, 1, Reads, Writes> tile(p, single);
    tile.template start<Body>(scalars);
    tile.template run<Body>(p, scalars, 0);
  }
  const u32 left = block.left(p);
  run_tile<V, 1, Reads, Writes> tile(p, block.base);
  tile.template start<Body>(scalars);
  GB_ROLLED for (u32 j = threadIdx.x * V; j + V <= left; j += BLOCK * V) {
    tile.template run<Body>(p, scalars, j);
  }
}

}  // namespace gb

#endif
