// SPDX-License-Identifier: Apache-2.0
// Checks products in tensor cores on a device, of f16, bf16, i8 and u8 (UNIT=mma, wgmma) and of f32 by
// halves: every order of the operands' neighbours, odd sizes, packed operands, windows, batches, parts of K,
// a finish and other outputs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "tests/op_cases.h"
#include "tests/op_checker.h"

namespace tunesmith {

// Compiles variants of contract and runs each with every alteration of its numbers; all must be right.
inline void check_variants_of_contract(Device& device, const Toolchain& toolchain,
                                       const std::vector<VariantCase>& variants,
                                       const std::vector<Alteration>& alterations,
                                       const std::string& name = "contract") {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, name);
  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(op, tmpl, variant.problem, variant.config, device.facts().target));
  const std::vector<Compilation> compiled = compile_all(toolchain, sources);
  for (const Alteration& alter : alterations) {
    OpChecker checker(device, alter);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
      checker.check({&op, &tmpl}, compiled[i].bytes, sources[i].suffix, variants[i].problem,
                    variants[i].config, i % 3 == 0, i % 2 == 0);
    }
    EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
    EXPECT_EQ(checker.runs(), std::ssize(variants));
  }
}

// Checks each config on each line that it is legal for, and that it is legal for one. The dtypes take turns.
// The host emulates tensor cores slowly, so that the configs take turns from commit to commit there, and each
// has every second line, or `most`.
inline void check_units(Device& device, const Toolchain& toolchain, const std::vector<std::string>& lines,
                        const std::vector<std::string>& configs, const std::vector<std::string>& dtypes,
                        const Alteration& alter = nullptr, int most = std::numeric_limits<int>::max()) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const DeviceFacts& facts = device.facts();
  const bool is_host = facts.kind != DeviceKind::cuda, has_most = most < std::numeric_limits<int>::max();
  std::vector<VariantCase> variants;
  std::vector<int> taken(configs.size());
  std::vector<std::size_t> its(configs.size());
  std::iota(its.begin(), its.end(), std::size_t{0});
  if (is_host) its = in_turn(std::move(its), 12, {&op, &tmpl}, 4);
  for (const std::size_t n : its) {
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const std::size_t line = (5 * n + l) % lines.size();
      if (is_host && (has_most ? taken[n] == most : (line + n) % 2 == 1)) continue;
      const std::string& words = dtypes.at((line / 2 + n) % dtypes.size());
      const bool has_out = lines[line].find("out_dtype") != std::string::npos;
      const std::string dtype = has_out ? words.substr(0, words.find(' ')) : words;
      const Problem problem = complete_problem(op, Problem::parse(lines[line] + " dtype=" + dtype));
      const Space space = tmpl.space(problem, facts);
      const Values given = Values::parse(configs[n]);
      // Asynchronous copies need aligned neighbours, and two parts enough terms.
      if (const std::optional<Config> config = space.first(given)) {
        variants.push_back({problem, *config});
        ++taken[n];
      }
    }
  }
  for (const std::size_t n : its) EXPECT_GE(taken[n], 1) << configs[n];
  check_variants_of_contract(device, toolchain, variants, {alter});
}

// The same tile of bytes: of as many bytes, so of twice as many terms.
inline std::string of_bytes(const std::string& config) {
  static const std::regex tile("TILE_K=(\\d+)");
  std::smatch found;
  if (config.starts_with("UNIT=fma") || !std::regex_search(config, found, tile)) return config;
  return found.prefix().str() + "TILE_K=" + std::to_string(2 * std::stoi(found[1])) + found.suffix().str();
}

