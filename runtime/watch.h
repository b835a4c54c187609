// SPDX-License-Identifier: Apache-2.0
// What a watched variant tells of its launch on the host, as templates/common/host/watch.h has it. The
// variant is compiled by make_watched_toolchain(), and its executable is given a Watch (Executable::watch).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tunesmith {

class Executable;
class Toolchain;

enum class AccessKind : int { read, write, atomic, volatile_read, volatile_write };

/// Threads are numbered within their block as threadIdx is, x first; blocks as blockIdx is.
struct Watch {
  void* self;
  /// Where the launch has its dynamic shared memory.
  void (*shared)(void* self, const void* dynamic, long long bytes);
  /// The block that runs next, of so many; below 0: none any more.
  long long (*next_block)(void* self, long long blocks);
  /// Told before the access takes place; 0 ends the launch, which then answers host_watch_ended.
  int (*access)(void* self, const void* at, long long bytes, int kind, int thread);
  void (*barrier)(void* self, int threads);  ///< all threads of the block that have not returned have met
  void (*collective)(void* self, int warp, unsigned lanes);
  void (*fence)(void* self, int thread, int of_device);  ///< 0: of the block alone
  /// An access to what is no multiple of its type's alignment; 0 ends the launch.
  int (*misaligned)(void* self, const void* at, long long alignment, const char* file, int line, int thread);
  /// Arithmetic on signed integers left its type's range.
  void (*overflow)(void* self, const char* file, int line);
};

/// Memory of a loaded binary: the module itself, and its static shared arrays by name.
struct SharedArray {
  std::string name;
  const char* start = nullptr;
  std::int64_t bytes = 0;
};
struct ModuleMemory {
  const char* start = nullptr;
  const char* end = nullptr;
  const char* shared_start = nullptr;  ///< all that is shared, guards included
  const char* shared_end = nullptr;
  std::vector<SharedArray> arrays;
};

inline constexpr int host_watch_ended = 9;

/// The host's compiler, for variants whose accesses to memory are watched: they run several times as long.
/// Null where it cannot.
std::unique_ptr<Toolchain> make_watched_toolchain();

/// Of a host's executable that make_watched_toolchain() has made: later launches are told to `watch`; null:
/// no more. Answers where the loaded binary lies, which is read from its bytes.
ModuleMemory set_watch(Executable& executable, const Watch* watch, const std::string& binary);

/// In which order the host runs a grid's blocks; a GPU promises none.
enum class BlockOrder { ascending, descending, scattered };
/// Of later launches, but those whose blocks wait for each other (Launch); without effect on a GPU.
void set_block_order(Executable& executable, BlockOrder order);

}  // namespace tunesmith
