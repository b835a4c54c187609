// SPDX-License-Identifier: Apache-2.0
// One loaded binary per source, shared by all plans: found in the user's database, the library or the cache,
// or compiled. Thread-safe. A source is loaded once and compiled once, under no lock that other sources need.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "dispatch/source.h"
#include "dispatch/tuning_data.h"
#include "generator/op.h"
#include "runtime/cache.h"
#include "runtime/executable.h"
#include "runtime/process_mutex.h"
#include "runtime/toolchain.h"

namespace tunesmith {

using Clock = std::chrono::steady_clock;
inline constexpr Clock::time_point never = Clock::time_point::max();

/// Remembers for a while why something failed, since the missing resource may be there again. Each failure
/// doubles that time, so that a source that always fails costs little.
class Backoff {
 public:
  bool counts() const { return !why_.empty() && Clock::now() < end_; }
  const std::string& why() const { return why_; }
  void note(std::string why, Clock::time_point begun) {
    pause_ = std::max(2 * pause_, 10 * (Clock::now() - begun));
    end_ = Clock::now() + pause_;
    why_ = std::move(why);
  }
  Clock::time_point end() const { return end_; }

 private:
  std::string why_;
  Clock::duration pause_ = std::chrono::seconds(1);
  Clock::time_point end_;
};

class Module {
 public:
  const Source& source() const { return source_; }  ///< without its text, which is rendered again if needed
  const std::string& how() const { return how_; }   ///< half a sentence: where the binary is from
  /// The toolchain, if it was compiled by this process, else how().
  const std::string& made_by() const { return toolchain_.empty() ? how_ : toolchain_; }
  bool is_loaded() const { return loaded_.load() != nullptr; }

 private:
  friend class Modules;
  std::string key_;
  Source source_;
  bool is_base_ = false;
  std::uint64_t used_ = 0;                           ///< time of Modules::clock_; under the mutex of Modules
  std::atomic<const Executable*> loaded_ = nullptr;  ///< the executable in first_
  ProcessMutex compiling_;                           ///< held while it is compiled; locked before mutex_
  /// Guards the members below; held while a binary is loaded.
  mutable std::mutex mutex_;
  std::unique_ptr<const Executable> first_;
  std::size_t bytes_ = 0;
  std::string how_, toolchain_, why_none_;
  Backoff compilation_;
};

class Modules {
 public:
  /// `ordinal` counts as cudaSetDevice does; -1 is the host. `may_compile`: whether it is worth looking for a
  /// compiler. `cannot_cache` is called with a sentence.
  Modules(DeviceFacts device, int ordinal, StoredBinaries binaries, BinaryCache cache,
          std::chrono::milliseconds compile_limit, bool may_compile,
          std::function<void(const std::string&)> cannot_cache);

  /// Renders a source the first time it is asked for.
  std::shared_ptr<Module> find(const VariantSpec& spec);

  /// An executable for `work`, or why there is none, as a sentence.
  using Attempt = std::variant<std::unique_ptr<Executable>, std::string>;
  enum class LoadPolicy {
    loaded,   ///< only if it is loaded
    ready,    ///< loads an existing binary; does not wait for a compiler
    compile,  ///< compiles it, or waits for the thread that does
  };
  Attempt take(const std::shared_ptr<Module>& module, const VariantSpec& spec, const Work& work,
               LoadPolicy policy, const std::stop_token& stop = {});

  /// True if a compilation may succeed: there may be a compiler, and it has not failed on this module lately.
  bool may_compile(const Module& module) const;
  bool has_no_compiler() const { return Clock::now() < no_compiler_until(); }
  Clock::time_point no_compiler_until() const { return no_compiler_until_; }
  /// When a module that failed lately is worth another try; else never.
  Clock::time_point try_again(const Module& module) const;
  /// Counts the binaries that did not load for want of a resource that may be there again.
  std::uint64_t lacked() const { return lacked_; }

  /// The approximate memory, including the loaded binaries.
  std::size_t bytes() const { return bytes_; }
  /// The number of requests so far.
  std::uint64_t clock() const { return clock_; }
  /// Unloads and forgets the least recently requested module that was requested by `clock`, that no plan uses
  /// and that no stream or graph may use. Returns false if there is none.
  bool unload_one(std::uint64_t clock = ~std::uint64_t{0});

 private:
  // Each returns why the module is not loaded then; empty if it is.
  std::string look_for(Module& module, const Work& work);
  std::string compile(Module& module, const VariantSpec& spec, const Work& work, const std::stop_token& stop);
  std::string load(Module& module, const std::string& binary, const std::string& suffix, const Work& work,
                   std::string how);
  const Toolchain* toolchain(std::string& why_none);
  bool is_of_another_compiler(const BinaryCache::Entry& entry);

  const DeviceFacts device_;
  const int ordinal_;
  const StoredBinaries binaries_;
  const BinaryCache cache_;
  const std::chrono::milliseconds compile_limit_;
  const bool may_compile_;
  const std::function<void(const std::string&)> cannot_cache_;

  using List = std::list<std::shared_ptr<Module>>;
  std::mutex mutex_;                                         ///< guards the next two
  List modules_;                                             ///< least recently requested first
  std::unordered_map<std::string_view, List::iterator> at_;  ///< by key_
  std::atomic<std::uint64_t> clock_ = 0;
  std::atomic<std::size_t> bytes_ = 0;

  std::mutex toolchain_mutex_;
  std::unique_ptr<Toolchain> toolchain_;
  bool asked_for_toolchain_ = false;  ///< set by is_of_another_compiler()
  Backoff no_toolchain_;
  std::atomic<Clock::time_point> no_compiler_until_ = Clock::time_point();
  std::atomic<std::uint64_t> lacked_ = 0;
};

}  // namespace tunesmith
