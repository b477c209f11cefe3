// Runs CUDA kernels on the CPU, one thread after the other.
//
// Threads of a kernel whose parameters say COOPERATES have stacks of their own: each runs until it
// comes to a barrier or a shuffle, and goes on when all that take part have come there. If they
// never do, the launch says how many wait. What one thread does between two barriers is done before
// the next one begins, so that a missed barrier is a wrong result.
//
// The kernel's text is compiled unchanged by g++ after this header (g++ -DGB_EMU -include
// emulator.h -I cuda_kernels). Every access to global memory passes through emu::read and
// emu::write, which check that it is aligned and lies in known memory and, on request, count the
// distinct 32-byte sectors of each warp's request: what the memory system of a GPU would move.
#ifndef GB_EMULATOR_H
#define GB_EMULATOR_H

#include <math.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct Dim3 { unsigned x, y, z; };
static Dim3 threadIdx, blockIdx, blockDim, gridDim;

static inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}

namespace emu {

// Mirrored by SlotStatistics and Launch in backend.py.
struct Slot {
  long long requests;    // instructions of a warp that touched the slot
  long long sectors;     // distinct 32-byte sectors, summed over the requests
  long long fetched;     // the same, where what a block keeps in L1 counts once for the block
  long long bytes;       // bytes the threads asked for
  long long misaligned;  // accesses whose address is no multiple of their width
  long long outside;     // accesses that do not lie in one range of known memory
};
constexpr int MAX_SLOTS = 64;
struct Launch {
  long long first, count;  // blocks to run: of a grid too large to run whole, a part
  long long grid;          // blocks of the whole grid
  long long step;          // block number i runs as the (i * step mod count)-th
  unsigned block_x, block_y;
  long long num_parameter_bytes;
  const void* parameters;
  int trace;
  int num_ranges;
  const unsigned long long* ranges;  // known memory: begin, end, begin, end, ...
  long long evaluations;  // of elementary functions by a warp, all its lanes at once
  long long waiting;      // threads that wait for ever
  Slot slots[MAX_SLOTS];
};

// The k-th access of a slot with one width, by every lane of the current warp, is one request.
struct Request {
  int slot, bytes, number;
  bool kept;
  std::vector<unsigned long long> sectors;
};
static Launch* launch;
static std::vector<Request> requests;
static int (*counts)[33];  // of the thread
static std::vector<unsigned long long> kept[MAX_SLOTS];  // sectors that the block has in L1
static long long evaluated, most_evaluated;  // of the thread, of the warp's busiest thread

static inline bool touch(int slot, const void* at, int bytes, bool keep) {
  const unsigned long long begin = reinterpret_cast<unsigned long long>(at), end = begin + bytes;
  Slot& s = launch->slots[slot];
  if (begin % bytes != 0) ++s.misaligned;
  bool known = false;
  for (int i = 0; i < launch->num_ranges && !known; ++i) {
    known = begin >= launch->ranges[2 * i] && end <= launch->ranges[2 * i + 1];
  }
  if (!known) {
    ++s.outside;
    return false;
  }
  if (!launch->trace) return true;
  s.bytes += bytes;
  const int number = counts[slot][bytes]++;
  auto same = [&](const Request& r) {
    return r.slot == slot && r.bytes == bytes && r.number == number;
  };
  auto found = std::find_if(requests.begin(), requests.end(), same);
  if (found == requests.end()) found = requests.insert(found, Request{slot, bytes, number, keep, {}});
  for (unsigned long long sector = begin / 32; sector <= (end - 1) / 32; ++sector) {
    found->sectors.push_back(sector);
  }
  return true;
}

static inline void end_of_warp() {
  for (Request& r : requests) {
    std::sort(r.sectors.begin(), r.sectors.end());
    const auto distinct = std::unique(r.sectors.begin(), r.sectors.end()) - r.sectors.begin();
    launch->slots[r.slot].requests += 1;
    launch->slots[r.slot].sectors += distinct;
    if (r.kept) kept[r.slot].insert(kept[r.slot].end(), r.sectors.begin(), r.sectors.begin() + distinct);
    else launch->slots[r.slot].fetched += distinct;
  }
  requests.clear();
}

static inline void end_of_block() {
  for (int slot = 0; slot < MAX_SLOTS; ++slot) {
    auto& sectors = kept[slot];
    std::sort(sectors.begin(), sectors.end());
    launch->slots[slot].fetched += std::unique(sectors.begin(), sectors.end()) - sectors.begin();
    sectors.clear();
  }
}

// Unknown memory reads as zero bytes and is not written.
static inline void read(int slot, void* to, const void* from, int bytes, bool keep) {
  if (touch(slot, from, bytes, keep)) memcpy(to, from, bytes);
  else memset(to, 0, bytes);
}
static inline void write(int slot, void* to, const void* from, int bytes) {
  if (touch(slot, to, bytes, false)) memcpy(to, from, bytes);
}

// Counts the calls of elementary functions, not those that they make themselves.
struct Evaluation {
  static inline int depth = 0;
  Evaluation() { evaluated += depth++ == 0; }
  ~Evaluation() { --depth; }
};

// --- threads that work together ------------------------------------------------------------------

constexpr unsigned MOST_THREADS = 1024, LANES = 32;
constexpr int POISON = 0xff;
constexpr size_t STACK = 128 << 10, WIDEST = 256;
enum State { RUNS, AT_BARRIER, AT_SHUFFLE, DONE };
struct Thread {
  State state;
  jmp_buf at;
  ucontext_t begin;
  unsigned shuffles;
  int counts[MAX_SLOTS][33];
};
static Thread* threads;
static unsigned current;
static jmp_buf scheduler;
static std::vector<const void*> fresh_memory;  // shared memory that this block has seen
// What lanes give: of two shuffles in turn, since a lane may be one ahead of another.
static unsigned char given[2][MOST_THREADS][WIDEST];
static bool gave[2][MOST_THREADS];

static inline void wait(State state) {
  Thread& own = threads[current];
  own.state = state;
  if (_setjmp(own.at) == 0) _longjmp(scheduler, 1);
}

static inline void barrier() { wait(AT_BARRIER); }

// Every lane gives a value and has that of another lane; of a lane that gives none, poison.
static inline void shuffle(void* value, int bytes, unsigned lane) {
  const unsigned me = current, turn = threads[me].shuffles++ & 1;
  memcpy(given[turn][me], value, bytes);
  gave[turn][me] = true;
  wait(AT_SHUFFLE);
  gave[1 - turn][me] = false;
  const unsigned other = me / LANES * LANES + lane % LANES;
  if (gave[turn][other]) memcpy(value, given[turn][other], bytes);
  else memset(value, POISON, bytes);
}

// Shared memory is poison when a block begins.
static inline void fresh(void* memory, size_t bytes) {
  if (std::find(fresh_memory.begin(), fresh_memory.end(), memory) != fresh_memory.end()) return;
  fresh_memory.push_back(memory);
  memset(memory, POISON, bytes);
}

template <class P> struct Job { static inline void (*kernel)(P); static inline const P* p; };
template <class P> void body() {
  Job<P>::kernel(*Job<P>::p);
  threads[current].state = DONE;
  _longjmp(scheduler, 1);
}

// Threads all of which are at one place go on; returns whether there are any.
static inline bool release(unsigned first, unsigned last, State place) {
  bool any = false;
  for (unsigned t = first; t < last; ++t) {
    if (threads[t].state == DONE) continue;
    if (threads[t].state != place) return false;
    any = true;
  }
  for (unsigned t = first; t < last; ++t) {
    if (threads[t].state == place) threads[t].state = RUNS;
  }
  return any;
}

template <class P> void run_together(void (*kernel)(P), const P& p, Launch& l, unsigned count) {
  static char* stacks = nullptr;
  if (!stacks) {
    stacks = static_cast<char*>(mmap(nullptr, STACK * MOST_THREADS, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    threads = new Thread[MOST_THREADS];
  }
  Job<P>::kernel = kernel;
  Job<P>::p = &p;
  fresh_memory.clear();
  memset(gave, 0, sizeof(gave));
  for (unsigned t = 0; t < count; ++t) {
    Thread& own = threads[t];
    own.state = RUNS;
    own.shuffles = 0;
    memset(own.counts, 0, sizeof(own.counts));
    getcontext(&own.begin);
    own.begin.uc_stack = {stacks + STACK * t, 0, STACK};
    own.begin.uc_link = nullptr;
    makecontext(&own.begin, body<P>, 0);
  }
  std::vector<bool> begun(count);
  std::vector<std::vector<Request>> of_warp((count + LANES - 1) / LANES);
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    for (unsigned t = 0; t < count; ++t) {
      if (threads[t].state != RUNS) continue;
      goes_on = true;
      current = t;
      threadIdx = {t % l.block_x, t / l.block_x, 0};
      counts = threads[t].counts;
      std::swap(requests, of_warp[t / LANES]);
      if (_setjmp(scheduler) == 0) {
        if (begun[t]) _longjmp(threads[t].at, 1);
        begun[t] = true;
        setcontext(&threads[t].begin);
      }
      t = current;
      std::swap(requests, of_warp[t / LANES]);
    }
    for (unsigned t = 0; t < count; t += LANES) {
      goes_on |= release(t, std::min(t + LANES, count), AT_SHUFFLE);
    }
    goes_on |= release(0, count, AT_BARRIER);
  }
  for (unsigned t = 0; t < count; ++t) l.waiting += threads[t].state != DONE;
  for (std::vector<Request>& one : of_warp) {
    std::swap(requests, one);
    if (l.trace) end_of_warp();
    requests.clear();
  }
}

template <class P, class = void> struct Cooperates { static constexpr bool value = false; };
template <class P> struct Cooperates<P, decltype(void(P::COOPERATES))> {
  static constexpr bool value = P::COOPERATES;
};

// Returns false, having done nothing, when the parameters have another size than the kernel's.
template <class P> bool run(void (*kernel)(P), Launch& l) {
  if (l.num_parameter_bytes != static_cast<long long>(sizeof(P))) return false;
  P p;
  memcpy(&p, l.parameters, sizeof(P));
  launch = &l;
  gridDim = {static_cast<unsigned>(l.grid), 1, 1};
  blockDim = {l.block_x, l.block_y, 1};
  for (long long i = 0; i < l.count; ++i) {
    blockIdx = {static_cast<unsigned>(l.first + i * l.step % l.count), 0, 0};
    const unsigned count = l.block_x * l.block_y;
    if constexpr (Cooperates<P>::value) {
      run_together(kernel, p, l, count);
      if (l.trace) end_of_block();
      continue;
    }
    static int own_counts[MAX_SLOTS][33];
    counts = own_counts;
    for (unsigned t = 0; t < count; ++t) {
      threadIdx = {t % l.block_x, t / l.block_x, 0};
      if (l.trace) memset(own_counts, 0, sizeof(own_counts));
      evaluated = 0;
      kernel(p);
      most_evaluated = std::max(most_evaluated, evaluated);
      if (t % 32 != 31 && t + 1 != count) continue;
      l.evaluations += most_evaluated;
      most_evaluated = 0;
      if (l.trace) end_of_warp();
    }
    if (l.trace) end_of_block();
  }
  return true;
}

}  // namespace emu

#endif
