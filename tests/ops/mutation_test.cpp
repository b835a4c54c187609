// SPDX-License-Identifier: Apache-2.0
// Tests whether the checks find the faults that they are for. Each mutant is an op's kernel with one fault: a
// barrier removed, a bound off by one, an index replaced by another, a guarded statement or the last part of
// a division dropped. It is compiled for the host and judged as the tuner judges a variant. A mutant that
// gives the same code as the kernel does not count; mutants.txt lists those that give other code and are
// right all the same. Asynchronous copies arrive at their wait. A removed wait for another kernel, or a
// removed fence, has no effect on the host: tests/cuda/overlap_code_test.cpp reads the compiled code for it,
// and on a GPU each variant runs behind a kernel that writes late.
//
// With TUNESMITH_TEST_TURN every sixth op is tested, and those whose kernels were touched.
// TUNESMITH_TEST_MUTANTS: a number of mutants per op, in more configs; "all" (ctest --preset mutants); or a
// part of a mutant's printed text, such as base.cu:21.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "runtime/toolchain.h"
#include "tests/op_cases.h"
#include "tests/source_folder.h"
#include "tuner/check/check_memory.h"
#include "tuner/check/checker.h"

namespace tunesmith {
namespace {

constexpr double least_caught = 0.8;                      // bench/results/history.md has the measured share
constexpr int usual_mutants = 5;                          // per op
constexpr auto longest_check = std::chrono::seconds(10);  // a longer check counts as a hang

struct Mutant {
  const char* kind;
  std::string file;
  int line;  // from 1 on
  std::string before, after;
  int place = 1;  // among equal lines of the file

  std::string text() const {
    return file + ":" + std::to_string(line) + " " + kind + ": " + before + "  ->  " + after;
  }
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

// The line without its comment.
std::string code_of(const std::string& line) { return line.substr(0, line.find("//")); }

// Each place of `pattern` in the line, replaced by `to`.
void replaced(const std::string& line, const std::regex& pattern, const std::string& to,
              const std::function<void(std::string)>& found) {
  const std::string code = code_of(line);
  for (std::sregex_iterator at(code.begin(), code.end(), pattern), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position());
    found(line.substr(0, begin) + at->format(to) +
          line.substr(begin + static_cast<std::size_t>(at->length())));
  }
}

// All mutants of one file. Its lines keep their numbers.
std::vector<Mutant> mutants_of(const std::string& file, const std::string& text) {
  struct Rule {
    const char* kind;
    std::regex pattern;
    std::string to;
  };
  static const std::vector<Rule> rules = {
      {"a barrier removed", std::regex(R"(__sync(threads|warp)\([^()]*\);)"), ";"},
      {"a bound off by one", std::regex(" < "), " <= "},
      {"a bound off by one", std::regex(" <= "), " < "},
      {"a bound off by one", std::regex(" >= "), " > "},
      {"an index swapped", std::regex(R"(\b(threadIdx|blockIdx)\.x\b)"), "$1.y"},
      {"an index swapped", std::regex(R"(\b(threadIdx|blockIdx)\.y\b)"), "$1.x"},
      {"an index swapped", std::regex(R"(\b(threadIdx|blockIdx)\.z\b)"), "$1.x"},
      {"an index swapped", std::regex(R"((^|[^ ] |return |[(!])(\w+)\[([^\[\]]+)\])"), "$1$2[($3) ^ 1]"},
      {"a tail dropped", std::regex(R"(\bceil_divide\(([^(),]+), ([^(),]+)\))"), "(($1) / ($2))"},
      {"a tail dropped", std::regex(R"(^( *)if \((.*)\) ([^{]*;)$)"), "$1if (false && ($2)) $3"},
      {"a wait for copies removed", std::regex(R"(\bwait_for_copies\(\);)"), ";"},
      {"a wait removed", std::regex(R"(\b(start|__threadfence)\(\);)"), ";"},
  };
  static const std::regex declaration(R"(\b\w+[>*&]? (\w+(\[[^\]]+\])+, )*\w+(\[[^\]]+\])+( = .*)?;)");
  std::vector<Mutant> all;
  std::istringstream lines(text);
  int number = 0;
  std::string before;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string code = trimmed(code_of(line));
    // A loop with one round too many over a thread's own array is undefined: compilers drop it, and the
    // sanitizers' run sees it.
    const bool is_unrolled =
        std::exchange(before, code).starts_with("#pragma unroll") && code.starts_with("for");
    if (is_unrolled) continue;
    if (code.empty() || code[0] == '#' || code.starts_with("static_assert") || code.starts_with("template"))
      continue;
    for (const Rule& rule : rules) {
      const bool is_index = rule.to.find('^') != std::string::npos;
      if (is_index && std::regex_search(code, declaration) && !code.starts_with("return")) continue;
      replaced(line, rule.pattern, rule.to, [&](std::string after) {
        all.push_back({rule.kind, file, number, trimmed(line), trimmed(after)});
      });
    }
  }
  std::map<std::string, int> places;
  for (Mutant& mutant : all) mutant.place = ++places[mutant.before + mutant.after];
  return all;
}

Files with(const Mutant& mutant, Files files) {
  std::string& text = files.at(mutant.file);
  std::size_t begin = 0;
  for (int line = 1; line < mutant.line; ++line) begin = text.find('\n', begin) + 1;
  const std::size_t at = text.find(mutant.before, begin);
  text.replace(at, mutant.before.size(), mutant.after);
  return files;
}

// The files of the op's folder that a template's body includes.
std::vector<std::string> files_of(const Op& op, const Template& tmpl) {
  std::vector<std::string> files = {body_path(op.name, tmpl)};
  static const std::regex include("#include \"([^\"]+)\"");
  for (std::size_t n = 0; n < files.size(); ++n) {
    const std::string& text = template_files().at(files[n]);
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
      const std::string name = (*at)[1];
      if (name.starts_with(op.name + "/") && std::find(files.begin(), files.end(), name) == files.end())
        files.push_back(name);
    }
  }
  return files;
}

