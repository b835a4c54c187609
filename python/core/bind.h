// SPDX-License-Identifier: Apache-2.0
// The parts of the module _core; each function is defined beside the code that it binds.
#pragma once

#include <nanobind/nanobind.h>

namespace tunesmith::python {

namespace nb = nanobind;

void bind_array(nb::module_& m);
void bind_dispatcher(nb::module_& m);
void bind_image(nb::module_& m);
void bind_expressions(nb::module_& m);
void bind_memo(nb::module_& m);
void bind_ops(nb::module_& m);
void bind_plan(nb::module_& m);

}  // namespace tunesmith::python
