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
  Slot slots[MAX_SLOTS];
};

// The k-th access of a slot with one width, by every lane of the current warp, is one request.
struct Request {
  int slot, bytes, number;
  std::vector<unsigned long long> sectors;
};
static Launch* launch;
static std::vector<Request> requests;
static int counts[MAX_SLOTS][17];

static inline bool touch(int slot, const void* at, int bytes) {
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
  if (found == requests.end()) found = requests.insert(found, Request{slot, bytes, number, {}});
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
  }
  requests.clear();
}

// Unknown memory reads as zero bytes and is not written.
static inline void read(int slot, void* to, const void* from, int bytes) {
  if (touch(slot, from, bytes)) memcpy(to, from, bytes);
  else memset(to, 0, bytes);
}
static inline void write(int slot, void* to, const void* from, int bytes) {
  if (touch(slot, to, bytes)) memcpy(to, from, bytes);
}

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
      kernel(p);
      if (l.trace && (t % 32 == 31 || t + 1 == threads)) end_of_warp();
    }
  }
  return true;
}

}  // namespace emu

#endif
