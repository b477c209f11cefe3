// COLUMN_REDUCTION: neighbouring threads on neighbouring indices of parallel axes, any strides, any
// number of axes in a sequence, and a sequence within the elements of another.
//
// A block is X columns wide. Its Y threads of a column share a sequence by the law of sums: thread
// y = chunk class * LANE_CLASSES + lane class takes every CHUNK_CLASSES-th chunk, and of each every
// LANE_CLASSES-th lane. What they come to is one tree, in shared memory, which each of them reads.
// Where a class of chunks has several chunks there is one class of lanes.
//
// An inner sequence is walked by one thread for each element of the outer one.
#ifndef GB_COLUMN_REDUCTION_CUH
#define GB_COLUMN_REDUCTION_CUH

#include "sequences.cuh"

namespace gb {

// Python: struct "@{N}Q{AXES*N}q4q4I", then "{3*AXES}I" (FastDiv) or "{3*AXES}Q" (FastDiv64).
// AXES: the chunks' axis, if there is one, the other parallel ones, those of the sequences.
template <class Division, int N, int AXES> struct ColumnReductionParams {
  static constexpr bool COOPERATES = true;
  u64 slots[N];         // reads, then writes
  i64 stride[AXES][N];  // elements
  i64 columns;          // indices of the parallel axes
  i64 length;           // elements of the sequence
  i64 inner_length;     // of the sequence within its elements
  i64 chunk_length;     // elements of the sequence that a column has at most
  u32 lane_bits;        // a thread takes so many lanes of a chunk, as a power of two
  u32 chunk_bits;       // and so many chunks
  u32 lane_class_bits;  // so many threads share the lanes of a chunk
  u32 chunk_class_bits; // and so many the chunks
  Division axis[AXES];  // sizes; 1 where there is no element
};
template <int N, int AXES>
using ColumnReductionParams32 = ColumnReductionParams<FastDiv, N, AXES>;
template <int N, int AXES>
using ColumnReductionParams64 = ColumnReductionParams<FastDiv64, N, AXES>;

// SCALAR: the same for all elements of a column's sequences.
template <int SLOT, class Operand> struct ColumnRead;

template <int SLOT, class T, AccessPattern K, int W>
struct ColumnRead<SLOT, Read<T, K, W>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE || K == GATHERED, "reads are SCALAR, VALUE or GATHERED");
  const T* at;
  GB_FN void start(u64 slot, i64 offset, bool active) {
    if constexpr (K == GATHERED) at = address<const T>(slot) + offset;
    else if (K == VALUE || active) this->fetch(slot, offset);
  }
  GB_FN void load(i64 offset) {
    if constexpr (K == GATHERED) this->c = to_compute(ld_keep<SLOT, 1>(at + offset).data[0]);
  }
  GB_FN compute_t<T> value(int = 0) const { return this->c; }
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

// RANK: parallel axes, then those of the sequence and of the one within its elements.
template <int RANK, int OUTER, int INNER, bool CHUNKED, class Offset, class Body, class Reads,
          class I, class Writes, class O>
struct Column;

template <int RANK, int OUTER, int INNER, bool CHUNKED, class Offset, class Body, class... R,
          int... I, class... W, int... O>
