// SPDX-License-Identifier: Apache-2.0
// Tests NVRTC as a toolchain, and compiles every op's templates with it for several architectures. Needs no
// GPU.
#include "tests/cuda/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <thread>
#include <utility>

#include "choose/nearest.h"
#include "generator/compiler_flags.h"
#include "generator/ops.h"
#include "generator/target.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

Source source(const std::string& text, const std::string& target) {
  return {.text = text, .hash = "", .suffix = "", .kernels = {}, .target = target};
}

TEST_F(Nvrtc, NamesItself) {
  EXPECT_TRUE(std::regex_match(toolchain_->identity(), std::regex("NVRTC \\d+\\.\\d+")));
}

TEST_F(Nvrtc, MakesACubin) {
  const Compilation compiled =
      toolchain_->compile(source("extern \"C\" __global__ void empty() {}", "sm_90a"));
  ASSERT_TRUE(compiled.ok) << compiled.log;
  EXPECT_EQ(compiled.bytes.substr(0, 4), "\177ELF");
  EXPECT_GT(compiled.milliseconds, 0);
}

TEST_F(Nvrtc, CompilesAsTheTextAsks) {
  const auto compiled = [&](const CompilerFlags& options) {
    const Compilation made = toolchain_->compile(
        source(compiler_flag_lines(options) +
                   "extern \"C\" __global__ void many(float* x, float y) {\n  float own[64];\n"
                   "  for (int i = 0; i < 64; ++i) own[i] = sinf(x[i]) / y;\n"
                   "  for (int i = 0; i < 64; ++i) x[64 * own[63 - i] > 0 ? i : 0] = own[i];\n}\n"
                   "#if __cplusplus != " +
                   (options.standard == 17 ? "201703L" : "202002L") + "\n#error another standard\n#endif\n",
               "sm_90a"));
    EXPECT_TRUE(made.ok) << made.log;
    std::smatch match;
    const bool has_registers = std::regex_search(made.log, match, std::regex("Used (\\d+) registers"));
    EXPECT_TRUE(has_registers) << made.log;
    return std::pair(made.bytes, has_registers ? std::stoi(match[1]) : 0);
  };
  const auto usual = compiled({});
  EXPECT_NE(compiled({.fast_math = true}).first, usual.first);
  EXPECT_LT(compiled({.fast_math = true}).first.size(), usual.first.size()) << "sinf is one instruction";
  EXPECT_GT(usual.second, 32);
  EXPECT_LE(compiled({.registers = 32}).second, 32);
  EXPECT_NE(compiled({.standard = 17}).second, 0);
}

TEST_F(Nvrtc, AnswersAnErrorWithItsLine) {
  const Compilation compiled = toolchain_->compile(source("\n\nint wrong = missing;", "sm_90a"));
  EXPECT_FALSE(compiled.ok);
  EXPECT_TRUE(compiled.bytes.empty());
  EXPECT_THAT(compiled.log, HasSubstr("(3)"));
  EXPECT_THAT(compiled.log, HasSubstr("missing"));
}

TEST_F(Nvrtc, RefusesATargetItDoesNotKnow) {
  for (const char* target : {"sm_10", "sm_9999", "host", "sm_", "sm_90x", ""}) {
    const Compilation compiled = toolchain_->compile(source("", target));
    EXPECT_FALSE(compiled.ok);
    EXPECT_THAT(compiled.log, HasSubstr("does not support the target " + std::string(target) + ";"));
  }
}

TEST_F(Nvrtc, GivesUpWhenNobodyWaitsAnyMore) {
  if (toolchain_->identity() < "NVRTC 12.8") GTEST_SKIP() << "It cannot be asked to.";
  std::string text = "extern \"C\" __global__ void slow(float* x) {\n";
  for (int i = 0; i < 20000; ++i)
    text += "  x[" + std::to_string(i * 37 % 1024) + "] += x[threadIdx.x] * 3;\n";
  const Source slow = source(text + "}\n", "sm_90a");
  const Compilation late = toolchain_->compile(slow, {.limit = std::chrono::milliseconds(1)});
  EXPECT_FALSE(late.ok);
  EXPECT_THAT(late.log, HasSubstr("more than 1 ms"));
  std::stop_source stop;
  stop.request_stop();
  const Compilation stopped = toolchain_->compile(slow, {.stop = stop.get_token()});
  EXPECT_FALSE(stopped.ok);
  EXPECT_THAT(stopped.log, HasSubstr("no longer needed"));
  EXPECT_LT(stopped.milliseconds, 10000);  // a whole compilation takes longer
}

