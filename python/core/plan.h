// SPDX-License-Identifier: Apache-2.0
// The contents of Python's Dispatcher and Plan.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/op.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith::python {

namespace nb = nanobind;

/// A dispatcher that is shared by plans and by other dispatchers' plans.
struct PyDispatcher {
  std::shared_ptr<Dispatcher> dispatcher;
};

/// Always the plan that the dispatcher would give now. Threads may share it.
class PyPlan {
 public:
  PyPlan(std::shared_ptr<Dispatcher> its_dispatcher, const Op& its_op, Plan first)
      : dispatcher(std::move(its_dispatcher)), op(&its_op), plan_(std::move(first)) {}
  PyPlan(PyPlan&& other) noexcept  // before it is shared
      : dispatcher(std::move(other.dispatcher)), op(other.op), plan_(std::move(other.plan_)) {}

  std::shared_ptr<Dispatcher> dispatcher;
  const Op* op;  ///< valid for the rest of the process

  /// The plan that was given last.
  Plan last() const {
    const nb::ft_lock_guard lock(mutex_);
    return plan_;
  }

  /// The plan that the dispatcher gives now, while other threads run Python.
  Plan now();

  /// The element types of the arguments, by NumPy's names; empty: any type of the right size.
  const std::vector<std::string_view>& dtypes();

 private:
  mutable nb::ft_mutex mutex_;  // does nothing where the GIL is held
  Plan plan_;
  std::once_flag dtypes_known_;
  std::vector<std::string_view> dtypes_;
};

[[noreturn]] inline void raise(const Status& status) {
  if (status.code() > 0 || status.code() == Status::failed) throw std::runtime_error(status.message());
  throw nb::value_error(status.message().c_str());
}

}  // namespace tunesmith::python
