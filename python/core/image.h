// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace tunesmith::python {

namespace nb = nanobind;

void add_image(nb::module_& m);

}  // namespace tunesmith::python
