// SPDX-License-Identifier: Apache-2.0
// devices, ops: list what can be tuned, and for which devices. They use no database.
#include "generator/ops.h"

#include <iostream>
#include <memory>
#include <string>

#include "cli/cli.h"
#include "cli/text_table.h"
#include "generator/listed.h"
#include "generator/target.h"
#include "kernel_file/find_op.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"

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

}  // namespace

void add_ops_commands(CLI::App& app) {
  app.add_subcommand("devices", "List the devices of this machine that variants can be tuned for")
      ->callback(print_devices);

  CLI::App* list_ops = app.add_subcommand("ops", "List the ops, or describe one");
  auto op_name = std::make_shared<std::string>();
  add_op_option(list_ops, *op_name, "Name of an op, or the file of a kernel with its description");
  list_ops->callback([op_name] { print_ops(*op_name); });
}

}  // namespace tunesmith
