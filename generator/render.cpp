// SPDX-License-Identifier: Apache-2.0
#include "generator/render.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "generator/error.h"
#include "generator/hash.h"
#include "generator/identity.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

// Turns SMEM_LAYOUT into SmemLayout and mode into Mode.
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

// Appends an underscore to reserved words of C++: SMEM_ALLOC=static is SmemAlloc::static_ in a body.
std::string enumerator(const std::string& word) {
  using Keywords = std::set<std::string, std::less<>>;
  // Never destroyed, because threads of a static dispatcher may render while the process ends.
  static const auto& keywords = *new Keywords{
      "auto",     "const",    "default", "delete", "do",       "double",  "extern", "float", "for",
      "if",       "int",      "long",    "new",    "or",       "and",     "not",    "xor",   "signed",
      "register", "short",    "char",    "static", "switch",   "this",    "true",   "false", "union",
      "void",     "volatile", "while",   "bool",   "unsigned", "operator"};
  return keywords.contains(word) ? word + "_" : word;
}

// A constant of the text: an integer, one of `categories`, or the dtype.
struct Constant {
  std::string name;
  Value value;
  std::vector<std::string> categories = {};
  bool is_type = false;  // of a user's kernel, whose settings write it
};

void write(std::string& text, const Constant& constant, const Template& tmpl) {
  if (constant.is_type) return;
  if (constant.name == "dtype") {
    if (!tmpl.names_dtype) return;
    const DType dtype = dtype_of({{"dtype", constant.value}});
    text += "using T = " + std::string(cuda_type(dtype)) + ";  // dtype=" + to_text(constant.value) + "\n";
    return;
  }
  if (std::holds_alternative<std::int64_t>(constant.value)) {
    const bool macro = std::find(tmpl.macros.begin(), tmpl.macros.end(), constant.name) != tmpl.macros.end();
    const bool is_int = std::in_range<int>(std::get<std::int64_t>(constant.value));
    text += (macro ? "#define " + constant.name + " "
                   : (is_int ? "constexpr int " : "constexpr long long ") + constant.name + " = ") +
            to_text(constant.value) + (macro ? "\n" : ";\n");
    return;
  }
  const std::string type = enum_name(constant.name);
  text += "enum class " + type + " {";
  for (const std::string& word : constant.categories)
    text += (word == constant.categories.front() ? " " : ", ") + enumerator(word);
  text += " };\nconstexpr " + type + " " + constant.name + " = " + type +
          "::" + enumerator(std::get<std::string>(constant.value)) + ";\n";
}

std::vector<Constant> constants_of(const Op& op, const Template& tmpl, const Problem& problem,
                                   const Config& config) {
  std::vector<Constant> constants;
  const Values from_problem = compiled_in(op, tmpl, problem);
  for (const auto& [name, value] : from_problem.entries()) {
    const auto parameter = std::find_if(op.parameters.begin(), op.parameters.end(),
                                        [&, n = name](const Parameter& p) { return p.name == n; });
    const bool known = parameter != op.parameters.end();
    if (known && parameter->refuses_text) continue;  // the preamble writes it
    constants.push_back({name, value, known ? parameter->categories : std::vector<std::string>()});
  }
  for (std::size_t at = 0; at < config.axes().size(); ++at) {
    Constant constant{config.axes()[at].name, config.value(at)};
    constant.is_type = op.user_kernel != nullptr && std::holds_alternative<std::string>(constant.value);
    for (const Value& value : config.axes()[at].values) {
      if (const auto* word = std::get_if<std::string>(&value)) constant.categories.push_back(*word);
    }
    constants.push_back(std::move(constant));
  }
  return constants;
}

