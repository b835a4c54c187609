// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/checker.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "runtime/launch_check.h"
#include "runtime/processor_time.h"
#include "tuner/device/check_data.h"
#include "tuner/device/kernel_reference.h"
#include "tuner/search/policy.h"

namespace tunesmith {
namespace {

// NaN in every floating-point type, so that an output that was not written equals no expected value.
constexpr unsigned char nan_poison = byte_of(Poison::nan);

// On the host the problem also runs with its threads in reverse order, if its run takes no more of a
// processor.
constexpr double cheap_run_s = 0.05;

// A variant is not timed at all if its checked launch took this many times as long as the limit above which
// timing gives up, which is 1.5 times the best: 100 times the best. A first launch also pays for the loading
// of its kernel.
constexpr double hopeless = 67;
constexpr double least_hopeless_us = 10'000;

std::int64_t largest_dynamic_shared(const Work& work) {
  std::int64_t largest = 0;
  for (const Step& step : work.steps) {
    if (const auto* launch = std::get_if<Launch>(&step))
      largest = std::max(largest, launch->dynamic_shared_bytes);
  }
  return largest;
}

bool overlaps(const Work& work) {
  return std::any_of(work.steps.begin(), work.steps.end(), [](const Step& step) {
    const auto* launch = std::get_if<Launch>(&step);
    return launch != nullptr && launch->overlaps_previous;
  });
}

Verdict verdict_of(LoadError::Cause cause) {
  switch (cause) {
    case LoadError::Cause::resources:
    case LoadError::Cause::busy:
      return Verdict::resource_limit;
    case LoadError::Cause::refused:
      break;
  }
  return Verdict::launch_error;
}

}  // namespace

Checker::Checker(Device& device, const Op& op, const std::vector<CheckPart>& parts)
    : device_(device),
      op_(op),
      host_(device.facts().kind == DeviceKind::host),
      asked_(device, op, parts.front()),
      workspaces_(device),
      watched_(device, op) {
  for (const CheckPart& companion : std::span(parts).subspan(1))
    companions_.emplace_back(device, op, companion);
}

std::optional<CheckFailure> Checker::run(ProblemArrays& on, bool reverse, Executable& executable,
                                         const Work& work, MeasureReply& reply) {
  const Poison poison = poison_of(reverse, on.set() > 0);
  on.reset(poison);
  workspaces_.prepare(work, poison);
  executable.emulate(reverse, poison);
  set_block_order(executable, block_order(reverse));
  launched_ = std::chrono::steady_clock::now();
  const int error = executable.launch(on.pointers(), workspaces_.get(work.workspace_bytes), nullptr);
  auto failure = after(on, error, executable, work, reply);
  if (failure && host_ && failure->verdict == Verdict::wrong_result)
    failure->reason += cause(on, reverse, executable, work, reply);
  return failure;
}

// The most that rounding of sums in another order may change this element of an output: many times the
// permitted error, or the rounding of the sum of all inputs, if that is more. A tolerance may be too small.
double Checker::rounding_at(const ProblemArrays& on, std::size_t output, std::int64_t at) const {
  constexpr double times = 16;
  const ProblemArrays::Array& array = on.arrays()[output];
  const ProblemArrays::Number number = on.number(output, at);
  const DType dtype = number.field->dtype();
  if (is_whole(dtype)) return 0;
  const double permitted = unpack_permitted(dtype, array.permitted->as<const char>() + number.permitted_at);
  double sum = std::abs(array.expected->as<const double>()[at]);
  for (const ProblemArrays::Array& one : on.arrays()) {
    if (!one.initial) continue;
    const std::string_view packed(one.initial->as<const char>(),
                                  static_cast<std::size_t>(one.initial->bytes()));
    for (const ArrayField& field : one.fields) {
      if (is_whole(field.dtype())) continue;
      for (const double value : unpack(field, packed))
        if (std::isfinite(value)) sum += std::abs(value);
    }
  }
  const double rounded = default_tolerance(dtype) * sum;
  return std::max(std::isfinite(permitted) ? times * permitted : 0, rounded);
}

// Finds what a wrong result on the host depends on, as a sentence: repeats the launch with one thing changed
// at a time.
std::string Checker::cause(ProblemArrays& on, bool reversed, Executable& executable, const Work& work,
                           MeasureReply& reply) {
  struct Place {  // the first wrong element of an output
    std::size_t output;
    std::int64_t element;
    double rounding, error;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    if (!on.arrays()[i].expected) continue;
    if (const Comparison comparison = on.compare(i); comparison.wrong > 0)
      places.push_back({i, comparison.first_wrong, rounding_at(on, i, comparison.first_wrong),
                        std::abs(comparison.got - comparison.expected)});
  }
  struct Result {
    bool ran = false;
    std::vector<double> values;  // of these elements
  };
  const auto result = [&](bool reverse, BlockOrder order, Poison poison) {
    Result made;
    if (reply.lost) return made;
    on.restore_inputs();
    on.reset(poison);
    workspaces_.prepare(work, poison);
    executable.emulate(reverse, poison);
    set_block_order(executable, order);
    const int error = executable.launch(on.pointers(), workspaces_.get(work.workspace_bytes), nullptr);
    made.ran = error == 0;
    reply.lost = error == host_fault;  // the kernel stopped midway
    if (!made.ran) return made;
    for (const Place& place : places) {
      const ProblemArrays::Array& array = on.arrays()[place.output];
      const ProblemArrays::Number number = on.number(place.output, place.element);
      const DType dtype = number.field->dtype();
      made.values.push_back(
          unpack(dtype, {array.live.as<const char>() + number.offset, static_cast<std::size_t>(bytes(dtype))})
              .front());
    }
    return made;
  };
  const BlockOrder order = block_order(reversed);
  const Poison filled = poison_of(reversed, on.set() > 0);
  const Result first = result(reversed, order, filled);
  // Sums in another order may differ in their last digits; that is no fault.
  constexpr double alike = 1e-3;
  double motion = 0;  // of an element that differs only by rounding
  std::string moved;
  const auto differs = [&](const Result& other) {
    if (!first.ran || !other.ran) return false;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double a = first.values[i], b = other.values[i];
      if (std::isnan(a) != std::isnan(b)) return true;
      const double distance = a == b || std::isnan(a) ? 0 : std::abs(a - b);
      if (!(distance <= std::max(places[i].rounding, alike * std::max(std::abs(a), std::abs(b)))))
        return true;
      // Rounding does not explain an error that is larger than rounding either.
      if (distance <= motion || !(places[i].error <= places[i].rounding)) continue;
      motion = distance;
      moved = on.name_of(places[i].output, places[i].element);
    }
    return false;
  };
  std::string text;
  if (differs(result(reversed, order, filled)))
    text =
        " It differs from launch to launch: a __device__ variable holds what the launch before left there, "
        "or a thread's variable is read before it is set.";
  else if (differs(result(!reversed, order, filled)))
    text = " It depends on the order of threads: is a barrier missing?";
  else if (!watched_.blocks_wait() && (differs(result(reversed, BlockOrder::scattered, filled)) ||
                                       differs(result(reversed, block_order(!reversed), filled))))
    text = " It depends on the order of blocks, which run in any order and at the same time.";
  else if (differs(result(reversed, order, filled == Poison::nan ? Poison::large : Poison::nan)))
    text =
        " It depends on what memory held before: it reads memory that was never written, or leaves an output "
        "unwritten.";
  else if (motion > 0)
    text =
        " The order of additions alone moves " + moved + " by " + number_text(motion, 3) +
        ": if the rest is right, give tolerance.absolute, the error that is permitted in the output's units.";
  executable.emulate(false, Poison::nan);
  set_block_order(executable, BlockOrder::ascending);
  return text;
}

