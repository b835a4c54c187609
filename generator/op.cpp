#include "generator/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "generator/error.h"
#include "generator/target.h"

namespace tunesmith {
namespace {

struct DTypeFacts {
  DType dtype;
  std::string_view name;
  std::string_view cuda_type;
  std::int64_t bytes;
};

constexpr std::array<DTypeFacts, 12> dtypes = {{{DType::f32, "f32", "float", 4},
                                                {DType::f64, "f64", "double", 8},
                                                {DType::f16, "f16", "Float16", 2},
                                                {DType::bf16, "bf16", "BFloat16", 2},
                                                {DType::u8, "u8", "unsigned char", 1},
                                                {DType::i32, "i32", "int", 4},
                                                {DType::i64, "i64", "long long", 8},
                                                {DType::b8, "b8", "unsigned char", 1},
                                                {DType::b16, "b16", "unsigned short", 2},
                                                {DType::b32, "b32", "unsigned", 4},
                                                {DType::b64, "b64", "unsigned long long", 8},
                                                {DType::b128, "b128", "ulonglong2", 16}}};

const DTypeFacts& facts(DType dtype) { return dtypes[static_cast<std::size_t>(dtype)]; }

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The value as the problem holds it.
Value checked(const Op& op, const Parameter& parameter, const Value& value) {
  std::string shown = to_text(value);
  if (shown.size() > 200) shown = shown.substr(0, 100) + " …";
  const std::string given = "The " + op.name + " problem's " + parameter.name + " is " + shown;
  if (!parameter.is_integer()) {
    const auto* word = std::get_if<std::string>(&value);
    const std::string text = word != nullptr ? *word : to_text(value);
    if (std::find(parameter.words.begin(), parameter.words.end(), text) != parameter.words.end()) return text;
    if (!parameter.refuses_text) throw UsageError(given + "; allowed are " + words_of(parameter.words) + ".");
    // The text stands in a comment of the variant, which it must not leave.
    if (std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\\'; })) {
      throw UsageError(given + "; control characters and backslashes are not allowed in it.");
    }
    if (const std::string why = parameter.refuses_text(text); !why.empty()) {
      throw UsageError(given + ". " + why);
    }
    return text;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer < parameter.minimum || *integer > parameter.maximum) {
    throw UsageError(given + "; allowed are whole numbers from " + std::to_string(parameter.minimum) +
                     " to " + std::to_string(parameter.maximum) + ".");
  }
  return value;
}

std::optional<std::string> beyond(std::string_view what, std::int64_t value, std::int64_t limit,
                                  const DeviceFacts& device) {
  if (value <= limit) return std::nullopt;
  return std::string(what) + " is " + std::to_string(value) + ", but " + device.name + " allows " +
         std::to_string(limit) + ".";
}

}  // namespace

std::string_view name(DType dtype) { return facts(dtype).name; }
std::string_view cuda_type(DType dtype) { return facts(dtype).cuda_type; }
std::int64_t bytes(DType dtype) { return facts(dtype).bytes; }

DType dtype_of(const Problem& problem) {
  const std::string& word = problem.word("dtype");
  for (const DTypeFacts& entry : dtypes) {
    if (entry.name == word) return entry.dtype;
  }
  throw Error("The dtype " + word + " is not known.");
}

Extents::Extents(std::initializer_list<const char*> parameters)
    : Extents(
          [names = std::vector<std::string>(parameters.begin(), parameters.end())](const Problem& problem) {
            std::vector<std::int64_t> extents;
            for (const std::string& name : names) extents.push_back(problem.integer(name));
            return extents;
          }) {}

Companions::Companions(std::initializer_list<const char*> texts)
    : Companions([texts = std::vector<std::string>(texts.begin(), texts.end())](const Problem& problem) {
        std::vector<Problem> companions;
        for (const std::string& text : texts) {
          Problem& companion = companions.emplace_back(problem);
          const Values given = Values::parse(text);
          for (const auto& [name, value] : given.entries()) companion.set(name, value);
        }
        return companions;
      }) {}

std::int64_t elements(const Argument& argument, const Problem& problem) {
  std::int64_t count = 1;
  for (const std::int64_t extent : argument.extents(problem)) count *= extent;
  return count;
}

double size_bytes(const Argument& argument, const Problem& problem) {
  auto size = static_cast<double>(bytes(argument.dtype(problem)));
  for (const std::int64_t extent : argument.extents(problem)) size *= static_cast<double>(extent);
  return size;
}

bool reentrant(const Work& work) {
  return std::none_of(work.steps.begin(), work.steps.end(),
                      [](const Step& step) { return std::holds_alternative<ConstantCopy>(step); });
}

int multiprocessors_to_fill(const DeviceFacts& device) {
  constexpr int of_an_h200 = 132;
  return device.kind == "cuda" && device.multiprocessors > 0 ? device.multiprocessors : of_an_h200;
}

std::optional<std::string> exceeds(const Work& work, const DeviceFacts& device,
                                   std::int64_t static_shared_bytes) {
  for (const Step& step : work.steps) {
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    const Extent& block = launch->block;
    const Extent& grid = launch->grid;
    const std::array<std::optional<std::string>, 8> broken = {
        beyond("The number of threads a block", block.x * block.y * block.z, device.max_threads_per_block,
               device),
        beyond("The block's x", block.x, device.max_block.x, device),
        beyond("The block's y", block.y, device.max_block.y, device),
        beyond("The block's z", block.z, device.max_block.z, device),
        beyond("The grid's x", grid.x, device.max_grid.x, device),
        beyond("The grid's y", grid.y, device.max_grid.y, device),
        beyond("The grid's z", grid.z, device.max_grid.z, device),
        beyond("The shared memory a block, in bytes,", launch->dynamic_shared_bytes + static_shared_bytes,
               device.max_shared_bytes_per_block, device)};
    for (const auto& sentence : broken) {
      if (sentence) return sentence;
    }
  }
  return std::nullopt;
}

Problem complete_problem(const Op& op, const Values& given) {
  for (const auto& [name, value] : given.entries()) {
    if (std::none_of(
            op.parameters.begin(), op.parameters.end(),
            [&, &given_name = name](const Parameter& parameter) { return parameter.name == given_name; })) {
      std::vector<std::string> names;
      for (const Parameter& parameter : op.parameters) names.push_back(parameter.name);
      throw UsageError(name + "=" + to_text(value) + " is not a parameter of " + op.name +
                       "; its parameters are " + words_of(names) + ".");
    }
  }
  Problem problem;
  for (const Parameter& parameter : op.parameters) {
    const Value* value = given.find(parameter.name);
    if (value == nullptr && parameter.initial) value = &*parameter.initial;
    if (value == nullptr) {
      throw UsageError("The " + op.name + " problem \"" + given.text() + "\" has no " + parameter.name +
                       " (" + parameter.what + "); add " + parameter.name + "=VALUE.");
    }
    problem.set(parameter.name, checked(op, parameter, *value));
  }
  if (op.check) {
    if (const std::string why = op.check(problem); !why.empty()) throw UsageError(why);
  }
  return problem;
}

double bytes_moved(const Op& op, const Problem& problem) {
  if (op.bytes_moved) return op.bytes_moved(problem);
  double bytes = 0;
  for (const Argument& argument : op.arguments)
    bytes += size_bytes(argument, problem) * (argument.role == Role::inout ? 2 : 1);
  return bytes;
}

const Template& find_template(const Op& op, std::string_view name) {
  std::vector<std::string> names;
  for (const Template& candidate : op.templates) {
    if (candidate.name == name) return candidate;
    names.push_back(candidate.name);
  }
  throw UsageError(op.name + " has no template " + std::string(name) + "; it has " + words_of(names) + ".");
}

std::optional<std::string> why_not(const Template& candidate, const Problem& problem,
                                   const DeviceFacts& device) {
  const int needed = candidate.minimum_compute_capability;
  if (needed > device.compute_capability || (!candidate.later_too && needed < device.compute_capability)) {
    return "The template " + candidate.name + " needs a CUDA device of compute capability " +
           capability_text(needed) + (candidate.later_too ? " or higher; " : " and no other; ") +
           device.name +
           (device.kind == "host" ? " is the host."
                                  : " has " + capability_text(device.compute_capability) + ".");
  }
  if (candidate.refuses) {
    if (std::string why = candidate.refuses(problem); !why.empty()) return why;
  }
  return std::nullopt;
}

Values compiled_in(const Op& op, const Template& tmpl, const Problem& problem) {
  Values values;
  for (const Parameter& parameter : op.parameters) {
    if (std::find(tmpl.compiled_in.begin(), tmpl.compiled_in.end(), parameter.name) !=
        tmpl.compiled_in.end()) {
      values.set(parameter.name, *problem.find(parameter.name));
    }
  }
  if (tmpl.constants) {
    const Values constants = tmpl.constants(problem);
    for (const auto& [name, value] : constants.entries()) values.set(name, value);
  }
  return values;
}

std::int64_t alignment_bytes(const Template& tmpl, const Problem& problem, const Config& config) {
  return tmpl.alignment_bytes ? tmpl.alignment_bytes(problem, config) : bytes(dtype_of(problem));
}

std::int64_t element_alignment(const Op& op, const Problem& problem) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Argument& argument : op.arguments) smallest = std::min(smallest, bytes(argument.dtype(problem)));
  return smallest;
}

double distance(const Op& op, const Problem& a, const Problem& b) {
  double sum = 0;
  const auto add = [&](const Value& left, const Value& right) {
    const double octaves = log2_of(left) - log2_of(right);
    sum += octaves * octaves;
  };
  for (const Parameter& parameter : op.parameters) {
    const Value* left = a.find(parameter.name);
    const Value* right = b.find(parameter.name);
    if (left == nullptr || right == nullptr || *left == *right) continue;
    if (!parameter.is_integer()) {
      sum += 1;
    } else if (!op.sizes) {
      add(*left, *right);
    }
  }
  if (op.sizes) {
    const Values left = op.sizes(a);
    const Values right = op.sizes(b);
    for (const auto& [name, value] : left.entries()) add(value, *right.find(name));
  }
  return std::sqrt(sum);
}

Config base_config(const Op& op, const Problem& problem, const DeviceFacts& device) {
  return op.templates.front().space(problem, device).complete({});
}

}  // namespace tunesmith
