// SPDX-License-Identifier: Apache-2.0
#include "kernel_file/described_op.h"

#include <algorithm>
#include <span>
#include <utility>

#include "generator/compiler_flags.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/identity.h"
#include "generator/listed.h"
#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

// Sets the contents of checks from `values`: those of the problem itself, and those of small problems.
void set_contents(const Facts& facts, const std::vector<DescribedValues>& values, bool are_integers,
                  std::optional<Contents>& usual, std::vector<Contents>& contents) {
  contents = usual_sets(facts->description);
  if (values.empty()) return;
  std::vector<Contents> all;
  for (const DescribedValues& one : values) all.push_back(contents_of(facts, one));
  // Integers that are all the largest show where a sum or a counter is too narrow.
  const auto range = std::find_if(values.begin(), values.end(), [](const DescribedValues& one) {
    const std::string& words = one.contents.what;
    return one.contents.spread == Contents::uniform && !words.starts_with("index") &&
           !words.starts_with("equal");
  });
  if (range != values.end() && are_integers) {
    Contents most = contents_of(facts, *range);
    most.least = most.most;
    if (most.bounds)
      most.bounds = [bounds = most.bounds](const Problem& problem) {
        const double number = bounds(problem).second;
        return std::pair(number, number);
      };
    all.push_back(std::move(most));
  }
  usual = all.front();
  if (values.size() > 1) all.erase(all.begin());
  contents = std::move(all);
}

bool holds_integers(const Description& description, const DescribedArray& array) {
  const std::vector<std::string> all =
      array.dtype.empty() ? description.parameters.back().categories : std::vector{array.dtype};
  return std::all_of(all.begin(), all.end(), [](const std::string& one) {
    return is_whole(dtype_of({{"dtype", one}}));
  });
}

UserRecord record_of(const Facts& facts, const DescribedArray& array) {
  UserRecord made{array.record_type, array.record, {}, {}};
  for (std::size_t i = 0; i < array.record.members.size(); ++i) {
    static const std::vector<DescribedValues> none;
    const auto& values = array.member_values.empty() ? none : array.member_values[i];
    set_contents(facts, values, is_whole(array.record.members[i].dtype), made.usual.emplace_back(),
                 made.contents.emplace_back());
  }
  return made;
}

// The contents of an array of structs as one: there are as many as a member has, and they say which values
// the description gives.
std::vector<Contents> contents_of_all(const UserRecord& record, const DescribedArray& array) {
  std::vector<Contents> made;
  std::size_t most = 0;
  for (const std::vector<Contents>& one : record.contents) most = std::max(most, one.size());
  for (std::size_t n = 0; n < most; ++n) {
    std::string words;
    for (std::size_t i = 0; i < array.member_values.size(); ++i)
      if (!array.member_values[i].empty())
        words += (words.empty() ? "" : ", ") + record.layout.members[i].name + " " +
                 describe(record.contents[i][n % record.contents[i].size()]);
    const auto usual = std::find_if(record.contents.begin(), record.contents.end(),
                                    [&](const std::vector<Contents>& one) { return one.size() == most; });
    made.push_back((*usual)[n]);
    if (!words.empty()) made.back().what = words;
  }
  return made;
}

Argument argument_of(const Facts& facts, const DescribedArray& array) {
  Argument argument{array.name, array.role, [facts, &array](const Problem& problem) {
                      std::vector<std::int64_t> extents;
                      const std::string why = extents_of(*facts, array, values_of(*facts, problem), extents);
                      if (!why.empty()) throw UsageError(why);
                      return extents;
                    }};
  argument.dtype = [facts, &array](const Problem& problem) { return dtype_of_array(array, problem); };
  set_contents(facts, array.values, holds_integers(facts->description, array), argument.usual,
               argument.contents);
  return argument;
}

