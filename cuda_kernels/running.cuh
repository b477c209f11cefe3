// RUNNING: rows that begin anywhere in the vectors of a dense output.
//
// The output is walked as in FLAT, as one run of vectors. Where a vector lies in its row, and of
// what axes that row is, is computed once per vector; an operand that is not dense is then read by
// the words or elements that a vector has of it. A vector is no longer than a row, so that two rows
// have a part in it at most. One that crosses from a row into the next is first computed as if it
// were the last of its row, as the others, without a branch; then again, one at a time, of both rows;
// then all are stored.
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

// An address some bytes on.
template <class T> GB_FN const T* moved(const T* at, i64 bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(at) + bytes);
}

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

// The same number in registers, which the compiler would compute anew for each vector.
GB_FN i64 fixed(i64 number) {
#ifndef GB_EMU
  asm("" : "+l"(number));
#endif
  return number;
}

// The number of the highest bit that is set, of one at least.
GB_FN u32 highest(u32 bits) {
#ifdef GB_EMU
  return 31 - __builtin_clz(bits);
#else
  u32 zeros;
  asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(bits));
  return 31 - zeros;
#endif
}

// An operand as a thread holds it: of vectors that lie in one row, or of one that may CROSS from a
// row into the next. `place` is told where the row of a vector and the next one begin; `take`, which
// of the thread's vectors this is.
template <int SLOT, int V, int U, bool CROSS, class Operand> struct RunRead;

template <int SLOT, int V, int U, bool CROSS, class T, AccessPattern K, int W>
struct RunRead<SLOT, V, U, CROSS, Read<T, K, W>> : FlatRead<SLOT, V, U, Read<T, K, W>> {
  GB_FN void place(int, i64, i64, i64, RunPlace) {}
  template <int MANY>
  GB_FN void take(const RunRead<SLOT, V, MANY, false, Read<T, K, W>>& other, int u) {
    if constexpr (K == LINEAR) {
      GB_UNROLL for (int i = 0; i < MANY; ++i) {
        if (i == u) this->v[0] = other.v[i];
      }
    } else {
      this->c = other.c;
    }
  }
};

// What is read where a vector lies in its row.
template <class T> struct RunPlaced {
  const T* at;
  GB_FN void start(u64 slot, i64) { at = address<const T>(slot); }
  GB_FN void load(int, u32) {}
  GB_FN void take(const RunPlaced& other, int) { at = other.at; }
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
};

// The same in a whole row.
template <int SLOT, int V, int U, bool CROSS, class T, bool WORDS = CROSS && fills_words<V, T>>
struct RunColumn : RunPlaced<T> {
  T c[U];
  GB_FN void place(int u, i64 row, i64, i64, RunPlace) {
    c[u] = ld_keep<SLOT, 1>(moved(this->at, row)).data[0];
  }
  GB_FN compute_t<T> value(int u, int) const { return to_compute(c[u]); }
  GB_FN u32 word(int u, int) const { return word_of(c[u]); }
};

template <int SLOT, int V, int U, class T>
struct RunColumn<SLOT, V, U, true, T, false> : RunPlaced<T> {
  T c[U], next[U];
  u32 left[U];
  GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    left[u] = to.left;
    c[u] = ld_keep<SLOT, 1>(moved(this->at, row)).data[0];
    if (to.left < V) next[u] = ld_keep<SLOT, 1>(moved(this->at, following)).data[0];
  }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(k < left[u] ? c[u] : next[u]); }
};

// The same of small elements: a word is some bytes of `c` and some of `next`, as four bits say of
// each byte.
template <int SLOT, int V, int U, class T>
struct RunColumn<SLOT, V, U, true, T, true>
    : RunPlaced<T>, RunWords<RunColumn<SLOT, V, U, true, T, true>, T> {
  static constexpr int BITS = 4 * sizeof(T), MANY = 64 / BITS, GROUPS = (V + MANY - 1) / MANY;
  u32 c[U], next[U];
  u64 others[U][GROUPS];
  GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    c[u] = next[u] = low_bits(ld_keep<SLOT, 1>(moved(this->at, row)).data[0]);
    if (to.left < V) next[u] = low_bits(ld_keep<SLOT, 1>(moved(this->at, following)).data[0]);
    GB_UNROLL for (int g = 0; g < GROUPS; ++g) {
      const u32 before = to.left < g * MANY ? 0 : to.left - g * MANY;
      others[u][g] = moved_left(0x4444444444444444, BITS * (before < MANY ? before : MANY));
    }
  }
  GB_FN u32 bits(int u, int i) const {
    const u32 chosen = static_cast<u32>(others[u][i / 4] >> 16 * (i % 4));
    return permute(c[u], next[u], sizeof(T) == 1 ? chosen : chosen + 0x1010);
  }
};