// Runs behind a kernel that writes late the data that every argument and the workspace must hold before the
// launch. Until then they hold poison, and anything that an output got too early is overwritten.
std::optional<CheckFailure> Checker::run_behind(ProblemArrays& on, Executable& executable, const Work& work,
                                                MeasureReply& reply) {
  std::vector<LateWrite> writes;
  for (const ProblemArrays::Array& array : on.arrays()) {
    device_.fill(array.live.get(), nan_poison, array.live.bytes());
    writes.push_back({.to = array.live.get(),
                      .from = array.initial ? array.initial->get() : nullptr,
                      .byte = nan_poison,
                      .bytes = array.live.bytes()});
  }
  void* const space = workspaces_.get(work.workspace_bytes);
  if (space != nullptr) {
    device_.fill(space, nan_poison, work.workspace_bytes);
    writes.push_back({.to = space, .byte = 0, .bytes = bytes_kept_zero(work)});
  }
  launched_ = std::chrono::steady_clock::now();
  const int error = device_.launch_behind(writes, executable, on.pointers(), space);
  auto failure = after(on, error, executable, work, reply);
  if (failure && failure->verdict == Verdict::wrong_result) {
    failure->reason =
        "Behind a kernel that writes its arguments late it is wrong, so it does not wait for the kernel "
        "before it: " +
        failure->reason;
  }
  return failure;
}