// A process may end while its dispatcher still compiles for its plans: NVRTC's exit handlers remove data that
// the compilation uses.
TEST_F(Nvrtc, AProcessMayEndWhileItCompiles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int delay_ms : {0, 10, 20, 50, 100}) {
    EXPECT_EXIT(
        {
          const Toolchain* toolchain = make_nvrtc_toolchain().release();
          const Source slow = source("#include <cuda_fp16.h>\n", "sm_90a");
          static_cast<void>(toolchain->compile(slow));
          for (int thread = 0; thread < 4; ++thread) {
            std::thread([toolchain, slow] {
              for (;;) static_cast<void>(toolchain->compile(slow));
            }).detach();
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
          std::exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
}

TEST_F(Nvrtc, CompilesFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 3; ++i) {
        const bool good = (thread + i) % 2 == 0;
        const std::string name = "kernel_" + std::to_string(thread) + "_" + std::to_string(i);
        const Compilation compiled = toolchain_->compile(
            source("extern \"C\" __global__ void " + name + (good ? "() {}" : "() { wrong }"), "sm_80"));
        // A cubin names its kernel; a log quotes its own error.
        right += good ? compiled.ok && compiled.bytes.find(name) != std::string::npos
                      : !compiled.ok && compiled.log.find("wrong") != std::string::npos;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 12);
}

TEST_F(Nvrtc, TheTypesOf16BitsCompileForEveryArchitecture) {
  std::string header = template_files().at("common/float16.cuh");
  header.erase(header.find("#pragma once"), 12);
  for (const char* target : {"sm_75", "sm_80", "sm_90a", "sm_120f"}) {
    for (const char* type : {"Float16", "BFloat16", "double"}) {
      const Compilation compiled =
          toolchain_->compile(source(header + "using T = " + type +
                                         ";\nextern \"C\" __global__ void twice(T* x) {\n"
                                         "  const compute_type<T> sum = to_float(x[0]) + to_float(x[1]);\n"
                                         "  x[2] = from_float<T>(sum);\n}\n",
                                     target));
      EXPECT_TRUE(compiled.ok) << target << " " << type << "\n" << compiled.log;
    }
  }
}

// The op names a kernel or a constant that the text does not have.
TEST_F(Nvrtc, AMisspeltNameIsMissing) {
  Source one = source(
      "__constant__ float table_a[4];\nextern \"C\" __constant__ float kept_a[4];\n"
      "extern \"C\" __global__ void right_a(float* x) { *x = kept_a[threadIdx.x]; }",
      "sm_90a");
  one.suffix = "_a";
  const Compilation compiled = toolchain_->compile(one);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  Template tmpl;
  tmpl.kernels = {"right"};
  const Work good = {.steps = {Launch{.kernel = "right"}, ConstantCopy{.symbol = "kept"}}};
  EXPECT_EQ(missing_symbols(tmpl, good, one, compiled.bytes), "");
  tmpl.kernels = {"right", "wrong"};
  const Work bad = {.steps = {Launch{.kernel = "rigth"}, ConstantCopy{.symbol = "keptt"}}};
  EXPECT_EQ(missing_symbols(tmpl, bad, one, compiled.bytes), "keptt, rigth, wrong");
}

// Bases and first guesses of all ops, dealt out to the targets that a GPU of a Blackwell generation is tuned
// with, and to those that its packed kernels have. None of these GPUs was ever here.
TEST_F(Nvrtc, EveryOpCompilesForABlackwell) {
  const std::vector<std::string> targets = {"sm_100f", "sm_103a", "sm_110a", "sm_110f", "sm_120f", "sm_121a"};
  std::vector<Source> sources;
  for (std::size_t i = 0; i < ops().size(); ++i) {
    const Op& op = ops()[i];
    const Problem problem = complete_problem(op, Problem::parse(op.examples.front()));
    const std::string& one = targets[i % targets.size()];
    sources.push_back(render(op, op.templates.front(), problem, base_config(op, problem), one));
    const std::string& other = targets[(i + 1) % targets.size()];
    DeviceFacts device = facts_of_capability(Target::parse(other)->compute_capability);
    device.target = other;
    for (const UntunedVariant& guess : untuned(op, problem, device)) {
      sources.push_back(render(op, *guess.tmpl, problem, guess.config, other));
      break;
    }
  }
  EXPECT_GT(sources.size(), ops().size());
  const std::vector<Compilation> compiled = compile_all(*toolchain_, sources);
  for (std::size_t i = 0; i < sources.size(); ++i)
    EXPECT_TRUE(compiled[i].ok) << sources[i].target << "\n"
                                << located(compiled[i].log, sources[i].text, template_files());
}

// The first guess of products of bytes is in tensor cores, in every layout.
TEST_F(Nvrtc, ProductsOfBytesCompileForEveryArchitecture) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  std::vector<Source> sources;
  std::set<std::string> seen;
  for (const char* const target : {"sm_80", "sm_90a", "sm_100f", "sm_120f"}) {
    const DeviceFacts device = facts_of_capability(Target::parse(target)->compute_capability);
    for (const char* const line :
         {"a[i,k] * b[k,j]", "a[i,k] * b[j,k]", "a[k,i] * b[k,j]", "a[k,i] * b[j,k]"}) {
      for (const char* const sizes : {" i=4096 j=4096 k=4096", " i=1000 j=1500 k=777"}) {
        const Problem problem = complete_problem(
            op, Problem::parse("expression=\"c[i,j] += " + std::string(line) +
                               "\" out_dtype=i32 dtype=" + (sources.size() % 2 == 0 ? "i8" : "u8") + sizes));
        const std::optional<Values> guess = tmpl.untuned(problem, device);
        ASSERT_TRUE(guess);
        const Config config = tmpl.space(problem, device).complete(*guess);
        EXPECT_THAT(config.text(), HasSubstr("mma ")) << problem.text() << " on " << target;
        Source source = render(op, tmpl, problem, config, target);
        if (seen.insert(source.text + target).second) sources.push_back(std::move(source));
      }
    }
  }
  sources = in_turn(std::move(sources), 6, {&op, &tmpl});
  const std::vector<Compilation> compiled = compile_all(*toolchain_, sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string head = sources[i].text.substr(0, sources[i].text.find("\n\n"));
    ASSERT_TRUE(compiled[i].ok) << located(compiled[i].log, sources[i].text, template_files());
    EXPECT_THAT(compiled[i].log, Not(HasSubstr("are serialized"))) << head << "\n" << compiled[i].log;
    EXPECT_FALSE(std::regex_search(compiled[i].log, std::regex("([2-9][0-9]{2}|[1-9][0-9]{3,}) bytes spill")))
        << head << compiled[i].log;
  }
}

// One half of each float, in warps and in warpgroups: products of several tiles run at once, and sums stay in
// registers.
TEST_F(Nvrtc, ProductsOfOneHalfCompile) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const std::string warp =
                        " WARP_N=4 RESIDENT_WARPS=8 TILE_M=128 TILE_N=128 THREAD_M=8 THREAD_N=8 TILE_K=32 ",
                    group = " WARP_N=4 RESIDENT_WARPS=8 TILE_K=64 ";
  std::vector<Source> sources;
  for (const auto& [target, config] :
       {std::pair<std::string, std::string>("sm_80", "UNIT=half STAGES=1" + warp),
        {"sm_80", "UNIT=packed_half STAGES=3" + warp},
        {"sm_120f", "UNIT=packed_half STAGES=3" + warp},
        {"sm_90a", "UNIT=wgmma_half STAGES=4 TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64" + group},
        {"sm_90a", "UNIT=wgmma_half STAGES=3 TILE_M=256 TILE_N=128 THREAD_M=4 THREAD_N=32" + group},
        {"sm_90a", "UNIT=wgmma_half STAGES=4 TILE_M=128 TILE_N=128 THREAD_M=2 THREAD_N=32" + group}}) {
    const DeviceFacts device = facts_of_capability(Target::parse(target)->compute_capability);
    const std::string line = sources.size() % 2 == 0 ? "a[i,k] * b[k,j]" : "a[k,i] * b[j,k]";
    const Problem problem = complete_problem(
        op,
        Problem::parse("expression=\"c[i,j] += " + line + "\" i=4096 j=4096 k=4096 dtype=f32 accuracy=tf32"));
    sources.push_back(
        render(op, tmpl, problem, tmpl.space(problem, device).complete(Values::parse(config)), target));
  }
  const std::vector<Compilation> compiled = compile_all(*toolchain_, sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string head = sources[i].text.substr(0, sources[i].text.find("\n\n"));
    ASSERT_TRUE(compiled[i].ok) << located(compiled[i].log, sources[i].text, template_files());
    EXPECT_THAT(compiled[i].log, Not(HasSubstr("are serialized"))) << head << "\n" << compiled[i].log;
    EXPECT_FALSE(std::regex_search(compiled[i].log, std::regex("[1-9][0-9]+ bytes spill")))
        << head << compiled[i].log;
  }
}

