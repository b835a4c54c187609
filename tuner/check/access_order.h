// SPDX-License-Identifier: Apache-2.0
// Knows which accesses of a watched launch are in order.
//
// Two accesses of one block are in order if they are of one thread, or if a barrier or a warp's collective of
// both threads lies between them, or if the first thread then arrives at a signal (a cuda::barrier) for which
// the second waits before its access. Blocks have no order, unless a thread of the first executes a
// __threadfence() after its access and then an atomic operation (or a volatile store), and the second block
// an atomic operation (or a volatile load) on the same word after that. The warps of a block tell each other
// in this way too, by any fence.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tunesmith {

/// Is told of all events that put accesses in order, as they happen: blocks run one after the other.
class AccessOrder {
 public:
  void begin();  ///< a launch begins
  void begin_block(std::uint32_t block);
  std::uint32_t block() const { return block_; }  ///< the running block

  std::uint64_t tick() { return ++time_; }  ///< the time of the next access
  std::uint64_t now() const { return time_; }

  void barrier() { barrier_ = tick(); }
  /// All blocks have waited for each other: all before lies before all that follows.
  void grid_barrier() { grid_barrier_ = tick(); }
  /// The lanes of the warp that take part.
  void collective(std::uint32_t warp, unsigned lanes);
  void fence(std::uint16_t thread, bool of_device);
  /// True if the thread of the running block has passed a fence before that time.
  bool has_fenced(std::uint16_t thread, std::uint64_t before) const;
  /// The thread arrives at a signal of its block, which tells those who wait for it what this thread knows.
  void arrive(const void* signal, std::uint16_t thread);
  /// The thread has waited for all that have arrived.
  void wait(const void* signal, std::uint16_t thread);
  /// An atomic operation on the word is both; a volatile store releases, a volatile load acquires.
  void release(const char* word, std::uint16_t thread);
  /// `until`: the load found what the word held at that time.
  void acquire(const char* word, std::uint16_t thread,
               std::uint64_t until = std::numeric_limits<std::uint64_t>::max());

  struct Access {
    std::uint32_t block;
    std::uint16_t thread;
    std::uint64_t time;
  };
  /// True if something orders the earlier access before the present one of this thread of the running block.
  bool is_before(const Access& earlier, std::uint16_t second) const {
    if (grid_barrier_ > earlier.time) return true;
    if (earlier.block != block_) return is_released(earlier);
    return earlier.thread == second || barrier_ > earlier.time || is_before_within(earlier, second);
  }

 private:
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
  bool is_released(const Access& access) const;
  bool is_before_within(const Access& earlier,
                        std::uint16_t second) const;  // of one block, by other than barriers
  // By thread of the block, the time up to which its accesses are known.
  using Known = std::vector<std::uint64_t>;
  static void join(Known& known, const Known& more);
  void know_warp(Known& known, std::uint32_t thread) const;

  std::uint64_t time_ = 0;
  std::uint32_t block_ = 0;
  std::uint64_t grid_barrier_ = 0;
  std::uint64_t barrier_ = 0;                                       // time of the block's last barrier
  std::array<std::uint64_t, 32> warp_full_ = {};                    // by warp: all its lanes met
  std::unordered_map<std::uint32_t, std::uint64_t> met_;            // by two threads of a warp
  std::unordered_map<std::uint32_t, std::vector<Fence>> fences_;    // by block
  std::unordered_map<std::uint16_t, std::uint64_t> first_fence_;    // by thread of the running block
  std::unordered_map<const char*, std::vector<Release>> releases_;  // by word
  std::set<std::pair<const char*, std::uint64_t>> handed_on_;       // by word: the times of its releases
  // The acquisitions of the running block: the releases by their block; and by word, how many of its
  // releases.
  std::unordered_map<std::uint32_t, std::vector<Release>> acquired_;
  std::unordered_map<const char*, std::size_t> acquired_of_;
  std::unordered_set<std::uint64_t> acquired_times_;
  // By word and block, how many of that block's releases were handed on with the word.
  std::map<std::pair<const char*, std::uint32_t>, std::size_t> forwarded_of_;
  // The running block's own releases by their word, those that its warps have acquired, and how many of a
  // word's a warp has.
  std::unordered_map<const char*, std::vector<Release>> released_within_;
  std::vector<std::pair<int, Release>> acquired_within_;
  std::map<std::pair<const char*, int>, std::size_t> acquired_within_of_;
  std::unordered_map<std::uint32_t, Known> known_;  // to a thread of the running block, by signals
  std::unordered_map<const void*, Known> told_;     // by those that arrived at a signal
};

}  // namespace tunesmith
