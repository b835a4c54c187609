// SPDX-License-Identifier: Apache-2.0
// Tests the files that the build packs into the library, for the ops that it ships.
#include "dispatch/packed.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "choose/launch_set.h"
#include "choose/packed_variants.h"
#include "choose/ready_configs.h"
#include "choose/winners_file.h"
#include "cli/export.h"
#include "db/device_row.h"
#include "db/store.h"
#include "dispatch/tuning_data.h"
#include "generator/ops.h"
#include "generator/sample.h"
#include "generator/target.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"
#include "runtime/toolchain.h"
#include "tests/source_folder.h"

namespace tunesmith {
namespace {

const std::filesystem::path generated = std::filesystem::path(source_folder) / "generated";

// The files of generated/, with the factors of its tables that the library has.
std::string generated_or_packed(std::string_view name) {
  return name.ends_with(".factors") ? packed(name) : read_file(generated / name);
}

// True if this is a build that only names its portfolios and a part of its bases, and it names the kernel.
bool is_named(const Source& source) {
  if (std::string_view(PORTFOLIOS) != "named") return false;
  static const std::set<std::string> named = [] {
    std::istringstream lines(read_file(PORTFOLIO_NAMES));
    return std::set<std::string>(std::istream_iterator<std::string>(lines), {});
  }();
  return std::ranges::any_of(targets_that_run_on(source.target), [&](const std::string& target) {
    return named.contains(packed_name(target, source.hash));
  });
}

#ifdef TUNESMITH_WITH_CUDA
// True if the library has a kernel; in a build that only names it, if it would have it: one in 16 is
// compiled here, chosen by its hash, and all were compiled when they were measured.
bool is_packed(const Source& source) {
  if (!packed_binary_name(source.target, source.hash).empty()) return true;
  if (!is_named(source)) return false;
  static std::map<std::string, bool> compiled;
  const std::string name = packed_name(source.target, source.hash);
  if (name.back() != '0') return true;
  if (const auto before = compiled.find(name); before != compiled.end()) return before->second;
  static const std::unique_ptr<Toolchain> toolchain = make_toolchain(source.target);
  return compiled[name] = toolchain->compile(source).ok;
}
#endif

// The committed files of generated/ have the texts that the templates render.
TEST(Generated, RendersExactly) { EXPECT_EQ(check_exported(generated), std::vector<std::string>()); }

// Dispatch leaves a stale variant out, and the library loses the gain that it promised: the template has
// changed since the table was measured. Measure it again (table fill) and export, or make the change in a way
// that leaves the code as it was.
TEST(Generated, NoVariantOfATableIsStale) {
  std::size_t variants = 0;
  for (const DeviceTable& table : read_timing_tables(generated_or_packed, ops())) {
    for (const Candidate& candidate : candidates_of(table)) {
      ++variants;
      EXPECT_EQ(candidate.fault, "") << candidate.op << "/" << candidate.template_name << " "
                                     << candidate.config.text() << " on " << table.device.name;
    }
  }
  EXPECT_GT(variants, 100U);
}

TEST(Packed, EachFileIsWhole) {
  std::set<std::string_view> blocks;
  for (const PackedFile& file : packed_files()) {
    const std::string content = content_of(file);
    EXPECT_EQ(content.size(), file.size) << file.name;
    const bool is_kernel = file.name.find('/') != std::string_view::npos;
    if (is_kernel) blocks.insert(file.bytes);
    const bool is_code = is_kernel && !file.name.starts_with("compute_");  // and no PTX
    EXPECT_TRUE(!is_code || content.starts_with("\x7f"
                                                "ELF"))
        << file.name;
    EXPECT_FALSE(content.empty()) << file.name;
  }
  EXPECT_LT(5 * blocks.size(), packed_files().size()) << "kernels are not compressed together";
}

TEST(Packed, ADamagedBlockIsSaid) {
  const auto kernel = std::ranges::find_if(
      packed_files(), [](const PackedFile& file) { return file.name.starts_with("host/"); });
  ASSERT_NE(kernel, packed_files().end());
  const auto says = [](const PackedFile& file) {
    try {
      static_cast<void>(content_of(file));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string sentence = "The library's file " + std::string(kernel->name) +
                               " cannot be uncompressed, so the library is damaged: install it again.";
  PackedFile damaged = *kernel;
  damaged.bytes.remove_suffix(1);
  EXPECT_EQ(says(damaged), sentence);
  damaged.bytes = "no block";
  EXPECT_EQ(says(damaged), sentence);
  damaged = *kernel;
  damaged.offset = std::size_t{1} << 40;
  EXPECT_EQ(says(damaged), sentence);
  EXPECT_EQ(says(*kernel), "nothing");
}

// No application has to solve a shipped table: the library has factors of exactly its times, with this
// version's model.
TEST(Packed, HasTheFactorsOfItsTables) {
  const auto file = [](std::string_view name) { return packed(name); };
  std::size_t anchors = 0;
  for (const DeviceTable& read : read_timing_tables(file, ops())) {
    EXPECT_EQ(read.table.solved_from, solution_key(find_op(read.table.op), read.table)) << read.table.op;
    EXPECT_TRUE(is_fitted(read.table.weights)) << read.table.op;
    anchors += read.table.anchors.size();
    TimingTable changed = read.table;
    changed.anchors.back().us.back() += 1;
    EXPECT_NE(read.table.solved_from, solution_key(find_op(read.table.op), changed)) << read.table.op;
  }
  EXPECT_GT(anchors, 300u);
}

#ifdef TUNESMITH_WITH_CUDA
// True if this build has kernels for the target: its own, or for sm_86 and sm_89 those for sm_80.
bool is_packed_for(const std::string& target) {
  const std::string targets = "," PACK_TARGETS ",";
  const auto has = [&](const std::string& name) {
    return targets.find("," + name + ",") != std::string::npos;
  };
  return has(target) || ((target == "sm_86" || target == "sm_89") && has("sm_80"));
}
#endif

// Each op's base is in the library for every word that it compiles in, for all sizes.
TEST(Packed, HasTheBases) {
  int found = 0;
  for (const Op& op : ops()) {
    const Template& base = op.templates.front();
    for (const std::string& example : op.examples) {
      const Problem problem = complete_problem(op, Problem::parse(example));
      const bool known = std::all_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& p) {
        return !p.refuses_text || !compiled_in(op, base, problem).has(p.name) ||
               std::find(p.categories.begin(), p.categories.end(), problem.string(p.name)) !=
                   p.categories.end();
      });
      if (!known) continue;  // a user's expression
      const auto expect_packed = [&](const std::string& target) {
        const Source source = render(op, base, problem, base_config(op, problem), target);
        EXPECT_TRUE(!packed_binary_name(target, source.hash).empty() || is_named(source))
            << op.name << " " << target << " " << example;
        ++found;
      };
      expect_packed("host");
#ifdef TUNESMITH_WITH_CUDA
      for (const char* target :
           {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100f", "sm_120f", "compute_75"}) {
        if (is_packed_for(target)) expect_packed(target);
      }
#endif
    }
  }
  EXPECT_GT(found, 20);
}

#ifdef TUNESMITH_WITH_CUDA
TEST(Packed, AnEarlierGpusBinaryServesLaterOnesOfItsMajorCapability) {
  if (!is_packed_for("sm_80")) GTEST_SKIP() << "this build packs kernels for " PACK_TARGETS " alone";
  const std::vector<PackedVariant> bases = bases_of(find_op("transpose"));
  const auto source = [](const PackedVariant& base, const char* target) {
    return render(*base.op, *base.tmpl, base.problem, base.config, target);
  };
  const auto base = std::ranges::find_if(bases, [&](const PackedVariant& one) {
    return !packed_binary_name("sm_80", source(one, "sm_80").hash).empty();
  });
  ASSERT_NE(base, bases.end()) << "no base of transpose has its turn in this build";
  const auto hash = [&](const char* target) { return source(*base, target).hash; };
  const std::string of_80 = packed_name("sm_80", hash("sm_80"));
  EXPECT_EQ(packed_binary_name("sm_80", hash("sm_80")), of_80);
  EXPECT_EQ(packed_binary_name("sm_89", hash("sm_89")), of_80);
  EXPECT_TRUE(packed_binary_name("sm_72", hash("sm_72")).empty()) << "earlier than any";
  EXPECT_TRUE(packed_binary_name("sm_90", hash("sm_90")).empty()) << "sm_90a is for 9.0 alone";
}
#endif

TEST(Packed, AFamilysBinaryServesItsGpus) {
  const auto runs = [](const char* code, const char* gpu) {
    const std::vector<std::string> targets = targets_that_run_on(gpu);
    return std::find(targets.begin(), targets.end(), code) != targets.end();
  };
  for (const auto& [family, gpus] :
       {std::pair<const char*, std::vector<const char*>>{"sm_100f", {"sm_100a", "sm_103a", "sm_103"}},
        {"sm_110f", {"sm_110a"}},
        {"sm_120f", {"sm_120a", "sm_121a", "sm_121"}}})
    for (const char* gpu : gpus) EXPECT_TRUE(runs(family, gpu)) << family << " on " << gpu;
  EXPECT_TRUE(runs("sm_80", "sm_86"));
  EXPECT_TRUE(runs("sm_90", "sm_90a"));
  for (const auto& [code, gpu] : {std::pair("sm_103f", "sm_100a"),
                                  {"sm_100f", "sm_110a"},
                                  {"sm_100a", "sm_103a"},
                                  {"sm_90a", "sm_90"},
                                  {"sm_86", "sm_80"},
                                  {"sm_80", "sm_90a"},
                                  {"sm_120f", "host"}})
    EXPECT_FALSE(runs(code, gpu)) << code << " on " << gpu;
  EXPECT_EQ(targets_that_run_on("sm_103a"),
            (std::vector<std::string>{"sm_103a", "sm_103f", "sm_103", "sm_102f", "sm_102", "sm_101f",
                                      "sm_101", "sm_100f", "sm_100"}));
  EXPECT_EQ(targets_that_run_on("host"), std::vector<std::string>{"host"});
}

#ifdef TUNESMITH_WITH_CUDA
// For any layout in which the inputs of an elementwise function repeat, the library has a kernel besides the
// base.
TEST(Packed, StartsEveryFunctionForEveryLayout) {
  const Op& op = find_op("elementwise");
  // The targets that this build packs portfolios for, or all, or named.
  const std::string portfolios = PORTFOLIOS;
  std::vector<std::string> targets;
  for (const char* target : {"sm_75", "sm_80", "sm_86", "sm_90a", "sm_100f", "sm_120f"})
    if (is_packed_for(target) && (portfolios == "all" || portfolios.find(target) != std::string::npos))
      targets.emplace_back(target);
  if (portfolios == "named") targets = {"sm_90a"};
  if (targets.empty()) GTEST_SKIP() << "this build packs portfolios for " << portfolios << " alone";
  std::size_t found = 0;
  for (const Problem& its : with_each_category(op, {"function", "dtype"})) {
    for (const char* layout : {"shape=30x40x50 a=30x1x50", "shape=2x3x4x5x6x7 a=3x1x5x1x7:105x9x7x9x1"}) {
      Problem problem = Problem::parse(layout);
      for (const char* name : {"function", "dtype"}) problem.set(name, *its.find(name));
      problem = complete_problem(op, problem);
      for (const std::string& target : targets) {
        DeviceFacts device = facts_of_capability(Target::parse(target)->compute_capability);
        device.target = target;
        const std::vector<UntunedVariant> guesses = untuned(op, problem, device);
        EXPECT_TRUE(std::any_of(guesses.begin(), guesses.end(),
                                [&](const UntunedVariant& guess) {
                                  return is_packed(render(op, *guess.tmpl, problem, guess.config, target));
                                }))
            << target << " " << problem.text();
        ++found;
      }
    }
  }
  EXPECT_EQ(found, 18 * 2 * targets.size());
}
#endif

// The limits of a histogram: a winner was tuned with some limits, and serves all.
TEST(Generated, WhatEachLaunchIsGivenDecidesNothing) {
  const Op& op = find_op("histogram");
  std::vector<Candidate> candidates;
  for (const WinnersFileRow& row :
       read_winners([](std::string_view name) { return read_file(generated / name); })) {
    if (row.winner.op != op.name || row.winner.conditions.caches == Caches::cold) continue;
    candidates.push_back(row.winner);
    candidates.back().problem = complete_problem(op, row.winner.problem);
  }
  ASSERT_FALSE(candidates.empty());
  const Chooser chooser(op, candidates.front().device, candidates);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    Problem problem = candidates[c].problem;
    problem.set("lo", "0.125");
    problem.set("hi", "1000");
    const std::vector<Choice> choices = chooser.rank(problem);
    EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const Choice& choice) {
      return choice.candidate == c && choice.match == Match::exact;
    })) << problem.text();
  }
}

