// SPDX-License-Identifier: Apache-2.0
// The build compiles this file into the same library as the generated table of ops, which defines ops() and
// template_files().
#include "kernel_file/add.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "generator/error.h"
#include "generator/ops.h"
#include "kernel_file/described_op.h"

namespace tunesmith {

const UserKernel& add_user_kernel(const KernelFile& file) {
  auto made = described_op(file, template_files());
  const std::string& name = made->op.name;
  if (std::any_of(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; })) {
    throw UsageError(file.path + " describes an op " + name +
                     ", which is one of Tunesmith's own; give it another by name = \"…\".");
  }
  return keep_user_kernel(std::move(made));
}

namespace {

// Compilers say these words of names that they do not know.
constexpr std::string_view of_unknown_names[] = {"not declared",   "is undefined",     "does not name a type",
                                                 "been declared",  "undeclared",       "unknown type name",
                                                 "not a template", "no template named"};

}  // namespace

std::string located(const std::string& log, const std::string& text) {
  constexpr std::string_view opening = "// ";  // "// softmax/softmax for sm_90a, rendered …"
  const std::string name = text.starts_with(opening)
                               ? text.substr(opening.size(), text.find('/', opening.size()) - opening.size())
                               : "";
  const UserKernel* kernel = find_user_kernel(name);
  if (kernel == nullptr) return located(log, text, template_files());
  std::string words = located(log, text, kernel->files);
  const auto replace_all = [&](std::string_view what, const std::string& with) {
    for (std::size_t at; (at = words.find(what)) != std::string::npos;) words.replace(at, what.size(), with);
  };
  replace_all("variant.cpp: ", kernel->file.path + ": ");  // "variant.cpp: In function …"
  replace_all("\"variant.cu\"",
              "\"" + kernel->file.path + "\"");  // "1 error detected in the compilation of …"
  for (const auto& [path, unused] : kernel->files) {
    if (!path.starts_with(name + "/")) continue;
    constexpr std::string_view ending = ".inl";
    const bool is_included = path.ends_with(ending);
    const std::string file =
        is_included ? (std::filesystem::path(kernel->file.path).parent_path() /
                       path.substr(name.size() + 1, path.size() - name.size() - 1 - ending.size()))
                          .string()
                    : kernel->file.path;
    for (std::size_t at = 0; (at = words.find(path + ":", at)) != std::string::npos; at += file.size())
      words.replace(at, path.size(), file);
  }
  const bool has_unknown_name =
      std::any_of(std::begin(of_unknown_names), std::end(of_unknown_names),
                  [&](std::string_view one) { return words.find(one) != std::string::npos; });
  if (has_unknown_name && !kernel->absent.empty())
    words += (words.ends_with('\n') ? "" : "\n") + kernel->absent + "\n";
  return words;
}

}  // namespace tunesmith