// The effects of a launch that returned `error`.
std::optional<CheckFailure> Checker::after(ProblemArrays& on, int error, Executable& executable,
                                           const Work& work, MeasureReply& reply) {
  if (host_ && error == host_fault) {
    reply.lost = true;  // the kernel stopped midway
    return on.fault(host_fault_address(), workspaces_.get(work.workspace_bytes), work.workspace_bytes);
  }
  if (error != 0) {
    return CheckFailure{
        host_ && error == host_shared_overrun ? Verdict::out_of_bounds : Verdict::launch_error,
        "The launch failed on " + on.where() + ": " + executable.describe(error) + "."};
  }
  try {
    device_.synchronize();
  } catch (const Error& error) {
    reply.lost = true;
    return CheckFailure{Verdict::crash,
                        "The kernel failed while it ran on " + on.where() + ": " + error.what()};
  }
  launch_us_ =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - launched_).count();
  return inspect(on, work, reply);
}

std::optional<CheckFailure> Checker::inspect_guards(ProblemArrays& on, const Work& work,
                                                    MeasureReply& reply) {
  const std::string where = " on " + on.where() + ".";
  std::string beyond = on.written_beyond();
  if (beyond.empty()) beyond = workspaces_.written_beyond(work.workspace_bytes);
  if (beyond.empty() && !workspaces_.zeroed_part_is_zero(work)) {
    return CheckFailure{Verdict::wrong_result,
                        "The variant did not leave the start of its workspace zero, as it found it," + where};
  }
  if (beyond.empty()) return std::nullopt;
  reply.lost = true;  // it may have written to other memory too
  return CheckFailure{Verdict::out_of_bounds, "The variant wrote " + beyond + where};
}

// Checks the memory after a launch: guards, inputs, outputs.
std::optional<CheckFailure> Checker::inspect(ProblemArrays& on, const Work& work, MeasureReply& reply) {
  if (auto failure = inspect_guards(on, work, reply)) return failure;
  const std::string where = " on " + on.where() + ".";
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    const ProblemArrays::Array& array = on.arrays()[i];
    if (array.role != Role::input) continue;
    if (!device_.equal(array.live.get(), array.initial->get(), array.live.bytes()))
      return CheckFailure{Verdict::wrong_result,
                          "The variant changed its input " + op_.arguments[i].name + where};
  }
  for (std::size_t i = 0; i < on.arrays().size(); ++i) {
    const ProblemArrays::Array& array = on.arrays()[i];
    if (!array.expected) continue;
    const Comparison comparison = on.compare(i);
    reply.compared = true;
    reply.max_error = std::max(reply.max_error, comparison.max_error);
    if (comparison.wrong == 0) continue;
    return CheckFailure{Verdict::wrong_result, on.difference(i, comparison) + where};
  }
  return std::nullopt;
}

std::optional<CheckFailure> Checker::check_companions(const Template& tmpl, const Config& config,
                                                      const Executable& loaded, MeasureReply& reply) {
  const Values constants = compiled_in(op_, tmpl, asked_.problem());
  for (ProblemArrays& companion : companions_) {
    if (!serves(op_, tmpl, config, companion.problem(), device_.facts(), constants)) continue;
    const Work work = tmpl.work(companion.problem(), config, device_.facts());
    if (exceeds(work, device_.facts(), reply.static_shared_bytes)) continue;
    const std::unique_ptr<Executable> executable = loaded.with(work);
    for (const bool reverse : {false, true}) {
      if (reverse && !host_) continue;
      if (auto failure = run(companion, reverse, *executable, work, reply)) return failure;
    }
  }
  return std::nullopt;
}

std::optional<CheckFailure> Checker::judge_asked(const Template& tmpl, const Config& config,
                                                 const MeasureRequest& request, MeasureReply& reply) {
  const Work work = tmpl.work(asked_.problem(), config, device_.facts());
  if (const std::int64_t wanted = alignment_bytes(tmpl, asked_.problem(), config);
      host_ && wanted != asked_.alignment()) {
    asked_.align(wanted);
    for (ProblemArrays& companion : companions_) companion.align(wanted);
  }
  if (op_.user_kernel != nullptr && op_.user_kernel->permitted_times) {
    asked_.permit(op_.user_kernel->permitted_times(asked_.problem(), config.values()));
    for (ProblemArrays& companion : companions_)
      companion.permit(op_.user_kernel->permitted_times(companion.problem(), config.values()));
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
    workspaces_.get(work.workspace_bytes);
  } catch (const Error& error) {
    return CheckFailure{Verdict::resource_limit, error.what()};
  }
  if (request.check) {
    if (auto failure = check(tmpl, config, *executable, work, reply)) return failure;
  }
  const double give_up_us = request.timing.give_up_above_us;
  if (request.timing.samples <= 0) return std::nullopt;
  if (request.check && give_up_us > 0 && launch_us_ > std::max(hopeless * give_up_us, least_hopeless_us)) {
    reply.samples_us = {launch_us_};
    return std::nullopt;
  }
  if (auto failure = time(request, *executable, work, reply)) return failure;
  enter(reply, &MeasureReply::check_s);
  // Many launches in a row must leave the same result as one launch, which a counter in the workspace that is
  // not reset shows. Their effect on an inout is not known.
  auto failure = asked_.repeatable() ? inspect(asked_, work, reply) : inspect_guards(asked_, work, reply);
  if (failure) failure->reason = "After repeated launches: " + failure->reason;
  return failure;
}

