// SPDX-License-Identifier: Apache-2.0
// Tests that a problem is one row of the database, for every caller and every wording: the command line, C,
// C++ and Python. On drawn problems of every op.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "generator/sample.h"
#include "generator/word.h"
#include "tests/cli/run.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/tunesmith.h"

namespace tunesmith {
namespace {

std::vector<Problem> drawn_problems(const Op& op, std::size_t count, std::uint64_t seed) {
  std::vector<Problem> problems = sample_problems(op, count, seed, sample_limits(DeviceKind::host));
  for (std::size_t k = 0; k < op.examples.size(); k += 1 + op.examples.size() / 8)
    problems.push_back(complete_problem(op, Problem::parse(op.examples[k])));
  return problems;
}

// The same problem in another order, perhaps without default values.
std::string in_other_words(const Op& op, const Problem& problem, Random& random) {
  Values entries;
  const Problem least = without_defaults(op, problem);
  std::vector<std::pair<std::string, Value>> left = problem.entries();
  while (!left.empty()) {
    const std::size_t at = random.below(left.size());
    const auto [name, value] = left[at];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    if (least.has(name) || random.below(2) == 0) entries.set(name, value);
  }
  return entries.text();
}

std::string row_of_c(tunesmith_dispatcher* dispatcher, const std::string& op, const std::string& problem) {
  tunesmith_plan* plan = nullptr;
  if (tunesmith_plan_create(dispatcher, op.c_str(), problem.c_str(), &plan) != 0) return tunesmith_message();
  std::string row = tunesmith_plan_problem(plan);
  tunesmith_plan_destroy(plan);
  return row;
}

std::string row_of_program(const Scratch& scratch, const std::string& op, const std::string& problem) {
  const Outcome outcome = scratch.tunesmith("space " + op + " --problem '" + problem + "'");
  const std::string word = "problem: ";
  const std::size_t at = outcome.out.find(word);
  if (at == std::string::npos) return outcome.out + outcome.err;
  return outcome.out.substr(at + word.size(), outcome.out.find('\n', at) - at - word.size());
}

struct Asked {
  const Op* op;
  std::string text, row;
};

#ifdef TUNESMITH_PYTHON
// Python's functions give a problem as numbers and words by name.
std::vector<std::string> rows_of_python(const Scratch& scratch, const std::vector<Asked>& all) {
  std::ofstream file(scratch.path() / "problems");
  for (const Asked& asked : all) file << asked.op->name << ' ' << asked.text << '\n';
  file.close();
  std::ofstream(scratch.path() / "rows.py") << R"(
import shlex, tunesmith
host = tunesmith.Dispatcher("host", database="", compile="never")
for line in open("problems"):
    op, *pairs = shlex.split(line)
    fields = dict(pair.split("=", 1) for pair in pairs)
    fields = {name: int(value) if value.lstrip("-").isdigit() else value for name, value in fields.items()}
    print(host.plan(op, **fields).problem)
)";
  const Outcome outcome = scratch.shell(TUNESMITH_PYTHON " rows.py");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<std::string> rows;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  return rows;
}
#endif

TEST(Problems, AreOneRowWhoeverAsks) {
  const Scratch scratch;
  Random random(3);
  Dispatcher dispatcher({.device = "host", .database = "", .compile = Compile::never, .cache_folder = ""});
  tunesmith_dispatcher* in_c = nullptr;
  ASSERT_EQ(tunesmith_dispatcher_create("device=host database=\"\" cache_folder=\"\" compile=never", &in_c),
            0)
      << tunesmith_message();
  std::vector<Asked> all;
  for (const Op& op : ops()) {
    int planned = 0;
    for (const Problem& problem : drawn_problems(op, 40, 21)) {
      const std::string text = in_other_words(op, problem, random);
      SCOPED_TRACE(op.name + " " + text);
      EXPECT_EQ(complete_problem(op, Problem::parse(text)), problem);
      if (planned == 6) continue;
      try {
        EXPECT_EQ(dispatcher.plan(op.name, text).problem(), problem.text());
      } catch (const UsageError&) {
        throw;
      } catch (const Error&) {  // the library has no kernel for a caller's own expression
        continue;
      }
      EXPECT_EQ(dispatcher.plan(op.name, Problem::parse(text)).problem(), problem.text());
      EXPECT_EQ(row_of_c(in_c, op.name, text), problem.text());
      if (planned++ == 0) {
        EXPECT_EQ(row_of_program(scratch, op.name, text), problem.text());
      }
      all.push_back({&op, text, problem.text()});
    }
    EXPECT_GT(planned, 0) << op.name;
  }
  tunesmith_dispatcher_destroy(in_c);
#ifdef TUNESMITH_PYTHON
  const std::vector<std::string> rows = rows_of_python(scratch, all);
  ASSERT_EQ(rows.size(), all.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    EXPECT_EQ(rows[k], all[k].row) << all[k].op->name << all[k].text;
#endif
}

// The arguments of kernels, as text.
std::string text_of(const KernelArgument& argument) {
  std::ostringstream text;
  text << argument.index() << ':';
  const auto add = [&text](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ArgumentPointer>)
      text << value.argument;
    else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, WorkspacePointer>)
      text << value.offset_bytes;
    else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, BoxedArray>) {
      text << value.array.index() << ',' << value.start;
      for (const BoxedArray::Dimension& one : value.dimensions)
        text << ',' << one.extent << ',' << one.stride << ',' << one.side << ',' << one.first << ','
             << one.windows << ',' << one.step;
    } else if constexpr (requires { value.begin(); })
      for (const auto& one : value) text << one << ',';
    else
      text << value;
  };
  std::visit(add, argument);
  return text.str();
}