// `bytes`: of i8 and u8, else of f16 and bf16.
inline void check_matrix_units(Device& device, const Toolchain& toolchain, bool bytes) {
  const std::vector<std::string> lines = {
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=64 j=48 k=400",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=64 j=48 k=80",
      "expression=\"c[i,j] += a[k,i] * b[k,j]\" i=64 j=48 k=80",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=72 j=80 k=328",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=37 j=41 k=29",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=70 j=3 k=131",
      "expression=\"c[i] += a[i,k] * b[k]\" i=50 k=90",
      "expression=\"out[b,i,k] += x[b,i,j] * y[b,j,k]\" b=3 i=34 j=36 k=18 out_dtype=f32",
      "expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=8 y=6 x=8 c=4 i=3 j=3",
      "expression=\"out[n,o,y,x] += image[n,c,2*y+i,x+2*j] * w[o,c,i,j]\" n=2 o=5 y=4 x=9 c=13 i=3 j=2",
      "expression=\"out[n,o,y,x] += image[n,c,y+i-1,x+j-1] * w[o,c,i,j]\" zero_outside=image n=2 o=6 y=7 x=8 "
      "c=9 "
      "i=3 j=3 image=2x9x7x8",
      "expression=\"out[n,o,y,x] += image[n,c,2*y+i-2,2*x+3*j-4] * w[o,c,i,j]\" zero_outside=image n=1 o=3 "
      "y=5 x=6 c=16 "
      "i=5 j=3 image=1x16x9x10 finish=\"max(out + bias[o], 0)\"",
      "expression=\"out[n,y,x,o] += image[n,2*y+i,2*x+j,c] * w[i,j,c,o]\" n=2 o=16 y=5 x=4 c=8 i=3 j=3",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=40 j=24 k=33 finish=\"max(out + bias[j], 0)\"",
      "expression=\"out[a,b,j,c] += x[c,b,k,a] * y[k,j]\" a=20 b=3 c=24 j=12 k=18",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=48 j=80 k=336",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=40 j=52 k=400",
      "expression=\"c[i,j] += a[k,i] * b[k,j]\" i=132 j=140 k=148",
  };
  std::vector<std::string> configs = {
      "UNIT=mma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=3",
      "UNIT=mma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=16 TILE_K=64 STAGES=2 PACK=both",
      "UNIT=mma WARP_N=4 TILE_M=128 TILE_N=96 THREAD_M=8 THREAD_N=8 TILE_K=16 STAGES=4 PACK=first "
      "OUT_BY=rows",
      "UNIT=mma WARP_N=4 TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=1 OUT_BY=shared",
      "UNIT=mma WARP_N=4 TILE_M=96 TILE_N=128 THREAD_M=12 THREAD_N=8 TILE_K=32 STAGES=1 SPLIT=2",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=128 THREAD_M=2 THREAD_N=32 TILE_K=64 STAGES=3 PACK=both",
      "UNIT=wgmma WARP_N=4 TILE_M=128 TILE_N=64 THREAD_M=4 THREAD_N=16 TILE_K=64 STAGES=3 PACK=first "
      "OUT_BY=shared",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=256 THREAD_M=2 THREAD_N=64 TILE_K=64 STAGES=1 SPLIT=2",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=1 OUT_BY=rows",
      "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=16 STAGES=1 OUT_BY=rows",
      "UNIT=wgmma WARP_N=4 TILE_M=128 TILE_N=128 THREAD_M=4 THREAD_N=32 TILE_K=64 STAGES=1",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3 PACK=channels",
      "UNIT=mma WARP_N=4 TILE_M=32 TILE_N=64 THREAD_M=2 THREAD_N=8 TILE_K=32 STAGES=3 PACK=channels "
      "OUT_BY=shared",
      "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=16 STAGES=1 PACK=channels",
      "UNIT=wgmma WARP_N=4 TILE_M=128 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=64 STAGES=1",
      "UNIT=mma WARP_N=4 TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=1 LOAD_BY=pieces",
      "UNIT=mma WARP_N=4 TILE_M=64 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=1 LOAD_BY=pieces SPLIT=2 "
      "ADD_BY=last",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=1 LOAD_BY=pieces "
      "OUT_BY=rows",
      "UNIT=mma WARP_N=4 TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=1 SPLIT=4 ADD_BY=last",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3 LOAD_BY=boxes",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 LOAD_BY=boxes "
      "PACK=both OUT_BY=rows",
      "UNIT=wgmma WARP_N=4 TILE_M=128 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 LOAD_BY=boxes "
      "OUT_BY=boxes",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=3 LOAD_BY=boxes "
      "PACK=second SPLIT=2 ADD_BY=last",
      "UNIT=wgmma WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=4 LOAD_BY=boxes "
      "PACK=first OUT_BY=shared",
      "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=16 STAGES=1 SPLIT=2 ADD_BY=last",
  };
  const DeviceFacts& facts = device.facts();
  if (facts.kind == DeviceKind::cuda && facts.compute_capability != 90)
    std::erase_if(configs, [](const std::string& config) { return config.starts_with("UNIT=wgmma"); });
  if (facts.kind == DeviceKind::cuda && facts.compute_capability == 90) {  // the host has less shared memory
    configs.emplace_back(
        "UNIT=wgmma WARP_N=4 TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64 TILE_K=64 STAGES=4 PACK=both");
    configs.emplace_back(
        "UNIT=wgmma WARP_N=4 TILE_M=256 TILE_N=128 THREAD_M=4 THREAD_N=32 TILE_K=64 STAGES=3");
  }
  if (!bytes) return check_units(device, toolchain, lines, configs, {"f16", "bf16"});
  std::erase_if(configs,
                [](const std::string& config) { return config.find("pieces") != std::string::npos; });
  for (std::string& config : configs) config = of_bytes(config);
  check_units(device, toolchain, lines, configs, {"i8", "u8 out_dtype=i32", "u8", "i8 out_dtype=i32"},
              nullptr, 3);
}

