// PHASE: short inner axes. The inner G axes are one row of `period` elements. In LINEAR writes they
// and the rows after them follow each other without a gap.
//
// A tile is a whole number of rows, so many that a thread's V elements have the same place in every
// tile: what depends on that place alone (PERIODIC operands, offsets of GATHERED ones) is loaded and
// computed once, for all the tiles of a block. A block covers U tiles, one below the other;
// divisions are done once per thread. Where all U are whole, they run without a predicate, all loads
// before the first store. With FILL the extents cover the padding, which is written and for which
// nothing is read; no read is LINEAR then.
#ifndef GB_PHASE_CUH
#define GB_PHASE_CUH

#include "scalar.cuh"

namespace gb {

// Python, with B at least 1: struct "@{N}Q{N}q{G*N}q{B*N}q2q2I{6+4*G+4*B}I{M}Q"; "@" aligns the
// last member as C does.
template <int N, int G, int B, int M = 1> struct PhaseParams {
  static constexpr int BATCHES = B < 1 ? 1 : B;
  u64 slots[N];                        // reads, then writes
  i64 row_stride[N];                   // elements
  i64 inner_stride[G][N];              // elements; axes major to minor
  i64 batch_stride[BATCHES][N];        // elements; axes major to minor
  i64 rows, size_rows;                 // to visit, logical
  u32 span, height;                    // elements and rows of a tile
  ShortDiv period;                     // of the inner axes
  FastDiv tiles;                       // blocks along the rows
  ShortDiv inner[G];                   // extents of the inner axes
  FastDiv batch[BATCHES];              // extents of the batch axes
  u32 inner_size[G];                   // logical sizes; read with FILL only, as size_rows
  u32 batch_size[BATCHES];
  u64 fill[M];                         // storage bits of the padding value, one per write
};
static_assert(sizeof(PhaseParams<3, 1, 0>) == 8 * (3 + 3 + 3 + 3 + 2 + 1 + 1) + 56, "no padding");
static_assert(sizeof(PhaseParams<2, 2, 1>) == 8 * (2 + 2 + 4 + 2 + 2 + 1 + 1) + 72, "no padding");

// Where a thread begins: at a row, and at an element of what follows in memory from the batch element
// on, where that has no gaps; and how many of each a tile has.
struct PhasePlace { i64 row, element; u32 height, span; };

// An operand as a thread holds it. `start` is told where the batch element begins, and where the
// thread does; `place`, where its k-th element lies: its row in the tile and its offset in the row;
// `pad`, beside which of the thread's own elements the k-th is, where that is padding; `placed`,
// that all have been.
template <int SLOT, int V, int U, class Offset, class Operand> struct PhaseRead;

template <int SLOT, int V, int U, class Offset, class T, AccessPattern K, int W, int SAME>
struct PhaseRead<SLOT, V, U, Offset, Read<T, K, W, SAME>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE,
                "PHASE reads: LINEAR, PERIODIC, GATHERED, SCALAR or VALUE");
  GB_FN void start(u64 slot, i64 base, const PhasePlace&, i64) { this->fetch(slot, base); }
  GB_FN void place(int, Offset, Offset, Offset) {}
  GB_FN void pad(int, int) {}
  GB_FN void placed() {}
  GB_FN void load(int) {}
  GB_FN void load(int, int) {}
  GB_FN void advance() {}
};

// What a vector has of an operand of which SAME neighbours are one element.
template <int V, int SAME, class T> struct PhaseElements {
  T v[V / SAME];
  GB_FN T element(int k) const { return v[k / SAME]; }
  GB_FN u32 word(int k) const {
    if constexpr (SAME % 4 == 0) return word_of(element(k));
    else return word_of(element(k), element(k + 1), element(k + 2), element(k + 3));
  }
};