// Hashes what the compiler sees: constants and body, independent of the order of axes and categories.
std::string identity_of(const std::vector<Constant>& constants, std::string_view body) {
  std::vector<std::string> lines;
  for (const Constant& constant : constants) {
    std::string line = constant.name + "=" + to_text(constant.value);
    if (const auto* word = std::get_if<std::string>(&constant.value);
        word != nullptr && reads_as_number(body, constant.name)) {
      const auto found = std::find(constant.categories.begin(), constant.categories.end(), *word);
      line += " as " + std::to_string(found - constant.categories.begin());
    }
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Returns the file that a line `#include "common/vector.cuh"` names; empty for any other line.
std::string_view included_file(std::string_view line) {
  static constexpr std::string_view directive = "#include \"";
  if (!line.starts_with(directive)) return "";
  line.remove_prefix(directive.size());
  return line.substr(0, line.find('"'));
}

// A line of one of the files, which outlive it, with its file and number.
struct Line {
  std::string_view text;
  std::string_view file;
  int number;  // from 1 on
};

// Returns a file's lines with each included fragment (*.inl) in the place of its #include, recursively.
// `around` holds the files whose fragments led to this one.
std::vector<Line> with_fragments(std::string_view path, const Files& files,
                                 std::vector<std::string_view> around = {}) {
  const auto file = files.find(path);
  if (file == files.end()) throw Error("There is no template file templates/" + std::string(path) + ".");
  if (std::find(around.begin(), around.end(), path) != around.end()) {
    throw Error("The fragment templates/" + std::string(path) + " includes itself, by way of templates/" +
                std::string(around.back()) + ": remove that include.");
  }
  around.push_back(path);
  std::vector<Line> all;
  int number = 0;
  for (std::string_view rest = file->second; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    ++number;
    const std::string_view name = included_file(line);
    if (name.ends_with(".inl")) {
      const std::vector<Line> fragment = with_fragments(name, files, around);
      all.insert(all.end(), fragment.begin(), fragment.end());
    } else {
      all.push_back({line, file->first, number});
    }
  }
  return all;
}

// Begins the comment line before the lines of each file.
constexpr std::string_view heading = "// ---- templates/";

// Lines around the text of a user's described kernel for the host.
constexpr std::string_view enclosure = "namespace {", enclosure_end = "}  // namespace";

// The texts that a body includes, each once, dependencies first.
class Includes {
 public:
  /// With `host`, common/host/NAME.h replaces common/NAME.cuh if it exists.
  Includes(const Files& files, bool host) : files_(files), host_(host) {}

  void add(std::string name) {
    static constexpr std::string_view common = "common/", ending = ".cuh";
    if (host_ && name.starts_with(common) && name.ends_with(ending)) {
      const std::string base = name.substr(common.size(), name.size() - common.size() - ending.size());
      if (const std::string twin = "common/host/" + base + ".h"; files_.contains(twin)) name = twin;
    }
    if (!seen_.insert(name).second) return;
    const std::string inner = without_includes(name);
    text_ += std::string(heading) + name + "\n" + inner + "\n";
  }

  /// Returns the file's own lines and adds the files that it includes.
  std::string without_includes(const std::string& path) {
    std::string own;
    for (const Line& line : with_fragments(path, files_)) {
      if (line.text == "#pragma once") continue;
      if (const std::string_view name = included_file(line.text);
          !name.empty() && line.text != generated_line) {
        add(std::string(name));
      } else {
        own.append(line.text) += '\n';
      }
    }
    return own;
  }

  const std::string& text() const { return text_; }

 private:
  const Files& files_;
  bool host_;
  std::set<std::string> seen_;
  std::string text_;
};

// Returns for each line of the text (from 1 on) its origin; null for a line that render() writes itself.
std::vector<const Line*> origins(const std::string& text, const Files& files,
                                 std::map<std::string, std::vector<Line>>& kept) {
  std::vector<const Line*> found = {nullptr};
  const std::vector<Line>* from = nullptr;
  std::size_t next = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    found.push_back(nullptr);
    if (line.starts_with(heading)) {
      const std::string name = line.substr(heading.size());
      from = nullptr;
      if (!files.contains(name)) continue;
      from = &kept.emplace(name, with_fragments(name, files)).first->second;
      next = 0;
      continue;
    }
    while (from != nullptr && next < from->size() && (*from)[next].text != line)
      ++next;  // skips its #include lines
    if (from != nullptr && next < from->size())
      found.back() = &(*from)[next++];
    else if (line == enclosure_end && from != nullptr && !from->empty())
      found.back() = &from->back();
  }
  return found;
}

}  // namespace

std::string located(const std::string& log, const std::string& text, const Files& files) {
  constexpr std::string_view name = "variant.", digits = "0123456789";
  std::map<std::string, std::vector<Line>> kept;
  const std::vector<const Line*> from = origins(text, files, kept);
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = log.find(name, at)) != std::string::npos; at += name.size()) {
    // variant.cpp:12 of a C++ compiler, variant.cu(12) of NVRTC
    const std::string_view behind = std::string_view(log).substr(at + name.size());
    const bool is_cpp = behind.starts_with("cpp:");
    if (!is_cpp && !behind.starts_with("cu(")) continue;
    const std::size_t begin = is_cpp ? 4 : 3;
    const std::size_t end = std::min(behind.find_first_not_of(digits, begin), behind.size());
    if (end == begin || (!is_cpp && (end == behind.size() || behind[end] != ')'))) continue;
    const auto number =
        static_cast<std::size_t>(parsed_number<std::int64_t>(behind.substr(begin, end - begin)).value_or(0));
    if (number >= from.size() || from[number] == nullptr) continue;
    result += log.substr(done, at - done) + std::string(from[number]->file) + ":" +
              std::to_string(from[number]->number);
    done = at + name.size() + end + (is_cpp ? 0 : 1);
  }
  return result + log.substr(done);
}

