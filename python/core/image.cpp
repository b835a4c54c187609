// SPDX-License-Identifier: Apache-2.0
// What the Python functions on images read of the library: words, and what stands outside an image.
#include "image.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "generator/error.h"
#include "kernel_file/find_op.h"
#include "templates/image/boundary.h"

namespace tunesmith::python {
namespace {

std::vector<std::string> choices_of(const std::string& op, const std::string& parameter) {
  for (const Parameter& one : find_op(op).parameters)
    if (one.name == parameter) return one.categories;
  throw UsageError("The operation " + op + " has no parameter " + parameter + ".");
}

std::vector<std::int64_t> samples_at(std::int64_t first, std::int64_t count, std::int64_t size,
                                     const std::string& boundary) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = first; place < first + count; ++place)
    places.push_back(sample_at(place, size, choice<Boundary>("boundary", boundary)));
  return places;
}

}  // namespace

void add_image(nb::module_& m) {
  m.def("choices", &choices_of, nb::arg("op"), nb::arg("parameter"),
        "The words that a parameter of an operation may have. Raises ValueError.");
  m.def("samples_at", &samples_at, nb::arg("first"), nb::arg("count"), nb::arg("size"), nb::arg("boundary"),
        "Which of `size` samples stand at so many places from `first` on; -1: a constant.");
}

}  // namespace tunesmith::python
