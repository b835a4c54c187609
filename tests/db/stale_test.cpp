// SPDX-License-Identifier: Apache-2.0
// Tests that a verdict does not outlive its kernel: histories of kernels that are edited are compared with a
// model in plain loops.
#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <tuple>

#include "fixture.h"

namespace tunesmith {
namespace {

using StaleTest = DbTest;

struct Row {
  std::string problem, template_name, body, config, verdict;
  double median_us = 0;
  auto operator<=>(const Row&) const = default;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.problem << ' ' << row.template_name << ' ' << row.body << ' ' << row.config << ' '
       << row.verdict << ' ' << row.median_us << '\n';
}

// For a template on a problem, the body that was measured last counts.
std::vector<Row> expected(const std::vector<Row>& history) {
  std::map<std::pair<std::string, std::string>, std::string> body;
  std::map<std::tuple<std::string, std::string, std::string>, Row> newest;
  for (const Row& row : history) {
    if (auto& last = body[{row.problem, row.template_name}]; last != row.body) last = row.body;
    newest[{row.problem, row.template_name, row.body + row.config}] = row;
  }
  std::vector<Row> rows;
  for (const auto& [key, row] : newest)
    if (body.at({row.problem, row.template_name}) == row.body) rows.push_back(row);
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST_F(StaleTest, EveryReaderTakesTheNewestBodyAlone) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    const auto path = file(("t" + std::to_string(seed) + ".db").c_str());
    auto store = Store::open(path, Mode::create);
    const auto device = store.id_of(gpu());
    std::vector<Row> history;
    std::map<std::string, unsigned> edits;  // by template
    for (unsigned session = 0; session < 4; ++session) {
      const auto session_id = store.begin_session({.device_id = device});
      for (unsigned i = 0; i < 12; ++i) {
        const std::string name = below(2) == 0 ? "tiled" : "flat";
        if (below(6) == 0) ++edits[name];
        // An edit may be undone.
        const std::string body = name + std::to_string(edits[name] % 3);
        const Row row = {below(2) == 0 ? "n=1" : "n=2",
                         name,
                         body,
                         "B=" + std::to_string(below(3)),
                         below(4) == 0 ? "crash" : "ok",
                         1.0 + below(1000)};
        const auto problem = store.id_of(ProblemRow{"twice", row.problem});
        const auto variant =
            store.id_of(VariantRow{.template_id = store.id_of(TemplateRow{"twice", name, body}),
                                   .target = "sm_90a",
                                   .source_hash = body + row.config,
                                   .config = row.config});
        MeasurementRow measured = {.session_id = session_id,
                                   .variant_id = variant,
                                   .problem_id = problem,
                                   .device_id = device,
                                   .verdict = row.verdict};
        if (row.verdict == "ok") {
          measured.median_us = row.median_us;
        } else {
          measured.reason = "It failed.";
        }
        const auto id = store.record(measured);
        if (row.verdict == "ok") store.set_winner(id, 4);
        history.push_back(row);
        if (row.verdict != "ok") history.back().median_us = 0;
      }
      store.end_session(session_id, Store::End::finished);
    }
    const std::vector<Row> model = expected(history);
    const auto reader = Store::open(path, Mode::read_only);
    for (const Store* each : std::initializer_list<const Store*>{&store, &reader}) {
      std::vector<Row> current;
      for (const ResultRow& r : each->results()) {
        EXPECT_FALSE(r.is_stale);
        current.push_back({r.problem, r.template_name, r.source_hash.substr(0, r.source_hash.find('B')),
                           r.config, r.verdict, r.median_us.value_or(0)});
      }
      std::sort(current.begin(), current.end());
      EXPECT_EQ(current, model) << "seed " << seed;
      const auto all = each->results({.history = true});
      EXPECT_EQ(all.size(), history.size()) << "they are all shown when asked for";
      EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const ResultRow& r) { return r.is_current; }),
                std::ssize(model));

      std::set<std::tuple<std::string, std::string, std::string, double>> ok, times, fast;
      std::map<std::string, double> worst;
      for (const Row& row : model) {
        if (row.verdict != "ok") continue;
        ok.emplace(row.problem, row.template_name, row.config, row.median_us);
        worst[row.problem] = std::max(worst[row.problem], row.median_us);
      }
      for (const TimeRow& t : each->times_of("twice", device, Conditions()))
        times.emplace(t.problem, t.template_name, t.config, t.median_us);
      EXPECT_EQ(times, ok);
      for (const Store::Fast& f : each->fastest_of("twice", Conditions(), 100)) {
        const auto found = std::find_if(ok.begin(), ok.end(), [&](const auto& one) {
          return std::tie(std::get<0>(one), std::get<1>(one), std::get<2>(one)) ==
                 std::tie(f.problem, f.template_name, f.config);
        });
        ASSERT_NE(found, ok.end());
        fast.insert(*found);
      }
      EXPECT_EQ(fast, ok);
      for (const WinnerRow& winner : each->winners())
        EXPECT_EQ(winner.worst_us.value_or(0), worst[winner.problem.text]);
      // For a caller, the bodies that it knows count, even if others were measured since.
      for (const TimeRow& t :
           each->times_of("twice", device, Conditions(), {{"tiled", "tiled0"}, {"flat", "flat0"}}))
        EXPECT_EQ(t.body_hash, t.template_name + "0");
    }
    EXPECT_EQ(
        sql(path, "SELECT count(*) FROM failures f JOIN kernel k USING (measurement_id) WHERE k.is_stale"),
        "0");
  }
}

TEST_F(StaleTest, AnotherTextOfAConfigReplacesIt) {
  auto store = Store::open(file(), Mode::create);
  const Ids ids(store);
  const auto text = [&](const char* hash) {
    return store.id_of(VariantRow{.template_id = ids.body,
                                  .target = "sm_90a",
                                  .source_hash = hash,
                                  .config = "B=1",
                                  .compiled_in = ""});
  };
  store.record(ids.ok(text("first"), 10));
  store.record(ids.ok(text("second"), 20));
  ASSERT_EQ(store.results().size(), 1U);
  EXPECT_EQ(store.results().front().source_hash, "second");
  ASSERT_EQ(store.times_of("conv2d", ids.device, Conditions(), {{"conv2d_tiled", "b1"}}).size(), 1U);
  EXPECT_EQ(store.times_of("conv2d", ids.device, Conditions(), {{"conv2d_tiled", "b1"}}).front().median_us,
            20);
}

}  // namespace
}  // namespace tunesmith
