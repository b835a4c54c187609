// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "generator/error.h"
#include "generator/number_text.h"
#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

constexpr std::int64_t reference_block =
    256;  // the block of a reference that is launched with one thread per element
constexpr std::int64_t most_launches = 10'000;  // of launches that are repeated together

struct WorkResult {
  Work work;
  std::string error;        // a sentence on why there is no work
  bool is_mistake = false;  // an expression has no value: it divides by 0 or overflows
};

// The values with which the expressions of a work are computed.
struct Given {
  const DescriptionFacts& facts;
  const std::vector<std::int64_t>& values;
  const Problem& problem;
  const Config& config;
};

// Returns the type that kernels take the array in: its own, or that of an axis.
DType taken_type(const DescribedArray& array, const Given& given) {
  return array.type_axis.empty() ? dtype_of_array(array, given.problem)
                                 : type_of(array.type_axis, given.config);
}

// Returns the expression's value; nothing, with `made.error` set, if it has none.
std::optional<std::int64_t> evaluated(const IntegerExpression& expression, const Given& given,
                                      std::int64_t step, WorkResult& made) {
  const IntegerExpression::Result result =
      value_of(expression, given.facts, given.values, &given.config, step);
  if (result.error.empty()) return result.value;
  made.error = result.error;
  made.is_mistake = true;
  return std::nullopt;
}

// "", or in which repetition a value is wrong: ", where step is 3".
std::string where_of(const DescribedLaunch& described, std::int64_t step) {
  return described.uses_step ? ", where step is " + std::to_string(step) : "";
}

void set_extent(const std::vector<IntegerExpression>& expressions, const char* what, const Given& given,
                const std::string& where, std::int64_t step, Extent& extent, WorkResult& made) {
  const std::array<std::int64_t*, 3> parts = {&extent.x, &extent.y, &extent.z};
  for (std::size_t i = 0; i < expressions.size() && made.error.empty(); ++i) {
    const auto value = evaluated(expressions[i], given, step, made);
    if (!value) return;
    if (*value < 1 || *value > std::numeric_limits<std::int32_t>::max()) {
      made.error = std::string("The ") + what + " \"" + expressions[i].text() + "\" is " +
                   std::to_string(*value) + where + "; it must be from 1 to 2147483647.";
    }
    *parts[i] = *value;
  }
}

// The launches' arrays in memory.
struct Placed {
  const DescriptionFacts& facts;
  std::vector<std::int64_t> offsets;  // by array: its place in the workspace; -1: no launch uses it
  std::vector<std::int64_t> copies;   // likewise, of its copy in the type of an axis

  // The array as a kernel takes it that has the type of an axis.
  KernelArgument copy(std::size_t array) const {
    if (copies[array] >= 0) return WorkspacePointer{copies[array]};
    return pointer(array);
  }
  KernelArgument pointer(std::size_t array) const {
    if (facts.places[array] < 0) return WorkspacePointer{offsets[array]};
    return ArgumentPointer{facts.places[array]};
  }
};

template <typename Number>
void put(std::vector<unsigned char>& bytes, std::int64_t at, Number number) {
  std::memcpy(bytes.data() + at, &number, sizeof(number));
}

// A number that a kernel takes, for a config.
struct GivenNumber {
  std::optional<std::int64_t> whole;  // with all its digits; none: it has a fraction
  double real = 0;

  template <typename Number>
  Number as() const {
    return whole ? static_cast<Number>(*whole) : static_cast<Number>(real);
  }
};

// Computes the number; returns a sentence if it has no value.
std::string compute(const DescribedNumber& described, const Given& given, std::int64_t step,
                    GivenNumber& made) {
  made = {.whole = std::nullopt, .real = described.real};
  if (!described.expression) return "";
  const IntegerExpression::Result result =
      value_of(*described.expression, given.facts, given.values, &given.config, step);
  made.whole = result.value;
  return result.error;
}

// Puts the number where the member lies; returns a sentence if it cannot hold it.
std::string put_member(const DescribedMember& member, const std::string& type, const GivenNumber& number,
                       std::vector<unsigned char>& bytes) {
  if (member.dtype == DType::f32) {
    put(bytes, member.offset, number.as<float>());
    return "";
  }
  if (member.dtype == DType::f64) {
    put(bytes, member.offset, number.as<double>());
    return "";
  }
  const std::int64_t whole = number.whole.value();
  const auto [least, most] = limits_of(member.dtype);
  if (whole < least || whole > most)
    return "The member " + member.name + " of " + type + " holds integers from " + std::to_string(least) +
           " to " + std::to_string(most) + ", and it is " + std::to_string(whole) + ".";
  std::memcpy(bytes.data() + member.offset, &whole,  // the low bytes come first
              static_cast<std::size_t>(tunesmith::bytes(member.dtype)));
  return "";
}

