// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <set>

#include "generator/c_characters.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "kernel_file/description_reader.h"
#include "kernel_file/preprocessor.h"
#include "kernel_file/reach.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_axes = 24, most_values = 1000, most_parameters = 32;

}  // namespace

void DescriptionReader::read_problem(const toml::table& root, const std::vector<std::string>& dtypes) {
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
  Parameter dtype{.name = "dtype", .what = "element type", .categories = dtypes};
  dtype.initial = dtypes.front();
  made_.parameters.push_back(std::move(dtype));
}

Parameter DescriptionReader::parameter(const std::string& name, const toml::node& node) const {
  Parameter made{.name = name, .what = "a parameter of the problem"};
  const std::string key = "The parameter " + name;
  if (node.is_integer()) {
    made.initial = integer(node, key, made.minimum, made.maximum);
  } else if (node.is_array()) {
    set_range(made, node, key);
  } else if (const toml::table* fields = node.as_table()) {
    only_keys(*fields, "the parameter " + name, {"what", "minimum", "maximum", "usual", "default", "words"});
    if (const toml::node* what = fields->get("what")) made.what = line(*what, "what");
    constexpr std::int64_t largest = std::int64_t{1} << 40;
    if (const toml::node* words = fields->get("words")) {
      for (const char* other : {"minimum", "maximum", "usual"})
        if (fields->contains(other))
          refuse(fields->get(other), key + " has words, so it has no " + other + ".");
      set_categories(made, *words, key);
    }
    if (const toml::node* least = fields->get("minimum"))
      made.minimum = integer(*least, key + ": minimum", -largest, largest);
    if (const toml::node* most = fields->get("maximum"))
      made.maximum = integer(*most, key + ": maximum", made.minimum, largest);
    if (const toml::node* usual = fields->get("usual")) set_range(made, *usual, key);
    if (const toml::node* initial = fields->get("default")) {
      if (made.categories.empty()) {
        made.initial = integer(*initial, key + ": default", made.minimum, made.maximum);
      } else {
        made.initial = text(*initial, "default");
        if (std::find(made.categories.begin(), made.categories.end(), std::get<std::string>(*made.initial)) ==
            made.categories.end())
          refuse(initial, key + " has the default " + shown(*initial) + "; its words are " +
                              listed(made.categories) + ".");
      }
    }
  } else {
    refuse(&node, key + " is " + shown(node) +
                      "; give its usual sizes as [least, most], its words as a list, a default, or a table.");
  }
  return made;
}

void DescriptionReader::set_categories(Parameter& made, const toml::node& node,
                                       const std::string& key) const {
  for (const toml::node& one : list(node, key, "words")) {
    const std::string& word = text(one, key);
    if (!is_identifier(word))
      refuse(&one, key + " has the word " + shown(one) + "; give letters, digits and underscores.");
    if (std::find(made.categories.begin(), made.categories.end(), word) != made.categories.end())
      refuse(&one, key + " has the word " + word + " twice; give it once.");
    made.categories.push_back(word);
  }
  made.initial = made.categories.front();
}

void DescriptionReader::set_range(Parameter& made, const toml::node& node, const std::string& key) const {
  const toml::array& both = list(node, key, "two numbers or of words");
  if (both[0].is_string()) return set_categories(made, node, key);
  if (both.size() != 2)
    refuse(&node, key + " has a list of " + std::to_string(both.size()) +
                      "; give its usual sizes as [least, most], or words.");
  const std::int64_t least = integer(both[0], key + ": usual", made.minimum, made.maximum);
  made.usual = UsualSizes{least, integer(both[1], key + ": usual", least, made.maximum)};
}

void DescriptionReader::read_axes(const toml::table& root) {
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
      if (one.is_string()) {
        const std::string& word = one.as_string()->get();
        if (std::find(described_dtypes.begin(), described_dtypes.end(), word) == described_dtypes.end())
          refuse(&one, key + " has the value " + shown(one) + "; an axis of types has some of " +
                           listed(described_dtypes) + ", any other has whole numbers.");
        if (std::find(axis.types.begin(), axis.types.end(), word) != axis.types.end())
          refuse(&one, key + " has the value " + word + " twice; give it once.");
        axis.types.push_back(word);
        axis.values.push_back(static_cast<std::int64_t>(axis.values.size()));
        continue;
      }
      const std::int64_t value = one.is_boolean()
                                     ? static_cast<std::int64_t>(one.as_boolean()->get())
                                     : integer(one, key, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
      if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
        refuse(&one, key + " has the value " + std::to_string(value) + " twice; give it once.");
      axis.values.push_back(value);
    }
    if (!axis.types.empty() && axis.types.size() != axis.values.size())
      refuse(node, key + " has types and numbers; give values of one kind.");
    if (axis.values.size() > most_values)
      refuse(node, key + " has " + std::to_string(axis.values.size()) + " values; at most " +
                       std::to_string(most_values) + " are allowed.");
    must_occur(root, *node, key, name);
    made_.axes.push_back(std::move(axis));
  }
}

