// SPDX-License-Identifier: Apache-2.0
// The launch path: checks of pointers, then the executable. It compiles nothing, opens no file, takes no lock
// except the host executable's own, and allocates nothing but a workspace where none was given. Also the
// sentences of a plan about itself.

#include <iterator>

#include "dispatch/explanation.h"
#include "dispatch/fork.h"
#include "dispatch/plan_state.h"
#include "dispatch/profiler_range.h"
#include "dispatch/tuning_data.h"

namespace tunesmith {
namespace {

bool overlap(std::uintptr_t a, std::uintptr_t a_bytes, std::uintptr_t b, std::uintptr_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

bool is_memory(const PlanState& plan, const void* first, std::size_t bytes) {
  return plan.ordinal < 0 ? is_host_memory(first, bytes) : is_cuda_memory(first, bytes, plan.ordinal);
}

struct Fault {
  Status::Code code = Status::success;
  int argument = -1;
};

Fault check(const PlanState& plan, std::span<void* const> arguments) {
  if (arguments.size() != plan.arguments.size()) return {Status::wrong_argument_count};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PlanState::Argument& one = plan.arguments[i];
    const auto address = reinterpret_cast<std::uintptr_t>(arguments[i]);
    const int place = static_cast<int>(i);
    if (one.bytes == 0) continue;
    if (address == 0) return {Status::null_argument, place};
    if ((address & one.address_bits) != 0) return {Status::misaligned_argument, place};
    if (plan.checks_pointers && !is_memory(plan, arguments[i], one.bytes))
      return {Status::foreign_argument, place};
    if (!one.written) continue;
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      const PlanState::Argument& other = plan.arguments[j];
      const auto other_address = reinterpret_cast<std::uintptr_t>(arguments[j]);
      if (j == i || other.bytes == 0 || !overlap(address, one.bytes, other_address, other.bytes)) continue;
      if (!other.in_place || address != other_address) return {Status::overlapping_arguments, place};
    }
  }
  return {};
}

bool aligned(const PlanState& plan, std::span<void* const> arguments) {
  const auto alignment = static_cast<std::uintptr_t>(plan.alignment_bytes);
  std::uintptr_t bits = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (plan.arguments[i].bytes >= alignment) bits |= reinterpret_cast<std::uintptr_t>(arguments[i]);
  }
  return (bits & (alignment - 1)) == 0;
}

// Allocates only for the text that says why the numbers are refused.
Status::Code make(const PlanState& plan, std::span<const double> numbers, LaunchNumbers& made,
                  std::shared_ptr<const std::string>& why) noexcept {
  try {
    const std::string refused = plan.make_numbers(numbers, made);
    if (refused.empty()) return Status::success;
    why = std::make_shared<const std::string>(refused);
  } catch (const std::bad_alloc&) {
    why = nullptr;
  }
  return Status::refused_numbers;
}

// "conv2d/tiled BLOCK_X=32 (built in, …); its binary is built in"
std::string describe(const PlanState& plan, const Kernel& kernel) {
  const std::string what = kernel.candidate != nullptr ? describe(*kernel.candidate)
                                                       : plan.op->name + "/" + kernel.variant.template_name +
                                                             " " + kernel.variant.config;
  return what +
         (kernel.stands_in         ? ", as " + kernel.variant.config + " instead"
          : kernel.changed.empty() ? ""
                                   : ", changed to " + kernel.changed + " to be legal for this problem") +
         "; " + kernel.module->how();
}

}  // namespace

SelectionContext::SelectionContext(DeviceFacts its_device, CandidateSet candidates, bool may_compile_)
    : device(std::move(its_device)), may_compile(may_compile_), candidates_(std::move(candidates)) {}

// Other threads may ask for other ops meanwhile.
const SelectionContext::OpContext& SelectionContext::of(const Op& op) const {
  LazyOpContext* made = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    made = &contexts_[op.name];
  }
  std::call_once(made->once, [&] {
    made->op_context = std::make_unique<const OpContext>(op, device, candidates_of(candidates_, op.name));
  });
  return *made->op_context;
}

Match Plan::match() const noexcept { return state_->match; }
double Plan::expected_us() const noexcept { return state_->expected_us; }
double Plan::expected_loss() const noexcept { return state_->expected_loss; }
const Variant& Plan::variant() const noexcept { return state_->first.variant; }
const Variant& Plan::unaligned_variant() const noexcept {
  const Kernel* unaligned = state_->unaligned;
  return (unaligned != nullptr ? *unaligned : state_->first).variant;
}
std::int64_t Plan::alignment_bytes() const noexcept { return state_->alignment_bytes; }
std::int64_t Plan::workspace_bytes() const noexcept { return state_->workspace_bytes; }
std::size_t Plan::argument_count() const noexcept { return state_->arguments.size(); }
std::int64_t Plan::argument_bytes(std::size_t i) const noexcept {
  return static_cast<std::int64_t>(state_->arguments[i].bytes);
}
const std::string& Plan::problem() const noexcept { return state_->problem_text; }
const std::string& Plan::device() const noexcept { return state_->context->device.name; }
const std::string& Plan::warning() const noexcept { return state_->warning; }
bool Plan::outdated() const noexcept { return state_->outdated; }