// Operands that come as boxes: both ways in which each may stand, boxes that reach beyond the arrays,
// batches, parts of K, packed operands, each way out, a finish, and as many tiles as blocks take several of.
// Large ones are for GPUs alone.
inline void check_boxes(Device& device, const Toolchain& toolchain) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const DeviceFacts& facts = device.facts();
  const bool is_cuda = facts.kind == DeviceKind::cuda;
  const std::string thin = " TILE_M=64 TILE_N=32 THREAD_M=2 THREAD_N=8 ",
                    small = " TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 ",
                    high = " TILE_M=128 TILE_N=64 THREAD_M=2 THREAD_N=16 ",
                    wide = " TILE_M=64 TILE_N=128 THREAD_M=2 THREAD_N=32 ", of_16 = "TILE_K=64 ",
                    of_8 = "TILE_K=128 ";
  struct Case {
    std::string line, words, config;
    bool on_host = true;
  };
  std::vector<Case> cases = {
      {"c[i,j] += a[i,k] * b[k,j]", "i=200 j=144 k=264 dtype=f16", small + of_16 + "STAGES=3"},
      {"c[i,j] += a[i,k] * b[j,k]", "i=137 j=147 k=72 dtype=bf16", high + of_16 + "STAGES=2 OUT_BY=rows"},
      {"c[i,j] += a[k,i] * b[k,j]", "i=136 j=72 k=331 dtype=f16", high + of_16 + "STAGES=2 OUT_BY=boxes"},
      {"c[i,j] += a[k,i] * b[j,k]", "i=264 j=200 k=136 dtype=bf16", small + of_16 + "STAGES=2 OUT_BY=boxes"},
      {"c[i,j] += a[i,k] * b[k,j]", "i=77 j=141 k=203 dtype=f16",
       small + of_16 + "STAGES=3 PACK=both OUT_BY=rows"},
      {"c[i,j] += a[i,k] * b[j,k]", "i=65 j=24 k=1000 dtype=f16",
       thin + of_16 + "STAGES=6 SPLIT=8 ADD_BY=last"},
      {"c[i,j] += a[k,i] * b[k,j]", "i=64 j=80 k=520 dtype=bf16",
       small + of_16 + "STAGES=4 SPLIT=4 ADD_BY=launch"},
      {"c[b,i,j] += a[b,i,k] * d[b,k,j]", "b=5 i=70 j=72 k=80 dtype=f16 out_dtype=f32",
       small + of_16 + "STAGES=2 OUT_BY=boxes"},
      {"c[b,i,h,j] += a[h,i,b,k] * d[b,h,j,k]", "b=2 h=3 i=66 j=40 k=80 dtype=f16",
       small + of_16 + "STAGES=3"},
      {"c[i,j] += a[i,k] * b[k,j]", "i=70 j=136 k=96 dtype=f16 finish=\"max(out + bias[j] + other[i], 0)\"",
       wide + of_16 + "STAGES=2 OUT_BY=boxes"},
      {"c[i,j] += a[i,k] * b[k,j]", "i=70 j=136 k=96 dtype=f16 finish=\"out * scale[i,j]\"",
       wide + of_16 + "STAGES=2 OUT_BY=shared"},
      {"c[i,j] += a[i,k] * b[j,k]", "i=150 j=144 k=272 dtype=i8 out_dtype=i32",
       small + of_8 + "STAGES=3 OUT_BY=boxes"},
      {"c[i,j] += a[i,k] * b[k,j]", "i=81 j=67 k=301 dtype=u8", small + of_8 + "STAGES=3 PACK=both"},
      {"out[n,y,x,o] += image[n,y+i-1,x+j-1,c] * w[o,i,j,c]",
       "n=3 y=9 x=7 o=72 c=64 i=3 j=3 zero_outside=image dtype=bf16", high + of_16 + "STAGES=2 OUT_BY=boxes"},
      {"out[n,y,x,o] += image[n,2*y+i-1,3*x+j-2,c] * w[o,c,i,j]",
       "n=2 y=5 x=6 o=72 c=64 i=3 j=4 image=2x10x17x64 zero_outside=image dtype=f16",
       small + of_16 + "STAGES=3 PACK=second SPLIT=2 ADD_BY=launch"},
      {"out[n,o,y,x] += image[n,y+i-3,x+2*j,c] * w[o,c,i,j]",
       "n=2 y=9 x=8 o=40 c=64 i=4 j=2 image=2x7x13x64 zero_outside=image dtype=bf16",
       small + of_16 + "STAGES=3 PACK=first"},
      {"out[n,z,y,x,o] += image[n,z+h-1,2*y+i,x+j-1,c] * w[o,h,i,j,c]",
       "n=2 z=3 y=4 x=5 o=40 c=64 h=2 i=3 j=2 zero_outside=image dtype=f16", small + of_16 + "STAGES=4"},
      {"out[n,o,y,x] += image[n,c,y+i-1,x+j-2] * w[o,c,i,j]",
       "n=2 y=6 x=12 o=70 c=64 i=3 j=5 zero_outside=image dtype=f16",
       small + of_16 + "STAGES=2 PACK=channels"},
      {"out[n,o,y,x] += image[n,c,2*y+i-1,2*x+j-1] * w[o,c,i,j]",
       "n=2 y=5 x=6 o=40 c=64 i=3 j=3 image=2x64x9x11 zero_outside=image dtype=bf16",
       small + of_16 + "STAGES=3 PACK=channels OUT_BY=shared"},
      {"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]", "n=2 y=6 x=7 o=30 c=64 i=3 j=2 dtype=f16",
       small + of_16 + "STAGES=4 PACK=channels VECTOR_OUT=1"},
      {"out[n,y,x,o] += image[n,y+i,x+j,c] * w[o,i,j,c]",
       "n=2 y=11 x=13 o=40 c=128 i=2 j=3 dtype=f16 finish=\"max(out + rest[n,y,x,o] + bias[o], 0)\"",
       small + of_16 + "STAGES=3"},
      {"out[n,y,o] += image[n,y+i-2,c] * w[o,i,c]", "n=4 y=37 o=40 c=64 i=5 zero_outside=image dtype=bf16",
       small + of_16 + "STAGES=3 PACK=channels SPLIT=4 ADD_BY=last"},
      {"out[n,y,x,o] += image[n,y+i-1,x+j-1,c] * w[o,i,j,c]",
       "n=2 y=8 x=8 o=64 c=128 i=3 j=3 zero_outside=image dtype=i8 out_dtype=i32",
       small + of_8 + "STAGES=3 PACK=channels"},
      {"out[n,y,x,o] += image[n,y+2*i-2,x+j-1,c] * w[o,i,j,c]",
       "n=1 y=14 x=15 o=24 c=64 i=3 j=3 zero_outside=image dtype=f16",
       small + of_16 + "STAGES=3 PACK=channels"},
      {"out[n,o,y,x] += image[n,c,y+i-1,x+j-1] * w[o,c,i,j]",
       "n=8 y=28 x=28 o=136 c=192 i=3 j=3 zero_outside=image dtype=bf16",
       wide + of_16 + "STAGES=4 PACK=channels", false},
      {"out[n,y,x,o] += image[n,y+i-3,x+j-3,c] * w[o,i,j,c]",
       "n=5 y=33 x=30 o=128 c=64 i=7 j=7 zero_outside=image dtype=f16",
       high + of_16 + "STAGES=3 PACK=channels", false},
      {"c[i,j] += a[i,k] * b[k,j]", "i=500 j=392 k=264 dtype=bf16",
       wide + of_16 + "STAGES=4 OUT_BY=boxes BLOCK_ORDER=banded", false},
      {"c[i,j] += a[k,i] * b[j,k]", "i=2056 j=2000 k=136 dtype=bf16", wide + of_16 + "STAGES=3", false},
      {"c[i,j] += a[i,k] * b[k,j]", "i=901 j=1203 k=402 dtype=f16",
       wide + of_16 + "STAGES=3 PACK=both OUT_BY=rows", false},
      {"c[i,j] += a[i,k] * b[k,j]", "i=3000 j=2504 k=1096 dtype=bf16",
       " TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64 TILE_K=64 STAGES=4 OUT_BY=boxes", false},
  };
  std::vector<VariantCase> variants;
  for (const Case& one : cases) {
    if (!is_cuda && !one.on_host) continue;
    const Problem problem =
        complete_problem(op, Problem::parse("expression=\"" + one.line + "\" " + one.words));
    const Values config = Values::parse("UNIT=wgmma WARP_N=4 LOAD_BY=boxes " + one.config);
    variants.push_back({problem, tmpl.space(problem, facts).complete(config)});
  }
  check_variants_of_contract(device, toolchain, variants, {nullptr});
}

