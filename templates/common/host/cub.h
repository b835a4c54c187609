// SPDX-License-Identifier: Apache-2.0
// The host twin of CUB's collectives of a block and of a warp: reductions, scans, loads, stores, exchanges,
// radix sorts and histograms. They use their TempStorage and as few barriers as CUB does, so that a missing
// __syncthreads() between two uses of one storage is found. What CUB leaves undefined is poison.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/atomics.h"
#include "common/host/block.h"
#include "common/host/exchange.h"
#include "common/host/intrinsics.h"
#include "common/host/watch.h"

namespace tunesmith_shim {

// A value that CUB does not define.
template <typename T>
inline T undefined() {
  T value;
  memset(static_cast<void*>(&value), poison[0], sizeof(value));
  return value;
}

struct Nothing {};

// A thread has used a collective's storage, which it may go on to read in CUB: until a barrier no thread may
// write there.
template <typename Storage>
inline void use_storage(const Storage& storage) {
  TUNESMITH_NOTE(&storage, 4, reads);
}

inline void require_threads(int threads) {
  if (static_cast<unsigned>(threads) != threads_of_block()) fail(other_block);
}

// The operation over the lanes `first` to `last`.
template <typename T, typename Operation>
inline T combined(const OfLanes<T>& all, int first, int last, Operation operation) {
  T sum = all[first];
  for (int lane = first + 1; lane <= last; ++lane) sum = operation(sum, all[lane]);
  return sum;
}

// The bits of a key in the order of keys.
template <typename Key>
inline unsigned long long ordered_bits(Key key) {
  constexpr int bits = 8 * static_cast<int>(sizeof(Key));
  constexpr unsigned long long sign = 1ull << (bits - 1), all = ~0ull >> (64 - bits);
  unsigned long long word = 0;
  memcpy(&word, &key, sizeof(key));
  constexpr bool is_floating = !__is_enum(Key) && static_cast<Key>(0.5f) != static_cast<Key>(0);
  if (is_floating) {
    if (word == sign) word = 0;  // -0 is 0
    return (word & sign) != 0 ? ~word & all : word | sign;
  }
  return static_cast<Key>(-1) < static_cast<Key>(0) ? word ^ sign : word;
}

}  // namespace tunesmith_shim

namespace cuda {
template <typename T = void>
struct maximum {
  template <typename Number>
  Number operator()(const Number& a, const Number& b) const {
    return a < b ? b : a;
  }
};
template <typename T = void>
struct minimum {
  template <typename Number>
  Number operator()(const Number& a, const Number& b) const {
    return b < a ? b : a;
  }
};
}  // namespace cuda

namespace cub {

using NullType = tunesmith_shim::Nothing;
struct Sum {
  template <typename T>
  T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
using Max = cuda::maximum<>;
using Min = cuda::minimum<>;

template <typename Key, typename Value>
struct KeyValuePair {
  Key key;
  Value value;
  KeyValuePair() = default;
  KeyValuePair(const Key& of, const Value& given) : key(of), value(given) {}
  bool operator!=(const KeyValuePair& other) const { return value != other.value || key != other.key; }
};
// Takes the smaller key of equal values.
struct ArgMax {
  template <typename Key, typename Value>
  KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                      const KeyValuePair<Key, Value>& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename Key, typename Value>
  KeyValuePair<Key, Value> operator()(const KeyValuePair<Key, Value>& a,
                                      const KeyValuePair<Key, Value>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

inline unsigned LaneId() { return static_cast<unsigned>(tunesmith_shim::running->lane); }

// ---- warps

template <typename T, int Lanes = 32>
class WarpReduce {
  static_assert(Lanes >= 1 && Lanes <= 32, "a logical warp has 1 to 32 lanes");

 public:
  struct TempStorage {};
  explicit WarpReduce(TempStorage&) {}
  template <typename Operation>
  T Reduce(T input, Operation operation, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, operation, Lanes, at);
  }
  template <typename Operation>
  T Reduce(T input, Operation operation, int valid,
           tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    const int own = tunesmith_shim::running->lane, first = own / Lanes * Lanes;
    const auto all = tunesmith_shim::exchanged(mask(first), input, at.line);
    if (own != first || valid < 1) return tunesmith_shim::undefined<T>();
    return tunesmith_shim::combined(all, first, first + (valid < Lanes ? valid : Lanes) - 1, operation);
  }
  T Sum(T input, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, cub::Sum(), Lanes, at);
  }
  T Sum(T input, int valid, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, cub::Sum(), valid, at);
  }

