// SPDX-License-Identifier: Apache-2.0
// The contents of Python's Dispatcher and Plan.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith::python {

namespace nb = nanobind;

/// A dispatcher that is shared by plans and by other dispatchers' plans.
struct PyDispatcher {
  std::shared_ptr<Dispatcher> dispatcher;
};

/// Always the plan that the dispatcher would give now.
struct PyPlan {
  std::shared_ptr<Dispatcher> dispatcher;
  const Op* op = nullptr;  ///< valid for the rest of the process
  Plan plan;
  std::vector<std::string_view> dtypes = {};  ///< of the arguments; empty before they are asked for

  void renew() {
    if (!plan.outdated()) return;
    nb::gil_scoped_release release;
    plan = dispatcher->plan(op->name, plan.problem());
  }
};

[[noreturn]] inline void raise(const Status& status) {
  if (status.code() > 0 || status.code() == Status::failed) throw std::runtime_error(status.message());
  throw nb::value_error(status.message().c_str());
}

}  // namespace tunesmith::python
