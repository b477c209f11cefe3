// ROW_REDUCTION: the threads of a warp, of a part of one, or of a block share a sequence whose
// elements lie along one axis.
//
// A thread has four neighbouring elements of every LANES: lanes 4 t, ..., 4 t + 3 for thread t of a
// warp. So a step of a warp is one vector of each thread, a chunk four steps, and lanes are combined
// by shuffles, in which each thread gives half of what it has until it has one lane. Short rows take
// GROUP threads each and several rows a warp. Longer rows take a block, whose warps have every
// WARPS-th chunk; chunks' results meet in shared memory, where every warp combines them.
//
// HELD: a thread has all its elements in registers, so that each is read once however many passes
// there are. Else each pass reads the row again.
//
// EVEN: rows end where the vectors of their threads end, so that no element is asked for.
#ifndef GB_ROW_REDUCTION_CUH
#define GB_ROW_REDUCTION_CUH

#include "sequences.cuh"

namespace gb {

constexpr int LANES_OF_THREAD = 4;
constexpr int STEPS_OF_CHUNK = CHUNK / LANES;
static_assert(LANES_OF_THREAD * WARP == LANES, "a warp has the lanes of a chunk");

// Python: struct "@{N}Q{(AXES+1)*N}q2q", then "{3*max(AXES, 1)}I" (FastDiv) or "Q" (FastDiv64).
template <class Division, int N, int AXES> struct RowReductionParams {
  static constexpr bool COOPERATES = true;
  u64 slots[N];                            // reads, then writes
  i64 stride[AXES + 1][N];                 // elements; of the parallel axes, then of the sequence
  i64 rows;                                // indices of the parallel axes
  i64 length;                              // elements of the sequence
  Division axis[AXES == 0 ? 1 : AXES];     // sizes of the parallel axes
};
template <int N, int AXES> using RowReductionParams32 = RowReductionParams<FastDiv, N, AXES>;
template <int N, int AXES> using RowReductionParams64 = RowReductionParams<FastDiv64, N, AXES>;

// LINEAR: unit stride along the row. ROW: the same, in every row. SCALAR: one element per row.
template <int SLOT, int STEPS, class Operand> struct RowElements;

template <int SLOT, int STEPS, class T, AccessPattern K, int W>
struct RowElements<SLOT, STEPS, Read<T, K, W>> : Constant<SLOT, T, K> {
  static_assert(K == SCALAR || K == VALUE, "one element per row");
  GB_FN void start(u64 slot, i64 offset, i64, bool active) {
    if (K == VALUE || active) this->fetch(slot, offset);
  }
  template <bool EVEN> GB_FN void load(int, i64, i32) {}
  GB_FN compute_t<T> value(int) const { return this->c; }
};

template <int SLOT, int STEPS, class T, int W, bool AGAIN> struct RowVectors {
  static constexpr int V = LANES_OF_THREAD;
  const T* at;
  Vec<T, V> q[STEPS];
  GB_FN void start(u64 slot, i64 offset, i64, bool) { at = address<const T>(slot) + offset; }
  template <bool EVEN> GB_FN void load(int s, i64 j, i32 count) {
    if (count >= V) {
      if constexpr (AGAIN) q[s] = ld_keep<SLOT, V, W>(at + j);
      else q[s] = ld_stream<SLOT, V, W>(at + j);
    } else if constexpr (!EVEN) {
      GB_UNROLL for (int k = 0; k < V; ++k) {
        if (k < count) q[s].data[k] = ld_keep<SLOT, 1>(at + j + k).data[0];
      }
    }
  }
  GB_FN compute_t<T> value(int e) const { return to_compute(q[e / V].data[e % V]); }
};

template <int SLOT, int STEPS, class T, int W>
struct RowElements<SLOT, STEPS, Read<T, LINEAR, W>>
    : RowVectors<SLOT, STEPS, T, (W < LANES_OF_THREAD ? W : LANES_OF_THREAD), false> {};
template <int SLOT, int STEPS, class T, int W>
struct RowElements<SLOT, STEPS, Read<T, ROW, W>>
    : RowVectors<SLOT, STEPS, T, (W < LANES_OF_THREAD ? W : LANES_OF_THREAD), true> {};

template <int SLOT, int STEPS, class T, int W>
struct RowElements<SLOT, STEPS, Read<T, GATHERED, W>> {
  const T* at;
  i64 next;
  T q[STEPS * LANES_OF_THREAD];
  GB_FN void start(u64 slot, i64 offset, i64 stride, bool) {
    at = address<const T>(slot) + offset;
    next = stride;
  }
  template <bool EVEN> GB_FN void load(int s, i64 j, i32 count) {
    GB_UNROLL for (int k = 0; k < LANES_OF_THREAD; ++k) {
      if (k < count) q[s * LANES_OF_THREAD + k] = ld_keep<SLOT, 1>(at + (j + k) * next).data[0];
    }
  }
  GB_FN compute_t<T> value(int e) const { return to_compute(q[e]); }
};

// LINEAR, GATHERED: along the row, WIDTH elements at a time. PARTIAL: one element per row.
template <int SLOT, int WIDTH, class Operand> struct RowResults;

template <int SLOT, int WIDTH, class T, AccessPattern K>
struct RowResults<SLOT, WIDTH, Write<T, K>> : Result<SLOT, LANES_OF_THREAD, T> {
  static_assert(K == LINEAR || K == GATHERED || K == PARTIAL,
                "writes are LINEAR, GATHERED or PARTIAL");
  T* at;
  i64 next;
  GB_FN void start(u64 slot, i64 offset, i64 stride) {
    at = address<T>(slot) + offset;
    next = stride;
  }
  GB_FN void store_row() const { st_stream<SLOT, 1>(at, Vec<T, 1>{{this->v.data[0]}}); }
  template <bool EVEN> GB_FN void store(i64 j, i32 count) const {
    constexpr int V = LANES_OF_THREAD, PART = WIDTH < V ? WIDTH : V;
    if (EVEN && count == 0) return;
    if (K == LINEAR && PART > 1 && (EVEN || count >= V)) {
      GB_UNROLL for (int k = 0; k < V; k += PART) {
        Vec<T, PART> part;
        GB_UNROLL for (int i = 0; i < PART; ++i) part.data[i] = this->v.data[k + i];
        st_stream<SLOT, PART>(at + j + k, part);
      }
    } else {
      GB_UNROLL for (int k = 0; k < V; ++k) {
        T* to = K == LINEAR ? at + j + k : at + (j + k) * next;
        if (k < count) st_stream<SLOT, 1>(to, Vec<T, 1>{{this->v.data[k]}});
      }
    }
  }
};

// What was computed from a number is computed again rather than kept in registers over a pass.
template <class T> GB_FN void forget(T& number) {
#ifndef GB_EMU
  asm volatile("" : "+r"(number));
#endif
}

// The lanes that GROUP threads have, combined by halves; every thread gets what they come to.
// While a thread has several lanes, it gives half of them to the thread that has the lanes to be
// combined with, and takes as many.
template <class Body, int GROUP, class T> GB_FN T lane_tree(const T (&q)[LANES_OF_THREAD], u32 t) {
  if constexpr (GROUP == 1) {
    return Body::combine(Body::combine(q[0], q[2]), Body::combine(q[1], q[3]));
  } else {
    constexpr u32 HALF = GROUP / 2, QUARTER = GROUP / 4;
    // Else the compiler may make a loop over chunks for either half, and threads of one warp would
    // be in both while they shuffle.
    u32 half = t & HALF;
    forget(half);
    const bool upper = half != 0;
    const T first = Body::combine(Body::chosen(upper, q[2], q[0]),
                                  Body::moved(Body::chosen(upper, q[0], q[2]), HALF));
    const T second = Body::combine(Body::chosen(upper, q[3], q[1]),
                                   Body::moved(Body::chosen(upper, q[1], q[3]), HALF));
    if constexpr (GROUP == 2) {
      return Body::combine(Body::combine(first, Body::moved(first, HALF)),
                           Body::combine(second, Body::moved(second, HALF)));
    } else {
      const bool odd = (t & QUARTER) != 0;
      T one = Body::combine(Body::chosen(odd, second, first),
                            Body::moved(Body::chosen(odd, first, second), QUARTER));
      GB_UNROLL for (u32 h = GROUP / 8; h > 0; h /= 2) {
        one = Body::combine(one, Body::moved(one, h));
      }
      one = Body::combine(one, Body::moved(one, HALF));
      return Body::combine(one, Body::moved(one, QUARTER));
    }
  }
}

// The results of a row's chunks, which are in shared memory, combined by every warp of its block.
template <class Body, class T, class Table>
GB_FN T chunk_tree(const T& none, const Table& table, u32 chunks, u32 t) {
  T one = t < chunks ? table.at(t) : none;
  if (t + WARP < chunks) one = Body::combine(one, table.at(t + WARP));
  GB_UNROLL for (u32 h = WARP / 2; h > 0; h /= 2) one = Body::combine(one, Body::moved(one, h));
  return one;
}

// GROUP threads or, where BLOCK_WIDE, a block on one row. STEPS: of those that a thread has at once.
template <int GROUP, bool BLOCK_WIDE, int STEPS, bool HELD, bool EVEN, int WIDTH, class Body,
          class Reads, class I, class Writes, class O>
struct RowOfThreads;

template <int GROUP, bool BLOCK_WIDE, int STEPS, bool HELD, bool EVEN, int WIDTH, class Body,
          class... R, int... I, class... W, int... O>
struct RowOfThreads<GROUP, BLOCK_WIDE, STEPS, HELD, EVEN, WIDTH, Body, List<R...>, Index<I...>,
                    List<W...>, Index<O...>> {
  static constexpr int READS = sizeof...(R);
  static constexpr int N = READS + sizeof...(W);
  static constexpr int V = LANES_OF_THREAD;
  // Chunks that a thread has at once, and its steps in each.
  static constexpr int CHUNKS = STEPS < STEPS_OF_CHUNK ? 1 : STEPS / STEPS_OF_CHUNK;
  static constexpr int CHUNK_STEPS = STEPS / CHUNKS;
  static_assert(HELD || !BLOCK_WIDE || CHUNKS == 1, "chunk by chunk");
  Tuple<Index<I...>, RowElements<I, STEPS, R>...> in;
  Tuple<Index<O...>, RowResults<READS + O, WIDTH, W>...> out;
  typename Body::Row row;
  typename Body::Cached cached[STEPS * V];
  i64 begin;   // the row's first element in the sequence
  i32 length;  // elements of the row
  u32 t, warp, warps;
  bool active;

  template <bool CHUNKED, int AXES, class U, class P> GB_FN void start(const P& p, U number) {
    static_assert(sizeof(p.slots) == sizeof(u64) * N, "one slot per operand");
    t = BLOCK_WIDE ? threadIdx.x % WARP : threadIdx.x;
    warp = BLOCK_WIDE ? threadIdx.x / WARP : 0;
    warps = BLOCK_WIDE ? blockDim.x / WARP : 1;
    active = number < static_cast<U>(p.rows);
    i64 offset[N] = {};
    U left = active ? number : U(0);
    begin = 0;
    GB_UNROLL for (int a = AXES - 1; a >= 0; --a) {
      const i64 k = a == 0 ? static_cast<i64>(left) : static_cast<i64>(take(left, p.axis[a]));
      if (CHUNKED && a == 0) begin = k * CHUNK;
      GB_UNROLL for (int i = 0; i < N; ++i) offset[i] += k * p.stride[a][i];
    }
    length = !active ? 0 : CHUNKED ? chunk_count(p.length, begin) : static_cast<i32>(p.length);
    (get<I>(in).start(p.slots[I], offset[I] + begin * p.stride[AXES][I], p.stride[AXES][I], active),
     ...);
    (get<O>(out).start(p.slots[READS + O], offset[READS + O], p.stride[AXES][READS + O]), ...);
    Body::row(Pass<0>{}, in, row);
  }

  // The thread's first element of its chunk c, where its first chunk is `chunk`; the next steps are
  // STEP elements apart.
  static constexpr i32 STEP = GROUP * V;
  GB_FN i32 place(u32 chunk, int c) const {
    return static_cast<i32>(chunk + c * warps) * CHUNK + static_cast<i32>(t) * V;
  }

  // Elements of a vector that are in the row, where so many are from the thread's first one on. A
  // group without a row has none.
  GB_FN i32 count(i32 left, int i) const {
    return !EVEN ? left - i * STEP : BLOCK_WIDE || active ? V : 0;
  }

  // Operands' elements of a step.
  template <u64 CHOSEN> GB_FN void load(u32 chunk, int s) {
    const i32 first = place(chunk, s / CHUNK_STEPS);
    const int i = s % CHUNK_STEPS;
    const i32 own = count(length - first, i);
    (((CHOSEN >> I & 1) != 0 ? get<I>(in).template load<EVEN>(s, first + i * STEP, own) : void()),
     ...);
  }

  // Registers of an element of some operands.
  template <u64 CHOSEN>
  static constexpr int REGISTERS = (0 + ... + (CHOSEN >> I & 1 ? (R::SIZE + 3) / 4 : 0));
  // What a pass loads as it goes: not what is loaded at once before the first because later passes
  // need it, too.
  template <int P> static constexpr u64 MOVING =
      !HELD ? Body::LOADS[P - 1] : P == 1 ? Body::FRESH[0] & ~Body::HELD : Body::FRESH[P - 1];

  // What the reductions of a pass make of one of the thread's chunks, the first of which is `chunk`.
  template <int P> GB_FN terms_t<Body, P> reduce(u32 chunk, int c) {
    using T = terms_t<Body, P>;
    const T none = Body::none(Pass<P>{});
    T lane[V];
    const i32 left = length - place(chunk, c);
    constexpr bool AT_ONCE = REGISTERS<MOVING<P>> <= (STEPS > 2 * STEPS_OF_CHUNK ? 1 : 2);
    if constexpr (AT_ONCE) {
      GB_UNROLL for (int i = 0; i < CHUNK_STEPS; ++i) load<MOVING<P>>(chunk, c * CHUNK_STEPS + i);
    }
    GB_UNROLL for (int i = 0; i < CHUNK_STEPS; ++i) {
      const int s = c * CHUNK_STEPS + i;
      if constexpr (!AT_ONCE) load<MOVING<P>>(chunk, s);
      GB_UNROLL for (int k = 0; k < V; ++k) {
        const int e = s * V + k;
        const T own = Body::terms(Pass<P>{}, in, row, cached[e], typename Body::Inner{}, e);
        const T value = EVEN ? own : Body::chosen(i * STEP + k < left, own, none);
        lane[k] = i == 0 ? value : Body::combine(lane[k], value);
      }
    }
    return lane_tree<Body, GROUP>(lane, t);
  }

  template <int P> GB_FN void passes() {
    if constexpr (!EVEN && P > 1) {
      forget(length);
      forget(t);
    }
    if constexpr (P <= Body::PASSES) {
      using T = terms_t<Body, P>;
      if constexpr (HELD && P == 1) {
        GB_UNROLL for (int s = 0; s < STEPS; ++s) load<(Body::FRESH[0] & Body::HELD)>(warp, s);
      }
      if constexpr (!BLOCK_WIDE) {
        Body::row(Pass<P>{}, reduce<P>(0, 0), row);
      } else {
        using Table = typename T::template Table<MOST_CHUNKS>;
        GB_SHARED(Table, table)
        const u32 chunks = static_cast<u32>(length + CHUNK - 1) / CHUNK;
        if constexpr (HELD) {
          GB_UNROLL for (int c = 0; c < CHUNKS; ++c) {
            const T found = reduce<P>(warp, c);
            const u32 chunk = warp + c * warps;
            if (t == 0 && chunk < chunks) table.put(chunk, found);
          }
        } else {
          GB_ROLLED for (u32 chunk = warp; chunk < chunks; chunk += warps) {
            const T found = reduce<P>(chunk, 0);
            if (t == 0) table.put(chunk, found);
          }
        }
        barrier();
        Body::row(Pass<P>{}, chunk_tree<Body>(Body::none(Pass<P>{}), table, chunks, t), row);
      }
      passes<P + 1>();
    } else {
      if (active && t == 0 && warp == 0) {
        Body::row_results(row, out);
        (((Body::FULL >> O & 1) != 0 ? void() : get<O>(out).store_row()), ...);
      }
      if constexpr (Body::FULL != 0) {
        if constexpr (HELD || !BLOCK_WIDE) {
          store<P>(warp);
        } else {
          GB_ROLLED for (u32 chunk = warp; static_cast<i32>(chunk) * CHUNK < length; chunk += warps) {
            store<P>(chunk);
          }
        }
      }
    }
  }

  // The results that have an element's index, of the thread's chunks.
  template <int P> GB_FN void store(u32 chunk) {
    GB_UNROLL for (int s = 0; s < STEPS; ++s) {
      load<(HELD ? Body::FRESH : Body::LOADS)[P - 1]>(chunk, s);
      const i32 first = place(chunk, s / CHUNK_STEPS);
      const int i = s % CHUNK_STEPS;
      GB_UNROLL for (int k = 0; k < V; ++k) {
        Body::results(in, row, cached[s * V + k], typename Body::Inner{}, s * V + k, out, k);
      }
      (((Body::FULL >> O & 1) != 0 ? get<O>(out).template store<EVEN>(
                                        first + i * STEP, count(length - first, i))
                                  : void()),
       ...);
    }
  }
};

template <int GROUP, bool BLOCK_WIDE, int STEPS, bool HELD, bool EVEN, int WIDTH, bool CHUNKED,
          class U, class Body, class Reads, class Writes, class Division, int N, int AXES>
GB_FN void row_reduction(const RowReductionParams<Division, N, AXES>& p) {
  RowOfThreads<GROUP, BLOCK_WIDE, STEPS, HELD, EVEN, WIDTH, Body, Reads, indices<Reads>, Writes,
               indices<Writes>> row;
  const U block = blockIdx.x;
  row.template start<CHUNKED, AXES, U>(p, BLOCK_WIDE ? block : block * blockDim.y + threadIdx.y);
  row.template passes<1>();
}

template <int GROUP, bool BLOCK_WIDE, int STEPS, bool HELD, bool EVEN, int WIDTH, bool CHUNKED,
          class Body, class Reads, class Writes, int N, int AXES>
GB_FN void row_reduction32(const RowReductionParams32<N, AXES>& p) {
  row_reduction<GROUP, BLOCK_WIDE, STEPS, HELD, EVEN, WIDTH, CHUNKED, u32, Body, Reads, Writes>(p);
}

template <int GROUP, bool BLOCK_WIDE, int STEPS, bool HELD, bool EVEN, int WIDTH, bool CHUNKED,
          class Body, class Reads, class Writes, int N, int AXES>
GB_FN void row_reduction64(const RowReductionParams64<N, AXES>& p) {
  row_reduction<GROUP, BLOCK_WIDE, STEPS, HELD, EVEN, WIDTH, CHUNKED, u64, Body, Reads, Writes>(p);
}

}  // namespace gb

#endif
