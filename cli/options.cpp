// SPDX-License-Identifier: Apache-2.0
// Options that several commands share.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "cli/cli.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/target.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "runtime/trust.h"

namespace tunesmith {
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
    return is_code_file(given) ? add_user_kernel(read_kernel_file(given)).op.name : given;
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
            const auto value = parsed_number<std::int64_t>(text);
            if (value && *value >= least && *value <= most) return "";
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

}  // namespace tunesmith
