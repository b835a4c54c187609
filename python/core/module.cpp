// SPDX-License-Identifier: Apache-2.0
// The part of the Python package that is compiled: dispatchers, plans and arrays.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#include "array.h"
#include "cuda.h"
#include "generator/error.h"
#include "generator/op.h"
#include "generator/ops.h"
#include "generator/problem.h"
#include "generator/values.h"
#include "image.h"
#include "kernel_file/find_op.h"
#include "language/expression.h"
#include "memo.h"
#include "plan.h"
#include "runtime/toolchain.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/rows.h"
#include "tunesmith/tensor.h"

namespace tunesmith::python {
namespace {

std::string_view numpy_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::u8:
      return "uint8";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::i8:
      return "int8";
    case DType::i16:
      return "int16";
    case DType::u16:
      return "uint16";
    case DType::u32:
      return "uint32";
    case DType::u64:
      return "uint64";
    case DType::boolean:
      return "bool";
    default:
      return "";
  }
}

std::vector<ExpectedArray> expected_arguments(const Op& op, const Problem& problem) {
  std::vector<ExpectedArray> found;
  const Value* dtype = problem.find("dtype");
  const bool only_bits = dtype != nullptr && std::holds_alternative<std::string>(*dtype) &&
                         numpy_name(dtype_of(problem)).empty();
  for (const Argument& argument : op.arguments)
    found.push_back({argument.name, argument.role, only_bits ? "" : numpy_name(argument.dtype(problem))});
  return found;
}

std::int64_t whole_number(nb::handle object) {
  std::int64_t number = 0;
  if (!nb::try_cast(object, number))
    throw nb::value_error(("A problem's value is " + nb::cast<std::string>(nb::str(object)) +
                           "; whole numbers from -2^63 to 2^63 - 1 are allowed.")
                              .c_str());
  return number;
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

PyPlan make_plan(const PyDispatcher& self, const std::string& op, const std::string& text,
                 const nb::kwargs& fields) {
  Problem problem = Problem::parse(text);
  for (const auto& [name, value] : fields) problem.set(nb::cast<std::string>(name), value_of(value));
  PyPlan made{.dispatcher = self.dispatcher, .op = op, .plan = {}, .expected = {}};
  {
    nb::gil_scoped_release release;
    made.plan = self.dispatcher->plan(op, problem);
  }
  made.expected = expected_arguments(find_op(op), Problem::parse(made.plan.problem()));
  return made;
}

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

// `by_words`: for this package's own functions, which have made the problem from the array: its strides are
// the problem's, its elements have the right size, and a new array of JAX may be filled. Their results are
// exactly as large as what is launched writes: of a larger one a part would stay as it was.
void check_argument(const PyPlan& plan, std::size_t k, const Array& array, bool by_words) {
  const ExpectedArray& expected = plan.expected[k];
  const std::string who = "The argument " + expected.name + " of " + plan.op;
  if (!by_words && !expected.dtype.empty() && array.dtype != expected.dtype)
    refuse_type(who + " has elements of " + std::string(array.dtype) + "; the plan is for " +
                std::string(expected.dtype) + ".");
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    if (array.strides[d] < 0 && array.shape[d] > 1)
      refuse_value(who + " has a negative stride; copy it first.");
  }
  if (!by_words && !array.contiguous())
    refuse_value(who +
                 " has gaps between its elements or another order than C's; make a contiguous copy first.");
  const std::int64_t wanted = plan.plan.argument_bytes(k);
  if (span_bytes(array) < wanted)
    refuse_value(who + " has " + std::to_string(span_bytes(array)) + " bytes; the plan's problem, " +
                 plan.plan.problem() + ", needs " + std::to_string(wanted) + ".");
  if (by_words && expected.role != Role::input && (span_bytes(array) != wanted || !array.contiguous()))
    throw std::logic_error(who + " has " + std::to_string(span_bytes(array)) +
                           " bytes, but what is launched, " + plan.plan.problem() + ", writes " +
                           std::to_string(wanted) + " bytes without gaps; this is a mistake in tunesmith.");
  if (expected.role != Role::input && array.readonly && !(by_words && array.kind == Kind::jax))
    refuse_value(who + " is written, but the array is read-only.");
}

