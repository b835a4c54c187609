// SPDX-License-Identifier: Apache-2.0
// Says how much slower than the chosen variant what starts at once is, by the expected times of the tables in
// generated/: on drawn problems, with the kernels that the build packs. docs/choosing.md has its figures.
//
//   first_launches [GENERATED_FOLDER [SEED [PROBLEMS [OP …]]]]
#include "choose/first_launches.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "bench/generated_folder.h"
#include "choose/launch_set.h"
#include "choose/packed_variants.h"
#include "choose/select.h"
#include "choose/winners_file.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "generator/sample.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

using Keys = std::set<std::string>;

// The kernels that the build packs for the table's device, by key_of.
Keys packed_keys(const std::vector<WinnersFileRow>& winners, const std::vector<DeviceTable>& tables,
                 const DeviceFacts& device, std::map<std::string, std::vector<PackedVariant>>& by_template) {
  Keys keys;
  const auto add = [&](const PackedVariant& one) {
    if (keys.insert(key_of(one.spec())).second)
      by_template[one.op->name + "/" + one.tmpl->name].push_back(one);
  };
  for (const Op& op : ops())
    for (const PackedVariant& base : bases_of(op)) add(base);
  for (const WinnersFileRow& row : winners) {
    if (row.winner.device.target != device.target) continue;
    const Op& op = find_op(row.winner.op);
    const Template& tmpl = find_template(op, row.winner.template_name);
    const Problem problem = complete_problem(op, row.winner.problem);
    add({&op, &tmpl, problem, tmpl.space(problem, row.winner.device).legal(row.winner.config)});
  }
  std::map<std::string, std::size_t> counts;
  const std::vector<PackedVariant> all = first_launches_of(device, tables, [](const Op&) { return true; });
  for (const PackedVariant& one : all) {
    if (!keys.contains(key_of(one.spec()))) ++counts[one.op->name];
    add(one);
  }
  std::printf("packed for first launches: %zu;", keys.size());
  for (const auto& [op, count] : counts) std::printf(" %s %zu", op.c_str(), count);
  std::printf("\n");
  return keys;
}

// How much slower what starts is than the chosen variant, on some problems: logarithms.
struct Losses {
  std::vector<double> all;

  static bool is_slow(double loss) { return loss > std::log(1.5); }
  std::string text() const {
    const double sum = std::accumulate(all.begin(), all.end(), 0.0);
    return printed("%.3f times, %td of %zu above 1.5", std::exp(sum / static_cast<double>(all.size())),
                   std::count_if(all.begin(), all.end(), is_slow), all.size());
  }
};

}  // namespace
}  // namespace tunesmith

int main(int argc, char** argv) {
  using namespace tunesmith;
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "generated";
    const auto seed = argc > 2 ? static_cast<std::uint64_t>(std::stoll(argv[2])) : 20261125;
    const auto most = argc > 3 ? static_cast<std::size_t>(std::stoll(argv[3])) : 24;
    const std::vector<std::string> wanted(argv + std::min(argc, 4), argv + argc);
    const GeneratedFolder file(folder);
    const std::vector<DeviceTable> tables = read_timing_tables(file, ops());
    const std::vector<WinnersFileRow> winners = read_winners(file);
    std::map<std::string, std::vector<PackedVariant>> by_template;
    const DeviceFacts device = tables.back().device;
    const Keys keys = packed_keys(winners, tables, device, by_template);
    Losses of_all;
    for (const DeviceTable& read : tables) {
      const Op& op = find_op(read.table.op);
      if (!same_model(read.device, device)) continue;
      if (!wanted.empty() && std::ranges::find(wanted, op.name) == wanted.end()) continue;
      const std::vector<Candidate> candidates = candidates_of(read);
      const Chooser chooser(op, read.device, candidates);
      ReadyConfigs ready;
      std::vector<PackedVariant> its;
      for (const auto& [name, variants] : by_template)
        its.insert(its.end(), variants.begin(), variants.end());
      read_ready_configs(write_ready_configs(op, its), ready);
      Losses losses;
      std::size_t untuned_instead = 0;
      for (const Problem& problem : sample_problems(op, 20 * most, seed)) {
        if (losses.all.size() + untuned_instead == most) break;
        if (has_own_text(op, problem)) continue;
        Choices choices(chooser, problem, true);
        const auto is_there = [&](const LaunchKernel& kernel) {
          return keys.contains(key_of({op, *kernel.tmpl, problem, kernel.config}));
        };
        const Choice* const best = choices.at(0);
        if (best == nullptr) continue;
        const double least = best->cautious;
        const std::string chosen =
            candidates[best->candidate].template_name + " " + candidates[best->candidate].config.text();
        const auto started = first_kernel(op, choices, problem, read.device, {}, is_there, ready);
        if (!started) continue;
        if (!started->choice) {
          ++untuned_instead;
          continue;
        }
        const double loss = losses.all.emplace_back(started->choice->cautious - least);
        if (!Losses::is_slow(loss)) continue;
        std::size_t same = 0, legal = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(started->place, 8) && choices.at(i) != nullptr;
             ++i) {
          const Template& tmpl = find_template(op, candidates[choices.at(i)->candidate].template_name);
          const std::string constants = compiled_in(op, tmpl, problem).text();
          const Space space = tmpl.space(problem, read.device);
          for (const PackedVariant& one : by_template[op.name + "/" + tmpl.name]) {
            if (compiled_in(op, tmpl, one.problem).text() != constants) continue;
            ++same;
            if (space.find(one.config.values())) ++legal;
          }
        }
        std::printf("  %.2f times: %s at place %zu instead of %s; packed %zu, legal %zu; %s\n",
                    std::exp(loss), started->tmpl->name.c_str(), started->place, chosen.c_str(), same, legal,
                    shown_problem(op.name, problem).c_str());
      }
      const double worst = losses.all.empty() ? 0 : std::ranges::max(losses.all);
      std::printf("%-16s %s, worst %.2f, %zu by default configs\n", op.name.c_str(), losses.text().c_str(),
                  std::exp(worst), untuned_instead);
      of_all.all.insert(of_all.all.end(), losses.all.begin(), losses.all.end());
    }
    std::printf("all: %s\n", of_all.text().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "first_launches: %s\n", error.what());
    return 1;
  }
}
