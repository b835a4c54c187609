// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string_view>

namespace tunesmith::python {
namespace {

std::int64_t whole_number(nb::handle object) {
  std::int64_t number = 0;
  if (!nb::try_cast(object, number))
    throw nb::value_error(("A problem's value is " + nb::cast<std::string>(nb::str(object)) +
                           "; whole numbers from -2^63 to 2^63 - 1 are allowed.")
                              .c_str());
  return number;
}

}  // namespace

std::string_view numpy_name(DType dtype) {
  for (const NumpyType& type : numpy_types) {
    if (type.dtype == dtype) return type.name;
  }
  return "";
}

Value value_of(nb::handle object) {
  if (PyBool_Check(object.ptr()))
    throw nb::type_error("A problem's value is a number or a word, not a truth value.");
  if (PyLong_Check(object.ptr())) return whole_number(object);
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (PyFloat_Check(object.ptr())) return nb::cast<std::string>(nb::repr(object));
  if (nb::hasattr(object, "__index__")) return whole_number(object.attr("__index__")());
  throw nb::type_error("A problem's values are whole numbers, words and decimal numbers.");
}

std::string problem_text(nb::handle problem) {
  if (PyUnicode_Check(problem.ptr())) return nb::cast<std::string>(problem);
  std::string text;
  const Py_ssize_t count = PyTuple_Size(problem.ptr());
  for (Py_ssize_t k = 0; k < count; ++k) {
    PyObject* const pair = PyTuple_GetItem(problem.ptr(), k);
    PyObject* const name = PyTuple_GetItem(pair, 0);
    PyObject* const value = PyTuple_GetItem(pair, 1);
    if (name == nullptr || value == nullptr) throw nb::python_error();
    append(text, nb::cast<std::string_view>(nb::handle(name)), value_of(value));
  }
  if (count < 0) throw nb::python_error();
  return text;
}

}  // namespace tunesmith::python
