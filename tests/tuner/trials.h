// SPDX-License-Identifier: Apache-2.0
// Variants without an op, for the tests of SearchRun and Finals. The variant of "N=7" has the hash "7".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tuner/run/findings.h"

namespace tunesmith {

inline Space numbers(std::int64_t count) {
  Axis axis{"N", {}, "a number"};
  for (std::int64_t n = 0; n < count; ++n) axis.values.emplace_back(n);
  return Space({axis}, {});
}

inline Point point(std::int64_t n) { return {0, numbers(100).complete({{"N", n}})}; }

inline RenderedVariant variant_of(const Point& point) {
  RenderedVariant variant;
  variant.point = point;
  variant.source.hash = to_text(point.config.value(0));
  variant.source.text = "a kernel";
  variant.alignment_bytes = 4;
  return variant;
}

inline MeasureReply ok(std::vector<double> samples_us) {
  MeasureReply reply;
  reply.samples_us = std::move(samples_us);
  return reply;
}

inline MeasureReply failed(Verdict verdict, std::string reason = "It failed.") {
  MeasureReply reply;
  reply.verdict = verdict;
  reply.reason = std::move(reason);
  return reply;
}

/// The rows that were written to the database, in order; ids begin with 100.
struct Written {
  struct Row {
    std::string hash;
    MeasureReply reply;
  };
  std::vector<Row> rows;

  Record record() {
    return [this](const Trial& trial, const MeasureReply& reply) {
      rows.push_back({trial.variant.source.hash, reply});
      return static_cast<std::int64_t>(99 + rows.size());
    };
  }
  /// "7 ok", "8 timeout", …
  std::vector<std::string> verdicts() const {
    std::vector<std::string> texts;
    for (const Row& row : rows) texts.push_back(row.hash + " " + std::string(name(row.reply.verdict)));
    return texts;
  }
};

}  // namespace tunesmith