// A measurement on a problem is not overruled: of the variants of a table that are legal on an anchor,
// dispatch takes none that is known to be 1.5 times slower than another one.
TEST(Generated, NoChoiceIsKnownToBeSlow) {
  std::size_t anchors = 0;
  std::size_t not_measured = 0;
  for (const DeviceTable& read : read_timing_tables(generated_or_packed, ops())) {
    const Op& op = find_op(read.table.op);
    const std::vector<Candidate> candidates = candidates_of(read);
    const Chooser chooser(op, read.device, candidates);
    for (const TimingTable::Anchor& anchor : read.table.anchors) {
      const Problem problem = complete_problem(op, anchor.problem);
      Choices choices(chooser, problem, true);
      const Choice* first = choices.at(0);
      ASSERT_NE(first, nullptr) << problem.text();
      const auto us = [&](std::size_t candidate) { return anchor.us[candidate]; };
      ++anchors;
      if (us(first->candidate) == 0) {  // it promises more than all variants that were measured here
        ++not_measured;
        continue;
      }
      double least = us(first->candidate);
      for (std::size_t v = 0; v < candidates.size(); ++v)
        if (candidates[v].fault.empty() && us(v) > 0) least = std::min(least, us(v));
      EXPECT_LE(us(first->candidate), 1.5 * least) << op.name << " " << problem.text();
    }
  }
  EXPECT_GT(anchors, 300u);
  EXPECT_LT(not_measured, anchors / 20);
}

