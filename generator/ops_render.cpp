#include <algorithm>
#include <filesystem>

#include "generator/described_op.h"
#include "generator/error.h"
#include "generator/ops.h"

namespace tunesmith {

const Files& files_of(const Op& op) {
  const OwnOp* own = find_own_op(op.name);
  return own != nullptr ? own->files : template_files();
}

const OwnOp& add_own_op(const OwnText& text) {
  auto made = described_op(text, template_files());
  const std::string& name = made->op.name;
  if (std::any_of(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; })) {
    throw UsageError(text.path + " describes an op " + name +
                     ", which is one of Tunesmith's own; give it another by name = \"…\".");
  }
  return add_own_op(std::move(made));
}

std::string located(const std::string& log, const std::string& text) {
  constexpr std::string_view opening = "// ";  // "// softmax/softmax for sm_90a, rendered …"
  const std::string name = text.starts_with(opening)
                               ? text.substr(opening.size(), text.find('/', opening.size()) - opening.size())
                               : "";
  const OwnOp* own = find_own_op(name);
  if (own == nullptr) return located(log, text, template_files());
  std::string words = located(log, text, own->files);
  const auto replace_all = [&](std::string_view what, const std::string& with) {
    for (std::size_t at; (at = words.find(what)) != std::string::npos;) words.replace(at, what.size(), with);
  };
  replace_all("variant.cpp: ", own->text.path + ": ");          // "variant.cpp: In function …"
  replace_all("\"variant.cu\"", "\"" + own->text.path + "\"");  // "1 error detected in the compilation of …"
  for (const auto& [path, unused] : own->files) {
    if (!path.starts_with(name + "/")) continue;
    constexpr std::string_view ending = ".inl";
    const bool is_included = path.ends_with(ending);
    const std::string file =
        is_included ? (std::filesystem::path(own->text.path).parent_path() /
                       path.substr(name.size() + 1, path.size() - name.size() - 1 - ending.size()))
                          .string()
                    : own->text.path;
    for (std::size_t at = 0; (at = words.find(path + ":", at)) != std::string::npos; at += file.size())
      words.replace(at, path.size(), file);
  }
  return words;
}

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target) {
  return render(op, tmpl, problem, config, target, files_of(op));
}

}  // namespace tunesmith
