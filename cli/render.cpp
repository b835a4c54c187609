// SPDX-License-Identifier: Apache-2.0
// render: prints the source texts of variants. It uses no database.
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "cli/cli.h"
#include "cli/launched_text.h"
#include "cli/output.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

struct RenderRequest {
  std::string op, problem, config, target, template_name;
  std::filesystem::path out;
  bool all = false;
};

void render_all(const Op& op, const Problem& problem, const RenderRequest& request,
                const DeviceFacts& device) {
  if (request.out.empty()) throw UsageError("--all writes many files; add -o DIR.");
  if (!request.config.empty()) throw UsageError("--all renders every config; leave out --config or --all.");
  std::error_code failure;
  std::filesystem::create_directories(request.out, failure);
  if (failure)
    throw Error("The folder " + request.out.string() + " cannot be created: " + failure.message() + ".");
  constexpr int most_files = 1'000'000;
  std::int64_t written = 0;
  for (const Template& each : op.templates) {
    if (!request.template_name.empty() && each.name != request.template_name) continue;
    if (why_not(each, problem, device)) continue;
    const Space space = each.space(problem, device);
    if (const ConfigCount count = space.size(); !count.is_at_most(most_files)) {
      throw UsageError(
          "The template " + each.name + " has " + count.text() +
          " legal configs for this problem, and --all writes a file for each; it does so for up to " +
          std::to_string(most_files) + ". Give a --config, or another --template.");
    }
    space.each([&](const Config& config) {
      const Source source = render(op, each, problem, config, request.target);
      const char* extension = request.target == "host" ? ".cpp" : ".cu";
      write_file(request.out / (op.name + "_" + each.name + source.suffix + extension), source.text);
      return ++written, true;
    });
  }
  if (written == 0)
    throw UsageError("No template of " + op.name + " serves this problem on " + request.target + ".");
  std::cout << counted(static_cast<std::size_t>(written), "file") << " written to " << request.out.string()
            << '\n';
}

// Renders the first template, or the named one, that accepts the config.
// A user's kernel of several launches does not say how it is launched, so its text ends in comments that do.
std::string with_launches(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                          const DeviceFacts& device, std::string text) {
  if (op.user_kernel == nullptr) return text;
  const Work work = tmpl.work(problem, config, device);
  if (work.steps.size() < 2) return text;
  return text + "\n// Launched as " + counted(work.steps.size(), "step") + ":\n" +
         launched_text(op, work, "//   ");
}

Source render_one(const Op& op, const Problem& problem, const RenderRequest& request,
                  const DeviceFacts& device) {
  const Values given = Values::parse(request.config);
  std::string reasons;
  for (const Template& each : op.templates) {
    if (!request.template_name.empty() && each.name != request.template_name) continue;
    std::optional<std::string> why = why_not(each, problem, device);
    if (!why) {
      try {
        const Config config = each.space(problem, device).complete(given);
        Source source = render(op, each, problem, config, request.target);
        source.text = with_launches(op, each, problem, config, device, std::move(source.text));
        return source;
      } catch (const UsageError& error) {
        why = error.what();
      }
    }
    reasons += (reasons.empty() ? "" : " ") + each.name + ": " + *why;
  }
  throw UsageError("No template of " + op.name + " accepts the config \"" + request.config + "\" (" +
                   reasons + ").");
}

void run_render(const RenderRequest& request) {
  const Op& op = find_op(request.op);
  if (!request.template_name.empty()) find_template(op, request.template_name);
  const Problem problem = complete_problem(op, Problem::parse(request.problem));
  const DeviceFacts device = facts_of_target(request.target);
  if (request.all) return render_all(op, problem, request, device);
  const Source source = render_one(op, problem, request, device);
  if (request.out.empty()) {
    exact_output() << source.text;
  } else {
    write_file(request.out, source.text);
  }
}

}  // namespace

void add_render_command(CLI::App& app) {
  CLI::App* render = app.add_subcommand("render", "Write the source text of a variant");
  auto wanted = std::make_shared<RenderRequest>();
  add_op_option(render, wanted->op, "Name of an op, or the file of a kernel with its description")
      ->required();
  render->add_option("--problem", wanted->problem, "Problem")->required();
  render->add_option("--config", wanted->config,
                     "Values of axes; each other axis gets its first legal value");
  render->add_option("--target", wanted->target, "Target: host, sm_80, sm_90a, ...")->required();
  render->add_option("--template", wanted->template_name,
                     "Template (default: the first that accepts the config)");
  render->add_option("-o,--output", wanted->out, "File to write, or with --all the folder (default: stdout)");
  render->add_flag("--all", wanted->all,
                   "Render every legal config of every template that serves the problem");
  render->callback([wanted] { run_render(*wanted); });
}

}  // namespace tunesmith
