// SPDX-License-Identifier: Apache-2.0
// Says how good tables of generated/ are, from their own times: the anchors are split into ten parts, and
// each part is answered from the times of the others alone. docs/choosing.md has its figures.
//
//   left_out [GENERATED_FOLDER [OP …]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/generated_folder.h"
#include "choose/nearest.h"
#include "choose/select.h"
#include "choose/timing_table.h"
#include "choose/winners_file.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

constexpr std::size_t parts = 10;

// The best time over a variant's, each at most 1.
class Shares {
 public:
  void add(double share) { shares_.push_back(share); }
  std::string text() {
    if (shares_.empty()) return "     –";
    std::sort(shares_.begin(), shares_.end());
    double logarithms = 0;
    for (const double share : shares_) logarithms += std::log(share);
    char text[80];
    std::snprintf(text, sizeof text, "%.3f  p5 %.2f  worst %.2f (%zu)",
                  std::exp(logarithms / static_cast<double>(shares_.size())), shares_[shares_.size() / 20],
                  shares_.front(), shares_.size());
    return text;
  }

 private:
  std::vector<double> shares_;
};

void tell(const DeviceTable& whole, bool tells_losers) {
  const Op& op = find_op(whole.table.op);
  Shares chosen, guessed, of_portfolio;
  std::size_t missing = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    DeviceTable others{whole.device, whole.table};
    others.table.anchors.clear();
    std::vector<TimingTable::Anchor> left_out;
    for (std::size_t n = 0; n < whole.table.anchors.size(); ++n)
      (n % parts == part ? left_out : others.table.anchors).push_back(whole.table.anchors[n]);
    forget_factors(others.table);
    const std::vector<Candidate> candidates = candidates_of(others);
    const Chooser chooser(op, whole.device, candidates);
    for (const TimingTable::Anchor& anchor : left_out) {
      double best = 0;
      for (const double us : anchor.us)
        if (us > 0 && (best == 0 || us < best)) best = us;
      if (best == 0) continue;
      of_portfolio.add(std::min(1.0, anchor.best_us / best));
      Choices choices(chooser, anchor.problem, true);
      double guess = 0;  // of the guesses one alone has a time on an anchor
      for (std::size_t v = 0; v < whole.table.variants.size(); ++v)
        if (is_guess(op, whole.table.variants[v].template_name, whole.table.variants[v].config))
          guess = std::max(guess, anchor.us[v]);
      if (guess > 0) guessed.add(std::min(1.0, anchor.best_us / guess));
      const Choice* const choice = choices.at(0);
      const double us = choice == nullptr ? guess : anchor.us[choice->candidate];
      if (us == 0) {
        ++missing;
        continue;
      }
      chosen.add(std::min(1.0, anchor.best_us / us));
      if (tells_losers && us > 1.25 * anchor.best_us) {
        const std::string picked = choice == nullptr ? "the guess"
                                                     : candidates[choice->candidate].template_name + " " +
                                                           candidates[choice->candidate].config.text();
        std::printf("  %.2f (guess %.2f) %s: %s\n", anchor.best_us / us,
                    guess > 0 ? anchor.best_us / guess : 0, picked.c_str(),
                    shown_problem(op.name, anchor.problem).c_str());
      }
    }
  }
  std::printf("%-16s chosen %s | guess %s | portfolio %s | %zu of another time\n", op.name.c_str(),
              chosen.text().c_str(), guessed.text().c_str(), of_portfolio.text().c_str(), missing);
}

}  // namespace
}  // namespace tunesmith

int main(int argc, char** argv) {
  using namespace tunesmith;
  try {
    const std::filesystem::path folder = argc > 1 ? argv[1] : "generated";
    const GeneratedFolder file(folder);
    const std::vector<std::string> wanted(argv + std::min(argc, 2), argv + argc);
    for (const DeviceTable& table : read_timing_tables(file, ops()))
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), table.table.op) != wanted.end())
        tell(table, !wanted.empty());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "left_out: %s\n", error.what());
    return 1;
  }
}
