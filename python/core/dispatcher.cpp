// SPDX-License-Identifier: Apache-2.0
// The class Dispatcher of Python.
#include "tunesmith/dispatcher.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind.h"
#include "generator/problem.h"
#include "kernel_file/find_op.h"
#include "plan.h"
#include "problem.h"

namespace tunesmith::python {
namespace {

// A problem that was planned before is found by its text, without parsing it.
PyPlan plan_of(const PyDispatcher& self, const std::string& op, const std::string& problem) {
  nb::gil_scoped_release release;
  Plan plan = self.dispatcher->plan(op, problem);
  return {self.dispatcher, find_op(op), std::move(plan)};
}

Compile compile_of(const std::string& word) {
  if (word == "background") return Compile::background;
  if (word == "now") return Compile::now;
  if (word == "never") return Compile::never;
  throw nb::value_error(("compile is \"" + word + "\"; allowed are background, now and never.").c_str());
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

}  // namespace

void bind_dispatcher(nb::module_& m) {
  nb::class_<PyDispatcher>(
      m, "Dispatcher",
      "Knows the fastest kernels for one device; threads may share it. Raises ValueError and "
      "RuntimeError as Dispatcher.__init__ says.\n\n"
      ">>> dispatcher = tunesmith.Dispatcher('host', database='', compile='never')\n"
      ">>> dispatcher.plan('transpose', height=2, width=3).match in ('exact', 'predicted', 'base')\n"
      "True\n>>> dispatcher\n<tunesmith.Dispatcher host: ...>")
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
          "waits; \"never\".\n"
          "compile_limit: seconds after which a compilation is given up.\n"
          "cache_folder: where binaries are kept for the next process; None: the user's; \"\": nowhere.\n"
          "overlap: whether kernels may overlap with those before them (programmatic dependent launch).\n"
          "check_pointers: whether each launch first asks whether pointers are the device's.\n"
          "most_bytes: of plans and kernels that are kept.\n"
          "tune_on_first_use: how many of the best predicted variants are tried for a new problem.\n"
          "keep_first_use: whether what that found is written to the database for the next process.\n\n"
          "Raises ValueError for an unknown device or option, RuntimeError where the device cannot be used.")
      .def(
          "plan",
          [](const PyDispatcher& self, const std::string& op, const std::string& text,
             const nb::kwargs& fields) {
            Problem problem = Problem::parse(text);
            for (const auto& [name, value] : fields)
              problem.set(nb::cast<std::string>(name), value_of(value));
            return plan_of(self, op, problem.text());
          },
          nb::arg("op"), nb::arg("problem") = "", nb::arg("fields"),
          "The plan for an op's problem, given as a text (\"height=1000 width=2000\"), as keywords, or both. "
          "Raises ValueError for an unknown op or a problem that is not allowed.")
      .def(
          "_plan",
          [](const PyDispatcher& self, const std::string& op, nb::handle problem) {
            return plan_of(self, op, problem_text(problem));
          },
          nb::arg("op"), nb::arg("problem"),
          "plan() of a text or of ((name, value), ...), for this package's own functions.")
      .def(
          "explain",
          [](const PyDispatcher& self, const std::string& op, const std::string& problem, bool refusals) {
            nb::gil_scoped_release release;
            return self.dispatcher->explain(op, problem, refusals);
          },
          nb::arg("op"), nb::arg("problem"), nb::arg("refusals") = false,
          "What a plan for the problem launches and why, as text. Raises as plan() does.")
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
          "Plans (op, problem) pairs, and waits until the best kernels for them are loaded. Raises as plan() "
          "does.")
      .def(
          "wait_until_ready",
          [](const PyDispatcher& self, std::optional<double> limit) {
            nb::gil_scoped_release release;
            if (!limit) return self.dispatcher->wait_until_ready();
            return self.dispatcher->wait_until_ready(
                std::chrono::milliseconds(static_cast<std::int64_t>(*limit * 1000)));
          },
          nb::arg("limit") = nb::none(),
          "Waits, at most `limit` seconds, until nothing is compiled in the background; False: it still is. "
          "It raises nothing.")
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
          "expected_us of one launch, expected_loss, and lost_us, what tuning is expected to save in all of "
          "them. It raises nothing.")
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
          "Sentences on what was loaded, and what was not.")
      .def("__repr__", [](const PyDispatcher& self) {
        const int ordinal = self.dispatcher->cuda_ordinal();
        return "<tunesmith.Dispatcher " + (ordinal < 0 ? "host" : "cuda:" + std::to_string(ordinal)) + ": " +
               self.dispatcher->device() + ">";
      });
}

}  // namespace tunesmith::python