// Checks on the companions, then on the problem.
std::optional<CheckFailure> Checker::check(const Template& tmpl, const Config& config, Executable& executable,
                                           const Work& work, MeasureReply& reply) {
  if (host_ && op_.user_kernel != nullptr) {
    auto failure = watched_.run(tmpl, config, asked_, companions_, reply.lost);
    reply.unwatched = watched_.unwatched();
    if (failure) return failure;
  }
  if (auto failure = check_companions(tmpl, config, executable, reply)) return failure;
  const auto start = processor_time();
  if (auto failure = run(asked_, false, executable, work, reply)) return failure;
  const std::chrono::duration<double> took = processor_time() - start;
  if (host_ && took.count() < cheap_run_s) {
    if (auto failure = run(asked_, true, executable, work, reply)) return failure;
    executable.emulate(false, Poison::nan);
    set_block_order(executable, BlockOrder::ascending);
  }
  if (!host_ && overlaps(work)) return run_behind(asked_, executable, work, reply);
  return watched_.unset();
}

std::optional<CheckFailure> Checker::time(const MeasureRequest& request, Executable& executable,
                                          const Work& work, MeasureReply& reply) {
  enter(reply, &MeasureReply::time_s);
  workspaces_.prepare(work, Poison::nan);  // without a check it has not been prepared yet
  void* const space = workspaces_.get(work.workspace_bytes);
  try {
    TimeSamples timed = device_.time_us(executable, asked_.all_pointers(), space, request.timing);
    reply.samples_us = std::move(timed.samples_us);
    reply.clock_mhz = timed.clock_mhz;
    reply.throttled = std::move(timed.throttled);
    // All are kept loaded, so that each is at another address.
    std::vector<std::unique_ptr<Executable>> loaded;
    const bool is_short = static_cast<int>(reply.samples_us.size()) == request.timing.samples &&
                          summarize(reply.samples_us).median_us < short_launch_us;
    for (int load = 1; is_short && load < request.loads; ++load) {
      loaded.push_back(device_.load(request.binary, request.suffix, work));
      timed = device_.time_us(*loaded.back(), asked_.all_pointers(), space, request.timing);
      ++reply.loads;
      reply.samples_us.insert(reply.samples_us.end(), timed.samples_us.begin(), timed.samples_us.end());
    }
    if (request.energy)
      reply.energy_uj = device_.energy_uj(executable, asked_.all_pointers(), space).value_or(0);
  } catch (const Error& error) {
    reply.lost = true;
    return CheckFailure{Verdict::crash, std::string("The kernel failed while it was timed: ") + error.what()};
  }
  return std::nullopt;
}

// Restores the memory after a variant that failed, so that the next one is not blamed for it. The variant may
// have run again to find the cause, and in another order it may have written more.
void Checker::clean_up(MeasureReply& reply, CheckFailure& failure) {
  std::string beyond;
  const auto look = [&](ProblemArrays& at) {
    at.restore_inputs();
    const std::string written = at.written_beyond();
    if (beyond.empty()) beyond = written;
  };
  look(asked_);
  for (ProblemArrays& companion : companions_) look(companion);
  if (const std::string written = workspaces_.written_beyond_any(); beyond.empty()) beyond = written;
  if (beyond.empty()) return;
  reply.lost = true;  // it may have written to other memory too
  failure.reason += " Run again in another order, it also wrote " + beyond + ".";
}

// From here on the time counts for `phase`.
void Checker::enter(MeasureReply& reply, double MeasureReply::*phase) {
  const auto now = std::chrono::steady_clock::now();
  if (phase_ != nullptr) reply.*phase_ += std::chrono::duration<double>(now - phase_began_).count();
  phase_ = phase;
  phase_began_ = now;
}

MeasureReply Checker::judge(const MeasureRequest& request) {
  MeasureReply reply;
  const Template& tmpl = find_template(op_, request.template_name);
  std::optional<CheckFailure> failure;
  enter(reply, &MeasureReply::load_s);
  try {
    const Space space = tmpl.space(asked_.problem(), device_.facts());
    failure = judge_asked(tmpl, space.legal(Values::parse(request.config)), request, reply);
    if (failure && !reply.lost) clean_up(reply, *failure);
  } catch (const LoadError& error) {
    failure = CheckFailure{verdict_of(error.cause), error.what()};
  } catch (const Error& error) {
    // The device's own copies and comparisons fail only if the variant has damaged it.
    reply.lost = true;
    failure =
        CheckFailure{Verdict::crash, std::string("The device failed after the variant ran: ") + error.what()};
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
