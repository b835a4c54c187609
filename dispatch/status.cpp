// SPDX-License-Identifier: Apache-2.0
// The words for the answer of a look-up, and for the outcome of a launch or an attempt.
#include <exception>

#include "dispatch/plan_state.h"
#include "generator/error.h"

namespace tunesmith {

std::string Status::message() const {
  const std::string which =
      argument_ < 0 ? "" : "argument " + plan_->op->arguments[static_cast<std::size_t>(argument_)].name;
  switch (code_) {
    case success:
      return "The launch succeeded.";
    case wrong_argument_count:
      return "The number of arguments differs from the op's; pass one pointer for each of its arguments.";
    case null_argument:
      return "The " + which + " is a null pointer; pass memory of the plan's device.";
    case misaligned_argument:
      return "The address of the " + which +
             " is not aligned; pass a multiple of its element's size, or of "
             "Plan::alignment_bytes() if Plan::explanation() says that other pointers are refused.";
    case overlapping_arguments:
      return "The " + which + " overlaps another one, which this op does not allow; give it separate memory.";
    case missing_workspace:
      return "The plan needs a workspace of Plan::workspace_bytes() bytes, and the device has no pools of "
             "memory to make one from; pass one to launch().";
    case wrong_number_count: {
      std::string names;
      for (const Parameter& parameter : plan_->op->parameters)
        if (parameter.at_launch) names += (names.empty() ? "" : ", ") + parameter.name;
      if (!plan_->make_numbers) return "Launches of this plan take no numbers; pass none.";
      return "The count of numbers is wrong; pass none to a launch of " + plan_->op->name +
             ", or one for each of these: " + names + ".";
    }
    case foreign_argument:
      return "The " + which + " is not memory of " + plan_->context->device.name +
             ", or has fewer than the " +
             std::to_string(plan_->arguments[static_cast<std::size_t>(argument_)].bytes) +
             " bytes that the problem needs; pass memory of the plan's device.";
    case refused_numbers:
    case wrong_input:
    case failed:
      return said_ != nullptr ? *said_ : "There is not enough memory.";
    default:
      return "The launch failed on " + plan_->context->device.name + ": " +
             plan_->first.executable->describe(code_);
  }
}

inline namespace TUNESMITH_ABI {

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

Status attempt(void (*function)(void* data, Status& status), void* data) noexcept {
  Status status;
  const auto fail = [&](Status::Code code, const char* why) {
    status.code_ = code;
    try {
      status.said_ = std::make_shared<const std::string>(why);
    } catch (const std::bad_alloc&) {
      status.said_ = nullptr;
    }
  };
  try {
    function(data, status);
  } catch (const UsageError& error) {
    fail(Status::wrong_input, error.what());
  } catch (const std::bad_alloc&) {
    fail(Status::failed, "There is not enough memory.");
  } catch (const std::exception& error) {
    fail(Status::failed, error.what());
  } catch (...) {
    fail(Status::failed, "Something was thrown that is not a std::exception.");
  }
  return status;
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
