// SPDX-License-Identifier: Apache-2.0
// What Python's Dispatcher and Plan hold.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "generator/argument.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith::python {

namespace nb = nanobind;

// Of a plan's op and problem: what an array has to be.
struct ExpectedArray {
  std::string name;
  Role role;
  std::string_view dtype;  // as NumPy spells it; empty: any of the right size
};

// A dispatcher that plans and other dispatchers' plans share.
struct PyDispatcher {
  std::shared_ptr<Dispatcher> dispatcher;
};

// Stays the plan that the dispatcher would give now.
struct PyPlan {
  std::shared_ptr<Dispatcher> dispatcher;
  std::string op;
  Plan plan;
  std::vector<ExpectedArray> expected;

  void renew() {
    if (!plan.outdated()) return;
    nb::gil_scoped_release release;
    plan = dispatcher->plan(op, plan.problem());
  }
};

[[noreturn]] inline void raise(const Status& status) {
  if (status.code() > 0 || status.code() == Status::failed) throw std::runtime_error(status.message());
  throw nb::value_error(status.message().c_str());
}

}  // namespace tunesmith::python
