#include "generator/render.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "generator/error.h"
#include "generator/hash.h"

namespace tunesmith {
namespace {

// SMEM_LAYOUT -> SmemLayout, mode -> Mode.
std::string enum_name(std::string_view name) {
  std::string type;
  bool start = true;
  for (const char c : name) {
    if (c == '_') {
      start = true;
      continue;
    }
    const auto letter = static_cast<unsigned char>(c);
    type += static_cast<char>(start ? std::toupper(letter) : std::tolower(letter));
    start = false;
  }
  return type;
}

// Words that C++ keeps for itself get an underscore: SMEM_ALLOC=static is SmemAlloc::static_ in a body.
std::string enumerator(const std::string& word) {
  static const std::set<std::string, std::less<>> keywords = {
      "auto",     "const",    "default", "delete", "do",       "double",  "extern", "float", "for",
      "if",       "int",      "long",    "new",    "or",       "and",     "not",    "xor",   "signed",
      "register", "short",    "char",    "static", "switch",   "this",    "true",   "false", "union",
      "void",     "volatile", "while",   "bool",   "unsigned", "operator"};
  return keywords.contains(word) ? word + "_" : word;
}

void write_constant(std::string& text, std::string_view name, const Value& value,
                    const std::vector<std::string>& words) {
  if (std::holds_alternative<std::int64_t>(value)) {
    text += "constexpr int " + std::string(name) + " = " + to_text(value) + ";\n";
    return;
  }
  const std::string type = enum_name(name);
  text += "enum class " + type + " {";
  for (const std::string& word : words) text += (word == words.front() ? " " : ", ") + enumerator(word);
  text += " };\nconstexpr " + type + " " + std::string(name) + " = " + type +
          "::" + enumerator(std::get<std::string>(value)) + ";\n";
}

// Moves each include of a templates/common file out of `text` into `included`, once, dependencies first.
void split_includes(std::string_view path, const Files& files, std::set<std::string>& seen,
                    std::string& included, std::string& body) {
  const auto file = files.find(path);
  if (file == files.end()) throw Error("There is no template file templates/" + std::string(path) + ".");
  std::istringstream lines(file->second);
  for (std::string line; std::getline(lines, line);) {
    static constexpr std::string_view directive = "#include \"";
    if (line == "#pragma once") continue;
    if (line.rfind(directive, 0) == 0) {
      const std::string name =
          line.substr(directive.size(), line.find('"', directive.size()) - directive.size());
      if (seen.insert(name).second) {
        std::string inner;
        split_includes(name, files, seen, included, inner);
        included += "// ---- templates/" + name + "\n" + inner + "\n";
      }
      continue;
    }
    body += line + "\n";
  }
}

}  // namespace

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target, const Files& files) {
  const std::string path = op.name + "/" + tmpl.name + ".cu";
  std::set<std::string> seen;
  std::string included;
  std::string body;
  if (target == "host") {
    std::string shim;
    seen.insert("common/host_shim.h");
    split_includes("common/host_shim.h", files, seen, included, shim);
    included += "// ---- templates/common/host_shim.h\n" + shim + "\n";
  }
  const Values constants = compiled_in(op, tmpl, problem);
  if (const Value* dtype = constants.find("dtype");
      dtype != nullptr && (to_text(*dtype) == "f16" || to_text(*dtype) == "bf16")) {
    const std::string types = "common/float16.cuh";
    std::string text;
    seen.insert(types);
    split_includes(types, files, seen, included, text);
    included += "// ---- templates/" + types + "\n" + text + "\n";
  }
  split_includes(path, files, seen, included, body);

  std::string text = "// " + op.name + "/" + tmpl.name + " for " + std::string(target) +
                     ", rendered by Tunesmith from templates/" + path +
                     ": change that and render again.\n// compiled in: " + constants.text() +
                     "\n// config: " + config.text() + "\n\n" + included;

  text += "// ---- what this variant is\n";
  for (const auto& [name, value] : constants.entries()) {
    if (name == "dtype") {
      text +=
          "using T = " + std::string(cuda_type(dtype_of(problem))) + ";  // dtype=" + to_text(value) + "\n";
      continue;
    }
    const auto parameter = std::find_if(op.parameters.begin(), op.parameters.end(),
                                        [&, n = name](const Parameter& p) { return p.name == n; });
    if (parameter != op.parameters.end() && parameter->refuses_text) continue;  // the preamble's matter
    write_constant(text, name, value,
                   parameter == op.parameters.end() ? std::vector<std::string>() : parameter->words);
  }
  for (std::size_t at = 0; at < config.axes().size(); ++at) {
    const Axis& axis = config.axes()[at];
    std::vector<std::string> words;
    for (const Value& value : axis.values) {
      if (const auto* word = std::get_if<std::string>(&value)) words.push_back(*word);
    }
    write_constant(text, axis.name, config.value(at), words);
  }

  if (op.preamble) text += op.preamble(problem);

  Source source;
  source.suffix = "_" + sha256(text + body).substr(0, 8);
  source.text =
      text + "#define ENTRY(name) name##" + source.suffix + "\n\n// ---- templates/" + path + "\n" + body;
  if (target == "host") {
    source.text += "\n// ---- entries for the host\n";
    for (const std::string& kernel : tmpl.kernels)
      source.text += "TUNESMITH_HOST_ENTRY(" + kernel + source.suffix + ")\n";
  }
  source.hash = sha256(source.text);
  source.kernels = tmpl.kernels;
  source.target = target;
  return source;
}

}  // namespace tunesmith
