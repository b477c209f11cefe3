// COLUMN_REDUCTION: neighbouring threads on neighbouring indices of parallel axes, any strides, any
// number of axes in a sequence, and a sequence within the elements of another.
//
// A block is X columns wide. Its Y threads of a column share a sequence by the law of sums: thread
// y = chunk class * LANE_CLASSES + lane class takes every CHUNK_CLASSES-th chunk, and of each every
// LANE_CLASSES-th lane. What they come to is one tree, in shared memory. Where a class of chunks has
// several chunks there is one class of lanes. SINGLE: a column has one chunk.
//
// A thread takes 2^GROUP_BITS of its lanes at a time, which are a tree of their own, so that up to 16
// elements are loaded before they are combined. HELD: it has no others, and keeps them in registers
// for all passes. V: it has so many columns, neighbours in memory, which it loads as vectors; what is
// counted as a column elsewhere are V of them.
//
// An inner sequence is walked by one thread for each element of the outer one, one by one; UNROLLED:
// it has so few elements, as points have coordinates, that they are loaded together, and what is the
// same for all elements of the outer one is loaded once for a column.
#ifndef GB_COLUMN_REDUCTION_CUH
#define GB_COLUMN_REDUCTION_CUH

#include "column_operands.cuh"

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

// A thread's elements in a lane of a chunk.
constexpr int ELEMENTS_OF_LANE = CHUNK / LANES;
// Elements of an inner sequence that is unrolled, at most: the lanes of its tree.
constexpr int MOST_UNROLLED = 8;

// RANK: parallel axes, then those of the sequence and of the one within its elements.
template <int V, int GROUP_BITS, int RANK, int OUTER, int INNER, int UNROLLED, bool CHUNKED,
          bool HELD, class U, class Offset, class Body, class Reads, class I, class Writes, class O>
struct Column;

template <int V, int GROUP_BITS, int RANK, int OUTER, int INNER, int UNROLLED, bool CHUNKED,
          bool HELD, class U, class Offset, class Body, class... R, int... I, class... W, int... O>
