// SPDX-License-Identifier: Apache-2.0
// Which accesses of a watched launch are in order.
//
// Two accesses of one block are in order if they are of one thread, or a barrier or a warp's collective of
// both threads lies between. Blocks have no order, unless a thread of the first executes a __threadfence()
// after its access and then an atomic operation (or a volatile store), and the second block an atomic
// operation (or a volatile load) on the same word after that.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tunesmith {

/// Told of all that puts accesses in order, as it happens: blocks run one after the other.
class AccessOrder {
 public:
  void begin();  ///< of a launch
  void begin_block(std::uint32_t block);
  std::uint32_t block() const { return block_; }  ///< that runs

  std::uint64_t tick() { return ++time_; }  ///< the time of the next access
  std::uint64_t now() const { return time_; }

  void barrier() { barrier_ = tick(); }
  /// Of these lanes of a warp.
  void collective(std::uint32_t warp, unsigned lanes);
  void fence(std::uint16_t thread, bool of_device);
  /// An atomic operation on the word is both; a volatile store releases, a volatile load acquires.
  void release(const char* word, std::uint16_t thread);
  void acquire(const char* word, std::uint16_t thread);

  struct Access {
    std::uint32_t block;
    std::uint16_t thread;
    std::uint64_t time;
  };
  /// Whether something puts it before what this thread of the running block does now.
  bool is_before(const Access& earlier, std::uint16_t second) const;

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

  std::uint64_t time_ = 0;
  std::uint32_t block_ = 0;
  std::uint64_t barrier_ = 0;                                       // time of the block's last
  std::array<std::uint64_t, 32> warp_full_ = {};                    // by warp: all its lanes met
  std::unordered_map<std::uint32_t, std::uint64_t> met_;            // by two threads of a warp
  std::unordered_map<std::uint32_t, std::vector<Fence>> fences_;    // by block
  std::unordered_map<const char*, std::vector<Release>> releases_;  // by word
  // By the block that runs: of which block's what, from which word; and how much of a word's releases.
  std::unordered_map<std::uint32_t, std::vector<Release>> acquired_;
  std::unordered_map<const char*, std::size_t> acquired_of_;
  std::vector<std::pair<int, Release>> acquired_within_;  // by a warp of it, of the same block
};

}  // namespace tunesmith
