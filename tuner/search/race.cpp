// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/race.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace tunesmith {
namespace {

// A contender that is this much slower in each of this many rounds is beyond the noise between loads.
constexpr double far_slower = 1.1;
constexpr int far_slower_rounds = 3;

bool may_take_part(const Contender& contender, std::int64_t most_alignment_bytes) {
  return contender.may_win &&
         (most_alignment_bytes == 0 || contender.alignment_bytes <= most_alignment_bytes);
}

bool always_far_slower(const std::vector<double>& us, const std::vector<double>& best_us) {
  int rounds = 0;
  for (std::size_t i = 0; i < std::min(us.size(), best_us.size()); ++i) {
    if (us[i] <= 0 || best_us[i] <= 0) continue;
    if (us[i] < far_slower * best_us[i]) return false;
    ++rounds;
  }
  return rounds >= far_slower_rounds;
}

}  // namespace

std::optional<std::size_t> choose_winner(const std::vector<Standing>& standings,
                                         const std::vector<Contender>& contenders, double resolution) {
  const auto cost = [&](const Standing& each) {
    const Contender& c = contenders[each.who];
    return std::tuple(!c.stored, c.alignment_bytes, c.registers, c.shared_bytes, c.index);
  };
  const Standing* winner = nullptr;
  for (const Standing& each : standings) {
    const bool may = contenders[each.who].stored
                         ? each.state != Standing::State::slower
                         : each.state == Standing::State::tied && each.ratio.middle <= 1 + resolution / 2;
    if (may && (winner == nullptr || cost(each) < cost(*winner))) winner = &each;
  }
  return winner == nullptr ? std::nullopt : std::optional(winner->who);
}

std::vector<Standing> standings_of(const std::vector<double>& values,
                                   const std::vector<Contender>& contenders,
                                   std::int64_t most_alignment_bytes, double within) {
  std::vector<Standing> all;
  for (std::size_t who = 0; who < values.size(); ++who) {
    if (values[who] > 0 && may_take_part(contenders[who], most_alignment_bytes))
      all.push_back({who, {0, values[who], std::numeric_limits<double>::infinity()}, Standing::State::tied});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Standing& a, const Standing& b) { return a.ratio.middle < b.ratio.middle; });
  const double best = all.empty() ? 0 : all.front().ratio.middle;
  for (Standing& each : all) {
    each.ratio.middle /= best;
    if (each.ratio.middle > 1 + within) each.state = Standing::State::slower;
  }
  return all;
}

Race::Race(std::vector<Contender> contenders, std::vector<std::int64_t> alignments, const Policy& policy)
    : contenders_(std::move(contenders)),
      us_(contenders_.size()),
      out_(contenders_.size()),
      alignments_(std::move(alignments)),
      policy_(policy) {}

void Race::add(std::size_t who, double us) {
  us_[who].resize(static_cast<std::size_t>(rounds_) + 1);
  us_[who].back() = us;
}

std::vector<double> Race::loads_us(std::size_t who) const {
  std::vector<double> loads = us_[who];
  std::erase(loads, 0.0);
  return loads;
}

std::vector<Standing> Race::standings(std::int64_t most_alignment_bytes) const {
  std::vector<Standing> all;
  for (std::size_t who = 0; who < contenders_.size(); ++who) {
    if (!out_[who] && !us_[who].empty() && may_take_part(contenders_[who], most_alignment_bytes))
      all.push_back({who, {1, 1, 1}, Standing::State::tied});
  }
  if (all.empty()) return all;
  const auto compare_with = [&](std::size_t best) {
    for (Standing& each : all) {
      each.ratio = {1, 1, 1};
      if (each.who != best) each.ratio = ratio(each.who, best);
    }
  };
  // The medians name a first best, but they are of different rounds; the ratios to it name the best.
  compare_with(std::min_element(all.begin(), all.end(), [&](const Standing& a, const Standing& b) {
                 return summarize(loads_us(a.who)).median_us < summarize(loads_us(b.who)).median_us;
               })->who);
  const std::size_t best = std::min_element(all.begin(), all.end(), [](const Standing& a, const Standing& b) {
                             return a.ratio.middle < b.ratio.middle;
                           })->who;
  compare_with(best);
  for (Standing& each : all) {
    if (each.ratio.low > 1 + policy_.resolution || always_far_slower(us_[each.who], us_[best])) {
      each.state = Standing::State::slower;
    } else if (each.ratio.high > 1 + policy_.resolution) {
      each.state = Standing::State::open;
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const Standing& a, const Standing& b) {
    return std::pair(a.who != best, a.ratio.middle) < std::pair(b.who != best, b.ratio.middle);
  });
  return all;
}

bool Race::well_known(std::size_t who) const {
  const auto interval = median_interval(loads_us(who), stated_confidence);
  return interval && interval->high - interval->low <= 2 * policy_.resolution * interval->middle;
}

std::vector<std::size_t> Race::next_round() const {
  std::vector<std::size_t> next;
  const auto take = [&](std::size_t who) {
    if (std::find(next.begin(), next.end(), who) == next.end()) next.push_back(who);
  };
  if (rounds_ >= policy_.final_rounds) return next;
  if (rounds_ < far_slower_rounds) {
    for (std::size_t who = 0; who < contenders_.size(); ++who) {
      if (!out_[who]) take(who);
    }
    return next;
  }
  std::vector<std::size_t> winners;
  for (const std::int64_t alignment : alignments_) {
    const std::vector<Standing> all = standings(alignment);
    for (const Standing& each : all) {
      if (each.state != Standing::State::open) continue;
      take(all.front().who);
      take(each.who);
    }
    const auto winner = choose_winner(all, contenders_, policy_.resolution);
    if (!winner) continue;
    winners.push_back(*winner);
    if (!well_known(*winner)) take(*winner);
  }
  if (!next.empty()) std::for_each(winners.begin(), winners.end(), take);
  return next;
}

}  // namespace tunesmith