// `stream`: none is the one that the arrays' own library uses now.
void launch(PyPlan& self, nb::handle arrays, const std::vector<double>& numbers,
            std::optional<std::uintptr_t> stream, nb::handle workspace, bool by_words) {
  self.renew();
  const Plan plan = self.plan;  // another thread may renew it
  const std::size_t count = plan.argument_count();
  const std::size_t given = nb::len(arrays);
  if (given != count) {
    std::string names;
    for (const ExpectedArray& expected : self.expected) names += (names.empty() ? "" : ", ") + expected.name;
    refuse_type(self.op + " takes " + std::to_string(count) + " arrays (" + names + "), and " +
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
    check_argument(self, k, array, by_words);
    if (array.device >= 0 && array.device != ordinal)
      refuse_value("The argument " + self.expected[k].name + " of " + self.op + " lies on CUDA device " +
                   std::to_string(array.device) + ", and the plan is for " +
                   (ordinal < 0 ? "the host" : "CUDA device " + std::to_string(ordinal)) + ".");
    pointers[k] = array.data;
    if (array.device < 0 && ordinal >= 0) copies = true;
    if (array.device >= 0 && !stream) {
      if (array.kind == Kind::torch || array.kind == Kind::cupy || array.stream)
        stream = current_stream(array);
      if (array.kind == Kind::jax || array.kind == Kind::other) waits = true;
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
        if (self.expected[k].role != Role::output) memory[k]->fill_from(pointers[k]);
        pointers[k] = memory[k]->data();
      }
    }
    void* const handle = pointer_of(stream.value_or(0));
    status = numbers.empty() ? plan.launch(pointers, handle, workspace_data)
                             : plan.launch(pointers, numbers, handle, workspace_data);
    if (status && (copies || waits)) synchronize();
    if (status && copies) {
      for (std::size_t k = 0; k < count; ++k) {
        if (memory[k] && self.expected[k].role != Role::input) memory[k]->copy_to(held[k].data);
      }
    }
  }
  if (!status) raise(status);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

Compile compile_of(const std::string& word) {
  if (word == "background") return Compile::background;
  if (word == "now") return Compile::now;
  if (word == "never") return Compile::never;
  refuse_value("compile is \"" + word + "\"; allowed are background, now and never.");
}

PyDispatcher make_dispatcher(const std::string& device, const std::optional<std::string>& database,
                             const std::vector<std::string>& kernels, bool host_binaries,
                             const std::string& compile, double compile_limit,
                             const std::optional<std::string>& cache_folder, std::optional<bool> overlap,
                             std::optional<bool> check_pointers, std::optional<std::size_t> most_bytes,
                             std::size_t tune_on_first_use, bool keep_first_use) {
  DispatcherOptions options;
  options.device = device;
  if (database) options.database = *database;
  options.kernels = kernels;
  options.host_binaries = host_binaries;
  options.compile = compile_of(compile);
  options.compile_limit = std::chrono::milliseconds(static_cast<std::int64_t>(compile_limit * 1000));
  if (cache_folder) options.cache_folder = *cache_folder;
  if (overlap) options.overlap = *overlap;
  if (check_pointers) options.check_pointers = *check_pointers;
  if (most_bytes) options.most_bytes = *most_bytes;
  options.tune_on_first_use = tune_on_first_use;
  options.keep_first_use = keep_first_use;
  nb::gil_scoped_release release;
  return {std::make_shared<Dispatcher>(options)};
}

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

void translate_errors() {
  nb::register_exception_translator(
      [](const std::exception_ptr& pointer, void*) {
        try {
          std::rethrow_exception(pointer);
        } catch (const UsageError& error) {
          PyErr_SetString(PyExc_ValueError, error.what());
        } catch (const std::bad_cast&) {
          PyErr_SetString(PyExc_TypeError, "A value has a type or a size that is not allowed here.");
        }
      },
      nullptr);
}

void add_functions(nb::module_& m) {
  m.attr("__version__") = TUNESMITH_VERSION;
  m.attr("cuda_version") = built_with_cuda();
  m.def(
      "first_device", [] { return first_device(); },
      "\"cuda\" if there is a CUDA device that can be used, else \"host\".");
  m.def(
      "end_compilations", [] { end_nvrtc(); }, nb::call_guard<nb::gil_scoped_release>(),
      "Gives up what is compiled in the background; for the end of the process.");
  m.def(
      "default_database", [] { return default_database(); },
      "The user's own database: $TUNESMITH_DB, else in the user's data folder; \"\" if there is none.");
  m.def(
      "ops",
      [] {
        nb::dict found;
        for (const Op& op : ops()) found[op.name.c_str()] = describe(op);
        return found;
      },
      "The operations by name: what each computes, its parameters and its arrays.");
  m.def(
      "functions",
      [] {
        std::vector<std::string> names;
        for (const auto& each : elementwise_op::operations())
          if (each.called) names.emplace_back(each.name);
        for (const auto& each : elementwise_op::named_functions()) names.emplace_back(each.name);
        return names;
      },
      "The functions that an expression of elementwise may call.");
  m.def(
      "rows_arrays", &rows_arrays, nb::arg("expression"),
      "The arrays that an expression of rows reads, by name, in the order of first use. Raises ValueError.");
  m.def("rows_expression", &rows_expression, nb::arg("expression"),
        "The expression as a problem has it, its arrays x0, x1, ... Raises ValueError.");
  m.def("rows_results", &rows_results, nb::arg("expression"),
        "The results that an expression of rows has, by name. Raises ValueError.");
  m.def(
      "rows_results_vary",
      [](const std::string& expression, const std::vector<std::string>& kinds) {
        static constexpr std::array<std::string_view, 4> names = {"matrix", "per_column", "per_row",
                                                                  "scalar"};
        std::vector<RowsKind> inputs;
        for (const std::string& kind : kinds)
          inputs.push_back(
              static_cast<RowsKind>(std::find(names.begin(), names.end() - 1, kind) - names.begin()));
        return rows_results_vary(expression, inputs);
      },
      nb::arg("expression"), nb::arg("kinds"),
      "Whether each result has an element for each element of a row, for arrays that are read as matrix, "
      "per_column, per_row or scalar. Raises ValueError.");
  m.def(
      "tensor_arrays", &tensor_arrays, nb::arg("expression"), nb::arg("finish") = "out",
      "The arrays that an index expression reads, by name, in the order of first use, those that its finish "
      "alone reads last. Raises ValueError.");
  m.def(
      "tensor_problem",
      [](const std::string& expression,
         const std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>& arrays,
         const TensorExtents& extents, const std::string& finish,
         const std::vector<std::string>& zero_outside) {
        std::vector<TensorLayout> layouts;
        for (const auto& [shape, strides] : arrays) layouts.push_back({shape, strides});
        const TensorLayout out = layouts.back();
        layouts.pop_back();
        return tensor_problem(expression, ElementType::f32, layouts, out,
                              {.extents = extents, .finish = finish, .zero_outside = zero_outside});
      },
      nb::arg("expression"), nb::arg("arrays"), nb::arg("extents") = TensorExtents(),
      nb::arg("finish") = "out", nb::arg("zero_outside") = std::vector<std::string>(),
      "The problem as a text, its dtype f32, from (shape, strides in elements) of the inputs and, last, the "
      "result. Raises ValueError.");
  m.def(
      "tensor_shape",
      [](const std::string& expression, const std::vector<std::vector<std::int64_t>>& inputs,
         const TensorExtents& extents, const std::string& finish,
         const std::vector<std::string>& zero_outside) {
        return tensor_shape(expression, inputs,
                            {.extents = extents, .finish = finish, .zero_outside = zero_outside});
      },
      nb::arg("expression"), nb::arg("inputs"), nb::arg("extents") = TensorExtents(),
      nb::arg("finish") = "out", nb::arg("zero_outside") = std::vector<std::string>(),
      "The shape of the array that it computes, from those of its inputs and the extents (name, extent) of "
      "indices "
      "that these do not fix. Raises ValueError.");
  m.def(
      "work",
      [](const std::string& op, const std::string& problem) {
        const Op& its_op = find_op(op);
        const Problem whole = complete_problem(its_op, Problem::parse(problem));
        return std::pair(bytes_moved(its_op, whole), its_op.flops ? its_op.flops(whole) : 0.0);
      },
      nb::arg("op"), nb::arg("problem"),
      "Of an op's problem: the bytes that must be read and written, and the operations that must be done. "
      "Raises "
      "ValueError.");
  m.def(
      "is_array", [](nb::handle object) { return is_array(object); }, nb::arg("object").none(),
      "Whether Array can read the object, by its type.");
  m.def(
      "kind_of", [](nb::handle object) { return name(kind_of(object)); }, nb::arg("object").none(),
      "The library of an array, by its type: numpy, torch, cupy, numba, jax or other.");
}

void add_array(nb::module_& m) {
  nb::class_<Array>(m, "Array", "Where another library's array lies, without a copy.")
      .def(
          "__init__", [](Array* self, nb::handle object) { new (self) Array(array_of(object)); },
          nb::arg("object").none())
      .def_prop_ro(
          "kind", [](const Array& self) { return name(self.kind); },
          "numpy, torch, cupy, numba, jax or other.")
      .def_prop_ro(
          "dtype", [](const Array& self) { return self.dtype; }, "The element type, as NumPy spells it.")
      .def_ro("itemsize", &Array::item_bytes, "Bytes of an element.")
      .def_ro("device", &Array::device, "The CUDA device's ordinal, -1 for ordinary memory.")
      .def_prop_ro(
          "pointer", [](const Array& self) { return reinterpret_cast<std::uintptr_t>(self.data); },
          "The address of the first element.")
      .def_prop_ro(
          "shape", [](const Array& self) { return nb::tuple(nb::cast(self.shape)); }, "The extents.")
      .def_prop_ro(
          "strides", [](const Array& self) { return nb::tuple(nb::cast(self.strides)); }, "In elements.")
      .def_prop_ro("size", &Array::elements, "The number of elements.")
      .def_prop_ro("contiguous", &Array::contiguous, "Whether it is row-major without gaps.")
      .def_ro("readonly", &Array::readonly, "Whether it must not be written.")
      .def(
          "overlaps", [](const Array& self, const Array& other) { return overlap(self, other); },
          nb::arg("other"),
          "Whether they may have memory in common: the bytes from the first to the last element.")
      .def_prop_ro(
          "stream", [](const Array& self) { return current_stream(self); },
          "The handle of the stream that the array's library uses now; 0: the default stream.");
}

void add_plan(nb::module_& m) {
  nb::class_<PyPlan>(
      m, "Plan",
      "The choice for one problem, ready to launch. While a better kernel is compiled in the background it "
      "launches the best that is ready, later the better one.")
      .def(
          "launch",
          [](PyPlan& self, const nb::args& arrays, const std::vector<double>& numbers,
             std::optional<std::uintptr_t> stream,
             nb::handle workspace) { launch(self, arrays, numbers, stream, workspace, false); },
          nb::arg("arrays"), nb::kw_only(), nb::arg("numbers") = std::vector<double>(),
          nb::arg("stream") = nb::none(), nb::arg("workspace") = nb::none(),
          "Enqueues the work; on the host it is done on return.\n\n"
          "arrays: the op's, in its order (see `arguments`), C-contiguous and of the plan's dtypes, on its "
          "device; None "
          "for one without elements. Ordinary memory given to a plan for a GPU is copied there and back, and "
          "the call "
          "then waits.\n"
          "numbers: of this launch alone, such as a histogram's lo and hi.\n"
          "stream: a CUDA stream's handle; None: the current one of the first array's library (PyTorch, "
          "CuPy), else the "
          "default stream. Arrays of JAX and others whose stream is not known are waited for.\n"
          "workspace: an array of at least workspace_bytes bytes; None: the library makes one where it is "
          "needed.\n\n"
          "Raises TypeError for a wrong number of arrays or a wrong dtype, ValueError for sizes, strides, "
          "alignment, "
          "overlap, a wrong device or a read-only output, RuntimeError where the device fails.")
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
          [](const PyPlan& self, bool refusals) { return joined(self.plan.explanation(refusals)); },
          nb::arg("refusals") = false, "How the choice was made, in a few sentences.")
      .def_ro("op", &PyPlan::op)
      .def_prop_ro(
          "problem", [](const PyPlan& self) { return self.plan.problem(); }, "Complete, in the op's order.")
      .def_prop_ro(
          "device", [](const PyPlan& self) { return self.plan.device(); }, "The device's name.")
      .def_prop_ro(
          "match", [](const PyPlan& self) { return name(self.plan.match()); },
          "exact, predicted, other_device or base.")
      .def_prop_ro(
          "expected_us", [](const PyPlan& self) { return self.plan.expected_us(); },
          "Of one launch, in microseconds; 0: not known.")
      .def_prop_ro(
          "expected_loss", [](const PyPlan& self) { return self.plan.expected_loss(); },
          "What tuning is expected to gain: 0.1 is 10 % behind the best time.")
      .def_prop_ro("template", [](const PyPlan& self) { return self.plan.variant().template_name; })
      .def_prop_ro("config", [](const PyPlan& self) { return self.plan.variant().config; })
      .def_prop_ro(
          "alignment_bytes", [](const PyPlan& self) { return self.plan.alignment_bytes(); },
          "Of pointers, for this variant; others take another.")
      .def_prop_ro("workspace_bytes", [](const PyPlan& self) { return self.plan.workspace_bytes(); })
      .def_prop_ro(
          "warning", [](const PyPlan& self) { return self.plan.warning(); },
          "Why what it launches may be wrong; mostly empty.")
      .def_prop_ro("outdated", [](const PyPlan& self) { return self.plan.outdated(); })
      .def_prop_ro(
          "arguments",
          [](const PyPlan& self) {
            nb::list found;
            for (std::size_t k = 0; k < self.expected.size(); ++k) {
              found.append(nb::make_tuple(self.expected[k].name, std::string(name(self.expected[k].role)),
                                          self.expected[k].dtype, self.plan.argument_bytes(k)));
            }
            return found;
          },
          "A tuple for each array: its name, input, output or inout, its dtype (\"\": any), its bytes.")
      .def("__repr__", [](const PyPlan& self) {
        return "<tunesmith.Plan " + self.op + " " + self.plan.problem() + ": " +
               self.plan.variant().template_name + " " + self.plan.variant().config + ", " +
               std::string(name(self.plan.match())) + ">";
      });
}

