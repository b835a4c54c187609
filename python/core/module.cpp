// SPDX-License-Identifier: Apache-2.0
// The compiled part of the Python package: the functions of the process itself, and all parts that bind.h
// names.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <typeinfo>

#include "bind.h"
#include "cuda.h"
#include "generator/error.h"
#include "runtime/toolchain.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith::python {
namespace {

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

void bind_process(nb::module_& m) {
  m.attr("__version__") = TUNESMITH_VERSION;
  m.attr("cuda_version") = built_with_cuda();
  m.def(
      "first_device", [] { return first_device(); },
      "\"cuda\" if there is a CUDA device that can be used, else \"host\". It raises nothing.\n\n"
      ">>> tunesmith.first_device() in ('cuda', 'host')\nTrue");
  m.def(
      "end_compilations", [] { end_nvrtc(); }, nb::call_guard<nb::gil_scoped_release>(),
      "Gives up what is compiled in the background; for the end of the process.");
  m.def(
      "default_database", [] { return default_database(); },
      "The user's own database: $TUNESMITH_DB, else in the user's data folder; \"\" if there is none. It "
      "raises "
      "nothing.\n\n"
      ">>> os.environ['TUNESMITH_DB'] = 'tunesmith.db'\n>>> tunesmith.default_database()\n'tunesmith.db'");
}

}  // namespace

NB_MODULE(_core, m) {
  // The library's own background threads end with the process.
  nb::set_leak_warnings(false);
  translate_errors();
  bind_process(m);
  bind_ops(m);
  bind_expressions(m);
  bind_image(m);
  bind_array(m);
  bind_plan(m);
  bind_memo(m);
  bind_dispatcher(m);
}

}  // namespace tunesmith::python
