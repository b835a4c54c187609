// SPDX-License-Identifier: Apache-2.0
// devices, ops, space, render: what can be tuned, and the texts of variants. They use no database.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/ops.h"
#include "generator/target.h"
#include "kernel_file/add.h"
#include "kernel_file/find_op.h"
#include "kernel_file/read.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "runtime/trust.h"

namespace tunesmith {
namespace {

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

void print_devices() {
  std::string why_none;
  TextTable table({"device", "name", "target", "compute capability", "multiprocessors", "memory GiB"});
  int ordinal = 0;
  for (const DeviceFacts& device : cuda_devices(why_none)) {
    table.add({DeviceId{DeviceId::Kind::cuda, ordinal++}.text(), device.name, device.target,
               capability_text(device.compute_capability), std::int64_t{device.multiprocessors},
               gib(device.memory_bytes)});
  }
  const DeviceFacts host = host_facts();
  table.add({std::string("host"), host.name, host.target, Cell(), std::int64_t{host.multiprocessors},
             gib(host.memory_bytes)});
  std::cout << table.text();
  if (ordinal == 0) std::cout << "\n" << why_none << '\n';
  if (ordinal > 0) std::cout << "\nDriver: " << cuda_driver() << '\n';
}

std::string allowed(const Parameter& parameter) {
  std::string text = listed(parameter.categories);
  if (parameter.refuses_text) return text + (text.empty() ? "a text" : ", or a text");
  if (!text.empty()) return text;
  return std::to_string(parameter.minimum) + " to " + std::to_string(parameter.maximum);
}

void print_op(const Op& op) {
  std::cout << op.name << ": " << op.what << "\n\n";
  TextTable parameters({"parameter", "what", "allowed", "default"});
  for (const Parameter& parameter : op.parameters) {
    parameters.add({parameter.name, parameter.what, allowed(parameter),
                    parameter.initial ? to_text(*parameter.initial) : std::string()});
  }
  TextTable arguments({"argument", "role"});
  for (const Argument& argument : op.arguments) {
    arguments.add({argument.name, std::string(name(argument.role))});
  }
  TextTable templates({"template", "compiled in", "needs", "what"});
  for (const Template& each : op.templates) {
    const int needed = each.minimum_compute_capability;
    const std::string needs = needed == 0 ? ""
                                          : "compute capability " + capability_text(needed) +
                                                (each.later_too ? "" : " and no other");
    templates.add({each.name, listed(each.compiled_in), needs, each.what});
  }
  std::cout << parameters.text() << '\n' << arguments.text() << '\n' << templates.text();
}

void print_ops(const std::string& name) {
  if (!name.empty()) return print_op(find_op(name));
  TextTable table({"op", "templates", "what"});
  for (const Op& op : ops()) {
    std::string names;
    for (const Template& each : op.templates) names += (names.empty() ? "" : ", ") + each.name;
    table.add({op.name, names, op.what});
  }
  std::cout << table.text();
}

// A GPU of which only the number of multiprocessors is known. Its compute capability is the newest, so that
// it runs every template.
DeviceFacts absent_gpu(int multiprocessors) {
  DeviceFacts device = facts_of_capability(90);
  device.name = "a GPU with " + counted(static_cast<std::size_t>(multiprocessors), "multiprocessor");
  device.multiprocessors = multiprocessors;
  return device;
}

// A space belongs to a problem; if none is given, it is the op's first example.
Problem problem_or_example(const Op& op, const std::string& text) {
  return complete_problem(op,
                          Problem::parse(text.empty() && !op.examples.empty() ? op.examples.front() : text));
}

// The configs whose launches the device can do; of a large space an estimate.
ConfigCount fitting(const Space& space, const ConfigCount& legal, const Template& tmpl,
                    const Problem& problem, const DeviceFacts& device) {
  constexpr double most_counted = 1 << 22;
  constexpr std::size_t drawn = 10'000;
  std::int64_t count = 0;
  const auto look = [&](const Config& config) {
    if (!exceeds(tmpl.work(problem, config, device), device)) ++count;
    return true;
  };
  if (legal.is_at_most(most_counted)) {
    space.each(look);
    return {static_cast<double>(count)};
  }
  const std::vector<Config> some = space.sample(drawn, 1);
  for (const Config& config : some) look(config);
  const auto of = static_cast<double>(std::max<std::size_t>(some.size(), 1));
  return {legal.configs * static_cast<double>(count) / of, ConfigCount::Kind::estimate};
}

void print_space(const Op& op, const Problem& problem, const Template& tmpl,
                 const std::optional<DeviceFacts>& device) {
  std::cout << "\n" << op.name << "/" << tmpl.name << ": " << tmpl.what << '\n';
  const std::string refused = tmpl.refuses ? tmpl.refuses(problem) : "";
  if (!refused.empty()) {
    std::cout << "It does not serve this problem: " << refused << '\n';
    return;
  }
  const Space space = tmpl.space(problem, device.value_or(DeviceFacts{}));
  TextTable axes({"axis", "values", "what"});
  for (const Axis& axis : space.axes()) axes.add({axis.name, listed_in_short(axis.values), axis.what});
  std::cout << axes.text();
  const auto print_rules = [](const char* title, const std::vector<Rule>& rules) {
    if (!rules.empty()) std::cout << title << '\n';
    for (const Rule& rule : rules) std::cout << "- " << rule.why << '\n';
  };
  print_rules("A legal config keeps these rules:", space.must());
  print_rules("A search first tries configs that keep these rules too (tune --prior none treats all alike):",
              space.worth());
  const ConfigCount legal = space.size();
  std::cout << legal.text() << " legal configs of " << space.raw_size().text();
  if (!space.worth().empty())
    std::cout << ", " << space.size(Space::Subset::promising).text() << " tried first";
  std::cout << '\n';
  if (!device) return;
  if (const std::optional<std::string> why = why_not(tmpl, problem, *device)) {
    std::cout << "No config runs on this device: " << *why << '\n';
    return;
  }
  std::cout << fitting(space, legal, tmpl, problem, *device).text() << " of them launch within the limits of "
            << device->name << '\n';
}

}  // namespace

DeviceFacts facts_of_target(const std::string& target) {
  const std::optional<Target> parsed = Target::parse(target);
  if (!parsed || parsed->is_virtual()) {
    throw UsageError("There is no target " + target +
                     "; a target is host, or sm_ and a compute capability, such as "
                     "sm_80 or sm_90a.");
  }
  DeviceFacts device = facts_of_capability(parsed->compute_capability);
  if (parsed->kind == Target::Kind::host) device.kind = DeviceKind::host;
  device.name = device.target = target;
  return device;
}

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

// The first template, or the named one, that accepts the config.
Source render_one(const Op& op, const Problem& problem, const RenderRequest& request,
                  const DeviceFacts& device) {
  const Values given = Values::parse(request.config);
  std::string reasons;
  for (const Template& each : op.templates) {
    if (!request.template_name.empty() && each.name != request.template_name) continue;
    std::optional<std::string> why = why_not(each, problem, device);
    if (!why) {
      try {
        return render(op, each, problem, each.space(problem, device).complete(given), request.target);
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

DeviceFacts first_device(const std::string& text) {
  return choose_device(DeviceId::parse_list(text).front()).facts;
}

std::string device_filter(const std::string& text) {
  if (!DeviceId::is_one(text)) return text;
  const DeviceId id = DeviceId::parse(text);
  return id.kind == DeviceId::Kind::host ? text : choose_device(id).facts.name;
}

CLI::Option* add_op_option(CLI::App* command, std::string& name, const std::string& what) {
  return command->add_option("OP", name, what)->transform([](const std::string& given) {
    return given.ends_with(".cu") ? add_user_kernel(read_kernel_file(given)).op.name : given;
  });
}

void add_reference_option(CLI::App* command, std::string& text) {
  command->add_option(
      "--reference", text,
      "Reference of your own kernel: a command that computes outputs when asked, or unix:SOCKET of\n"
      "one that listens (docs/your_own_kernel.md)");
}

void add_inputs_option(CLI::App* command, std::string& text) {
  command->add_option(
      "--inputs", text,
      "Inputs of your own kernel in checks, such as indices: a command or unix:SOCKET, likewise");
}

void add_db_option(CLI::App* command, std::filesystem::path& path) {
  command->add_option("--db", path, "Database file (default: $TUNESMITH_DB, else in the user's data folder)")
      ->check([](const std::string& name) {
        return std::string(name.empty() ? "the name is empty; give a file, or leave --db out for the default"
                                        : "");
      });
}

std::filesystem::path database_or_default(const std::filesystem::path& path) {
  return path.empty() ? default_database_path() : path;
}

void warn_if_unused(const std::filesystem::path& database) {
  const std::optional<std::string> why = why_untrusted(database);
  if (!why) return;
  std::cout.flush();
  std::cerr << "Applications will not use the database " << database.string()
            << ", as others could change it. " << *why
            << " Or set TUNESMITH_DB to a file in a folder that only you can write.\n";
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  const std::string allowed = bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                                      : "of at least " + std::to_string(least);
  return {[=](const std::string& text) -> std::string {
            std::int64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            const bool is_whole = error == std::errc{} && end == text.data() + text.size();
            if (is_whole && value >= least && value <= most) return "";
            return "\"" + text + "\" is not a whole number " + allowed;
          },
          allowed};
}

void add_kind_options(CLI::App* command, QueryFilter& filter) {
  command->add_option("--caches", filter.caches, "Only times with these caches: warm or cold")
      ->check(CLI::IsMember({"warm", "cold"}));
  command->add_option("--launches", filter.launches, "Only times of these launches: apart or chained")
      ->check(CLI::IsMember({"apart", "chained"}));
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) throw Error("The file " + path.string() + " cannot be written: " + std::strerror(errno) + ".");
}

void add_look_commands(CLI::App& app) {
  app.add_subcommand("devices", "List the devices of this machine that variants can be tuned for")
      ->callback(print_devices);

  CLI::App* list_ops = app.add_subcommand("ops", "List the ops, or describe one");
  auto op_name = std::make_shared<std::string>();
  add_op_option(list_ops, *op_name, "Name of an op, or the file of a kernel with its description");
  list_ops->callback([op_name] { print_ops(*op_name); });

  CLI::App* space = app.add_subcommand(
      "space", "Show the axes and rules of an op's templates, and how many configs are legal");
  struct SpaceRequest {
    std::string op, problem, device, template_name;
    int multiprocessors = 0;
  };
  auto asked = std::make_shared<SpaceRequest>();
  add_op_option(space, asked->op, "Name of an op, or the file of a kernel with its description")->required();
  space->add_option("--problem", asked->problem, "Problem (default: the op's first example)");
  space->add_option("--device", asked->device,
                    std::string(device_words) + "; also counts the configs that fit its limits");
  space
      ->add_option("--multiprocessors", asked->multiprocessors,
                   "Show the space for a GPU with this many multiprocessors; the GPU need not be present")
      ->check(whole_number(1, 100000))
      ->excludes("--device");
  space->add_option("--template", asked->template_name, "Only this template");
  space->callback([asked] {
    const Op& op = find_op(asked->op);
    if (!asked->template_name.empty()) find_template(op, asked->template_name);
    const Problem problem = problem_or_example(op, asked->problem);
    auto device = asked->device.empty() ? std::nullopt
                                        : std::optional(choose_device(DeviceId::parse(asked->device)).facts);
    if (asked->multiprocessors > 0) device = absent_gpu(asked->multiprocessors);
    std::cout << "problem: " << problem.text() << '\n';
    for (const Template& each : op.templates) {
      if (asked->template_name.empty() || each.name == asked->template_name)
        print_space(op, problem, each, device);
    }
  });

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
