// SPDX-License-Identifier: Apache-2.0
// Launches one kernel: its blocks run one after the other, in the requested order.
#pragma once

#include <stddef.h>
#include <string.h>

#include "common/host/block.h"
#include "common/host/builtins.h"
#include "common/host/fibers.h"
#include "common/host/shared_memory.h"

extern "C" {
void* aligned_alloc(size_t alignment, size_t size);
void free(void* memory);
}

namespace tunesmith_shim {

// The n-th block to run: in order, in reverse, or scattered over the grid.
enum class BlockOrder { ascending, descending, scattered };
TUNESMITH_UNWATCHED static unsigned long long block_at(unsigned long long n, unsigned long long blocks,
                                                       BlockOrder order) {
  constexpr unsigned long long most_scattered = 1ull << 31;  // so that no product overflows
  if (order == BlockOrder::ascending || blocks > most_scattered) return n;
  if (order == BlockOrder::descending) return blocks - 1 - n;
  const unsigned long long step = blocks % 1000003 != 0 ? 1000003 : 1000033;  // primes: each block once
  return (n * step + blocks / 2) % blocks;
}

// Blocks that wait for each other (grid_barrier.h) are put aside, and go on together. Null: none can wait.
static bool (*put_aside)(unsigned char* dynamic, size_t dynamic_size) = nullptr;
static int (*go_on_together)(unsigned char* dynamic, size_t dynamic_size) = nullptr;  // or forget: null

TUNESMITH_UNWATCHED static int run_grid(unsigned char* dynamic, size_t dynamic_size, int threads,
                                        BlockOrder order) {
  const size_t shared_size = __start_tunesmith_shared == nullptr
                                 ? 0
                                 : static_cast<size_t>(__stop_tunesmith_shared - __start_tunesmith_shared);
  const unsigned long long row = gridDim.x, plane = row * gridDim.y, blocks = plane * gridDim.z;
  if (go_on_together != nullptr) go_on_together(nullptr, 0);  // of a launch that has failed
  for (unsigned long long n = 0; n < blocks; ++n) {
    unsigned long long at = block_at(n, blocks, order);
#if defined(TUNESMITH_WATCHED)
    if (watch != nullptr) {
      const long long next = watch->next_block(watch->self, static_cast<long long>(blocks));
      if (next < 0) break;
      at = static_cast<unsigned long long>(next);
    }
#endif
    const auto narrow = [](unsigned long long value) { return static_cast<unsigned>(value); };
    blockIdx = {narrow(at % row), narrow(at % plane / row), narrow(at / plane)};
    fill_with_poison(dynamic, dynamic_size);
    if (shared_size > 0)
      fill_with_poison(reinterpret_cast<unsigned char*>(__start_tunesmith_shared), shared_size);
    const int result = run_block(threads);
    if (result == never_signalled && put_aside != nullptr && put_aside(dynamic, dynamic_size)) continue;
    if (result != ok) return result;
    if (dynamic_size > 0 && !(intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size)))
      return shared_overrun;
  }
  if (go_on_together != nullptr) {
    const int result = go_on_together(dynamic, dynamic_size);
    if (result != ok) return result;
  }
  return intact(dynamic - guard_bytes) && intact(dynamic + dynamic_size) ? ok : shared_overrun;
}

// `way` is 1 for threads in reverse, plus 2 if every other 16 bytes of poison have the other sign, plus 4
// times the BlockOrder, plus 256 times the difference of the poison's bits from a NaN's.
TUNESMITH_UNWATCHED static int run(Body kernel, void* const* arguments, const long long* grid,
                                   const long long* block, long long dynamic_bytes, int way) {
  if (!reserve_stacks()) return out_of_memory;
  const size_t dynamic_size = static_cast<size_t>(dynamic_bytes);
  const size_t total = (dynamic_size + 2 * guard_bytes + 255) / 256 * 256;
  unsigned char* dynamic = static_cast<unsigned char*>(aligned_alloc(256, total));
  if (dynamic == nullptr) return out_of_memory;
  memset(dynamic, guard, total);
  dynamic_shared = dynamic + guard_bytes;
  body = kernel;
  body_arguments = arguments;
  reversed = (way & 1) != 0;
  poison[0] = static_cast<unsigned char>(nan_poison ^ way >> 8);
  poison[1] = static_cast<unsigned char>(poison[0] ^ ((way & 2) != 0 ? 0x80 : 0));
  const auto narrow = [](long long value) { return static_cast<unsigned>(value); };
  gridDim = {narrow(grid[0]), narrow(grid[1]), narrow(grid[2])};
  blockDim = {narrow(block[0]), narrow(block[1]), narrow(block[2])};
  const int threads = static_cast<int>(block[0] * block[1] * block[2]);
  TUNESMITH_TELL(shared, dynamic_shared, dynamic_bytes);
  const int result =
      run_grid(dynamic + guard_bytes, dynamic_size, threads, static_cast<BlockOrder>(way >> 2 & 3));
  free(dynamic);
  dynamic_shared = nullptr;
  return result;
}

}  // namespace tunesmith_shim
