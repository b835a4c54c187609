#include "tuner/checker.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "generator/ops.h"
#include "tuner/check_data.h"
#include "tuner/policy.h"

namespace tunesmith {
namespace {

// The element with that index.
std::string text_at(Device& device, const DeviceMemory& array, DType dtype, std::int64_t index) {
  std::array<char, 16> element{};
  device.download(element.data(), static_cast<const char*>(array.get()) + bytes(dtype) * index, bytes(dtype));
  return element_text(dtype, element.data());
}

bool is_input(Role role) { return role != Role::output; }
bool is_output(Role role) { return role != Role::input; }

// NaN in every floating-point type, so that an output that was not written compares with nothing.
constexpr unsigned char nan_poison = byte_of(Poison::nan);

// On the host the problem is also run with its threads in reverse order, where that costs little.
constexpr double cheap_run_s = 0.05;

// A variant is not timed at all whose checked launch took so many times as long as what timing gives up
// above, which is 1.5 times the best: 100 times the best. A first launch also pays for the loading of its
// kernel.
constexpr double hopeless = 67;
constexpr double least_hopeless_us = 10'000;

// A watched launch is slow, and where something is wrong it says so early.
constexpr std::chrono::duration<double> watched_companions_limit{0.3}, watched_problem_limit{0.6};

// Guard bytes and alignment of workspaces cost memory, so few sizes are kept.
constexpr std::size_t kept_workspaces = 12;

std::int64_t largest_dynamic_shared(const Work& work) {
  std::int64_t largest = 0;
  for (const Step& step : work.steps) {
    if (const auto* launch = std::get_if<Launch>(&step))
      largest = std::max(largest, launch->dynamic_shared_bytes);
  }
  return largest;
}

// "3 elements beyond the end of y"; empty if nothing was written there.
std::string outside(const Outside& written, std::int64_t element, const std::string& unit,
                    const std::string& what) {
  const auto counted = [&](std::int64_t bytes) {
    const std::int64_t count = (bytes + element - 1) / element;
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  if (written.after > 0) return counted(written.after) + " beyond the end of " + what;
  if (written.before > 0) return counted(written.before) + " before the start of " + what;
  return "";
}

bool overlaps(const Work& work) {
  return std::any_of(work.steps.begin(), work.steps.end(), [](const Step& step) {
    const auto* launch = std::get_if<Launch>(&step);
    return launch != nullptr && launch->overlaps_previous;
  });
}

Verdict verdict_of(LoadError::Kind kind) {
  switch (kind) {
    case LoadError::Kind::resources:
    case LoadError::Kind::busy:
      return Verdict::resource_limit;
    case LoadError::Kind::refused:
      break;
  }
  return Verdict::launch_error;
}

}  // namespace

std::string coordinates(std::int64_t index, const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(extents[axis], 1);
    text = std::to_string(axis == 0 ? index : index % extent) + (text.empty() ? "" : ", ") + text;
    index /= extent;
  }
  return "[" + text + "]";
}

Checker::Checker(Device& device, const Op& op, const std::vector<CheckPart>& parts)
    : device_(device), op_(op), host_(device.facts().kind == "host"), asked_(prepare(parts.front())) {
  for (const CheckPart& companion : std::span(parts).subspan(1)) companions_.push_back(prepare(companion));
}

Checker::Prepared Checker::prepare(const CheckPart& part) {
  Prepared prepared;
  prepared.problem = part.problem;
  prepared.set = part.set;
  const auto uploaded = [this](const auto& values) {
    const auto size = static_cast<std::int64_t>(values.size_bytes());
    DeviceMemory memory(device_, size);
    device_.upload(memory.get(), values.data(), size);
    return memory;
  };
  for (std::size_t i = 0; i < op_.arguments.size(); ++i) {
    const Argument& argument = op_.arguments[i];
    const DType dtype = argument.dtype(part.problem);
    const std::int64_t count = elements(argument, part.problem);
    Array array{count,        dtype,        argument.role, DeviceMemory(device_, count * bytes(dtype)),
                std::nullopt, std::nullopt, std::nullopt};
    if (is_input(argument.role)) {
      array.initial = uploaded(part.arrays[i].initial);
      device_.copy(array.live.get(), array.initial->get(), array.live.bytes());
    }
    if (is_output(argument.role)) {
      array.expected = uploaded(part.arrays[i].expected);
      array.permitted = uploaded(part.arrays[i].permitted);
    }
    if (argument.role == Role::inout) prepared.repeatable = false;
    prepared.pointers.push_back(array.live.get());
    prepared.arrays.push_back(std::move(array));
  }
  return prepared;
}

std::string Checker::where(const Prepared& on) const {
  return on.problem.text() + (on.set > 0 ? ", where " + words(op_, on.set) : "");
}

void* Checker::workspace(std::int64_t bytes) {
  if (bytes <= 0) return nullptr;
  auto found = workspaces_.find(bytes);
  if (found == workspaces_.end()) {
    if (workspaces_.size() >= kept_workspaces) workspaces_.clear();
    found = workspaces_.emplace(bytes, DeviceMemory(device_, bytes)).first;
  }
  return found->second.get();
}

void Checker::prepare_workspace(void* space, const Work& work, Poison poison) {
  device_.fill(space, byte_of(poison), work.workspace_bytes);
  device_.fill(space, 0, work.zeroed_bytes);
}

// A GPU's memory is aligned to 256 bytes anyway. The host's ends where nothing can be read, so it is aligned
// as the variant asks and no more; an array that is smaller than that, as its elements are.
void Checker::align(Prepared& on, std::int64_t bytes) {
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    Array& array = on.arrays[i];
    const std::int64_t size = array.live.bytes(), element = tunesmith::bytes(array.dtype);
    array.live = DeviceMemory(device_, size, size < bytes ? element : std::max(bytes, element));
    if (array.initial) restore(array);
    on.pointers[i] = array.live.get();
  }
}

