// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/watched_check.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "generator/ops.h"
#include "kernel_file/add.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

// Accesses of a launch that are watched: that is slow, and a fault shows early.
constexpr std::uint64_t most_on_companions = 9'000'000, most_on_problem = 18'000'000,
                        most_of_late = 30'000'000;

// True if an array differs by more than the order of its sums may change. Those in another order are judged
// without a watch, where it is told what rounding alone does.
bool differs_clearly(const Comparison& comparison) {
  constexpr double alike = 1e-3;
  const double larger = std::max(std::abs(comparison.got), std::abs(comparison.expected));
  return comparison.wrong != 0 && !(std::abs(comparison.got - comparison.expected) <= alike * larger);
}

// The first numbers of elements that 32-bit integers cannot count, signed and unsigned.
constexpr std::int64_t most_of_32_bits = std::int64_t{1} << 31, most_unsigned = std::int64_t{1} << 32;

// An array of zeros, in which only touched pages take memory.
class SparseMemory {
 public:
  explicit SparseMemory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))),
        start_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0)) {}
  ~SparseMemory() {
    if (start_ != MAP_FAILED) ::munmap(start_, bytes_);
  }
  SparseMemory(SparseMemory&& other) noexcept
      : bytes_(other.bytes_), start_(std::exchange(other.start_, MAP_FAILED)) {}
  SparseMemory& operator=(SparseMemory&&) = delete;
  // Makes all of it `element` again and again, by few pages that are mapped many times; it stays zeros if the
  // system does not do that.
  void fill(const std::string& element) {
    constexpr std::size_t piece = std::size_t{1} << 22;
    if (start_ == MAP_FAILED || piece % element.size() != 0) return;
    const int file = ::memfd_create("tunesmith-indices", MFD_CLOEXEC);
    if (file < 0) return;
    std::string pattern;
    while (pattern.size() < piece) pattern += element;
    if (::write(file, pattern.data(), piece) == static_cast<ssize_t>(piece)) {
      const std::size_t whole = bytes_ / piece * piece;
      for (std::size_t at = 0; at < whole; at += piece) {
        void* const place = static_cast<char*>(start_) + at;
        if (::mmap(place, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) ==
            MAP_FAILED)
          break;
      }
      std::memcpy(static_cast<char*>(start_) + whole, pattern.data(), bytes_ - whole);
    }
    ::close(file);
  }
  char* get() const { return start_ == MAP_FAILED ? nullptr : static_cast<char*>(start_); }

 private:
  std::size_t bytes_;
  void* start_;
};

// Moves the arrays of a workspace apart, so that an access behind one of them is not inside the next.
Work spread_out(Work work) {
  constexpr std::int64_t gap = 4096;
  const std::vector<WorkspaceArray> before = work.workspace_arrays;
  const auto move = [&](std::int64_t& offset) {
    std::int64_t gaps = -1;
    for (const WorkspaceArray& array : before) gaps += array.offset_bytes <= offset ? 1 : 0;
    offset += gaps * gap;
  };
  if (before.empty()) return work;
  for (Step& step : work.steps) {
    if (auto* launch = std::get_if<Launch>(&step)) {
      for (KernelArgument& argument : launch->arguments)
        if (auto* pointer = std::get_if<WorkspacePointer>(&argument)) move(pointer->offset_bytes);
    } else if (auto* zero = std::get_if<Zero>(&step)) {
      if (auto* pointer = std::get_if<WorkspacePointer>(&zero->what)) move(pointer->offset_bytes);
    }
  }
  for (WorkspaceArray& array : work.workspace_arrays) move(array.offset_bytes);
  work.workspace_bytes += gap * static_cast<std::int64_t>(before.size() - 1);
  return work;
}

// The largest index that the array may hold, if it holds indices.
std::optional<double> largest_index(const Argument& argument, const Problem& problem) {
  if (argument.role != Role::input || !is_whole(argument.dtype(problem)) || !argument.usual ||
      argument.usual->spread != Contents::uniform || !argument.usual->bounds)
    return std::nullopt;
  return argument.usual->bounds(problem).second;
}

Watcher::Array watched(const std::string& name, const ProblemArrays::Array& array, const char* start) {
  return Watcher::Array::of(name, start, array.live.bytes(), array.dtype, array.record);
}

