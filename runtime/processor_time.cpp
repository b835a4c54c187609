// SPDX-License-Identifier: Apache-2.0
#include "runtime/processor_time.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr double clock_times = 20;                   // of a process that uses no processor
constexpr std::chrono::milliseconds least_wait(10);  // between two looks

struct Times {
  int parent = 0;
  bool is_ready = false;  // it runs, or would if it got a processor
  double seconds = 0;     // of the process, and of its children that have ended
};

// Reads the line of /proc/PID/stat: "PID (NAME) STATE PARENT …", in which a name may have blanks and
// brackets. It has the times of children, in ticks.
bool read_times(int process, Times& times) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(stat, line)) return false;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string state, skipped;
  constexpr int between = 11;  // from the parent to the times
  fields >> state >> times.parent;
  times.is_ready = state == "R";
  for (int n = 0; n < between; ++n) fields >> skipped;
  std::int64_t ticks = 0;
  for (int n = 0; n < 2; ++n) {
    std::int64_t some = 0;
    fields >> some;
    ticks += some;
  }
  times.seconds = static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  clockid_t clock{};
  timespec own{};
  if (::clock_getcpuclockid(process, &clock) == 0 && ::clock_gettime(clock, &own) == 0)
    times.seconds += static_cast<double>(own.tv_sec) + 1e-9 * static_cast<double>(own.tv_nsec);
  return !fields.fail();
}

// The process and all that it has started.
Times times_of(int process) {
  std::map<int, Times> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto id = parsed_number<int>(entry.path().filename().string());
    Times times;
    if (id && read_times(*id, times)) all[*id] = times;
  }
  Times sum;
  for (const auto& [id, times] : all) {
    int at = id;
    for (std::size_t n = 0; at != process && n < all.size(); ++n) {
      const auto found = all.find(at);
      if (found == all.end()) break;
      at = found->second.parent;
    }
    if (at != process) continue;
    sum.seconds += times.seconds;
    sum.is_ready = sum.is_ready || times.is_ready;
  }
  return sum;
}

}  // namespace

std::chrono::duration<double> processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

double processor_seconds(int process) {
  Times times;
  read_times(process, times);
  return times.seconds;
}

ProcessorLimit::ProcessorLimit(int process, double seconds, double used)
    : process_(process), seconds_(seconds), before_(used) {
  const auto in = [now = Clock::now()](double later) {
    return now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(later));
  };
  next_look_ = in(seconds);
  end_ = in(clock_times * seconds);
}

bool ProcessorLimit::is_over() {
  const Clock::time_point now = Clock::now();
  if (now < next_look_) return false;
  const Times times = times_of(process_);
  const std::chrono::duration<double> left(seconds_ - (times.seconds - before_));
  if (left.count() <= 0) return true;
  by_clock_ = now >= end_ && !times.is_ready;
  next_look_ = std::min(
      std::max(end_, now + least_wait),
      now + std::max<Clock::duration>(std::chrono::duration_cast<Clock::duration>(left), least_wait));
  return by_clock_;
}

std::string ProcessorLimit::passed() const {
  return by_clock_ ? printed("%.3g s", clock_times * seconds_)
                   : printed("%.3g s of processor time", seconds_);
}

}  // namespace tunesmith
