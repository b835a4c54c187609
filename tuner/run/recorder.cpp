// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/recorder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "db/device_row.h"
#include "generator/hash.h"
#include "generator/ops.h"
#include "tuner/search/policy.h"
#include "tuner/search/statistics.h"

namespace tunesmith {
namespace {

// Digits beyond a measurement's accuracy would only fill the file.
double rounded(double value, double steps) { return std::round(value * steps) / steps; }

// The programs that gave references or inputs in a session, from the end of its command (device_run.cpp).
// Empty: the reference of the op or its description, which is part of a variant's identity.
std::string_view programs_of(std::string_view command) {
  constexpr std::string_view opening = "  # The reference of ", is = " is ",
                             inputs = " Its inputs come from ";
  const std::size_t at = command.rfind(opening);
  if (at == std::string_view::npos) return "";
  const std::size_t begin = command.find(is, at + opening.size());
  if (begin == std::string_view::npos) return "";
  const std::string_view what = command.substr(begin + is.size());
  for (const std::string_view described : {"the kernel ", "the host function ", "its untuned kernel "})
    if (what.starts_with(described)) return what.substr(std::min(what.find(inputs), what.size()));
  return what;
}

}  // namespace

Recorder::Recorder(Store& store, const Op& op, Facts facts)
    : store_(store), op_(op), facts_(std::move(facts)) {
  device_ = store_.id_of(row_of(facts_.device));
  SessionRow& session = facts_.session;
  session.device_id = device_;
  session.tunesmith_version = TUNESMITH_VERSION;
  session.host_facts = "cores=" + std::to_string(std::thread::hardware_concurrency());
  heard_ = store_.newest_measurement();
  session_ = store_.begin_session(session);
}

Recorder::~Recorder() {
  if (finished_) return;
  try {
    store_.end_session(session_, Store::End::interrupted);
  } catch (...) {
    // On failure the next session marks it.
  }
}

void Recorder::finish() {
  store_.end_session(session_, Store::End::finished);
  finished_ = true;
}

std::map<std::string, KnownVerdict> Recorder::known(const Problem& problem) {
  std::map<std::string, KnownVerdict> known;
  const std::int64_t id = store_.id_of(ProblemRow{op_.name, problem.text()});
  for (auto& [key, verdict] : store_.known(device_, id, facts_.conditions)) {
    if (key.target == facts_.device.target && verdict.toolchain == facts_.session.toolchain &&
        programs_of(verdict.command) == programs_of(facts_.session.command)) {
      known.emplace(key.source_hash, verdict);
    }
  }
  return known;
}

std::vector<Store::Fast> Recorder::fastest(std::int64_t limit) const {
  return store_.fastest_of(op_.name, facts_.conditions, limit);
}

std::vector<Store::TriedProblem> Recorder::tried() const {
  return store_.tried(op_.name, device_, facts_.conditions);
}

std::vector<Store::Verdict> Recorder::of_others(const Problem& problem) {
  auto verdicts = store_.verdicts_of_others(
      session_, device_, store_.id_of(ProblemRow{op_.name, problem.text()}), facts_.conditions, heard_);
  if (!verdicts.empty()) heard_ = verdicts.back().id;
  return verdicts;
}

std::vector<WinnerRow> Recorder::winners() const {
  std::vector<WinnerRow> mine = store_.winners({.op = op_.name}, Store::Load::tuning);
  std::erase_if(mine, [&](const WinnerRow& row) { return row.device_id != device_; });
  return mine;
}

std::int64_t Recorder::id_of(const RenderedVariant& variant) {
  const std::string& name = variant.tmpl->name;
  auto found = templates_.find(name);
  if (found == templates_.end()) {
    const std::string hash = body_hash(op_, *variant.tmpl, files_of(op_));
    found = templates_.emplace(name, store_.id_of(TemplateRow{op_.name, name, hash})).first;
  }
  VariantRow row;
  row.template_id = found->second;
  row.target = variant.source.target;
  row.source_hash = variant.source.hash;
  row.config = variant.point.config.text();
  row.compiled_in = variant.compiled_in;
  row.entry = variant.source.kernels.empty() ? "" : variant.source.kernels.front() + variant.source.suffix;
  return store_.id_of(row);
}

std::int64_t Recorder::record(const Problem& problem, const RenderedVariant& variant,
                              const MeasureReply& reply, std::optional<double> compile_ms,
                              const std::vector<double>& loads_us, const Cost& cost) {
  MeasurementRow row;
  row.stage = cost.stage;
  if (cost.wall_s > 0) row.wall_ms = std::max(rounded(1e3 * cost.wall_s, 1e2), 0.01);
  if (cost.space_variants > 0) row.space_variants = cost.space_variants;
  row.session_id = session_;
  row.variant_id = id_of(variant);
  row.problem_id = store_.id_of(ProblemRow{op_.name, problem.text()});
  row.device_id = device_;
  row.is_base = variant.is_base;
  row.verdict = name(reply.verdict);
  row.reason = reply.reason;
  if (!reply.samples_us.empty()) {
    row.samples_us = reply.samples_us;
    for (double& sample : row.samples_us) sample = rounded(sample, 1e4);  // to 0.1 ns, far below the noise
    const Summary summary = summarize(row.samples_us);
    row.median_us = loads_us.empty() ? summary.median_us : rounded(summarize(loads_us).median_us, 1e4);
    row.min_us = summary.min_us;
    row.spread = rounded(summary.spread, 1e6);
  }
  if (reply.loaded) {
    row.registers = reply.registers;
    row.static_shared_bytes = reply.static_shared_bytes;
    row.dynamic_shared_bytes = reply.dynamic_shared_bytes;
    row.spill_bytes = reply.local_bytes;
  }
  if (reply.clock_mhz > 0) row.clock_mhz = reply.clock_mhz;
  row.throttled = reply.throttled;
  if (reply.compared) row.max_error = rounded(reply.max_error, 1e6);
  if (compile_ms) row.compile_ms = rounded(*compile_ms, 1e1);
  row.toolchain = facts_.session.toolchain;
  row.driver = facts_.session.driver;
  row.caches = to_text(facts_.conditions.caches);
  row.launches = to_text(facts_.conditions.launches);
  if (!row.samples_us.empty())
    row.loads = std::max<std::int64_t>(reply.loads, static_cast<std::int64_t>(loads_us.size()));
  if (const auto interval = median_interval(loads_us, stated_confidence)) {
    row.low_us = rounded(interval->low, 1e4);
    row.high_us = rounded(interval->high, 1e4);
  }
  if (reply.energy_uj > 0) row.energy_uj = rounded(reply.energy_uj, 1e3);
  return store_.record(row);
}

SetWinner Recorder::set_winner(std::int64_t measurement, std::int64_t alignment_bytes, bool winner_is_stale,
                               Store::Evidence evidence) {
  return store_.set_winner(measurement, alignment_bytes, winner_is_stale, facts_.conditions.objective,
                           evidence);
}

void Recorder::record_finalists(std::int64_t winner, const std::vector<FinalistRow>& finalists) {
  store_.record_finalists(winner, finalists);
}

void Recorder::drop_winner(const Problem& problem, std::int64_t alignment_bytes) {
  store_.drop_winner(session_, store_.id_of(ProblemRow{op_.name, problem.text()}), alignment_bytes);
}

void Recorder::put_anchor_table(AnchorTableRow row) {
  row.session_id = session_;
  row.device_id = device_;
  row.op = op_.name;
  row.caches = to_text(facts_.conditions.caches);
  row.launches = to_text(facts_.conditions.launches);
  store_.put_anchor_table(row);
}

void Recorder::put_binary(const RenderedVariant& variant, const std::string& binary) {
  BinaryRow row;
  row.variant_id = id_of(variant);
  row.toolchain = facts_.session.toolchain;
  row.hash = sha256(binary);
  row.bytes.resize(binary.size());
  std::memcpy(row.bytes.data(), binary.data(), binary.size());
  store_.put_binary(row);
}

}  // namespace tunesmith