// Returns the lines of a variant's text that say how it is compiled. A reference is never compiled with
// `fast_math`.
std::string settings_of(const DescriptionFacts& facts, const Config& config, bool is_reference) {
  const DescribedCompilation& given = facts.description.compilation;
  const auto value = [&](const CompileSetting& setting) {
    return setting.axis ? config[facts.axes[*setting.axis]] : setting.value;
  };
  CompilerFlags options{.standard = given.standard};
  if (given.fast_math && !is_reference) options.fast_math = value(*given.fast_math) != 0;
  if (given.registers) options.registers = value(*given.registers);
  std::string lines = compiler_flag_lines(options);
  for (const DescribedAxis& axis : facts.description.axes)
    if (!axis.types.empty())
      lines += "using " + axis.name + " = " + own_type(type_of(axis.name, config)) + ";\n";
  for (const auto& [name, setting] : given.defines)
    lines += "#define " + name + " " +
             (setting.words.empty() ? "(" + std::to_string(value(setting)) + ")" : setting.words) + "\n";
  return lines;
}

// A result that is rounded to a shorter type may be off by that type's tolerance.
double permitted_times(const DescriptionFacts& facts, const Problem& problem, const Values& config) {
  double times = 1;
  for (const DescribedArray& array : facts.description.arrays) {
    const Value* const word = array.type_axis.empty() ? nullptr : config.find(array.type_axis);
    if (word == nullptr) continue;
    const double given = default_tolerance(dtype_of(problem));
    if (given > 0) times = std::max(times, default_tolerance(dtype_of({{"dtype", *word}})) / given);
  }
  return times;
}

Template template_of(const Facts& facts, const std::string& path) {
  const Description& description = facts->description;
  Template tmpl;
  for (const DescribedLaunch& launch : description.launches)
    if (std::find(tmpl.kernels.begin(), tmpl.kernels.end(), launch.kernel) == tmpl.kernels.end())
      tmpl.kernels.push_back(launch.kernel);
  tmpl.name = tmpl.kernels.front();
  const std::vector<std::string> own = tmpl.kernels;
  for (const std::string& name : conversions_of(description)) tmpl.kernels.push_back(name);
  tmpl.what = "The kernel" + std::string(own.size() > 1 ? "s " : " ") + listed(own) + " of " + path + ".";
  tmpl.compiled_in = description.compiled_in;
  tmpl.compiled_in.emplace_back("dtype");
  for (const DescribedSymbol& symbol : description.symbols) tmpl.symbols.push_back(symbol.name);
  tmpl.names_dtype = false;
  tmpl.minimum_compute_capability = description.compute_capability;
  tmpl.settings = [facts](const Config& config) { return settings_of(*facts, config, false); };
  tmpl.space = [facts](const Problem& problem) { return space_of(facts, problem); };
  tmpl.work = [facts](const Problem& problem, const Config& config) {
    return checked_work(facts, facts->description.launches, problem, config);
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
  return tmpl;
}

// Returns a sentence on what results are compared with.
std::string compared_of(const Description& description, const std::string& path) {
  if (!description.has_reference)
    return "The reference of " + description.name +
           " is its untuned kernel itself, with the first value of each axis: an error that it has is not "
           "found.";
  return "The reference of " + description.name + " is the " +
         (description.reference_function ? "host function " : "kernel ") + description.reference.kernel +
         " of " + path + ".";
}

// Returns the hash of everything that decides whether a variant's results are right, except the text that all
// variants share. It is a constant of every variant, so a verdict counts only while all of that is unchanged.
std::string checks_of(const Facts& facts, const UserKernel& made) {
  constexpr int version = 5;  // increased when the checks themselves judge differently
  const Description& description = facts->description;
  std::string text = std::to_string(version) + "\n" + description.checks + "\n";
  for (const auto& [array, record] : made.records)
    text += array + " by members\n" + layout_assertion(record.type, record.layout);
  if (const auto& function = description.reference_function)
    text += without_comments(made.file.cu.substr(function->begin, function->end - function->begin));
  try {
    if (made.reference_is_base && !made.op.examples.empty()) {
      const Problem problem = complete_problem(made.op, Problem::parse(made.op.examples.front()));
      text += space_of(facts, problem).complete({}).text();
    }
  } catch (const UsageError&) {
    // The problem has no config.
  }
  return sha256(text).substr(0, 16);
}

void check_problems(const Op& op, const std::vector<std::string>& texts, const char* what) {
  for (const std::string& text : texts) {
    try {
      Problem problem = Problem::parse(op.examples.empty() ? "" : op.examples.front());
      const Values given = Values::parse(text);
      for (const auto& [name, value] : given.entries()) problem.set(name, value);
      complete_problem(op, problem);
    } catch (const UsageError& error) {
      throw UsageError(op.file + ": The " + what + " \"" + text + "\" is not a problem: " + error.what());
    }
  }
}

}  // namespace