template <int SLOT, int V, int U, bool CROSS, class T, int W>
struct RunRead<SLOT, V, U, CROSS, Read<T, COLUMN, W>> : RunColumn<SLOT, V, U, CROSS, T> {};

// ROW: unit stride along a row, the same in every row; TILE: unit stride, any row; GATHERED: any.
// Elements are `step` apart.
template <int SLOT, int V, int U, bool CROSS, class T> struct RunElements : RunPlaced<T> {
  T v[U][V];
  GB_FN void place(int u, i64 row, i64 following, i64 step, RunPlace to) {
    const T* here = moved(this->at, row) + to.column * step;
    const T* there = moved(this->at, following) - to.left * step;
    GB_UNROLL for (int k = 0; k < V; ++k) {
      v[u][k] = ld_keep<SLOT, 1>((!CROSS || k < to.left ? here : there) + k * step).data[0];
    }
  }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u][k]); }
  GB_FN u32 word(int u, int k) const { return word_at(v[u] + k); }
};

template <int SLOT, int V, int U, bool CROSS, class T, int W>
struct RunRead<SLOT, V, U, CROSS, Read<T, GATHERED, W>> : RunElements<SLOT, V, U, CROSS, T> {};

// Unit stride.
template <int SLOT, int V, int U, bool CROSS, class T, bool WORDS = !CROSS && fills_words<V, T>>
struct RunUnit : RunElements<SLOT, V, U, CROSS, T> {};

// The same of small elements in one row. A vector is read by words, each of which has an element of
// the row, and is shifted when it is used: the loads of all vectors are under way by then.
template <int SLOT, int V, int U, class T>
struct RunUnit<SLOT, V, U, false, T, true>
    : RunPlaced<T>, RunWords<RunUnit<SLOT, V, U, false, T, true>, T> {
  static constexpr int EACH = 4 / sizeof(T), COUNT = V / EACH;
  u32 w[U][COUNT + 1], shift[U];
  GB_FN void place(int u, i64 row, i64, i64, RunPlace to) {
    const u64 begin = reinterpret_cast<u64>(moved(this->at, row) + to.column);
    const u32* words = address<const u32>(begin & ~static_cast<u64>(3));
    GB_UNROLL for (int i = 0; i <= COUNT; ++i) w[u][i] = ld_keep<SLOT, 1>(words + i).data[0];
    shift[u] = static_cast<u32>(begin) << 3;
  }
  GB_FN u32 bits(int u, int i) const { return shifted(w[u][i], w[u][i + 1], shift[u]); }
};

template <int SLOT, int V, int U, bool CROSS, class T, int W>
struct RunRead<SLOT, V, U, CROSS, Read<T, TILE, W>> : RunUnit<SLOT, V, U, CROSS, T> {
  GB_FN void place(int u, i64 row, i64 following, i64, RunPlace to) {
    RunUnit<SLOT, V, U, CROSS, T>::place(u, row, following, 1, to);
  }
};

template <int SLOT, int V, int U, bool CROSS, class T, int W>
struct RunRead<SLOT, V, U, CROSS, Read<T, ROW, W>> : RunUnit<SLOT, V, U, CROSS, T> {
  GB_FN void place(int u, i64, i64, i64, RunPlace to) {
    RunUnit<SLOT, V, U, CROSS, T>::place(u, 0, 0, 1, to);
  }
};

template <int SLOT, int V, int U, class W> struct RunWrite;

template <int SLOT, int V, int U, class T>
struct RunWrite<SLOT, V, U, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T *at, *first;
  Vec<T, V> held[U];
  GB_FN void start(u64 slot, i64 base) { at = address<T>(slot) + base; }
  GB_FN void place(u32 offset) { first = fixed(at + offset); }
  GB_FN void hold(int u) {
    GB_UNROLL for (int i = 0; i < U; ++i) {
      if (i == u) held[i] = this->v;
    }
  }
  GB_FN void store(int u) const { st_stream<SLOT>(first + u * (BLOCK * V), held[u]); }
};

template <int V, int U, class Reads, class I, class Writes, class O> struct RunTile;

