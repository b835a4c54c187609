// SPDX-License-Identifier: Apache-2.0
// Refusals that the templates of the image ops share, and rules that their spaces share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "generator/op.h"
#include "templates/axes.h"
#include "templates/image/samples.h"

namespace tunesmith {

/// The template, which also refuses problems for which `why` gives a sentence.
template <typename Why>  // std::string(const Problem&)
Template refusing(Why why, Template tmpl) {
  tmpl.refuses = [why, others = std::move(tmpl.refuses)](const Problem& problem) -> std::string {
    std::string no = why(problem);
    return no.empty() && others ? others(problem) : no;
  };
  return tmpl;
}

inline std::string refuses_empty(bool is_empty) {
  return is_empty ? "An image of no elements has nothing to filter; take the base template." : "";
}

/// The elements of the widest vector, up to 4, that divides rows of `length` elements.
constexpr std::int64_t row_vector(std::int64_t length) {
  return length % 4 == 0 ? 4 : length % 2 == 0 ? 2 : 1;
}

// ---- for `must`

inline Rule converted_rule(const Problem& problem) {
  return {"Samples that are converted pass through registers.",
          [narrow = converts(problem)](const Config& c) { return !narrow || c[COPY] == "sync"; }};
}

// ---- for `worth`

inline Rule vectors_of_two_rule() {
  return {"Vectors of two gain nothing beside those of four, and scalars for arrays of any alignment.",
          [](const Config& c) { return c[VECTOR] != 2; }};
}

}  // namespace tunesmith
