// SPDX-License-Identifier: Apache-2.0
// The contracts of the library's ops, for Python.
#include "generator/ops.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bind.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/op.h"
#include "generator/problem.h"
#include "kernel_file/find_op.h"
#include "problem.h"

namespace tunesmith::python {
namespace {

nb::object to_python(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return nb::cast(*number);
  return nb::cast(std::get<std::string>(value));
}

nb::dict describe(const Op& op) {
  nb::dict parameters;
  for (const Parameter& parameter : op.parameters) {
    nb::dict one;
    one["what"] = parameter.what;
    if (parameter.is_integer()) {
      one["minimum"] = parameter.minimum;
      one["maximum"] = parameter.maximum;
    } else {
      one["words"] = parameter.categories;
    }
    if (parameter.initial) one["default"] = to_python(*parameter.initial);
    parameters[parameter.name.c_str()] = one;
  }
  nb::list arguments;
  for (const Argument& argument : op.arguments) arguments.append(nb::cast(argument.name));
  nb::dict found;
  found["what"] = op.what;
  found["parameters"] = parameters;
  found["arguments"] = arguments;
  return found;
}

std::vector<std::string> parameter_words(const std::string& op, const std::string& parameter) {
  std::vector<std::string> names;
  for (const Parameter& one : find_op(op).parameters) {
    if (one.name == parameter) return one.categories;
    names.push_back(one.name);
  }
  throw UsageError("The op " + op + " has no parameter " + parameter + "; its parameters are " +
                   listed(names) + ".");
}

}  // namespace

void bind_ops(nb::module_& m) {
  nb::dict words;  // the words of problems, by NumPy's names
  for (const NumpyType& type : numpy_types) words[nb::cast(type.name)] = nb::cast(name(type.dtype));
  m.attr("dtype_words") = words;
  m.def(
      "ops",
      [] {
        nb::dict found;
        for (const Op& op : ops()) found[op.name.c_str()] = describe(op);
        return found;
      },
      "The operations by name: what each computes, its parameters and its arrays. It raises nothing.\n\n"
      ">>> tunesmith.ops()['transpose']['arguments']\n['input', 'output']");
  m.def("parameter_words", &parameter_words, nb::arg("op"), nb::arg("parameter"),
        "The words that an op's parameter may be, in the op's order. Raises ValueError.");
  m.def(
      "work",
      [](const std::string& op, nb::handle problem) {
        const Op& its_op = find_op(op);
        const Problem whole = complete_problem(its_op, Problem::parse(problem_text(problem)));
        return std::pair(bytes_moved(its_op, whole), its_op.flops ? its_op.flops(whole) : 0.0);
      },
      nb::arg("op"), nb::arg("problem"),
      "The bytes that an op's problem must read and write, and the operations that it must do. The problem "
      "is a text or ((name, value), ...). Raises ValueError.");
}

}  // namespace tunesmith::python