std::string body_hash(const Op& op, const Template& tmpl, const Files& files) {
  std::string text;
  for (const Line& line : with_fragments(body_path(op.name, tmpl), files)) text.append(line.text) += '\n';
  return sha256(without_comments(text));
}

std::string body_text(const Op& op, const Template& tmpl, const Problem& problem, std::string_view target,
                      const Files& files) {
  Includes includes(files, target == "host");
  if (target == "host") includes.add("common/host_shim.h");
  const Values constants = compiled_in(op, tmpl, problem);
  if (const Value* dtype = constants.find("dtype");
      dtype != nullptr && tmpl.names_dtype && (to_text(*dtype) == "f16" || to_text(*dtype) == "bf16")) {
    includes.add("common/float16.cuh");
  }
  const std::string path = body_path(op.name, tmpl);
  const std::string body = includes.without_includes(path);
  return includes.text() + std::string(constants_line) + "\n\n" + std::string(heading) + path + "\n" + body;
}

Source render_body(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
                   std::string_view target, const std::string& body) {
  const std::size_t split = body.find(constants_line);
  if (split == std::string::npos) {
    throw Error("The body of " + op.name + "/" + tmpl.name + " has no line " + std::string(constants_line) +
                ".");
  }
  const std::vector<Constant> constants = constants_of(op, tmpl, problem, config);
  const auto& makes_preamble = tmpl.preamble ? tmpl.preamble : op.preamble;
  const std::string preamble = makes_preamble ? makes_preamble(problem) : "";
  const std::string settings = tmpl.settings ? tmpl.settings(config) : "";
  const std::string generated = tmpl.generated ? tmpl.generated(problem, config) : "";
  const std::string seen = without_comments(body);

  Source source;
  source.hash = sha256(identity_of(constants, seen) + without_comments(preamble) +
                       without_comments(settings) + seen + without_comments(generated));
  source.suffix = "_" + source.hash.substr(0, 8);
  const std::string file = op.file.empty() ? "templates/" + body_path(op.name, tmpl)
                                           : std::filesystem::path(op.file).filename().string();
  source.text =
      "// " + op.name + "/" + tmpl.name + " for " + std::string(target) + ", rendered by Tunesmith from " +
      file + ": change that and render again.\n// compiled in: " + compiled_in(op, tmpl, problem).text() +
      "\n// config: " + config.text() + "\n\n" + body.substr(0, split) + "// ---- what this variant is\n";
  for (const Constant& constant : constants) write(source.text, constant, tmpl);
  source.text += preamble + settings + "#define ENTRY(name) name##" + source.suffix;
  // Any function of a described kernel may have shared arrays. Those of an inline function or a template must
  // be local to this text, so that they lie in one section with the others.
  const bool is_enclosed = target == "host" && !tmpl.names_dtype;
  if (is_enclosed) source.text += "\n" + std::string(enclosure);
  std::string rest = body.substr(split + constants_line.size());
  if (const std::size_t at = rest.find(generated_line); tmpl.generated && at != std::string::npos)
    rest.replace(at, generated_line.size(), generated);
  source.text += rest;
  for (const std::string& kernel : tmpl.kernels)
    if (!tmpl.generated || source.text.find("ENTRY(" + kernel + ")") != std::string::npos)
      source.kernels.push_back(kernel);
  if (is_enclosed) source.text += "\n" + std::string(enclosure_end) + "\n";
  if (target == "host") {
    source.text += "\n// ---- entries for the host\n";
    for (const std::string& kernel : source.kernels)
      source.text += "TUNESMITH_HOST_ENTRY(" + kernel + source.suffix + ")\n";
    for (const std::string& symbol : tmpl.symbols)
      source.text += "TUNESMITH_HOST_SYMBOL(" + symbol + source.suffix + ")\n";
  }
  source.target = target;
  return source;
}

Source render(const Op& op, const Template& tmpl, const Problem& problem, const Config& config,
              std::string_view target, const Files& files) {
  return render_body(op, tmpl, problem, config, target, body_text(op, tmpl, problem, target, files));
}

}  // namespace tunesmith