void Checker::restore(Array& array) {
  device_.copy(array.live.get(), array.initial->get(), array.live.bytes());
}

// Inputs as they were: a kernel that is wrong may have changed them.
void Checker::restore_inputs(Prepared& on) {
  for (Array& array : on.arrays)
    if (array.role == Role::input) restore(array);
}

// Outputs poisoned, inouts as they were. Inputs are restored behind a variant that failed (judge()).
void Checker::reset(Prepared& on, Poison poison) {
  for (Array& array : on.arrays) {
    if (array.role == Role::output) device_.fill(array.live.get(), byte_of(poison), array.live.bytes());
    if (array.role == Role::inout) restore(array);
  }
}

std::optional<Checker::Failure> Checker::run(Prepared& on, Executable& executable, const Work& work,
                                             MeasureReply& reply) {
  void* const space = workspace(work.workspace_bytes);
  reset(on, poison(on));
  if (space != nullptr) prepare_workspace(space, work, poison(on));
  executable.emulate(on.reverse, poison(on));
  set_block_order(executable, block_order(on.reverse));
  on.launched = std::chrono::steady_clock::now();
  auto failure = after(on, executable.launch(on.pointers.data(), space, nullptr), executable, work, reply);
  if (failure && host_ && failure->verdict == Verdict::wrong_result)
    failure->reason += cause(on, executable, work, reply);
  return failure;
}

