// SPDX-License-Identifier: Apache-2.0
// Judges the accesses of a watched launch (runtime/watch.h): are they inside the arrays, and are two accesses
// of which one writes in order (access_order.h)? Knows no op and no variant.
//
// A store of the value that the memory already holds is no conflict, atomic operations do not conflict with
// each other, and a plain load beside atomic operations is left to the comparison of results: kernels look
// before they update. But the block that counted itself as the last one reads the results of other blocks, so
// its loads are judged.
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
#include "tuner/check/access_order.h"

namespace tunesmith {

class Watcher {
 public:
  struct Array {
    std::string name;
    const char* start = nullptr;
    std::int64_t bytes = 0;
    std::int64_t element = 1;  ///< bytes
  };
  enum class FindingKind { none, race, outside, misaligned };
  struct Finding {
    FindingKind kind = FindingKind::none;
    std::string sentence;  ///< without the problem and the full stop
  };
  using Spot = std::pair<std::string, int>;  ///< file and line

  Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  const Watch* hooks() const { return &hooks_; }

  /// The launches of a work begin, which run one after the other. Without `races` only bounds, alignment and
  /// overflows are watched. `choose` says which blocks run.
  void begin(const ModuleMemory& memory, std::vector<Array> arrays, bool races,
             std::chrono::duration<double> limit);
  /// Returns the blocks that run, of `blocks` in all; null: all, in order.
  std::vector<std::int64_t> (*choose)(std::int64_t blocks) = nullptr;
  /// The launches have ended.
  void end();

  const Finding& finding() const { return finding_; }
  bool ran_out_of_time() const { return late_; }
  /// True if a thread used a volatile load or an atomic operation on global memory: blocks may use these to
  /// wait for each other.
  bool waits() const { return waits_; }
  const std::set<Spot>& overflows() const { return overflows_; }

 private:
  struct Cell {  // one granule of memory
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
  struct PendingStore {  // a store that has not taken place yet
    Region* region = nullptr;
    const char* at = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t time = 0;
    std::uint16_t thread = 0;
    std::uint8_t kind = 0;
    std::array<char, 64> before;
  };

  void begin_launch();
  bool access(const char* at, std::int64_t bytes, AccessKind kind, int thread);
  bool update(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  bool check_read(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  bool settle();
  bool race(const Region& region, const char* at, std::int64_t bytes, std::uint32_t block,
            std::uint16_t first, bool first_writes, std::uint16_t second, bool second_writes);
  bool outside(const char* at, std::int64_t bytes, AccessKind kind);
  Region* region_of(const char* at, std::int64_t bytes);
  std::string place(const Region& region, const char* at, std::int64_t bytes) const;

  Watch hooks_;
  ModuleMemory memory_;
  std::vector<Region> regions_;
  std::size_t lasting_regions_ = 0;  // the first ones, which all launches have
  Region* last_region_ = nullptr;
  bool races_ = true;
  std::vector<std::int64_t> blocks_;
  std::size_t next_ = 0;
  bool chosen_ = false;

  AccessOrder order_;
  std::unordered_map<const char*, std::uint32_t> updated_by_;  // the block that updated it last, by word
  std::unordered_map<const char*, std::uint32_t> updates_;     // by word of 4 bytes
  std::uint64_t block_count_ = 0;
  const char* counter_ = nullptr;  // it tells the running block that it is the last one
  PendingStore pending_;

  Finding finding_;
  bool late_ = false;
  bool waits_ = false;
  std::uint32_t calls_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  std::set<Spot> overflows_;
};

}  // namespace tunesmith