// Adds the arrays of the work's workspace.
void add_workspace(const Work& work, const char* start, std::vector<Watcher::Array>& arrays) {
  for (const WorkspaceArray& one : work.workspace_arrays)
    arrays.push_back({one.name, start + one.offset_bytes, one.bytes, one.element_bytes});
}

bool is_allowed(const Op& op, const Problem& problem) {
  try {
    static_cast<void>(complete_problem(op, problem));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

// The largest of the problems that the description names as usual, with `constants` unchanged; a parameter
// without a range keeps its value.
std::optional<Problem> largest_problem(const Op& op, const Problem& asked, const Values& constants) {
  constexpr std::int64_t no_maximum = std::int64_t{1} << 31;
  for (const std::int64_t multiple : {1, 64}) {
    Problem problem = asked;
    for (const Parameter& parameter : op.parameters) {
      if (!parameter.is_integer() || constants.find(parameter.name) != nullptr) continue;
      if (!parameter.usual && parameter.maximum >= no_maximum) continue;
      const std::int64_t declared = parameter.usual ? parameter.usual->most : parameter.maximum;
      const std::int64_t most = std::min(declared, parameter.maximum) / multiple * multiple;
      problem.set(parameter.name, std::max(most, parameter.minimum));
    }
    if (problem != asked && is_allowed(op, problem)) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CheckFailure> WatchedCheck::run(const Template& tmpl, const Config& config,
                                              ProblemArrays& asked, std::span<ProblemArrays> companions,
                                              bool& lost) {
  if (!toolchain_) {
    const std::optional<Problem> largest =
        largest_problem(op_, asked.problem(), compiled_in(op_, tmpl, asked.problem()));
    const bool wrapping =
        largest && std::any_of(op_.arguments.begin(), op_.arguments.end(),
                               [&](const Argument& one) { return elements(one, *largest) > most_unsigned; });
    toolchain_ = make_watched_toolchain(wrapping ? &wraps_ : nullptr);
  }
  if (!toolchain_) return std::nullopt;
  const Source source = render(op_, tmpl, asked.problem(), config, "host");
  const Compilation compiled = toolchain_->compile(source);
  blocks_wait_ = false;
  has_signals_ = false;
  unset_.reset();
  overflows_.clear();
  unwatched_ = compiled.ok || compiled.is_late ? compiled.log : located(compiled.log, source.text);
  // A variant that this compiler cannot watch is checked without watching.
  if (!compiled.ok) return std::nullopt;
  unwatched_.clear();
  const Variant variant{tmpl, config, source, compiled.bytes};
  const Values constants = compiled_in(op_, tmpl, asked.problem());
  accesses_ = 0;
  for (ProblemArrays& companion : companions) {
    if (accesses_ > most_on_companions) break;
    if (companion.set() > 0 || !serves(op_, tmpl, config, companion.problem(), device_.facts(), constants))
      continue;
    if (auto failure = run_on(companion, variant, most_on_companions, lost)) return failure;
  }
  if (auto failure = run_on(asked, variant, most_on_problem, lost)) return failure;
  if (has_signals_)
    if (auto failure = among_many_blocks(companions, variant, lost)) return failure;
  return check_large(variant, asked, constants);
}

// Makes the problem smaller as long as the array stays well above 2^31 elements, so that a block has less to
// do.
Problem WatchedCheck::smaller(Problem large, std::size_t array, const Variant& variant,
                              const Values& constants) const {
  const std::int64_t most =
      wraps_ && elements(op_.arguments[array], large) > most_unsigned ? most_unsigned : most_of_32_bits;
  for (const Parameter& parameter : op_.parameters) {
    while (parameter.is_integer() && constants.find(parameter.name) == nullptr) {
      Problem smaller = large;
      smaller.set(parameter.name, std::get<std::int64_t>(*large.find(parameter.name)) / 2);
      if (!is_allowed(op_, smaller) || elements(op_.arguments[array], smaller) < most * 3 / 2 ||
          !variant.tmpl.space(smaller, device_.facts()).find(variant.config.values()))
        break;
      large = smaller;
    }
  }
  return large;
}

// Runs some blocks on problems in which an array has more elements than 32 bits can count, for each array
// that can in the description's ranges. If the largest problem cannot be launched, that is reported, for the
// untuned kernel.
std::optional<CheckFailure> WatchedCheck::check_large(const Variant& variant, const ProblemArrays& asked,
                                                      const Values& constants) {
  // An index can exceed 32 bits only if the array is at most this many threads below that size.
  constexpr std::int64_t most_of_a_block = 1 << 16;
  const auto& [tmpl, config, source, binary] = variant;
  const std::optional<Problem> largest = largest_problem(op_, asked.problem(), constants);
  if (!largest || why_not(tmpl, *largest, device_.facts())) return std::nullopt;
  if (!tmpl.space(*largest, device_.facts()).find(config.values())) return std::nullopt;
  const std::vector<Step> steps = tmpl.work(*largest, config, device_.facts()).steps;
  const bool is_cooperative = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const auto* launch = std::get_if<Launch>(&step);
    return launch != nullptr && launch->is_cooperative;
  });
  if (is_cooperative) return std::nullopt;  // its grid is as large as a GPU, not as the problem
  if (const auto why = exceeds(tmpl.work(*largest, config, device_.facts()), device_.facts())) {
    if (config.values() != base_config(op_, *largest, device_.facts()).values()) return std::nullopt;
    return CheckFailure{Verdict::launch_error,
                        "It cannot be launched on " + largest->text() +
                            ", which is in the description's range: " + *why +
                            " Give a parameter a smaller maximum, or let a block do more."};
  }
  std::vector<Problem> all;
  for (std::size_t i = 0; i < op_.arguments.size(); ++i) {
    if (elements(op_.arguments[i], *largest) < most_of_32_bits - most_of_a_block) continue;
    Problem large = smaller(*largest, i, variant, constants);
    if (std::find(all.begin(), all.end(), large) == all.end()) all.push_back(std::move(large));
  }
  // Products of sizes that are no array's extents may overflow too.
  if (all.empty()) all.push_back(*largest);
  const std::uint64_t most = 2 * most_on_problem / std::max<std::size_t>(2, all.size());
  for (const Problem& large : all)
    if (auto failure = check_on(large, variant, most, asked)) return failure;
  return std::nullopt;
}

// Finds arithmetic that overflows there but not on small problems, and accesses that miss their array. Inputs
// that are as large on the asked problem, such as one struct of sizes, hold what they hold there.
std::optional<CheckFailure> WatchedCheck::check_on(const Problem& large, const Variant& variant,
                                                   std::uint64_t most, const ProblemArrays& asked) {
  const auto& [tmpl, config, source, binary] = variant;
  Work work = spread_out(tmpl.work(large, config, device_.facts()));
  if (exceeds(work, device_.facts())) return std::nullopt;
  // All memory is zeros already; to fill it would take as much.
  std::erase_if(work.steps, [](const Step& step) { return std::holds_alternative<Zero>(step); });
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  std::vector<SparseMemory> memory;
  std::vector<Watcher::Array> arrays;
  std::vector<void*> pointers;
  for (const Argument& argument : op_.arguments) {
    const DType dtype = argument.dtype(large);
    const std::int64_t size = elements(argument, large) * bytes(dtype);
    char* const start = memory.emplace_back(size).get();
    if (start == nullptr) return std::nullopt;
    const ProblemArrays::Array& known = asked.arrays()[memory.size() - 1];
    if (const auto index = largest_index(argument, large))
      memory.back().fill(pack(dtype, std::vector{*index}));
    else if (argument.role == Role::input && known.initial && known.live.bytes() == size)
      device_.copy(start, known.initial->get(), size);
    arrays.push_back(Watcher::Array::of(argument.name, start, size, dtype, record_of(op_, argument)));
    pointers.push_back(start);
  }
  char* const workspace = memory.emplace_back(work.workspace_bytes).get();
  if (workspace == nullptr) return std::nullopt;
  add_workspace(work, workspace, arrays);
  Watcher watcher;
  watcher.choose = [](std::int64_t blocks) {
    std::vector<std::int64_t> some = {blocks - 1, 0, blocks / 2, blocks / 2 + 1, blocks * 3 / 4, 1};
    std::erase_if(some, [&](std::int64_t block) { return block >= blocks; });
    return some;
  };
  executable->emulate(false, Poison::nan);
  watcher.begin(set_watch(*executable, watcher.hooks(), binary), std::move(arrays), false, most);
  executable->launch(pointers.data(), workspace, nullptr);
  watcher.end();
  set_watch(*executable, nullptr, binary);
  for (const Watcher::Spot& spot : watcher.overflows()) {
    if (overflows_.contains(spot)) continue;
    const std::string line = spot.first + ":" + std::to_string(spot.second);
    // The host's version of an operation that wraps on a GPU.
    if (located(line, source.text, files_of(op_)).starts_with("common/")) continue;
    return CheckFailure{Verdict::wrong_result,
                        located(line, source.text) + ": Arithmetic on " + (wraps_ ? "" : "signed ") +
                            "integers overflows on " + large.text() +
                            ", which is in the description's range: compute it in 64 bits, as "
                            "size_t, or give a parameter a smaller maximum."};
  }
  const Watcher::Finding& found = watcher.finding();
  if (found.kind == Watcher::FindingKind::outside)
    return CheckFailure{Verdict::out_of_bounds,
                        found.sentence + ", on " + large.text() + ", which is in the description's range."};
  return std::nullopt;
}

std::optional<CheckFailure> WatchedCheck::run_on(ProblemArrays& on, const Variant& variant,
                                                 std::uint64_t most, bool& lost) {
  const auto& [tmpl, config, source, binary] = variant;
  const Work work = spread_out(tmpl.work(on.problem(), config, device_.facts()));
  if (exceeds(work, device_.facts())) return std::nullopt;
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  // Each array lies at a multiple of the alignment that the variant asks for, and not of more.
  constexpr std::int64_t most_aligned = 256;
  std::vector<Watcher::Array> arrays;
  std::vector<DeviceMemory> memory;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    const ProblemArrays::Array& array = on.arrays()[i];
    const std::int64_t size = array.live.bytes(), element = array.element_alignment();
    // A smaller array is aligned no more than its size allows: other arrays may be of wider types.
    const std::int64_t alignment = std::max(
        element, std::min(on.alignment(),
                          static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)))));
    DeviceMemory& one = memory.emplace_back(device_, size + alignment, most_aligned);
    char* const start = one.as<char>() + alignment % most_aligned;
    if (array.initial) {
      device_.copy(start, array.initial->get(), size);
    } else {
      device_.fill(start, byte_of(Poison::nan), size);
    }
    arrays.push_back(watched(op_.arguments[i].name, array, start));
    pointers.push_back(start);
  }
  const DeviceMemory workspace(device_, work.workspace_bytes);
  device_.fill(workspace.get(), byte_of(Poison::nan), work.workspace_bytes);
  add_workspace(work, workspace.as<const char>(), arrays);
  Watcher watcher;
  executable->emulate(false, Poison::nan);
  watcher.begin(set_watch(*executable, watcher.hooks(), binary), std::move(arrays), true, most);
  const int error = executable->launch(pointers.data(), workspace.get(), nullptr);
  watcher.end();
  set_watch(*executable, nullptr, binary);
  accesses_ += watcher.accesses();
  overflows_.insert(watcher.overflows().begin(), watcher.overflows().end());
  const Watcher::Finding& found = watcher.finding();
  if (found.kind != Watcher::FindingKind::none)
    return CheckFailure{
        found.kind == Watcher::FindingKind::outside ? Verdict::out_of_bounds : Verdict::wrong_result,
        located(found.sentence, source.text) + ", on " + on.where() + "."};
  if (error == host_fault) {
    lost = true;  // the kernel stopped midway
    return on.fault(host_fault_address(), workspace.get(), work.workspace_bytes);
  }
  if (!watcher.stuck().empty()) return endless(watcher, "", source, on);
  if (error == 0 && !watcher.has_reached_limit() && !unset_) unset_ = compared(on, pointers);
  if (!watcher.waits()) return std::nullopt;
  if (auto failure = in_reverse(on, variant)) return failure;
  if (!watcher.has_signals()) return std::nullopt;
  has_signals_ = true;
  return among_late_blocks(on, variant, watcher, false, lost);
}