// The same of f32 by halves. `spread`: the sizes of the inputs are over 40 binades, so that most tiles are
// multiplied as floats.
inline void check_halves_units(Device& device, const Toolchain& toolchain, bool spread,
                               const std::string& accuracy = "full") {
  std::vector<std::string> lines = {
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=64 j=48 k=400",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[k,i] * b[k,j]\" i=64 j=48 k=112",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=72 j=80 k=328",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=37 j=41 k=77",
      "expression=\"c[i,j] += a[i,k] * b[j,k]\" i=137 j=141 k=203",
      "expression=\"c[i,j] += a[k,i] * b[j,k]\" i=70 j=3 k=131",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=34 j=38 k=110",
      "expression=\"c[i] += a[i,k] * b[k]\" i=50 k=90",
      "expression=\"out[b,i,k] += x[b,i,j] * y[b,j,k]\" b=3 i=34 j=106 k=18 out_dtype=f16",
      "expression=\"out[b,i,k] += x[i,j,b] * y[j,b,k]\" b=3 i=34 j=106 k=20",
      "expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=8 y=6 x=8 c=12 i=3 j=3",
      "expression=\"out[n,o,y,x] += image[n,c,2*y+i,x+2*j] * w[o,c,i,j]\" n=2 o=5 y=4 x=9 c=17 i=3 j=2",
      "expression=\"out[n,y,x,o] += image[n,2*y+i,2*x+j,c] * w[i,j,c,o]\" n=2 o=16 y=5 x=4 c=12 i=3 j=3",
      "expression=\"c[i,j] += a[i,k] * b[k,j]\" i=40 j=24 k=133 finish=\"max(out + bias[j], 0)\"",
      "expression=\"out[a,b] += x[a,k,l] * y[l,k,b]\" a=40 b=36 k=12 l=9",
      "expression=\"out[a,b,j,c] += x[c,b,k,a] * y[k,j]\" a=20 b=3 c=24 j=12 k=108",
  };
  std::vector<std::string> configs = {
      "UNIT=halves TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=1",
      "UNIT=halves TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=1 PACK=both",
      "UNIT=halves TILE_M=128 TILE_N=96 THREAD_M=8 THREAD_N=8 TILE_K=16 STAGES=1 PACK=first OUT_BY=rows",
      "UNIT=halves TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=1 OUT_BY=shared",
      "UNIT=halves TILE_M=96 TILE_N=128 THREAD_M=12 THREAD_N=8 TILE_K=32 STAGES=1 SPLIT=2",
      "UNIT=halves TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=16 STAGES=1 ORDER_K=second",
      "UNIT=packed_halves TILE_M=64 TILE_N=64 THREAD_M=4 THREAD_N=8 TILE_K=32 STAGES=3",
      "UNIT=packed_halves TILE_M=128 TILE_N=64 THREAD_M=8 THREAD_N=16 TILE_K=32 STAGES=2",
      "UNIT=packed_halves TILE_M=96 TILE_N=32 THREAD_M=12 THREAD_N=8 TILE_K=16 STAGES=4 SPLIT=2",
      "UNIT=packed_halves TILE_M=32 TILE_N=32 THREAD_M=4 THREAD_N=8 TILE_K=16 STAGES=2 ORDER_K=second "
      "OUT_BY=shared",
      "UNIT=wgmma_halves TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2",
      "UNIT=wgmma_halves TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 OUT_BY=shared",
      "UNIT=wgmma_halves TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 SPLIT=2",
      "UNIT=wgmma_halves TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 ORDER_K=second "
      "OUT_BY=rows",
      "UNIT=wgmma_halves TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 STAGES=2 SPLIT=2 ADD_BY=last",
  };
  const DeviceFacts& facts = device.facts();
  if (facts.kind == DeviceKind::cuda && facts.compute_capability != 90)
    std::erase_if(configs, [](const std::string& config) { return config.starts_with("UNIT=wgmma"); });
  if (facts.kind == DeviceKind::cuda && facts.compute_capability == 90) {  // the host has less shared memory
    for (const char* const large : {"TILE_M=128 TILE_N=256 THREAD_M=2 THREAD_N=64 STAGES=2",
                                    "TILE_M=256 TILE_N=128 THREAD_M=4 THREAD_N=32 STAGES=2 OUT_BY=rows",
                                    "TILE_M=128 TILE_N=128 THREAD_M=2 THREAD_N=32 STAGES=3 SPLIT=2",
                                    "TILE_M=128 TILE_N=64 THREAD_M=4 THREAD_N=16 STAGES=4 OUT_BY=shared"})
      configs.push_back("UNIT=wgmma_halves TILE_K=64 " + std::string(large));
  }
  for (std::string& config : configs) {
    config += " WARP_N=4 RESIDENT_WARPS=8";
    if (accuracy == "full") continue;
    config.replace(config.find("halves"), 6, "half");
    if (config.starts_with("UNIT=wgmma"))
      config = std::regex_replace(config, std::regex("STAGES=2"), "STAGES=3");
  }
  Alteration alter;
  if (spread) {
    alter = [](std::vector<std::vector<double>>& inputs) {
      Random random(7);
      for (std::vector<double>& input : inputs)
        for (double& x : input)
          x = static_cast<float>(std::ldexp(x, static_cast<int>(random.below(40)) - 20));
    };
  }
  for (std::string& line : lines) line += " accuracy=" + accuracy;
  check_units(device, toolchain, lines, configs, {"f32"}, alter);
}

