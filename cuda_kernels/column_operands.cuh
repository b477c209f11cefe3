// The operands of COLUMN_REDUCTION, and its functor on V neighbouring columns.
#ifndef GB_COLUMN_OPERANDS_CUH
#define GB_COLUMN_OPERANDS_CUH

#include "sequences.cuh"

namespace gb {

// SCALAR: the same for all elements of a column's sequences. TILE: a vector has an element of each
// column; COLUMN: they share one. E: elements that a thread has at once. `step`: from a column to the
// next.
template <int SLOT, int E, int V, class Operand> struct ColumnRead;

template <int SLOT, int E, int V, class T, AccessPattern K, int W>
struct ColumnRead<SLOT, E, V, Read<T, K, W>> {
  static_assert(K == SCALAR || K == VALUE, "the same for all elements");
  Constant<SLOT, T, K> own[V];
  GB_FN void start(u64 slot, i64 offset, i64 step, bool active) {
    GB_UNROLL for (int v = 0; v < V; ++v) {
      if (K == VALUE || active) own[v].fetch(slot, offset + v * step);
    }
  }
  GB_FN void load(int, i64) {}
  GB_FN compute_t<T> value(int, int v) const { return own[v].c; }
};

template <int SLOT, int E, int V, class T, AccessPattern K> struct ColumnElements {
  static constexpr int OWN = K == TILE ? V : 1;
  static_assert(K != GATHERED || V == 1, "vectors are TILE or COLUMN");
  const T* at;
  Vec<T, OWN> q[E];
  GB_FN void start(u64 slot, i64 offset, i64, bool) { at = address<const T>(slot) + offset; }
  GB_FN void load(int e, i64 offset) { q[e] = ld_keep<SLOT, OWN>(at + offset); }
  GB_FN compute_t<T> value(int e, int v) const {
    return to_compute(q[E == 1 ? 0 : e].data[OWN == 1 ? 0 : v]);
  }
};

template <int SLOT, int E, int V, class T, int W>
struct ColumnRead<SLOT, E, V, Read<T, GATHERED, W>> : ColumnElements<SLOT, E, V, T, GATHERED> {};
template <int SLOT, int E, int V, class T, int W>
struct ColumnRead<SLOT, E, V, Read<T, TILE, W>> : ColumnElements<SLOT, E, V, T, TILE> {};
template <int SLOT, int E, int V, class T, int W>
struct ColumnRead<SLOT, E, V, Read<T, COLUMN, W>> : ColumnElements<SLOT, E, V, T, COLUMN> {};

// What a thread's operands have for one of its columns.
template <class In> struct OfColumn {
  const In& in;
  int v;
};
template <class Operand> struct OperandOfColumn {
  const Operand& operand;
  int v;
  GB_FN auto value(int e) const { return operand.value(e, v); }
};
template <int I, class X> GB_FN OperandOfColumn<X> operand_of(const Leaf<I, X>& leaf, int v) {
  return {leaf.x, v};
}
template <int I, class In> GB_FN auto get(const OfColumn<In>& own) {
  return operand_of<I>(own.in, own.v);
}

// A functor on sequences as one on V columns, each of which has values of its own.
template <class Functor, int V> struct Columns : Functor {
  template <class T> struct Each { T x[V]; };
  template <class T> struct EachTerms : Each<T> {
    template <int N> struct Table {
      typename T::template Table<N> x[V];
      GB_FN void put(u32 i, const EachTerms& t) {
        GB_UNROLL for (int v = 0; v < V; ++v) x[v].put(i, t.x[v]);
      }
      GB_FN EachTerms at(u32 i) const {
        EachTerms t;
        GB_UNROLL for (int v = 0; v < V; ++v) t.x[v] = x[v].at(i);
        return t;
      }
    };
  };
  using Row = Each<typename Functor::Row>;
  using Cached = Each<typename Functor::Cached>;
  template <int P> using Terms = EachTerms<decltype(Functor::none(Pass<P>{}))>;

  template <int P> static GB_FN Terms<P> none(Pass<P> pass) {
    Terms<P> t;
    GB_UNROLL for (int v = 0; v < V; ++v) t.x[v] = Functor::none(pass);
    return t;
  }
  using Functor::combine;  // of an inner sequence
  template <class T> static GB_FN EachTerms<T> combine(const EachTerms<T>& a, const EachTerms<T>& b) {
    EachTerms<T> t;
    GB_UNROLL for (int v = 0; v < V; ++v) t.x[v] = Functor::combine(a.x[v], b.x[v]);
    return t;
  }
  template <class T>
  static GB_FN EachTerms<T> chosen(bool first, const EachTerms<T>& a, const EachTerms<T>& b) {
    EachTerms<T> t;
    GB_UNROLL for (int v = 0; v < V; ++v) t.x[v] = Functor::chosen(first, a.x[v], b.x[v]);
    return t;
  }
  template <class In> static GB_FN void row(Pass<0> pass, const In& in, Row& row) {
    GB_UNROLL for (int v = 0; v < V; ++v) Functor::row(pass, OfColumn<In>{in, v}, row.x[v]);
  }
  template <int P> static GB_FN void row(Pass<P> pass, const Terms<P>& t, Row& row) {
    GB_UNROLL for (int v = 0; v < V; ++v) Functor::row(pass, t.x[v], row.x[v]);
  }
  template <int P, class In, class Inner>
  static GB_FN Terms<P> terms(Pass<P> pass, const In& in, const Row& row, Cached& cached,
                              const Inner& inner, int e) {
    Terms<P> t;
    GB_UNROLL for (int v = 0; v < V; ++v) {
      t.x[v] = Functor::terms(pass, OfColumn<In>{in, v}, row.x[v], cached.x[v], inner, e);
    }
    return t;
  }
  template <class In> static GB_FN auto inner_terms(const In& in, const Row& row, int e) {
    static_assert(V == 1, "no sequences within those of several columns");
    return Functor::inner_terms(OfColumn<In>{in, 0}, row.x[0], e);
  }
  template <class In, class Inner, class Out>
  static GB_FN void results(const In& in, const Row& row, const Cached& cached,
                            const Inner& inner, int e, Out& out, int v) {
    Functor::results(OfColumn<In>{in, v}, row.x[v], cached.x[v], inner, e, out, 0);
  }
  template <class Out> static GB_FN void row_results(const Row& row, Out& out, int v) {
    Functor::row_results(row.x[v], out);
  }
};

// PARTIAL: written at the first index of the axes that it lacks.
template <int SLOT, class Operand> struct ColumnWrite;

template <int SLOT, class T, AccessPattern K>
struct ColumnWrite<SLOT, Write<T, K>> : Result<SLOT, 1, T> {
  static_assert(K == GATHERED || K == PARTIAL, "writes are GATHERED or PARTIAL");
  T* at;
  GB_FN void start(u64 slot, i64 offset) { at = address<T>(slot) + offset; }
  GB_FN void store(i64 offset, bool first) const {
    if (K != PARTIAL || first) Result<SLOT, 1, T>::store(at + offset);
  }
};

}  // namespace gb

#endif