// The same in every row.
template <int SLOT, int V, int U, class Offset, class T, int W, int SAME>
struct PhaseRead<SLOT, V, U, Offset, Read<T, PERIODIC, W, SAME>> {
  static constexpr int WORDS = sizeof(T) == 1 && V % 4 == 0 ? V / 4 : 1;
  const T* at;
  PhaseElements<V, SAME, T> c;
  u32 w[WORDS];  // of elements of a byte
  GB_FN void start(u64 slot, i64 base, const PhasePlace&, i64) {
    at = address<const T>(slot) + base;
  }
  GB_FN void place(int k, Offset, Offset inner, Offset) {
    if (k % SAME == 0) c.v[k / SAME] = ld_keep<SLOT, 1>(at + inner).data[0];
  }
  GB_FN void pad(int k, int other) { c.v[k / SAME] = c.v[other / SAME]; }
  GB_FN void placed() {
    if constexpr (fills_words<V, T> && sizeof(T) == 1) {
      GB_UNROLL for (int i = 0; i < WORDS; ++i) w[i] = fixed(c.word(4 * i));
    }
  }
  GB_FN void load(int) {}
  GB_FN void load(int, int) {}
  GB_FN void advance() {}
  GB_FN compute_t<T> value(int, int k) const { return to_compute(c.element(k)); }
  GB_FN u32 word(int, int k) const { return w[k / 4]; }
};

// The same memory order as the writes.
template <int SLOT, int V, int U, class Offset, class T, int W, int SAME>
struct PhaseRead<SLOT, V, U, Offset, Read<T, LINEAR, W, SAME>> {
  const T* at;
  u32 step;
  Vec<T, V> v[U];
  GB_FN void start(u64 slot, i64 base, const PhasePlace& place, i64) {
    at = address<const T>(slot) + base + place.element;
    step = place.span;
  }
  GB_FN void place(int, Offset, Offset, Offset) {}
  GB_FN void pad(int, int) {}
  GB_FN void placed() {}
  GB_FN void load(int u) { v[u] = ld_stream<SLOT, V, W>(at + u * step); }
  GB_FN void load(int u, int k) { v[u].data[k] = ld_stream<SLOT, 1>(at + u * step + k).data[0]; }
  GB_FN void advance() { at += step; }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(v[u].data[k]); }
  GB_FN u32 word(int u, int k) const { return word_of<W>(v[u], k); }
};

// Any strides.
template <int SLOT, int V, int U, class Offset, class T, int W, int SAME>
struct PhaseRead<SLOT, V, U, Offset, Read<T, GATHERED, W, SAME>> {
  const T* at;
  i64 step;
  Offset offset[V / SAME];
  PhaseElements<V, SAME, T> e[U];
  GB_FN void start(u64 slot, i64 base, const PhasePlace& place, i64 row_stride) {
    at = address<const T>(slot) + base + place.row * row_stride;
    step = place.height * row_stride;
  }
  GB_FN void place(int k, Offset row, Offset inner, Offset row_stride) {
    if (k % SAME == 0) offset[k / SAME] = row * row_stride + inner;
  }
  GB_FN void pad(int k, int other) { offset[k / SAME] = offset[other / SAME]; }
  GB_FN void placed() {}
  GB_FN void load(int u) {
    GB_UNROLL for (int k = 0; k < V; ++k) load(u, k);
  }
  // The first of those that are the same is always loaded before the others.
  GB_FN void load(int u, int k) {
    if (k % SAME) return;
    e[u].v[k / SAME] = ld_keep<SLOT, 1>(at + u * step + offset[k / SAME]).data[0];
  }
  GB_FN void advance() { at += step; }
  GB_FN compute_t<T> value(int u, int k) const { return to_compute(e[u].element(k)); }
  GB_FN u32 word(int u, int k) const { return e[u].word(k); }
};

// Every element of a tile, in the order of memory.
template <int SLOT, int V, class Offset, class W> struct PhaseWrite;

