// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "generator/error.h"
#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

constexpr std::int64_t reference_block =
    256;  // the block of a reference that is launched with one thread per element

struct WorkResult {
  Work work;
  std::string error;        // a sentence on why there is no work
  bool is_mistake = false;  // an expression has no value: it divides by 0 or overflows
};

// Returns the expression's value; nothing, with `made.error` set, if it has none.
std::optional<std::int64_t> evaluated(const IntegerExpression& expression, const DescriptionFacts& facts,
                                      const std::vector<std::int64_t>& values, const Config& config,
                                      WorkResult& made) {
  const IntegerExpression::Result result = value_of(expression, facts, values, &config);
  if (result.error.empty()) return result.value;
  made.error = result.error;
  made.is_mistake = true;
  return std::nullopt;
}

void set_extent(const std::vector<IntegerExpression>& expressions, const char* what,
                const DescriptionFacts& facts, const std::vector<std::int64_t>& values, const Config& config,
                Extent& extent, WorkResult& made) {
  const std::array<std::int64_t*, 3> parts = {&extent.x, &extent.y, &extent.z};
  for (std::size_t i = 0; i < expressions.size() && made.error.empty(); ++i) {
    const auto value = evaluated(expressions[i], facts, values, config, made);
    if (!value) return;
    if (*value < 1 || *value > std::numeric_limits<std::int32_t>::max()) {
      made.error = std::string("The ") + what + " \"" + expressions[i].text() + "\" is " +
                   std::to_string(*value) + "; it must be from 1 to 2147483647.";
    }
    *parts[i] = *value;
  }
}

template <typename Number>
void put(std::vector<unsigned char>& bytes, std::int64_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

// Puts the number where the member lies; returns a sentence if it cannot hold it.
std::string put_member(const DescribedMember& member, const std::string& type, std::int64_t whole,
                       double number, std::vector<unsigned char>& bytes) {
  if (member.dtype == DType::f32) {
    put(bytes, member.offset, static_cast<float>(number));
  } else if (member.dtype == DType::f64) {
    put(bytes, member.offset, number);
  } else if (tunesmith::bytes(member.dtype) == 8) {
    put(bytes, member.offset, whole);
  } else {
    const auto [least, most] = limits_of(member.dtype);
    if (whole < least || whole > most)
      return "The member " + member.name + " of " + type + " holds integers from " + std::to_string(least) +
             " to " + std::to_string(most) + ", and it is " + std::to_string(whole) + ".";
    const auto narrow = static_cast<std::int32_t>(whole);
    std::memcpy(bytes.data() + member.offset, &narrow,  // the low bytes come first
                static_cast<std::size_t>(tunesmith::bytes(member.dtype)));
  }
  return "";
}

std::string add_record(const DescribedArgument& argument, const DescriptionFacts& facts,
                       const std::vector<std::int64_t>& values, const Config& config,
                       std::vector<KernelArgument>& made) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(argument.layout.bytes));
  for (const DescribedMember& member : argument.members) {
    double number = member.number;
    auto whole = static_cast<std::int64_t>(number);
    if (member.expression) {
      const IntegerExpression::Result result = value_of(*member.expression, facts, values, &config);
      if (!result.error.empty()) return result.error;
      whole = result.value;
      number = static_cast<double>(whole);
    }
    if (std::string why = put_member(member, argument.record_type, whole, number, bytes); !why.empty())
      return why;
  }
  const auto as = [&]<typename Word>(Word) {
    std::vector<Word> words(bytes.size() / sizeof(Word));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    made.emplace_back(std::move(words));
  };
  if (argument.layout.alignment >= 8) {
    as(std::int64_t{});
  } else {
    as(std::int32_t{});
  }
  return "";
}

