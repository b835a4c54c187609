// SPDX-License-Identifier: Apache-2.0
// Checks the compiled code of overlapped kernels, for each architecture that has the wait: nothing accesses
// global memory before it, and no input is loaded by the read-only path, because a compiler may move such a
// load across the wait. Reads the machine code, and PTX too where only that tells which array a load reads,
// or where nvdisasm is missing. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

#include "generator/target.h"
#include "tests/cuda/nvrtc.h"
#include "tests/op_cases.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- code as a list of instructions and labels

struct Instruction {
  std::string text;   // opcode and operands, without its predicate
  bool conditional;   // has a predicate
  std::string label;  // not empty: only a label
};

using Code = std::vector<Instruction>;

struct Language {
  std::regex wait, memory, branch, end, read_only;
};

const Language ptx_language = {
    .wait = std::regex(R"(^griddepcontrol\.wait)"),
    // A generic access may be an access to global memory. A tensor map is an argument of the launch, which no
    // kernel writes.
    .memory =
        std::regex(R"(^((ld|st)(\.(volatile|relaxed|acquire|release|weak|cta|cluster|gpu|sys))*\.)"
                   R"((global|b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64|v2|v4)|ldu|atom|red\.|)"
                   R"(cp\.|prefetch(?!\.tensormap)|call|multimem))"),
    .branch = std::regex(R"(^bra(?:\.uni)?\s+(\S+))"),
    .end = std::regex(R"(^(ret|exit|trap))"),
    .read_only = std::regex(R"(^ld\.global\S*\.nc)")};

// ACQBULK is griddepcontrol.wait. LDGSTS is cp.async, UBLKCP and UTMA… are bulk copies, but UTMACCTL.PF,
// which prefetches a tensor map.
const Language sass_language = {
    .wait = std::regex(R"(^ACQBULK)"),
    .memory = std::regex(R"(^(LDG|LD\.|LD |STG|ST\.|ST |ATOM[.G ]|RED|UBLK|UTMA(?!CCTL\.PF)|CCTL|CALL))"),
    .branch = std::regex(R"(^BRA(?:\.\S+)?\s+(?:\S+,\s*)?`\((\S+)\))"),
    .end = std::regex(R"(^EXIT)"),
    .read_only = std::regex(R"(^LDG\S*\.CONSTANT)")};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n{}");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n{}") - first + 1);
}

Instruction instruction_of(std::string text) {
  const bool conditional = text.starts_with("@");
  if (conditional) text = trimmed(text.substr(text.find_first_of(" \t")));
  return {text, conditional, ""};
}

// The code of one kernel in PTX, or of the whole module if `kernel` is empty.
Code ptx_code(const std::string& ptx, const std::string& kernel = "") {
  std::istringstream lines(ptx);
  std::string statement;
  Code code;
  bool inside = kernel.empty();
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".visible .entry ") && !kernel.empty())
      inside = line.substr(16, line.find('(') - 16) == kernel;
    line = line.substr(0, line.find("//"));
    if (!inside) continue;
    if (const std::string alone = trimmed(line); alone.ends_with(":")) {
      code.push_back({"", false, alone.substr(0, alone.size() - 1)});
      continue;
    }
    for (const char c : line + " ") {
      if (c != ';') {
        statement += c;
        continue;
      }
      code.push_back(instruction_of(trimmed(statement)));
      statement.clear();
    }
  }
  return code;
}

// The same for the output of nvdisasm.
Code sass_code(const std::string& sass, const std::string& kernel = "") {
  static const std::regex instruction(R"(^\s+/\*[0-9a-f]{4,}\*/\s+(.*\S)\s*;.*)");
  std::istringstream lines(sass);
  Code code;
  bool inside = kernel.empty();
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".text.") && !kernel.empty()) inside = line == ".text." + kernel + ":";
    if (!inside) continue;
    std::smatch found;
    if (line.starts_with(".L_") && line.ends_with(":")) {
      code.push_back({"", false, line.substr(0, line.size() - 1)});
    } else if (std::regex_match(line, found, instruction)) {
      code.push_back(instruction_of(found[1]));
    }
  }
  return code;
}

// ---- faults in the code