// Products of factors that are functions of accesses, by each unit that their type has: neighbours of every
// order, odd sizes, functions that are not 0 of 0, batches, windows, a finish and other outputs. With scales
// that are infinite or no numbers nothing of a copy's zeros may come into a sum.
inline void check_factors(Device& device, const Toolchain& toolchain) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract_factors");
  const DeviceFacts& facts = device.facts();
  const std::string warp = " WARP_N=4 TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=8 ",
                    group = " WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=64 ",
                    group_of_bytes = " WARP_N=4 TILE_M=64 TILE_N=64 THREAD_M=2 THREAD_N=16 TILE_K=128 ";
  struct Case {
    std::string line, words, config;
  };
  const std::vector<Case> cases = {
      {"c[i,j] += max(a[i,k], 0) * b[k,j]", "i=37 j=41 k=29 dtype=f16", "UNIT=mma TILE_K=32 STAGES=3" + warp},
      {"c[i,j] += (a[k,i] > 0.5 ? a[k,i] : -1) * abs(b[j,k])", "i=72 j=43 k=69 dtype=bf16",
       "UNIT=wgmma STAGES=3 OUT_BY=rows" + group},
      {"c[i,j] += (a[i,k] == 0) * b[j,k]", "i=65 j=72 k=264 dtype=f16",
       "UNIT=wgmma STAGES=2 LOAD_BY=boxes" + group},
      {"c[b,i,j] += min(a[b,k,i], t[b]) * x[b,k,j]", "b=3 i=40 j=56 k=37 dtype=f16 out_dtype=f32",
       "UNIT=mma TILE_K=16 STAGES=1" + warp},
      {"out[n,o,y,x] += max(image[n,c,2*y+i,x+j], 0) * w[o,c,i,j]", "n=2 o=9 y=4 x=5 c=6 i=3 j=2 dtype=bf16",
       "UNIT=mma TILE_K=16 STAGES=1" + warp},
      {"c[i,j] += (a[i,k] - 8) * s[k] * b[k,j]", "i=66 j=70 k=131 dtype=f16",
       "UNIT=wgmma_halves STAGES=2 RESIDENT_WARPS=8" + group},
      {"c[i,j] += exp(a[i,k+1]) * (b[j,k] * s[j] + t[k])", "i=41 j=39 k=77 a=41x78 dtype=bf16 out_dtype=f32",
       "UNIT=packed_halves TILE_K=32 STAGES=2 RESIDENT_WARPS=8" + warp},
      {"c[i,j] += (a[i,k] + s[k]) * (b[k,j] * t[j])", "i=33 j=44 k=133 finish=\"max(out + u[j], 0)\"",
       "UNIT=halves TILE_K=16 STAGES=1 RESIDENT_WARPS=8" + warp},
      {"c[b,i,j] += cos(a[b,i,k]) * x[b,k,j]", "b=2 i=35 j=70 k=35",
       "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=16 STAGES=3 SPLIT=2"},
      {"c[i,j] += (a[i,k] - 128) * (b[j,k] - 128)", "i=70 j=65 k=150 dtype=u8 out_dtype=i32",
       "UNIT=wgmma STAGES=3" + group_of_bytes},
      {"c[i,j] += max(a[k,i], -3) * b[k,j]", "i=45 j=37 k=65 dtype=i8", "UNIT=mma TILE_K=64 STAGES=3" + warp},
      {"c[i,j] += (a[i,k] - 3) * b[k,j] * s[k]", "i=33 j=38 k=20 dtype=i8 out_dtype=i32",
       "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=16"},
      {"c[i,j] += max(a[i,40-k], 0) * b[k,l,j]", "i=33 j=40 k=41 l=3 dtype=f16",
       "UNIT=mma TILE_K=32 STAGES=1" + warp},
      {"c[i,j] += b[k,j] * a[k,i] * (s[k] + t[i])", "i=34 j=31 k=9 dtype=i64",
       "UNIT=fma TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=4 WARP_N=16 TILE_K=8"},
      {"c[i,j] += exp(-a[i,k]) * b[k,j]", "i=40 j=50 k=33 dtype=f64",
       "UNIT=tensor_core TILE_M=32 TILE_N=64 THREAD_M=4 THREAD_N=8 WARP_N=4 TILE_K=8"},
      {"c[i,j] += a[k,i] * b[k,j] * s[k]", "i=64 j=40 k=99 dtype=f16",
       "UNIT=wgmma_halves STAGES=2 RESIDENT_WARPS=8" + group},
  };
  std::vector<VariantCase> variants;
  for (const Case& one : cases) {
    const bool is_wgmma = one.config.starts_with("UNIT=wgmma"), is_fma = one.config.starts_with("UNIT=fma");
    if (facts.kind == DeviceKind::cuda &&
        (is_wgmma ? facts.compute_capability != 90 : !is_fma && facts.compute_capability < 80))
      continue;
    const Problem problem =
        complete_problem(op, Problem::parse("expression=\"" + one.line + "\" " + one.words));
    const std::optional<Config> config = tmpl.space(problem, facts).first(Values::parse(one.config));
    ASSERT_TRUE(config) << one.line << " " << one.config;
    variants.push_back({problem, *config});
  }
  if (facts.kind != DeviceKind::cuda) variants = in_turn(std::move(variants), 12, {&op, &tmpl}, 4);
  const Alteration hard_scales = [](std::vector<std::vector<double>>& inputs) {
    for (std::vector<double>& input : inputs) {
      if (input.size() < 20 || input.size() > 200) continue;
      input[5] = std::numeric_limits<double>::infinity();
      input[7] = std::numeric_limits<double>::quiet_NaN();
    }
  };
  std::vector<VariantCase> of_bytes = variants;
  const auto is_of_bytes = [](const VariantCase& variant) { return is_whole(dtype_of(variant.problem)); };
  std::erase_if(variants, is_of_bytes);
  std::erase_if(of_bytes, std::not_fn(is_of_bytes));
  check_variants_of_contract(device, toolchain, variants, {nullptr, hard_scales}, tmpl.name);
  check_variants_of_contract(device, toolchain, of_bytes, {nullptr}, tmpl.name);
}

