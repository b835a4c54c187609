// SPDX-License-Identifier: Apache-2.0
// The progress of a run, for people: a bar on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "generator/conditions.h"

namespace tunesmith {

struct ProgressState {
  std::string stage;  ///< "search", "finals"
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: not known
  double elapsed_s = 0;
  double budget_s = 0;         ///< 0: no limit
  std::int64_t measured = 0;   ///< verdicts found in this run: the rate counts these
  std::int64_t failed = 0;     ///< verdicts other than ok
  double best_us = 0;          ///< 0: none yet
  double best_within = 0;      ///< half the width of its interval, as a part of it; 0: not known yet
  std::int64_t running = 0;    ///< undecided finalists; 0: none, or no finals
  double base_us = 0;          ///< 0: not known yet
  Conditions conditions = {};  ///< conditions of both times
};

/// "[#####.....] search 120/500 | 98/s | best 12.30 us, 4.10x base | 3 failed | 4 s left", narrower than
/// `columns`.
std::string bar_line(const ProgressState& state, int columns);
/// The same line without the bar.
std::string plain_line(const ProgressState& state);

std::string time_text(double microseconds);  ///< "12.3 us", "4.56 ms"
std::string ratio_text(double ratio);        ///< "4.10x"

/// A reason as one line: the first error of a compiler's output.
std::string one_line(const std::string& reason);

class Progress {
 public:
  Progress(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
  /// Another progress for the same output, used by another thread; its lines begin with the name.
  Progress named(const std::string& name) const;

  /// From here on bars and times are those of a whole that has several parts, one after the other.
  struct Part {
    std::string name;      ///< "reduce (3 of 7)"
    double elapsed_s = 0;  ///< of the whole, now
    double part_s = 0;     ///< limit of this part
    double whole_s = 0;
  };
  void begin_part(Part part);
  bool in_parts() const { return part_.has_value(); }

  void say(std::string_view line);  ///< prints a line that stays
  /// Prints the line once for each kind, even if several objects made by named() print it.
  void say_once(const std::string& kind, std::string_view line);
  bool due() const;                       ///< show() would draw
  void show(const ProgressState& state);  ///< draws only if enough time has passed
  void done();                            ///< removes the bar

 private:
  ProgressState in_part(const ProgressState& state) const;

  std::ostream& out_;
  bool terminal_;
  std::string name_;
  std::shared_ptr<std::set<std::string>> said_ = std::make_shared<std::set<std::string>>();
  std::optional<Part> part_;
  std::chrono::steady_clock::time_point part_began_ = {};
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = {};
};

}  // namespace tunesmith