// Of a wrong result on the host, what it depends on, as a sentence: the same launch again with one thing
// changed at a time.
std::string Checker::cause(Prepared& on, Executable& executable, const Work& work, MeasureReply& reply) {
  struct Result {
    bool ran = false;
    std::vector<Comparison> outputs;
  };
  void* const space = workspace(work.workspace_bytes);
  const auto result = [&](bool reverse, BlockOrder order, Poison poison) {
    Result made;
    if (reply.lost) return made;
    restore_inputs(on);
    reset(on, poison);
    if (space != nullptr) prepare_workspace(space, work, poison);
    executable.emulate(reverse, poison);
    set_block_order(executable, order);
    const int error = executable.launch(on.pointers.data(), space, nullptr);
    made.ran = error == 0;
    reply.lost = error == host_fault;  // the kernel was left where it was
    if (!made.ran) return made;
    for (const Array& array : on.arrays) {
      if (is_output(array.role))
        made.outputs.push_back(device_.compare(
            array.live.get(), is_exact(op_, array.dtype) ? DType::b64 : array.dtype,
            static_cast<const double*>(array.expected->get()), array.permitted->get(), array.elements));
    }
    return made;
  };
  const BlockOrder order = block_order(on.reverse);
  const Poison filled = poison(on);
  const Result first = result(on.reverse, order, filled);
  // Sums in another order may differ in their last digits, which is no fault.
  constexpr double alike = 1e-3;
  const auto differs = [&](const Result& other) {
    if (!first.ran || !other.ran) return false;
    for (std::size_t i = 0; i < first.outputs.size(); ++i) {
      const Comparison &a = first.outputs[i], &b = other.outputs[i];
      if (a.wrong == 0 && b.wrong == 0) continue;
      if (a.first_wrong != b.first_wrong || std::isnan(a.got) != std::isnan(b.got)) return true;
      if (std::abs(a.got - b.got) > alike * std::max(std::abs(a.got), std::abs(b.got))) return true;
    }
    return false;
  };
  std::string text;
  if (differs(result(!on.reverse, order, filled)))
    text = " It depends on the order of threads: is a barrier missing?";
  else if (!blocks_wait_ && (differs(result(on.reverse, BlockOrder::scattered, filled)) ||
                             differs(result(on.reverse, block_order(!on.reverse), filled))))
    text = " It depends on the order of blocks, which run in any order and at the same time.";
  else if (differs(result(on.reverse, order, filled == Poison::nan ? Poison::large : Poison::nan)))
    text =
        " It depends on what memory held before: it reads memory that was never written, or leaves an output "
        "unwritten.";
  executable.emulate(false, Poison::nan);
  set_block_order(executable, BlockOrder::ascending);
  return text;
}

// Behind a kernel that writes late what every argument and the workspace must hold before the launch. Until
// then they hold poison, and what an output got too early is overwritten.
std::optional<Checker::Failure> Checker::run_behind(Prepared& on, Executable& executable, const Work& work,
                                                    MeasureReply& reply) {
  std::vector<LateWrite> writes;
  for (Array& array : on.arrays) {
    device_.fill(array.live.get(), nan_poison, array.live.bytes());
    writes.push_back({.to = array.live.get(),
                      .from = is_input(array.role) ? array.initial->get() : nullptr,
                      .byte = nan_poison,
                      .bytes = array.live.bytes()});
  }
  void* const space = workspace(work.workspace_bytes);
  if (space != nullptr) {
    device_.fill(space, nan_poison, work.workspace_bytes);
    writes.push_back({.to = space, .byte = 0, .bytes = work.zeroed_bytes});
  }
  on.launched = std::chrono::steady_clock::now();
  const int error = device_.launch_behind(writes, executable, on.pointers.data(), space);
  auto failure = after(on, error, executable, work, reply);
  if (failure && failure->verdict == Verdict::wrong_result) {
    failure->reason =
        "Behind a kernel that writes its arguments late it is wrong, so it does not wait for the kernel "
        "before it: " +
        failure->reason;
  }
  return failure;
}

// What a launch that answered `error` has done.
std::optional<Checker::Failure> Checker::after(Prepared& on, int error, Executable& executable,
                                               const Work& work, MeasureReply& reply) {
  if (host_ && error == host_fault) {
    reply.lost = true;  // the kernel was left where it was
    return fault(on, work);
  }
  if (error != 0) {
    const bool overrun = host_ && error == host_shared_overrun;
    return Failure{overrun ? Verdict::out_of_bounds : Verdict::launch_error,
                   "The launch failed on " + where(on) + ": " + executable.describe(error) + "."};
  }
  try {
    device_.synchronize();
  } catch (const Error& error) {
    reply.lost = true;
    return Failure{Verdict::crash, "The kernel failed while it ran on " + where(on) + ": " + error.what()};
  }
  on.launch_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - on.launched).count();
  return inspect(on, work, reply);
}