class EveryTemplate : public Nvrtc, public testing::WithParamInterface<TemplateCase> {};

// Variants are dealt out to the targets in turn; the first variant of each problem goes to all targets.
TEST_P(EveryTemplate, Compiles) {
  const auto& [op, tmpl] = GetParam();
  std::vector<std::string> targets;
  for (const auto& [capability, target] :
       {std::pair(75, "sm_75"), {80, "sm_80"}, {90, "sm_90a"}, {100, "sm_100f"}}) {
    if (capability == tmpl->minimum_compute_capability ||
        (capability > tmpl->minimum_compute_capability && tmpl->later_too))
      targets.emplace_back(target);
  }
  if (targets.empty()) targets.push_back("sm_" + std::to_string(tmpl->minimum_compute_capability) + "a");

  const std::vector<VariantCase> variants = test_variants(*op, *tmpl, random_configs(1), 1e8);
  ASSERT_FALSE(variants.empty()) << "the template refuses every problem of the test";
  struct Case {
    Source source;
    std::string words;
    VariantCase variant;
  };
  std::vector<Case> cases;
  std::set<std::string> seen;
  const auto add = [&](const VariantCase& variant, const std::string& target) {
    const DeviceFacts device = facts_of_capability(Target::parse(target)->compute_capability);
    if (tmpl->space(variant.problem, device).why_not(variant.config.values())) return;
    Source rendered = render(*op, *tmpl, variant.problem, variant.config, target);
    if (seen.insert(rendered.text).second)
      cases.push_back({std::move(rendered), words_of(GetParam(), variant) + " " + target, variant});
  };
  std::set<std::string> problems;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (problems.insert(variants[i].problem.text()).second) {
      for (const std::string& target : targets) add(variants[i], target);
    } else {
      add(variants[i], targets[i % targets.size()]);
    }
  }

  cases = in_turn(sampled(std::move(cases), 6, [](const Case& one) { return one.words; }), 6, GetParam(), 6);
  std::vector<Source> sources;
  for (Case& one : cases) sources.push_back(std::move(one.source));
  const std::vector<Compilation> compiled = compile_all(*toolchain_, sources);

  std::map<std::string, int> built;  // variants by target
  int failed = 0;
  int spilling = 0;
  std::string example;
  const std::regex spill("([1-9][0-9]*) bytes spill stores");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string head = sources[i].text.substr(0, sources[i].text.find("\n\n"));
    if (!compiled[i].ok) {  // the first failure is shown in full, the rest are counted
      if (++failed == 1) {
        ADD_FAILURE() << head << "\n" << located(compiled[i].log, sources[i].text, template_files());
      }
      continue;
    }
    const VariantCase& variant = cases[i].variant;
    EXPECT_EQ(
        missing_symbols(*tmpl, tmpl->work(variant.problem, variant.config), sources[i], compiled[i].bytes),
        "")
        << "are named by " << op->name << "/" << tmpl->name
        << ", but its text has no such kernel or constant; " << variant.config.text() << " for "
        << variant.problem.text();
    ++built[sources[i].target];
    // ptxas says this if it makes each product of a warpgroup wait for the one before.
    EXPECT_THAT(compiled[i].log, Not(HasSubstr("are serialized"))) << head << "\n" << compiled[i].log;
    std::smatch found;
    if (std::regex_search(compiled[i].log, found, spill) && ++spilling == 1)
      example = found[1].str() + " bytes in\n" + head;
  }
  EXPECT_EQ(failed, 0) << "of " << sources.size() << " variants do not compile; the first is above";
  std::cout << op->name << "/" << tmpl->name << ": " << sources.size() << " variants compiled (";
  const char* comma = "";
  for (const auto& [target, count] : built)
    std::cout << std::exchange(comma, ", ") << count << " for " << target;
  std::cout << ")";
  if (spilling > 0) std::cout << "; " << spilling << " spill registers, the first " << example;
  std::cout << "\n";
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTemplate, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTemplate);

}  // namespace
}  // namespace tunesmith
