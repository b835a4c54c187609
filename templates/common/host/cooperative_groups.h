// SPDX-License-Identifier: Apache-2.0
// The host twin of <cooperative_groups.h>, its reduce.h, scan.h and memcpy_async.h: blocks, tiles of at most
// 32 threads, and coalesced threads. A group of a warp meets as in a warp's collective with its mask. Groups
// of several blocks are whole grids.
#pragma once

#include "common/host/block.h"
#include "common/host/exchange.h"
#include "common/host/grid_barrier.h"
#include "common/host/pending_copies.h"
#include "common/host/shared_copies.h"
#include "common/host/warp.h"

namespace tunesmith_shim {

// The n-th lane of a mask; 32 if there are fewer.
inline int lane_at(unsigned mask, unsigned n) {
  for (int lane = 0; lane < warp_lanes; ++lane)
    if ((mask >> lane & 1) != 0 && n-- == 0) return lane;
  return warp_lanes;
}
inline unsigned packed(unsigned lanes, unsigned mask) {
  unsigned bits = 0, n = 0;
  for (int lane = 0; lane < warp_lanes; ++lane)
    if ((mask >> lane & 1) != 0) bits |= (lanes >> lane & 1) << n++;
  return bits;
}

}  // namespace tunesmith_shim

namespace cooperative_groups {

class thread_block;
class coalesced_group;

// Any group of one block, as a parameter of a function that takes all of them.
class thread_group {
 public:
  void sync(int line = __builtin_LINE()) const {
    if (mask_ == 0) {
      tunesmith_shim::barrier(false, line);
    } else {
      tunesmith_shim::meet(mask_, 0, line);
    }
  }
  unsigned long long num_threads() const {
    return mask_ == 0 ? tunesmith_shim::threads_of_block() : static_cast<unsigned>(__builtin_popcount(mask_));
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long thread_rank() const {
    return mask_ == 0 ? tunesmith_shim::rank_in_block() : static_cast<unsigned>(rank());
  }

 protected:
  explicit thread_group(unsigned mask) : mask_(mask) {}
  int rank() const { return __builtin_popcount(mask_ & ((1u << tunesmith_shim::running->lane) - 1)); }
  unsigned mask_;  // of its lanes; 0: the block
  friend thread_group tiled_partition(const thread_group& parent, unsigned size);
};

class thread_block : public thread_group {
 public:
  thread_block() : thread_group(0) {}
  static void sync(int line = __builtin_LINE()) { tunesmith_shim::barrier(false, line); }
  static unsigned thread_rank() { return tunesmith_shim::rank_in_block(); }
  static unsigned num_threads() { return tunesmith_shim::threads_of_block(); }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  static dim3 dim_threads() { return group_dim(); }
};
inline thread_block this_thread_block() { return {}; }

// The threads of one warp with a mask: tiles and coalesced threads. A number out of range gives a lane its
// own value.
class coalesced_group : public thread_group {
 public:
  explicit coalesced_group(unsigned mask) : thread_group(mask) {}
  unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned thread_rank() const { return static_cast<unsigned>(rank()); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  void sync(int line = __builtin_LINE()) const { tunesmith_shim::meet(mask_, 0, line); }
  template <typename T>
  tunesmith_shim::Plain<T> shfl(T&& value, int rank, int line = __builtin_LINE()) const {
    return from(value, static_cast<int>(static_cast<unsigned>(rank) % num_threads()), line);
  }
  template <typename T>
  tunesmith_shim::Plain<T> shfl_up(T&& value, unsigned by, int line = __builtin_LINE()) const {
    return from(value, rank() - static_cast<int>(by), line);
  }
  template <typename T>
  tunesmith_shim::Plain<T> shfl_down(T&& value, unsigned by, int line = __builtin_LINE()) const {
    return from(value, rank() + static_cast<int>(by), line);
  }
  int any(int predicate, int line = __builtin_LINE()) const { return ballot(predicate, line) != 0 ? 1 : 0; }
  int all(int predicate, int line = __builtin_LINE()) const {
    tunesmith_shim::meet(mask_, predicate != 0 ? 0 : 1, line);
    return tunesmith_shim::met_votes == 0 ? 1 : 0;
  }
  unsigned ballot(int predicate, int line = __builtin_LINE()) const {
    return tunesmith_shim::packed(__ballot_sync(mask_, predicate, line), mask_);
  }
  template <typename T>
  unsigned match_any(T value, int line = __builtin_LINE()) const {
    return tunesmith_shim::packed(__match_any_sync(mask_, value, line), mask_);
  }
  template <typename T>
  unsigned match_all(T value, int& all, int line = __builtin_LINE()) const {
    return tunesmith_shim::packed(__match_all_sync(mask_, value, &all, line), mask_);
  }

  // Other functions of this file need these.
  template <typename T>
  tunesmith_shim::OfLanes<T> exchanged(const T& value, int line) const {
    return tunesmith_shim::exchanged(mask_, value, line);
  }
  int lane_of(int rank) const { return tunesmith_shim::lane_at(mask_, static_cast<unsigned>(rank)); }
  unsigned lanes() const { return mask_; }
  coalesced_group with_meta(unsigned rank, unsigned size) const {
    coalesced_group made = *this;
    made.meta_rank_ = rank;
    made.meta_size_ = size;
    return made;
  }

 protected:
  template <typename T>
  tunesmith_shim::Plain<T> from(const T& value, int rank, int line) const {
    const tunesmith_shim::OfLanes<tunesmith_shim::Plain<T>> all = exchanged(value, line);
    const int lane = rank < 0 ? tunesmith_shim::warp_lanes : lane_of(rank);
    return lane < tunesmith_shim::warp_lanes ? all[lane] : value;
  }

 private:
  unsigned meta_rank_ = 0, meta_size_ = 1;
};
inline coalesced_group coalesced_threads(int line = __builtin_LINE()) {
  return coalesced_group(__activemask(line));
}

template <unsigned Size, typename Parent = void>
class thread_block_tile : public coalesced_group {
  static_assert(
      Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
      "the host emulates tiles of 1, 2, 4, 8, 16 and 32 threads; for a tile of more than a warp use "
      "the block and __syncthreads(), or tune on a GPU");