std::vector<std::string> Plan::explanation(bool with_refusals) const {
  const Inside inside;
  const PlanState& plan = *state_;
  std::vector<std::string> say;
  const auto add = [&](std::vector<std::string> more) {
    say.insert(say.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  const Problem& problem = plan.problem;
  const Kernel& first = plan.first;
  if (first.candidate != nullptr) {
    say.push_back("Used, " + std::string(name(plan.match)) +
                  (plan.expected_us > 0 ? ", " + rounded(plan.expected_us) + " us expected" : "") + ": " +
                  describe(plan, first) + ".");
    if (!plan.tried.empty()) {
      say.push_back("Of " + std::to_string(plan.tried.size()) +
                    " that were tried here when the problem was first used it was the fastest.");
    }
  } else {
    const bool is_base = first.variant.template_name == plan.op->templates.front().name;
    say.push_back((is_base
                       ? "Used, base: no known winner can be used"
                       : "Used, untuned: no known winner can be used, and this is sensible without times") +
                  std::string(plan.is_improved() ? " yet; " : "; ") + describe(plan, first) + ".");
  }
  if (!plan.warning.empty()) say.push_back(plan.warning);
  add(why_used(*plan.context, *plan.op, problem, first.candidate));
  if (plan.coming != nullptr)
    say.push_back("Compiled in the background, for later plans: " + describe(*plan.coming) + ".");
  if (plan.untuned_coming != nullptr)
    say.push_back("Compiled in the background, for later plans: " + plan.op->name + "/" +
                  plan.untuned_coming->name + " in its default config.");
  const std::string kept_by_a_graph =
      "A graph has captured this kernel, and launches it also when a better one is ready: call prepare() or "
      "wait_until_ready() before the capture.";
  if (plan.is_improved() && first.executable->was_captured()) say.push_back(kept_by_a_graph);
  const std::string not_aligned =
      "Pointers that are not multiples of " + std::to_string(plan.alignment_bytes) + " bytes are ";
  if (const Kernel* unaligned = plan.unaligned) {
    say.push_back(not_aligned + "given to " + describe(plan, *unaligned) + ".");
    if (plan.fallback_comes && unaligned == &plan.temporary_fallback)
      say.push_back("A better kernel for them is made when one is launched.");
    if (plan.fallback_comes && plan.temporary_fallback.executable &&
        plan.temporary_fallback.executable->was_captured())
      say.push_back(kept_by_a_graph);
  } else if (!plan.why_refuses_unaligned.empty()) {
    say.push_back(not_aligned + "refused, because no kernel for them can be loaded. The base: " +
                  plan.why_refuses_unaligned);
  }
  if (with_refusals) add(why_not_others(*plan.context, *plan.op, problem, plan.failures));
  return say;
}

void Plan::ask_for_unaligned() const noexcept {
  const PlanState& plan = *state_;
  auto before = PlanState::not_requested;
  if (plan.fallback_comes && plan.fallback_state.compare_exchange_strong(before, PlanState::requested))
    plan.wake_up->signal();
}

Status Plan::launch(std::span<void* const> arguments, void* stream, void* workspace) const noexcept {
  return run(arguments, nullptr, stream, workspace);
}

Status Plan::launch(std::span<void* const> arguments, std::span<const double> numbers, void* stream,
                    void* workspace) const noexcept {
  if (numbers.empty()) return run(arguments, nullptr, stream, workspace);
  Status status;
  if (!state_->make_numbers || numbers.size() != state_->number_count) {
    status.code_ = Status::wrong_number_count;
    status.plan_ = state_;
    return status;
  }
  LaunchNumbers made;
  status.code_ = make(*state_, numbers, made, status.said_);
  return status.ok() ? run(arguments, &made, stream, workspace) : status;
}

Status Plan::run(std::span<void* const> arguments, const LaunchNumbers* numbers, void* stream,
                 void* workspace) const noexcept {
  const PlanState& plan = *state_;
  const ProfilerRange range(plan.op->name);
  Status status;
  if (const Fault fault = check(plan, arguments); fault.code != Status::success) {
    status.code_ = fault.code;
    status.argument_ = fault.argument;
    status.plan_ = state_;
    return status;
  }
  const Kernel* kernel = plan.unaligned;
  if (kernel == nullptr || aligned(plan, arguments)) {
    kernel = &plan.first;
  } else if (plan.fallback_comes && plan.fallback_state == PlanState::not_requested) {
    ask_for_unaligned();
  }
  if (workspace == nullptr && kernel->workspace_bytes > 0 && !kernel->executable->makes_workspaces()) {
    status.code_ = Status::missing_workspace;
    return status;
  }
  void* const part =
      workspace == nullptr ? nullptr : static_cast<char*>(workspace) + kernel->workspace_offset;
  status.code_ = kernel->executable->launch(arguments.data(), part, stream, numbers);
  if (!status.ok()) {
    status.plan_ = state_;
  } else if (plan.use != nullptr) {
    plan.use->launches.add();
  }
  return status;
}

}  // namespace tunesmith