std::unique_ptr<const UserKernel> described_op(const KernelFile& file, const Files& common) {
  const auto facts = std::make_shared<const DescriptionFacts>(read_description(file));
  const Description& description = facts->description;
  auto made = std::make_unique<UserKernel>();
  made->file = file;
  made->relative_tolerance = description.relative_tolerance;
  made->absolute_tolerance = description.absolute_tolerance;
  made->blocks_in_order = description.blocks_in_order;
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
    if (array.is_workspace) continue;
    Argument& argument = op.arguments.emplace_back(argument_of(facts, array));
    if (!array.is_of_structs()) continue;
    const UserRecord& record = made->records.emplace(array.name, record_of(facts, array)).first->second;
    argument.contents = contents_of_all(record, array);
  }
  Template tmpl = template_of(facts, file.path);
  add_files(*made, *facts, common, tmpl);
  made->reference = tmpl;
  if (description.has_reference) {
    made->reference.name = "reference";
    made->reference.kernels = {description.reference.kernel};
    made->reference.settings = [facts](const Config& config) { return settings_of(*facts, config, true); };
    made->reference.work = [facts](const Problem& problem, const Config& config) {
      return checked_work(facts, std::span(&facts->description.reference, 1), problem, config);
    };
    made->files.emplace(op.name + "/reference.cu", made->files.at(op.name + "/" + tmpl.name + ".cu"));
  }
  op.templates = {std::move(tmpl)};
  const std::string compared = compared_of(description, file.path);
  made->compared = compared;
  op.flops = [facts](const Problem& problem) { return flops_of(facts, problem); };
  made->mistake = [facts](const Problem& problem) {
    std::string found = mistake_of(facts, problem);
    for (const Problem& companion : companions_of(facts, problem))
      if (found.empty()) found = mistake_of(facts, companion);
    return found;
  };
  for (const DescribedMetric& metric : description.metrics) {
    made->metrics.push_back({metric.name, metric.larger_is_better,
                             [facts, &metric](const Problem& problem, const Values& config, double us) {
                               const std::vector<std::int64_t> values = values_of(*facts, problem);
                               const std::vector<DescribedAxis>& axes = facts->description.axes;
                               return metric.expression.evaluate([&](std::size_t name) {
                                 if (name < values.size()) return static_cast<double>(values[name]);
                                 const std::size_t axis = name - values.size();
                                 return axis < axes.size()
                                            ? static_cast<double>(config.integer(axes[axis].name))
                                            : us * 1e-6;
                               });
                             }});
  }
  const bool has_types = std::any_of(description.arrays.begin(), description.arrays.end(),
                                     [](const DescribedArray& one) { return !one.type_axis.empty(); });
  if (has_types && description.relative_tolerance < 0)
    made->permitted_times = [facts](const Problem& problem, const Values& config) {
      return permitted_times(*facts, problem, config);
    };
  op.companions = [facts](const Problem& problem) { return companions_of(facts, problem); };
  op.examples = examples_of(facts);
  check_problems(op, op.examples, "example");
  check_problems(op, description.companions, "companion");
  const std::string checks = checks_of(facts, *made);
  op.preamble = [facts, compared, checks](const Problem& problem) {
    const std::string& type = facts->description.type;
    std::string given;  // the types of arrays of which kernels get copies
    for (const DescribedArray& one : facts->description.arrays)
      if (!one.type_axis.empty() && !one.is_workspace)
        given +=
            "using tunesmith_type_of_" + one.name + " = " + own_type(dtype_of_array(one, problem)) + ";\n";
    std::string symbols;  // the names by which a binary exports them
    for (const DescribedSymbol& one : facts->description.symbols)
      symbols += "#define " + one.name + " ENTRY(" + one.name + ")\n";
    return "// " + compared + "\n" +
           (type.empty() ? "" : "using " + type + " = " + own_type(dtype_of(problem)) + ";\n") + given +
           symbols + "#define TUNESMITH_CHECKS 0x" + checks + "  // what decides which results are right\n";
  };
  return made;
}

}  // namespace tunesmith
