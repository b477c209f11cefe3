// How operands move over the iteration space, the tuple that holds them, and what is done with them.
#ifndef GB_OPERANDS_CUH
#define GB_OPERANDS_CUH

#include "words.cuh"

namespace gb {

// --- operands ------------------------------------------------------------------------------------

// How an operand moves over the iteration space.
enum AccessPattern {
  LINEAR,    // FLAT: unit stride; GATHER: at the linear index of the iteration
  SCALAR,    // one element, loaded once per thread
  VALUE,     // one element, its storage bits are in the slot itself
  TILE,      // ROWS: unit stride along x, a stride along y
  ROW,       // ROWS: unit stride along x, the same for every y
  COLUMN,    // ROWS: the same for every x, a stride along y
  GATHERED,  // any strides
  PERIODIC,  // PHASE: any strides in the inner axes, the same in every row
  CROSSED,   // XPOSE: unit stride along y
  PARTIAL,   // a write that lacks axes outside the tile: done at their first index only
};

// WIDTH: the most elements that a load may take, where that is not a whole vector. SAME: how many
// neighbours in a vector are one element of memory (PHASE).
template <class T, AccessPattern K, int WIDTH = 64, int SAME = 1> struct Read {
  static constexpr int SIZE = sizeof(T);
};
template <class T, AccessPattern K = LINEAR> struct Write {};
template <class... S> struct List {};

template <int... I> struct Index {};
template <int N, int... I> struct MakeIndex : MakeIndex<N - 1, N - 1, I...> {};
template <int... I> struct MakeIndex<0, I...> { using type = Index<I...>; };

template <class L> struct IndicesOf;
template <class... S> struct IndicesOf<List<S...>> : MakeIndex<sizeof...(S)> {};
template <class L> using indices = typename IndicesOf<L>::type;

template <int I, class X> struct Leaf { X x; };
template <class I, class... X> struct Tuple;
template <int... I, class... X> struct Tuple<Index<I...>, X...> : Leaf<I, X>... {};
template <int I, class X> GB_FN X& get(Leaf<I, X>& leaf) { return leaf.x; }
template <int I, class X> GB_FN const X& get(const Leaf<I, X>& leaf) { return leaf.x; }

// A read that is the same for all elements of a thread.
template <int SLOT, class T, AccessPattern K> struct Constant {
  compute_t<T> c;
  GB_FN void fetch(u64 slot, i64 offset) {
    if constexpr (K == VALUE) c = to_compute(bits_as<T>(slot));
    else c = to_compute(ld_keep<SLOT, 1>(address<const T>(slot) + offset).data[0]);
  }
  GB_FN void load(int) {}
  GB_FN compute_t<T> value(int, int) const { return c; }
  GB_FN u32 word(int, int) const { return word_of(from_compute<T>(c)); }
};

// A vector of results on its way to memory.
template <int SLOT, int V, class T> struct Result {
  Vec<T, V> v;
  GB_FN void keep(int k, compute_t<T> r) { v.data[k] = from_compute<T>(r); }
  GB_FN void keep_word(int k, u32 word) {
    memcpy(v.data + k, &word, 4);
  }
  GB_FN void fill(u64 bits) {
    GB_UNROLL for (int k = 0; k < V; ++k) v.data[k] = padding_as<T>(bits);
  }
  GB_FN void store(T* at) const { st_stream<SLOT>(at, v); }
};

// --- functors ------------------------------------------------------------------------------------

// What a kernel computes. A generated functor has `run`, for one element, and overrides what can be
// computed beforehand: values made of operands that are the same for a thread's whole tile, for a
// row of it, for a column of it. `in` holds the operands' registers and `out` takes the results.
// With WORDS it also has `words`, for the elements k to k + 3 of row r.
struct Body {
  static constexpr bool WORDS = false;
  struct Scalars {};  // made of SCALAR and VALUE operands
  struct Columns {};  // of those and COLUMN operands: one per row r
  struct Rows {};     // of SCALAR, VALUE and ROW operands: one per column k
  template <class In, class Out> static GB_FN void scalars(const In&, Out&, Scalars&) {}
  template <class In, class Out, class S>
  static GB_FN void columns(const In&, Out&, const S&, Columns&, int) {}
  template <class In, class Out, class S>
  static GB_FN void rows(const In&, Out&, const S&, Rows&, int) {}
};

// The functor on the V elements of row r.
template <class Body, int V, class In, class Out>
GB_FN void evaluate(const In& in, Out& out, const typename Body::Scalars& scalars,
                    const typename Body::Columns& columns, const typename Body::Rows (&rows)[V],
                    int r) {
  if constexpr (Body::WORDS && V % 4 == 0) {
    GB_UNROLL for (int k = 0; k < V; k += 4) Body::words(in, out, r, k);
  } else {
    GB_UNROLL for (int k = 0; k < V; ++k) Body::run(in, out, scalars, columns, rows[k], r, k);
  }
}

}  // namespace gb

#endif
