// SPDX-License-Identifier: Apache-2.0
// Makes a database like one after much tuning, without measuring, to time the start of a dispatcher.
#pragma once

#include <filesystem>
#include <string>

#include "db/device_row.h"
#include "db/store.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"

namespace tunesmith {

/// Writes `problems` problems of conv2d, with a verdict on each of `variants` variants (their identities are
/// no hashes), and the winner of each problem.
inline void make_verdicts(const std::filesystem::path& path, const DeviceFacts& device, std::int64_t problems,
                          std::int64_t variants) {
  Store store = Store::open(path, Store::Mode::create);
  const Op& op = find_op("conv2d");
  const Template& tmpl = find_template(op, "tiled");
  const std::int64_t device_id = store.id_of(row_of(device));
  const std::int64_t template_id =
      store.id_of(TemplateRow{.op = op.name, .name = tmpl.name, .body_hash = "body"});
  const std::int64_t session = store.begin_session({.device_id = device_id, .command = "make_verdicts"});
  store.in_one_commit([&] {
    for (std::int64_t p = 0; p < problems; ++p) {
      const Problem problem = complete_problem(
          op, {{"height", 100 + p}, {"width", 200 + p % 7}, {"mask_height", 3}, {"mask_width", 3}});
      MeasurementRow row{.session_id = session,
                         .problem_id = store.id_of(ProblemRow{.op = op.name, .text = problem.text()}),
                         .device_id = device_id,
                         .verdict = "ok",
                         .samples_us = std::vector<double>(21, 12.5),
                         .toolchain = "none"};
      const std::vector<Config> configs =
          tmpl.space(problem, device).sample(static_cast<std::size_t>(variants), 1);
      std::int64_t first = 0;
      for (std::size_t v = 0; v < configs.size(); ++v) {
        row.variant_id = store.id_of(VariantRow{.template_id = template_id,
                                                .target = device.target,
                                                .source_hash = "variant " + configs[v].text(),
                                                .config = configs[v].text(),
                                                .compiled_in = compiled_in(op, tmpl, problem).text(),
                                                .entry = "conv2d_tiled"});
        row.median_us = 10.0 + static_cast<double>(v);
        const std::int64_t id = store.record(row);
        if (v == 0) first = id;
      }
      store.set_winner(first, 16);
    }
  });
  store.end_session(session, Store::End::finished);
}

}  // namespace tunesmith
