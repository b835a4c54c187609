#include "kernel_file/description.h"

#include <stdexcept>

// What toml++ assumes of a text is false for some that are damaged; with NDEBUG the compiler would rely on
// it.
namespace tunesmith {
constexpr void require_toml(bool holds) {
  if (!holds) throw std::logic_error("a key or a value has no form that TOML knows");
}
}  // namespace tunesmith
#undef NDEBUG
#define TOML_ASSERT(condition) tunesmith::require_toml(static_cast<bool>(condition))
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "generator/dtype.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/target.h"
#include "kernel_file/c_type.h"

namespace tunesmith {
namespace {

constexpr std::string_view opening = "/* tunesmith";
constexpr std::size_t most_axes = 24, most_values = 1000, most_parameters = 32, most_arrays = 32;
const std::vector<std::string> dtypes = {"f32", "f64", "f16", "bf16", "i8",  "i16", "i32",
                                         "i64", "u8",  "u16", "u32",  "u64", "bool"};

// The description that stands in the .cu, on its own lines; nothing: there is none.
std::optional<std::string> inside(std::string_view cu) {
  std::size_t at = 0;
  for (;; ++at) {
    at = cu.find(opening, at);
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t behind = at + opening.size();
    if (behind < cu.size() && std::isspace(static_cast<unsigned char>(cu[behind])) != 0) break;
  }
  const std::size_t begin = at + opening.size();
  const std::size_t end = std::min(cu.find("*/", begin), cu.size());
  const auto lines = std::count(cu.begin(), cu.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  return std::string(static_cast<std::size_t>(lines), '\n') + std::string(cu.substr(begin, end - begin));
}

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

std::optional<DescribedArgument::Type> scalar_of_type(const std::string& type, const std::string& alias) {
  using Type = DescribedArgument::Type;
  static const std::set<std::string> small = {"int",          "unsigned",      "unsigned int",
                                              "int32_t",      "uint32_t",      "uint",
                                              "std::int32_t", "std::uint32_t", "signed int"};
  static const std::set<std::string> large = {
      "long long",     "unsigned long long", "long",          "unsigned long", "size_t",
      "int64_t",       "uint64_t",           "ptrdiff_t",     "std::size_t",   "std::int64_t",
      "std::uint64_t", "std::ptrdiff_t",     "long long int", "long int"};
  if (small.contains(type)) return Type::int32;
  if (large.contains(type)) return Type::int64;
  if (type == "float") return Type::single;
  if (type == "double") return Type::twofold;
  if (!alias.empty() && type == alias) return Type::of_dtype;
  return std::nullopt;
}

class Reader {
 public:
  Reader(const KernelFile& text, std::string file) : text_(text), file_(std::move(file)) {}

  Description read(const toml::table& root) {
    only_keys(root, "the description",
              {"name", "what", "kernel", "dtype", "type", "flops", "alignment_bytes", "compute_capability",
               "compiled_in", "examples", "companions", "tolerance", "problem", "arrays", "axes", "rules",
               "launch", "reference"});
    std::string all = text_.cu;
    for (const auto& [name, included] : text_.included) all += "\n" + included;
    kernels_ = kernels_of(all);
    code_ = blanked(all);
    const DeclaredKernel& kernel = chosen_kernel(root.get("kernel"));
    made_.name = root.contains("name") ? text(*root.get("name"), "name") : kernel.name;
    if (!is_lower(made_.name)) {
      refuse(root.get("name"),
             "The op's name is \"" + made_.name +
                 "\"; give one by name = \"…\" of lower-case letters, digits and underscores.");
    }
    made_.what = root.contains("what") ? line(*root.get("what"), "what")
                                       : "The kernel " + kernel.name + " of " + text_.path + ".";
    if (const toml::node* node = root.get("type")) {
      made_.type = text(*node, "type");
      if (!is_identifier(made_.type)) refuse(node, "type is " + shown(*node) + "; give the name of a type.");
    }
    std::vector<std::string> words;
    if (const toml::node* node = root.get("dtype")) words = dtype_words(*node);
    if (words.size() > 1 && made_.type.empty()) {
      refuse(
          root.get("dtype"),
          "There are several dtypes, so the kernel must have a name for the type; give it by type = \"T\".");
    }
    read_arrays(root, kernel, words);
    read_problem(root, words);
    read_axes(root);
    for (DescribedArray& array : made_.arrays) parse_extents(root, array);
    read_rules(root);
    read_rest(root);
    tuned_kernel_ = kernel.name;
    made_.launch = launch(table(root, "launch"), "launch", kernel);
    must_be_used(root);
    must_be_alone(root, kernel);
    must_be_given(root);
    for (const DeclaredKernel::Parameter& one : kernel.parameters) {
      const CType type = c_type(one.type, code_);
      const bool is_wide = type.lanes > 1 || (!type.dtype && one.type.find("void") == std::string::npos);
      if (one.is_pointer && is_wide && !is_of_problem(one))
        made_.pointer_alignment = std::max(made_.pointer_alignment, type.alignment());
    }
    read_reference(root, kernel);
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const toml::node* node, const std::string& sentence) const {
    const std::string where = node != nullptr && node->source().begin.line > 0
                                  ? file_ + ", line " + std::to_string(node->source().begin.line)
                                  : file_;
    throw UsageError(where + ": " + sentence);
  }

  static std::string shown(const toml::node& node) {
    if (const auto* word = node.as_string()) {
      std::string value = word->get();
      std::replace_if(
          value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
      return "\"" + (value.size() > 80 ? value.substr(0, 80) + "…" : value) + "\"";
    }
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return printed("%g", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date";
  }

  const std::string& text(const toml::node& node, const std::string& key) const {
    const auto* word = node.as_string();
    if (word == nullptr) refuse(&node, key + " is " + shown(node) + "; give a text in quotes.");
    return word->get();
  }
  // One that may stand in a comment of a variant.
  std::string line(const toml::node& node, const std::string& key) const {
    const std::string& words = text(node, key);
    if (words.size() > 500 || std::any_of(words.begin(), words.end(), [](char c) {
          return static_cast<unsigned char>(c) < ' ' || c == '\\';
        }))
      refuse(&node,
             key + " is " + shown(node) + "; give one line of at most 500 characters, without backslashes.");
    return words;
  }

  std::int64_t integer(const toml::node& node, const std::string& key, std::int64_t least,
                       std::int64_t most) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < least || number->get() > most) {
      refuse(&node, key + " is " + shown(node) + "; give a whole number from " + std::to_string(least) +
                        " to " + std::to_string(most) + ".");
    }
    return number->get();
  }

  double real(const toml::node& node, const std::string& key, double least) const {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value < least) {
      refuse(&node,
             key + " is " + shown(node) + "; give a number" + (least == 0 ? " that is not negative." : "."));
    }
    return *value;
  }

  const toml::array& list(const toml::node& node, const std::string& key, const std::string& of) const {
    if (!node.is_array() || node.as_array()->empty())
      refuse(&node, key + " is " + (node.is_array() ? "an empty list" : shown(node)) + "; give a list of " +
                        of + ".");
    return *node.as_array();
  }

  std::vector<std::string> texts(const toml::node& node, const std::string& key) const {
    std::vector<std::string> all;
    if (node.is_string()) return {line(node, key)};
    for (const toml::node& one : list(node, key, "texts in quotes")) all.push_back(line(one, key));
    return all;
  }

  // Of the root: null if it is not there.
  const toml::table* table(const toml::table& root, const std::string& key) const {
    const toml::node* node = root.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table())
      refuse(node, key + " is " + shown(*node) + "; it is a table, which begins with [" + key + "].");
    return node->as_table();
  }