// The lines "FILE: LINE -> LINE" of mutants.txt, whose other lines give the reasons.
std::set<std::string> right_all_the_same() {
  std::set<std::string> all;
  std::ifstream file(std::filesystem::path(source_folder) / "tests" / "ops" / "mutants.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with("#") && !line.empty()) all.insert(line);
  return all;
}
std::string listed_as(const Mutant& mutant) {
  return mutant.file + (mutant.place > 1 ? "#" + std::to_string(mutant.place) : "") + ": " + mutant.before +
         "  ->  " + mutant.after;
}

// Batches with more elements than a grid has blocks along y and z, so that a block takes several; for scan
// more tiles than a section has; for tensor more terms than two levels of runs have. They cost seconds each,
// so only mutants that all other problems have not caught get them.
const std::map<std::string, std::vector<std::string>>& large_batches() {
  static const std::map<std::string, std::vector<std::string>> problems = {
      {"conv1d",
       {"batch=65800 length=5 taps=3 mode=same", "batch=65800 length=5 taps=3 mode=same boundary=reflect"}},
      {"conv2d",
       {"batch=65800 height=2 width=3 mask_height=2 mask_width=2 size=same",
        "batch=65800 height=2 width=3 mask_height=2 mask_width=2 size=same boundary=reflect"}},
      {"conv_covariance",
       {"batch=65800 channels_out=1 channels_in=1 height=2 width=2 mask_height=1 mask_width=2"}},
      {"reduce", {"outer=70000 length=3 function=sum"}},
      {"scan", {"length=40000 inner=64 dtype=i32"}},
      {"tensor", {"expression=\"y[i] += x[i,j]\" i=2 j=131072"}},
      {"transpose",
       {"batch=65800 height=2 width=3 dtype=b8", "batch=65800 height=2 width=3 output_pitch=4 dtype=b8"}}};
  return problems;
}

// Problems, each with some values of axes, that reach parts of a kernel that the sampled ones do not reach: a
// middle rank of many elements is searched by halving, operands of two bytes are packed in words, with
// borders of zeros and from rows of odd lengths, and bytes are multiplied in pairs of neighbours.
struct RarePath {
  const char *problem, *config;
};
const std::map<std::string, std::vector<RarePath>>& rare_paths() {
  static const std::map<std::string, std::vector<RarePath>> problems = {
      {"rank_filter", {{"height=13 width=14 window_height=9 window_width=9 rank=40", ""}}},
      {"tensor",
       {{"expression=\"out[n,o,x] += image[n,c,x+j-2] * w[o,c,j]\" zero_outside=image n=1 o=8 x=70 c=6 j=4 "
         "image=1x6x70 dtype=f16",
         "UNIT=mma PACK=channels"},
        {"expression=\"y[i,j] += a[i,k] * b[j,k]\" i=33 j=35 k=71 dtype=f16", "UNIT=mma PACK=both"},
        {"expression=\"y[i,j] += a[i,k] * b[k,j]\" i=33 j=37 k=70 dtype=i8 out_dtype=i32", "UNIT=mma"}}}};
  return problems;
}

// One template: its kernels, and the judging of its variants.
class Judge {
 public:
  Judge(const Op& op, const Template& tmpl, bool thorough)
      : op_(op), tmpl_(tmpl), device_(make_host_device()) {
    std::vector<VariantCase> variants = test_variants(op, tmpl, thorough ? 24 : 2, 4e6);
    std::erase_if(variants, [&](const VariantCase& variant) {
      return exceeds(tmpl.work(variant.problem, variant.config), device_->facts()).has_value();
    });
    variants_ = sampled(std::move(variants), 1, [](const VariantCase& variant) {
      return variant.problem.text() + " " + variant.config.text();
    });
    if (const auto paths = rare_paths().find(op.name); paths != rare_paths().end()) {
      for (const RarePath& path : paths->second) {
        const Problem problem = complete_problem(op, Problem::parse(path.problem));
        if (why_not(tmpl, problem, device_->facts())) continue;
        const auto config = tmpl.space(problem, device_->facts()).first(Values::parse(path.config));
        if (config) variants_.insert(variants_.begin(), {problem, *config});
      }
    }
    most_alike_ = thorough ? 24 : 3;  // variants that show most words come first
    most_judged_ = thorough ? all_configs : 12;
    may_add_large_ = thorough;
  }

  enum class Verdict { caught, survived, no_mutant, no_compile };

  Verdict judge(const Mutant& mutant, std::string& how) {
    const Files files = with(mutant, template_files());
    bool differs = false;
    std::size_t judged = 0, alike = 0;
    for (std::size_t v = 0; judged < most_judged_ && (differs || alike < most_alike_); ++v) {
      if (v == variants_.size() && differs) add_large();
      if (v >= variants_.size()) break;
      const VariantCase& variant = variants_[v];
      const Source& right = kernel(v).first;
      Source source = render(op_, tmpl_, variant.problem, variant.config, "host", files);
      if (source.hash == right.hash) continue;  // it has another body
      ++alike;
      for (std::size_t at = 0; (at = source.text.find(source.suffix, at)) != std::string::npos;)
        source.text.replace(at, source.suffix.size(), right.suffix);
      if (source.text == right.text) continue;  // it has another template
      const Compilation compiled = toolchain_->compile(source);
      if (!compiled.ok) {
        how = compiled.log;
        return Verdict::no_compile;
      }
      if (compiled.bytes == kernel(v).second) continue;
      differs = true;
      ++judged;
      how = failure(variant, compiled.bytes, right.suffix);
      if (!how.empty()) return Verdict::caught;
    }
    return differs ? Verdict::survived : Verdict::no_mutant;
  }

 private:
  void add_large() {
    if (!std::exchange(may_add_large_, false)) return;
    const auto texts = large_batches().find(op_.name);
    if (texts == large_batches().end()) return;
    for (const std::string& text : texts->second) {
      const Problem problem = complete_problem(op_, Problem::parse(text));
      if (why_not(tmpl_, problem, device_->facts())) continue;
      for (const Config& config : tmpl_.space(problem, device_->facts()).sample(6, 7)) {
        if (exceeds(tmpl_.work(problem, config, device_->facts()), device_->facts())) continue;
        variants_.push_back({problem, config});
        // If the unchanged kernel fails, by a time-out for example, a mutant must not be blamed.
        const auto& [source, binary] = kernel(variants_.size() - 1);
        if (!failure(variants_.back(), binary, source.suffix).empty()) {
          kernels_.erase(variants_.size() - 1);
          variants_.pop_back();
        }
      }
    }
  }

  // The unchanged kernel: source and binary.
  const std::pair<Source, std::string>& kernel(std::size_t v) {
    auto [at, is_new] = kernels_.try_emplace(v);
    if (is_new) {
      at->second.first = render(op_, tmpl_, variants_[v].problem, variants_[v].config, "host");
      const Compilation compiled = toolchain_->compile(at->second.first);
      EXPECT_TRUE(compiled.ok) << compiled.log;
      at->second.second = compiled.bytes;
    }
    return at->second;
  }

  struct Prepared {
    std::vector<char> memory;
    std::unique_ptr<Checker> checker;
  };
  Checker& checker(const Problem& problem) {
    Prepared& prepared = checkers_[problem.text()];
    if (!prepared.checker) {
      prepared.memory.resize(check_bytes(op_, problem));
      fill_check_memory(op_, problem, 1, prepared.memory.data());
      prepared.checker =
          std::make_unique<Checker>(*device_, op_, check_parts(op_, problem, prepared.memory.data()));
    }
    return *prepared.checker;
  }

  // Judges in a separate process, which the mutant may end or hold up; "" if it is right.
  std::string failure(const VariantCase& variant, const std::string& binary, const std::string& suffix) {
    Checker& judge = checker(variant.problem);
    MeasureRequest request;
    request.template_name = tmpl_.name;
    request.config = variant.config.text();
    request.suffix = suffix;
    request.binary = binary;
    request.timing.samples = 0;
    const pid_t child = ::fork();
    if (child == 0) {
      const MeasureReply reply = judge.judge(request);
      ::_exit(reply.verdict == tunesmith::Verdict::ok ? 0 : 10 + static_cast<int>(reply.verdict));
    }
    const auto deadline = std::chrono::steady_clock::now() + longest_check;
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
        return "timeout";
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 10)
      return std::string(name(static_cast<tunesmith::Verdict>(WEXITSTATUS(status) - 10)));
    return "crash";
  }

  const Op& op_;
  const Template& tmpl_;
  bool may_add_large_ = false;
  std::size_t most_alike_ = 0;   // a mutant with the same code in so many variants does not count
  std::size_t most_judged_ = 0;  // a mutant that is right in so many other variants has survived
  std::unique_ptr<Device> device_;
  std::unique_ptr<Toolchain> toolchain_ = make_host_toolchain();
  std::vector<VariantCase> variants_;
  std::map<std::size_t, std::pair<Source, std::string>> kernels_;
  std::map<std::string, Prepared> checkers_;
};

