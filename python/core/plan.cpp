// SPDX-License-Identifier: Apache-2.0
// Launches plans on Python's arrays.
#include "plan.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "array.h"
#include "bind.h"
#include "cuda.h"
#include "generator/op.h"
#include "generator/problem.h"
#include "problem.h"

namespace tunesmith::python {
namespace {

[[noreturn]] void refuse_value(const std::string& text) { throw nb::value_error(text.c_str()); }
[[noreturn]] void refuse_type(const std::string& text) { throw nb::type_error(text.c_str()); }

// The bytes from the first element to behind the last.
std::int64_t span_bytes(const Array& array) {
  std::int64_t last = 0;
  for (std::size_t k = 0; k < array.shape.size(); ++k) {
    if (array.shape[k] == 0) return 0;
    last += (array.shape[k] - 1) * array.strides[k];
  }
  return (last + 1) * array.item_bytes;
}

void check_dtype(PyPlan& plan, std::size_t k, const Array& array) {
  const std::string_view expected = plan.dtypes()[k];
  if (!expected.empty() && array.dtype != expected)
    refuse_type("The argument " + plan.op->arguments[k].name + " of " + plan.op->name + " has elements of " +
                std::string(array.dtype) + "; the plan is for " + std::string(expected) + ".");
}

// `by_words`: for this package's own functions, which have made the problem from the array: its strides and
// its element type are those of the problem, and a new array of JAX may be filled. Their results are exactly
// as large as the output of the launch: a part of a larger one would stay unwritten.
void check_argument(const Op& op, const Plan& plan, std::size_t k, const Array& array, bool by_words) {
  const Argument& expected = op.arguments[k];
  const std::string who = "The argument " + expected.name + " of " + op.name;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    if (array.strides[d] < 0 && array.shape[d] > 1)
      refuse_value(who + " has a negative stride; copy it first.");
  }
  if (!by_words && !array.contiguous())
    refuse_value(who +
                 " has gaps between its elements or another order than C's; make a contiguous copy first.");
  const std::int64_t wanted = plan.argument_bytes(k);
  if (span_bytes(array) < wanted)
    refuse_value(who + " has " + std::to_string(span_bytes(array)) + " bytes; the plan's problem, " +
                 plan.problem() + ", needs " + std::to_string(wanted) + ".");
  if (by_words && expected.role != Role::input && (span_bytes(array) != wanted || !array.contiguous()))
    throw std::logic_error(who + " has " + std::to_string(span_bytes(array)) +
                           " bytes, but what is launched, " + plan.problem() + ", writes " +
                           std::to_string(wanted) + " bytes without gaps; this is a mistake in tunesmith.");
  if (expected.role != Role::input && array.readonly && !(by_words && array.library == ArrayLibrary::jax))
    refuse_value(who + " is written, but the array is read-only.");
}

// `stream`: without it, the current stream of the arrays' own library.
void launch(PyPlan& self, nb::handle arrays, const std::vector<double>& numbers,
            std::optional<std::uintptr_t> stream, nb::handle workspace, bool by_words) {
  const Plan plan = self.now();
  const std::vector<Argument>& arguments = self.op->arguments;
  const std::size_t count = plan.argument_count();
  const std::size_t given = nb::len(arrays);
  if (given != count) {
    std::string names;
    for (const Argument& expected : arguments) names += (names.empty() ? "" : ", ") + expected.name;
    refuse_type(self.op->name + " takes " + std::to_string(count) + " arrays (" + names + "), and " +
                std::to_string(given) + " were given.");
  }
  const int ordinal = self.dispatcher->cuda_ordinal();
  std::vector<Array> held(count);
  std::vector<void*> pointers(count, nullptr);
  bool copies = false;
  bool waits = false;  // for a library whose streams are not known
  for (std::size_t k = 0; k < count; ++k) {
    nb::handle object = arrays[k];
    if (object.is_none()) continue;
    held[k] = nb::isinstance<Array>(object) ? *nb::inst_ptr<Array>(object) : array_of(object);
    const Array& array = held[k];
    if (!by_words) check_dtype(self, k, array);
    check_argument(*self.op, plan, k, array, by_words);
    if (array.device >= 0 && array.device != ordinal)
      refuse_value("The argument " + arguments[k].name + " of " + self.op->name + " lies on CUDA device " +
                   std::to_string(array.device) + ", and the plan is for " +
                   (ordinal < 0 ? "the host" : "CUDA device " + std::to_string(ordinal)) + ".");
    pointers[k] = array.data;
    if (array.device < 0 && ordinal >= 0) copies = true;
    if (array.device >= 0 && !stream) {
      if (array.library == ArrayLibrary::torch || array.library == ArrayLibrary::cupy || array.stream)
        stream = current_stream(array);
      if (array.library == ArrayLibrary::jax || array.library == ArrayLibrary::other) waits = true;
    }
  }
  void* workspace_data = nullptr;
  Array workspace_array;
  if (!workspace.is_none()) {
    workspace_array = array_of(workspace);
    if (span_bytes(workspace_array) < plan.workspace_bytes() || workspace_array.device != ordinal)
      refuse_value("The workspace has " + std::to_string(span_bytes(workspace_array)) +
                   " bytes; this plan needs " + std::to_string(plan.workspace_bytes()) +
                   " on its own device.");
    workspace_data = workspace_array.data;
  }
  Status status;
  {
    nb::gil_scoped_release release;
    std::optional<CurrentDevice> current;
    if (ordinal >= 0) current.emplace(ordinal);
    std::vector<std::unique_ptr<DeviceMemory>> memory(count);
    if (copies) {
      for (std::size_t k = 0; k < count; ++k) {
        if (pointers[k] == nullptr || held[k].device >= 0) continue;
        memory[k] = std::make_unique<DeviceMemory>(span_bytes(held[k]));
        if (arguments[k].role != Role::output) memory[k]->fill_from(pointers[k]);
        pointers[k] = memory[k]->data();
      }
    }
    void* const handle = pointer_of(stream.value_or(0));
    status = numbers.empty() ? plan.launch(pointers, handle, workspace_data)
                             : plan.launch(pointers, numbers, handle, workspace_data);
    if (status && (copies || waits)) synchronize();
    if (status && copies) {
      for (std::size_t k = 0; k < count; ++k) {
        if (memory[k] && arguments[k].role != Role::input) memory[k]->copy_to(held[k].data);
      }
    }
  }
  if (!status) raise(status);
}

// The handle of a stream that is given as a number or by the protocol __cuda_stream__ of cuda.core: a tuple
// of 0, the protocol's version, and the handle.
std::optional<std::uintptr_t> stream_handle(nb::handle stream) {
  if (stream.is_none()) return std::nullopt;
  nb::object protocol = nb::getattr(stream, "__cuda_stream__", nb::none());
  if (protocol.is_none()) {
    std::uintptr_t handle = 0;
    if (!nb::try_cast(stream, handle))
      refuse_type("stream is a " + nb::cast<std::string>(nb::str(stream.type().attr("__name__"))) +
                  "; give a stream's handle as a number, or an object with __cuda_stream__.");
    return handle;
  }
  if (PyCallable_Check(protocol.ptr()) != 0) protocol = protocol();
  std::pair<std::int64_t, std::uintptr_t> told;
  if (!nb::try_cast(protocol, told) || told.first != 0)
    refuse_type("__cuda_stream__ of the stream gave " + nb::cast<std::string>(nb::repr(protocol)) +
                "; version 0 of that protocol is known, which gives (0, handle).");
  return told.second;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

}  // namespace

Plan PyPlan::now() {
  Plan known = last();
  if (!known.outdated()) return known;
  {
    nb::gil_scoped_release release;
    known = dispatcher->plan(op->name, known.problem());
  }
  const nb::ft_lock_guard lock(mutex_);
  plan_ = known;
  return known;
}

const std::vector<std::string_view>& PyPlan::dtypes() {
  const Plan plan = last();
  std::call_once(dtypes_known_, [&] {
    const Problem problem = Problem::parse(plan.problem());
    const Value* dtype = problem.find("dtype");
    const bool only_bits = dtype != nullptr && std::holds_alternative<std::string>(*dtype) &&
                           numpy_name(dtype_of(problem)).empty();
    for (const Argument& argument : op->arguments)
      dtypes_.push_back(only_bits ? "" : numpy_name(argument.dtype(problem)));
  });
  return dtypes_;
}

void bind_plan(nb::module_& m) {
  nb::class_<PyPlan>(
      m, "Plan",
      "The choice for one problem, ready to launch. While a better kernel is compiled in the "
      "background it launches the best that is ready, later the better one. Dispatcher.plan() makes it; its "
      "attributes raise nothing.\n\n"
      ">>> plan = tunesmith.dispatcher('host').plan('transpose', height=2, width=3)\n"
      ">>> turned = np.empty((3, 2), np.float32)\n"
      ">>> plan.launch(np.arange(6, dtype=np.float32).reshape(2, 3), turned)\n"
      ">>> turned.tolist()\n[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]")
      .def(
          "launch",
          [](PyPlan& self, const nb::args& arrays, const std::vector<double>& numbers, nb::handle stream,
             nb::handle workspace) {
            launch(self, arrays, numbers, stream_handle(stream), workspace, false);
          },
          nb::arg("arrays"), nb::kw_only(), nb::arg("numbers") = std::vector<double>(),
          nb::arg("stream").sig("None").none() = nb::none(), nb::arg("workspace") = nb::none(),
          "Enqueues the work; on the host it is done on return.\n\n"
          "arrays: the op's, in its order (see `arguments`), C-contiguous and of the plan's dtypes, on its "
          "device; None for one without elements. Ordinary memory given to a plan for a GPU is copied there "
          "and back, and the call then waits.\n"
          "numbers: of this launch alone, such as a histogram's lo and hi.\n"
          "stream: a CUDA stream's handle, or an object with __cuda_stream__, such as cuda.core's and "
          "PyTorch's; None: the current one of the first array's library (PyTorch, "
          "CuPy), else the default stream. Arrays of JAX and others whose stream is not known are waited "
          "for.\n"
          "workspace: an array of at least workspace_bytes bytes; None: the library makes one where it is "
          "needed.\n\n"
          "Raises TypeError for a wrong number of arrays or a wrong dtype, ValueError for sizes, strides, "
          "alignment, overlap, a wrong device or a read-only output, RuntimeError where the device fails.")
      .def(
          "_launch",
          [](PyPlan& self, const nb::args& arrays, const std::vector<double>& numbers,
             std::optional<std::uintptr_t> stream) {
            launch(self, arrays, numbers, stream, nb::none(), true);
          },
          nb::arg("arrays"), nb::kw_only(), nb::arg("numbers") = std::vector<double>(),
          nb::arg("stream") = nb::none(),
          "launch() of Array objects, for functions that have made the problem from them.")
      .def(
          "explain",
          [](const PyPlan& self, bool refusals) { return joined(self.last().explanation(refusals)); },
          nb::arg("refusals") = false,
          "How the choice was made, in a few sentences; with refusals also why others cannot be launched. It "
          "raises nothing.")
      .def_prop_ro(
          "op", [](const PyPlan& self) { return self.op->name; }, "The op's name.")
      .def_prop_ro(
          "problem", [](const PyPlan& self) { return self.last().problem(); }, "Complete, in the op's order.")
      .def_prop_ro(
          "device", [](const PyPlan& self) { return self.last().device(); }, "The device's name.")
      .def_prop_ro(
          "match", [](const PyPlan& self) { return name(self.last().match()); },
          "exact, predicted, other_device or base.")
      .def_prop_ro(
          "expected_us", [](const PyPlan& self) { return self.last().expected_us(); },
          "Of one launch, in microseconds; 0: not known.")
      .def_prop_ro(
          "expected_loss", [](const PyPlan& self) { return self.last().expected_loss(); },
          "What tuning is expected to gain: 0.1 is 10 % behind the best time.")
      .def_prop_ro(
          "template", [](const PyPlan& self) { return self.last().variant().template_name; },
          "The template of the variant that it launches.")
      .def_prop_ro(
          "config", [](const PyPlan& self) { return self.last().variant().config; },
          "The values of its axes, as text.")
      .def_prop_ro(
          "alignment_bytes", [](const PyPlan& self) { return self.last().alignment_bytes(); },
          "Of pointers, for this variant; others take another.")
      .def_prop_ro(
          "workspace_bytes", [](const PyPlan& self) { return self.last().workspace_bytes(); },
          "Of the memory that a launch needs besides its arrays.")
      .def_prop_ro(
          "warning", [](const PyPlan& self) { return self.last().warning(); },
          "Why what it launches may be wrong; mostly empty.")
      .def_prop_ro(
          "outdated", [](const PyPlan& self) { return self.last().outdated(); },
          "Whether there is, or may be, a better plan for the problem now.")
      .def_prop_ro(
          "arguments",
          [](PyPlan& self) {
            nb::list found;
            const std::vector<std::string_view>& dtypes = self.dtypes();
            const Plan plan = self.last();
            for (std::size_t k = 0; k < dtypes.size(); ++k) {
              const Argument& argument = self.op->arguments[k];
              found.append(nb::make_tuple(argument.name, std::string(name(argument.role)), dtypes[k],
                                          plan.argument_bytes(k)));
            }
            return found;
          },
          "A tuple for each array: its name, input, output or inout, its dtype (\"\": any), its bytes.")
      .def("__repr__", [](const PyPlan& self) {
        const Plan plan = self.last();
        return "<tunesmith.Plan " + self.op->name + " " + plan.problem() + ": " +
               plan.variant().template_name + " " + plan.variant().config + ", " +
               std::string(name(plan.match())) + ">";
      });
}

}  // namespace tunesmith::python