struct Column<V, GROUP_BITS, RANK, OUTER, INNER, UNROLLED, CHUNKED, HELD, U, Offset, Body,
              List<R...>, Index<I...>, List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  static constexpr bool NESTED = INNER > 0;
  static_assert(UNROLLED <= MOST_UNROLLED, "as many as the tree has lanes for");
  static constexpr int LANES_OF_GROUP = 1 << GROUP_BITS;
  static constexpr int E = NESTED ? 1 : LANES_OF_GROUP * ELEMENTS_OF_LANE;
  // Elements that a thread has of a read at once.
  template <int READ>
  static constexpr int OF = UNROLLED > 0 && (Body::INNER_LOADS >> READ & 1) != 0 ? UNROLLED : E;
  Tuple<Index<I...>, ColumnRead<I, OF<I>, V, R>...> in;
  Tuple<Index<O...>, ColumnWrite<READS + O, W>...> out;
  typename Body::Row row;
  typename Body::Cached cached[E];
  Offset outer[N];      // of the element of the sequence
  bool first[N];        // whether it is the first of every axis that the operand lacks
  i64 begin;            // its first element of the sequence
  i32 last_chunk, rest; // how many whole chunks it has, and elements of the one after them

  // How far an operand's element of the next column is.
  template <class P> GB_FN i64 step(const P& p, int operand) const {
    return V == 1 ? 0 : p.stride[RANK - 1][operand] / V;
  }

  template <class P> GB_FN void start(const P& p, U number, bool active) {
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
    (get<I>(in).start(p.slots[I], offset[I], step(p, I), active), ...);
    (get<O>(out).start(p.slots[READS + O], offset[READS + O]), ...);
    if constexpr (UNROLLED > 0) {
      const Offset none[N] = {};
      load_inner<(Body::INNER_LOADS & Body::STANDS)>(p, none);
    }
    Body::row(Pass<0>{}, in, row);
  }

  // Elements of one of its chunks.
  GB_FN i32 count(i32 chunk) const {
    return chunk < last_chunk ? CHUNK : chunk == last_chunk ? rest : 0;
  }

  // How far operands are at an element of the sequence.
  template <class P> GB_FN void place(const P& p, U element) {
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

  template <u64 CHOSEN, class T> GB_FN void load(const T (&offset)[N], int e) {
    (((CHOSEN >> I & 1) != 0 ? get<I>(in).load(e, offset[I]) : void()), ...);
  }

  // The elements of an inner sequence that is unrolled, of neighbours in memory and of others.
  template <u64 CHOSEN, class P> GB_FN void load_inner(const P& p, const Offset (&from)[N]) {
    GB_UNROLL for (int e = 0; e < UNROLLED; ++e) {
      i64 offset[N];  // in 64 bits, so that neighbours are so many bytes from one address
      GB_UNROLL for (int i = 0; i < N; ++i) {
        const bool adjacent = (Body::ADJACENT >> i & 1) != 0;
        offset[i] = from[i] + e * (adjacent ? 1 : p.stride[RANK + OUTER][i]);
      }
      load<CHOSEN>(offset, e);
    }
  }

  // The reductions of the inner sequence at the element where it is.
  template <class P> GB_FN typename Body::Inner inner(const P& p) {
    if constexpr (INNER == 0) {
      return {};
    } else if constexpr (UNROLLED > 0) {
      load_inner<(Body::INNER_LOADS & ~Body::STANDS)>(p, outer);
      typename Body::InnerTerms lane[UNROLLED];
      GB_UNROLL for (int e = 0; e < UNROLLED; ++e) lane[e] = Body::inner_terms(in, row, e);
      GB_UNROLL for (int half = MOST_UNROLLED / 2; half > 0; half /= 2) {
        GB_UNROLL for (int e = 0; e < half; ++e) {
          if (e + half < UNROLLED) lane[e] = Body::combine(lane[e], lane[e + half]);
        }
      }
      return Body::inner_results(lane[0]);
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
        load<Body::INNER_LOADS>(offset, 0);
        return Body::inner_terms(in, row, 0);
      });
      return Body::inner_results(found);
    }
  }

  // An element with a sequence of its own, as a pass sees it.
  template <int P, class Params> GB_FN typename Body::Inner nested(const Params& p, i64 element) {
    place(p, static_cast<U>(begin + element));
    load<Body::LOADS[P - 1]>(outer, 0);
    if constexpr ((Body::NESTS >> (P - 1) & 1) != 0) return inner(p);
    else return {};
  }

  template <int P, class Params>
  GB_FN terms_t<Body, P> nested_terms(const Params& p, i64 element) {
    const auto found = nested<P>(p, element);
    return Body::terms(Pass<P>{}, in, row, cached[0], found, 0);
  }

  // What a pass makes of the elements of a lane, which do not wait for each other: of a whole chunk,
  // and of one that has `all` elements.
  template <int P, class Params>
  GB_FN terms_t<Body, P> whole_lane(const Params& p, i64 element) {
    auto value = nested_terms<P>(p, element);
    GB_UNROLL for (int k = 1; k < ELEMENTS_OF_LANE; ++k) {
      value = Body::combine(value, nested_terms<P>(p, element + k * LANES));
    }
    return value;
  }

  template <int P, class Params>
  GB_FN terms_t<Body, P> part_lane(const Params& p, i64 from, i32 lane, i32 all) {
    if (lane >= all) return Body::none(Pass<P>{});
    auto value = nested_terms<P>(p, from + lane);
    GB_UNROLL for (int k = 1; k < ELEMENTS_OF_LANE; ++k) {
      const i32 e = lane + k * LANES;
      const auto both = Body::combine(value, nested_terms<P>(p, from + (e < all ? e : lane)));
      value = Body::chosen(e < all, both, value);
    }
    return value;
  }

  // What a pass makes of a group of lanes of a chunk that begins at an element of the column, and the walk
  // after all passes.
  template <int P, class Params>
  GB_FN auto group(const Params& p, i64 from, i32 count, i32 first, i32 step, u32 bits, u32 number) {
    constexpr u64 CHOSEN = (HELD ? Body::FRESH : Body::LOADS)[P - 1];
    i32 lane[LANES_OF_GROUP];
    GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; ++u) {
      lane[u] = first + step * static_cast<i32>(reversed(number * LANES_OF_GROUP + u, bits));
    }
    if constexpr (CHOSEN != 0) {
      GB_UNROLL for (int k = 0; k < ELEMENTS_OF_LANE; ++k) {
        if (k * LANES < count) {
          GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; ++u) {
            if (lane[u] + k * LANES < count) {
              place(p, static_cast<U>(begin + from + lane[u] + k * LANES));
              load<CHOSEN>(outer, u * ELEMENTS_OF_LANE + k);
            }
          }
        }
      }
    }
    if constexpr (P <= Body::PASSES) {
      const auto none = Body::none(Pass<P>{});
      terms_t<Body, P> value[LANES_OF_GROUP];
      GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; ++u) value[u] = none;
      GB_UNROLL for (int k = 0; k < ELEMENTS_OF_LANE; ++k) {
        if (k * LANES < count) {
          GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; ++u) {
            const int e = u * ELEMENTS_OF_LANE + k;
            const auto own =
                Body::terms(Pass<P>{}, in, row, cached[e], typename Body::Inner{}, e);
            const auto both = k == 0 ? own : Body::combine(value[u], own);
            value[u] = Body::chosen(lane[u] + k * LANES < count, both, value[u]);
          }
        }
      }
      GB_UNROLL for (int apart = 1; apart < LANES_OF_GROUP; apart *= 2) {
        GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; u += 2 * apart) {
          value[u] = Body::combine(value[u], value[u + apart]);
        }
      }
      return value[0];
    } else {
      GB_UNROLL for (int k = 0; k < ELEMENTS_OF_LANE; ++k) {
        GB_UNROLL for (int u = 0; u < LANES_OF_GROUP; ++u) {
          if (lane[u] + k * LANES < count) {
            const int e = u * ELEMENTS_OF_LANE + k;
            place(p, static_cast<U>(begin + from + lane[u] + k * LANES));
            store_element(p, cached[e], typename Body::Inner{}, e);
          }
        }
      }
    }
  }

  // What a pass makes of the thread's lanes of a chunk.
  template <int P, class Params>
  GB_FN terms_t<Body, P> lanes(const Params& p, i32 chunk, i32 first, i32 step, u32 bits) {
    const i64 from = static_cast<i64>(chunk) * CHUNK;
    if constexpr (UNROLLED > 0) {
      Halves<Body, terms_t<Body, P>, LANE_STEPS> halves;
      const i32 all = count(chunk);
      GB_ROLLED for (u32 i = 0; i < 1u << bits; ++i) {
        const i32 lane = first + step * static_cast<i32>(reversed(i, bits));
        halves.add(i, all == CHUNK ? whole_lane<P>(p, from + lane) : part_lane<P>(p, from, lane, all));
      }
      return halves.result(bits);
    } else if constexpr (NESTED) {
      return lanes_of_chunk<Body>(Body::none(Pass<P>{}), count(chunk), first, step, bits,
                                  [&](i32 e) { return nested_terms<P>(p, from + e); });
    } else if constexpr (HELD) {
      return group<P>(p, from, count(chunk), first, step, GROUP_BITS, 0);
    } else {
      Halves<Body, terms_t<Body, P>, LANE_STEPS - GROUP_BITS> halves;
      GB_ROLLED for (u32 i = 0; i < 1u << (bits - GROUP_BITS); ++i) {
        halves.add(i, group<P>(p, from, count(chunk), first, step, bits, i));
      }
      return halves.result(bits - GROUP_BITS);
    }
  }

  // The results that have an element's index, of the same lanes.
  template <int P, class Params>
  GB_FN void store_lanes(const Params& p, i32 chunk, i32 first, i32 step, u32 bits) {
    const i64 from = static_cast<i64>(chunk) * CHUNK;
    if constexpr (NESTED) {
      GB_ROLLED for (i32 e = first; e < count(chunk); e += step) {
        const auto found = nested<P>(p, from + e);
        store_element(p, cached[0], found, 0);
      }
    } else {
      GB_ROLLED for (u32 i = 0; i < 1u << (HELD ? 0 : bits - GROUP_BITS); ++i) {
        group<P>(p, from, count(chunk), first, step, HELD ? GROUP_BITS : bits, i);
      }
    }
  }

  template <class P> GB_FN void store_row(const P& p) {
    GB_UNROLL for (int v = 0; v < V; ++v) {
      Body::row_results(row, out, v);
      ((Body::FULL >> O & 1 ? void() : get<O>(out).store(v * step(p, READS + O), true)), ...);
    }
  }

  template <class P, class Cached, class Inner>
  GB_FN void store_element(const P& p, const Cached& own, const Inner& inner, int e) {
    GB_UNROLL for (int v = 0; v < V; ++v) {
      Body::results(in, row, own, inner, e, out, v);
      ((Body::FULL >> O & 1
            ? get<O>(out).store(outer[READS + O] + v * step(p, READS + O), first[READS + O])
            : void()), ...);
    }
  }
};