#ifdef TUNESMITH_WITH_CUDA
// If nothing may be compiled, a problem starts with the best kernel that is in the library. This measures, on
// drawn problems and by expected times, how much slower it is than the best choice. A default config, whose
// time no table has, is not counted. Most filter banks and rank filters begin with their base, because the
// fast kernels have a window's size compiled in (docs/choosing.md).
TEST(Packed, FirstLaunchesAreNearlyAsFastAsTheChosenKernel) {
  const auto file = [](std::string_view name) { return packed(name); };
  const auto times = [](const std::vector<double>& losses) {
    return std::exp(std::accumulate(losses.begin(), losses.end(), 0.0) /
                    static_cast<double>(std::max<std::size_t>(losses.size(), 1)));
  };
  const auto slow = [](const std::vector<double>& losses) {
    return std::count_if(losses.begin(), losses.end(), [](double loss) { return loss > std::log(1.5); });
  };
  std::vector<double> all;  // logarithms
  for (const DeviceTable& read : read_timing_tables(file, ops())) {
    const Op& op = find_op(read.table.op);
    const std::vector<Candidate> candidates = candidates_of(read);
    const Chooser chooser(op, read.device, candidates);
    const ReadyConfigs ready = packed_configs(op, read.device.target);
    std::vector<double> losses;
    for (const Problem& problem : sample_problems(op, 24, 20261125)) {
      if (has_own_text(op, problem)) continue;
      Choices choices(chooser, problem, true);
      const Choice* const best = choices.at(0);
      if (best == nullptr) continue;
      const double least = best->cautious;
      const auto is_there = [&](const LaunchKernel& kernel) {
        const bool is = is_packed(render(op, *kernel.tmpl, problem, kernel.config, read.device.target));
        EXPECT_TRUE(is || kernel.reason != LaunchKernel::Reason::stand_in)
            << kernel.tmpl->name << " " << kernel.config.text() << " is listed and not packed.";
        return is;
      };
      const auto first = first_kernel(op, choices, problem, read.device, {}, is_there, ready);
      if (!first || !first->choice) continue;
      losses.push_back(first->choice->cautious - least);
      if (losses.back() > std::log(1.5))
        std::printf("  %.2f times, %s: %s\n", std::exp(losses.back()), first->tmpl->name.c_str(),
                    problem.text().c_str());
    }
    std::printf("%s on %s: %.3f times, %td of %zu above 1.5\n", op.name.c_str(), read.device.name.c_str(),
                times(losses), slow(losses), losses.size());
    all.insert(all.end(), losses.begin(), losses.end());
  }
  ASSERT_GT(all.size(), 100u);
  std::printf("%zu problems: %.3f times, %td above 1.5\n", all.size(), times(all), slow(all));
  EXPECT_LE(times(all), 1.36);
  EXPECT_LE(static_cast<double>(slow(all)), 0.22 * static_cast<double>(all.size()));
}
#endif