 public:
  thread_block_tile() : coalesced_group(mask_of_tile()) {}
  template <typename Other>
  thread_block_tile(const thread_block_tile<Size, Other>&) : thread_block_tile() {}
  static unsigned num_threads() { return Size; }
  static unsigned size() { return Size; }
  static unsigned thread_rank() { return static_cast<unsigned>(tunesmith_shim::running->lane) % Size; }
  static unsigned meta_group_rank() { return tunesmith_shim::rank_in_block() % of_parent() / Size; }
  static unsigned meta_group_size() { return (of_parent() + Size - 1) / Size; }
  template <typename T>
  tunesmith_shim::Plain<T> shfl(T&& value, int rank, int line = __builtin_LINE()) const {
    return in_tile(value, static_cast<int>(static_cast<unsigned>(rank) % Size), line);
  }
  template <typename T>
  tunesmith_shim::Plain<T> shfl_up(T&& value, unsigned by, int line = __builtin_LINE()) const {
    return in_tile(value, static_cast<int>(thread_rank()) - static_cast<int>(by), line);
  }
  template <typename T>
  tunesmith_shim::Plain<T> shfl_down(T&& value, unsigned by, int line = __builtin_LINE()) const {
    return in_tile(value, static_cast<int>(thread_rank() + by), line);
  }
  template <typename T>
  tunesmith_shim::Plain<T> shfl_xor(T&& value, unsigned bits, int line = __builtin_LINE()) const {
    return in_tile(value, static_cast<int>(thread_rank() ^ bits), line);
  }

