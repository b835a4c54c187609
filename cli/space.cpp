// SPDX-License-Identifier: Apache-2.0
// space: shows the axes and rules of an op's templates. It uses no database.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/text_table.h"
#include "generator/listed.h"
#include "kernel_file/find_op.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"

namespace tunesmith {
namespace {

// Makes a GPU for which only the number of multiprocessors is known. Its compute capability is the newest, so
// that it runs every template.
DeviceFacts absent_gpu(int multiprocessors) {
  DeviceFacts device = facts_of_capability(90);
  device.name = "a GPU with " + counted(static_cast<std::size_t>(multiprocessors), "multiprocessor");
  device.multiprocessors = multiprocessors;
  return device;
}

// Returns the problem, or the op's first example if none is given: a space belongs to a problem.
Problem problem_or_example(const Op& op, const std::string& text) {
  return complete_problem(op,
                          Problem::parse(text.empty() && !op.examples.empty() ? op.examples.front() : text));
}

// Counts the configs whose launches fit the device; for a large space an estimate.
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

void add_space_command(CLI::App& app) {
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
}

}  // namespace tunesmith
