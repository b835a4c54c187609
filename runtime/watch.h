// SPDX-License-Identifier: Apache-2.0
// The interface through which a watched variant reports its accesses on the host;
// templates/common/host/watch.h has the other side. make_watched_toolchain() compiles the variant, and
// set_watch() gives its executable a Watch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tunesmith {

class Executable;
class Toolchain;

/// An operation that is atomic_in_block (atomicAdd_block) is none beside other blocks.
/// No thread of the launch may write what is read as `constant` (__ldg).
enum class AccessKind : int {
  read,
  write,
  atomic,
  volatile_read,
  volatile_write,
  atomic_in_block,
  constant_read
};

/// The functions through which a watched variant reports. Threads are numbered within their block in the
/// order of threadIdx, x first; blocks in the order of blockIdx.
struct Watch {
  void* self;
  /// Reports the launch's dynamic shared memory.
  void (*shared)(void* self, const void* dynamic, long long bytes);
  /// Returns the next block to run of `blocks`; below 0: none is left.
  long long (*next_block)(void* self, long long blocks);
  /// Called before each access; if it returns 0, the launch ends and returns host_watch_ended.
  int (*access)(void* self, const void* at, long long bytes, int kind, int thread);
  void (*barrier)(void* self,
                  int threads);  ///< all threads of the block that have not returned have reached a barrier
  void (*collective)(void* self, int warp, unsigned lanes);
  void (*fence)(void* self, int thread, int of_device);  ///< 0: a fence of the block alone
  /// Reports an access at an address that is no multiple of its type's alignment; if it returns 0, the launch
  /// ends.
  int (*misaligned)(void* self, const void* at, long long alignment, const char* file, int line, int thread);
  /// Reports integer arithmetic that left its type's range.
  void (*overflow)(void* self, const char* file, int line);
  /// A thread arrives at a cuda::barrier of its block, or has waited for all that arrived there.
  void (*signal)(void* self, const void* what, int thread, int waits);
  /// All blocks that run wait for each other (-1); then this block goes on, behind all that they have done.
  void (*grid)(void* self, long long block);
  int (*runs_all)(void* self);  ///< 0: next_block() has left out blocks
};

/// Memory of a loaded binary: the module itself, and by name its static shared arrays and the variables of
/// the kernel's file.
struct ModuleArray {
  std::string name;
  const char* start = nullptr;
  std::int64_t bytes = 0;
};
struct ModuleMemory {
  const char* start = nullptr;
  const char* end = nullptr;
  const char* shared_start = nullptr;  ///< all shared memory, guards included
  const char* shared_end = nullptr;
  std::vector<ModuleArray> arrays;
  std::vector<ModuleArray> variables;
};

inline constexpr int host_watch_ended = 9;

/// Makes the host's compiler for variants whose memory accesses are watched: they run several times as long.
/// Returns null if the compiler cannot do this. With `wraps` it prefers a Clang, by which unsigned arithmetic
/// that wraps is reported as an overflow too, and sets `*wraps` to whether it is.
std::unique_ptr<Toolchain> make_watched_toolchain(bool* wraps = nullptr);

/// Makes later launches of a host executable from make_watched_toolchain() report to `watch`; null: no more.
/// Returns the memory ranges of the loaded binary, which are read from its bytes.
ModuleMemory set_watch(Executable& executable, const Watch* watch, const std::string& binary);

/// The order in which the host runs a grid's blocks; a GPU promises none.
enum class BlockOrder { ascending, descending, scattered };
/// Sets the order for later launches, except those whose blocks wait for each other (Launch); no effect on a
/// GPU.
void set_block_order(Executable& executable, BlockOrder order);

}  // namespace tunesmith