  void only_keys(const toml::table& given, const std::string& what,
                 const std::vector<std::string>& known) const {
    for (const auto& [key, node] : entries(given)) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        refuse(node, key + " is not a key of " + what + "; its keys are " + listed(known) + ".");
    }
  }

  // In the order in which they stand.
  static std::vector<std::pair<std::string, const toml::node*>> entries(const toml::table& given) {
    struct Entry {
      toml::source_position place;
      std::string key;
      const toml::node* node;
    };
    std::vector<Entry> ordered;
    ordered.reserve(given.size());
    for (const auto& [key, node] : given)
      ordered.push_back({key.source().begin, std::string(key.str()), &node});
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Entry& a, const Entry& b) { return a.place < b.place; });
    std::vector<std::pair<std::string, const toml::node*>> all;
    all.reserve(ordered.size());
    for (Entry& entry : ordered) all.emplace_back(std::move(entry.key), entry.node);
    return all;
  }

  std::string kernel_names() const {
    std::vector<std::string> names;
    for (const DeclaredKernel& kernel : kernels_) names.push_back(kernel.name);
    return listed(names);
  }

  const DeclaredKernel& kernel_of(const toml::node* node, const std::string& name) const {
    for (const DeclaredKernel& kernel : kernels_) {
      if (kernel.name != name) continue;
      if (kernel.is_template) {
        refuse(node,
               "The kernel " + name + " (line " + std::to_string(kernel.line) +
                   ") is a template; make its parameters axes or compiled-in parameters of the problem, or "
                   "the type by type = \"T\".");
      }
      return kernel;
    }
    refuse(node, "There is no kernel " + name + " in " + text_.path + "; its __global__ functions are " +
                     kernel_names() + ".");
  }

  const DeclaredKernel& chosen_kernel(const toml::node* node) const {
    if (kernels_.empty()) refuse(node, text_.path + " has no __global__ function; there is nothing to tune.");
    if (node != nullptr) return kernel_of(node, text(*node, "kernel"));
    if (kernels_.size() > 1) {
      refuse(nullptr, "There are several kernels (" + kernel_names() +
                          "); set kernel = \"…\" to the one that is tuned.");
    }
    return kernel_of(nullptr, kernels_.front().name);
  }

  std::vector<std::string> dtype_words(const toml::node& node) const {
    std::vector<std::string> words = texts(node, "dtype");
    for (const std::string& word : words) {
      if (std::find(dtypes.begin(), dtypes.end(), word) == dtypes.end())
        refuse(&node, "dtype is \"" + word + "\"; allowed are " + listed(dtypes) + ".");
    }
    return words;
  }

  // ---- What a pointer's type says of its array

  bool is_of_problem(const DeclaredKernel::Parameter& parameter) const {
    std::string type = parameter.type;
    std::erase_if(type, [](char c) { return c == '*' || c == ' '; });
    return !made_.type.empty() && type == made_.type;
  }

  // Why an array of that dtype cannot stand behind the pointer, as the end of a sentence; empty: it can. A
  // struct's elements are not known, so it may be called whatever the description says.
  std::string why_not(const DeclaredKernel::Parameter& parameter, const std::string& dtype) const {
    if (is_of_problem(parameter))
      return parameter.type + ", the problem's type; leave its dtype out, or give the kernel another type.";
    const CType type = c_type(parameter.type, code_);
    if (type.is_pointer_to_pointer) return parameter.type + ", a pointer to pointers, which cannot be given.";
    if (!type.dtype || name(*type.dtype) == dtype) return "";
    const DType given = dtype_of({{"dtype", dtype}});
    const bool same_bits = is_whole(given) && is_whole(*type.dtype) && bytes(given) == bytes(*type.dtype);
    if (same_bits) return "";
    return parameter.type + ", whose elements are " + std::string(name(*type.dtype)) + " of " +
           std::to_string(bytes(*type.dtype)) + (bytes(*type.dtype) == 1 ? " byte" : " bytes") + ".";
  }

  // Empty: the problem's.
  std::string dtype_of_pointer(const toml::node& node, const std::string& key,
                               const DeclaredKernel::Parameter& parameter) const {
    if (is_of_problem(parameter)) return "";
    const CType type = c_type(parameter.type, code_);
    if (type.is_pointer_to_pointer) refuse(&node, key + " is " + why_not(parameter, ""));
    if (!type.dtype)
      refuse(
          &node,
          key + " is taken by the kernel as " + parameter.type +
              ", whose elements are not known here; set dtype = \"…\" to the type that its extents count: " +
              listed(dtypes) + ". Of a struct these are its members, or u8 for its bytes.");
    const std::string word(name(*type.dtype));
    if (type.lanes > 1)
      refuse(&node, key + " is taken by the kernel as " + parameter.type + ", vectors of " +
                        std::to_string(type.lanes) + " " + word + "; give it dtype = \"" + word +
                        "\" and extents that count " + word + ", such as [\"n\", " +
                        std::to_string(type.lanes) + "].");
    return word;
  }

  // The kernel's pointer that takes the array; null: none does.
  const DeclaredKernel::Parameter* pointer_to(const toml::table& root, const DeclaredKernel& kernel,
                                              const std::string& array) const {
    const toml::table* launch = root["launch"].as_table();
    const toml::node* given = launch != nullptr ? launch->get("arguments") : nullptr;
    const toml::array* all = given != nullptr ? given->as_array() : nullptr;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const DeclaredKernel::Parameter& one = kernel.parameters[i];
      const auto* word = all != nullptr && i < all->size() ? (*all)[i].as_string() : nullptr;
      if (one.is_pointer && (given == nullptr ? one.name == array : word != nullptr && word->get() == array))
        return &one;
    }
    return nullptr;
  }

  // ---- What an array holds in checks

  // Of "index(cols)": a number, or an expression of the problem.
  void set_bound(const toml::node& node, std::string_view words, double& number,
                 std::optional<Expression>& expression) const {
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
    const auto [end, failure] = std::from_chars(words.data(), words.data() + words.size(), number);
    if (failure == std::errc() && end == words.data() + words.size() && std::isfinite(number)) return;
    try {
      expression = Expression::parse(words, problem_names());
    } catch (const UsageError& error) {
      refuse(&node, error.what());
    }
  }

  DescribedValues values_of_words(const toml::node& node, const std::string& key,
                                  const DescribedArray& array) const {
    struct Kind {
      std::string_view name;
      Contents::Spread spread;
      std::size_t bounds;
      bool is_whole;  // of integers alone
    };
    static constexpr Kind kinds[] = {{"uniform", Contents::uniform, 2, false},
                                     {"few", Contents::few, 2, false},
                                     {"sorted", Contents::ascending, 2, false},
                                     {"equal", Contents::uniform, 1, false},
                                     {"huge", Contents::huge, 0, false},
                                     {"denormal", Contents::denormal, 0, false},
                                     {"nan", Contents::with_nan, 2, false},
                                     {"magnitudes", Contents::magnitudes, 2, false},
                                     {"index", Contents::uniform, 1, true},
                                     {"offsets", Contents::offsets, 1, true},
                                     {"permutation", Contents::permutation, 0, true}};
    static const std::string forms =
        "\"uniform(-1, 1)\", \"few(-1, 1)\", \"sorted(0, n)\", \"equal(3)\", \"huge\", \"denormal\", "
        "\"nan(-1, 1)\", \"magnitudes(1e-3, 1e3)\", \"index(n)\", \"offsets(n)\" or \"permutation\"";
    const std::string words = line(node, "values");
    const std::size_t open = std::min(words.find('('), words.size());
    const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                    [&](const Kind& one) { return one.name == words.substr(0, open); });
    std::vector<std::string> bounds;
    if (open < words.size() && words.back() == ')') {
      int depth = 0;
      bounds.emplace_back();
      for (const char c : words.substr(open + 1, words.size() - open - 2)) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
          bounds.emplace_back();
        } else {
          bounds.back() += c;
        }
      }
    }
    if (kind == std::end(kinds) || bounds.size() != kind->bounds ||
        (open < words.size() && words.back() != ')'))
      refuse(&node, key + " has the values " + shown(node) + "; give [least, most] or " + forms + ".");
    const std::vector<std::string> of_array =
        array.dtype.empty() ? made_.parameters.back().words : std::vector<std::string>{array.dtype};
    for (const std::string& dtype : of_array)
      if (kind->is_whole && !tunesmith::is_whole(dtype_of({{"dtype", dtype}})))
        refuse(&node,
               key + " has the values " + words + ", which are integers, but the dtype " + dtype + ".");
    DescribedValues made{Contents{kind->spread}};
    made.contents.what = words;
    if (kind->is_whole) {
      made.contents.least = 0;
      if (kind->bounds == 1) set_bound(node, bounds[0], made.contents.most, made.most);
      if (words.starts_with("index")) {  // the last one is one less
        made.contents.most = std::max(0.0, made.contents.most - 1);
        if (made.most)
          made.most = Expression::parse("max(0, " + made.most->text() + " - 1)", problem_names());
      }
    } else if (kind->bounds > 0) {
      set_bound(node, bounds.front(), made.contents.least, made.least);
      made.contents.most = made.contents.least;
      made.most = made.least;
      if (kind->bounds == 2) {
        made.most.reset();
        set_bound(node, bounds.back(), made.contents.most, made.most);
      }
    }
    const bool are_numbers = !made.least && !made.most;
    if (are_numbers && made.contents.least > made.contents.most)
      refuse(&node, key + " has values whose least is above the most; change their order.");
    if (are_numbers && kind->spread == Contents::magnitudes && made.contents.least <= 0)
      refuse(&node, key + " has values of magnitudes from " + bounds.front() + "; give sizes above 0.");
    return made;
  }

  void read_values(const toml::node& node, const std::string& key, DescribedArray& array) const {
    if (node.is_string()) {
      array.values = {values_of_words(node, key, array)};
      return;
    }
    const toml::array& all = list(node, "values", "two numbers, or of words such as \"few(-1, 1)\"");
    if (all[0].is_string()) {
      for (const toml::node& one : all) array.values.push_back(values_of_words(one, key, array));
      return;
    }
    if (all.size() != 2)
      refuse(&node, key + " has values that are not two numbers; give the least and the most.");
    const double least = real(all[0], "values", std::numeric_limits<double>::lowest());
    const double most = real(all[1], "values", std::numeric_limits<double>::lowest());
    if (least > most) refuse(&node, key + " has values whose least is above the most; change their order.");
    array.values = {{Contents{Contents::uniform, least, most}}, {Contents{Contents::few, least, most}}};
  }

  // Names only; their extents name parameters, which are not known yet. Dtypes that the kernel's pointers
  // have need not be given.
  void read_arrays(const toml::table& root, const DeclaredKernel& kernel, std::vector<std::string>& words) {
    const toml::table* given = table(root, "arrays");
    if (given == nullptr || given->empty())
      refuse(nullptr, "There is no array; name the kernel's arrays and their extents in [arrays].");
    if (given->size() > most_arrays)
      refuse(given, "There are " + std::to_string(given->size()) + " arrays; at most " +
                        std::to_string(most_arrays) + " are allowed.");
    std::vector<std::string> from_pointers;
    bool has_output = false;
    for (const auto& [name, node] : entries(*given)) {
      if (!is_identifier(name))
        refuse(node, "The array's name is \"" + name + "\"; give letters, digits and underscores.");
      DescribedArray& array = made_.arrays.emplace_back();
      array.name = name;
      const std::string key = "The array " + name;
      const DeclaredKernel::Parameter* parameter = pointer_to(root, kernel, name);
      if (const toml::table* fields = node->as_table()) {
        only_keys(*fields, "the array " + name, {"extents", "role", "dtype", "values"});
        if (!fields->contains("extents")) refuse(node, key + " has no extents; add extents = [\"…\"].");
        if (const toml::node* role = fields->get("role")) {
          const std::string& word = text(*role, "role");
          if (word != "input" && word != "output" && word != "inout")
            refuse(role, key + " has the role " + shown(*role) + "; allowed are input, output and inout.");
          array.role = word == "input" ? Role::input : word == "output" ? Role::output : Role::inout;
        }
        if (const toml::node* dtype = fields->get("dtype")) {
          array.dtype = text(*dtype, "dtype");
          if (std::find(dtypes.begin(), dtypes.end(), array.dtype) == dtypes.end())
            refuse(dtype, key + " has the dtype " + shown(*dtype) + "; allowed are " + listed(dtypes) + ".");
          if (const std::string why = parameter != nullptr ? why_not(*parameter, array.dtype) : "";
              !why.empty())
            refuse(dtype, key + " has the dtype " + array.dtype + ", but the kernel takes it as " + why);
        }
        if (const toml::node* values = fields->get("values")) {
          if (array.role == Role::output) refuse(values, key + " is an output, which has no values.");
        }
      } else if (!node->is_array()) {
        refuse(node, key + " is " + shown(*node) +
                         "; give its extents as a list, or a table with extents and role.");
      }
      if (array.dtype.empty() && parameter != nullptr) array.dtype = dtype_of_pointer(*node, key, *parameter);
      if (!array.dtype.empty()) from_pointers.push_back(array.dtype);
      has_output |= array.role != Role::input;
    }
    if (!has_output)
      refuse(given,
             "No array is an output, so there is nothing to check; give one role = \"output\" or \"inout\".");
    if (words.empty()) words = {from_pointers.empty() ? "f32" : from_pointers.front()};
    if (words.size() == 1)
      for (DescribedArray& array : made_.arrays)
        if (array.dtype == words.front()) array.dtype.clear();
  }

  // All texts of a description, but not its names.
  static void gather(const toml::node& node, std::string& words) {
    if (const auto* text = node.as_string()) words += " " + text->get() + " ";
    if (const toml::array* all = node.as_array())
      for (const toml::node& one : *all) gather(one, words);
    if (const toml::table* all = node.as_table())
      for (const auto& [key, one] : *all) gather(one, words);
  }

  // A parameter of the problem without any use is mostly a forgotten argument, or a name written in two ways.
  void must_be_used(const toml::table& root) const {
    std::string words;
    for (const auto& [key, node] : root)
      if (key != "problem" && key != "what" && key != "examples" && key != "companions") gather(node, words);
    if (!root["launch"].as_table()->contains("arguments"))
      for (const DeclaredKernel& kernel : kernels_)
        for (const DeclaredKernel::Parameter& one : kernel.parameters) words += " " + one.name + " ";
    for (const Parameter& one : made_.parameters) {
      if (one.name != "dtype" && form_of(words, one.name) == ConstantForm::none)
        refuse(root["problem"].as_table()->get(one.name),
               "The parameter " + one.name +
                   " of the problem is used by nothing: no extent, launch, rule or value names it, and it is "
                   "not "
                   "compiled in.");
    }
    if (!made_.type.empty() && form_of(code_, made_.type) == ConstantForm::none)
      refuse(root.get("type"), "The type " + made_.type + " does not occur in " + text_.path +
                                   "; write it as the kernel does.");
  }

  // A pointer that promises to be the only one to what is written, and is not.
  void must_be_alone(const toml::table& root, const DeclaredKernel& kernel) const {
    for (std::size_t i = 0; i < made_.arrays.size(); ++i) {
      int times = 0;
      bool is_restrict = false;
      for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const DescribedArgument& one = made_.launch.arguments[p];
        if (one.type != DescribedArgument::Type::array || one.array != i) continue;
        ++times;
        is_restrict |= kernel.parameters[p].is_restrict;
      }
      if (times > 1 && is_restrict && made_.arrays[i].role != Role::input)
        refuse(root["launch"].as_table()->get("arguments"),
               "The array " + made_.arrays[i].name + " is written and given to several parameters of " +
                   kernel.name +
                   ", of which one is __restrict__ and promises to be the only one; leave __restrict__ out, "
                   "or give "
                   "another array.");
    }
  }

  void must_be_given(const toml::table& root) const {
    for (std::size_t i = 0; i < made_.arrays.size(); ++i) {
      const auto& all = made_.launch.arguments;
      if (std::none_of(all.begin(), all.end(), [i](const DescribedArgument& one) {
            return one.type == DescribedArgument::Type::array && one.array == i;
          }))
        refuse(root["arrays"].as_table()->get(made_.arrays[i].name),
               "The array " + made_.arrays[i].name + " is given to no parameter of the kernel " +
                   made_.launch.kernel + "; leave it out, or name it in arguments.");
    }
  }

  void parse_extents(const toml::table& root, DescribedArray& array) const {
    const toml::node* node = root.get("arrays")->as_table()->get(array.name);
    if (node->is_table()) {
      if (const toml::node* values = node->as_table()->get("values"))
        read_values(*values, "The array " + array.name, array);
      node = node->as_table()->get("extents");
    }
    const std::vector<ExpressionName> of_problem = problem_names();
    if (!node->is_array()) {
      array.extents = {expression(*node, "extents", of_problem)};
      return;
    }
    for (const toml::node& one :
         list(*node, "The extents of " + array.name, "expressions, the outermost first"))
      array.extents.push_back(expression(one, "extents", of_problem));
  }

  void read_problem(const toml::table& root, const std::vector<std::string>& words) {
    const toml::table* given = table(root, "problem");
    if (given == nullptr || given->empty())
      refuse(nullptr, "The problem has no parameter; name its sizes in [problem].");
    if (given->size() > most_parameters)
      refuse(given, "The problem has " + std::to_string(given->size()) + " parameters; at most " +
                        std::to_string(most_parameters) + " are allowed.");
    for (const auto& [name, node] : entries(*given)) {
      static const std::set<std::string> reserved = {"weight", "dtype", "dtype_bytes",
                                                     "min",    "max",   "ceil_div"};
      if (!is_identifier(name) || reserved.contains(name)) {
        refuse(node, "The parameter's name is \"" + name +
                         "\"; give letters, digits and underscores, but none of " +
                         listed(std::vector<std::string>(reserved.begin(), reserved.end())) + ".");
      }
      made_.parameters.push_back(parameter(name, *node));
    }
    Parameter dtype{.name = "dtype", .what = "element type", .words = words};
    dtype.initial = words.front();
    made_.parameters.push_back(std::move(dtype));
  }

  Parameter parameter(const std::string& name, const toml::node& node) const {
    Parameter made{.name = name, .what = "a parameter of the problem"};
    const std::string key = "The parameter " + name;
    if (node.is_integer()) {
      made.initial = integer(node, key, made.minimum, made.maximum);
    } else if (node.is_array()) {
      set_range(made, node, key);
    } else if (const toml::table* fields = node.as_table()) {
      only_keys(*fields, "the parameter " + name,
                {"what", "minimum", "maximum", "usual", "default", "words"});
      if (const toml::node* what = fields->get("what")) made.what = line(*what, "what");
      constexpr std::int64_t largest = std::int64_t{1} << 40;
      if (const toml::node* words = fields->get("words")) {
        for (const char* other : {"minimum", "maximum", "usual"})
          if (fields->contains(other))
            refuse(fields->get(other), key + " has words, so it has no " + other + ".");
        set_words(made, *words, key);
      }
      if (const toml::node* least = fields->get("minimum"))
        made.minimum = integer(*least, key + ": minimum", -largest, largest);
      if (const toml::node* most = fields->get("maximum"))
        made.maximum = integer(*most, key + ": maximum", made.minimum, largest);
      if (const toml::node* usual = fields->get("usual")) set_range(made, *usual, key);
      if (const toml::node* initial = fields->get("default")) {
        if (made.words.empty()) {
          made.initial = integer(*initial, key + ": default", made.minimum, made.maximum);
        } else {
          made.initial = text(*initial, "default");
          if (std::find(made.words.begin(), made.words.end(), std::get<std::string>(*made.initial)) ==
              made.words.end())
            refuse(initial, key + " has the default " + shown(*initial) + "; its words are " +
                                listed(made.words) + ".");
        }
      }
    } else {
      refuse(&node,
             key + " is " + shown(node) +
                 "; give its usual sizes as [least, most], its words as a list, a default, or a table.");
    }
    return made;
  }

  void set_words(Parameter& made, const toml::node& node, const std::string& key) const {
    for (const toml::node& one : list(node, key, "words")) {
      const std::string& word = text(one, key);
      if (!is_identifier(word))
        refuse(&one, key + " has the word " + shown(one) + "; give letters, digits and underscores.");
      if (std::find(made.words.begin(), made.words.end(), word) != made.words.end())
        refuse(&one, key + " has the word " + word + " twice; give it once.");
      made.words.push_back(word);
    }
    made.initial = made.words.front();
  }

  void set_range(Parameter& made, const toml::node& node, const std::string& key) const {
    const toml::array& both = list(node, key, "two numbers or of words");
    if (both[0].is_string()) return set_words(made, node, key);
    if (both.size() != 2)
      refuse(&node, key + " has a list of " + std::to_string(both.size()) +
                        "; give its usual sizes as [least, most], or words.");
    const std::int64_t least = integer(both[0], key + ": usual", made.minimum, made.maximum);
    made.usual = UsualSizes{least, integer(both[1], key + ": usual", least, made.maximum)};
  }

  void read_axes(const toml::table& root) {
    const toml::table* given = table(root, "axes");
    if (given == nullptr || given->empty())
      refuse(nullptr,
             "There is no axis, so there is nothing to tune; name the kernel's constants and their values in "
             "[axes].");
    if (given->size() > most_axes)
      refuse(given, "There are " + std::to_string(given->size()) + " axes; at most " +
                        std::to_string(most_axes) + " are allowed.");
    for (const auto& [name, node] : entries(*given)) {
      const std::string key = "The axis " + name;
      DescribedAxis axis{name, "", {}};
      if (!is_identifier(name))
        refuse(node, "The axis's name is \"" + name + "\"; give letters, digits and underscores.");
      for (const Parameter& parameter : made_.parameters)
        if (parameter.name == name)
          refuse(node, key + " is also a parameter of the problem; give one of them another name.");
      const toml::node* values = node;
      if (const toml::table* fields = node->as_table()) {
        only_keys(*fields, "the axis " + name, {"values", "what"});
        values = fields->get("values");
        if (values == nullptr) refuse(node, key + " has no values; add values = [32, 64].");
        if (const toml::node* what = fields->get("what")) axis.what = line(*what, "what");
      }
      for (const toml::node& one : list(*values, key, "whole numbers, such as [64, 128]")) {
        const std::int64_t value = one.is_boolean()
                                       ? static_cast<std::int64_t>(one.as_boolean()->get())
                                       : integer(one, key, std::numeric_limits<std::int32_t>::min(),
                                                 std::numeric_limits<std::int32_t>::max());
        if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
          refuse(&one, key + " has the value " + std::to_string(value) + " twice; give it once.");
        axis.values.push_back(value);
      }
      if (axis.values.size() > most_values)
        refuse(node, key + " has " + std::to_string(axis.values.size()) + " values; at most " +
                         std::to_string(most_values) + " are allowed.");
      must_occur(root, *node, key, name);
      made_.axes.push_back(std::move(axis));
    }
  }

  // Beside its own definitions, in a text that the kernel is made of.
  bool occurs(const std::string& name) const {
    const auto is_in = [&](const std::string& text) {
      return form_of(text, name) != ConstantForm::none &&
             form_of(kernel_body(text, {name}).text, name) != ConstantForm::none;
    };
    return is_in(text_.cu) || std::any_of(text_.included.begin(), text_.included.end(),
                                          [&](const auto& one) { return is_in(one.second); });
  }

  // Whether the launch tells the kernel the value: as an argument, or in a block whose size it reads.
  bool is_told(const toml::table& root, const std::string& name) const {
    const toml::table* launch = root["launch"].as_table();
    const auto names_it = [&](const char* key) {
      const toml::node* node = launch != nullptr ? launch->get(key) : nullptr;
      if (node == nullptr) return false;
      const auto in = [&](const toml::node& one) {
        return one.is_string() && form_of("(" + one.as_string()->get() + ")", name) != ConstantForm::none;
      };
      return node->is_array() ? std::any_of(node->as_array()->begin(), node->as_array()->end(), in)
                              : in(*node);
    };
    const bool reads_block = form_of(code_, "blockDim") != ConstantForm::none;
    const bool reads_grid = form_of(code_, "gridDim") != ConstantForm::none;
    return names_it("arguments") || (names_it("block") && reads_block) || (names_it("grid") && reads_grid);
  }

  void must_occur(const toml::table& root, const toml::node& node, const std::string& key,
                  const std::string& name) const {
    if (occurs(name) || is_told(root, name)) return;
    refuse(&node, key + " does not occur in " + text_.path +
                      "; write it as the kernel does. One that the kernel knows only as blockDim stands in "
                      "block, one that it is given in arguments.");
  }

  std::vector<ExpressionName> problem_names() const {
    std::vector<ExpressionName> names = made_.names();
    names.resize(names.size() - made_.axes.size());
    return names;
  }

  Expression expression(const toml::node& node, const std::string& key,
                        const std::vector<ExpressionName>& names) const {
    std::string words;
    if (node.is_integer())
      words = std::to_string(node.as_integer()->get());
    else if (node.is_string())
      words = node.as_string()->get();
    else
      refuse(&node, key + " is " + shown(node) + "; give an expression in quotes, or a whole number.");
    try {
      return Expression::parse(words, names);
    } catch (const UsageError& error) {
      refuse(&node, error.what());
    }
  }

  std::vector<DescribedRule> rules(const toml::node& node, const std::string& key,
                                   const std::vector<ExpressionName>& names) const {
    std::vector<DescribedRule> all;
    const auto add = [&](const toml::node& one) {
      if (const toml::table* fields = one.as_table()) {
        only_keys(*fields, "a rule", {"rule", "why"});
        if (!fields->contains("rule")) refuse(&one, "A rule of " + key + " has no rule; add rule = \"…\".");
        const Expression holds = expression(*fields->get("rule"), key, names);
        all.push_back(
            {holds, fields->contains("why") ? line(*fields->get("why"), "why") : holds.text() + "."});
      } else {
        const Expression holds = expression(one, key, names);
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

  void read_rules(const toml::table& root) {
    const toml::table* given = table(root, "rules");
    if (given == nullptr) return;
    only_keys(*given, "[rules]", {"problem", "must", "worth"});
    if (const toml::node* node = given->get("problem"))
      made_.allowed = rules(*node, "problem", problem_names());
    if (const toml::node* node = given->get("must")) made_.must = rules(*node, "must", made_.names());
    if (const toml::node* node = given->get("worth")) made_.worth = rules(*node, "worth", made_.names());
  }

  void read_rest(const toml::table& root) {
    if (const toml::node* node = root.get("flops")) made_.flops = expression(*node, "flops", problem_names());
    if (const toml::node* node = root.get("alignment_bytes"))
      made_.alignment_bytes = expression(*node, "alignment_bytes", made_.names());
    if (const toml::node* node = root.get("compute_capability")) {
      const auto capability = node->is_string() ? parse_capability(node->as_string()->get()) : std::nullopt;
      if (!capability)
        refuse(node, "compute_capability is " + shown(*node) + "; give a text such as \"8.0\".");
      made_.compute_capability = *capability;
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

  std::vector<Expression> extent(const toml::table* given, const std::string& key,
                                 const std::string& of) const {
    const toml::node* node = given != nullptr ? given->get(key) : nullptr;
    if (node == nullptr)
      refuse(given,
             "[" + of + "] has no " + key + "; add " + key + " = [\"…\"], its x, y and z as expressions.");
    std::vector<Expression> all;
    if (!node->is_array()) return {expression(*node, key, made_.names())};
    for (const toml::node& one : list(*node, key, "one to three expressions"))
      all.push_back(expression(one, key, made_.names()));
    if (all.size() > 3)
      refuse(node, key + " has " + std::to_string(all.size()) + " expressions; give x, y and z at most.");
    return all;
  }

  DescribedLaunch launch(const toml::table* given, const std::string& of,
                         const DeclaredKernel& kernel) const {
    DescribedLaunch made;
    made.kernel = kernel.name;
    if (given != nullptr)
      only_keys(*given, "[" + of + "]", {"kernel", "function", "grid", "block", "shared_bytes", "arguments"});
    const bool is_reference = of == "reference";
    const bool by_element =
        is_reference && given != nullptr && !given->contains("grid") && !given->contains("block");
    if (!by_element) {
      made.grid = extent(given, "grid", of);
      made.block = extent(given, "block", of);
      if (const toml::node* node = given->get("shared_bytes"))
        made.shared_bytes = expression(*node, "shared_bytes", made_.names());
    }
    const toml::node* node = given != nullptr ? given->get("arguments") : nullptr;
    if (node == nullptr) {
      for (const DeclaredKernel::Parameter& one : kernel.parameters)
        made.arguments.push_back(argument(nullptr, one, one.name, kernel));
      return made;
    }
    const toml::array* all = node->as_array();
    if (all == nullptr || all->size() != kernel.parameters.size()) {
      refuse(node, "The kernel " + kernel.name + " has " + std::to_string(kernel.parameters.size()) +
                       " parameters, but arguments " +
                       (all == nullptr ? "is " + shown(*node) : "gives " + std::to_string(all->size())) +
                       "; give one for each, in the kernel's order.");
    }
    for (std::size_t i = 0; i < all->size(); ++i) {
      const toml::node& one = (*all)[i];
      if (one.is_string()) {
        made.arguments.push_back(argument(&one, kernel.parameters[i], one.as_string()->get(), kernel));
        continue;
      }
      DescribedArgument constant = argument(&one, kernel.parameters[i], "0", kernel);
      const bool whole =
          constant.type == DescribedArgument::Type::int32 || constant.type == DescribedArgument::Type::int64;
      if (!one.is_number() || (whole && !one.is_integer()))
        refuse(&one, "The argument " + kernel.parameters[i].name + " of " + kernel.name + " is " +
                         shown(one) + "; give an expression in quotes, or a number of its type.");
      constant.expression.reset();
      constant.number = real(one, "arguments", std::numeric_limits<double>::lowest());
      made.arguments.push_back(std::move(constant));
    }
    return made;
  }

  void must_fit(const toml::node* node, const std::string& which, const DeclaredKernel::Parameter& parameter,
                const DescribedArray& array) const {
    if (array.dtype.empty() && is_of_problem(parameter)) return;
    const std::vector<std::string> possible =
        array.dtype.empty() ? made_.parameters.back().words : std::vector<std::string>{array.dtype};
    for (const std::string& dtype : possible) {
      const std::string why = why_not(parameter, dtype);
      if (!why.empty())
        refuse(node, which + " is " + why + " The array " + array.name + " has the dtype " + dtype + ".");
    }
  }

  // What fills a kernel's parameter: `words` name an array or are an expression.
  DescribedArgument argument(const toml::node* node, const DeclaredKernel::Parameter& parameter,
                             const std::string& words, const DeclaredKernel& kernel) const {
    DescribedArgument made;
    const std::string which = "The parameter " + parameter.name + " of " + kernel.name;
    if (parameter.is_pointer) {
      const auto found = std::find_if(made_.arrays.begin(), made_.arrays.end(),
                                      [&](const DescribedArray& one) { return one.name == words; });
      if (found == made_.arrays.end()) {
        std::vector<std::string> names;
        for (const DescribedArray& one : made_.arrays) names.push_back(one.name);
        refuse(node, which + " is a pointer, and " + words + " is not an array; the arrays are " +
                         listed(names) +
                         (node == nullptr
                              ? ". Name it so in [arrays], or give arguments = [\"…\"] in the kernel's order."
                              : "."));
      }
      made.array = static_cast<std::size_t>(found - made_.arrays.begin());
      must_fit(node, which, parameter, *found);
      if (parameter.is_const && found->role != Role::input && kernel.name == tuned_kernel_)
        refuse(node, which + " is const, so the kernel cannot write it, but the array " + words +
                         " has the role " + std::string(name(found->role)) + ".");
      return made;
    }
    const auto type = scalar_of_type(parameter.type, made_.type);
    if (!type) {
      refuse(node, which + " has the type \"" + parameter.type +
                       "\", which cannot be given; pointers, int, long long and other integers of 4 and 8 "
                       "bytes, float and double can.");
    }
    made.type = *type;
    for (const DescribedArray& one : made_.arrays)
      if (one.name == words) refuse(node, which + " is not a pointer, but " + words + " is an array.");
    try {
      made.expression = Expression::parse(words, made_.names());
    } catch (const UsageError& error) {
      refuse(node, std::string(error.what()) + (node == nullptr
                                                    ? " It stands for " + which.substr(4) +
                                                          "; give arguments = [\"…\"] in the kernel's order."
                                                    : ""));
    }
    return made;
  }

  void read_reference(const toml::table& root, const DeclaredKernel& tuned) {
    const toml::table* given = table(root, "reference");
    if (given == nullptr) return;
    if (const toml::node* function = given->get("function")) return read_function(*given, *function);
    const toml::node* name = given->get("kernel");
    if (name == nullptr)
      refuse(given,
             "[reference] has no kernel and no function; add kernel = \"…\" or function = \"…\", or leave "
             "[reference] out to compare with the untuned kernel.");
    const DeclaredKernel& kernel = kernel_of(name, text(*name, "kernel"));
    if (kernel.name == tuned.name)
      refuse(name, "The reference is the tuned kernel itself; leave [reference] out for that.");
    made_.reference = launch(given, "reference", kernel);
    made_.has_reference = true;
  }

  // A function of the file, which is called once and works on whole arrays.
  void read_function(const toml::table& given, const toml::node& node) {
    for (const char* other : {"kernel", "grid", "block", "shared_bytes"}) {
      if (given.contains(other))
        refuse(given.get(other), std::string("[reference] has a function and ") + other +
                                     "; a function is called once, on the host. Leave one of them out.");
    }
    const std::string name = text(node, "function");
    const std::optional<HostFunction> found =
        is_identifier(name) ? function_of(text_.cu, name) : std::nullopt;
    if (!found) {
      refuse(&node, "The function " + shown(node) + " of [reference] is not defined in " + text_.path +
                        "; give the name of one, as in void " + (is_identifier(name) ? name : "reference") +
                        "(const float* x, float* y, int n) { … }.");
    }
    if (found->returns != "void") {
      refuse(&node, "The function " + name + " of [reference], line " + std::to_string(found->declared.line) +
                        ", is declared as \"" + found->returns + "\"; make it plain void.");
    }
    made_.reference = launch(&given, "reference", found->declared);
    made_.reference_function = found;
    made_.has_reference = true;
  }

  const KernelFile& text_;
  std::string file_;
  std::vector<DeclaredKernel> kernels_;
  std::string tuned_kernel_;
  std::string code_;  // of all files, without comments and literals
  Description made_;
};

}  // namespace

std::vector<ExpressionName> Description::names() const {
  std::vector<ExpressionName> names;
  for (const Parameter& parameter : parameters) names.push_back({parameter.name, parameter.words});
  names.push_back({"dtype_bytes", {}});
  for (const DescribedAxis& axis : axes) names.push_back({axis.name, {}});
  return names;
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
  toml::table root;
  try {
    root = toml::parse(own ? *own : text.description);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    throw UsageError(file + ", line " + std::to_string(error.source().begin.line) +
                     ": The description is not TOML: " + what + ".");
  } catch (const std::logic_error& error) {
    throw UsageError(file + ": The description is not TOML: " + error.what() + ".");
  }
  return Reader(text, file).read(root);
}

}  // namespace tunesmith
