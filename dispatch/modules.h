// SPDX-License-Identifier: Apache-2.0
// One loaded binary per source, shared by all plans: found in the user's database, the library or the cache,
// or compiled. Thread-safe; a source is loaded once, and compiled once, without any lock that others need.
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

/// Why something failed, for a while, since what it lacked may be there again; after each failure for twice
/// as long, so that what always fails costs little.
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
  std::uint64_t used_ = 0;                           ///< of Modules::clock_; under the mutex of Modules
  std::atomic<const Executable*> loaded_ = nullptr;  ///< what first_ holds
  ProcessMutex compiling_;                           ///< while it is compiled; locked before mutex_
  mutable std::mutex mutex_;                         ///< of what follows; while a binary is loaded
  std::unique_ptr<const Executable> first_;
  std::size_t bytes_ = 0;
  std::string how_, toolchain_, why_none_;
  Backoff compilation_;
};

class Modules {
 public:
  /// `ordinal` as cudaSetDevice counts, -1: the host. `may_compile`: whether it is worth asking which
  /// compiler there is. `cannot_cache` is called with a sentence.
  Modules(DeviceFacts device, int ordinal, StoredBinaries binaries, BinaryCache cache,
          std::chrono::milliseconds compile_limit, bool may_compile,
          std::function<void(const std::string&)> cannot_cache);

  /// Renders a source the first time it is asked for.
  std::shared_ptr<Module> find(const VariantSpec& spec);

  /// An executable for `work`, or why there is none, as a sentence.
  using Attempt = std::variant<std::unique_ptr<Executable>, std::string>;
  enum class LoadPolicy {
    loaded,   ///< only if it is loaded
    ready,    ///< loads a binary that there is; does not wait for a compiler
    compile,  ///< compiles it, or waits for the thread that does
  };
  Attempt take(const std::shared_ptr<Module>& module, const VariantSpec& spec, const Work& work,
               LoadPolicy policy, const std::stop_token& stop = {});

  /// Whether it may be worth compiling: there may be a compiler, and it has not failed on it lately.
  bool may_compile(const Module& module) const;
  bool has_no_compiler() const { return Clock::now() < no_compiler_until(); }
  Clock::time_point no_compiler_until() const { return no_compiler_until_; }
  /// When it is worth another try, if it has failed lately; else never.
  Clock::time_point try_again(const Module& module) const;
  /// How often a binary did not load for want of what may be there again.
  std::uint64_t lacked() const { return lacked_; }

  /// About, with the binaries that are loaded.
  std::size_t bytes() const { return bytes_; }
  /// Counts what was asked for.
  std::uint64_t clock() const { return clock_; }
  /// Forgets, and unloads, the one that was asked for least lately and by `clock`, which no plan uses and no
  /// stream or graph may use. False: there is none.
  bool unload_one(std::uint64_t clock = ~std::uint64_t{0});

 private:
  // Each answers why it is not loaded then; empty: it is.
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
  std::mutex mutex_;                                         ///< of the next two
  List modules_;                                             ///< what was asked for least lately first
  std::unordered_map<std::string_view, List::iterator> at_;  ///< by key_
  std::atomic<std::uint64_t> clock_ = 0;
  std::atomic<std::size_t> bytes_ = 0;

  std::mutex toolchain_mutex_;
  std::unique_ptr<Toolchain> toolchain_;
  bool asked_for_toolchain_ = false;  ///< by is_of_another_compiler()
  Backoff no_toolchain_;
  std::atomic<Clock::time_point> no_compiler_until_ = Clock::time_point();
  std::atomic<std::uint64_t> lacked_ = 0;
};

}  // namespace tunesmith
