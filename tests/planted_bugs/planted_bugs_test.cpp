// SPDX-License-Identifier: Apache-2.0
// Tests whether the checks find the mistakes of kernel authors. bugs.txt has bugs for the kernels beside it,
// and held_out.txt for kernels that the checks were not made for; each is judged on the host as `tunesmith
// check` judges a variant, in the configs that it takes, in a process of its own. The unchanged kernels must
// be right.
//
// TUNESMITH_TEST_PLANTED_BUGS: "all", or the ids of some bugs, separated by blanks; without it some are drawn
// by a seed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/add.h"
#include "kernel_file/read.h"
#include "kernel_file/user_kernel.h"
#include "runtime/toolchain.h"
#include "tests/source_folder.h"
#include "tuner/check/check_memory.h"
#include "tuner/check/checker.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

const fs::path planted_bugs = fs::path(source_folder) / "tests" / "planted_bugs";

constexpr double least_found = 0.9;  // bench/results/history.md has the measured share
constexpr std::size_t usual_bugs = 3;
const std::set<std::string> known_misses = {"b38", "b183", "b210"};  // which the usual draw leaves out
constexpr std::size_t configs_of_a_bug = 8;  // in addition to the untuned one and each value of each axis
constexpr rlim_t longest_check_s = 120;      // of processor time