// After an access to memory that is not there.
Checker::Failure Checker::fault(const Prepared& on, const Work& work) {
  const auto* const address = static_cast<const char*>(host_fault_address());
  const auto beyond = [&](const void* memory, std::int64_t bytes, std::int64_t element,
                          const std::string& unit, const std::string& what) {
    const std::int64_t at = address - static_cast<const char*>(memory);
    const std::string is = at < 0 ? "before the start of " + what
                                  : unit + " " + std::to_string(at / element) + " of " + what +
                                        ", which has " + std::to_string(bytes / element);
    return Failure{Verdict::out_of_bounds, "The variant accessed " + is + ", on " + where(on) + "."};
  };
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    const Array& array = on.arrays[i];
    if (device_.guards(array.live.get(), address))
      return beyond(array.live.get(), array.live.bytes(), bytes(array.dtype), "element",
                    op_.arguments[i].name);
  }
  if (work.workspace_bytes > 0 && device_.guards(workspace(work.workspace_bytes), address))
    return beyond(workspace(work.workspace_bytes), work.workspace_bytes, 1, "byte", "the workspace");
  return {Verdict::crash, "The kernel accessed memory that is not there, on " + where(on) + "."};
}

// What was written outside of its arrays and the workspace, "3 elements beyond the end of y"; empty: nothing.
std::string Checker::written_beyond(Prepared& on, std::int64_t workspace_bytes) {
  std::string beyond;
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    const std::int64_t element = bytes(on.arrays[i].dtype);
    const Outside written = device_.written_outside(on.arrays[i].live.get());
    if (beyond.empty()) beyond = outside(written, element, "element", op_.arguments[i].name);
  }
  if (beyond.empty() && workspace_bytes > 0)
    beyond = outside(device_.written_outside(workspace(workspace_bytes)), 1, "byte", "the workspace");
  return beyond;
}

std::optional<Checker::Failure> Checker::inspect_guards(Prepared& on, const Work& work, MeasureReply& reply) {
  const std::string where = " on " + this->where(on) + ".";
  const std::string beyond = written_beyond(on, work.workspace_bytes);
  if (beyond.empty() && !zeroed_part_is_zero(work)) {
    return Failure{Verdict::wrong_result,
                   "The variant did not leave the start of its workspace zero, as it found it," + where};
  }
  if (beyond.empty()) return std::nullopt;
  reply.lost = true;  // what else it wrote to is not known
  return Failure{Verdict::out_of_bounds, "The variant wrote " + beyond + where};
}

// What a launch left behind: guards, inputs, outputs.
std::optional<Checker::Failure> Checker::inspect(Prepared& on, const Work& work, MeasureReply& reply) {
  if (auto failure = inspect_guards(on, work, reply)) return failure;
  const std::string where = " on " + this->where(on) + ".";
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    const Array& array = on.arrays[i];
    if (array.role != Role::input) continue;
    if (!device_.equal(array.live.get(), array.initial->get(), array.live.bytes()))
      return Failure{Verdict::wrong_result, "The variant changed its input " + op_.arguments[i].name + where};
  }
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    const Array& array = on.arrays[i];
    if (!is_output(array.role)) continue;
    const Comparison comparison = device_.compare(
        array.live.get(), is_exact(op_, array.dtype) ? DType::b64 : array.dtype,
        static_cast<const double*>(array.expected->get()), array.permitted->get(), array.elements);
    reply.compared = true;
    reply.max_error = std::max(reply.max_error, comparison.max_error);
    if (comparison.wrong == 0) continue;
    const std::int64_t each = permitted_bytes(array.dtype);
    std::array<char, sizeof(double)> permitted{};
    device_.download(permitted.data(),
                     static_cast<const char*>(array.permitted->get()) + each * comparison.first_wrong, each);
    const Argument& argument = op_.arguments[i];
    return Failure{
        Verdict::wrong_result,
        argument.name + coordinates(comparison.first_wrong, argument.extents(on.problem)) + " is " +
            text_at(device_, array.live, array.dtype, comparison.first_wrong) + ", expected " +
            text_at(device_, *array.expected, is_exact(op_, array.dtype) ? array.dtype : DType::f64,
                    comparison.first_wrong) +
            " within " + number_text(unpack_permitted(array.dtype, permitted.data())) + "; " +
            std::to_string(comparison.wrong) + " of " + std::to_string(array.elements) +
            (comparison.wrong == 1 ? " elements is wrong" : " elements are wrong") + where};
  }
  return std::nullopt;
}