 private:
  static unsigned of_parent() {
    if constexpr (__is_same(Parent, void) || __is_same(Parent, thread_block)) {
      return tunesmith_shim::threads_of_block();
    } else {
      return Parent::num_threads();
    }
  }
  static unsigned mask_of_tile() {
    const unsigned first = static_cast<unsigned>(tunesmith_shim::running->lane) / Size * Size;
    return (Size == 32 ? ~0u : (1u << Size % 32) - 1) << first;
  }
  template <typename T>
  tunesmith_shim::Plain<T> in_tile(const T& value, int rank, int line) const {
    const tunesmith_shim::OfLanes<tunesmith_shim::Plain<T>> all = exchanged(value, line);
    const int first = static_cast<int>(static_cast<unsigned>(tunesmith_shim::running->lane) / Size * Size);
    return rank >= 0 && rank < static_cast<int>(Size) ? all[first + rank] : value;
  }
};
inline thread_block_tile<1> this_thread() { return {}; }

template <unsigned Size, typename Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  static_assert(!__is_same(Parent, coalesced_group), "a tile of a known size is a part of a block or a tile");
  return {};
}
// A size that is known only when the kernel runs; the parent is the block or a part of a warp.
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) tunesmith_shim::fail(tunesmith_shim::trapped);
  const unsigned mask = parent.mask_ == 0 || parent.mask_ == ~0u
                            ? (size == 32 ? ~0u : (1u << size % 32) - 1)
                                  << static_cast<unsigned>(tunesmith_shim::running->lane) / size * size
                            : 0;
  if (mask != 0) return thread_group(mask);
  unsigned part = 0;
  const unsigned first = static_cast<unsigned>(parent.rank()) / size * size;
  for (unsigned n = first; n < first + size; ++n) {
    const int lane = tunesmith_shim::lane_at(parent.mask_, n);
    if (lane < tunesmith_shim::warp_lanes) part |= 1u << lane;
  }
  return thread_group(part);
}
template <typename Group, typename Label>
inline coalesced_group labeled_partition(const Group& group, Label label, int line = __builtin_LINE()) {
  return coalesced_group(__match_any_sync(group.lanes(), label, line));
}
template <typename Group>
inline coalesced_group binary_partition(const Group& group, bool predicate, int line = __builtin_LINE()) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate ? 1 : 0, line);
  return coalesced_group(predicate ? yes : group.lanes() & ~yes).with_meta(predicate ? 1 : 0, 2);
}

