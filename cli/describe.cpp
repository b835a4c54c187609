// SPDX-License-Identifier: Apache-2.0
// describe: writes the description of a user's kernel, as far as its file says it. It uses no database.
#include "kernel_file/describe.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "cli/cli.h"
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

}  // namespace

void add_describe_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("describe", "Write the description of your own kernel, as far as its file says it");
  struct DescribeRequest {
    std::string file, kernel, output;
  };
  auto asked = std::make_shared<DescribeRequest>();
  command->add_option("file", asked->file, "The kernel's file, my_kernel.cu")->required();
  command->add_option("--kernel", asked->kernel, "The __global__ function (default: the only one)");
  command->add_option("-o,--output", asked->output, "File to write (default: standard output)");
  command->callback([asked] {
    KernelFile file = read_kernel_file(asked->file);
    std::string text = described(file, asked->kernel, is_own_op);
    const bool is_open = text.find("\"?\"") != std::string::npos;
    if (!is_open) {
      // A refused description is left to a person; the sentence stands in the place of that about the kernel.
      if (const std::string why = refusal_of(std::move(file), text); !why.empty())
        text = "what = \"?\"  # not accepted as it stands: " + why.substr(0, why.find('\n')) + "\n" + text;
    }
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