// The operands of one thread: U vectors of V elements, BLOCK vectors apart.
template <int V, int U, class... R, int... I, class... W, int... O>
struct RunTile<V, U, List<R...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  static constexpr int SIZE[] = {R::SIZE..., 0};  // of elements
  // Elements that lie behind a vector in its row, where words are read: as many as one has.
  static constexpr u32 BEHIND = ((R::SIZE < 4 && V * R::SIZE % 4 == 0) || ...) ? 4 : 0;
  using Crossing = Tuple<Index<I...>, RunRead<I, V, 1, true, R>...>;
  Tuple<Index<I...>, RunRead<I, V, U, false, R>...> in;
  Tuple<Index<O...>, RunWrite<READS + O, V, U, W>...> out;
  u32 first_row, first_column, minus;

  template <class P> GB_FN RunTile(const P& p, i64 base)
      : first_row(static_cast<u32>(divide(static_cast<u64>(base), p.length))),
        first_column(static_cast<u32>(base) - first_row * p.period.d),
        minus(fixed(0u - p.period.d)) {
    (get<I>(in).start(p.slots[I], base), ...);
    (get<O>(out).start(p.slots[READS + O], base), ...);
  }

  // Where a row begins in each slot, in bytes.
  template <int B> GB_FN void row(const RunningParams<N, B>& p, u32 number, i64 (&begin)[N]) {
    GB_UNROLL for (int i = 0; i < N; ++i) begin[i] = 0;
    GB_UNROLL for (int b = B - 1; b >= 0; --b) {
      const u32 c = b == 0 ? number : take(number, p.axis[b]);
      GB_UNROLL for (int i = 0; i < READS; ++i) {
        begin[i] += c * fixed(p.row_stride[b][i] * SIZE[i]);
      }
    }
  }

  // The row of vector u from `offset` on, and the place in it.
  template <class P> GB_FN RunPlace find(const P& p, int u, u32 offset, u32& number) {
    const u32 at = first_column + offset + u * (BLOCK * V), down = divide(at, p.period);
    const u32 column = at + down * minus;
    number = first_row + down;
    return {column, p.period.d - column};
  }

  // Loads a vector as if it lay in its row: in place of one that crosses the last of the row. Says
  // whether it does not cross.
  template <int B> GB_FN bool load(const RunningParams<N, B>& p, int u, u32 offset) {
    u32 number;
    RunPlace to = find(p, u, offset, number);
    const u32 last = p.period.d - V - BEHIND;
    const bool found = V == 1 || to.column <= last;
    if (V > 1) to.column = to.column < last ? to.column : last;
    i64 here[N];
    row(p, number, here);
    (get<I>(in).place(u, here[I], 0, p.column_stride[I], to), ...);
    (get<I>(in).load(u, offset), ...);
    return found;
  }

  // Computes a vector of which two rows have a part.
  template <class Body, int B>
  GB_FN void cross(const RunningParams<N, B>& p, const typename Body::Scalars& scalars, int u,
                   u32 offset) {
    u32 number;
    const RunPlace to = find(p, u, offset, number);
    i64 here[N], there[N];
    row(p, number, here);
    row(p, number + 1, there);
    Crossing crossing;
    (get<I>(crossing).take(get<I>(in), u), ...);
    (get<I>(crossing).place(0, here[I], there[I], p.column_stride[I], to), ...);
    compute<Body>(crossing, scalars, 0);
  }

  template <class Body, int B>
  GB_FN void run(const RunningParams<N, B>& p, const typename Body::Scalars& scalars, u32 offset) {
    u32 crossing = 0;  // bit u: vector u crosses
    (get<O>(out).place(offset), ...);
    GB_UNROLL for (int u = 0; u < U; ++u) {
      if (!load(p, u, offset)) crossing |= 1u << u;
    }
    GB_UNROLL for (int u = 0; u < U; ++u) {
      compute<Body>(in, scalars, u);
      (get<O>(out).hold(u), ...);
    }
    if (V > 1 && crossing) {
      GB_ROLLED do {
        const u32 u = U == 1 ? 0 : highest(crossing);
        crossing ^= 1u << u;
        cross<Body>(p, scalars, u, offset);
        (get<O>(out).hold(u), ...);
      } while (U > 1 && crossing);
    }
    GB_UNROLL for (int u = 0; u < U; ++u) (get<O>(out).store(u), ...);
  }

  template <class Body, class In>
  GB_FN void compute(const In& from, const typename Body::Scalars& scalars, int u) {
    const typename Body::Rows rows[V] = {};
    evaluate<Body, V>(from, out, scalars, typename Body::Columns{}, rows, u);
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