template <int SLOT, int V, class Offset, class T>
struct PhaseWrite<SLOT, V, Offset, Write<T, LINEAR>> : Result<SLOT, V, T> {
  T* at;
  u32 step;
  GB_FN void start(u64 slot, i64 base, const PhasePlace& place, i64, bool) {
    at = address<T>(slot) + base + place.element;
    step = place.span;
  }
  GB_FN void place(int, Offset, Offset, Offset, bool) {}
  GB_FN void store(int u) const { Result<SLOT, V, T>::store(at + u * step); }
  GB_FN void store(int u, int k) const {
    st_stream<SLOT>(at + u * step + k, Vec<T, 1>{{this->v.data[k]}});
  }
  GB_FN void advance() { at += step; }
};

// Any strides. A write that lacks axes (PARTIAL) is done at their first index only.
template <int SLOT, int V, class Offset, class T, AccessPattern K>
struct PhaseWrite<SLOT, V, Offset, Write<T, K>> : Result<SLOT, V, T> {
  static_assert(K == GATHERED || K == PARTIAL, "PHASE writes: LINEAR, GATHERED or PARTIAL");
  T* at;
  i64 step;
  Offset offset[V];
  u32 mine;     // bit k: whether element k is stored in tiles that are
  bool active;  // whether anything is stored: in this batch element, and from this row on
  GB_FN void start(u64 slot, i64 base, const PhasePlace& place, i64 row_stride, bool batch) {
    at = address<T>(slot) + base + place.row * row_stride;
    step = place.height * row_stride;
    mine = 0;
    active = batch && (step != 0 || place.row == 0);
  }
  GB_FN void place(int k, Offset row, Offset inner, Offset row_stride, bool first) {
    offset[k] = row * row_stride + inner;
    if (K == GATHERED || (first && (row_stride != 0 || row == 0))) mine |= 1u << k;
  }
  GB_FN void store(int u) const {
    GB_UNROLL for (int k = 0; k < V; ++k) store(u, k);
  }
  GB_FN void store(int u, int k) const {
    if (K == PARTIAL && !(active && (mine >> k & 1) && (step != 0 || u == 0))) return;
    st_stream<SLOT>(at + u * step + offset[k], Vec<T, 1>{{this->v.data[k]}});
  }
  GB_FN void advance() {
    at += step;
    active = active && step != 0;
  }
};

// Which elements of a vector are padding, and what they are. Bit k of `inside`: element k is none.
template <int V, class T, bool WORDS = fills_words<V, T>> struct Padding {
  u32 inside;
  T value;
  GB_FN void start(u32 bits, u64 fill) {
    inside = bits;
    value = padding_as<T>(fill);
  }
  GB_FN void into(Vec<T, V>& v) const {
    GB_UNROLL for (int k = 0; k < V; ++k) {
      if (!(inside >> k & 1)) v.data[k] = value;
    }
  }
};

// The same of small elements, a word at a time.
template <int V, class T> struct Padding<V, T, true> {
  static constexpr int EACH = 4 / sizeof(T), COUNT = V / EACH;
  u32 kept[COUNT], value;  // the bits that are kept, and the padding value in every place
  GB_FN void start(u32 bits, u64 fill) {
    constexpr u32 ONES = 0xffffffff >> (32 - 8 * sizeof(T));
    value = low_bits(padding_as<T>(fill)) * (0xffffffff / ONES);
    GB_UNROLL for (int i = 0; i < COUNT; ++i) {
      kept[i] = 0;
      GB_UNROLL for (int k = 0; k < EACH; ++k) {
        if (bits >> (i * EACH + k) & 1) kept[i] |= ONES << 8 * sizeof(T) * k;
      }
      kept[i] = fixed(kept[i]);
    }
  }
  GB_FN void into(Vec<T, V>& v) const {
    using Few = Vec<T, EACH>;
    GB_UNROLL for (int i = 0; i < COUNT; ++i) {
      Few few;
      GB_UNROLL for (int k = 0; k < EACH; ++k) few.data[k] = v.data[i * EACH + k];
      few = bits_as<Few>((bits_as<u32>(few) & kept[i]) | (value & ~kept[i]));
      GB_UNROLL for (int k = 0; k < EACH; ++k) v.data[i * EACH + k] = few.data[k];
    }
  }
};