 private:
  static unsigned mask(int first) { return (Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1) << first; }
};

template <typename T, int Lanes = 32>
class WarpScan {
  static_assert(Lanes >= 1 && Lanes <= 32, "a logical warp has 1 to 32 lanes");

 public:
  struct TempStorage {};
  explicit WarpScan(TempStorage&) {}
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& total,
                     tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    const int own = tunesmith_shim::running->lane, first = own / Lanes * Lanes;
    const unsigned mask = (Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1) << first;
    const auto all = tunesmith_shim::exchanged(mask, input, at.line);
    output = tunesmith_shim::combined(all, first, own, operation);
    total = tunesmith_shim::combined(all, first, first + Lanes - 1, operation);
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation,
                     tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    T total;
    InclusiveScan(input, output, operation, total, at);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& total,
                     tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    const int own = tunesmith_shim::running->lane, first = own / Lanes * Lanes;
    const unsigned mask = (Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1) << first;
    const auto all = tunesmith_shim::exchanged(mask, input, at.line);
    output =
        own == first ? initial : operation(initial, tunesmith_shim::combined(all, first, own - 1, operation));
    total = tunesmith_shim::combined(all, first, first + Lanes - 1, operation);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation,
                     tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    T total;
    ExclusiveScan(input, output, initial, operation, total, at);
  }
  void InclusiveSum(T input, T& output, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    InclusiveScan(input, output, cub::Sum(), at);
  }
  void InclusiveSum(T input, T& output, T& total, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    InclusiveScan(input, output, cub::Sum(), total, at);
  }
  void ExclusiveSum(T input, T& output, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    ExclusiveScan(input, output, T(), cub::Sum(), at);
  }
  void ExclusiveSum(T input, T& output, T& total, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    ExclusiveScan(input, output, T(), cub::Sum(), total, at);
  }
  T Broadcast(T input, unsigned lane, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    const int first = tunesmith_shim::running->lane / Lanes * Lanes;
    const unsigned mask = (Lanes == 32 ? ~0u : (1u << Lanes % 32) - 1) << first;
    return tunesmith_shim::exchanged(mask, input, at.line)[first + static_cast<int>(lane)];
  }
};

// ---- blocks

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <typename T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
  static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    alignas(T) unsigned char of_warp[warps][sizeof(T)];
  };
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}
  template <typename Operation>
  T Reduce(T input, Operation operation, int valid,
           tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block()), warp = rank / 32;
    const auto all = tunesmith_shim::exchanged(~0u, input, at.line);
    const int here = (valid < threads ? valid : threads) - 32 * warp;
    auto* const partial = reinterpret_cast<T*>(storage_.of_warp);
    if (rank % 32 == 0 && here > 0)
      partial[warp] = tunesmith_shim::combined(all, 0, here < 32 ? here - 1 : 31, operation);
    __syncthreads(at.line);
    tunesmith_shim::use_storage(storage_);
    if (rank != 0 || valid < 1) return tunesmith_shim::undefined<T>();
    T sum = partial[0];
    for (int n = 1; n < warps && 32 * n < valid; ++n) sum = operation(sum, partial[n]);
    return sum;
  }
  template <typename Operation>
  T Reduce(T input, Operation operation, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, operation, threads, at);
  }
  template <int N, typename Operation>
  T Reduce(T (&inputs)[N], Operation operation, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    T sum = inputs[0];
    for (int n = 1; n < N; ++n) sum = operation(sum, inputs[n]);
    return Reduce(sum, operation, threads, at);
  }
  T Sum(T input, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, cub::Sum(), threads, at);
  }
  T Sum(T input, int valid, tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(input, cub::Sum(), valid, at);
  }
  template <int N>
  T Sum(T (&inputs)[N], tunesmith_shim::CallLine at = tunesmith_shim::CallLine()) {
    return Reduce(inputs, cub::Sum(), at);
  }

 private:
  TempStorage& storage_;
};

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1>
class BlockScan {
  static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;

