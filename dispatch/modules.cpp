// SPDX-License-Identifier: Apache-2.0
#include "dispatch/modules.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "dispatch/fork.h"
#include "dispatch/packed.h"
#include "dispatch/profiler_range.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/number_text.h"
#include "runtime/files.h"

namespace tunesmith {
namespace {

// The approximate memory of a module: itself, its places in the list and the map, its small texts.
std::size_t bytes_of(const std::string& key, const Source& source) {
  std::size_t sum =
      sizeof(Module) + 2 * key.capacity() + source.hash.capacity() + source.suffix.capacity() + 256;
  for (const std::string& kernel : source.kernels) sum += sizeof kernel + kernel.capacity();
  return sum;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The kernels of a binary made by an older version may have another suffix: eight hexadecimal digits after
// the name.
std::string suffix_in(const std::string& binary, const Source& source) {
  constexpr std::size_t digits = 8;
  for (const std::string& kernel : source.kernels) {
    const std::string name = kernel + "_";
    for (std::size_t at = 0; (at = binary.find(name, at)) != std::string::npos; at += name.size()) {
      std::string suffix = binary.substr(at + kernel.size(), digits + 1);
      if (suffix.size() == digits + 1 && suffix.find_first_not_of("0123456789abcdef", 1) == std::string::npos)
        return suffix;
    }
  }
  return source.suffix;
}

}  // namespace

Modules::Modules(DeviceFacts device, int ordinal, StoredBinaries binaries, BinaryCache cache,
                 std::chrono::milliseconds compile_limit, bool may_compile,
                 std::function<void(const std::string&)> cannot_cache)
    : device_(std::move(device)),
      ordinal_(ordinal),
      binaries_(std::move(binaries)),
      cache_(std::move(cache)),
      compile_limit_(compile_limit),
      may_compile_(may_compile),
      cannot_cache_(std::move(cannot_cache)) {}

std::shared_ptr<Module> Modules::find(const VariantSpec& spec) {
  const std::string key = key_of(spec);
  const auto known = [&]() -> std::shared_ptr<Module> {
    const auto found = at_.find(key);
    if (found == at_.end()) return nullptr;
    modules_.splice(modules_.end(), modules_, found->second);
    modules_.back()->used_ = ++clock_;
    return modules_.back();
  };
  {
    const std::scoped_lock lock(mutex_);
    if (auto module = known()) return module;
  }
  auto module = std::make_shared<Module>();
  module->key_ = key;
  module->source_ = source_of(spec, device_.target);
  std::string().swap(module->source_.text);  // with its memory
  module->is_base_ = &spec.tmpl == &spec.op.templates.front();
  module->bytes_ = bytes_of(key, module->source_);
  bytes_ += module->bytes_;
  const std::scoped_lock lock(mutex_);
  if (auto faster = known()) {
    bytes_ -= module->bytes_;
    return faster;
  }
  module->used_ = ++clock_;
  at_.emplace(module->key_, modules_.insert(modules_.end(), module));
  return module;
}

Modules::Attempt Modules::take(const std::shared_ptr<Module>& module, const VariantSpec& spec,
                               const Work& work, LoadPolicy policy, const std::stop_token& stop) {
  const Executable* loaded = module->loaded_;
  if (loaded == nullptr && policy == LoadPolicy::loaded) return "It is not loaded.";
  if (loaded == nullptr) {
    const std::uint64_t lacked = lacked_;
    std::string why = look_for(*module, work);
    if (lacked_ != lacked) return why;  // a compiled binary could not be loaded either
    if (policy == LoadPolicy::compile) {
      why += compile(*module, spec, work, stop);
    } else {
      const std::scoped_lock lock(module->mutex_);
      why += module->compilation_.why();
    }
    loaded = module->loaded_;
    if (loaded == nullptr) return why;
  }
  try {
    return loaded->with(work);
  } catch (const LoadError& error) {
    if (error.cause == LoadError::Cause::busy) ++lacked_;
    return error.what();
  }
}

bool Modules::may_compile(const Module& module) const {
  if (has_no_compiler()) return false;
  const std::scoped_lock lock(module.mutex_);
  return !module.compilation_.counts();
}

Clock::time_point Modules::try_again(const Module& module) const {
  const std::scoped_lock lock(module.mutex_);
  return module.compilation_.counts() ? std::max(module.compilation_.end(), no_compiler_until()) : never;
}

// Looks in the cheapest place first: database or export, library, cache. If one binary does not load, the
// next place is tried. A search or load that failed for want of file numbers or memory is repeated later.
std::string Modules::look_for(Module& module, const Work& work) {
  const std::scoped_lock lock(module.mutex_);
  if (module.loaded_ != nullptr || !module.why_none_.empty()) return module.why_none_;  // done before
  const std::uint64_t lacked = lacked_;
  const Source& source = module.source_;
  std::string refused;
  const auto try_one = [&](const std::string& binary, const std::string& suffix, const char* what,
                           const char* how) {
    if (const std::string why = load(module, binary, suffix, work, how); !why.empty())
      refused += std::string(what) + " does not load: " + why + " ";
    return module.first_ != nullptr;
  };
  const std::string name = packed_name(device_.target, source.hash);
  if (const auto stored = binaries_.find(name); stored != binaries_.end()) {
    const auto& [bytes, is_exported] = stored->second;
    if (try_one(bytes, suffix_in(bytes, source),
                is_exported ? "The exported binary" : "The database's binary",
                is_exported ? "its binary was exported with the kernel" : "its binary is in the database"))
      return "";
  }
  if (const std::string built_in = packed_binary_name(device_.target, source.hash);
      !built_in.empty() &&
      try_one(packed(built_in), source.suffix, "The built-in binary", "its binary is built in"))
    return "";
  const auto cached = cache_.find_entry(source);
  const bool lacks_cached = !cached && is_shortage(errno);
  if (cached && is_of_another_compiler(*cached)) {
    refused += "The cached binary was made by another compiler. ";
  } else if (cached && try_one(cached->bytes, source.suffix, "The cached binary",
                               "its binary is in the cache, compiled before")) {
    return "";
  }
  if (lacks_cached) {
    refused += "The cache cannot be read: " + std::string(std::strerror(errno)) + ". ";
    ++lacked_;
  }
  if (module.is_base_ && device_.kind == DeviceKind::cuda) {
    const std::string ptx = packed(packed_name(ptx_target, source.hash));
    if (!ptx.empty() && try_one(ptx, source.suffix, "The built-in PTX", "the driver compiled its PTX"))
      return "";
  }
  if (refused.empty()) refused = "There is no binary of it. ";
  if (lacked_ == lacked) module.why_none_ = refused;
  return refused;
}

std::string Modules::compile(Module& module, const VariantSpec& spec, const Work& work,
                             const std::stop_token& stop) {
  std::unique_lock one_at_a_time(module.compiling_, std::defer_lock);
  {
    const OutsideOfLibrary outside;
    one_at_a_time.lock();
  }
  {
    const std::scoped_lock lock(module.mutex_);
    if (module.first_) return "";  // it was compiled while this thread waited
    if (module.compilation_.counts()) return module.compilation_.why();
  }
  const auto begun = Clock::now();
  const std::uint64_t lacked = lacked_;
  std::string why_not;
  Compilation compiled;
  std::string made_by;
  const Source source = source_of(spec, device_.target);
  if (const Toolchain* compiler = toolchain(why_not)) {
    made_by = compiler->identity();
    try {
      const OutsideOfLibrary outside;
      const ProfilerRange range("compile", spec.op.name);
      compiled = compiler->compile(source, {.limit = compile_limit_, .stop = stop});
    } catch (const std::exception& error) {  // such as a full disk
      compiled.log = error.what();
    }
    if (!compiled.ok) why_not = "It does not compile: " + first_line(compiled.log);
  } else {
    why_not = "No compiler is available: " + why_not;
  }
  if (stop.stop_requested()) return why_not;
  const std::scoped_lock lock(module.mutex_);
  if (compiled.ok) {
    module.toolchain_ = std::move(made_by);
    why_not = load(module, compiled.bytes, source.suffix, work,
                   printed("compiled now in %.2f ms", compiled.milliseconds));
    if (module.first_) {
      if (const auto why = cache_.put(source, compiled.bytes, module.toolchain_)) cannot_cache_(*why);
    }
  }
  if (!why_not.empty() && lacked_ == lacked) module.compilation_.note(why_not, begun);
  return why_not;
}

// Loads a binary. Returns why it does not load; empty if it does. The caller holds the module's mutex.
std::string Modules::load(Module& module, const std::string& binary, const std::string& suffix,
                          const Work& work, std::string how) {
  try {
    module.first_ =
        ordinal_ < 0 ? load_host(binary, suffix, work) : load_cuda(binary, suffix, work, ordinal_, true);
  } catch (const LoadError& error) {
    if (error.cause == LoadError::Cause::busy) ++lacked_;
    return error.what();
  }
  module.how_ = std::move(how);
  module.bytes_ += binary.size();
  bytes_ += binary.size();
  module.loaded_ = module.first_.get();
  return "";
}

const Toolchain* Modules::toolchain(std::string& why_none) {
  const std::scoped_lock lock(toolchain_mutex_);
  if (!toolchain_ && !no_toolchain_.counts()) {
    const auto begun = Clock::now();
    try {
      toolchain_ = make_toolchain(device_.target);
    } catch (const std::exception& error) {
      no_toolchain_.note(error.what(), begun);
      no_compiler_until_ = no_toolchain_.end();
    }
  }
  why_none = no_toolchain_.why();
  return toolchain_.get();
}

// Asked only if there is a cache entry, since it loads the compiler, once, in some 10 ms. Without a compiler
// every entry will do.
bool Modules::is_of_another_compiler(const BinaryCache::Entry& entry) {
  if (!may_compile_ || entry.made_by.empty()) return false;
  const std::scoped_lock lock(toolchain_mutex_);
  if (!toolchain_ && !asked_for_toolchain_) {
    asked_for_toolchain_ = true;
    try {
      toolchain_ = make_toolchain(device_.target);
    } catch (const std::exception&) {
      // Whoever needs the toolchain asks again, and says why there is none.
    }
  }
  return toolchain_ && sha256(toolchain_->identity()) != entry.made_by;
}

bool Modules::unload_one(std::uint64_t clock) {
  std::shared_ptr<Module> oldest;  // it is unloaded at the end, outside the lock
  {
    const std::scoped_lock lock(mutex_);
    constexpr std::size_t most = 64;  // modules that may not be unloaded and are looked at, per call
    for (std::size_t left = std::min(modules_.size(), most); oldest == nullptr; --left) {
      if (left == 0 || modules_.front()->used_ > clock) return false;
      const Executable* loaded = modules_.front()->loaded_;
      if (modules_.front().use_count() > 1 || (loaded != nullptr && loaded->may_be_running())) {
        modules_.splice(modules_.end(), modules_, modules_.begin());
        modules_.back()->used_ = ++clock_;
      } else {
        at_.erase(modules_.front()->key_);
        oldest = std::move(modules_.front());
        modules_.pop_front();
      }
    }
  }
  bytes_ -= oldest->bytes_;
  return true;
}

}  // namespace tunesmith