void DescriptionReader::read_metrics(const toml::table& root) {
  const toml::table* given = table(root, "metrics");
  if (given == nullptr) return;
  constexpr std::size_t most = 8;
  if (given->size() > most)
    refuse(given, "[metrics] has " + std::to_string(given->size()) + " entries; at most " +
                      std::to_string(most) + " are allowed.");
  std::vector<std::string> names;
  for (const ExpressionName& one : made_.names())  // a word is no number
    names.push_back(one.categories.empty() ? one.name : "");
  names.emplace_back("time");
  for (const auto& [name, node] : entries(*given)) {
    if (!is_identifier(name))
      refuse(node, "The metric's name is \"" + name + "\"; give letters, digits and underscores.");
    const toml::node* value = node;
    bool larger_is_better = false;
    if (const toml::table* fields = node->as_table()) {
      only_keys(*fields, "the metric " + name, {"value", "better"});
      value = fields->get("value");
      if (value == nullptr) refuse(node, "The metric " + name + " has no value; add value = \"…\".");
      if (const toml::node* better = fields->get("better")) {
        const std::string& word = text(*better, "better");
        if (word != "smaller" && word != "larger")
          refuse(better, "better is " + shown(*better) + "; give \"smaller\" or \"larger\".");
        larger_is_better = word == "larger";
      }
    }
    try {
      made_.metrics.push_back(
          {name, MetricExpression::parse(text(*value, "The metric " + name), names), larger_is_better});
    } catch (const UsageError& error) {
      refuse(node, error.what());
    }
  }
}

void DescriptionReader::find_reached(const toml::table& root, const std::vector<std::string>& constants) {
  std::vector<std::string> kernels, used = constants;
  for (const GivenLaunch& one : launches_) kernels.push_back(one.kernel.name);
  std::string words;
  for (const char* key : {"type", "instantiate", "symbols", "zeroed", "launch", "compile"})
    if (const toml::node* node = root.get(key)) gather(*node, words);
  if (const toml::table* symbols = root["symbols"].as_table())
    for (const auto& [name, node] : *symbols) used.emplace_back(name.str());
  if (const toml::table* reference = root["reference"].as_table()) {
    if (const toml::node* name = reference->get("kernel"); name != nullptr && name->is_string())
      kernels.push_back(name->as_string()->get());
    if (const toml::node* node = reference->get("instantiate")) gather(*node, words);
  }
  for (std::size_t at = 0; at < words.size();) {
    std::size_t end = at;
    while (end < words.size() && is_name(words[end])) ++end;
    if (end > at) used.push_back(words.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  std::vector<CompiledText> texts;
  for (std::size_t i = 0; i < compiled_.size(); ++i) texts.push_back({compiled_[i], lines_[i]});
  const Reach reach = reach_of(texts, kernels, used);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    leave_out(texts[i].text, reach.unreached[i]);
    reached_.push_back(std::move(texts[i].text));
  }
}

bool DescriptionReader::occurs(const std::string& name) const {
  const auto is_in = [&](const std::string& text) {
    return form_of(text, name) != ConstantForm::none &&
           form_of(kernel_body(text, {name}).text, name) != ConstantForm::none;
  };
  return std::any_of(reached_.begin(), reached_.end(), is_in);
}

bool DescriptionReader::is_told(const toml::table& root, const std::string& name) const {
  if (is_setting(root, name)) return true;
  const bool reads_block = form_of(code_, "blockDim") != ConstantForm::none ||
                           form_of(code_, "this_thread_block") != ConstantForm::none;
  const bool reads_grid = form_of(code_, "gridDim") != ConstantForm::none;
  return std::any_of(launches_.begin(), launches_.end(), [&](const GivenLaunch& launch) {
    const auto names_it = [&](const char* key) {
      const toml::node* node = launch.table != nullptr ? launch.table->get(key) : nullptr;
      if (node == nullptr) return false;
      const auto in = [&](const toml::node& one) {
        return one.is_string() && form_of("(" + one.as_string()->get() + ")", name) != ConstantForm::none;
      };
      return node->is_array() ? std::any_of(node->as_array()->begin(), node->as_array()->end(), in)
                              : in(*node);
    };
    const toml::node* instantiate = launch.instantiate.node;
    const bool is_argument = instantiate != nullptr && instantiate->is_string() &&
                             find_word(instantiate->as_string()->get(), name) != std::string::npos;
    return is_argument || names_it("arguments") || (names_it("block") && reads_block) ||
           (names_it("grid") && reads_grid);
  });
}

void DescriptionReader::must_occur(const toml::table& root, const toml::node& node, const std::string& key,
                                   const std::string& name) const {
  if (occurs(name) || is_told(root, name)) return;
  const bool is_elsewhere = std::any_of(compiled_.begin(), compiled_.end(), [&](const std::string& one) {
    return form_of(one, name) != ConstantForm::none;
  });
  refuse(&node,
         key + (is_elsewhere ? " occurs in no code that the kernel reaches in " : " does not occur in ") +
             text_.path +
             "; write it as the kernel does. One that the kernel knows only as blockDim stands in "
             "block, one that it is given in arguments.");
}

}  // namespace tunesmith