struct Column<RANK, OUTER, INNER, CHUNKED, Offset, Body, List<R...>, Index<I...>, List<W...>,
              Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  Tuple<Index<I...>, ColumnRead<I, R>...> in;
  Tuple<Index<O...>, ColumnWrite<READS + O, W>...> out;
  typename Body::Row row;
  Offset outer[N];      // of the element of the sequence
  bool first[N];        // whether it is the first of every axis that the operand lacks
  i64 begin;            // its first element of the sequence
  i32 last_chunk, rest; // how many whole chunks it has, and elements of the one after them

  template <class U, class P> GB_FN void start(const P& p, U number, bool active) {
    static_assert(sizeof(p.slots) == sizeof(u64) * N, "one slot per operand");
    Offset offset[N] = {};
    begin = 0;
    U left = number;
    GB_UNROLL for (int a = RANK - 1; a >= 0; --a) {
      const Offset k = a == 0 ? static_cast<Offset>(left) : static_cast<Offset>(take(left, p.axis[a]));
      if (CHUNKED && a == 0) begin = static_cast<i64>(k) * CHUNK;
      GB_UNROLL for (int i = 0; i < N; ++i) offset[i] += k * static_cast<Offset>(p.stride[a][i]);
    }
    const i64 all = p.length - begin;
    const i64 count = !active || all < 0 ? 0 : all < p.chunk_length ? all : p.chunk_length;
    last_chunk = static_cast<i32>(count / CHUNK);
    rest = static_cast<i32>(count % CHUNK);
    (get<I>(in).start(p.slots[I], offset[I], active), ...);
    (get<O>(out).start(p.slots[READS + O], offset[READS + O]), ...);
    Body::row(Pass<0>{}, in, row);
  }

  // Elements of one of its chunks.
  GB_FN i32 count(i32 chunk) const {
    return chunk < last_chunk ? CHUNK : chunk == last_chunk ? rest : 0;
  }

  // How far operands are at an element of the sequence.
  template <class U, class P> GB_FN void place(const P& p, U element) {
    GB_UNROLL for (int i = 0; i < N; ++i) {
      outer[i] = 0;
      first[i] = true;
    }
    U left = element;
    GB_UNROLL for (int a = RANK + OUTER - 1; a >= RANK; --a) {
      const Offset k =
          a == RANK ? static_cast<Offset>(left) : static_cast<Offset>(take(left, p.axis[a]));
      GB_UNROLL for (int i = 0; i < N; ++i) {
        outer[i] += k * static_cast<Offset>(p.stride[a][i]);
        first[i] = first[i] && (k == 0 || p.stride[a][i] != 0);
      }
    }
  }

  template <u64 CHOSEN> GB_FN void load(const Offset (&offset)[N]) {
    (((CHOSEN >> I & 1) ? get<I>(in).load(offset[I]) : void()), ...);
  }

  // The reductions of the inner sequence at the element where it is.
  template <class U, class P> GB_FN typename Body::Inner inner(const P& p) {
    if constexpr (INNER == 0) {
      return {};
    } else {
      const auto found = whole_sequence<Body>(Body::inner_none(), p.inner_length, [&](i64 element) {
        Offset offset[N];
        GB_UNROLL for (int i = 0; i < N; ++i) offset[i] = outer[i];
        U left = static_cast<U>(element);
        GB_UNROLL for (int a = RANK + OUTER + INNER - 1; a >= RANK + OUTER; --a) {
          const Offset k = a == RANK + OUTER ? static_cast<Offset>(left)
                                             : static_cast<Offset>(take(left, p.axis[a]));
          GB_UNROLL for (int i = 0; i < N; ++i) {
            offset[i] += k * static_cast<Offset>(p.stride[a][i]);
          }
        }
        load<Body::INNER_LOADS>(offset);
        return Body::inner_terms(in, row, 0);
      });
      return Body::inner_results(found);
    }
  }

  // An element as a pass sees it; the last walk is the one after all passes.
  template <int P, class U, class Params, class F> GB_FN auto at(const Params& p, i64 element, F f) {
    place<U>(p, static_cast<U>(begin + element));
    load<Body::LOADS[P - 1]>(outer);
    typename Body::Cached cached;
    if constexpr ((Body::NESTS >> (P - 1) & 1) != 0) return f(cached, inner<U>(p));
    else return f(cached, typename Body::Inner{});
  }

  GB_FN void store_row() {
    Body::row_results(row, out);
    ((Body::FULL >> O & 1 ? void() : get<O>(out).store(0, true)), ...);
  }

  GB_FN void store_element() {
    ((Body::FULL >> O & 1 ? get<O>(out).store(outer[READS + O], first[READS + O]) : void()), ...);
  }
};