// The faults before the wait, along every path through the code.
std::vector<std::string> faults_before_the_wait(const Code& code, const Language& language) {
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code[i].label.empty()) labels[code[i].label] = i;
  }
  std::vector<std::string> faults;
  std::vector<bool> seen(code.size());
  std::vector<std::size_t> open = {0};
  while (!open.empty()) {
    std::size_t at = open.back();
    open.pop_back();
    for (bool on = true; on; ++at) {
      if (at >= code.size()) {
        faults.emplace_back("ends without a wait");
        break;
      }
      if (seen[at]) break;
      seen[at] = true;
      const std::string& text = code[at].text;
      std::smatch found;
      if (std::regex_search(text, language.wait)) break;
      if (std::regex_search(text, language.memory)) faults.push_back("before the wait: " + text);
      if (std::regex_search(text, language.end)) {
        faults.push_back("ends without a wait: " + text);
        on = code[at].conditional;
      } else if (std::regex_search(text, found, language.branch)) {
        const auto target = labels.find(found[1]);
        if (target == labels.end())
          throw Error("The code branches to " + found[1].str() + ", which is not there.");
        open.push_back(target->second);
        // In SASS a uniform predicate is one of the operands.
        on = code[at].conditional || text.find(',') != std::string::npos;
      }
    }
  }
  return faults;
}

// Loads by the read-only path in PTX, except those from a table of the module (of a mathematical function).
std::vector<std::string> read_only_loads(const std::string& ptx) {
  static const std::regex table(R"(^mov\.[ub]64\s+(%\w+), ([A-Za-z_$][\w$]*))");
  static const std::regex address(R"(\[(%\w+))");
  static const std::regex arithmetic(R"(^(?:add|mad|mov|cvta)\S*\s+(%rd\d+), (.*))");
  std::set<std::string> of_tables;
  std::vector<std::string> loads;
  const Code code = ptx_code(ptx);
  std::size_t known_before = 0;
  do {
    known_before = of_tables.size();
    for (const Instruction& one : code) {
      std::smatch found;
      if (std::regex_search(one.text, found, table)) of_tables.insert(found[1]);
      if (!std::regex_search(one.text, found, arithmetic)) continue;
      const std::string operands = found[2].str() + ",";
      if (std::any_of(of_tables.begin(), of_tables.end(), [&](const std::string& known) {
            return operands.find(known + ",") != std::string::npos;
          }))
        of_tables.insert(found[1]);
    }
  } while (of_tables.size() != known_before);
  for (const Instruction& one : code) {
    std::smatch found;
    if (!std::regex_search(one.text, ptx_language.read_only)) continue;
    if (!std::regex_search(one.text, found, address) || !of_tables.contains(found[1]))
      loads.push_back(one.text);
  }
  return loads;
}

bool mentions(const Code& code, const std::regex& what) {
  return std::any_of(code.begin(), code.end(),
                     [&](const Instruction& one) { return std::regex_search(one.text, what); });
}

// ---- compiling

struct Variant {
  std::string text;
  std::vector<std::string> kernels;  // those that overlap their predecessor
  std::string target;
  std::string words;  // the words that the compiler sees
};

