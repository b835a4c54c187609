#include "kernel_file/described_op.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/description.h"

namespace tunesmith {
namespace {

// What the functions of the op share. Spaces refer to its sentences and names.
struct Shared {
  Description description;
  std::vector<ExpressionName> names;
  std::vector<IntegerAxis> axes;  // of the names behind the problem's
  std::size_t of_problem = 0;     // so many names are the problem's

  explicit Shared(Description given)
      : description(std::move(given)),
        names(description.names()),
        of_problem(names.size() - description.axes.size()) {
    for (const DescribedAxis& axis : description.axes) axes.emplace_back(axis.name);
  }
};
using Facts = std::shared_ptr<const Shared>;

constexpr std::int64_t most_elements = std::int64_t{1} << 50;
constexpr std::int64_t reference_block = 256;  // of a reference that is launched one thread per element

// The values of a problem's names.
std::vector<std::int64_t> values_of(const Shared& facts, const Problem& problem) {
  std::vector<std::int64_t> values;
  values.reserve(facts.of_problem);
  for (const Parameter& parameter : facts.description.parameters) {
    const Value* value = problem.find(parameter.name);
    if (value == nullptr) throw Error("\"" + problem.text() + "\" has no " + parameter.name + ".");
    if (const auto* word = std::get_if<std::string>(value)) {
      const auto found = std::find(parameter.words.begin(), parameter.words.end(), *word);
      values.push_back(found - parameter.words.begin());
    } else {
      values.push_back(std::get<std::int64_t>(*value));
    }
  }
  values.push_back(bytes(dtype_of(problem)));
  return values;
}

Expression::Lookup lookup(const Shared& facts, const std::vector<std::int64_t>& values,
                          const Config* config) {
  return [&facts, &values, config](std::size_t name) {
    return name < values.size() ? values[name] : (*config)[facts.axes[name - values.size()]];
  };
}

Expression::Result value_of(const Expression& expression, const Shared& facts,
                            const std::vector<std::int64_t>& values, const Config* config = nullptr) {
  return expression.evaluate(lookup(facts, values, config));
}

DType dtype_of_array(const DescribedArray& array, const Problem& problem) {
  return array.dtype.empty() ? dtype_of(problem) : dtype_of({{"dtype", array.dtype}});
}

// What inputs hold in checks on small problems where the description does not say, beside the usual numbers.
const std::vector<Contents> usual_sets = {{Contents::uniform, -100, 100}, {Contents::distant},
                                          {Contents::few, -1, 1},         {Contents::uniform, 0, 0},
                                          {Contents::uniform, -100, -1},  {Contents::ascending, -100, 100}};

Contents contents_of(const Facts& facts, const DescribedValues& values) {
  Contents made = values.contents;
  if (!values.least && !values.most) return made;
  made.bounds = [facts, &values](const Problem& problem) {
    const std::vector<std::int64_t> of_problem = values_of(*facts, problem);
    const auto bound = [&](const std::optional<Expression>& expression, double number) {
      if (!expression) return number;
      const Expression::Result result = value_of(*expression, *facts, of_problem);
      if (!result.error.empty()) throw UsageError(result.error);
      return static_cast<double>(result.value);
    };
    const double least = bound(values.least, values.contents.least);
    return std::pair(least, std::max(least, bound(values.most, values.contents.most)));
  };
  return made;
}

// The extents of an array; a sentence where they cannot be.
std::string extents_of(const Shared& facts, const DescribedArray& array,
                       const std::vector<std::int64_t>& values, std::vector<std::int64_t>& extents) {
  std::int64_t elements = 1;
  for (const Expression& expression : array.extents) {
    const Expression::Result extent = value_of(expression, facts, values);
    if (!extent.error.empty()) return extent.error;
    if (extent.value < 0 || __builtin_mul_overflow(elements, extent.value, &elements) ||
        elements > most_elements) {
      return "The extent \"" + expression.text() + "\" of " + array.name + " is " +
             std::to_string(extent.value) + "; an array has 0 to 2^50 elements.";
    }
    extents.push_back(extent.value);
  }
  return "";
}

struct Made {
  Work work;
  std::string error;        // why there is none, as a sentence
  bool is_mistake = false;  // an expression has no value: it divides by 0 or overflows
};

// Nothing, with the error: it has no value.
std::optional<std::int64_t> evaluated(const Expression& expression, const Shared& facts,
                                      const std::vector<std::int64_t>& values, const Config& config,
                                      Made& made) {
  const Expression::Result result = value_of(expression, facts, values, &config);
  if (result.error.empty()) return result.value;
  made.error = result.error;
  made.is_mistake = true;
  return std::nullopt;
}

void set_extent(const std::vector<Expression>& expressions, const char* what, const Shared& facts,
                const std::vector<std::int64_t>& values, const Config& config, Extent& extent, Made& made) {
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

std::string add_argument(const DescribedArgument& argument, const std::string& kernel, const Shared& facts,
                         const std::vector<std::int64_t>& values, const Problem& problem,
                         const Config& config, std::vector<KernelArgument>& made) {
  using Type = DescribedArgument::Type;
  if (argument.type == Type::array) {
    made.emplace_back(ArgumentPointer{static_cast<int>(argument.array)});
    return "";
  }
  Type type = argument.type;
  if (type == Type::of_dtype) {
    switch (dtype_of(problem)) {
      case DType::f32:
        type = Type::single;
        break;
      case DType::f64:
        type = Type::twofold;
        break;
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
               " takes a number of the dtype, which can be given for f32, f64, i32, u32, i64 and u64 alone.";
    }
  }
  double number = argument.number;
  auto whole = static_cast<std::int64_t>(number);
  if (argument.expression) {
    const Expression::Result result = value_of(*argument.expression, facts, values, &config);
    if (!result.error.empty()) return result.error;
    whole = result.value;
    number = static_cast<double>(whole);
  }
  if (type == Type::int32 && (whole < std::numeric_limits<std::int32_t>::min() ||
                              whole > std::numeric_limits<std::int32_t>::max())) {
    return "The kernel " + kernel + " takes \"" + (argument.expression ? argument.expression->text() : "") +
           "\" as an integer of 4 bytes, and it is " + std::to_string(whole) + ".";
  }
  if (type == Type::int32) made.emplace_back(static_cast<std::int32_t>(whole));
  if (type == Type::int64) made.emplace_back(whole);
  if (type == Type::single) made.emplace_back(static_cast<float>(number));
  if (type == Type::twofold) made.emplace_back(number);
  return "";
}

Made work_of(const Shared& facts, const DescribedLaunch& described, const std::vector<std::int64_t>& values,
             const Problem& problem, const Config& config) {
  Made made;
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
  if (made.error.empty()) made.work.steps.emplace_back(std::move(launch));
  return made;
}

Work checked_work(const Facts& facts, const DescribedLaunch& launch, const Problem& problem,
                  const Config& config) {
  Made made = work_of(*facts, launch, values_of(*facts, problem), problem, config);
  if (!made.error.empty()) throw UsageError(made.error);
  return std::move(made.work);
}

// A rule that cannot be evaluated is broken.
Rule rule_of(const Facts& facts, const DescribedRule& rule,
             const std::shared_ptr<const std::vector<std::int64_t>>& values) {
  return {rule.why.c_str(), [facts, &rule, values](const Config& config) {
            const Expression::Result result = value_of(rule.holds, *facts, *values, &config);
            return result.error.empty() && result.value != 0;
          }};
}

std::vector<Axis> axes_of(const Shared& facts) {
  std::vector<Axis> axes;
  for (const DescribedAxis& axis : facts.description.axes)
    axes.emplace_back(axis.name, std::vector<Value>(axis.values.begin(), axis.values.end()),
                      axis.what.c_str());
  return axes;
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

// A mistake of the description that an unlucky config would hide, since what cannot be computed is not legal:
// a launch or a rule that divides by 0 or overflows although the rules before it hold. A sentence, or empty.
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
      const Expression::Result result = value_of(rule.holds, *facts, values, &config);
      if (!result.error.empty()) return complain(result.error);
      if (result.value == 0) return true;
    }
    const Made made = work_of(*facts, description.launch, values, problem, config);
    if (made.is_mistake) return complain(made.error);
    if (!made.error.empty()) return true;
    for (const DescribedRule& rule : description.worth) {
      const Expression::Result result = value_of(rule.holds, *facts, values, &config);
      if (!result.error.empty()) return complain(result.error);
    }
    if (!description.alignment_bytes) return true;
    const Expression::Result alignment = value_of(*description.alignment_bytes, *facts, values, &config);
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

// Why a problem whose parameters are allowed one by one is not, as a sentence; empty if it is.
std::string why_not(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  const Description& description = facts->description;
  const std::string of = "The " + description.name + " problem " + problem.text() + " is not allowed: ";
  for (const DescribedRule& rule : description.allowed) {
    const Expression::Result result = value_of(rule.holds, *facts, values);
    if (!result.error.empty()) return of + result.error;
    if (result.value == 0) return of + rule.why;
  }
  for (const DescribedArray& array : description.arrays) {
    std::vector<std::int64_t> extents;
    if (const std::string why = extents_of(*facts, array, values, extents); !why.empty()) return of + why;
    for (const DescribedValues& held : array.values)
      for (const auto& bound : {held.least, held.most}) {
        if (!bound) continue;
        if (const std::string why = value_of(*bound, *facts, values).error; !why.empty()) return of + why;
      }
  }
  if (description.flops) {
    if (const std::string& why = value_of(*description.flops, *facts, values).error; !why.empty())
      return of + why;
  }
  try {
    const Config base = space_of(facts, problem).complete({});
    const std::string why =
        description.has_reference ? work_of(*facts, description.reference, values, problem, base).error : "";
    return why.empty() ? "" : of + why;
  } catch (const UsageError& error) {
    const Made first =
        work_of(*facts, description.launch, values, problem, Space(axes_of(*facts)).complete({}));
    return of + (first.error.empty() ? error.what() : "no config is legal. " + first.error);
  }
}

double elements_of(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  double all = 0;
  for (const DescribedArray& array : facts->description.arrays) {
    std::vector<std::int64_t> extents;
    static_cast<void>(extents_of(*facts, array, values, extents));
    double elements = 1;
    for (const std::int64_t extent : extents) elements *= static_cast<double>(extent);
    all += elements;
  }
  return all;
}

double flops_of(const Facts& facts, const Problem& problem) {
  if (!facts->description.flops) return elements_of(facts, problem);
  return static_cast<double>(value_of(*facts->description.flops, *facts, values_of(*facts, problem)).value);
}

// ---- Problems that nobody wrote

// Small numbers around those that tiles and vectors divide.
constexpr std::array<std::int64_t, 20> awkward = {1,  2,  3,  4,  5,  7,  8,   15,  16,  17,
                                                  31, 32, 33, 63, 64, 65, 100, 127, 129, 192};
constexpr double most_of_a_companion = 1 << 17;  // elements of all arrays; operations a hundred times as many
constexpr std::size_t drawn_companions = 14;
constexpr int most_draws = 400;

bool is_small(const Facts& facts, const Problem& problem) {
  return elements_of(facts, problem) <= most_of_a_companion &&
         flops_of(facts, problem) <= 100 * most_of_a_companion;
}

// One less, as many and one more than what an axis, or two, may divide; and than two such.
std::vector<std::int64_t> around_tiles(const Description& description) {
  constexpr std::int64_t most = 4096;
  std::set<std::int64_t> tiles;
  for (const DescribedAxis& axis : description.axes) {
    for (const std::int64_t value : axis.values) {
      if (value > 1 && value <= most) tiles.insert(value);
      for (const DescribedAxis& other : description.axes) {
        for (const std::int64_t factor : other.values)
          if (&other != &axis && value > 1 && factor > 1 && factor <= most / value)
            tiles.insert(value * factor);
      }
    }
  }
  std::vector<std::int64_t> around;
  for (const std::int64_t tile : tiles) around.insert(around.end(), {tile - 1, tile, tile + 1, 2 * tile + 1});
  return around;
}

// Small allowed problems with awkward sizes; the same ones each time. What `fixed` names stays as it is.
std::vector<Problem> drawn(const Facts& facts, const Problem& problem,
                           const std::vector<std::string>& fixed) {
  std::vector<Problem> found;
  Random random(2);
  const std::vector<std::int64_t> around = around_tiles(facts->description);
  const auto of_integers = [&](auto&& size_of) {
    Problem one = problem;
    std::size_t n = 0;
    for (const Parameter& parameter : facts->description.parameters) {
      if (!parameter.is_integer() || std::find(fixed.begin(), fixed.end(), parameter.name) != fixed.end())
        continue;
      const UsualSizes range = parameter.usual.value_or(UsualSizes{parameter.minimum, parameter.maximum});
      one.set(parameter.name, std::clamp(size_of(n++), range.least, range.most));
    }
    return one;
  };
  std::size_t count = 0;  // of these parameters
  of_integers([&](std::size_t n) {
    count = n + 1;
    return std::int64_t{1};
  });
  const auto few = [&] { return awkward[1 + random.below(awkward.size() - 1)]; };
  for (int draw = 0; draw < most_draws && found.size() < drawn_companions; ++draw) {
    // All ones; each alone at its least; then in turns any small sizes, and one around what the axes divide.
    const auto at = static_cast<std::size_t>(draw);
    const std::size_t chosen = count > 0 ? random.below(count) : 0;
    Problem one = of_integers([&](std::size_t n) -> std::int64_t {
      if (at == 0 || (at <= count && n == at - 1)) return 1;
      if (at <= count) return few();
      if (at % 2 == 0 && n == chosen && !around.empty()) return around[random.below(around.size())];
      return awkward[random.below(awkward.size())];
    });
    if (one == problem || std::find(found.begin(), found.end(), one) != found.end()) continue;
    if (why_not(facts, one).empty() && is_small(facts, one)) found.push_back(std::move(one));
  }
  return found;
}

std::vector<Problem> companions_of(const Facts& facts, const Problem& problem) {
  std::vector<Problem> all;
  for (const std::string& text : facts->description.companions) {
    Problem& companion = all.emplace_back(problem);
    const Values given = Values::parse(text);
    for (const auto& [name, value] : given.entries()) companion.set(name, value);
  }
  std::erase_if(all, [&](const Problem& one) { return !why_not(facts, one).empty(); });
  for (Problem& one : drawn(facts, problem, facts->description.compiled_in)) all.push_back(std::move(one));
  return all;
}

// For `space` and the tests, where the description names none.
std::vector<std::string> examples_of(const Facts& facts) {
  if (!facts->description.examples.empty()) return facts->description.examples;
  Problem problem;
  for (const Parameter& parameter : facts->description.parameters) {
    if (!parameter.is_integer()) {
      problem.set(parameter.name, parameter.initial ? *parameter.initial : Value(parameter.words.front()));
    } else {
      const std::int64_t most = parameter.usual ? parameter.usual->most : parameter.maximum;
      const std::int64_t least = parameter.usual ? parameter.usual->least : parameter.minimum;
      problem.set(parameter.name,
                  parameter.initial ? *parameter.initial : Value(std::clamp<std::int64_t>(256, least, most)));
    }
  }
  std::vector<std::string> examples;
  if (why_not(facts, problem).empty()) examples.push_back(problem.text());
  for (const Problem& one : drawn(facts, problem, {})) {
    if (examples.size() < 3) examples.push_back(one.text());
  }
  return examples;
}

// ---- The op

// How a user's own text spells a dtype.
std::string own_type(DType dtype) {
  if (dtype == DType::f16) return "__half";
  if (dtype == DType::bf16) return "__nv_bfloat16";
  return std::string(cuda_type(dtype));
}

// The headers that NVRTC and the host have no need of: what device code uses of them is known without.
constexpr std::array<std::string_view, 20> known_without = {"<cuda_runtime.h>",
                                                            "<cuda.h>",
                                                            "<cuda_runtime_api.h>",
                                                            "<device_launch_parameters.h>",
                                                            "<vector_types.h>",
                                                            "<stdio.h>",
                                                            "<cstdio>",
                                                            "<stdlib.h>",
                                                            "<cstdlib>",
                                                            "<math.h>",
                                                            "<cmath>",
                                                            "<assert.h>",
                                                            "<cassert>",
                                                            "<float.h>",
                                                            "<cfloat>",
                                                            "<limits.h>",
                                                            "<climits>",
                                                            "<stdint.h>",
                                                            "<cstdint>",
                                                            "<stddef.h>"};

// What a host function may need; a kernel has none of it.
constexpr std::array<std::string_view, 20> known_on_host = {
    "<algorithm>", "<array>",  "<complex>", "<cstddef>", "<cstring>", "<deque>",  "<functional>",
    "<limits>",    "<list>",   "<map>",     "<memory>",  "<numeric>", "<random>", "<set>",
    "<stdexcept>", "<string>", "<tuple>",   "<utility>", "<vector>",  "<span>"};

bool is_known_header(const std::string& header) {
  return std::find(known_without.begin(), known_without.end(), header) != known_without.end() ||
         std::find(known_on_host.begin(), known_on_host.end(), header) != known_on_host.end();
}

std::string includes_text(const std::string& lines) {
  std::string text = "#include \"common/c_names.cuh\"\n";
  bool has_halves = false, has_copies = false;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string header = lines.substr(at, end - at);
    at = end + 1;
    if (is_known_header(header)) continue;
    text += "#ifndef TUNESMITH_HOST\n#include " + header + "\n";
    if (header == "<cuda_fp16.h>" || header == "<cuda_bf16.h>") {
      has_halves = true;
    } else if (header == "<cuda_pipeline.h>" || header == "<cuda_pipeline_primitives.h>") {
      has_copies = true;
    } else if (header != "<math_constants.h>") {
      text += "#else\n#error \"The header " + header +
              " has no twin for the host: what it declares runs on a GPU only. Tune this kernel on a CUDA "
              "device, leave the header out, or only compile the kernel, by --target.\"\n";
    }
    text += "#endif\n";
  }
  if (has_halves) text += "#include \"common/half_types.cuh\"\n";
  if (has_copies) text += "#include \"common/cuda_pipeline.cuh\"\n";
  return text;
}

// The function alone, in its lines, with the headers that a host has; and what calls it with the addresses of
// its arguments.
std::string function_text(const HostFunction& function, const std::string& cu, const std::string& file,
                          const std::string& includes) {
  std::string text = "#include <cmath>\n#include <cstddef>\n#include <cstdint>\n";
  std::istringstream lines(includes);
  for (std::string header; std::getline(lines, header);) {
    const auto is_in = [&](const auto& headers) {
      return std::find(headers.begin(), headers.end(), header) != headers.end();
    };
    const bool is_of_c = is_in(known_without) && header.find("cuda") == std::string::npos &&
                         header != "<vector_types.h>" && header != "<device_launch_parameters.h>";
    if (is_of_c || is_in(known_on_host)) text += "#include " + header + "\n";
  }
  const DeclaredKernel& declared = function.declared;
  const auto begin = cu.begin() + static_cast<std::ptrdiff_t>(function.begin);
  const auto line = 1 + std::count(cu.begin(), begin, '\n');
  text += "#line " + std::to_string(line) + " \"" + file + "\"\n" +
          cu.substr(function.begin, function.end - function.begin) +
          "\nextern \"C\" __attribute__((visibility(\"default\"))) void tunesmith_call(void* const* values) "
          "{\n  " +
          declared.name + "(";
  for (std::size_t i = 0; i < declared.parameters.size(); ++i) {
    const DeclaredKernel::Parameter& one = declared.parameters[i];
    const std::string value = "values[" + std::to_string(i) + "]";
    text += i == 0 ? "" : ", ";
    if (one.is_pointer) {
      text += "(" + one.type + (one.type.find('*') == std::string::npos ? "*" : "") + ")" + value;
    } else {
      text += "*(const " + one.type + "*)" + value;
    }
  }
  return text + ");\n}\n";
}

void add_files(UserKernel& made, const Shared& facts, const Files& common, Template& tmpl) {
  const Description& description = facts.description;
  std::vector<std::string> constants = description.compiled_in;
  for (const DescribedAxis& axis : description.axes) constants.push_back(axis.name);
  std::vector<std::string> names = constants;
  if (!description.type.empty()) names.push_back(description.type);
  std::string includes, all_includes;
  std::set<std::string> seen;
  const std::string folder = made.op.name + "/";
  const std::function<void(const std::string&, const std::string&, const std::string&)> add =
      [&](const std::string& file, const std::string& path, const std::string& text) {
        for (const std::string& name : constants) {
          if (form_of(text, name) == ConstantForm::macro) tmpl.macros.push_back(name);
        }
        KernelBody body = kernel_body(text, names, is_known_header);
        includes += body.includes;
        all_includes += body.includes + body.conditional_includes;
        body.text += body.behind;
        for (const std::string& note : body.notes) made.notes.push_back(path + ": " + note);
        std::string lines;
        std::istringstream all(body.text);
        for (std::string line; std::getline(all, line); lines += line + "\n") {
          const std::string name = included_file(line);
          const auto found = std::find_if(made.file.included.begin(), made.file.included.end(),
                                          [&](const auto& one) { return one.first == name; });
          if (name.empty() || name.starts_with("common/")) continue;
          if (is_outside(name)) {
            line = "#error \"The file " + name + " is not in the folder of " + made.file.path +
                   ", and only files there are part of a kernel: put it there, or write #ifndef TUNESMITH " +
                   "around what only your own program needs.\"";
            continue;
          }
          if (found == made.file.included.end()) {
            line = "#error \"There is no file " + name + " beside " + made.file.path +
                   "; write #ifndef TUNESMITH around what only your own program needs.\"";
            continue;
          }
          line = seen.contains(name) ? "" : "#include \"" + folder + name + ".inl\"";
          if (seen.insert(name).second) add(folder + name + ".inl", name, found->second);
        }
        made.files[file] = std::move(lines);
      };
  const std::string main = folder + tmpl.name + ".cu";
  std::string text = made.file.cu;
  if (const auto& function = description.reference_function) {
    for (std::size_t at = function->begin; at < function->end; ++at)
      if (text[at] != '\n') text[at] = ' ';
  }
  add(main, made.file.path, text);
  if (description.reference_function)
    made.reference_text =
        function_text(*description.reference_function, made.file.cu,
                      std::filesystem::path(made.file.path).filename().string(), all_includes);
  for (const auto& [name, text] : common)
    if (name.starts_with("common/")) made.files.emplace(name, text);
  made.files[folder + "includes.h"] = includes_text(includes);
  // Behind the last line, so that the lines before keep their numbers; render moves it to the top.
  made.files[main] += "#include \"" + folder + "includes.h\"\n#include \"common/shared.cuh\"\n";
}

}  // namespace

std::unique_ptr<const UserKernel> described_op(const KernelFile& file, const Files& common) {
  const auto facts = std::make_shared<const Shared>(read_description(file));
  const Description& description = facts->description;
  auto made = std::make_unique<UserKernel>();
  made->file = file;
  made->relative_tolerance = description.relative_tolerance;
  made->absolute_tolerance = description.absolute_tolerance;
  made->reference_is_base = !description.has_reference;

  Op& op = made->op;
  op.name = description.name;
  op.file = file.path;
  op.files = &made->files;
  op.user_kernel = made.get();
  op.what = description.what;
  op.parameters = description.parameters;
  op.check = [facts](const Problem& problem) { return why_not(facts, problem); };
  for (const DescribedArray& array : description.arrays) {
    Argument argument{array.name, array.role, [facts, &array](const Problem& problem) {
                        std::vector<std::int64_t> extents;
                        const std::string why =
                            extents_of(*facts, array, values_of(*facts, problem), extents);
                        if (!why.empty()) throw UsageError(why);
                        return extents;
                      }};
    argument.dtype = [facts, &array](const Problem& problem) { return dtype_of_array(array, problem); };
    argument.contents = usual_sets;
    if (!array.values.empty()) {
      std::vector<Contents> all;
      for (const DescribedValues& values : array.values) all.push_back(contents_of(facts, values));
      argument.usual = all.front();
      if (all.size() > 1) all.erase(all.begin());
      argument.contents = std::move(all);
    }
    op.arguments.push_back(std::move(argument));
  }
  Template tmpl;
  tmpl.name = description.launch.kernel;
  tmpl.what = "The kernel " + description.launch.kernel + " of " + file.path + ".";
  tmpl.kernels = {description.launch.kernel};
  tmpl.compiled_in = description.compiled_in;
  tmpl.compiled_in.emplace_back("dtype");
  tmpl.names_dtype = false;
  tmpl.minimum_compute_capability = description.compute_capability;
  tmpl.space = [facts](const Problem& problem) { return space_of(facts, problem); };
  tmpl.work = [facts](const Problem& problem, const Config& config) {
    return checked_work(facts, facts->description.launch, problem, config);
  };
  if (description.alignment_bytes || description.pointer_alignment > 1) {
    tmpl.alignment_bytes = [facts](const Problem& problem, const Config& config) {
      std::int64_t alignment = std::max(facts->description.pointer_alignment, bytes(dtype_of(problem)));
      if (!facts->description.alignment_bytes) return alignment;
      const auto result =
          value_of(*facts->description.alignment_bytes, *facts, values_of(*facts, problem), &config);
      return result.error.empty() ? std::max(alignment, result.value) : alignment;
    };
  }
  add_files(*made, *facts, common, tmpl);
  made->reference = tmpl;
  if (description.has_reference) {
    made->reference.name = "reference";
    made->reference.kernels = {description.reference.kernel};
    made->reference.work = [facts](const Problem& problem, const Config& config) {
      return checked_work(facts, facts->description.reference, problem, config);
    };
    made->files.emplace(op.name + "/reference.cu", made->files.at(op.name + "/" + tmpl.name + ".cu"));
  }
  op.templates = {std::move(tmpl)};
  const std::string compared =
      made->reference_is_base
          ? "The reference of " + op.name +
                " is its untuned kernel itself, with the first value of each axis: an error "
                "that it has is not found."
          : "The reference of " + op.name + " is the " +
                (description.reference_function ? "host function " : "kernel ") +
                description.reference.kernel + " of " + file.path + ".";
  made->compared = compared;
  op.preamble = [facts, compared](const Problem& problem) {
    const std::string& type = facts->description.type;
    return "// " + compared + "\n" +
           (type.empty() ? "" : "using " + type + " = " + own_type(dtype_of(problem)) + ";\n");
  };
  op.flops = [facts](const Problem& problem) { return flops_of(facts, problem); };
  made->mistake = [facts](const Problem& problem) {
    std::string found = mistake_of(facts, problem);
    for (const Problem& companion : companions_of(facts, problem))
      if (found.empty()) found = mistake_of(facts, companion);
    return found;
  };
  op.companions = [facts](const Problem& problem) { return companions_of(facts, problem); };
  op.examples = examples_of(facts);
  const auto must_be_problem = [&](const char* what, const std::string& words) {
    try {
      Problem problem = Problem::parse(op.examples.empty() ? "" : op.examples.front());
      const Values given = Values::parse(words);
      for (const auto& [name, value] : given.entries()) problem.set(name, value);
      complete_problem(op, problem);
    } catch (const UsageError& error) {
      throw UsageError(file.path + ": The " + what + " \"" + words + "\" is not a problem: " + error.what());
    }
  };
  for (const std::string& example : op.examples) must_be_problem("example", example);
  for (const std::string& companion : description.companions) must_be_problem("companion", companion);
  return made;
}

}  // namespace tunesmith