std::string add_record(const DescribedArgument& argument, const Given& given, std::int64_t step,
                       std::vector<KernelArgument>& made) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(argument.layout.bytes));
  for (const DescribedMember& member : argument.members) {
    GivenNumber number;
    if (std::string why = compute(member.number, given, step, number); !why.empty()) return why;
    if (std::string why = put_member(member, argument.record_type, number, bytes); !why.empty()) return why;
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

std::string add_argument(const DescribedArgument& argument, const std::string& kernel, const Given& given,
                         const Placed& placed, std::int64_t step, std::vector<KernelArgument>& made) {
  using Type = DescribedArgument::Type;
  if (argument.type == Type::array) {
    made.push_back(argument.type_axis.empty() ? placed.pointer(argument.array) : placed.copy(argument.array));
    return "";
  }
  if (argument.type == Type::record) return add_record(argument, given, step, made);
  Type type = argument.type;
  std::int64_t least = argument.least, most = argument.most;
  if (type == Type::dtype || type == Type::type_axis) {
    const DType dtype =
        type == Type::dtype ? dtype_of(given.problem) : type_of(argument.type_axis, given.config);
    std::tie(least, most) = limits_of(dtype);
    switch (dtype) {
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
               " takes a number of the dtype, which cannot be given for f16 and bf16; let it take a float.";
    }
  }
  GivenNumber number;
  if (std::string why = compute(argument.number, given, step, number); !why.empty()) return why;
  if (type == Type::f32) made.emplace_back(number.as<float>());
  if (type == Type::f64) made.emplace_back(number.as<double>());
  if (type == Type::f32 || type == Type::f64) return "";
  if (!number.whole)
    return "The kernel " + kernel + " takes an integer of the dtype, and its argument is " +
           printed("%g", number.real) + "; give a whole number, or an expression in quotes.";
  const std::int64_t whole = *number.whole;
  if (whole < least || whole > most) {
    return "The kernel " + kernel + " takes \"" + argument.number.expression->text() +
           "\" as an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", and it is " +
           std::to_string(whole) + ".";
  }
  if (type == Type::int32) made.emplace_back(static_cast<std::int32_t>(whole));  // of a u32 its bits
  if (type == Type::int64) made.emplace_back(whole);
  return "";
}

// Makes the launch of one repetition.
Launch launch_of(const DescribedLaunch& described, const Given& given, const Placed& placed,
                 std::int64_t step, WorkResult& made) {
  const Description& description = given.facts.description;
  Launch launch{.kernel = described.kernel};
  launch.is_cooperative = described.is_cooperative;
  const std::string where = where_of(described, step);
  set_extent(described.block, "block", given, where, step, launch.block, made);
  set_extent(described.grid, "grid", given, where, step, launch.grid, made);
  if (described.grid.empty() &&
      made.error.empty()) {  // a function, or one thread per element of the first output
    const auto output = std::find_if(description.arrays.begin(), description.arrays.end(),
                                     [](const DescribedArray& one) { return one.role != Role::input; });
    std::vector<std::int64_t> extents;
    made.error = extents_of(given.facts, *output, given.values, extents);
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents) elements *= extent;
    if (output->is_of_structs()) elements /= output->lanes;
    if (!description.reference_function) {
      launch.block = {reference_block};
      launch.grid = {std::max<std::int64_t>(1, ceil_divide(elements, reference_block))};
    }
  }
  if (described.shared_bytes && made.error.empty()) {
    const std::int64_t size = evaluated(*described.shared_bytes, given, step, made).value_or(0);
    if (size < 0 || size > std::numeric_limits<std::int32_t>::max())
      made.error = "The shared bytes \"" + described.shared_bytes->text() + "\" are " + std::to_string(size) +
                   where + ".";
    launch.dynamic_shared_bytes = size;
  }
  for (const DescribedArgument& argument : described.arguments) {
    if (!made.error.empty()) return launch;
    if (argument.number.expression && !evaluated(*argument.number.expression, given, step, made))
      return launch;
    made.error = add_argument(argument, described.kernel, given, placed, step, launch.arguments);
  }
  return launch;
}

