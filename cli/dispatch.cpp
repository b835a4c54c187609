// SPDX-License-Identifier: Apache-2.0
// explain and export: show and export what dispatch chooses from the database.
#include <iostream>
#include <memory>
#include <string>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/export_kernel.h"
#include "cli/export_static.h"
#include "cli/launched_text.h"
#include "db/store.h"
#include "dispatch/explanation.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"
#include "runtime/device_id.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

template <typename Count>
std::string number(Count count, const char* noun) {
  return counted(static_cast<std::size_t>(count), noun);
}

struct ExportRequest {
  std::string kernel;
  bool is_static = false;
  std::filesystem::path folder, problem_file;
  StaticRequest what;
};

// Returns the plan that can be launched before anything is compiled, as an application with default options
// first uses it; none if not even a base is in the library.
Plan ready_plan(DispatcherOptions options, const std::string& op, const Problem& problem) {
  options.compile = Compile::never;
  try {
    return Dispatcher(options).plan(op, problem);
  } catch (const Error&) {
    return {};
  }
}

void print_static(ExportRequest& request) {
  if (!request.problem_file.empty()) {
    if (!request.what.ops.empty())
      throw UsageError(
          "--ops does not go with --problems, whose lines name their ops; leave one of them out.");
    request.what.problems = read_problem_file(request.problem_file, nullptr);
  }
  const StaticReport report = export_static(request.what, request.folder);
  for (const std::string& note : report.notes) std::cout << note << '\n';
  std::cout << number(report.kernels, "kernel") << " of " << listed(report.ops) << " for "
            << listed(report.targets) << ", with " << number(report.winners, "winner") << " and "
            << number(report.tables, "table") << ", in " << request.folder.string() << '\n';
}

}  // namespace

void add_dispatch_commands(CLI::App& app) {
  struct ExplainRequest {
    std::string op, problem, device = "auto";
    bool all = false;
    DispatcherOptions options;
  };
  CLI::App* explain =
      app.add_subcommand("explain", "Show which variant dispatch uses for a problem, and why");
  auto asked = std::make_shared<ExplainRequest>();
  asked->options.compile = Compile::now;  // to show the final choice
  add_op_option(explain, asked->op, "Name of an op, or the file of a kernel with its description")
      ->required();
  explain->add_option("--problem", asked->problem, "Problem")->required();
  explain
      ->add_option(
          "--device", asked->device,
          std::string(device_words) + "; or a name, a part of one, or a target: that GPU need not be here")
      ->capture_default_str();
  explain->add_flag("--all", asked->all, "Also say why each other variant is not used");
  explain->add_option("--db", asked->options.database,
                      "Database file (default: $TUNESMITH_DB, else in the user's data folder)");
  explain->callback([asked] {
    const Op& op = find_op(asked->op);
    const Problem problem = complete_problem(op, Problem::parse(asked->problem));
    if (!DeviceId::is_one(asked->device)) {
      const DeviceFacts absent = find_device(asked->device, asked->options.database);
      std::cout << explain_absent(absent, op, problem, asked->options.database, asked->all);
      return;
    }
    const ChosenDevice chosen = choose_device(DeviceId::parse(asked->device));
    if (!chosen.note.empty()) std::cout << chosen.note << '\n';
    asked->options.device = chosen.id.text();
    if (op.user_kernel != nullptr) asked->options.kernels = {op.user_kernel->file.path};
    const Plan ready = ready_plan(asked->options, asked->op, problem);
    Dispatcher dispatcher(asked->options);
    const std::string text = dispatcher.explain(asked->op, problem.text(), asked->all);
    std::cout << text << (text.empty() || text.back() != '\n' ? "\n" : "");
    const Plan plan = dispatcher.plan(asked->op, problem);
    if (op.user_kernel != nullptr) {
      const Template& tmpl = find_template(op, plan.variant().template_name);
      const Space space = tmpl.space(problem, chosen.facts);
      const Work work = tmpl.work(problem, space.legal(Values::parse(plan.variant().config)), chosen.facts);
      if (work.steps.size() > 1)
        std::cout << "It is launched as " << number(work.steps.size(), "step") << ":\n"
                  << launched_text(op, work, "  ");
    }
    if (text.find("compiled now in") != std::string::npos &&
        (!ready || ready.variant().source_hash != plan.variant().source_hash)) {
      std::cout << "An application whose cache has no binary of it launches "
                << (ready ? ready.variant().template_name + " " + ready.variant().config : "nothing")
                << " at first, while that is compiled in the background; prepare() waits for it.\n";
    }
    if (chosen.id.kind == DeviceId::Kind::host) std::cout << "This is the host, " << emulated << ".\n";
  });

  CLI::App* command = app.add_subcommand(
      "export",
      "Write winners to a folder that is built into the library, or with --static, a library with them");
  auto request = std::make_shared<ExportRequest>();
  add_op_option(command, request->kernel,
                "The file of a kernel of your own: write it with its winners and their binaries, for\n"
                "DispatcherOptions::kernels of an application");
  command->add_option("--to", request->folder, "Folder to write to, such as generated/")->required();
  command->add_option("--device", request->what.device,
                      "Only this device: auto, cuda, cuda:N, host, or part of a device's name");
  command->add_flag("--static", request->is_static,
                    "Write sources, kernels and tables that an application's CMake builds as\n"
                    "tunesmith::dispatch, without SQLite, NVRTC and compiling at run time");
  command->add_flag("--tvm-ffi", request->what.tvm_ffi,
                    "As --static, and CMake builds all of it as one module for TVM FFI, which PyTorch,\n"
                    "JAX, CuPy and C++ load; needs the Python package apache-tvm-ffi");
  command->add_option("--ops", request->what.ops, "With --static: only these, such as conv2d,reduce")
      ->delimiter(',');
  command->add_option("--problems", request->problem_file,
                      "With --static: only the kernels for the problems of this file, as tune takes it, and\n"
                      "those that serve every problem");
  command
      ->add_option("--target", request->what.targets,
                   "With --static: compile for this too, such as sm_80 or host; may be repeated")
      ->allow_extra_args(false);
  add_db_option(command, request->what.database);
  command->callback([request, command] {
    StaticRequest& what = request->what;
    what.database = database_or_default(what.database);
    what.device = device_filter(what.device);
    request->is_static = request->is_static || what.tvm_ffi;
    if (request->is_static && !request->kernel.empty())
      throw UsageError("A kernel of your own has no --static export; leave out --static, or the kernel.");
    if (request->is_static) return print_static(*request);
    for (const char* option : {"--ops", "--problems", "--target"}) {
      if (command->count(option) > 0)
        throw UsageError(std::string(option) + " goes with --static; add that, or leave " + option + " out.");
    }
    if (!request->kernel.empty()) {
      const KernelExportReport report =
          export_kernel(request->kernel, what.database, what.device, request->folder);
      for (const std::string& note : report.notes) std::cout << note << '\n';
      std::cout << number(report.winners, "winner") << ", " << number(report.tables, "table") << " and "
                << number(report.binaries, "compiled kernel") << " for " << listed(report.targets)
                << ", with the kernel " << report.kernel.string() << '\n';
      return;
    }
    const ExportReport report = export_winners(what.database, what.device, request->folder);
    for (const std::string& note : report.notes) std::cout << note << '\n';
    std::cout << number(report.exported, "winner") << " exported, " << report.kept << " kept; "
              << number(report.tables, "anchor table") << " in " << request->folder.string() << '\n';
  });
}

}  // namespace tunesmith