// What the threads of a column came to, as one tree: lanes' classes first, then chunks'. THREADS: of
// the block at most.
template <class Body, int P, int THREADS>
GB_FN terms_t<Body, P> shared_tree(const terms_t<Body, P>& own, u32 lane_bits, u32 chunk_bits) {
  if (blockDim.y == 1) return own;
  using Table = typename terms_t<Body, P>::template Table<THREADS>;
  GB_SHARED(Table, table)
  table.put(threadIdx.y * blockDim.x + threadIdx.x, own);
  barrier();
  Halves<Body, terms_t<Body, P>, LANE_STEPS> halves;
  GB_ROLLED for (u32 i = 0; i < blockDim.y; ++i) {
    const u32 lane = reversed(i & ((1u << lane_bits) - 1), lane_bits);
    const u32 chunk = reversed(i >> lane_bits, chunk_bits);
    halves.add(i, table.at((chunk << lane_bits | lane) * blockDim.x + threadIdx.x));
  }
  return halves.result(lane_bits + chunk_bits);
}

// The passes from P on over a column, and the walk after them.
template <int P, int THREADS, class U, class Body, class Column, class Params>
GB_FN void column_passes(const Params& p, Column& column, bool active) {
  const i32 lane = static_cast<i32>(threadIdx.y & ((1u << p.lane_class_bits) - 1));
  const i32 chunk = static_cast<i32>(threadIdx.y >> p.lane_class_bits);
  const i32 step = 1 << p.lane_class_bits;
  if constexpr (P <= Body::PASSES) {
    const auto none = Body::none(Pass<P>{});
    Halves<Body, terms_t<Body, P>, CHUNK_STEPS> halves;
    GB_ROLLED for (u32 i = 0; i < 1u << p.chunk_bits; ++i) {
      const i32 own = chunk + (static_cast<i32>(reversed(i, p.chunk_bits)) << p.chunk_class_bits);
      const auto term = [&](i32 e) {
        return column.template at<P, U>(
            p, static_cast<i64>(own) * CHUNK + e, [&](auto& cached, const auto& inner) {
              return Body::terms(Pass<P>{}, column.in, column.row, cached, inner, 0);
            });
      };
      halves.add(i, lanes_of_chunk<Body>(none, column.count(own), lane, step, p.lane_bits, term));
    }
    const auto found = shared_tree<Body, P, THREADS>(halves.result(p.chunk_bits),
                                                     p.lane_class_bits, p.chunk_class_bits);
    Body::row(Pass<P>{}, found, column.row);
    column_passes<P + 1, THREADS, U, Body>(p, column, active);
  } else {
    if (active && threadIdx.y == 0) column.store_row();
    if constexpr (Body::FULL != 0) {
      GB_ROLLED for (i32 i = 0; i < 1 << p.chunk_bits; ++i) {
        const i32 own = chunk + (i << p.chunk_class_bits);
        GB_ROLLED for (i32 e = lane; e < column.count(own); e += step) {
          column.template at<P, U>(
              p, static_cast<i64>(own) * CHUNK + e, [&](auto& cached, const auto& inner) {
                Body::results(column.in, column.row, cached, inner, 0, column.out, 0);
                column.store_element();
              });
        }
      }
    }
  }
}

template <int THREADS, int RANK, int OUTER, int INNER, bool CHUNKED, class U, class Offset,
          class Body, class Reads, class Writes, class P>
GB_FN void column_reduction(const P& p) {
  const U number = static_cast<U>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool active = number < static_cast<U>(p.columns);
  Column<RANK, OUTER, INNER, CHUNKED, Offset, Body, Reads, indices<Reads>, Writes, indices<Writes>>
      column;
  column.start(p, active ? number : U(0), active);
  column_passes<1, THREADS, U, Body>(p, column, active);
}

template <int THREADS, int RANK, int OUTER, int INNER, bool CHUNKED, class Body, class Reads,
          class Writes, int N, int AXES>
GB_FN void column_reduction32(const ColumnReductionParams32<N, AXES>& p) {
  column_reduction<THREADS, RANK, OUTER, INNER, CHUNKED, u32, i32, Body, Reads, Writes>(p);
}

template <int THREADS, int RANK, int OUTER, int INNER, bool CHUNKED, class Body, class Reads,
          class Writes, int N, int AXES>
GB_FN void column_reduction64(const ColumnReductionParams64<N, AXES>& p) {
  column_reduction<THREADS, RANK, OUTER, INNER, CHUNKED, u64, i64, Body, Reads, Writes>(p);
}

}  // namespace gb

#endif
