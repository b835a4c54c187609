// SPDX-License-Identifier: Apache-2.0
// Judges the accesses of a watched launch (runtime/watch.h): are they inside the arrays, and are two accesses
// of which one writes in order (access_order.h)? Knows no op and no variant.
//
// A store of the value that the memory already holds is no conflict as long as nobody stores another one,
// atomic operations do not conflict with each other, and a plain load beside atomic operations is left to the
// comparison of results: kernels look before they update. But the block that counted itself as the last one
// reads the results of other blocks, so its loads are judged.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "generator/dtype.h"
#include "kernel_file/user_kernel.h"
#include "runtime/watch.h"
#include "tuner/check/access_order.h"

namespace tunesmith {

class Watcher {
 public:
  struct Array {
    std::string name;
    const char* start = nullptr;
    std::int64_t bytes = 0;
    std::int64_t element = 1;               ///< bytes
    const StructLayout* structs = nullptr;  ///< of an array of structs: their members, which are told

    /// The array of an argument: its elements are the record's structs, or, without a record, numbers of the
    /// dtype.
    static Array of(const std::string& name, const char* start, std::int64_t bytes, DType dtype,
                    const UserRecord* record);
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
  /// overflows are watched. `choose` says which blocks run. After `most` accesses it ends them: what is found
  /// does not depend on the machine.
  void begin(const ModuleMemory& memory, std::vector<Array> arrays, bool races, std::uint64_t most);
  /// Returns the blocks that run, of `blocks` in all; null: all, in order.
  std::vector<std::int64_t> (*choose)(std::int64_t blocks) = nullptr;
  /// Which older values a load finds by which a block may wait for another one (volatile, or an atomic
  /// operation that changed nothing when the same launch was watched before), as if the other block ran at
  /// the same time: all that the word held in this launch, one after the other, or what it held in the
  /// beginning. What a block sets back may then be missed by others.
  enum class Older { none, first, all };
  Older older = Older::none;
  /// The launches have ended.
  void end();

  const Finding& finding() const { return finding_; }
  std::uint64_t accesses() const { return accesses_; }
  bool has_reached_limit() const { return accesses_ > most_; }
  /// True if a thread used a volatile load or an atomic operation on global memory: blocks may use these to
  /// wait for each other.
  bool waits() const { return waits_; }
  /// True if a volatile load found what another block wrote in the same launch and nothing had announced.
  bool has_signals() const { return has_signals_; }
  /// A sentence on a thread that looked at the same words again and again, which nobody changed; empty: there
  /// was none, or the launch ended.
  const std::string& stuck() const { return stuck_; }
  const std::set<Spot>& overflows() const { return overflows_; }

 private:
  static constexpr std::int64_t most_of_a_word = 16;  // bytes
  using Time = std::uint32_t;                         // of a launch, whose accesses are fewer
  struct Cell {                                       // one granule of memory
    Time written = 0;
    std::array<Time, 2> read = {};  // by two different threads
    std::uint32_t writer_block = 0;
    std::array<std::uint32_t, 2> reader_block = {};
    std::uint16_t writer = 0;
    std::array<std::uint16_t, 2> reader = {};
    std::uint8_t kind = 0;                 // of the write
    std::array<bool, 2> is_volatile = {};  // of the reads
    // The last plain store of the value that was there.
    Time repeated = 0;
    std::uint32_t repeater_block = 0;
    std::uint16_t repeater = 0;
  };
  struct Region {
    Array array;
    std::int64_t granule = most_of_a_word;  // bytes of a cell, which no access has divided so far …
    std::int64_t finest = 1;                // … and that none divides further
    bool is_shared = false;
    std::vector<Cell> cells;
    std::string found;  // what the launch found there, if old values are shown
  };
  struct PendingStore {  // a store that has not taken place yet
    Region* region = nullptr;
    const char* at = nullptr;
    std::int64_t bytes = 0;
    Time time = 0;
    std::uint16_t thread = 0;
    std::uint8_t kind = 0;
    std::array<char, 64> before;
  };
  using Word = std::array<char, most_of_a_word>;
  struct Replaced {  // a word that shows an older value to the next load
    char* at = nullptr;
    std::int64_t bytes = 0;
    Word now = {}, shown = {};
  };
  struct Held {  // a value that a word had, and when it was replaced
    Word value = {};
    std::uint64_t until = 0;
    std::uint32_t by = 0;  // the block that replaced it
  };
  // A word by its array and place, which are the same in each launch of a variant on a problem.
  using Place = std::pair<std::string, std::int64_t>;
  struct Changers {  // the blocks whose atomic operations changed a word
    std::uint32_t block = 0;
    bool are_several = false;
  };

  void begin_launch();
  bool access(const char* at, std::int64_t bytes, AccessKind kind, int thread);
  bool update(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  bool check_read(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  bool settle();
  Time now() const { return static_cast<Time>(order_.now()); }
  // Makes the cells so small that each access consists of whole ones; `place` has the bits of its place and
  // size.
  void divide(Region& region, std::int64_t place);
  // False, with a finding: the launch has written what it reads as constant.
  bool check_constant(Region& region, const char* at, std::int64_t bytes, std::uint16_t thread);
  // Keeps what a store or an atomic operation is about to change.
  void remember(Region& region, const char* at, std::int64_t bytes, AccessKind kind, std::uint16_t thread);
  // True if the load finds an older value, or is a finding.
  bool shows_older(Region& region, const char* at, std::int64_t bytes, std::uint16_t thread);
  // True if one block alone has changed the word by atomic operations, another one than that which runs.
  bool is_of_one_other(const Region& region, const char* at) const;
  // Keeps the value that has just been replaced; false: others may miss it.
  bool keep_older(Region& region, std::uint16_t thread);
  // Block `by` sets a word back that block `reader` looks at, and nothing puts the two in order.
  void late(const Region& region, const char* at, std::int64_t bytes, std::uint32_t by, std::uint32_t reader);
  void changed();  // the memory has changed, or another block runs
  // Counts a load for which a thread may wait. False: it waits for ever.
  bool goes_on(const Region& region, const char* at, std::int64_t bytes, int thread);
  bool race(const Region& region, const char* at, std::int64_t bytes, std::uint32_t block,
            std::uint16_t first, bool first_writes, std::uint16_t second, bool second_writes);
  bool outside(const char* at, std::int64_t bytes, AccessKind kind);
  Region* region_of(const char* at, std::int64_t bytes);
  bool is_of_module(const char* at);
  std::string place(const Region& region, const char* at, std::int64_t bytes) const;

  Watch hooks_;
  ModuleMemory memory_;
  std::vector<Region> regions_;
  std::size_t lasting_regions_ = 0;  // the first ones, which all launches have
  Region* last_region_ = nullptr;
  const char *own_start_ = nullptr, *own_end_ = nullptr;  // the module's own variables that were met last
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
  bool waits_ = false, has_signals_ = false;
  std::string stuck_;
  Replaced replaced_;
  std::unordered_map<const char*, std::vector<Held>> older_;  // by word, if old values are shown
  std::map<Place, Changers> changers_;                        // of all launches
  // How many older values were shown, by word and thread of the running block.
  std::map<std::pair<const char*, std::uint16_t>, std::size_t> shown_;
  std::set<std::pair<const char*, std::uint16_t>> looked_at_;  // the same, since the memory changed last
  std::size_t looks_ = 0;                                      // since the memory changed last
  std::uint64_t accesses_ = 0, most_ = 0;
  std::set<Spot> overflows_;
};

}  // namespace tunesmith
