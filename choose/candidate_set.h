// SPDX-License-Identifier: Apache-2.0
// The candidates of several sources, in the order in which they count.
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
    std::size_t place;  ///< in the order of all: before so many of the winners
  };
  std::vector<Candidate> winners;
  std::vector<Table> tables;
};

/// A row's winner, with what its op was given later. One that cannot be read has a fault; others are still
/// used.
Candidate candidate_of(const WinnersFileRow& row, Candidate::Origin origin);

/// The op's winners and the variants of its tables, which are read now, in the order of their sources. A
/// table that cannot be read is a candidate with a fault.
std::vector<Candidate> candidates_of(const CandidateSet& known, std::string_view op);

/// Whether a table of so many anchors and these templates, made on this model of device, replaces the one
/// that was shipped: unless it is much smaller. Of a template that the shipped one does not know its times
/// say nothing, so then 100 anchors are enough.
bool replaces(std::size_t anchors, const std::set<std::string>& templates, const TimingTable& shipped);

/// What one source has; tables that a known one replaces are erased.
void add_winners(std::vector<Candidate>& candidates, std::vector<DeviceTable>& tables,
                 const std::vector<WinnersFileRow>& rows, Candidate::Origin origin);

}  // namespace tunesmith