// Compares outputs that were written elsewhere.
std::optional<CheckFailure> WatchedCheck::compared(ProblemArrays& on, const std::vector<void*>& outputs) {
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    const ProblemArrays::Array& array = on.arrays()[i];
    if (!array.expected) continue;
    device_.copy(array.live.get(), outputs[i], array.live.bytes());
    const Comparison comparison = on.compare(i);
    if (!differs_clearly(comparison)) continue;
    return CheckFailure{Verdict::wrong_result,
                        on.difference(i, comparison) + ", on " + on.where() +
                            ", where the variables and registers of a thread hold other values before they "
                            "are set. Is one read before it is set, such as an element of an array?"};
  }
  return std::nullopt;
}

CheckFailure WatchedCheck::endless(const Watcher& watcher, const std::string& order, const Source& source,
                                   const ProblemArrays& on) const {
  const std::string more =
      order.empty()
          ? ", which no thread makes: a lock is not released, a flag is not set, or a block is needed "
            "that has not started. Blocks can wait for each other only if all run at the same time, "
            "which needs a cooperative launch"
          : order;
  return {Verdict::launch_error, located(watcher.stuck(), source.text) + more + ", on " + on.where() + "."};
}

// Watches the variant on the problem's own arrays, which hold what they do before a launch.
int WatchedCheck::watch_on(ProblemArrays& on, Watcher& watcher, Executable& executable,
                           const std::string& binary, const Work& work, void* workspace, bool races,
                           std::uint64_t most) {
  on.restore_inputs();
  on.reset(Poison::nan);
  std::vector<Watcher::Array> arrays;
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    const ProblemArrays::Array& array = on.arrays()[i];
    arrays.push_back(watched(op_.arguments[i].name, array, array.live.as<char>()));
  }
  add_workspace(work, static_cast<const char*>(workspace), arrays);
  executable.emulate(false, Poison::nan);
  watcher.begin(set_watch(executable, watcher.hooks(), binary), std::move(arrays), races, most);
  const int error = executable.launch(on.pointers(), workspace, nullptr);
  watcher.end();
  set_watch(executable, nullptr, binary);
  return error;
}