 public:
  struct TempStorage {
    alignas(T) unsigned char of_warp[warps][sizeof(T)];
    alignas(T) unsigned char prefix[sizeof(T)];
  };
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

#define TUNESMITH_AT tunesmith_shim::CallLine at = tunesmith_shim::CallLine()
  void InclusiveSum(T input, T& output, TUNESMITH_AT) { InclusiveScan(input, output, Sum(), at); }
  void InclusiveSum(T input, T& output, T& total, TUNESMITH_AT) {
    InclusiveScan(input, output, Sum(), total, at);
  }
  template <int N>
  void InclusiveSum(T (&input)[N], T (&output)[N], TUNESMITH_AT) {
    InclusiveScan(input, output, Sum(), at);
  }
  template <int N>
  void InclusiveSum(T (&input)[N], T (&output)[N], T& total, TUNESMITH_AT) {
    InclusiveScan(input, output, Sum(), total, at);
  }
  void ExclusiveSum(T input, T& output, TUNESMITH_AT) { ExclusiveScan(input, output, T(), Sum(), at); }
  void ExclusiveSum(T input, T& output, T& total, TUNESMITH_AT) {
    ExclusiveScan(input, output, T(), Sum(), total, at);
  }
  template <typename Prefix>
  void ExclusiveSum(T input, T& output, Prefix& prefix, TUNESMITH_AT) {
    with_prefix<false>(input, output, Sum(), prefix, at);
  }
  template <int N>
  void ExclusiveSum(T (&input)[N], T (&output)[N], TUNESMITH_AT) {
    ExclusiveScan(input, output, T(), Sum(), at);
  }
  template <int N>
  void ExclusiveSum(T (&input)[N], T (&output)[N], T& total, TUNESMITH_AT) {
    ExclusiveScan(input, output, T(), Sum(), total, at);
  }
  template <typename Prefix>
  void InclusiveSum(T input, T& output, Prefix& prefix, TUNESMITH_AT) {
    with_prefix<true>(input, output, Sum(), prefix, at);
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, TUNESMITH_AT) {
    T total;
    InclusiveScan(input, output, operation, total, at);
  }
  template <typename Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& total, TUNESMITH_AT) {
    T before;
    const bool has_before = scan(input, operation, before, total, at.line);
    output = has_before ? operation(before, input) : input;
  }
  template <int N, typename Operation>
  void InclusiveScan(T (&input)[N], T (&output)[N], Operation operation, TUNESMITH_AT) {
    T total;
    InclusiveScan(input, output, operation, total, at);
  }
  template <int N, typename Operation>
  void InclusiveScan(T (&input)[N], T (&output)[N], Operation operation, T& total, TUNESMITH_AT) {
    T before;
    const bool has_before = scan(all_of(input, operation), operation, before, total, at.line);
    T sum = has_before ? operation(before, input[0]) : input[0];
    output[0] = sum;
    for (int n = 1; n < N; ++n) output[n] = sum = operation(sum, input[n]);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, TUNESMITH_AT) {
    T total;
    ExclusiveScan(input, output, initial, operation, total, at);
  }
  template <typename Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& total, TUNESMITH_AT) {
    T before;
    const bool has_before = scan(input, operation, before, total, at.line);
    output = has_before ? operation(initial, before) : initial;
  }
  template <int N, typename Operation>
  void ExclusiveScan(T (&input)[N], T (&output)[N], T initial, Operation operation, TUNESMITH_AT) {
    T total;
    ExclusiveScan(input, output, initial, operation, total, at);
  }
  template <int N, typename Operation>
  void ExclusiveScan(T (&input)[N], T (&output)[N], T initial, Operation operation, T& total, TUNESMITH_AT) {
    T before;
    const bool has_before = scan(all_of(input, operation), operation, before, total, at.line);
    T sum = has_before ? operation(initial, before) : initial;
    for (int n = 0; n < N; ++n) {
      const T own = input[n];  // output may be input
      output[n] = sum;
      sum = operation(sum, own);
    }
  }

 private:
  template <int N, typename Operation>
  static T all_of(const T (&input)[N], Operation operation) {
    T sum = input[0];
    for (int n = 1; n < N; ++n) sum = operation(sum, input[n]);
    return sum;
  }
  // Sets what lies before this thread, and the whole; false for the first thread, which has nothing before
  // it.
  template <typename Operation>
  bool scan(T input, Operation operation, T& before, T& total, int line) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block()), warp = rank / 32, lane = rank % 32;
    const auto all = tunesmith_shim::exchanged(~0u, input, line);
    auto* const partial = reinterpret_cast<T*>(storage_.of_warp);
    const int last = (threads - 32 * warp < 32 ? threads - 32 * warp : 32) - 1;
    if (lane == last) partial[warp] = tunesmith_shim::combined(all, 0, last, operation);
    __syncthreads(line);
    tunesmith_shim::use_storage(storage_);
    bool has_before = lane > 0;
    if (has_before) before = tunesmith_shim::combined(all, 0, lane - 1, operation);
    total = partial[0];
    if (warp > 0)
      before = has_before ? operation(total_of(partial, warp, operation), before)
                          : total_of(partial, warp, operation);
    total = total_of(partial, warps, operation);
    return has_before || warp > 0;
  }
  template <typename Operation>
  static T total_of(const T* partial, int count, Operation operation) {
    T sum = partial[0];
    for (int n = 1; n < count; ++n) sum = operation(sum, partial[n]);
    return sum;
  }
  // The first warp calls prefix(total); its first lane's result comes before the block.
  template <bool Inclusive, typename Operation, typename Prefix>
  void with_prefix(T input, T& output, Operation operation, Prefix& prefix, tunesmith_shim::CallLine at) {
    T before, total;
    const bool has_before = scan(input, operation, before, total, at.line);
    auto* const kept = reinterpret_cast<T*>(storage_.prefix);
    const unsigned rank = tunesmith_shim::rank_in_block();
    if (rank < 32) {
      const T given = prefix(total);
      if (rank == 0) *kept = given;
    }
    __syncthreads(at.line);
    const T start = has_before ? operation(*kept, before) : *kept;
    output = Inclusive ? operation(start, input) : start;
  }
  TempStorage& storage_;
};

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int Count>
struct StoredItems {
  alignas(T) unsigned char item[Count][sizeof(T)];
  T* items() { return reinterpret_cast<T*>(item); }
};