std::string add_argument(const DescribedArgument& argument, const std::string& kernel,
                         const DescriptionFacts& facts, const std::vector<std::int64_t>& values,
                         const Problem& problem, const Config& config, std::vector<KernelArgument>& made) {
  using Type = DescribedArgument::Type;
  if (argument.type == Type::array) {
    made.emplace_back(ArgumentPointer{static_cast<int>(argument.array)});
    return "";
  }
  if (argument.type == Type::record) return add_record(argument, facts, values, config, made);
  Type type = argument.type;
  std::int64_t least = argument.least, most = argument.most;
  if (type == Type::dtype) {
    std::tie(least, most) = limits_of(dtype_of(problem));
    switch (dtype_of(problem)) {
      case DType::f32:
        type = Type::f32;
        break;
      case DType::f64:
        type = Type::f64;
        break;
      case DType::boolean:
      case DType::i8:
      case DType::u8:
      case DType::i16:
      case DType::u16:
      case DType::i32:
      case DType::u32:
        type = Type::int32;
        break;
      case DType::i64:
      case DType::u64:
        type = Type::int64;
        break;
      default:
        return "The kernel " + kernel +
               " takes a number of the dtype, which cannot be given for f16 and bf16.";
    }
  }
  double number = argument.number;
  auto whole = static_cast<std::int64_t>(number);
  if (argument.expression) {
    const IntegerExpression::Result result = value_of(*argument.expression, facts, values, &config);
    if (!result.error.empty()) return result.error;
    whole = result.value;
    number = static_cast<double>(whole);
  }
  if (type == Type::int32 && (whole < least || whole > most)) {
    return "The kernel " + kernel + " takes \"" +
           (argument.expression ? argument.expression->text() : std::to_string(whole)) +
           "\" as an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", and it is " +
           std::to_string(whole) + ".";
  }
  if (type == Type::int32) made.emplace_back(static_cast<std::int32_t>(whole));
  if (type == Type::int64) made.emplace_back(whole);
  if (type == Type::f32) made.emplace_back(static_cast<float>(number));
  if (type == Type::f64) made.emplace_back(number);
  return "";
}

WorkResult work_of(const DescriptionFacts& facts, const DescribedLaunch& described,
                   const std::vector<std::int64_t>& values, const Problem& problem, const Config& config) {
  WorkResult made;
  Launch launch{.kernel = described.kernel};
  set_extent(described.block, "block", facts, values, config, launch.block, made);
  set_extent(described.grid, "grid", facts, values, config, launch.grid, made);
  if (described.grid.empty() &&
      made.error.empty()) {  // a function, or one thread per element of the first output
    const auto output = std::find_if(facts.description.arrays.begin(), facts.description.arrays.end(),
                                     [](const DescribedArray& one) { return one.role != Role::input; });
    std::vector<std::int64_t> extents;
    made.error = extents_of(facts, *output, values, extents);
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents) elements *= extent;
    if (!facts.description.reference_function) {
      launch.block = {reference_block};
      launch.grid = {std::max<std::int64_t>(1, ceil_divide(elements, reference_block))};
    }
  }
  if (described.shared_bytes && made.error.empty()) {
    const std::int64_t size = evaluated(*described.shared_bytes, facts, values, config, made).value_or(0);
    if (size < 0 || size > std::numeric_limits<std::int32_t>::max())
      made.error =
          "The shared bytes \"" + described.shared_bytes->text() + "\" are " + std::to_string(size) + ".";
    launch.dynamic_shared_bytes = size;
  }
  for (const DescribedArgument& argument : described.arguments) {
    if (!made.error.empty()) return made;
    if (argument.expression && !evaluated(*argument.expression, facts, values, config, made)) return made;
    made.error = add_argument(argument, described.kernel, facts, values, problem, config, launch.arguments);
  }
  const bool is_function = facts.description.reference_function && &described == &facts.description.reference;
  for (const DescribedSymbol& symbol : facts.description.symbols) {
    if (is_function || !made.error.empty()) break;  // a function takes all arrays as arguments
    ConstantCopy copy{.symbol = symbol.name, .argument = -1};
    if (symbol.array) {
      const DescribedArray& array = facts.description.arrays[*symbol.array];
      std::vector<std::int64_t> extents;
      made.error = extents_of(facts, array, values, extents);
      copy.argument = static_cast<int>(*symbol.array);
      copy.bytes = bytes(dtype_of_array(array, problem));
      for (const std::int64_t extent : extents) copy.bytes *= extent;
    }
    made.work.steps.emplace_back(std::move(copy));
    made.work.takes_turns = true;
  }
  if (made.error.empty()) made.work.steps.emplace_back(std::move(launch));
  return made;
}

