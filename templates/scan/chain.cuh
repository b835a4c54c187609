// SPDX-License-Identifier: Apache-2.0
// How the blocks of a launch pass on a line's total before their tiles. The order of combining is fixed,
// whatever the order in which the blocks come. This file has no kernel.
//
// A line is cut into tiles; FAN tiles are a group, FAN groups a section. A tile posts its total as soon as it
// is known. The last tile of a group posts the group's total, and the last tile of a section the line's total
// before the next section. The total before a tile is always combined in this order: the total before its
// section, the groups before its own in the section, the tiles before it in its group. So the chain from
// block to block has one link per section.
//
// Blocks wait only for tiles of lower numbers, and a block takes its number from a counter when it runs: so
// the blocks that it waits for run already.
#pragma once

#include "scan/scan.cuh"

// A number sent from one block to another without a fence: each 64-bit word holds 32 bits of it and a 1
// above them, so that a word is zero until it has arrived. The words of one number are `stride` apart.
template <typename Item>
struct Message {
  static constexpr int words = sizeof(Item) / 4;

  static __device__ __forceinline__ void post(unsigned long long* slot, int stride, const Item& item) {
    unsigned halves[words];
    memcpy(halves, &item, sizeof(Item));
    volatile unsigned long long* const to = slot;
#pragma unroll
    for (int w = 0; w < words; ++w) to[w * stride] = 1ull << 32 | halves[w];
  }

  // Reads the number; returns true if it has arrived.
  static __device__ __forceinline__ bool read(unsigned long long* slot, int stride, Item& item) {
    unsigned halves[words];
    volatile unsigned long long* const from = slot;
    bool arrived = true;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const unsigned long long word = from[w * stride];
      halves[w] = static_cast<unsigned>(word);
      arrived = arrived && word != 0;
    }
    memcpy(&item, halves, sizeof(Item));
    return arrived;
  }
};

// The message of an expression's item is its number: an item exists whenever it is sent.
template <typename Number>
struct Message<Optional<Number>> {
  static constexpr int words = Message<Number>::words;

  static __device__ __forceinline__ void post(unsigned long long* slot, int stride,
                                              const Optional<Number>& item) {
    Message<Number>::post(slot, stride, item.value);
  }
  static __device__ __forceinline__ bool read(unsigned long long* slot, int stride, Optional<Number>& item) {
    item.is_there = 1;
    return Message<Number>::read(slot, stride, item.value);
  }
};

// Takes the number of the next tile of `tiles`, for one thread of a block; after the last one the ticket is 0
// again.
__device__ __forceinline__ unsigned next_tile(unsigned* ticket, unsigned tiles) {
  return atomicInc(ticket, tiles - 1);
}

// One tile's place in its line, and its messages there.
template <typename S, int FAN>
struct Chain {
  using Item = typename S::Item;
  static constexpr int levels = 3;

  // `counters` are the ticket and the counters of all lines, `messages` the messages of all lines; all are
  // zero before and after the launch. Each message has `columns` numbers. A line of one tile has no messages,
  // and reads none.
  __device__ __forceinline__ Chain(unsigned* counters, unsigned long long* messages, unsigned line,
                                   unsigned tiles, unsigned tile, int columns)
      : tiles_(tiles), tile_(tile), columns_(columns) {
    groups_ = (tiles + FAN - 1) / FAN;
    const unsigned sections = (groups_ + FAN - 1) / FAN;
    group_ = tile / FAN;
    section_ = group_ / FAN;
    counters_ = counters + 1 + static_cast<long long>(line) * (groups_ + sections);
    messages_ = messages +
                static_cast<long long>(line) * (tiles + groups_ + sections) * columns * Message<Item>::words;
    const bool ends_group = tile % FAN == FAN - 1;
    const bool ends_section = ends_group && group_ % FAN == FAN - 1;
    const bool ends_line = tile + 1 == tiles;
    // Only messages that are read are posted: a message that nothing reads could arrive after its place was
    // made zero.
    posts_tile = !ends_line && !ends_group;
    posts_group = !ends_line && ends_group && !ends_section;
    posts_section = !ends_line && ends_section;
  }

  bool posts_tile, posts_group, posts_section;