// What the threads of a column came to, as one tree: lanes' classes first, then chunks'. The column's
// first thread has it, and all of them where they go on. THREADS: of the block at most.
template <class Body, int P, int THREADS>
GB_FN terms_t<Body, P> shared_tree(terms_t<Body, P> own, u32 lane_bits, u32 chunk_bits) {
  if (blockDim.y == 1) return own;
  using Table = typename terms_t<Body, P>::template Table<THREADS>;
  GB_SHARED(Table, table)
  const auto at = [](u32 y) { return y * blockDim.x + threadIdx.x; };
  const u32 y = threadIdx.y, lanes = 1u << lane_bits, lane = y & (lanes - 1), chunk = y >> lane_bits;
  // Of what is left the upper half is written, and added by the lower one: nobody writes what
  // another may still read.
  GB_ROLLED for (u32 half = lanes / 2; half > 0; half /= 2) {
    if (lane >= half && lane < 2 * half) table.put(at(y), own);
    barrier();
    if (lane < half) own = Body::combine(own, table.at(at(y + half)));
  }
  GB_ROLLED for (u32 half = (1u << chunk_bits) / 2; half > 0; half /= 2) {
    if (lane == 0 && chunk >= half && chunk < 2 * half) table.put(at(y), own);
    barrier();
    if (lane == 0 && chunk < half) own = Body::combine(own, table.at(at(y + half * lanes)));
  }
  if constexpr (P < Body::PASSES || Body::FULL != 0) {
    if (y == 0) table.put(at(0), own);
    barrier();
    own = table.at(at(0));
  }
  return own;
}