bool Checker::zeroed_part_is_zero(const Work& work) {
  if (work.zeroed_bytes == 0) return true;
  std::string part(static_cast<std::size_t>(work.zeroed_bytes), '\0');
  device_.download(part.data(), workspace(work.workspace_bytes), work.zeroed_bytes);
  return part.find_first_not_of('\0') == std::string::npos;
}

// Whether the variant that is compiled for the problem can also run on the companion.
bool Checker::serves(const Template& tmpl, const Config& config, const Prepared& companion,
                     const Values& constants) const {
  return !why_not(tmpl, companion.problem, device_.facts()) &&
         tmpl.space(companion.problem, device_.facts()).find(config.values()) &&
         compiled_in(op_, tmpl, companion.problem) == constants;
}

std::optional<Checker::Failure> Checker::check_companions(const Template& tmpl, const Config& config,
                                                          const Executable& loaded, MeasureReply& reply) {
  const Values constants = compiled_in(op_, tmpl, asked_.problem);
  for (Prepared& companion : companions_) {
    if (!serves(tmpl, config, companion, constants)) continue;
    const Work work = tmpl.work(companion.problem, config, device_.facts());
    if (exceeds(work, device_.facts(), reply.static_shared_bytes)) continue;
    const std::unique_ptr<Executable> executable = loaded.with(work);
    for (const bool reverse : {false, true}) {
      if (reverse && !host_) continue;
      companion.reverse = reverse;
      if (auto failure = run(companion, *executable, work, reply)) return failure;
    }
  }
  return std::nullopt;
}

// A described kernel is compiled once more, so that each of its accesses is told.
std::optional<Checker::Failure> Checker::check_watched(const Template& tmpl, const Config& config,
                                                       MeasureReply& reply) {
  if (!watched_toolchain_) watched_toolchain_ = make_watched_toolchain();
  if (!watched_toolchain_) return std::nullopt;
  const Source source = render(op_, tmpl, asked_.problem, config, "host");
  const Compiled compiled = watched_toolchain_->compile(source);
  // What this compiler does not know how to watch is checked without.
  if (!compiled.ok) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  blocks_wait_ = false;
  overflows_.clear();
  const Values constants = compiled_in(op_, tmpl, asked_.problem);
  for (Prepared& companion : companions_) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spent > watched_companions_limit) break;
    if (companion.set > 0 || !serves(tmpl, config, companion, constants)) continue;
    if (auto failure =
            run_watched(companion, tmpl, config, source, compiled.bytes, watched_companions_limit, reply))
      return failure;
  }
  if (auto failure = run_watched(asked_, tmpl, config, source, compiled.bytes, watched_problem_limit, reply))
    return failure;
  return check_large(tmpl, config, source, compiled.bytes);
}

namespace {

// An array of zeros of which only what is touched becomes memory.
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
  char* get() const { return start_ == MAP_FAILED ? nullptr : static_cast<char*>(start_); }

 private:
  std::size_t bytes_;
  void* start_;
};

std::int64_t largest_array(const Op& op, const Problem& problem) {
  std::int64_t largest = 0;
  for (const Argument& argument : op.arguments) largest = std::max(largest, elements(argument, problem));
  return largest;
}