// Computes the bytes of an array; sets made.error if they are not possible.
std::int64_t bytes_of(std::size_t at, const Given& given, WorkResult& made) {
  const DescribedArray& array = given.facts.description.arrays[at];
  std::vector<std::int64_t> extents;
  for (const IntegerExpression& extent : array.extents)
    if (made.error.empty()) evaluated(extent, given, 0, made);
  if (made.error.empty()) made.error = extents_of(given.facts, array, given.values, extents, &given.config);
  std::int64_t size =
      bytes(array.is_workspace ? taken_type(array, given) : dtype_of_array(array, given.problem));
  for (const std::int64_t extent : extents) size *= extent;
  return size;
}

// Lays out the workspaces that the launches use.
std::vector<std::int64_t> add_workspaces(std::span<const DescribedLaunch> launches, const Given& given,
                                         WorkResult& made) {
  constexpr std::int64_t alignment = 256;
  const std::vector<DescribedArray>& arrays = given.facts.description.arrays;
  std::vector<std::int64_t> offsets(arrays.size(), -1);
  for (std::size_t i = 0; i < arrays.size() && made.error.empty(); ++i) {
    const bool is_used = std::any_of(launches.begin(), launches.end(), [&](const DescribedLaunch& launch) {
      return (launch.swap && launch.swap->spare == i) ||
             std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const DescribedArgument& one) {
               return one.type == DescribedArgument::Type::array && one.array == i;
             });
    });
    if (!arrays[i].is_workspace || !is_used) continue;
    const std::int64_t size = bytes_of(i, given, made);
    offsets[i] = made.work.workspace_bytes;
    const std::int64_t element =
        arrays[i].is_of_structs() ? arrays[i].record.bytes : bytes(taken_type(arrays[i], given));
    made.work.workspace_arrays.push_back({arrays[i].name, offsets[i], size, element});
    // A workspace has a byte even if its arrays have no elements, so that its pointers point to memory.
    made.work.workspace_bytes += std::max(round_up(size, alignment), alignment);
  }
  return offsets;
}

// Lays out the copies of arrays that the launches take in another type than they have.
std::vector<std::int64_t> add_copies(std::span<const DescribedLaunch> launches, const Given& given,
                                     WorkResult& made) {
  constexpr std::int64_t alignment = 256;
  const std::vector<DescribedArray>& arrays = given.facts.description.arrays;
  std::vector<std::int64_t> offsets(arrays.size(), -1);
  for (std::size_t i = 0; i < arrays.size() && made.error.empty(); ++i) {
    if (arrays[i].is_workspace || arrays[i].type_axis.empty()) continue;
    const DType has = dtype_of_array(arrays[i], given.problem), gets = taken_type(arrays[i], given);
    const bool is_used = std::any_of(launches.begin(), launches.end(), [&](const DescribedLaunch& launch) {
      return std::any_of(launch.arguments.begin(), launch.arguments.end(), [&](const DescribedArgument& one) {
        return one.type == DescribedArgument::Type::array && one.array == i && !one.type_axis.empty();
      });
    });
    if (has == gets || !is_used) continue;
    const std::int64_t size = bytes_of(i, given, made) / bytes(has) * bytes(gets);
    offsets[i] = made.work.workspace_bytes;
    made.work.workspace_arrays.push_back({"the copy of " + arrays[i].name, offsets[i], size, bytes(gets)});
    made.work.workspace_bytes += std::max(round_up(size, alignment), alignment);
  }
  return offsets;
}

// Adds the launches that fill the copies, or those that copy results back.
void add_conversions(const Given& given, const Placed& placed, bool gives, WorkResult& made) {
  constexpr std::int64_t most_blocks = 1024;
  const std::vector<DescribedArray>& arrays = given.facts.description.arrays;
  for (std::size_t i = 0; i < arrays.size() && made.error.empty(); ++i) {
    if (placed.copies[i] < 0 || arrays[i].role == (gives ? Role::input : Role::output)) continue;
    const std::int64_t count = bytes_of(i, given, made) / bytes(dtype_of_array(arrays[i], given.problem));
    if (count == 0) continue;
    Launch launch{.kernel = (gives ? "tunesmith_give_" : "tunesmith_take_") + arrays[i].name};
    launch.block = {reference_block};
    launch.grid = {std::min(ceil_divide(count, reference_block), most_blocks)};
    launch.arguments = {gives ? placed.copy(i) : placed.pointer(i),
                        gives ? placed.pointer(i) : placed.copy(i), count};
    made.work.steps.emplace_back(std::move(launch));
  }
}