// The passes from P on over a column, and the walk after them.
template <int P, int THREADS, bool SINGLE, bool HELD, class Body, class Column, class Params>
GB_FN void column_passes(const Params& p, Column& column, bool active) {
  const i32 lane = static_cast<i32>(threadIdx.y & ((1u << p.lane_class_bits) - 1));
  const i32 chunk = static_cast<i32>(threadIdx.y >> p.lane_class_bits);
  const i32 step = 1 << p.lane_class_bits;
  if constexpr (P <= Body::PASSES) {
    terms_t<Body, P> own;
    if constexpr (SINGLE || HELD) {
      own = column.template lanes<P>(p, chunk, lane, step, p.lane_bits);
    } else {
      Halves<Body, terms_t<Body, P>, CHUNK_STEPS> halves;
      GB_ROLLED for (u32 i = 0; i < 1u << p.chunk_bits; ++i) {
        const i32 at = chunk + (static_cast<i32>(reversed(i, p.chunk_bits)) << p.chunk_class_bits);
        halves.add(i, column.template lanes<P>(p, at, lane, step, p.lane_bits));
      }
      own = halves.result(p.chunk_bits);
    }
    const auto found =
        shared_tree<Body, P, THREADS>(own, p.lane_class_bits, p.chunk_class_bits);
    Body::row(Pass<P>{}, found, column.row);
    column_passes<P + 1, THREADS, SINGLE, HELD, Body>(p, column, active);
  } else {
    if (active && threadIdx.y == 0) column.store_row(p);
    if constexpr (Body::FULL != 0) {
      GB_ROLLED for (i32 i = 0; i < 1 << (HELD ? 0 : p.chunk_bits); ++i) {
        column.template store_lanes<P>(p, chunk + (i << p.chunk_class_bits), lane, step,
                                       p.lane_bits);
      }
    }
  }
}

template <int THREADS, int V, int GROUP_BITS, int RANK, int OUTER, int INNER, int UNROLLED, bool CHUNKED, bool SINGLE, bool HELD,
          class U, class Offset, class Functor, class Reads, class Writes, class P>
GB_FN void column_reduction(const P& p) {
  using Body = Columns<Functor, V>;
  const U number = static_cast<U>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool active = number < static_cast<U>(p.columns);
  Column<V, GROUP_BITS, RANK, OUTER, INNER, UNROLLED, CHUNKED, HELD, U, Offset, Body, Reads,
         indices<Reads>, Writes, indices<Writes>>
      column;
  column.start(p, active ? number : U(0), active);
  column_passes<1, THREADS, SINGLE, HELD, Body>(p, column, active);
}

template <int THREADS, int V, int GROUP_BITS, int RANK, int OUTER, int INNER, int UNROLLED, bool CHUNKED, bool SINGLE, bool HELD,
          class Body, class Reads, class Writes, int N, int AXES>
GB_FN void column_reduction32(const ColumnReductionParams32<N, AXES>& p) {
  column_reduction<THREADS, V, GROUP_BITS, RANK, OUTER, INNER, UNROLLED, CHUNKED, SINGLE, HELD, u32, i32, Body, Reads,
                   Writes>(p);
}

template <int THREADS, int V, int GROUP_BITS, int RANK, int OUTER, int INNER, int UNROLLED, bool CHUNKED, bool SINGLE, bool HELD,
          class Body, class Reads, class Writes, int N, int AXES>
GB_FN void column_reduction64(const ColumnReductionParams64<N, AXES>& p) {
  column_reduction<THREADS, V, GROUP_BITS, RANK, OUTER, INNER, UNROLLED, CHUNKED, SINGLE, HELD, u64, i64, Body, Reads,
                   Writes>(p);
}

}  // namespace gb

#endif