// Sums of bytes that wrap, and the bytes of which products are largest.
inline void check_hard_bytes(Device& device, const Toolchain& toolchain) {
  const Op& op = find_op("tensor");
  const Template& tmpl = find_template(op, "contract");
  const DeviceFacts& facts = device.facts();
  for (const bool is_signed : {true, false}) {
    SCOPED_TRACE(is_signed ? "i8" : "u8");
    const std::string problem =
        " i=9 j=18 k=131104 out_dtype=i32 dtype=" + std::string(is_signed ? "i8" : "u8");
    std::vector<VariantCase> variants;
    const auto add = [&](const std::string& line, const std::string& config) {
      const Problem its = complete_problem(op, Problem::parse("expression=\"" + line + "\"" + problem));
      variants.push_back({its, tmpl.space(its, facts).complete(Values::parse("WARP_N=4 " + config))});
    };
    const std::string mma = "UNIT=mma TILE_M=16 TILE_N=32 THREAD_M=2 THREAD_N=8 TILE_K=64 ";
    add("c[i,j] += a[k,i] * b[k,j]", mma + "STAGES=1");
    add("c[i,j] += a[i,k] * b[k,j]", mma + "STAGES=1 SPLIT=4");
    add("c[i,j] += a[i,k] * b[j,k]", mma + "STAGES=3");
    if (facts.kind != DeviceKind::cuda || facts.compute_capability == 90)
      add("c[i,j] += a[i,k] * b[j,k]",
          "UNIT=wgmma TILE_M=64 TILE_N=32 THREAD_M=2 THREAD_N=8 TILE_K=128 STAGES=3");
    if (facts.kind != DeviceKind::cuda) variants = in_turn(std::move(variants), 4, {&op, &tmpl});
    // Products of the largest sizes alone, whose sums go beyond 2^31, and of two sizes.
    std::vector<Alteration> alterations;
    for (const bool is_mixed : {false, true}) {
      const double low = is_signed ? -128 : 255, high = !is_mixed ? low : is_signed ? 127 : 254;
      alterations.emplace_back([=](std::vector<std::vector<double>>& inputs) {
        Random random(5);
        for (std::vector<double>& each : inputs)
          for (double& number : each) number = random.below(2) == 0 ? high : low;
      });
    }
    check_variants_of_contract(device, toolchain, variants, alterations);
  }
}

}  // namespace tunesmith
