// SPDX-License-Identifier: Apache-2.0
#include "db/process.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace tunesmith {

std::string process_tag(pid_t pid) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::error_code ignored;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
  const std::string id = std::to_string(pid);
  std::ifstream file("/proc/" + id + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = stat.rfind(')');  // the process's name may contain anything and ends here
  if (boot.empty() || space.empty() || name_end == std::string::npos) return {};
  std::istringstream fields(stat.substr(name_end + 1));
  std::string start;
  for (int field = 3; field <= 22; ++field) fields >> start;  // 22: start time, clock ticks since boot
  return boot + ' ' + space + ' ' + id + ' ' + start;
}

bool is_dead(const std::string& tag) {
  std::istringstream words(tag);
  std::istringstream my_words(process_tag(::getpid()));
  std::string boot;
  std::string space;
  pid_t pid = 0;
  std::string my_boot;
  std::string my_space;
  words >> boot >> space >> pid;
  my_words >> my_boot >> my_space;
  if (!words || my_boot.empty()) return false;
  if (boot != my_boot) return true;  // the machine has restarted; WAL works on one machine only
  return space == my_space && process_tag(pid) != tag;
}

}  // namespace tunesmith
