// SPDX-License-Identifier: Apache-2.0
// The values outside an image that the Python functions on images take from the library.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bind.h"
#include "templates/image/boundary.h"

namespace tunesmith::python {
namespace {

std::vector<std::int64_t> samples_at(std::int64_t first, std::int64_t count, std::int64_t size,
                                     const std::string& boundary) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = first; place < first + count; ++place)
    places.push_back(sample_at(place, size, choice<Boundary>("boundary", boundary)));
  return places;
}

}  // namespace

void bind_image(nb::module_& m) {
  m.def("samples_at", &samples_at, nb::arg("first"), nb::arg("count"), nb::arg("size"), nb::arg("boundary"),
        "Which of `size` samples stand at so many places from `first` on; -1: a constant.");
}

}  // namespace tunesmith::python
