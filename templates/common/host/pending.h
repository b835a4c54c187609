// SPDX-License-Identifier: Apache-2.0
// The list of each thread of a block of what runs on after it was begun, in groups, until a thread waits for
// it.
#pragma once

#include <stddef.h>

#include "common/host/fibers.h"
#include "common/host/watch.h"

extern "C" {
void* realloc(void* memory, size_t size);
void free(void* memory);
}

namespace tunesmith_shim {

template <typename Item>
struct Pending {
  Item* items;
  int count, room;
  int group;  // the group that is being filled
  uint3 thread;
  unsigned long long block;  // of all that have run

  TUNESMITH_UNWATCHED void add(const Item& item) {
    if (count == room) {
      room = 2 * room + 16;
      items = static_cast<Item*>(realloc(items, sizeof(Item) * static_cast<size_t>(room)));
      if (items == nullptr) abort();
    }
    items[count++] = item;
  }

  // Calls ends() of each item, in their order, and takes those from the list of which it is true.
  template <typename Ends>
  TUNESMITH_UNWATCHED void end_some(const Ends& ends) {
    int still = 0;
    for (int n = 0; n < count; ++n)
      if (!ends(items[n])) items[still++] = items[n];
    count = still;
  }
};

// The list of the running thread. `lists` has one for each fiber.
template <typename Item>
TUNESMITH_UNWATCHED inline Pending<Item>& list_of_thread(Pending<Item> (&lists)[max_threads]) {
  Pending<Item>& mine = lists[running - fibers];
  const uint3 &at = running->thread, &of = mine.thread;
  if (at.x != of.x || at.y != of.y || at.z != of.z || mine.block != blocks_run) {  // another thread had it
    mine.count = mine.group = 0;
    mine.thread = at;
    mine.block = blocks_run;
  }
  return mine;
}

template <typename Item>
inline void free_lists(Pending<Item> (&lists)[max_threads]) {
  for (Pending<Item>& list : lists) free(list.items);
}

}  // namespace tunesmith_shim
