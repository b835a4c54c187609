// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <ostream>
#include <utility>

#include "generator/number_text.h"
#include "generator/printable.h"

namespace tunesmith {
namespace {

std::mutex writing;  // several devices may write to one output

constexpr auto bar_every = std::chrono::milliseconds(100);
constexpr auto line_every = std::chrono::seconds(2);
constexpr std::size_t bar_width = 20;

// The part that is done: by number if the total is known, by time if there is a budget of time; the larger of
// the two.
double fraction(const ProgressState& state) {
  double part = 0;
  if (state.total > 0) part = static_cast<double>(state.done) / static_cast<double>(state.total);
  if (state.budget_s > 0) part = std::max(part, state.elapsed_s / state.budget_s);
  return std::clamp(part, 0.0, 1.0);
}

double rate(const ProgressState& state) {
  return state.elapsed_s > 0 ? static_cast<double>(state.measured) / state.elapsed_s : 0;
}

// The seconds that are left; negative if not known.
double left(const ProgressState& state) {
  double seconds = -1;
  if (state.total > 0 && state.measured > 0) {
    seconds = static_cast<double>(state.total - state.done) / rate(state);
  }
  if (state.budget_s > 0) {
    const double time = std::max(state.budget_s - state.elapsed_s, 0.0);
    seconds = seconds < 0 ? time : std::min(seconds, time);
  }
  return seconds;
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 100) return printed("%lld s", whole);
  return printed("%lld min %02lld s", whole / 60, whole % 60);
}

}  // namespace

std::string time_text(double microseconds) {
  if (microseconds >= 1e6) return printed("%.3g s", microseconds / 1e6);
  if (microseconds >= 1e4) return printed("%.4g ms", microseconds / 1e3);
  if (microseconds >= 100) return printed("%.1f us", microseconds);
  return printed("%.2f us", microseconds);
}

std::string ratio_text(double ratio) { return printed(ratio < 10 ? "%.2fx" : "%.1fx", ratio); }

std::string plain_line(const ProgressState& state) {
  std::string text = state.stage + " " + std::to_string(state.done);
  if (state.total > 0) text += "/" + std::to_string(state.total);
  if (state.measured > 0) text += printed(rate(state) < 10 ? " | %.1f/s" : " | %.0f/s", rate(state));
  if (state.running > 0) text += " | " + std::to_string(state.running) + " running";
  if (state.best_us > 0) {
    text += " | best " + time_text(state.best_us) + (state.conditions.caches == Caches::cold ? " cold" : "") +
            (state.conditions.launches == Launches::chained ? " chained" : "");
    if (state.best_within > 0) text += printed(" within %.1f %%", 100 * state.best_within);
    if (state.base_us > 0) text += ", " + ratio_text(state.base_us / state.best_us) + " base";
  }
  if (state.failed > 0) text += " | " + std::to_string(state.failed) + " failed";
  if (const double seconds = left(state); seconds >= 0) text += " | " + duration(seconds) + " left";
  return text;
}

std::string one_line(const std::string& reason) {
  const std::size_t end = reason.find('\n');
  if (end == std::string::npos) return reason;
  static constexpr std::string_view compiling = "It does not compile: ";
  std::size_t error = reason.find("error");
  if (error == std::string::npos || error < end) return reason.substr(0, end) + " …";
  error = reason.rfind('\n', error) + 1;
  return (reason.starts_with(compiling) ? std::string(compiling) : "") +
         reason.substr(error, reason.find('\n', error) - error) + " …";
}

std::string bar_line(const ProgressState& state, int columns) {
  const auto filled = static_cast<std::size_t>(fraction(state) * static_cast<double>(bar_width));
  std::string text =
      "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] " + plain_line(state);
  if (columns > 0 && text.size() >= static_cast<std::size_t>(columns)) {
    text.resize(static_cast<std::size_t>(columns) - 1);
  }
  return text;
}

Progress Progress::named(const std::string& name) const {
  Progress other = *this;
  other.name_ = name + ": ";
  return other;
}

void Progress::begin_part(Part part) {
  part_ = std::move(part);
  part_began_ = std::chrono::steady_clock::now();
}

// The bar and the time left are those of the whole run, the rest is of the problem.
ProgressState Progress::in_part(const ProgressState& state) const {
  ProgressState whole = state;
  if (!part_) return whole;
  whole.stage = part_->name + " " + state.stage;
  const std::chrono::duration<double> here = std::chrono::steady_clock::now() - part_began_;
  whole.total = 0;
  whole.measured = 0;
  whole.elapsed_s = part_->elapsed_s + std::min(here.count(), part_->part_s);
  whole.budget_s = part_->whole_s;
  return whole;
}

void Progress::say(std::string_view line) {
  done();
  const std::scoped_lock lock(writing);
  out_ << name_ << printable(line) << '\n' << std::flush;
}

void Progress::say_once(const std::string& kind, std::string_view line) {
  {
    const std::scoped_lock lock(writing);
    if (!said_->insert(kind).second) return;
  }
  say(line);
}

bool Progress::due() const { return std::chrono::steady_clock::now() >= next_; }

void Progress::show(const ProgressState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? std::chrono::duration_cast<std::chrono::milliseconds>(bar_every)
                           : std::chrono::duration_cast<std::chrono::milliseconds>(line_every));
  const std::scoped_lock lock(writing);
  if (!terminal_) {
    out_ << name_ << plain_line(in_part(state)) << '\n' << std::flush;
    return;
  }
  winsize size{};
  const int columns = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  out_ << '\r' << name_ << bar_line(in_part(state), columns - static_cast<int>(name_.size())) << "\x1b[K"
       << std::flush;
  drawn_ = true;
}

void Progress::done() {
  const std::scoped_lock lock(writing);
  if (drawn_) out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

}  // namespace tunesmith
