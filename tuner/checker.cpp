#include "tuner/checker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

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

// Outputs poisoned, inouts as they were. Inputs are restored where a variant was seen to change them.
void Checker::reset(Prepared& on) {
  for (Array& array : on.arrays) {
    if (array.role == Role::output) device_.fill(array.live.get(), byte_of(poison(on)), array.live.bytes());
    if (array.role == Role::inout) restore(array);
  }
}

std::optional<Checker::Failure> Checker::run(Prepared& on, Executable& executable, const Work& work,
                                             MeasureReply& reply) {
  void* const space = workspace(work.workspace_bytes);
  reset(on);
  if (space != nullptr) prepare_workspace(space, work, poison(on));
  executable.emulate(on.reverse, poison(on));
  on.launched = std::chrono::steady_clock::now();
  auto failure = after(on, executable.launch(on.pointers.data(), space, nullptr), executable, work, reply);
  if (failure && on.reverse && failure->verdict == Verdict::wrong_result)
    failure->reason +=
        " With the threads of a block in order it is right, in reverse it is not: is a barrier missing?";
  return failure;
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

// What a launch left behind: guards, inputs, outputs.
std::optional<Checker::Failure> Checker::inspect(Prepared& on, const Work& work, MeasureReply& reply) {
  const std::string where = " on " + this->where(on) + ".";
  std::string beyond;
  for (std::size_t i = 0; i < on.arrays.size() && beyond.empty(); ++i) {
    const std::int64_t element = bytes(on.arrays[i].dtype);
    beyond =
        outside(device_.written_outside(on.arrays[i].live.get()), element, "element", op_.arguments[i].name);
  }
  if (beyond.empty() && work.workspace_bytes > 0) {
    beyond = outside(device_.written_outside(workspace(work.workspace_bytes)), 1, "byte", "the workspace");
  }
  if (beyond.empty() && !zeroed_part_is_zero(work)) {
    return Failure{Verdict::wrong_result,
                   "The variant did not leave the start of its workspace zero, as it found it," + where};
  }
  if (!beyond.empty()) {
    reply.lost = true;  // what else it wrote to is not known
    return Failure{Verdict::out_of_bounds, "The variant wrote " + beyond + where};
  }
  for (std::size_t i = 0; i < on.arrays.size(); ++i) {
    Array& array = on.arrays[i];
    if (array.role != Role::input) continue;
    if (!device_.equal(array.live.get(), array.initial->get(), array.live.bytes())) {
      restore(array);
      return Failure{Verdict::wrong_result, "The variant changed its input " + op_.arguments[i].name + where};
    }
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

std::optional<Checker::Failure> Checker::check_companions(const Template& tmpl, const Config& config,
                                                          const Executable& loaded, MeasureReply& reply) {
  const Values constants = compiled_in(op_, tmpl, asked_.problem);
  for (Prepared& companion : companions_) {
    if (why_not(tmpl, companion.problem, device_.facts()) ||
        !tmpl.space(companion.problem, device_.facts()).find(config.values()) ||
        compiled_in(op_, tmpl, companion.problem) != constants) {
      continue;
    }
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
    }
    if (!host_ && overlaps(work)) {
      if (auto failure = run_behind(asked_, *executable, work, reply)) return failure;
    }
  }
  if (request.samples <= 0) return std::nullopt;
  if (request.check && request.give_up_above_us > 0 &&
      asked_.launch_us > std::max(hopeless * request.give_up_above_us, least_hopeless_us)) {
    reply.samples_us = {asked_.launch_us};
    return std::nullopt;
  }

  enter(reply, &MeasureReply::time_s);
  // Without a check the workspace has not been prepared yet.
  if (void* const space = workspace(work.workspace_bytes)) prepare_workspace(space, work, Poison::nan);
  Timing timing;
  timing.samples = request.samples;
  timing.sample_target_us = request.sample_target_us;
  timing.repeats = request.repeats;
  timing.give_up_above_us = request.give_up_above_us;
  timing.chained = request.chained;
  timing.cold_caches = request.cold_caches;
  try {
    void* const space = workspace(work.workspace_bytes);
    Timed timed = device_.time_us(*executable, asked_.pointers, space, timing);
    reply.samples_us = std::move(timed.samples_us);
    reply.clock_mhz = timed.clock_mhz;
    reply.throttled = std::move(timed.throttled);
    std::vector<std::unique_ptr<Executable>> loaded;  // each beside the others, so at another address
    const bool is_short = static_cast<int>(reply.samples_us.size()) == request.samples &&
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
  // shows here.
  if (asked_.repeatable) {
    if (auto failure = inspect(asked_, work, reply)) {
      failure->reason = "After repeated launches: " + failure->reason;
      return failure;
    }
  }
  return std::nullopt;
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