template <typename T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1,
          int Z = 1>
class BlockLoad {
  static constexpr int threads = X * Y * Z, all = threads * Items;
  static constexpr bool is_turned = Algorithm >= BLOCK_LOAD_TRANSPOSE;

 public:
  struct TempStorage : StoredItems<T, is_turned ? all : 1> {};
  BlockLoad() : storage_(nullptr) { static_assert(!is_turned, "this BlockLoad needs a TempStorage"); }
  explicit BlockLoad(TempStorage& storage) : storage_(&storage) {}
  template <typename From>
  void Load(From from, T (&items)[Items], TUNESMITH_AT) {
    load(from, items, all, false, T(), at.line);
  }
  template <typename From>
  void Load(From from, T (&items)[Items], int valid, TUNESMITH_AT) {
    load(from, items, valid, false, T(), at.line);
  }
  template <typename From, typename Default>
  void Load(From from, T (&items)[Items], int valid, Default other, TUNESMITH_AT) {
    load(from, items, valid, true, static_cast<T>(other), at.line);
  }

 private:
  template <typename From>
  void load(From from, T (&items)[Items], int valid, bool has_other, T other, int line) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block());
    constexpr bool is_striped = Algorithm == BLOCK_LOAD_STRIPED || is_turned;
    for (int n = 0; n < Items; ++n) {
      const int place = is_striped ? n * threads + rank : rank * Items + n;
      if (place < valid) {
        items[n] = from[place];
      } else if (has_other) {
        items[n] = other;
      }
    }
    if constexpr (is_turned) {
      for (int n = 0; n < Items; ++n)
        if (has_other || n * threads + rank < valid) storage_->items()[n * threads + rank] = items[n];
      __syncthreads(line);
      for (int n = 0; n < Items; ++n)
        if (has_other || rank * Items + n < valid) items[n] = storage_->items()[rank * Items + n];
      tunesmith_shim::use_storage(*storage_);
    }
  }
  TempStorage* storage_;
};

template <typename T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1,
          int Z = 1>
class BlockStore {
  static constexpr int threads = X * Y * Z, all = threads * Items;
  static constexpr bool is_turned = Algorithm >= BLOCK_STORE_TRANSPOSE;

