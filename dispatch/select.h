// Which known winner should serve a problem: a pure ranking of candidates. Knows no files, binaries or
// devices.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

/// A winner as it was read from a database or from the library.
struct Candidate {
  enum class Origin { database, built_in };  ///< the former is preferred where all else is equal
  Origin origin = Origin::database;
  DeviceFacts device;  ///< on which it won; only its model facts
  std::string op;
  std::string template_name;
  Problem problem;           ///< that it won
  Values config;             ///< as it was stored
  double median_us = 0;      ///< of one launch on `device`
  bool cold_caches = false;  ///< whether it was measured with cold caches
  std::string source_hash;
  bool has_binary = false;  ///< for device.target and what of `problem` is compiled in
  std::string fault;        ///< why it must not be used for any problem, as a sentence; empty: no fault
};

struct Choice {
  std::size_t candidate = 0;
  Match match = Match::base;
  double distance = 0;
  Config config;  ///< the candidate's, or where that is not legal here, the nearest with one axis changed
  std::string changed;  ///< that axis: "OUT_X=4"; empty where none is
  bool must_compile = false;
  std::int64_t alignment_bytes = 1;
};

struct Refusal {
  std::size_t candidate = 0;
  std::string why;  ///< a sentence
};

struct Selection {
  std::vector<Choice> choices;  ///< best first
  std::vector<Refusal> refusals;
};

/// Whether both are the same model: kind, name, target, and on CUDA the number of multiprocessors.
bool same_model(const DeviceFacts& a, const DeviceFacts& b);

/// Ranks by match, then distance, then origin, then what needs no compiler, then median. A candidate is
/// refused if it is of another op, kind of device or dtype, its template or config is not legal for the
/// problem or the device, it keeps state between its steps, or it has to be compiled and may not be.
Selection select(const Op& op, const Problem& problem, const DeviceFacts& device,
                 std::span<const Candidate> candidates, bool may_compile);

}  // namespace tunesmith