// A table that was made here replaces the shipped one; a table of few problems is used beside it.
TEST(Packed, ATableOfTheDatabaseReplacesTheShippedOne) {
  const auto file = [](std::string_view name) { return packed(name); };
  const std::vector<DeviceTable> shipped = read_timing_tables(file, ops());
  ASSERT_FALSE(shipped.empty());
  ASSERT_GT(shipped.front().table.anchors.size(), 220u);
  enum class Own { large, small, newer };
  for (const Own kind : {Own::large, Own::small, Own::newer}) {
    const bool is_small = kind == Own::small;
    DeviceTable own = shipped.front();
    if (is_small) own.table.anchors.resize(110);
    if (kind == Own::newer) {  // a table of half as many anchors, with a template that the shipped one lacks
      own.table.anchors.resize(110);
      own.table.variants.front().template_name = "newer";
    }
    std::string folder = (std::filesystem::path(testing::TempDir()) / "tunesmith_table_XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string database = folder + "/own.db";
    {
      Store store = Store::open(database, Store::Mode::create);
      const std::int64_t device = store.id_of(row_of(own.device));
      const StoredTable stored = stored_table(own.device, own.table);
      store.put_anchor_table({.session_id = store.begin_session({.device_id = device}),
                              .device_id = device,
                              .op = own.table.op,
                              .text = stored.text,
                              .factors = stored.factors});
    }
    const std::vector<Candidate> known =
        candidates_of(read_tuning_data({.database = database, .device = own.device}), own.table.op);
    const auto count = [&](Candidate::Origin origin) {
      return std::count_if(known.begin(), known.end(), [&](const Candidate& one) {
        return one.problem.empty() && one.origin == origin && same_model(one.device, own.device);
      });
    };
    const auto variants = static_cast<std::ptrdiff_t>(own.table.variants.size());
    EXPECT_EQ(count(Candidate::Origin::database), variants);
    EXPECT_EQ(count(Candidate::Origin::built_in), is_small ? variants : 0);
    std::filesystem::remove_all(folder);
  }
}

}  // namespace
}  // namespace tunesmith