 public:
  struct TempStorage : StoredItems<T, is_turned ? all : 1> {};
  BlockStore() : storage_(nullptr) { static_assert(!is_turned, "this BlockStore needs a TempStorage"); }
  explicit BlockStore(TempStorage& storage) : storage_(&storage) {}
  template <typename To>
  void Store(To to, T (&items)[Items], TUNESMITH_AT) {
    Store(to, items, all, at);
  }
  template <typename To>
  void Store(To to, T (&items)[Items], int valid, TUNESMITH_AT) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block());
    if constexpr (is_turned) {
      for (int n = 0; n < Items; ++n) storage_->items()[rank * Items + n] = items[n];
      __syncthreads(at.line);
    }
    for (int n = 0; n < Items; ++n) {
      const bool is_blocked = Algorithm == BLOCK_STORE_DIRECT || Algorithm == BLOCK_STORE_VECTORIZE;
      const int place = is_blocked ? rank * Items + n : n * threads + rank;
      if (place < valid) to[place] = is_turned ? storage_->items()[place] : items[n];
    }
    if constexpr (is_turned) tunesmith_shim::use_storage(*storage_);
  }

 private:
  TempStorage* storage_;
};

template <typename T, int X, int Items, bool = false, int Y = 1, int Z = 1>
class BlockExchange {
  static constexpr int threads = X * Y * Z;

 public:
  struct TempStorage : StoredItems<T, threads * Items> {};
  explicit BlockExchange(TempStorage& storage) : storage_(storage) {}
  template <typename Output>
  void StripedToBlocked(const T (&input)[Items], Output (&output)[Items], TUNESMITH_AT) {
    move(
        input, output, at.line, [](int rank, int n) { return n * threads + rank; }, blocked);
  }
  template <typename Output>
  void BlockedToStriped(const T (&input)[Items], Output (&output)[Items], TUNESMITH_AT) {
    move(input, output, at.line, blocked, [](int rank, int n) { return n * threads + rank; });
  }
  template <typename Output, typename Place>
  void ScatterToBlocked(const T (&input)[Items], Output (&output)[Items], Place (&places)[Items],
                        TUNESMITH_AT) {
    move(
        input, output, at.line, [&](int, int n) { return static_cast<int>(places[n]); }, blocked);
  }
  template <typename Output, typename Place>
  void ScatterToStriped(const T (&input)[Items], Output (&output)[Items], Place (&places)[Items],
                        TUNESMITH_AT) {
    move(
        input, output, at.line, [&](int, int n) { return static_cast<int>(places[n]); },
        [](int rank, int n) { return n * threads + rank; });
  }

 private:
  static int blocked(int rank, int n) { return rank * Items + n; }
  template <typename Output, typename From, typename To>
  void move(const T (&input)[Items], Output (&output)[Items], int line, From put, To take) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block());
    for (int n = 0; n < Items; ++n) storage_.items()[put(rank, n)] = input[n];
    __syncthreads(line);
    for (int n = 0; n < Items; ++n) output[n] = storage_.items()[take(rank, n)];
    tunesmith_shim::use_storage(storage_);
  }
  TempStorage& storage_;
};

template <typename Key, int X, int Items, typename Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int Y = 1, int Z = 1>
class BlockRadixSort {
  static constexpr int threads = X * Y * Z, all = threads * Items, bits = 8 * static_cast<int>(sizeof(Key));