// Adds what happens once before the launches: symbols are filled, and arrays zeroed.
void add_first_steps(const Given& given, const Placed& placed, WorkResult& made) {
  const Description& description = given.facts.description;
  for (const DescribedSymbol& symbol : description.symbols) {
    if (!made.error.empty()) return;
    ConstantCopy copy{.symbol = symbol.name, .argument = -1};
    if (symbol.array) {
      copy.argument = given.facts.places[*symbol.array];
      copy.bytes = bytes_of(*symbol.array, given, made);
    }
    made.work.steps.emplace_back(std::move(copy));
    made.work.takes_turns = true;
  }
  for (std::size_t i = 0; i < description.arrays.size() && made.error.empty(); ++i) {
    if (!description.arrays[i].is_zeroed || (given.facts.places[i] < 0 && placed.offsets[i] < 0)) continue;
    const KernelArgument pointer = placed.copy(i);
    Zero zero{.what = {}, .bytes = bytes_of(i, given, made)};
    if (placed.copies[i] >= 0)
      zero.bytes = zero.bytes / bytes(dtype_of_array(description.arrays[i], given.problem)) *
                   bytes(taken_type(description.arrays[i], given));
    if (const auto* of_op = std::get_if<ArgumentPointer>(&pointer)) zero.what = *of_op;
    if (const auto* inside = std::get_if<WorkspacePointer>(&pointer)) zero.what = *inside;
    if (zero.bytes > 0) made.work.steps.emplace_back(zero);
  }
}

// The number of repetitions of launches that run together; 0 with made.error set if it is not allowed.
std::int64_t repetitions_of(const DescribedLaunch& first, std::size_t together, const Given& given,
                            WorkResult& made) {
  if (!first.repeat) return 1;
  const auto count = evaluated(*first.repeat, given, 0, made);
  if (!count) return 0;
  const std::int64_t most = most_launches / static_cast<std::int64_t>(together);
  if (*count < 0 || *count > most)
    made.error = "The repeat \"" + first.repeat->text() + "\" of " + first.kernel + " is " +
                 std::to_string(*count) + "; it must be from 0 to " + std::to_string(most) + ".";
  if (*count == 0 && first.swap)
    made.error = "The repeat \"" + first.repeat->text() + "\" of " + first.kernel +
                 " is 0, so nothing writes " + given.facts.description.arrays[first.swap->to].name +
                 "; exclude that by a rule, or by a larger minimum.";
  return made.error.empty() ? *count : 0;
}

// Requires that the arrays that change places are equally long.
void check_swap(const DescribedSwap& swap, const Given& given, WorkResult& made) {
  const std::int64_t size = bytes_of(swap.to, given, made);
  for (const std::size_t other : {swap.from, swap.spare}) {
    const std::int64_t its = bytes_of(other, given, made);
    if (!made.error.empty() || its == size) continue;
    const std::vector<DescribedArray>& arrays = given.facts.description.arrays;
    made.error = "The arrays of swap change places, but " + arrays[swap.to].name + " has " +
                 std::to_string(size) + " bytes and " + arrays[other].name + " " + std::to_string(its) +
                 "; give them the same extents.";
  }
}

// Gives a launch the arrays whose turn it is in this repetition of `count`.
void take_turns(const DescribedSwap& swap, const DescribedLaunch& described, const Placed& placed,
                std::int64_t step, std::int64_t count, Launch& launch) {
  const auto written_in = [&](std::int64_t other) {
    return (count - 1 - other) % 2 == 0 ? swap.to : swap.spare;
  };
  for (std::size_t i = 0; i < described.arguments.size(); ++i) {
    const DescribedArgument& argument = described.arguments[i];
    if (argument.type != DescribedArgument::Type::array) continue;
    if (argument.array == swap.from && step > 0) launch.arguments[i] = placed.pointer(written_in(step - 1));
    if (argument.array == swap.to) launch.arguments[i] = placed.pointer(written_in(step));
  }
}