template <int V, class W> struct PhasePadding;
template <int V, class T, AccessPattern K> struct PhasePadding<V, Write<T, K>> {
  using type = Padding<V, T>;
};

template <int V, int U, bool FILL, class Offset, class Body, class Reads, class I, class Writes,
          class O>
struct PhaseThread;

template <int V, int U, bool FILL, class Offset, class Body, class... Rd, int... I, class... W,
          int... O>
struct PhaseThread<V, U, FILL, Offset, Body, List<Rd...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(Rd);
  static constexpr int N = READS + sizeof...(W);
  u32 l;       // the thread's first element in a tile
  u32 inside;  // bit k: whether element k has a place in its row that is no padding
  Tuple<Index<I...>, PhaseRead<I, V, U, Offset, Rd>...> in;
  Tuple<Index<O...>, PhaseWrite<READS + O, V, Offset, W>...> out;
  Tuple<Index<O...>, typename PhasePadding<V, W>::type...> padding;
  typename Body::Scalars scalars;
  typename Body::Rows rows[V];

  // `base`: where the batch element starts in each slot, and `first` whether it is the first along
  // every axis that the slot lacks; `row`: the block's first row; `data`: whether there is more
  // than padding.
  template <int G, int B, int M>
  GB_FN PhaseThread(const PhaseParams<N, G, B, M>& p, const i64 (&base)[N], const bool (&first)[N],
                    const PhasePlace& at, u32 begin, bool data)
      : l(begin), inside(0) {
    static_assert(!FILL || M == sizeof...(W), "one padding value per write");
    if (data) (get<I>(in).start(p.slots[I], base[I], at, p.row_stride[I]), ...);
    (get<O>(out).start(p.slots[READS + O], base[READS + O], at, p.row_stride[READS + O],
                       first[READS + O]), ...);
    GB_UNROLL for (int k = 0; k < V; ++k) {
      u32 rest = l + k;
      u32 along = take(rest, p.period);  // leaves the row
      Offset inner[N] = {};
      bool at_first[N], here = data;
      GB_UNROLL for (int i = 0; i < N; ++i) at_first[i] = true;
      GB_UNROLL for (int g = G - 1; g >= 0; --g) {
        const u32 c = g == 0 ? along : take(along, p.inner[g]);
        if (FILL) here = here && c < p.inner_size[g];
        GB_UNROLL for (int i = 0; i < N; ++i) {
          inner[i] += static_cast<Offset>(c) * static_cast<Offset>(p.inner_stride[g][i]);
          at_first[i] = at_first[i] && (c == 0 || p.inner_stride[g][i] != 0);
        }
      }
      const Offset below = static_cast<Offset>(rest);
      (get<O>(out).place(k, below, inner[READS + O], static_cast<Offset>(p.row_stride[READS + O]),
                         at_first[READS + O]), ...);
      if (!FILL || here) {
        (get<I>(in).place(k, below, inner[I], static_cast<Offset>(p.row_stride[I])), ...);
        inside |= 1u << k;
      } else if (k > 0) {
        (get<I>(in).pad(k, k - 1), ...);
      }
    }
    if constexpr (FILL) {
      GB_UNROLL for (int k = V - 2; k >= 0; --k) {
        if (!(inside & ((2u << k) - 1))) (get<I>(in).pad(k, k + 1), ...);
      }
      (get<O>(padding).start(inside, p.fill[O]), ...);
    }
    (get<I>(in).placed(), ...);
    if (!FILL || data) Body::scalars(in, out, scalars);
    GB_UNROLL for (int k = 0; k < V; ++k) {
      if (!FILL || inside) Body::rows(in, out, scalars, rows[k], k);
    }
  }

  // U whole tiles. What is padding in every row has been computed of an element beside it, and is
  // replaced.
  GB_FN void whole() {
    GB_UNROLL for (int u = 0; u < U; ++u) (get<I>(in).load(u), ...);
    GB_UNROLL for (int u = 0; u < U; ++u) {
      evaluate<Body, V>(in, out, scalars, typename Body::Columns{}, rows, u);
      if constexpr (FILL) (get<O>(padding).into(get<O>(out).v), ...);
      (get<O>(out).store(u), ...);
    }
  }

  // Whether that may be done where elements from `data` on are padding: it counts from the first
  // tile's first element.
  GB_FN bool is_plain(i64 data, u32 span) const {
    return !FILL || (inside && data - static_cast<i64>(U - 1) * span - l >= V);
  }

  // Bit k: whether element k of a tile is no padding.
  GB_FN u32 before(i64 data) const {
    const i64 left = data - l;
    return left >= V ? inside : left <= 0 ? 0 : inside & ((1u << left) - 1);
  }

  // The elements of one tile before `end`, which counts as `data` does; one by one, but for what is a
  // whole vector.
  template <class P> GB_FN void part(const P& p, i64 end, i64 data) {
    const i64 left = end - l;
    if constexpr (FILL) {
      const u32 here = before(data);
      (get<O>(out).fill(p.fill[O]), ...);
      GB_UNROLL for (int k = 0; k < V; ++k) {
        if (here >> k & 1) {
          (get<I>(in).load(0, k), ...);
          Body::run(in, out, scalars, typename Body::Columns{}, rows[k], 0, k);
        }
      }
    } else if (left >= V) {
      (get<I>(in).load(0), ...);
      evaluate<Body, V>(in, out, scalars, typename Body::Columns{}, rows, 0);
    }
    if (left >= V) {
      (get<O>(out).store(0), ...);
      return;
    }
    GB_UNROLL for (int k = 0; k + 1 < V; ++k) {
      if (k < left) {
        if constexpr (!FILL) {
          (get<I>(in).load(0, k), ...);
          Body::run(in, out, scalars, typename Body::Columns{}, rows[k], 0, k);
        }
        (get<O>(out).store(0, k), ...);
      }
    }
  }

  // To the tile below.
  GB_FN void advance() {
    (get<I>(in).advance(), ...);
    (get<O>(out).advance(), ...);
  }
};

