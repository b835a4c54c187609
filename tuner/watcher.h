// Judges the accesses of a watched launch (runtime/watch.h): are they inside the arrays, and does something
// put those in order of which one writes? Knows no op and no variant.
//
// Two accesses of one block are in order if they are of one thread, or a barrier or a warp's collective of
// both threads lies between. Blocks have no order, unless a thread of the first executes a __threadfence()
// after its access and then an atomic operation (or a volatile store), and the second block an atomic
// operation (or a volatile load) on the same word after that.
//
// A store of what the memory already holds disturbs nobody, atomic operations do not disturb each other, and
// a plain load beside atomic operations is left to the comparison of results: kernels look before they
// update. But the block that counted itself as the last one reads what others leave, so there it is judged.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/watch.h"

namespace tunesmith {

class Watcher {
 public:
  struct Array {
    std::string name;
    const char* start = nullptr;
    std::int64_t bytes = 0;
    std::int64_t element = 1;  ///< bytes
  };
  enum class Kind { none, race, outside, misaligned };
  struct Finding {
    Kind kind = Kind::none;
    std::string sentence;  ///< up to, and without, the problem and the full stop
  };
  using Spot = std::pair<std::string, int>;  ///< file and line

  Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  const Watch* hooks() const { return &hooks_; }

  /// A launch begins. Without `races` only bounds, alignment and overflows are watched. `blocks` says which
  /// run, as next_block numbers them; empty: all, in order.
  void begin(const ModuleMemory& memory, std::vector<Array> arrays, bool races,
             std::chrono::duration<double> limit);
  /// Which blocks run: of so many, so often asked before.
  std::vector<std::int64_t> (*choose)(std::int64_t blocks) = nullptr;
  /// It has ended.
  void end();

  const Finding& finding() const { return finding_; }
  bool ran_out_of_time() const { return late_; }
  /// A thread used a volatile load or an atomic operation on global memory: blocks may wait for each other
  /// so.
  bool waits() const { return waits_; }
  const std::set<Spot>& overflows() const { return overflows_; }

 private:
  struct Cell {  // of one granule of memory
    std::uint64_t written = 0;
    std::array<std::uint64_t, 2> read = {};  // by two different threads
    std::uint32_t writer_block = 0;
    std::array<std::uint32_t, 2> reader_block = {};
    std::uint16_t writer = 0;
    std::array<std::uint16_t, 2> reader = {};
    std::uint8_t kind = 0;  // of the write
  };
  struct Region {
    Array array;
    std::int64_t granule = 4;
    bool is_shared = false;
    std::vector<Cell> cells;
  };
  struct Fence {
    std::uint64_t time, barrier;  // of the block, before it
    std::uint16_t thread;
    bool of_device;
  };
  struct Release {
    std::uint32_t block;
    std::uint16_t thread;
    std::uint64_t time, barrier;
    const char* word;
  };
  struct Pending {  // a store that has not taken place yet
    Region* region = nullptr;
    const char* at = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t time = 0;
    std::uint16_t thread = 0;
    std::uint8_t kind = 0;
    std::array<char, 64> before;
  };

  bool access(const char* at, std::int64_t bytes, AccessKind kind, int thread);
  bool check_read(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  bool settle();
  bool is_ordered(const Region& region, std::uint32_t block, std::uint16_t first, std::uint64_t time,
                  std::uint16_t second) const;
  bool is_released(std::uint32_t block, std::uint16_t thread, std::uint64_t time) const;
  bool race(const Region& region, const char* at, std::int64_t bytes, std::uint32_t block,
            std::uint16_t first, bool first_writes, std::uint16_t second, bool second_writes);
  bool outside(const char* at, std::int64_t bytes, AccessKind kind);
  void release(const char* at, std::uint16_t thread);
  void acquire(const char* at, std::uint16_t thread);
  Region* region_of(const char* at, std::int64_t bytes);
  std::string place(const Region& region, const char* at, std::int64_t bytes) const;

  Watch hooks_;
  ModuleMemory memory_;
  std::vector<Region> regions_;
  Region* last_region_ = nullptr;
  bool races_ = true;
  std::vector<std::int64_t> blocks_;
  std::size_t next_ = 0;
  bool chosen_ = false;

  std::uint64_t time_ = 0;
  std::uint32_t block_ = 0;
  std::uint64_t barrier_ = 0;                                       // time of the block's last
  std::array<std::uint64_t, 32> warp_full_ = {};                    // by warp: all its lanes met
  std::unordered_map<std::uint32_t, std::uint64_t> met_;            // by two threads of a warp
  std::unordered_map<std::uint32_t, std::vector<Fence>> fences_;    // by block
  std::unordered_map<const char*, std::vector<Release>> releases_;  // by word
  std::unordered_map<const char*, std::uint32_t> updated_by_;       // the block that last did, by word
  std::unordered_map<const char*, std::uint32_t> updates_;          // by word of 4 bytes
  std::uint64_t block_count_ = 0;
  const char* counter_ = nullptr;  // by which the block that runs is the last one
  // By the block that runs: of which block's what, from which word; and how much of a word's releases.
  std::unordered_map<std::uint32_t, std::vector<Release>> acquired_;
  std::unordered_map<const char*, std::size_t> acquired_of_;
  std::vector<std::pair<int, Release>> acquired_within_;  // by a warp of it, of the same block
  Pending pending_;

  Finding finding_;
  bool late_ = false;
  bool waits_ = false;
  std::uint32_t calls_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  std::set<Spot> overflows_;
};

}  // namespace tunesmith