// Makes a rule of a space. A rule that cannot be evaluated counts as broken.
Rule rule_of(const Facts& facts, const DescribedRule& rule,
             const std::shared_ptr<const std::vector<std::int64_t>>& values) {
  return {rule.why.c_str(), [facts, &rule, values](const Config& config) {
            const IntegerExpression::Result result = value_of(rule.holds, *facts, *values, &config);
            return result.error.empty() && result.value != 0;
          }};
}

std::vector<Axis> axes_of(const DescriptionFacts& facts) {
  std::vector<Axis> axes;
  for (const DescribedAxis& axis : facts.description.axes)
    axes.emplace_back(axis.name, std::vector<Value>(axis.values.begin(), axis.values.end()),
                      axis.what.c_str());
  return axes;
}

}  // namespace

Work checked_work(const Facts& facts, const DescribedLaunch& launch, const Problem& problem,
                  const Config& config) {
  WorkResult made = work_of(*facts, launch, values_of(*facts, problem), problem, config);
  if (!made.error.empty()) throw UsageError(made.error);
  return std::move(made.work);
}

Space space_of(const Facts& facts, const Problem& problem) {
  const auto values = std::make_shared<const std::vector<std::int64_t>>(values_of(*facts, problem));
  const Description& description = facts->description;
  std::vector<Rule> must;
  for (const DescribedRule& rule : description.must) must.push_back(rule_of(facts, rule, values));
  must.push_back({"Its grid, block, shared bytes and arguments can be computed.",
                  [facts, values, problem](const Config& config) {
                    return work_of(*facts, facts->description.launch, *values, problem, config).error.empty();
                  }});
  std::vector<Rule> worth;
  for (const DescribedRule& rule : description.worth) worth.push_back(rule_of(facts, rule, values));
  return Space(axes_of(*facts), std::move(must), std::move(worth));
}

std::string why_no_launch(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  const Description& description = facts->description;
  try {
    const Config base = space_of(facts, problem).complete({});
    return description.has_reference ? work_of(*facts, description.reference, values, problem, base).error
                                     : "";
  } catch (const UsageError& error) {
    const WorkResult first =
        work_of(*facts, description.launch, values, problem, Space(axes_of(*facts)).complete({}));
    return first.error.empty() ? error.what() : "no config is legal. " + first.error;
  }
}

std::string mistake_of(const Facts& facts, const Problem& problem) {
  constexpr std::int64_t most_configs = 5000;
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  const Description& description = facts->description;
  std::string found;
  const auto look = [&](const Config& config) {
    const auto complain = [&](const std::string& why) {
      found = "The config \"" + config.text() + "\" of " + description.name + " for " + problem.text() +
              " cannot be computed: " + why +
              " Mend the expression, or leave such configs out by a rule of must before it.";
      return false;
    };
    for (const DescribedRule& rule : description.must) {
      const IntegerExpression::Result result = value_of(rule.holds, *facts, values, &config);
      if (!result.error.empty()) return complain(result.error);
      if (result.value == 0) return true;
    }
    const WorkResult made = work_of(*facts, description.launch, values, problem, config);
    if (made.is_mistake) return complain(made.error);
    if (!made.error.empty()) return true;
    for (const DescribedRule& rule : description.worth) {
      const IntegerExpression::Result result = value_of(rule.holds, *facts, values, &config);
      if (!result.error.empty()) return complain(result.error);
    }
    if (!description.alignment_bytes) return true;
    const IntegerExpression::Result alignment =
        value_of(*description.alignment_bytes, *facts, values, &config);
    if (!alignment.error.empty()) return complain(alignment.error);
    if (alignment.value < 1 || (alignment.value & (alignment.value - 1)) != 0)
      return complain("alignment_bytes is " + std::to_string(alignment.value) + ", but it is a power of 2.");
    return true;
  };
  const Space all(axes_of(*facts));
  if (all.raw_count() <= most_configs) {
    all.each(look);
  } else {
    for (const Config& config : all.sample(most_configs / 5, 1))
      if (!look(config)) break;
  }
  return found;
}

}  // namespace tunesmith