// A kernel whose blocks wait for blocks with lower numbers never ends if the highest run first. A GPU starts
// blocks in ascending order, but does not promise to.
std::optional<CheckFailure> WatchedCheck::in_reverse(ProblemArrays& on, const Variant& variant) {
  const auto& [tmpl, config, source, binary] = variant;
  const Work work = tmpl.work(on.problem(), config, device_.facts());
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  const DeviceMemory workspace(device_, work.workspace_bytes);
  device_.fill(workspace.get(), byte_of(Poison::nan), work.workspace_bytes);
  Watcher watcher;
  watcher.choose = [](std::int64_t blocks) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(blocks));
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = blocks - 1 - static_cast<std::int64_t>(n);
    return all;
  };
  const int error =
      watch_on(on, watcher, *executable, binary, work, workspace.get(), false, most_on_companions);
  const bool is_whole = error == 0 && watcher.stuck().empty() && !watcher.has_reached_limit() &&
                        watcher.finding().kind == Watcher::FindingKind::none;
  for (std::size_t i = 0; i < on.arrays().size() && is_whole; ++i) {
    if (!on.arrays()[i].expected) continue;
    const Comparison comparison = on.compare(i);
    if (!differs_clearly(comparison)) continue;
    CheckFailure failure{Verdict::wrong_result,
                         on.difference(i, comparison) + ", on " + on.where() +
                             ", with blocks in reverse and the lanes of a warp in step. Another thread may "
                             "change what a thread has looked at before its atomic operation, and blocks "
                             "run in any order."};
    // A result that is wrong in the usual order too is told by the launch that is not watched.
    on.restore_inputs();
    on.reset(Poison::nan);
    device_.fill(workspace.get(), byte_of(Poison::nan), work.workspace_bytes);
    if (executable->launch(on.pointers(), workspace.get(), nullptr) != 0 || on.compare(i).wrong > 0) break;
    return failure;
  }
  if (watcher.has_reached_limit()) blocks_wait_ = true;  // or it is slow
  if (watcher.stuck().empty()) return std::nullopt;
  blocks_wait_ = true;
  if (op_.user_kernel == nullptr || op_.user_kernel->blocks_in_order) return std::nullopt;
  return endless(
      watcher,
      ", for which a block with a lower number is needed: CUDA promises no order of blocks, so that "
      "one may not have started. Let an atomic counter give each block its number, or, as GPUs start "
      "blocks in ascending order today, say blocks_in_order = true in the description",
      source, on);
}