 public:
  struct TempStorage {
    // The first is not used, so that a store of what was sorted to other storage in this place changes it.
    StoredItems<Key, all + 1> keys;
    StoredItems<Value, all> values;
  };
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}
  void Sort(Key (&keys)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    NullType none[Items];
    sort(keys, none, from, to, false, false, at.line);
  }
  void Sort(Key (&keys)[Items], Value (&values)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    sort(keys, values, from, to, false, false, at.line);
  }
  void SortDescending(Key (&keys)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    NullType none[Items];
    sort(keys, none, from, to, true, false, at.line);
  }
  void SortDescending(Key (&keys)[Items], Value (&values)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    sort(keys, values, from, to, true, false, at.line);
  }
  void SortBlockedToStriped(Key (&keys)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    NullType none[Items];
    sort(keys, none, from, to, false, true, at.line);
  }
  void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int from = 0, int to = bits,
                            TUNESMITH_AT) {
    sort(keys, values, from, to, false, true, at.line);
  }
  void SortDescendingBlockedToStriped(Key (&keys)[Items], int from = 0, int to = bits, TUNESMITH_AT) {
    NullType none[Items];
    sort(keys, none, from, to, true, true, at.line);
  }

 private:
  template <typename Of>
  void sort(Key (&keys)[Items], Of (&values)[Items], int from, int to, bool descends, bool is_striped,
            int line) {
    tunesmith_shim::require_threads(threads);
    const int rank = static_cast<int>(tunesmith_shim::rank_in_block());
    constexpr bool has_values = !__is_same(Of, NullType);
    for (int n = 0; n < Items; ++n) {
      storage_.keys.items()[1 + rank * Items + n] = keys[n];
      if constexpr (has_values) storage_.values.items()[rank * Items + n] = values[n];
    }
    __syncthreads(line);
    if (rank == 0) order<has_values>(from, to, descends);
    __syncthreads(line);
    for (int n = 0; n < Items; ++n) {
      const int place = is_striped ? n * threads + rank : rank * Items + n;
      keys[n] = storage_.keys.items()[1 + place];
      if constexpr (has_values) values[n] = storage_.values.items()[place];
    }
    tunesmith_shim::use_storage(storage_);
  }
  // Sorts by the bits from `from` to below `to`, and keeps the order of equal ones.
  template <bool HasValues>
  void order(int from, int to, bool descends) {
    const unsigned long long mask = to - from >= 64 ? ~0ull : (1ull << (to - from)) - 1;
    const auto bits_of = [&](Key key) {
      const unsigned long long word = tunesmith_shim::ordered_bits(key) >> from & mask;
      return descends ? mask - word : word;
    };
    // On the stack of the thread: CUB's storage has no room for them either.
    StoredItems<Key, all> key_room;
    StoredItems<Value, HasValues ? all : 1> value_room;
    Key *keys = storage_.keys.items() + 1, *target = key_room.items();
    Value *values = storage_.values.items(), *value_target = value_room.items();
    for (int run = 1; run < all; run *= 2) {
      for (int first = 0; first < all; first += 2 * run) {
        const int middle = first + run < all ? first + run : all;
        const int end = first + 2 * run < all ? first + 2 * run : all;
        int a = first, b = middle;
        for (int n = first; n < end; ++n) {
          const bool takes_b = b < end && (a >= middle || bits_of(keys[b]) < bits_of(keys[a]));
          const int taken = takes_b ? b++ : a++;
          target[n] = keys[taken];
          if constexpr (HasValues) value_target[n] = values[taken];
        }
      }
      for (int n = 0; n < all; ++n) {
        keys[n] = target[n];
        if constexpr (HasValues) values[n] = value_target[n];
      }
    }
  }
  TempStorage& storage_;
};

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <typename T, int X, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1,
          int Z = 1>
class BlockHistogram {
  static constexpr int threads = X * Y * Z;

 public:
  struct TempStorage : tunesmith_shim::Nothing {};
  explicit BlockHistogram(TempStorage&) {}
  template <typename Counter>
  void InitHistogram(Counter (&counters)[Bins]) {
    for (int n = static_cast<int>(tunesmith_shim::rank_in_block()); n < Bins; n += threads) counters[n] = 0;
  }
  template <typename Counter>
  void Composite(T (&items)[Items], Counter (&counters)[Bins]) {
    tunesmith_shim::require_threads(threads);
    for (int n = 0; n < Items; ++n) atomicAdd(&counters[static_cast<int>(items[n])], Counter(1));
  }
  template <typename Counter>
  void Histogram(T (&items)[Items], Counter (&counters)[Bins], TUNESMITH_AT) {
    InitHistogram(counters);
    __syncthreads(at.line);
    Composite(items, counters);
  }
};
#undef TUNESMITH_AT

// The other collectives say that they are not there where a kernel names them.
#define TUNESMITH_WITHOUT_TWIN(name, ...)                                                              \
  template <__VA_ARGS__>                                                                               \
  class name {                                                                                         \
    static_assert(sizeof(T) == 0,                                                                      \
                  "cub::" #name                                                                        \
                  " has no twin for the host: tune this kernel on a CUDA device, or only compile it, " \
                  "by --target.");                                                                     \
  };
TUNESMITH_WITHOUT_TWIN(BlockAdjacentDifference, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(BlockDiscontinuity, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(BlockMergeSort, typename T, int, int, typename = NullType, auto...)
TUNESMITH_WITHOUT_TWIN(BlockShuffle, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(WarpExchange, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(WarpLoad, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(WarpMergeSort, typename T, int, auto...)
TUNESMITH_WITHOUT_TWIN(WarpStore, typename T, int, auto...)
#undef TUNESMITH_WITHOUT_TWIN

}  // namespace cub