class OverlapCode : public Nvrtc {
 protected:
  static std::string disassembled(const std::string& cubin) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("tunesmith-overlap-" + std::to_string(::getpid()) + ".cubin");
    std::ofstream(path, std::ios::binary) << cubin;
    std::string text;
    FILE* const pipe = ::popen((std::string(TUNESMITH_NVDISASM " -c ") + path.string()).c_str(), "r");
    std::array<char, 65536> buffer = {};
    while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
      text.append(buffer.data(), read);
    EXPECT_EQ(::pclose(pipe), 0);
    std::filesystem::remove(path);
    return text;
  }

  // All faults of these variants, on the architectures of their targets. The machine code has every wait and
  // load that runs; PTX, which takes a second compilation, is read where it alone tells which array a load of
  // the read-only path reads, without a disassembler, and for `reads_both`.
  std::vector<std::string> faults(const std::vector<Variant>& variants, bool reads_both) const {
    constexpr bool reads_binaries = !std::string_view(TUNESMITH_NVDISASM).empty();
    const auto compiled = [&](const std::vector<std::size_t>& which, const auto& target_of) {
      std::vector<Source> sources;
      for (const std::size_t v : which)
        sources.push_back({.text = variants[v].text,
                           .hash = "",
                           .suffix = "",
                           .kernels = {},
                           .target = target_of(variants[v].target)});
      return compile_all(*toolchain_, sources);
    };
    std::vector<std::string> found;
    const auto report = [&](std::size_t v, const std::string& where, const std::vector<std::string>& faults) {
      for (const std::string& fault : faults)
        found.push_back(head(variants[v]) + where + ": " + fault + "\n");
    };
    std::vector<std::size_t> all(variants.size()), with_ptx;
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<bool> loads(variants.size());  // by the read-only path, in machine code
    if (reads_binaries) {
      const std::vector<Compilation> cubins = compiled(all, [](const std::string& target) { return target; });
      for (const std::size_t v : all) {
        if (!cubins[v].ok) throw Error(head(variants[v]) + cubins[v].log);
        const std::string sass = disassembled(cubins[v].bytes);
        for (const std::string& kernel : variants[v].kernels)
          report(v, "SASS of " + kernel, faults_before_the_wait(sass_code(sass, kernel), sass_language));
        loads[v] = mentions(sass_code(sass), sass_language.read_only);
      }
    }
    std::ranges::copy_if(all, std::back_inserter(with_ptx),
                         [&](std::size_t v) { return reads_both || !reads_binaries || loads[v]; });
    const std::vector<Compilation> ptx = compiled(with_ptx, [](const std::string& target) {
      return "compute_" + std::to_string(Target::parse(target).value().compute_capability);
    });
    for (std::size_t i = 0; i < with_ptx.size(); ++i) {
      const std::size_t v = with_ptx[i];
      if (!ptx[i].ok) throw Error(head(variants[v]) + ptx[i].log);
      for (const std::string& kernel : variants[v].kernels)
        report(v, "PTX of " + kernel, faults_before_the_wait(ptx_code(ptx[i].bytes, kernel), ptx_language));
      report(v, "PTX", read_only_loads(ptx[i].bytes));
      if (loads[v] && !mentions(ptx_code(ptx[i].bytes), ptx_language.read_only))
        report(v, "SASS", {"a load by the read-only path"});
    }
    return found;
  }

 private:
  static std::string head(const Variant& variant) {
    return variant.target + "\n" + variant.text.substr(0, variant.text.find("\n\n")) + "\n";
  }
};

const std::vector<std::string> targets_with_the_wait = {"sm_90", "sm_90a", "sm_100f", "sm_120f"};

// ---- the check itself

TEST_F(OverlapCode, TheCheckSeesWhatIsWrong) {
  const auto checked = [&](const std::string& parameters, const std::string& body) {
    std::string all;
    const std::string text =
        "__device__ void wait() { asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); }\n"
        "extern \"C\" __global__ void kernel(" +
        parameters + ") {\n" + body + "\n}\n";
    for (const std::string& fault : faults({{text, {"kernel"}, "sm_90a", ""}}, true)) all += fault;
    return all;
  };
  const std::string plain = "const float* in, float* out, int n";
  EXPECT_EQ(checked(plain, "wait(); out[threadIdx.x] = in[threadIdx.x];"), "");
  EXPECT_EQ(
      checked(plain, "__shared__ float a[64]; a[threadIdx.x] = n; wait(); out[threadIdx.x] = a[n] + in[0];"),
      "");

  const std::string forgets = checked(plain, "out[threadIdx.x] = in[threadIdx.x];");
  EXPECT_THAT(forgets, HasSubstr("before the wait: ld.global"));
  EXPECT_THAT(forgets, HasSubstr("before the wait: st.global"));
  EXPECT_THAT(forgets, HasSubstr("ends without a wait: ret"));

  const std::string early = checked(plain, "const float x = in[threadIdx.x]; wait(); out[threadIdx.x] = x;");
  EXPECT_THAT(early, HasSubstr("PTX of kernel: before the wait: ld.global"));
  const std::string on_one_way = checked(plain, "if (n != 5) wait(); out[threadIdx.x] = 1;");
  EXPECT_THAT(on_one_way, HasSubstr("before the wait: st.global"));
  EXPECT_THAT(on_one_way, Not(HasSubstr("ld.global")));
  const std::string atomic = checked(plain, "atomicAdd(out, 1.0f); wait();");
  EXPECT_THAT(atomic, HasSubstr("PTX of kernel: before the wait: "));
  const std::string copies =
      checked(plain,
              "__shared__ float a[4]; asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: "
              "\"r\"((unsigned)__cvta_generic_to_shared(a)), \"l\"(in)); wait(); out[0] = a[n];");
  EXPECT_THAT(copies, HasSubstr("before the wait: cp.async"));
  const auto fetched = [&](const std::string& what) {
    return checked(plain, "asm volatile(\"prefetch." + what +
                              " [%0];\" :: \"l\"(in)); wait(); out[threadIdx.x] = in[threadIdx.x];");
  };
  EXPECT_THAT(fetched("global.L2"), HasSubstr("before the wait: prefetch"));
  EXPECT_EQ(fetched("tensormap"), "");

  const std::string promised = checked("const float* __restrict__ in, float* __restrict__ out",
                                       "wait(); out[threadIdx.x] = in[threadIdx.x];");
  EXPECT_THAT(promised, HasSubstr("PTX: ld.global.nc"));
  const std::string by_hand = checked(plain, "wait(); out[threadIdx.x] = __ldg(in + threadIdx.x);");
  EXPECT_THAT(by_hand, HasSubstr("PTX: ld.global.nc"));

  if (std::string_view(TUNESMITH_NVDISASM).empty()) GTEST_SKIP() << "nvdisasm was not found: no machine code";
  EXPECT_THAT(forgets, HasSubstr("before the wait: LDG"));
  EXPECT_THAT(early, HasSubstr("before the wait: LDG"));
  EXPECT_THAT(on_one_way, HasSubstr("before the wait: STG"));
  EXPECT_THAT(atomic, HasSubstr("before the wait: RED"));
  EXPECT_THAT(copies, HasSubstr("before the wait: LDGSTS"));
}