struct Bug {
  std::string id, kernel, problem, what;
  std::vector<std::pair<std::string, std::string>> replaced;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines before a line that equals `last`, without the line end of the last of them.
std::string up_to(std::istream& lines, const std::string& last) {
  std::string text;
  for (std::string line; std::getline(lines, line) && line != last;) text += line + "\n";
  if (!text.empty()) text.pop_back();
  return text;
}

void add_bugs(std::vector<Bug>& bugs, const char* name) {
  std::ifstream file(planted_bugs / name);
  for (std::string line; std::getline(file, line);) {
    if (line == "replace") {
      std::string before = up_to(file, "by");
      bugs.back().replaced.emplace_back(std::move(before), up_to(file, "end"));
    }
    if (!line.starts_with("bug ")) continue;
    Bug& bug = bugs.emplace_back();
    std::istringstream parts(line.substr(4));
    std::string* const fields[] = {&bug.id, &bug.kernel, &bug.problem, &bug.what};
    for (std::string* field : fields) {
      std::getline(parts, *field, '|');
      field->erase(0, field->find_first_not_of(' '));
      field->erase(field->find_last_not_of(' ') + 1);
    }
  }
}

std::string wanted() {
  const char* const given = std::getenv("TUNESMITH_TEST_PLANTED_BUGS");
  return given == nullptr ? "" : given;
}

std::vector<Bug> all_bugs() {
  std::vector<Bug> bugs;
  add_bugs(bugs, "bugs.txt");
  if (!wanted().empty()) add_bugs(bugs, "held_out.txt");
  return bugs;
}

// "" if all configs are right.
std::string judged(const fs::path& path, const std::string& words, std::size_t more_configs) {
  const UserKernel& own = add_user_kernel(read_kernel_file(path));
  const Op& op = own.op;
  const Template& tmpl = op.templates.front();
  const std::unique_ptr<Device> device = make_host_device();
  const Problem problem = complete_problem(op, Problem::parse(words));
  std::vector<char> memory(check_bytes(op, problem));
  fill_check_memory(op, problem, 1, memory.data());
  Checker checker(*device, op, check_parts(op, problem, memory.data()));
  const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  const Space space = tmpl.space(problem, device->facts());
  std::vector<Config> configs = {space.complete({})};
  const bool covers = more_configs == configs_of_a_bug;
  for (Config& config : covers ? covering_configs(space, more_configs, 5) : space.sample(more_configs, 5))
    if (config.values() != configs.front().values()) configs.push_back(std::move(config));
  for (const Config& config : configs) {
    if (exceeds(tmpl.work(problem, config, device->facts()), device->facts())) continue;
    const Source source = render(op, tmpl, problem, config, "host");
    Compilation compiled = toolchain->compile(source);
    if (!compiled.ok) return "It does not compile: " + compiled.log;
    MeasureRequest request;
    request.template_name = tmpl.name;
    request.config = config.text();
    request.suffix = source.suffix;
    request.binary = std::move(compiled.bytes);
    const MeasureReply reply = checker.judge(request);
    if (reply.verdict == Verdict::ok) continue;
    return std::string(name(reply.verdict)) + " " + config.text() + ": " + reply.reason;
  }
  return "";
}

// Judges in a separate process, which may hang or end: the fault, or "".
std::string judged_apart(const fs::path& path, const std::string& problem,
                         std::size_t more_configs = configs_of_a_bug) {
  const fs::path answer = path.string() + ".answer";
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit = {longest_check_s, longest_check_s};
    ::setrlimit(RLIMIT_CPU, &limit);
    std::string words;
    try {
      words = judged(path, problem, more_configs);
    } catch (const std::exception& error) {
      words = std::string("refused: ") + error.what();
    }
    std::ofstream(answer) << words;
    ::_exit(words.empty() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) return "timeout";
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const std::string words = read_file(answer);
  return words.empty() ? "crash" : words;
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tunesmith_planted_XXXXXX").string();
    path_ = ::mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(PlantedBugs, AreFound) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "no variant is watched beside another sanitizer";
#endif
  std::vector<Bug> bugs = all_bugs();
  ASSERT_GE(bugs.size(), 50U);
  std::istringstream words(wanted());
  std::set<std::string> ids;
  for (std::string id; words >> id;) ids.insert(id);
  if (!ids.empty() && !ids.contains("all")) {
    std::erase_if(bugs, [&](const Bug& bug) { return !ids.contains(bug.id); });
  } else if (ids.empty()) {
    std::erase_if(bugs, [](const Bug& bug) {
      return known_misses.contains(bug.id) || bug.what.starts_with("infinite loop");  // which takes minutes
    });
    Random random(27);
    for (std::size_t i = 0; i < usual_bugs; ++i) std::swap(bugs[i], bugs[i + random.below(bugs.size() - i)]);
    bugs.resize(usual_bugs);
  }
  const Folder folder;
  std::size_t found = 0;
  for (const Bug& bug : bugs) {
    std::string text = read_file(planted_bugs / "kernels" / (bug.kernel + ".cu"));
    for (const auto& [before, after] : bug.replaced) {
      std::size_t at = text.find(before);
      ASSERT_NE(at, std::string::npos) << bug.id << " has no place in " << bug.kernel << ".cu: " << before;
      for (; at != std::string::npos; at = text.find(before, at + after.size()))
        text.replace(at, before.size(), after);
    }
    const fs::path path = folder.path() / (bug.kernel + ".cu");
    std::ofstream(path) << text;
    const std::string why = judged_apart(path, bug.problem);
    found += why.empty() ? 0 : 1;
    std::cout << bug.id << (why.empty() ? " NOT found: " : " found: ") << bug.what << " | "
              << why.substr(0, 400) << std::endl;
  }
  std::cout << "found " << found << " of " << bugs.size() << "\n";
  EXPECT_GE(static_cast<double>(found), least_found * static_cast<double>(bugs.size()));
}

TEST(PlantedBugs, TheKernelsWithoutThemAreRight) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "no variant is watched beside another sanitizer";
#endif
  std::vector<std::pair<std::string, std::string>> kernels;
  std::set<std::string> seen;
  for (const Bug& bug : all_bugs())
    if (seen.insert(bug.kernel).second) kernels.emplace_back(bug.kernel, bug.problem);
  if (wanted().empty()) {  // one of them has its turn
    const char* const turn = std::getenv("TUNESMITH_TEST_TURN");
    const std::size_t at = turn == nullptr || *turn == '\0' ? 0 : std::stoul(turn) % kernels.size();
    kernels = {kernels[at]};
  }
  const Folder folder;
  for (const auto& [kernel, problem] : kernels) {
    const fs::path path = folder.path() / (kernel + ".cu");
    fs::copy_file(planted_bugs / "kernels" / (kernel + ".cu"), path);
    EXPECT_EQ(judged_apart(path, problem, wanted().empty() ? 2 : configs_of_a_bug), "") << kernel;
  }
}

}  // namespace
}  // namespace tunesmith
