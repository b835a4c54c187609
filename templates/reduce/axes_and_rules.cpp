// SPDX-License-Identifier: Apache-2.0
// The axes and rules that several of reduce's tuned templates share.

#include "templates/reduce/op.h"

namespace tunesmith::reduce_op {

Axis load_axis() { return tunesmith::load_axis({"plain", "streaming", "bypass", "wide", "half"}); }

Axis items_axis() { return {ITEMS, {4, 1, 2, 8, 16}, "loads of a thread before it adds"}; }

Axis vector_axis(const Problem& problem) { return load_vector_axis(bytes(dtype_of(problem))); }

// These two hints load by ld.global.nc, which is undefined for data that is written while the kernel runs.
Rule early_rule() {
  return {
      "LOAD=bypass and LOAD=wide are for data that nothing writes while the kernel runs; with "
      "START=overlapped the kernel before may still write it.",
      [](const Config& c) { return c[START] == "plain" || (c[LOAD] != "bypass" && c[LOAD] != "wide"); }};
}

std::vector<Rule> with_narrow_rules(std::vector<Rule> rules, const Problem& problem) {
  const std::int64_t element_bytes = bytes(dtype_of(problem));
  if (element_bytes >= 4) return rules;
  rules.push_back({"Hints are for loads of 4 bytes and more.", [element_bytes](const Config& c) {
                     return c[LOAD] == "plain" || c[VECTOR] * element_bytes >= 4;
                   }});
  rules.push_back({"A thread adds at most 64 elements at once, as the error bound says.",
                   [](const Config& c) { return c[ITEMS] * c[VECTOR] <= 64; }});
  return rules;
}

Rule finish_rule(bool atomic) {
  return {
      "Blocks add atomically (FINISH=atomic, atomic_last) only with order=atomic, which allows any order.",
      [atomic](const Config& c) { return atomic || !c[FINISH].starts_with("atomic"); }};
}

Rule flight_rule(const Problem& problem) {
  return {"A thread has at least 16 bytes of loads under way.",
          [element_bytes = bytes(dtype_of(problem))](const Config& c) {
            return c[ITEMS] * c[VECTOR] * element_bytes >= 16;
          }};
}

Rule half_rule(const Problem& problem) {
  return tunesmith::half_rule(Dims(problem).span() * bytes(dtype_of(problem)));
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

}  // namespace tunesmith::reduce_op