  __device__ __forceinline__ void post_tile(int column, const Item& total) { post(tile_, column, total); }
  __device__ __forceinline__ void post_group(int column, const Item& total) {
    post(tiles_ + group_, column, total);
  }
  // Posts the line's total before the next section.
  __device__ __forceinline__ void post_section(int column, const Item& total) {
    post(tiles_ + groups_ + section_ + 1, column, total);
  }

  // Level 0: the tiles before this one in its group; 1: the groups before that in its section; 2: the total
  // before the section.
  __device__ __forceinline__ int count(int level) const {
    if (level == 0) return static_cast<int>(tile_ % FAN);
    if (level == 1) return static_cast<int>(group_ % FAN);
    return section_ > 0;
  }
  __device__ __forceinline__ unsigned first(int level) const {
    if (level == 0) return group_ * FAN;
    if (level == 1) return tiles_ + section_ * FAN;
    return tiles_ + groups_ + section_;
  }

  // Finds the totals of levels FIRST to LAST, in every lane. Each lane waits for one message of each level,
  // all under way at once.
  template <int FIRST, int LAST>
  __device__ __forceinline__ void wait_as_warp(int column, int lane, Item (&found)[levels]) {
    static_assert(FAN <= 32, "a lane for each message");
    bool arrived;
    do {
      arrived = true;
#pragma unroll
      for (int level = FIRST; level <= LAST; ++level) {
        found[level] = S::none();
        if (lane < count(level) &&
            !Message<Item>::read(slot(first(level) + lane, column), columns_, found[level]))
          arrived = false;
      }
    } while (!arrived);
#pragma unroll
    for (int level = FIRST; level <= LAST; ++level) found[level] = fold_lanes<S, 32>(found[level], lane);
  }

  // Finds the total of one level, by one thread.
  __device__ __forceinline__ Item wait_alone(int level, int column) {
    constexpr int at_once = FAN < 8 ? FAN : 8;  // loads under way
    const int number = count(level);
    Item total = S::none();
    for (int from = 0; from < number; from += at_once) {
      Item items[at_once];
      bool arrived;
      do {
        arrived = true;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          if (from + k >= number) break;
          if (!Message<Item>::read(slot(first(level) + from + k, column), columns_, items[k]))
            arrived = false;
        }
      } while (!arrived);
#pragma unroll
      for (int k = 0; k < at_once; ++k)
        if (from + k < number) total = S::combine(total, items[k]);
    }
    return total;
  }

  // For one thread, once its block has read all that it waits for. Says whether the block is the last of its
  // group, and of its section, to do so, and has to clear what they have read.
  __device__ __forceinline__ int leave() {
    const unsigned group_end = (group_ + 1) * FAN < tiles_ ? (group_ + 1) * FAN : tiles_;
    const unsigned of_group = group_end - group_ * FAN;
    if (atomicInc(counters_ + group_, of_group - 1) != of_group - 1) return 0;
    const unsigned section_end = (section_ + 1) * FAN < groups_ ? (section_ + 1) * FAN : groups_;
    const unsigned of_section = section_end - section_ * FAN;
    return atomicInc(counters_ + groups_ + section_, of_section - 1) == of_section - 1 ? 2 : 1;
  }

  // Clears messages by all threads of the block; `what` is the result of leave().
  __device__ __forceinline__ void clear(int what, int thread, int threads) {
    if (what >= 1) clear(0, FAN, tiles_ - group_ * FAN, thread, threads);
    if (what == 2) {
      clear(1, FAN, groups_ - section_ * FAN, thread, threads);
      clear(2, 1, 1, thread, threads);
    }
  }

 private:
  __device__ __forceinline__ unsigned long long* slot(unsigned message, int column) {
    return messages_ + static_cast<long long>(message) * columns_ * Message<Item>::words + column;
  }
  __device__ __forceinline__ void post(unsigned message, int column, const Item& item) {
    Message<Item>::post(slot(message, column), columns_, item);
  }
  __device__ __forceinline__ void clear(int level, unsigned most, unsigned there, int thread, int threads) {
    const int words = static_cast<int>(there < most ? there : most) * columns_ * Message<Item>::words;
    unsigned long long* const from = slot(first(level), 0);
    for (int w = thread; w < words; w += threads) from[w] = 0;
  }

  unsigned* counters_;
  unsigned long long* messages_;
  unsigned tiles_, tile_, group_, groups_, section_;
  int columns_;
};
