// SPDX-License-Identifier: Apache-2.0
// Collects the candidates of several sources in their order of precedence, for dispatch.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "choose/candidate.h"
#include "choose/winners_file.h"

namespace tunesmith {

struct CandidateSet {
  struct Table : UnreadTable {
    Candidate::Origin origin;
    std::size_t place;  ///< the number of winners that precede it in the common order
  };
  std::vector<Candidate> winners;
  std::vector<Table> tables;
};

/// Returns a row's winner, completed with parameters that its op was given later. A winner that cannot be
/// read has a fault; others are still used.
Candidate candidate_of(const WinnersFileRow& row, Candidate::Origin origin);

/// Returns the op's winners and the variants of its tables, which are read now, in the order of their
/// sources. A table that cannot be read becomes a candidate with a fault.
std::vector<Candidate> candidates_of(const CandidateSet& known, std::string_view op);

/// True if a table with this many anchors and these templates, made on this model of device, replaces the
/// shipped one: unless it is much smaller. The shipped times say nothing of a template that the shipped table
/// does not know, so with such a template 100 anchors are enough.
bool replaces(std::size_t anchors, const std::set<std::string>& templates, const TimingTable& shipped);

/// Adds the rows of one source, and erases tables that a known table replaces.
void add_winners(std::vector<Candidate>& candidates, std::vector<DeviceTable>& tables,
                 const std::vector<WinnersFileRow>& rows, Candidate::Origin origin);

}  // namespace tunesmith
