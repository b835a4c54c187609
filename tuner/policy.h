// The rules by which a winner is chosen, as pure functions of what was measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

struct Summary {
  double median_us = 0;
  double min_us = 0;
  double spread = 0;  ///< interquartile range / median
};

/// Of at least one sample.
Summary summarize(std::vector<double> samples_us);

struct Policy {
  int samples = 11;               ///< of a variant in the search, unless it is given up
  double sample_target_us = 300;  ///< as in Timing
  double give_up_factor = 1.5;    ///< a variant that is this much slower than the best so far gets one sample
  double final_within = 0.10;     ///< finalists are at most this much slower than the best …
  std::size_t finalists = 8;      ///< … and at most this many, for each of the two alignments
  int final_rounds = 5;      ///< each finalist once per round, so that a drift of the clocks meets all alike
  int final_samples = 11;    ///< per finalist and round
  double tie_within = 0.01;  ///< smaller differences do not repeat from run to run
};

/// On the host a launch takes milliseconds and the clock is fine enough, so fewer samples do. With cold
/// caches a sample is one launch, accurate to about 0.5 us: the median of 21 is accurate to 0.15 us, that of
/// the 255 of the finals to 0.04 us (1.25 / sqrt(n) of it).
Policy policy_for(std::string_view device_kind, bool cold_caches = false);

/// How the launches of a sample lie: a CUDA graph has them behind each other, the host times single ones.
std::string launches_of(std::string_view device_kind);

/// A variant that was measured ok.
struct Contender {
  std::size_t index = 0;  ///< the caller's name for it; smaller is earlier in the search
  double median_us = 0;
  std::int64_t alignment_bytes = 0;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;  ///< static + dynamic
  bool may_win = true;            ///< two streams may run it at once
};

/// Indices of those to measure again: the fastest overall, and the fastest among those that need no more
/// alignment than `element_bytes`. Fastest first, each once.
std::vector<std::size_t> choose_finalists(const std::vector<Contender>& contenders,
                                          std::int64_t element_bytes, const Policy& policy);

/// The fastest; among those within a tie of it the one that needs least: alignment, then registers, then
/// shared memory, then the earlier one. With `most_alignment_bytes` above 0 only those that need no more
/// than that.
std::optional<std::size_t> choose_winner(const std::vector<Contender>& contenders, const Policy& policy,
                                         std::int64_t most_alignment_bytes = 0);

/// A time or a number of verdicts per problem; both empty: the whole space.
struct Budget {
  std::optional<double> seconds;
  std::optional<std::int64_t> count;

  /// "60s", "5m", "5min", "1h", "500", "all". Throws UsageError.
  static Budget parse(std::string_view text);
};

}  // namespace tunesmith