// Adds the repetitions of launches that run together, and returns their number.
std::int64_t add_repeated(std::span<const DescribedLaunch> launches, const Given& given, const Placed& placed,
                          bool only_judges, WorkResult& made) {
  const DescribedLaunch& first = launches.front();
  const std::int64_t count = repetitions_of(first, launches.size(), given, made);
  if (count > 0 && first.swap) check_swap(*first.swap, given, made);
  const bool use_step =
      std::any_of(launches.begin(), launches.end(), [](const DescribedLaunch& one) { return one.uses_step; });
  std::vector<Launch> last(launches.size());
  for (std::int64_t step = 0; step < (only_judges && !use_step ? std::min<std::int64_t>(count, 1) : count);
       ++step) {
    for (std::size_t n = 0; n < launches.size(); ++n) {
      if (step == 0 || launches[n].uses_step) last[n] = launch_of(launches[n], given, placed, step, made);
      if (!made.error.empty()) return count;
      if (only_judges) continue;
      Launch launch = last[n];
      if (first.swap) take_turns(*first.swap, launches[n], placed, step, count, launch);
      made.work.steps.emplace_back(std::move(launch));
    }
  }
  return count;
}

// With `only_judges` it only finds an error: the work is not whole.
WorkResult work_of(const DescriptionFacts& facts, std::span<const DescribedLaunch> launches,
                   const std::vector<std::int64_t>& values, const Problem& problem, const Config& config,
                   bool only_judges = false) {
  WorkResult made;
  const Given given{facts, values, problem, config};
  const bool is_function =
      facts.description.reference_function && launches.data() == &facts.description.reference;
  const std::vector<std::int64_t> offsets = add_workspaces(launches, given, made);
  const Placed placed{facts, offsets, add_copies(launches, given, made)};
  if (!is_function) add_first_steps(given, placed, made);  // a function takes all arrays as arguments
  add_conversions(given, placed, false, made);
  std::int64_t all = 0;
  for (std::size_t begin = 0; begin < launches.size() && made.error.empty();) {
    std::size_t end = begin + 1;
    while (end < launches.size() && launches[end].is_together) ++end;
    all += add_repeated(launches.subspan(begin, end - begin), given, placed, only_judges, made);
    begin = end;
  }
  add_conversions(given, placed, true, made);
  if (made.error.empty() && all == 0)
    made.error = "No launch is repeated at least once, so nothing would be computed.";
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
    axes.emplace_back(axis.name,
                      axis.types.empty() ? std::vector<Value>(axis.values.begin(), axis.values.end())
                                         : std::vector<Value>(axis.types.begin(), axis.types.end()),
                      axis.what.c_str());
  return axes;
}

}  // namespace

Work checked_work(const Facts& facts, std::span<const DescribedLaunch> launches, const Problem& problem,
                  const Config& config) {
  WorkResult made = work_of(*facts, launches, values_of(*facts, problem), problem, config);
  if (!made.error.empty()) throw UsageError(made.error);
  return std::move(made.work);
}

Space space_of(const Facts& facts, const Problem& problem) {
  const auto values = std::make_shared<const std::vector<std::int64_t>>(values_of(*facts, problem));
  const Description& description = facts->description;
  std::vector<Rule> must;
  for (const DescribedRule& rule : description.must) must.push_back(rule_of(facts, rule, values));
  must.push_back(
      {"Its grid, block, shared bytes and arguments can be computed.",
       [facts, values, problem](const Config& config) {
         return work_of(*facts, facts->description.launches, *values, problem, config, true).error.empty();
       }});
  std::vector<Rule> worth;
  for (const DescribedRule& rule : description.worth) worth.push_back(rule_of(facts, rule, values));
  return Space(axes_of(*facts), std::move(must), std::move(worth));
}

double threads_of(const Facts& facts, const Problem& problem) {
  try {
    const Config base = space_of(facts, problem).complete({});
    return tunesmith::threads_of(checked_work(facts, facts->description.launches, problem, base));
  } catch (const UsageError&) {
    return std::numeric_limits<double>::infinity();
  }
}

std::string why_no_launch(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  const Description& description = facts->description;
  try {
    const Config base = space_of(facts, problem).complete({});
    if (!description.has_reference) return "";
    return work_of(*facts, std::span(&description.reference, 1), values, problem, base).error;
  } catch (const UsageError& error) {
    const WorkResult first =
        work_of(*facts, description.launches, values, problem, Space(axes_of(*facts)).complete({}));
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
    const WorkResult made = work_of(*facts, description.launches, values, problem, config, true);
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
