// Runs CUDA kernels on the CPU, one thread after the other: enough for kernels without barriers.
//
// The kernel's text is compiled unchanged by g++ after this header (g++ -DGB_EMU -include
// emulator.h -I cuda_kernels). Every access to global memory passes through emu::read and
// emu::write, which check that it is aligned and lies in known memory and, on request, count the
// distinct 32-byte sectors of each warp's request: what the memory system of a GPU would move.
#ifndef GB_EMULATOR_H
#define GB_EMULATOR_H

#include <math.h>
#include <string.h>

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
static int counts[MAX_SLOTS][33];
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
    const unsigned threads = l.block_x * l.block_y;
    for (unsigned t = 0; t < threads; ++t) {
      threadIdx = {t % l.block_x, t / l.block_x, 0};
      if (l.trace) memset(counts, 0, sizeof(counts));
      evaluated = 0;
      kernel(p);
      most_evaluated = std::max(most_evaluated, evaluated);
      if (t % 32 != 31 && t + 1 != threads) continue;
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