void add_memo(nb::module_& m) {
  nb::class_<Memo>(m, "Memo",
                   "Calls of a function that were seen before, by what they launch; see _arrays.recorded().")
      .def(nb::init<std::vector<std::string>, std::vector<int>, std::vector<int>>(), nb::arg("names"),
           nb::arg("arrays"), nb::arg("by_content") = std::vector<int>())
      .def("launch", &Memo::launch, nb::arg("args"), nb::arg("kwargs"), nb::arg("default_device"))
      .def("record", &Memo::record, nb::arg("args"), nb::arg("kwargs"), nb::arg("launches"),
           nb::arg("allocated"), nb::arg("constants"), nb::arg("allocator"), nb::arg("default_device"),
           nb::arg("check").none(), nb::arg("value").none(), nb::arg("is_number"))
      .def_static("forget", &Memo::forget);
}

void add_dispatcher(nb::module_& m) {
  nb::class_<PyDispatcher>(m, "Dispatcher", "Knows the fastest kernels for one device; threads may share it.")
      .def(
          "__init__",
          [](PyDispatcher* self, const std::string& device, const std::optional<std::string>& database,
             const std::vector<std::string>& kernels, bool host_binaries, const std::string& compile,
             double compile_limit, const std::optional<std::string>& cache_folder,
             std::optional<bool> overlap, std::optional<bool> check_pointers,
             std::optional<std::size_t> most_bytes, std::size_t tune_on_first_use, bool keep_first_use) {
            new (self) PyDispatcher(make_dispatcher(device, database, kernels, host_binaries, compile,
                                                    compile_limit, cache_folder, overlap, check_pointers,
                                                    most_bytes, tune_on_first_use, keep_first_use));
          },
          nb::arg("device") = "cuda", nb::kw_only(), nb::arg("database") = nb::none(),
          nb::arg("kernels") = std::vector<std::string>(), nb::arg("host_binaries") = false,
          nb::arg("compile") = "background", nb::arg("compile_limit") = 60.0,
          nb::arg("cache_folder") = nb::none(), nb::arg("overlap") = nb::none(),
          nb::arg("check_pointers") = nb::none(), nb::arg("most_bytes") = nb::none(),
          nb::arg("tune_on_first_use") = 0, nb::arg("keep_first_use") = true,
          "device: \"cuda\", \"cuda:1\" or \"host\", an emulator of a GPU on the processor.\n"
          "database: a file of your own winners; None: default_database(); \"\": none.\n"
          "kernels: files of kernels of your own with their descriptions.\n"
          "host_binaries: whether the database's binaries for the host are run.\n"
          "compile: \"background\" answers at once and compiles a better kernel in the background; \"now\" "
          "waits; "
          "\"never\".\n"
          "compile_limit: seconds after which a compilation is given up.\n"
          "cache_folder: where binaries are kept for the next process; None: the user's; \"\": nowhere.\n"
          "overlap: whether kernels may overlap with those before them (programmatic dependent launch).\n"
          "check_pointers: whether each launch first asks whether pointers are the device's.\n"
          "most_bytes: of plans and kernels that are kept.\n"
          "tune_on_first_use: how many of the best predicted variants are tried for a new problem.\n"
          "keep_first_use: whether what that found is written to the database for the next process.\n\n"
          "Raises ValueError for an unknown device or option, RuntimeError where the device cannot be used.")
      .def("plan", &make_plan, nb::arg("op"), nb::arg("problem") = "", nb::arg("fields"),
           "The plan for an op's problem, given as a text (\"height=1000 width=2000\"), as keywords, or "
           "both. Raises "
           "ValueError for an unknown op or a problem that is not allowed.")
      .def(
          "explain",
          [](const PyDispatcher& self, const std::string& op, const std::string& problem, bool refusals) {
            nb::gil_scoped_release release;
            return self.dispatcher->explain(op, problem, refusals);
          },
          nb::arg("op"), nb::arg("problem"), nb::arg("refusals") = false,
          "What a plan for the problem launches and why, as text.")
      .def(
          "prepare",
          [](const PyDispatcher& self, const std::vector<std::pair<std::string, std::string>>& problems) {
            std::vector<NamedProblem> named;
            named.reserve(problems.size());
            for (const auto& [op, problem] : problems) named.push_back({op, problem});
            nb::gil_scoped_release release;
            self.dispatcher->prepare(named);
          },
          nb::arg("problems"),
          "Plans (op, problem) pairs, and waits until the best kernels for them are loaded.")
      .def(
          "wait_until_ready",
          [](const PyDispatcher& self, std::optional<double> limit) {
            nb::gil_scoped_release release;
            if (!limit) return self.dispatcher->wait_until_ready();
            return self.dispatcher->wait_until_ready(
                std::chrono::milliseconds(static_cast<std::int64_t>(*limit * 1000)));
          },
          nb::arg("limit") = nb::none(),
          "Waits, at most `limit` seconds, until nothing is compiled in the background; False: it still is.")
      .def(
          "summary",
          [](const PyDispatcher& self) {
            nb::list found;
            for (const Usage& usage : self.dispatcher->summary()) {
              nb::dict one;
              one["op"] = usage.op;
              one["problem"] = usage.problem;
              one["match"] = name(usage.match);
              one["launches"] = usage.launches;
              one["expected_us"] = usage.expected_us;
              one["expected_loss"] = usage.expected_loss;
              one["lost_us"] = usage.lost_us;
              found.append(one);
            }
            return found;
          },
          "The problems that were launched, the one that loses most first: op, problem, match, launches, "
          "expected_us "
          "of one launch, expected_loss, and lost_us, what tuning is expected to save in all of them.")
      .def(
          "save_problems",
          [](const PyDispatcher& self, const std::string& file) { self.dispatcher->save_problems(file); },
          nb::arg("file"), "Writes summary() as a file for `tunesmith tune --problems`. Raises RuntimeError.")
      .def_prop_ro(
          "device", [](const PyDispatcher& self) { return self.dispatcher->device(); }, "Its name.")
      .def_prop_ro(
          "cuda_ordinal", [](const PyDispatcher& self) { return self.dispatcher->cuda_ordinal(); },
          "As CUDA counts; -1: the host.")
      .def_prop_ro(
          "notes", [](const PyDispatcher& self) { return self.dispatcher->notes(); },
          "Sentences on what was loaded, and what was not.");
}

}  // namespace

NB_MODULE(_core, m) {
  // The library's own background threads end with the process.
  nb::set_leak_warnings(false);
  translate_errors();
  add_functions(m);
  add_image(m);
  add_array(m);
  add_plan(m);
  add_memo(m);
  add_dispatcher(m);
}

}  // namespace tunesmith::python