template <int V, int U, int G, int B, bool FILL, class Offset, class Body, class Reads,
          class Writes, int N, int M>
GB_FN void phase(const PhaseParams<N, G, B, M>& p) {
  const u32 l = threadIdx.x * V;
  if (l >= p.span) return;
  u32 number = blockIdx.x;
  const u64 tile = static_cast<u64>(B == 0 ? number : take(number, p.tiles)) * U;
  const i64 row = tile * p.height;
  i64 base[N] = {};
  bool first[N], data = true;
  GB_UNROLL for (int i = 0; i < N; ++i) first[i] = true;
  GB_UNROLL for (int b = B - 1; b >= 0; --b) {
    const u32 k = take(number, p.batch[b]);
    if (FILL) data = data && k < p.batch_size[b];
    GB_UNROLL for (int i = 0; i < N; ++i) {
      base[i] += k * p.batch_stride[b][i];
      first[i] = first[i] && (k == 0 || p.batch_stride[b][i] != 0);
    }
  }
  if (FILL) data = data && row < p.size_rows;
  PhaseThread<V, U, FILL, Offset, Body, Reads, indices<Reads>, Writes, indices<Writes>> thread(
      p, base, first, {row, static_cast<i64>(tile * p.span + l), p.height, p.span}, l, data);
  // Rows to visit, and those that are no padding.
  i64 left = p.rows - row, inside = FILL && data ? p.size_rows - row : 0;
  const i64 period = 0u - p.period.minus;
  if (left < static_cast<i64>(U) * p.height || !thread.is_plain(inside * period, p.span)) {
    GB_ROLLED for (int u = 0; u < U && left > 0; ++u) {
      thread.part(p, left * period, inside * period);
      thread.advance();
      left -= p.height;
      inside -= p.height;
    }
    return;
  }
  thread.whole();
}

}  // namespace gb

#endif