class grid_group {
 public:
  static bool is_valid() { return true; }
  static void sync(int line = __builtin_LINE()) { tunesmith_shim::wait_for_grid(line); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_threads() { return num_blocks() * tunesmith_shim::threads_of_block(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * tunesmith_shim::threads_of_block() + tunesmith_shim::rank_in_block();
  }
  static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
  static dim3 dim_blocks() { return group_dim(); }
  static dim3 block_index() { return thread_block::group_index(); }
  static dim3 thread_index() { return thread_block::thread_index(); }
};
inline grid_group this_grid() { return {}; }

inline void sync(const thread_block&, int line = __builtin_LINE()) { tunesmith_shim::barrier(false, line); }
inline void sync(const thread_group& group, int line = __builtin_LINE()) { group.sync(line); }
template <typename Group>
inline auto sync(const Group& group) -> decltype(group.is_valid(), void()) {
  group.sync();
}
template <typename Group>
inline auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
inline auto group_size(const Group& group) {
  return group.num_threads();
}

// ---- reduce.h and scan.h

#define TUNESMITH_OPERATION(name, expression)                           \
  template <typename T = void>                                          \
  struct name {                                                         \
    T operator()(const T& a, const T& b) const { return (expression); } \
  };                                                                    \
  template <>                                                           \
  struct name<void> {                                                   \
    template <typename T>                                               \
    T operator()(const T& a, const T& b) const {                        \
      return (expression);                                              \
    }                                                                   \
  };
TUNESMITH_OPERATION(plus, a + b)
TUNESMITH_OPERATION(less, b < a ? b : a)
TUNESMITH_OPERATION(greater, a < b ? b : a)
TUNESMITH_OPERATION(bit_and, a& b)
TUNESMITH_OPERATION(bit_or, a | b)
TUNESMITH_OPERATION(bit_xor, a ^ b)
#undef TUNESMITH_OPERATION

// Adds in a tree, as pairs of lanes do.
template <typename Group, typename T, typename Operation>
inline tunesmith_shim::Plain<T> reduce(const Group& group, T&& value, Operation&& operation,
                                       int line = __builtin_LINE()) {
  const auto all = static_cast<const coalesced_group&>(group).exchanged(
      static_cast<const tunesmith_shim::Plain<T>&>(value), line);
  tunesmith_shim::Plain<T> values[tunesmith_shim::warp_lanes];
  int count = 0;
  for (int lane = 0; lane < tunesmith_shim::warp_lanes; ++lane)
    if ((group.lanes() & tunesmith_shim::met) >> lane & 1) values[count++] = all[lane];
  while (count > 1) {
    const int half = (count + 1) / 2;
    for (int n = 0; n + half < count; ++n) values[n] = operation(values[n], values[n + half]);
    count = half;
  }
  return values[0];
}

template <typename Group, typename T, typename Operation>
inline tunesmith_shim::Plain<T> inclusive_scan(const Group& group, T&& value, Operation&& operation,
                                               int line = __builtin_LINE()) {
  const auto all = static_cast<const coalesced_group&>(group).exchanged(
      static_cast<const tunesmith_shim::Plain<T>&>(value), line);
  const int rank = static_cast<int>(group.thread_rank());
  tunesmith_shim::Plain<T> sum = all[group.lane_of(0)];
  for (int n = 1; n <= rank; ++n) sum = operation(sum, all[group.lane_of(n)]);
  return sum;
}
template <typename Group, typename T>
inline tunesmith_shim::Plain<T> inclusive_scan(const Group& group, T&& value, int line = __builtin_LINE()) {
  return inclusive_scan(group, value, plus<tunesmith_shim::Plain<T>>(), line);
}
template <typename Group, typename T, typename Operation>
inline tunesmith_shim::Plain<T> exclusive_scan(const Group& group, T&& value, Operation&& operation,
                                               int line = __builtin_LINE()) {
  const auto all = static_cast<const coalesced_group&>(group).exchanged(
      static_cast<const tunesmith_shim::Plain<T>&>(value), line);
  const int rank = static_cast<int>(group.thread_rank());
  if (rank == 0) return tunesmith_shim::Plain<T>();
  tunesmith_shim::Plain<T> sum = all[group.lane_of(0)];
  for (int n = 1; n < rank; ++n) sum = operation(sum, all[group.lane_of(n)]);
  return sum;
}
template <typename Group, typename T>
inline tunesmith_shim::Plain<T> exclusive_scan(const Group& group, T&& value, int line = __builtin_LINE()) {
  return exclusive_scan(group, value, plus<tunesmith_shim::Plain<T>>(), line);
}

// One thread calls; which one, CUDA does not say.
template <typename Group, typename Call, typename... Arguments>
inline void invoke_one(const Group& group, Call&& call, Arguments&&... arguments) {
  if (group.thread_rank() == 0) call(arguments...);
}

// ---- memcpy_async.h: sizes are of bytes where there is one, of elements where there are two

template <typename Group, typename T, typename Size>
inline void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  tunesmith_shim::share_copy(group, to, from, bytes);
  tunesmith_shim::end_copy_group();
}
template <typename Group, typename T, typename ToSize, typename FromSize>
inline void memcpy_async(const Group& group, T* to, const ToSize& room, const T* from,
                         const FromSize& count) {
  const size_t least = static_cast<size_t>(room) < static_cast<size_t>(count) ? static_cast<size_t>(room)
                                                                              : static_cast<size_t>(count);
  tunesmith_shim::share_copy(group, to, from, least * sizeof(T));
  tunesmith_shim::end_copy_group();
}
template <unsigned Left, typename Group>
inline void wait_prior(const Group& group, int line = __builtin_LINE()) {
  tunesmith_shim::wait_for_groups(static_cast<int>(Left));
  group.sync(line);
}
template <typename Group>
inline void wait(const Group& group, int line = __builtin_LINE()) {
  wait_prior<0>(group, line);
}

}  // namespace cooperative_groups
