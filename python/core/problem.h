// SPDX-License-Identifier: Apache-2.0
// Problems as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "generator/values.h"

namespace tunesmith::python {

namespace nb = nanobind;

/// A whole number, a word or a decimal number, which a problem holds as a text.
/// Throws nb::type_error and nb::value_error.
Value value_of(nb::handle object);

/// The text of a problem that is one already, or a tuple of (name, value).
std::string problem_text(nb::handle problem);

}  // namespace tunesmith::python