bool is_allowed(const Op& op, const Problem& problem) {
  try {
    static_cast<void>(complete_problem(op, problem));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

// The largest problem of those that the description names as usual, with what `constants` fixes as it is; of
// parameters without a range nothing is claimed.
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

// Some blocks of a launch on arrays of more elements than 32 bits count, where the description has them in
// its ranges: does arithmetic overflow that does not on small problems, and does an access miss its array?
// Where the largest problem cannot be launched that is told, of the untuned kernel.
std::optional<Checker::Failure> Checker::check_large(const Template& tmpl, const Config& config,
                                                     const Source& source, const std::string& binary) {
  constexpr std::int64_t most_of_32_bits = std::int64_t{1} << 31;
  constexpr std::int64_t most_of_a_block = 1 << 16;  // threads and more than that it takes to pass it
  const Values constants = compiled_in(op_, tmpl, asked_.problem);
  std::optional<Problem> large = largest_problem(op_, asked_.problem, constants);
  if (!large || why_not(tmpl, *large, device_.facts())) return std::nullopt;
  if (!tmpl.space(*large, device_.facts()).find(config.values())) return std::nullopt;
  const std::string which = large->text() + ", which is in the description's range";
  if (const auto why = exceeds(tmpl.work(*large, config, device_.facts()), device_.facts())) {
    if (config.values() != base_config(op_, *large, device_.facts()).values()) return std::nullopt;
    return Failure{Verdict::launch_error, "It cannot be launched on " + which + ": " + *why +
                                              " Give a parameter a smaller maximum, or let a block do more."};
  }
  if (largest_array(op_, *large) < most_of_32_bits - most_of_a_block) return std::nullopt;
  // As small as passes 2^31 well, so that a block has less to do.
  for (const Parameter& parameter : op_.parameters) {
    while (parameter.is_integer() && constants.find(parameter.name) == nullptr) {
      Problem smaller = *large;
      smaller.set(parameter.name, std::get<std::int64_t>(*large->find(parameter.name)) / 2);
      if (!is_allowed(op_, smaller) || largest_array(op_, smaller) < most_of_32_bits * 3 / 2 ||
          !tmpl.space(smaller, device_.facts()).find(config.values()))
        break;
      large = smaller;
    }
  }
  const Work work = tmpl.work(*large, config, device_.facts());
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  std::vector<SparseMemory> memory;
  std::vector<Watcher::Array> arrays;
  std::vector<void*> pointers;
  for (const Argument& argument : op_.arguments) {
    const std::int64_t element = bytes(argument.dtype(*large)), size = elements(argument, *large) * element;
    char* const start = memory.emplace_back(size).get();
    if (start == nullptr) return std::nullopt;
    arrays.push_back({argument.name, start, size, element});
    pointers.push_back(start);
  }
  Watcher watcher;
  watcher.choose = [](std::int64_t blocks) {
    std::vector<std::int64_t> some = {blocks - 1, 0, blocks / 2, blocks / 2 + 1, blocks * 3 / 4, 1};
    std::erase_if(some, [&](std::int64_t block) { return block >= blocks; });
    return some;
  };
  executable->emulate(false, Poison::nan);
  watcher.begin(set_watch(*executable, watcher.hooks(), binary), std::move(arrays), false,
                watched_problem_limit);
  executable->launch(pointers.data(), nullptr, nullptr);
  watcher.end();
  set_watch(*executable, nullptr, binary);
  for (const Watcher::Spot& spot : watcher.overflows()) {
    if (overflows_.contains(spot)) continue;
    const std::string line = spot.first + ":" + std::to_string(spot.second);
    // A twin of what wraps on a GPU.
    if (located(line, source.text, files_of(op_)).starts_with("common/")) continue;
    return Failure{Verdict::wrong_result,
                   located(line, source.text) + ": Arithmetic on signed integers overflows on " +
                       large->text() +
                       ", which is in the description's range: compute it in 64 bits, as "
                       "size_t, or give a parameter a smaller maximum."};
  }
  const Watcher::Finding& found = watcher.finding();
  if (found.kind == Watcher::Kind::outside)
    return Failure{Verdict::out_of_bounds,
                   found.sentence + ", on " + large->text() + ", which is in the description's range."};
  return std::nullopt;
}

std::optional<Checker::Failure> Checker::run_watched(Prepared& on, const Template& tmpl, const Config& config,
                                                     const Source& source, const std::string& binary,
                                                     std::chrono::duration<double> limit,
                                                     MeasureReply& reply) {
  const Work work = tmpl.work(on.problem, config, device_.facts());
  if (exceeds(work, device_.facts())) return std::nullopt;
  const std::unique_ptr<Executable> executable = device_.load(binary, source.suffix, work);
  // Each array lies at a multiple of the alignment that the variant asks for, and of no more.
  constexpr std::int64_t most_aligned = 256;
  std::vector<Watcher::Array> arrays;
  std::vector<DeviceMemory> memory;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    const Array& array = on.arrays[i];
    const std::int64_t size = array.live.bytes(), element = bytes(array.dtype);
    // Of a smaller array no more than its size allows: other arrays may be of wider types.
    const std::int64_t alignment = std::max(
        element,
        std::min(alignment_, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)))));
    DeviceMemory& one = memory.emplace_back(device_, size + alignment, most_aligned);
    char* const start = one.as<char>() + alignment % most_aligned;
    if (array.initial) {
      device_.copy(start, array.initial->get(), size);
    } else {
      device_.fill(start, byte_of(Poison::nan), size);
    }
    arrays.push_back({op_.arguments[i].name, start, size, element});
    pointers.push_back(start);
  }
  Watcher watcher;
  executable->emulate(false, Poison::nan);
  watcher.begin(set_watch(*executable, watcher.hooks(), binary), std::move(arrays), true, limit);
  const int error = executable->launch(pointers.data(), nullptr, nullptr);
  watcher.end();
  set_watch(*executable, nullptr, binary);
  overflows_.insert(watcher.overflows().begin(), watcher.overflows().end());
  const Watcher::Finding& found = watcher.finding();
  if (found.kind != Watcher::Kind::none)
    return Failure{found.kind == Watcher::Kind::outside ? Verdict::out_of_bounds : Verdict::wrong_result,
                   located(found.sentence, source.text) + ", on " + where(on) + "."};
  if (error == host_fault) {
    reply.lost = true;  // the kernel was left where it was
    return fault(on, work);
  }
  if (watcher.waits()) blocks_wait_ = blocks_wait_ || !ends_in_reverse(on, *executable, binary);
  return std::nullopt;
}