// ---- every template

class EveryOverlappedTemplate : public OverlapCode, public testing::WithParamInterface<TemplateCase> {};

// The configs are dealt out to the architectures in turn.
TEST_P(EveryOverlappedTemplate, WaitsBeforeItTouchesMemory) {
  const auto& [op, tmpl] = GetParam();
  std::set<std::string> seen;
  std::vector<Variant> variants;
  for (const VariantCase& variant : test_variants(*op, *tmpl, random_configs(0), 1e8)) {
    const std::string target = targets_with_the_wait[variants.size() % targets_with_the_wait.size()];
    const auto config = overlapped(*tmpl, variant.problem, variant.config, variants.size() % 2 == 0);
    if (!config) continue;
    const Source source = render(*op, *tmpl, variant.problem, *config, target);
    std::vector<std::string> kernels;
    for (const Step& step : tmpl->work(variant.problem, *config).steps) {
      const auto* launch = std::get_if<Launch>(&step);
      if (launch != nullptr && launch->overlaps_previous) kernels.push_back(launch->kernel + source.suffix);
    }
    if (!kernels.empty() && seen.insert(source.hash).second)
      variants.push_back(
          {source.text, kernels, target, words_of(GetParam(), {variant.problem, *config}) + " " + target});
  }
  variants = sampled(std::move(variants), 6, [](const Variant& variant) { return variant.words; });
  ASSERT_GE(variants.size(), targets_with_the_wait.size());
  variants = in_turn(std::move(variants), 6, GetParam(), 4);
  const std::vector<std::string> found = faults(variants, random_configs(0) == all_configs);
  EXPECT_TRUE(found.empty()) << found.size() << " faults, the first: " << found.front();
  std::cout << op->name << "/" << tmpl->name << ": " << variants.size() << " variants\n";
}

// Before compute capability 9.0 there is no wait, and no overlap to wait for.
TEST_P(EveryOverlappedTemplate, HasNoWaitBeforeComputeCapability90) {
  const auto& [op, tmpl] = GetParam();
  if (tmpl->minimum_compute_capability >= 90) GTEST_SKIP() << "the template is for later ones";
  for (const Problem& problem : test_problems(*op, 1, 1e6)) {
    if (tmpl->refuses && !tmpl->refuses(problem).empty()) continue;
    const auto config = overlapped(*tmpl, problem, tmpl->space(problem).complete({}), true);
    if (!config) continue;
    const Compilation ptx = toolchain_->compile(render(*op, *tmpl, problem, *config, "compute_80"));
    ASSERT_TRUE(ptx.ok) << ptx.log;
    EXPECT_THAT(ptx.bytes, Not(HasSubstr("griddepcontrol")));
    return;
  }
  FAIL() << "no config of the test can be overlapped";
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOverlappedTemplate, testing::ValuesIn(overlapping_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });

}  // namespace
}  // namespace tunesmith
