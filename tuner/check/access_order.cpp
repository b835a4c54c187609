// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/access_order.h"

#include <algorithm>

namespace tunesmith {
namespace {

constexpr std::size_t most_releases = 1 << 17;  // of one word

}  // namespace

void AccessOrder::begin() {
  time_ = 0;
  grid_barrier_ = 0;
  fences_.clear();
  releases_.clear();
  handed_on_.clear();
}

void AccessOrder::begin_block(std::uint32_t block) {
  block_ = block;
  barrier();
  warp_full_.fill(0);
  first_fence_.clear();
  met_.clear();
  acquired_.clear();
  acquired_of_.clear();
  acquired_times_.clear();
  forwarded_of_.clear();
  released_within_.clear();
  acquired_within_.clear();
  acquired_within_of_.clear();
  known_.clear();
  told_.clear();
}

void AccessOrder::collective(std::uint32_t warp, unsigned lanes) {
  const std::uint64_t now = tick();
  if (!known_.empty()) {
    Known all;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const auto found = known_.find(warp * 32 + lane);
      if ((lanes >> lane & 1) != 0 && found != known_.end()) join(all, found->second);
    }
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0) join(known_[warp * 32 + lane], all);
  }
  if (lanes == ~0u) {
    warp_full_[warp & 31] = now;
    return;
  }
  for (std::uint32_t a = 0; a < 32; ++a) {
    if ((lanes >> a & 1) == 0) continue;
    for (std::uint32_t b = a + 1; b < 32; ++b) {
      if ((lanes >> b & 1) != 0) met_[warp << 10 | a << 5 | b] = now;
    }
  }
}

void AccessOrder::join(Known& known, const Known& more) {
  if (known.size() < more.size()) known.resize(more.size());
  for (std::size_t n = 0; n < more.size(); ++n) known[n] = std::max(known[n], more[n]);
}

// The thread knows this of itself and, by the warp's collectives, of its neighbours.
void AccessOrder::know_warp(Known& known, std::uint32_t thread) const {
  const std::uint32_t first = thread / 32 * 32;
  if (known.size() < first + 32) known.resize(first + 32);
  for (std::uint32_t other = first; other < first + 32; ++other) {
    std::uint64_t time = other == thread ? time_ + 1 : warp_full_[first / 32 & 31];
    const std::uint32_t a = std::min(other, thread) % 32, b = std::max(other, thread) % 32;
    if (const auto met = met_.find(first / 32 << 10 | a << 5 | b); met != met_.end())
      time = std::max(time, met->second);
    known[other] = std::max(known[other], time);
  }
}

void AccessOrder::arrive(const void* signal, std::uint16_t thread) {
  Known& told = told_[signal];
  know_warp(told, thread);
  if (const auto known = known_.find(thread); known != known_.end()) join(told, known->second);
  tick();
}

void AccessOrder::wait(const void* signal, std::uint16_t thread) {
  tick();
  if (const auto told = told_.find(signal); told != told_.end()) join(known_[thread], told->second);
}

void AccessOrder::fence(std::uint16_t thread, bool of_device) {
  fences_[block_].push_back({tick(), barrier_, thread, of_device});
  first_fence_.try_emplace(thread, now());
}

bool AccessOrder::has_fenced(std::uint16_t thread, std::uint64_t before) const {
  const auto found = first_fence_.find(thread);
  return found != first_fence_.end() && found->second < before;
}

bool AccessOrder::is_before_within(const Access& earlier, std::uint16_t second) const {
  const auto& [block, first, time] = earlier;
  const std::uint32_t warp = first / 32;
  if (warp == second / 32) {
    if (warp_full_[warp & 31] > time) return true;
    const std::uint32_t a = std::min(first, second) % 32, b = std::max(first, second) % 32;
    const auto met = met_.find(warp << 10 | a << 5 | b);
    if (met != met_.end() && met->second > time) return true;
  }
  if (const auto known = known_.find(second);
      known != known_.end() && first < known->second.size() && known->second[first] > time)
    return true;
  // The last warp of a block is found by a counter.
  const auto fences = fences_.find(block_);
  if (fences == fences_.end()) return false;
  for (const auto& [by, release] : acquired_within_) {
    if (by != second / 32) continue;
    if (release.thread == first && release.time == time) return true;  // it is the signal itself
    for (const Fence& fence : fences->second) {
      const bool own =
          fence.thread == first || (fence.thread / 32 == first / 32 && warp_full_[warp & 31] > time);
      if (own && fence.time > time && fence.time < release.time) return true;
    }
  }
  return false;
}

// True if the running block has learned of this access of another block's thread.
bool AccessOrder::is_released(const Access& access) const {
  const auto& [block, thread, time] = access;
  const auto fences = fences_.find(block);
  if (fences == fences_.end()) return false;
  const auto acquired = acquired_.find(block);
  if (acquired == acquired_.end()) return false;
  for (const Release& release : acquired->second) {
    for (const Fence& fence : fences->second) {
      if (!fence.of_device || fence.time < time || fence.time > release.time) continue;
      const bool by_releaser = fence.thread == release.thread || fence.time < release.barrier;
      const bool covers = fence.thread == thread || fence.barrier > time;
      if (by_releaser && covers) return true;
    }
  }
  return false;
}

void AccessOrder::release(const char* at, std::uint16_t thread) {
  if (!fences_.contains(block_)) return;
  std::vector<Release>& all = releases_[at];
  // Words that are released in turn would otherwise hand on all of each other's releases, again and again.
  const auto add = [&](Release one) {
    one.word = at;
    if (all.size() < most_releases && handed_on_.emplace(at, one.time).second) all.push_back(one);
  };
  add({block_, thread, time_, barrier_, at});
  released_within_[at].push_back({block_, thread, time_, barrier_, at});
  for (const auto& [block, releases] : acquired_) {
    std::size_t& known = forwarded_of_[{at, block}];
    for (; known < releases.size(); ++known)
      if (releases[known].word != at) add(releases[known]);
  }
}

void AccessOrder::acquire(const char* at, std::uint16_t thread, std::uint64_t until) {
  if (const auto own = released_within_.find(at); own != released_within_.end()) {
    std::size_t& known = acquired_within_of_[{at, thread / 32}];
    for (; known < own->second.size(); ++known)
      acquired_within_.emplace_back(thread / 32, own->second[known]);
  }
  const auto found = releases_.find(at);
  if (found == releases_.end()) return;
  std::size_t& known = acquired_of_[at];
  for (; known < found->second.size() && found->second[known].time < until; ++known) {
    const Release& one = found->second[known];
    if (one.block != block_ && acquired_times_.insert(one.time).second) acquired_[one.block].push_back(one);
  }
}

}  // namespace tunesmith