// A kernel whose blocks wait for blocks with lower numbers never ends with the highest first. A GPU starts
// them in order, which is not promised.
bool Checker::ends_in_reverse(Prepared& on, Executable& executable, const std::string& binary) {
  Watcher watcher;
  reset(on, Poison::nan);
  executable.emulate(false, Poison::nan);
  watcher.choose = [](std::int64_t blocks) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(blocks));
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = blocks - 1 - static_cast<std::int64_t>(n);
    return all;
  };
  std::vector<Watcher::Array> arrays;
  for (const Array& array : on.arrays)
    arrays.push_back({"", array.live.as<char>(), array.live.bytes(), bytes(array.dtype)});
  watcher.begin(set_watch(executable, watcher.hooks(), binary), std::move(arrays), false,
                watched_companions_limit);
  executable.launch(on.pointers.data(), nullptr, nullptr);
  watcher.end();
  set_watch(executable, nullptr, binary);
  return !watcher.ran_out_of_time();
}

std::optional<Checker::Failure> Checker::judge_asked(const Template& tmpl, const Config& config,
                                                     const MeasureRequest& request, MeasureReply& reply) {
  const Work work = tmpl.work(asked_.problem, config, device_.facts());
  if (const std::int64_t wanted = alignment_bytes(tmpl, asked_.problem, config);
      host_ && wanted != alignment_) {
    alignment_ = wanted;
    align(asked_, wanted);
    for (Prepared& companion : companions_) align(companion, wanted);
  }
  const std::unique_ptr<Executable> executable = device_.load(request.binary, request.suffix, work);
  enter(reply, &MeasureReply::check_s);
  const BinaryFacts facts = executable->facts();
  reply.loaded = true;
  reply.registers = facts.registers;
  reply.static_shared_bytes = facts.static_shared_bytes;
  reply.local_bytes = facts.local_bytes;
  reply.dynamic_shared_bytes = largest_dynamic_shared(work);
  try {
    workspace(work.workspace_bytes);
  } catch (const Error& error) {
    return Failure{Verdict::resource_limit, error.what()};
  }

  if (request.check) {
    if (host_ && find_own_op(op_.name) != nullptr) {
      if (auto failure = check_watched(tmpl, config, reply)) return failure;
    }
    if (auto failure = check_companions(tmpl, config, *executable, reply)) return failure;
    const auto start = std::chrono::steady_clock::now();
    if (auto failure = run(asked_, *executable, work, reply)) return failure;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (host_ && took.count() < cheap_run_s) {
      asked_.reverse = true;
      auto failure = run(asked_, *executable, work, reply);
      asked_.reverse = false;
      if (failure) return failure;
      executable->emulate(false, Poison::nan);
      set_block_order(*executable, BlockOrder::ascending);
    }
    if (!host_ && overlaps(work)) {
      if (auto failure = run_behind(asked_, *executable, work, reply)) return failure;
    }
  }
  const Timing& timing = request.timing;
  if (timing.samples <= 0) return std::nullopt;
  if (request.check && timing.give_up_above_us > 0 &&
      asked_.launch_us > std::max(hopeless * timing.give_up_above_us, least_hopeless_us)) {
    reply.samples_us = {asked_.launch_us};
    return std::nullopt;
  }

  enter(reply, &MeasureReply::time_s);
  // Without a check the workspace has not been prepared yet.
  if (void* const space = workspace(work.workspace_bytes)) prepare_workspace(space, work, Poison::nan);
  try {
    void* const space = workspace(work.workspace_bytes);
    Timed timed = device_.time_us(*executable, asked_.pointers, space, timing);
    reply.samples_us = std::move(timed.samples_us);
    reply.clock_mhz = timed.clock_mhz;
    reply.throttled = std::move(timed.throttled);
    std::vector<std::unique_ptr<Executable>> loaded;  // each beside the others, so at another address
    const bool is_short = static_cast<int>(reply.samples_us.size()) == timing.samples &&
                          summarize(reply.samples_us).median_us < short_launch_us;
    for (int load = 1; is_short && load < request.loads; ++load) {
      loaded.push_back(device_.load(request.binary, request.suffix, work));
      timed = device_.time_us(*loaded.back(), asked_.pointers, space, timing);
      ++reply.loads;
      reply.samples_us.insert(reply.samples_us.end(), timed.samples_us.begin(), timed.samples_us.end());
    }
    if (request.energy) reply.energy_uj = device_.energy_uj(*executable, asked_.pointers, space).value_or(0);
  } catch (const Error& error) {
    reply.lost = true;
    return Failure{Verdict::crash, std::string("The kernel failed while it was timed: ") + error.what()};
  }
  enter(reply, &MeasureReply::check_s);
  // Many launches in a row must leave the same result as one: a counter in the workspace that is not reset
  // shows here. What they make of an inout is not known.
  auto failure = asked_.repeatable ? inspect(asked_, work, reply) : inspect_guards(asked_, work, reply);
  if (failure) failure->reason = "After repeated launches: " + failure->reason;
  return failure;
}