std::string text_of(const Work& work) {
  std::ostringstream text;
  for (const Step& step : work.steps) {
    text << '\n' << step.index();
    if (const auto* launch = std::get_if<Launch>(&step)) {
      text << launch->kernel;
      for (const Extent& one : {launch->grid, launch->block})
        text << ' ' << one.x << ' ' << one.y << ' ' << one.z;
      text << ' ' << launch->dynamic_shared_bytes;
      for (const KernelArgument& argument : launch->arguments) text << ' ' << text_of(argument);
      for (const int place : launch->numbers) text << ' ' << place;
    } else if (const auto* zero = std::get_if<Zero>(&step)) {
      text << zero->bytes;
    }
  }
  text << ' ' << work.workspace_bytes;
  return text.str();
}

// A text of all that is done for a problem: equal texts mean equal sources, launched on equal arrays. Empty:
// nothing is done.
std::string what_is_done(const Op& op, const Problem& problem) {
  if (op.templates.front().work(problem, base_config(op, problem), {}).steps.empty()) return "";
  std::ostringstream text;
  for (const Argument& argument : op.arguments) {
    text << name(argument.dtype(problem)) << ' ' << elements(argument, problem) << ' '
         << (argument.in_place ? argument.in_place(problem) : false) << '\n';
  }
  if (op.preamble) text << op.preamble(problem);
  for (const Template& tmpl : op.templates) {
    if (tmpl.refuses && !tmpl.refuses(problem).empty()) continue;
    const Space space = tmpl.space(problem, {});
    text << '\n' << tmpl.name << ' ' << compiled_in(op, tmpl, problem).text() << ' ';
    if (const std::optional<Config> config = space.first({}))
      text << config->text() << text_of(tmpl.work(problem, *config, {}));
  }
  return text.str();
}

// Words that a person may write for a parameter of this problem: a size that stands for another, a product of
// two, a number in other digits.
std::vector<Value> words_for(const Op& op, const Parameter& parameter, const Problem& problem) {
  std::vector<Value> words;
  if (parameter.is_integer()) {
    std::set<std::int64_t> sizes = {0, 1};
    for (const Parameter& other : op.parameters)
      if (other.is_integer()) sizes.insert(problem.integer(other.name));
    std::set<std::int64_t> products;
    for (const std::int64_t a : sizes)
      for (const std::int64_t b : sizes)
        if (a == 0 || std::abs(b) < (std::int64_t{1} << 40) / std::abs(a)) products.insert(a * b);
    words.assign(products.begin(), products.end());
    return words;
  }
  const std::string text = word_of(*problem.find(parameter.name));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size())
    for (const char* more : {".0", "e0", "0e-1"}) words.emplace_back(text + more);
  return words;
}

// A pitch of transpose that means the same as 0 has a row of its own: the stored table has both for some
// matrices, and as one problem with two times they mislead the model of times.
bool is_own_row(const Op& op, const Parameter& parameter) {
  return op.name == "transpose" && parameter.name.ends_with("_pitch");
}

class ProblemTest : public testing::TestWithParam<const Op*> {};

// Categories are left out: a category without an effect, such as a boundary that no window reaches, gives a
// row of its own.
TEST_P(ProblemTest, ThatDoesTheSameIsTheSame) {
  const Op& op = *GetParam();
  std::set<std::string> told;
  for (const Problem& problem : drawn_problems(op, 10, 22)) {
    const std::string done = what_is_done(op, problem);
    if (done.empty()) continue;
    for (const Parameter& parameter : op.parameters) {
      if (parameter.at_launch || is_own_row(op, parameter)) continue;  // no choice depends on the former
      for (const Value& word : words_for(op, parameter, problem)) {
        Problem given = problem;
        given.set(parameter.name, word);
        try {
          const Problem other = complete_problem(op, given);
          EXPECT_EQ(complete_problem(op, other), other) << given.text();
          if (other == problem || what_is_done(op, other) != done) continue;
          if (told.insert(parameter.name).second)  // one for each parameter is enough to read
            ADD_FAILURE() << problem.text() << "\nis " << other.text();
        } catch (const UsageError&) {  // these words are not allowed
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, ProblemTest, testing::ValuesIn([] {
                           std::vector<const Op*> all;
                           for (const Op& op : ops()) all.push_back(&op);
                           return all;
                         }()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace tunesmith