std::vector<std::string> all_ops() {
  std::vector<std::string> all;
  for (const Op& op : ops()) all.push_back(op.name);
  return all;
}

// Two or three of the ops have their turn, and those whose kernels were touched.
bool has_its_turn(const Op& op) {
  return std::ranges::any_of(op.templates, [&](const Template& tmpl) {
    return std::ranges::count(in_turn(all_ops(), 6, {&op, &tmpl}), op.name) > 0;
  });
}

class Mutants : public testing::TestWithParam<std::string> {};

TEST_P(Mutants, AreCaught) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the checks are the same, and slower";
#endif
  const Op& op = find_op(GetParam());
  const char* const given = std::getenv("TUNESMITH_TEST_MUTANTS");
  if (given == nullptr && !has_its_turn(op)) GTEST_SKIP() << "it is another op's turn";
  const bool is_number = given != nullptr && std::isdigit(static_cast<unsigned char>(*given)) != 0;
  const bool all = given != nullptr && !is_number;
  const std::string part = all && std::string_view(given) != "all" ? given : "";
  const std::set<std::string> right = right_all_the_same();
  std::vector<std::pair<Mutant, const Template*>> mutants;
  std::set<std::string> files;
  for (const Template& tmpl : op.templates) {
    if (tmpl.minimum_compute_capability > 0) continue;
    for (const std::string& file : files_of(op, tmpl)) {
      // A fragment is mutated in the first template that includes it.
      if (!files.insert(file).second) continue;
      for (Mutant& mutant : mutants_of(file, template_files().at(file)))
        mutants.emplace_back(std::move(mutant), &tmpl);
    }
  }
  Random random(12);
  for (std::size_t i = 0; i < mutants.size(); ++i)
    std::swap(mutants[i], mutants[i + random.below(mutants.size() - i)]);

  std::map<const Template*, std::unique_ptr<Judge>> judges;
  std::map<std::string, int> kinds;  // caught mutants of each kind
  int caught = 0, none = 0, waits = 0, no_compile = 0, listed = 0;
  std::vector<std::string> survivors;
  const int wanted = given != nullptr && !all ? std::atoi(given) : usual_mutants;
  for (const auto& [mutant, tmpl] : mutants) {
    const int judged = caught + static_cast<int>(survivors.size());
    if (!all && judged >= wanted) break;
    if (mutant.text().find(part) == std::string::npos) continue;
    if (part.empty() && right.contains(listed_as(mutant))) {
      ++listed;
      continue;
    }
    if (std::string_view(mutant.kind) == "a wait removed") {
      ++waits;
      continue;
    }
    std::unique_ptr<Judge>& judge = judges[tmpl];
    if (!judge) judge = std::make_unique<Judge>(op, *tmpl, given != nullptr);
    std::string how;
    switch (judge->judge(mutant, how)) {
      case Judge::Verdict::caught:
        ++caught;
        ++kinds[std::string(mutant.kind) + ", " + how];
        break;
      case Judge::Verdict::survived:
        survivors.push_back(op.name + "/" + tmpl->name + " " + mutant.text());
        std::cout << "  not caught: " << survivors.back()
                  << std::endl;  // a long run is read while it goes on
        break;
      case Judge::Verdict::no_mutant:
        ++none;
        break;
      case Judge::Verdict::no_compile:
        ++no_compile;
        break;
    }
  }
  const int judged = caught + static_cast<int>(survivors.size());
  if (!part.empty() && judged == 0) GTEST_SKIP() << "no mutant has " << part;
  ASSERT_GT(judged, 0);
  std::cout << op.name << ": " << caught << " of " << judged << " mutants caught (" << mutants.size()
            << " places; " << none << " give the same code, " << waits
            << " are waits, which mean nothing on the host, " << no_compile << " do not compile, " << listed
            << " are listed as right)\n";
  for (const auto& [kind, count] : kinds) std::cout << "  " << count << " " << kind << "\n";
  EXPECT_GE(caught, least_caught * judged) << "Mend the check or the op's companions, or list the mutant in "
                                              "tests/ops/mutants.txt with the reason why it is right.";
}

INSTANTIATE_TEST_SUITE_P(Ops, Mutants, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tunesmith