// Notes of more blocks than a block has threads may be cleared only in part, and a look-back may go beyond
// its first notes: runs the variant on the companion with the most elements too.
std::optional<CheckFailure> WatchedCheck::among_many_blocks(std::span<ProblemArrays> companions,
                                                            const Variant& variant, bool& lost) {
  const auto& [tmpl, config, source, binary] = variant;
  const Values constants = compiled_in(op_, tmpl, companions.empty() ? Problem{} : companions[0].problem());
  ProblemArrays* largest = nullptr;
  for (ProblemArrays& one : companions)
    if (one.set() == 0 && serves(op_, tmpl, config, one.problem(), device_.facts(), constants) &&
        (largest == nullptr || bytes_moved(op_, one.problem()) > bytes_moved(op_, largest->problem())))
      largest = &one;
  if (largest == nullptr || exceeds(tmpl.work(largest->problem(), config, device_.facts()), device_.facts()))
    return std::nullopt;
  Watcher watcher;
  return among_late_blocks(*largest, variant, watcher, true, lost);
}

// Runs the variant as if the blocks for which others wait were late. `are_many`: once only.
std::optional<CheckFailure> WatchedCheck::among_late_blocks(ProblemArrays& on, const Variant& variant,
                                                            Watcher& watcher, bool are_many, bool& lost) {
  const auto& [tmpl, config, source, binary] = variant;
  const Work work = tmpl.work(on.problem(), config, device_.facts());
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  const DeviceMemory workspace(device_, work.workspace_bytes);
  struct Launch {
    Watcher::Older older;
    bool follows;  // it finds in workspaces and variables what the launch before left there
  };
  for (const auto& [older, follows] :
       {Launch{Watcher::Older::all, false}, Launch{Watcher::Older::first, false},
        Launch{Watcher::Older::first, true}}) {
    if (are_many && (older == Watcher::Older::all || follows)) continue;
    const char* const when = follows ? "In a second launch, which finds what the first one left: " : "";
    if (!follows) device_.fill(workspace.get(), byte_of(Poison::nan), work.workspace_bytes);
    watcher.older = older;
    const int error = watch_on(on, watcher, *executable, binary, work, workspace.get(), true,
                               are_many ? most_of_late : most_on_companions);
    const std::string where = ", on " + on.where() + ", with blocks that run at the same time.";
    if (watcher.finding().kind != Watcher::FindingKind::none)
      return CheckFailure{watcher.finding().kind == Watcher::FindingKind::outside ? Verdict::out_of_bounds
                                                                                  : Verdict::wrong_result,
                          when + located(watcher.finding().sentence, source.text) + where};
    if (!watcher.stuck().empty())
      return CheckFailure{Verdict::launch_error,
                          when + located(watcher.stuck(), source.text) + ", which does not come" + where};
    if (watcher.has_reached_limit()) return std::nullopt;
    if (error == host_fault) {
      lost = true;  // the kernel stopped midway
      return on.fault(host_fault_address(), workspace.get(), work.workspace_bytes);
    }
    if (error != 0) return std::nullopt;  // told by the launch that is not watched
    for (std::size_t i = 0; i < on.arrays().size(); ++i) {
      if (!on.arrays()[i].expected) continue;
      const Comparison comparison = on.compare(i);
      if (comparison.wrong == 0) continue;
      const std::string difference = on.difference(i, comparison);
      if (!follows) {
        Watcher in_order;
        device_.fill(workspace.get(), byte_of(Poison::nan), work.workspace_bytes);
        if (watch_on(on, in_order, *executable, binary, work, workspace.get(), false, most_on_companions) ==
                0 &&
            on.compare(i).wrong > 0)
          return std::nullopt;  // told by the launch that is not watched, with its own cause
      }
      return CheckFailure{Verdict::wrong_result,
                          when + difference + where +
                              " A block takes what another one has not written yet: is a flag set before the "
                              "launch, or not cleared, or read without its data?"};
    }
  }
  return std::nullopt;
}

}  // namespace tunesmith