// Behind a variant that failed, so that the next one has not its fault. It may have run again to find the
// cause, and in another order it may have done more.
void Checker::clean_up(MeasureReply& reply, Failure& failure) {
  std::vector<Prepared*> all = {&asked_};
  for (Prepared& companion : companions_) all.push_back(&companion);
  std::string beyond;
  for (Prepared* each : all) {
    restore_inputs(*each);
    const std::string written = written_beyond(*each, 0);
    if (beyond.empty()) beyond = written;
  }
  for (const auto& [bytes, memory] : workspaces_)
    if (beyond.empty()) beyond = outside(device_.written_outside(memory.get()), 1, "byte", "the workspace");
  if (beyond.empty()) return;
  reply.lost = true;  // what else it wrote to is not known
  failure.reason += " Run again in another order, it also wrote " + beyond + ".";
}

// From here on the time counts as that of `phase`.
void Checker::enter(MeasureReply& reply, double MeasureReply::*phase) {
  const auto now = std::chrono::steady_clock::now();
  if (phase_ != nullptr) reply.*phase_ += std::chrono::duration<double>(now - phase_began_).count();
  phase_ = phase;
  phase_began_ = now;
}

MeasureReply Checker::judge(const MeasureRequest& request) {
  MeasureReply reply;
  const Template& tmpl = find_template(op_, request.template_name);
  std::optional<Failure> failure;
  enter(reply, &MeasureReply::load_s);
  try {
    const Space space = tmpl.space(asked_.problem, device_.facts());
    failure = judge_asked(tmpl, space.legal(Values::parse(request.config)), request, reply);
    if (failure && !reply.lost) clean_up(reply, *failure);
  } catch (const LoadError& error) {
    failure = Failure{verdict_of(error.kind), error.what()};
  } catch (const Error& error) {
    // The device's own copies and comparisons fail only after the variant has harmed it.
    reply.lost = true;
    failure =
        Failure{Verdict::crash, std::string("The device failed after the variant ran: ") + error.what()};
  }
  enter(reply, nullptr);
  if (failure) {
    reply.verdict = failure->verdict;
    reply.reason = failure->reason;
    reply.samples_us.clear();
  }
  return reply;
}

}  // namespace tunesmith
