// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/description.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/target.h"
#include "kernel_file/c_type.h"
#include "kernel_file/description_reader.h"
#include "kernel_file/loops.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/text_scanner.h"
#include "kernel_file/unset_variable.h"

namespace tunesmith {
namespace {

// Returns the position of a call by which a whole grid waits, or asks whether it can; npos if there is none.
std::size_t grid_sync_of(std::string_view code) {
  static const std::regex named(
      R"(\b(\w+)\s*[=({]\s*(\w+\s*::\s*)*this_grid\s*\(|\bgrid_group\s*&?\s*(\w+))");
  const std::string text(code);
  std::string names = R"(this_grid\s*\(\s*\))";
  for (std::sregex_iterator one(text.begin(), text.end(), named), end; one != end; ++one)
    names += "|" + ((*one)[1].matched ? (*one)[1].str() : (*one)[3].str());
  const std::regex call("\\b(" + names + R"()\s*\.\s*(?:sync|is_valid)\s*\(|\bsync\s*\(\s*()" + names +
                        R"()\s*\))");
  std::smatch match;
  return std::regex_search(text, match, call) ? static_cast<std::size_t>(match.position())
                                              : std::string::npos;
}

constexpr std::string_view opening = "/* tunesmith";

// Returns the place of the comment with the description; npos if there is none.
std::size_t place_of_description(std::string_view cu) {
  for (std::size_t at = 0; (at = cu.find(opening, at)) != std::string_view::npos; ++at) {
    const std::size_t behind = at + opening.size();
    if (behind < cu.size() && std::isspace(static_cast<unsigned char>(cu[behind])) != 0) return at;
  }
  return std::string_view::npos;
}

// Returns the description inside the .cu, on its own lines; nothing if there is none.
std::optional<std::string> inside(std::string_view cu) {
  const std::size_t at = place_of_description(cu);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + opening.size();
  const std::size_t end = std::min(cu.find("*/", begin), cu.size());
  const auto lines = std::count(cu.begin(), cu.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return std::string(static_cast<std::size_t>(lines), '\n') + std::string(cu.substr(begin, end - begin));
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.size() <= 60 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

bool is_lower(std::string_view text) {
  return is_identifier(text) && std::none_of(text.begin(), text.end(), [](char c) {
           return std::isupper(static_cast<unsigned char>(c)) != 0;
         });
}

// Adds the keys whose value is the text "?".
void DescriptionReader::find_open(const toml::node& node, const std::string& key,
                                  std::vector<const toml::node*>& nodes, std::vector<std::string>& keys) {
  if (const auto* text = node.as_string(); text != nullptr && text->get() == "?") {
    nodes.push_back(&node);
    const std::string at = " (line " + std::to_string(node.source().begin.line) + ")";
    if (keys.empty() || keys.back() != key + at) keys.push_back(key + at);
  }
  if (const toml::array* all = node.as_array())
    for (const toml::node& one : *all) find_open(one, key, nodes, keys);
  if (const toml::table* all = node.as_table())
    for (const auto& [name, one] : *all)
      find_open(one, (key.empty() ? "" : key + ".") + std::string(name.str()), nodes, keys);
}

Description DescriptionReader::read(const toml::table& root) {
  std::vector<const toml::node*> nodes;
  std::vector<std::string> keys;
  find_open(root, "", nodes, keys);
  if (!nodes.empty())
    refuse(nodes.front(), "The description leaves open " + listed(keys) +
                              ": a person must decide there. Replace each \"?\" by what the kernel needs.");
  only_keys(root, "the description", {"name",        "what",      "kernel",          "dtype",
                                      "type",        "flops",     "alignment_bytes", "compute_capability",
                                      "compiled_in", "examples",  "companions",      "instantiate",
                                      "symbols",     "zeroed",    "tolerance",       "problem",
                                      "arrays",      "axes",      "compile",         "rules",
                                      "launch",      "reference", "metrics",         "blocks_in_order"});
  std::vector<std::string> constants;  // constants defined before the text
  if (const toml::table* axes = root["axes"].as_table())
    for (const auto& [name, node] : *axes) {
      constants.emplace_back(name.str());
      if (is_type_axis(root, constants.back())) type_axes_.insert(constants.back());
    }
  if (const toml::array* names = root["compiled_in"].as_array())
    for (const toml::node& one : *names)
      if (one.is_string()) constants.push_back(one.as_string()->get());
  if (const toml::table* defines = root["compile"]["defines"].as_table())
    for (const auto& [name, node] : *defines) constants.emplace_back(name.str());
  for (CompiledText& one : compiled_texts(text_.cu, text_.included, constants)) {
    code_ += one.text + "\n";
    compiled_.push_back(std::move(one.text));
    lines_.push_back(std::move(one.lines));
  }
  kernels_ = kernels_of(code_);
  if (const toml::table* defines = root["compile"]["defines"].as_table())
    for (const auto& [name, node] : *defines)
      if (node.is_string())  // a type's words are a meaning of the name, found behind the text
        code_ += "\n#define " + std::string(name.str()) + " " + node.as_string()->get() + "\n";
  read_symbols(root);
  choose_kernels(root);
  find_reached(root, constants);
  must_read_no_texture();
  const std::string& first = launches_.front().kernel.name;
  made_.name = root.contains("name") ? text(*root.get("name"), "name") : in_lower_case(first);
  if (!is_lower(made_.name)) {
    refuse(root.get("name"),
           "The op's name is \"" + made_.name +
               "\"; give one by name = \"…\" of lower-case letters, digits and underscores.");
  }
  made_.what = root.contains("what") ? line(*root.get("what"), "what")
                                     : "The kernel " + first + " of " + text_.path + ".";
  if (const toml::node* node = root.get("type")) {
    made_.type = text(*node, "type");
    if (!is_identifier(made_.type)) refuse(node, "type is " + shown(*node) + "; give the name of a type.");
    if (type_axes_.contains(made_.type))
      refuse(node, "type is " + made_.type + ", which is an axis of types; leave one of them out.");
  }
  std::vector<std::string> dtypes;
  if (const toml::node* node = root.get("dtype")) dtypes = dtype_categories(*node);
  dtype_is_given_ = !dtypes.empty();
  if (dtypes.size() > 1 && made_.type.empty()) {
    refuse(root.get("dtype"),
           "There are several dtypes, so the kernel must have a name for the type; give it by type "
           "= \"T\".");
  }
  const std::vector<std::string> given_dtypes = dtypes;
  instantiate_kernels(root, dtypes);
  read_arrays(root, dtypes);
  read_problem(root, dtypes);
  place_symbols();
  read_axes(root);
  read_compilation(root);
  read_metrics(root);
  for (DescribedArray& array : made_.arrays) parse_extents(root, array);
  read_rules(root);
  read_rest(root);
  read_launches();
  find_loops();
  find_grid_syncs();
  must_be_alone();
  must_be_given(root);
  must_be_written(root);
  for (const GivenLaunch& launch : launches_)
    for (const DeclaredKernel::Parameter& one : launch.kernel.parameters) {
      const CType type = c_type(one.type, code_);
      const bool is_wide = type.lanes > 1 || (!type.dtype && one.type.find("void") == std::string::npos);
      if (one.is_pointer && is_wide && !is_of_problem(one))
        made_.pointer_alignment = std::max(made_.pointer_alignment, type.alignment());
    }
  read_reference(root, given_dtypes.empty() ? dtypes : given_dtypes);
  for (const std::string& name : also_compiled_in_)
    if (std::find(made_.compiled_in.begin(), made_.compiled_in.end(), name) == made_.compiled_in.end())
      made_.compiled_in.push_back(name);
  must_be_used(root);
  made_.checks = checks_of(root);
  return std::move(made_);
}

std::string DescriptionReader::canonical(const toml::node& node) {
  if (const auto* value = node.as_string()) return std::to_string(value->get().size()) + ":" + value->get();
  if (const auto* value = node.as_integer()) return std::to_string(value->get());
  if (const auto* value = node.as_floating_point()) return printed("%.17g", value->get());
  if (const auto* value = node.as_boolean()) return value->get() ? "1" : "0";
  std::string text;
  if (const toml::array* all = node.as_array()) {
    for (const toml::node& one : *all) text += canonical(one) + ",";
    return "[" + text + "]";
  }
  if (const toml::table* all = node.as_table()) {
    for (const auto& [key, one] : *all)  // in the order of the keys
      if (key != "what" && key != "why") text += std::string(key.str()) + "=" + canonical(one) + ",";
    return "{" + text + "}";
  }
  return "";
}

void DescriptionReader::must_read_no_texture() const {
  for (const std::string& text : reached_)
    for (const char* word :
         {"tex1D", "tex2D", "tex3D", "tex1Dfetch", "tex1DLayered", "tex2DLayered", "texCubemap", "surf1Dread",
          "surf2Dread", "surf3Dread", "surf1Dwrite", "surf2Dwrite", "surf3Dwrite"})
      if (find_word(text, word) != std::string::npos)
        refuse(nullptr, "The kernel " + launches_.front().kernel.name + " calls " + word +
                            "(). Textures and surfaces are objects that a program creates, so no description "
                            "gives them; let the kernel take the array as a pointer.");
}

// A call in a function that is no launched kernel counts for all launches.
void DescriptionReader::find_grid_syncs() {
  bool is_elsewhere = false;
  std::set<std::string> waiting;
  for (const std::string& text : reached_) {
    for (std::size_t from = 0, at = 0;
         (at = grid_sync_of(std::string_view(text).substr(from))) != std::string::npos; from += at + 1) {
      bool is_in_kernel = false;
      for (const Braces& one : outer_braces(text)) {
        if (!one.holds(from + at) || one.is_transparent()) continue;
        const std::string head = text.substr(one.head, one.open - one.head);
        for (const GivenLaunch& launch : launches_)
          if (find_word(head, launch.kernel.name) != std::string::npos) {
            waiting.insert(launch.kernel.name);
            is_in_kernel = true;
          }
      }
      is_elsewhere |= !is_in_kernel;
    }
  }
  for (std::size_t n = 0; n < made_.launches.size(); ++n)
    made_.launches[n].is_cooperative = is_elsewhere || waiting.contains(launches_[n].kernel.name);
}

void DescriptionReader::find_loops() {
  bool is_any = false;
  std::set<std::string, std::less<>> names;
  for (const std::string& text : reached_) names.merge(names_in_loop_ends(text, is_any));
  for (const Parameter& one : made_.parameters) {
    if (!one.is_integer()) continue;
    bool is_end = is_any || names.contains(one.name);
    for (std::size_t n = 0; n < launches_.size() && !is_end; ++n) {
      const std::vector<DescribedArgument>& arguments = made_.launches[n].arguments;
      for (std::size_t i = 0; i < arguments.size() && i < launches_[n].kernel.parameters.size(); ++i) {
        const auto& given = arguments[i].number.expression;
        const bool is_record = arguments[i].type == DescribedArgument::Type::record;
        is_end |= names.contains(launches_[n].kernel.parameters[i].name) &&
                  (is_record || (given && find_word(given->text(), one.name) != std::string::npos));
      }
    }
    if (is_end) made_.of_loops.insert(one.name);
  }
}

// Leaves out the values of axes and the rules for configs: they say which variants exist, not what is right.
std::string DescriptionReader::checks_of(const toml::table& root) const {
  std::string text;
  for (const char* key : {"alignment_bytes", "arrays", "blocks_in_order", "companions", "instantiate",
                          "launch", "problem", "reference", "tolerance"})
    if (const toml::node* node = root.get(key)) text += std::string(key) + "=" + canonical(*node) + ";";
  if (const toml::table* rules = root["rules"].as_table())
    if (const toml::node* node = rules->get("problem")) text += "rules.problem=" + canonical(*node) + ";";
  for (const std::string& array : zeroed_arrays_) text += "zeroed=" + array + ";";
  return text;
}

std::string DescriptionReader::kernel_names() const {
  std::vector<std::string> names;
  for (const DeclaredKernel& kernel : kernels_)
    if (std::find(names.begin(), names.end(), kernel.name) == names.end()) names.push_back(kernel.name);
  return listed(names);
}

void DescriptionReader::must_be_filled(const toml::node* node, const std::string& kernel) const {
  const std::optional<UnsetVariable> unset = unset_variable(code_, kernel, symbol_names());
  if (!unset) return;
  refuse(node, "The kernel " + kernel + " reads the " + (unset->is_constant ? "__constant__" : "__device__") +
                   " variable " + unset->name +
                   ", which has no initialiser and which nothing fills, so it would be zero. Give it an "
                   "initialiser, or fill it before each launch, from an array by symbols = { " +
                   unset->name + " = \"…\" }" +
                   (unset->is_constant ? "." : ", or with zeros by zeroed = [\"" + unset->name + "\"]."));
}

const DeclaredKernel& DescriptionReader::kernel_of(const toml::node* node, const std::string& name,
                                                   const Instantiate& given) const {
  if (given.node != nullptr && given.kernel != name)
    refuse(given.node, "instantiate names the kernel " + given.kernel + ", but the kernel is " + name + ".");
  std::vector<const DeclaredKernel*> found;
  for (const DeclaredKernel& kernel : kernels_)
    if (kernel.name == name) found.push_back(&kernel);
  if (found.empty()) {
    refuse(node, "There is no kernel " + name + " in " + text_.path + "; its __global__ functions are " +
                     kernel_names() + ".");
  }
  if (given.node != nullptr) {
    std::erase_if(found, [&](const DeclaredKernel* one) {
      return !one->is_template || one->template_parameters.size() < given.arguments.size();
    });
    if (found.empty())
      refuse(given.node, "instantiate gives " + std::to_string(given.arguments.size()) +
                             " template arguments, and no kernel " + name + " in " + text_.path +
                             " is a template with as many parameters.");
  }
  const DeclaredKernel& kernel = *found.front();
  if (found.size() > 1) {
    refuse(node, "The kernel " + name + " is declared in line " + std::to_string(kernel.line) +
                     " and, with other template parameters, in line " + std::to_string(found[1]->line) +
                     "; choose one by instantiate = \"" + name +
                     "<…>\" with all of its arguments, or give them names that differ.");
  }
  if (kernel.other_line > 0) {
    refuse(
        node,
        "The kernel " + name + " is declared with other parameters in line " +
            std::to_string(kernel.other_line) + " than in line " + std::to_string(kernel.line) +
            "; a description cannot say which of them is meant: leave one of them, or give it another name.");
  }
  must_be_filled(node, name);
  return kernel;
}

const DeclaredKernel& DescriptionReader::chosen_kernel(const toml::node* node, const Instantiate& given,
                                                       const std::string& reference) const {
  if (kernels_.empty()) refuse(node, text_.path + " has no __global__ function; there is nothing to tune.");
  if (node != nullptr) return kernel_of(node, text(*node, "kernel"), given);
  if (given.node != nullptr) return kernel_of(given.node, given.kernel, given);
  std::string only;  // the kernel that is no reference
  bool is_only = true;
  for (const DeclaredKernel& one : kernels_) {
    if (one.name == reference) continue;
    is_only = is_only && (only.empty() || only == one.name);
    only = one.name;
  }
  if (only.empty()) only = reference;
  if (!is_only) {
    refuse(nullptr, "There are several kernels (" + kernel_names() +
                        "); set kernel = \"…\" to the one that is tuned.");
  }
  return kernel_of(nullptr, only, given);
}

std::vector<std::string> DescriptionReader::dtype_categories(const toml::node& node) const {
  std::vector<std::string> dtypes = texts(node, "dtype");
  for (const std::string& dtype : dtypes) {
    if (std::find(described_dtypes.begin(), described_dtypes.end(), dtype) == described_dtypes.end())
      refuse(&node, "dtype is \"" + dtype + "\"; allowed are " + listed(described_dtypes) + ".");
  }
  return dtypes;
}

std::vector<ExpressionName> DescriptionReader::problem_names() const {
  std::vector<ExpressionName> names = made_.names();
  names.resize(names.size() - made_.axes.size());
  return names;
}

IntegerExpression DescriptionReader::expression(const toml::node& node, const std::string& key,
                                                const std::vector<ExpressionName>& names) const {
  std::string words;
  if (node.is_integer())
    words = std::to_string(node.as_integer()->get());
  else if (node.is_string())
    words = node.as_string()->get();
  else
    refuse(&node, key + " is " + shown(node) + "; give an expression in quotes, or a whole number.");
  try {
    return IntegerExpression::parse(words, names);
  } catch (const UsageError& error) {
    refuse(&node, error.what());
  }
}

std::vector<DescribedRule> DescriptionReader::rules(const toml::node& node, const std::string& key,
                                                    const std::vector<ExpressionName>& names) const {
  std::vector<DescribedRule> all;
  const auto add = [&](const toml::node& one) {
    if (const toml::table* fields = one.as_table()) {
      only_keys(*fields, "a rule", {"rule", "why"});
      if (!fields->contains("rule")) refuse(&one, "A rule of " + key + " has no rule; add rule = \"…\".");
      const IntegerExpression holds = expression(*fields->get("rule"), key, names);
      all.push_back({holds, fields->contains("why") ? line(*fields->get("why"), "why") : holds.text() + "."});
    } else {
      const IntegerExpression holds = expression(one, key, names);
      all.push_back({holds, holds.text() + "."});
    }
  };
  if (!node.is_array()) {
    add(node);
  } else {
    for (const toml::node& one : *node.as_array()) add(one);
  }
  return all;
}

void DescriptionReader::read_rules(const toml::table& root) {
  const toml::table* given = table(root, "rules");
  if (given == nullptr) return;
  only_keys(*given, "[rules]", {"problem", "must", "worth"});
  if (const toml::node* node = given->get("problem"))
    made_.allowed = rules(*node, "problem", problem_names());
  if (const toml::node* node = given->get("must")) made_.must = rules(*node, "must", made_.names());
  if (const toml::node* node = given->get("worth")) made_.worth = rules(*node, "worth", made_.names());
}

void DescriptionReader::read_rest(const toml::table& root) {
  if (const toml::node* node = root.get("flops")) made_.flops = expression(*node, "flops", problem_names());
  if (const toml::node* node = root.get("alignment_bytes"))
    made_.alignment_bytes = expression(*node, "alignment_bytes", made_.names());
  if (const toml::node* node = root.get("compute_capability")) {
    const auto capability = node->is_string() ? parse_capability(node->as_string()->get()) : std::nullopt;
    if (!capability) refuse(node, "compute_capability is " + shown(*node) + "; give a text such as \"8.0\".");
    made_.compute_capability = *capability;
  }
  if (const toml::node* node = root.get("blocks_in_order")) {
    if (!node->is_boolean()) refuse(node, "blocks_in_order is " + shown(*node) + "; give true or false.");
    made_.blocks_in_order = node->as_boolean()->get();
  }
  if (const toml::node* node = root.get("compiled_in")) {
    for (const std::string& name : texts(*node, "compiled_in")) {
      if (std::none_of(made_.parameters.begin(), made_.parameters.end(),
                       [&](const Parameter& one) { return one.name == name; }))
        refuse(node, "compiled_in names " + name + ", which is not a parameter of the problem.");
      if (!occurs(name))
        refuse(node, "The compiled-in parameter " + name + " does not occur in " + text_.path +
                         "; write it as the kernel does.");
      made_.compiled_in.push_back(name);
    }
  }
  if (const toml::node* node = root.get("examples")) made_.examples = texts(*node, "examples");
  if (const toml::node* node = root.get("companions")) made_.companions = texts(*node, "companions");
  const toml::node* tolerance = root.get("tolerance");
  if (tolerance == nullptr) return;
  if (const toml::table* fields = tolerance->as_table()) {
    only_keys(*fields, "tolerance", {"relative", "absolute"});
    if (const toml::node* node = fields->get("relative"))
      made_.relative_tolerance = real(*node, "tolerance.relative", 0);
    if (const toml::node* node = fields->get("absolute"))
      made_.absolute_tolerance = real(*node, "tolerance.absolute", 0);
  } else {
    made_.relative_tolerance = real(*tolerance, "tolerance", 0);
  }
}

std::vector<ExpressionName> Description::names() const {
  std::vector<ExpressionName> names;
  for (const Parameter& parameter : parameters) names.push_back({parameter.name, parameter.categories});
  names.push_back({"dtype_bytes", {}});
  for (const DescribedAxis& axis : axes) names.push_back({axis.name, axis.types});
  return names;
}

std::vector<ExpressionName> Description::names_with_step() const {
  std::vector<ExpressionName> all = names();
  all.push_back({"step", {}});
  return all;
}

std::string without_description(std::string cu) {
  if (const std::size_t at = place_of_description(cu); at != std::string::npos) cu[at + 3] = '-';
  return cu;
}

std::vector<std::string> include_folders(const KernelFile& text) {
  std::vector<std::string> made;
  const std::string words = inside(text.cu).value_or(text.description);
  if (words.find("include") == std::string::npos) return made;
  try {
    const toml::table root = parse_toml(words, text.path, "The description");
    if (const toml::array* given = root["compile"]["include"].as_array())
      for (const toml::node& one : *given)
        if (const auto* folder = one.as_string(); folder != nullptr && is_include_folder(folder->get()))
          made.push_back(folder->get());
  } catch (const UsageError&) {  // read_description() throws it again
    made.clear();
  }
  return made;
}

Description read_description(const KernelFile& text) {
  const std::optional<std::string> own = inside(text.cu);
  const std::string file =
      own ? text.path : std::filesystem::path(text.path).replace_extension(".toml").string();
  if (!own && text.description.empty()) {
    throw UsageError(
        text.path +
        " has no description: there is neither a comment \"/* tunesmith … */\" in it nor a file " + file +
        ". docs/your_own_kernel.md shows one.");
  }
  if (own && !text.description.empty()) {
    throw UsageError(
        text.path +
        " has two descriptions, a comment \"/* tunesmith … */\" and the .toml beside it; leave one of them.");
  }
  const toml::table root = parse_toml(own ? *own : text.description, file, "The description");
  return DescriptionReader(text, file).read(root);
}

}  // namespace tunesmith
