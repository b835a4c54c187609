// SPDX-License-Identifier: Apache-2.0
// describe: writes the description of a user's kernel, as far as its file says it. It uses no database.
#include "kernel_file/describe.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/kernel_tuner.h"
#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/description.h"
#include "kernel_file/read.h"

namespace tunesmith {
namespace {

bool is_own_op(const std::string& name) {
  return std::any_of(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; });
}

// Returns the texts of the files beside the kernel's file and in the folder above that may launch it.
std::vector<std::string> files_beside(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr std::size_t most = 200;
  constexpr std::uintmax_t most_bytes = 1 << 20;
  static const std::set<std::string> endings = {".cu", ".cuh", ".h", ".hpp", ".c", ".cpp", ".cc", ".inl"};
  const fs::path own = fs::absolute(path).lexically_normal();
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::path& folder : {own.parent_path(), own.parent_path().parent_path()})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
      if (entry.is_regular_file(ignored) && endings.contains(entry.path().extension().string()) &&
          entry.path() != own && entry.file_size(ignored) <= most_bytes)
        found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  std::vector<std::string> texts;
  for (const fs::path& one : found) {
    try {
      texts.push_back(read_text_file(one));
    } catch (const UsageError&) {
      // It is no text.
    }
  }
  return texts;
}

// Returns why the description is not accepted as it stands; empty: it is.
std::string refusal_of(KernelFile file, const std::string& text) {
  file.cu = without_description(file.cu);
  file.description = text;
  try {
    const Op& op = add_user_kernel(file).op;
    complete_problem(op, Problem::parse(op.examples.empty() ? "" : op.examples.front()));
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

bool is_open(const std::string& text) { return text.find("\"?\"") != std::string::npos; }

// A refused description is left to a person, who reads there why.
std::string open_line(const std::string& why) {
  return "what = \"?\"  # not accepted as it stands: " + why.substr(0, why.find('\n')) + "\n";
}

std::string described_file(const std::string& path, const std::string& kernel) {
  const std::vector<std::string> include = folders_of_absent_files(path);
  KernelFile file = read_kernel_file(path, include);
  const std::string text = described(file, kernel, is_own_op, files_beside(path), include);
  if (is_open(text)) return text;
  const std::string why = refusal_of(std::move(file), text);
  return why.empty() ? text : open_line(why) + text;
}

std::string described_script(const std::string& script, const std::string& kernel) {
  const TunedScript read = read_tuned_script(script, kernel);
  if (is_open(read.text)) return read.text;
  if (!read.file.empty()) {
    const std::filesystem::path file = std::filesystem::path(script).parent_path() / read.file;
    const std::string why = refusal_of(read_kernel_file(file), read.text);
    return why.empty() ? read.text : open_line(why) + read.text;
  }
  constexpr std::string_view opening = "/* tunesmith\n", closing = "*/\n";
  const std::size_t end = read.text.find(closing) + closing.size();
  const std::string description = read.text.substr(opening.size(), end - closing.size() - opening.size());
  const std::string why =
      refusal_of({.path = "kernel.cu", .cu = read.text.substr(end), .description = {}}, description);
  return why.empty() ? read.text : std::string(opening) + open_line(why) + read.text.substr(opening.size());
}

}  // namespace

void add_describe_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("describe", "Write the description of your own kernel, as far as its file says it");
  struct DescribeRequest {
    std::string file, kernel, from, output;
  };
  auto asked = std::make_shared<DescribeRequest>();
  command->add_option("file", asked->file, "The kernel's file, my_kernel.cu; with --from a script")
      ->required();
  command->add_option("--kernel", asked->kernel, "The __global__ function (default: the only one)");
  command
      ->add_option("--from", asked->from,
                   "Read a script of another tuner: kernel_tuner (its call of tune_kernel; it is not run)")
      ->check(CLI::IsMember({"kernel_tuner"}));
  command->add_option("-o,--output", asked->output, "File to write (default: standard output)");
  command->callback([asked] {
    const std::string text = asked->from.empty() ? described_file(asked->file, asked->kernel)
                                                 : described_script(asked->file, asked->kernel);
    if (asked->output.empty()) {
      std::cout << text;
      return;
    }
    std::error_code ignored;
    if (std::filesystem::exists(asked->output, ignored))
      throw UsageError("The file " + asked->output +
                       " exists; describe does not overwrite descriptions. Name another one, or remove it.");
    write_file(asked->output, text);
  });
}

}  // namespace tunesmith
