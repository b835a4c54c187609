// SPDX-License-Identifier: Apache-2.0
#include "choose/candidate.h"

#include "choose/nearest.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"

namespace tunesmith {

std::string shown_problem(std::string_view op, const Problem& problem) {
  const Op* known = op_or_null(op);
  return (known == nullptr ? problem : without_defaults(*known, problem)).text();
}

std::string describe(const Candidate& candidate) {
  const auto rounded = [](double us) { return printed("%.4g", us); };
  const char* const origin = candidate.origin == Candidate::Origin::database   ? "database"
                             : candidate.origin == Candidate::Origin::exported ? "exported"
                                                                               : "built in";
  const Op* const op = op_or_null(candidate.op);
  const bool guesses = op != nullptr && is_guess(*op, candidate.template_name, candidate.config);
  const bool is_one = op != nullptr && is_way(*op, candidate.template_name, candidate.config);
  const std::string what = candidate.op + "/" + candidate.template_name + " " +
                           (guesses  ? "by its own guess"
                            : is_one ? "by its own guess with " + candidate.config.text()
                                     : candidate.config.text()) +
                           " (" + origin;
  if (candidate.problem.empty())
    return what + ", measured on " + counted(candidate.times.size(), "problem") + " on " +
           candidate.device.name + ")";
  return what + ", " + rounded(candidate.median_us) +
         (candidate.conditions.caches == Caches::cold ? " us with cold caches on " : " us on ") +
         candidate.device.name + " for " + shown_problem(candidate.op, candidate.problem) +
         (candidate.high_us > 0
              ? "; " + rounded(candidate.low_us) + " to " + rounded(candidate.high_us) + " us over loads"
              : "") +
         (candidate.tied > 1 ? "; tied with " + std::to_string(candidate.tied - 1) + " more" : "") + ")";
}

}  // namespace tunesmith
