// The launch path: checks of pointers, then the executable. It allocates nothing, compiles nothing, opens no
// file and takes no lock except the host executable's own.

#include "dispatch/plan_state.h"

namespace tunesmith {
namespace {

bool overlap(std::uintptr_t a, std::uintptr_t a_bytes, std::uintptr_t b, std::uintptr_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

Status::Code check(const PlanState& plan, std::span<void* const> arguments, const void* workspace) {
  if (arguments.size() != plan.arguments.size()) return Status::wrong_argument_count;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PlanState::Argument& one = plan.arguments[i];
    const auto address = reinterpret_cast<std::uintptr_t>(arguments[i]);
    if (one.bytes == 0) continue;
    if (address == 0) return Status::null_argument;
    if ((address & one.address_bits) != 0) return Status::misaligned_argument;
    if (!one.written) continue;
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      const PlanState::Argument& other = plan.arguments[j];
      const auto other_address = reinterpret_cast<std::uintptr_t>(arguments[j]);
      if (j == i || other.bytes == 0 || !overlap(address, one.bytes, other_address, other.bytes)) continue;
      if (!other.in_place || address != other_address) return Status::overlapping_arguments;
    }
  }
  return plan.workspace_bytes > 0 && workspace == nullptr ? Status::missing_workspace : Status::success;
}

bool aligned(const PlanState& plan, std::span<void* const> arguments) {
  const auto alignment = static_cast<std::uintptr_t>(plan.alignment_bytes);
  std::uintptr_t bits = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (plan.arguments[i].bytes >= alignment) bits |= reinterpret_cast<std::uintptr_t>(arguments[i]);
  }
  return (bits & (alignment - 1)) == 0;
}

}  // namespace

std::string_view name(Match match) {
  switch (match) {
    case Match::exact:
      return "exact";
    case Match::predicted:
      return "predicted";
    case Match::other_device:
      return "other_device";
    case Match::base:
      return "base";
  }
  return "";
}

std::string Status::message() const {
  switch (code_) {
    case success:
      return "The launch succeeded.";
    case wrong_argument_count:
      return "The number of arguments differs from the op's; pass one pointer for each of its arguments.";
    case null_argument:
      return "An argument is a null pointer; pass memory of the plan's device.";
    case misaligned_argument:
      return "An argument's address is not aligned; pass a multiple of its element's size, or of "
             "Plan::alignment_bytes() if Plan::explanation() says that other pointers are refused.";
    case overlapping_arguments:
      return "An output overlaps another argument, which this op does not allow; give it memory of its own.";
    case missing_workspace:
      return "The plan needs a workspace of Plan::workspace_bytes() bytes; pass one to launch().";
    default:
      return "The launch failed on " + plan_->device + ": " + plan_->executable->describe(code_);
  }
}

Match Plan::match() const noexcept { return state_->match; }
double Plan::expected_us() const noexcept { return state_->expected_us; }
double Plan::expected_loss() const noexcept { return state_->expected_loss; }
const Variant& Plan::variant() const noexcept { return state_->variant; }
const Variant& Plan::unaligned_variant() const noexcept { return state_->unaligned_variant; }
std::int64_t Plan::alignment_bytes() const noexcept { return state_->alignment_bytes; }
std::int64_t Plan::workspace_bytes() const noexcept { return state_->workspace_bytes; }
const std::string& Plan::problem() const noexcept { return state_->problem; }
const std::string& Plan::device() const noexcept { return state_->device; }
const std::vector<std::string>& Plan::explanation() const noexcept { return state_->explanation; }

Status Plan::launch(std::span<void* const> arguments, void* stream, void* workspace) const noexcept {
  const PlanState& plan = *state_;
  Status status;
  status.code_ = check(plan, arguments, workspace);
  if (!status.ok()) return status;
  if (plan.unaligned && !aligned(plan, arguments)) {
    void* const part = static_cast<char*>(workspace) + plan.unaligned_workspace;
    status.code_ = plan.unaligned->launch(arguments.data(), part, stream);
  } else {
    status.code_ = plan.executable->launch(arguments.data(), workspace, stream);
  }
  if (!status.ok()) status.plan_ = state_;
  return status;
}

}  // namespace tunesmith
