// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/fixture.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/executable.h"

namespace tunesmith {
namespace {

constexpr auto longest_wait = std::chrono::seconds(60);

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t parent_of(const std::string& stat) {
  // The line is "pid (name) state parent ..."; a name may hold any characters, so the search is from its end.
  std::istringstream rest(stat.substr(stat.rfind(')') == std::string::npos ? 0 : stat.rfind(')') + 1));
  std::string state;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

}  // namespace

std::string device_under_test() {
  const char* given = std::getenv("TUNESMITH_FAULTS_DEVICE");
  return given != nullptr && *given != '\0' ? given : "host";
}

void FaultTest::SetUp() {
  std::string why;
  if (device_under_test() != "host" && cuda_devices(why).empty()) GTEST_SKIP() << why;
  std::string pattern = (std::filesystem::temp_directory_path() / "tunesmith-faults-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void FaultTest::TearDown() {
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

TuneOptions FaultTest::options() const {
  TuneOptions options;
  options.op = "pairs";
  options.problems = {Problem::parse("count=1000")};
  options.device = device_under_test();
  options.search.budget = "all";
  options.search.strategy = "exhaustive";
  options.database = folder_ / "tunesmith.db";
  options.compile.processes = 2;
  options.compile.cache_folder = folder_ / "cache";
  options.measure.worker.measure_s = 3;
  Policy policy = policy_for(options.device == "host" ? DeviceKind::host : DeviceKind::cuda);
  policy.samples = 3;
  policy.final_samples = 3;
  policy.final_rounds = 2;
  policy.give_up_factor = 1e9;
  options.measure.policy = policy;
  return options;
}

TuneResult FaultTest::run(const TuneOptions& options) const {
  std::ostringstream words;
  Progress progress(words, false);
  return tune(options, progress);
}

std::vector<ResultRow> FaultTest::rows(const std::filesystem::path& database) {
  QueryFilter filter;
  filter.history = true;
  return Store::open(database, Store::Mode::read_only).results(filter);
}

std::int64_t FaultTest::count_rows() const {
  try {
    return static_cast<std::int64_t>(rows().size());
  } catch (const std::exception&) {
    return 0;  // it is being made
  }
}

void FaultTest::wait_for_rows(std::int64_t count) const {
  const auto deadline = std::chrono::steady_clock::now() + longest_wait;
  while (count_rows() < count && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void FaultTest::execute(const char* sql) const {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "tunesmith.db").c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(database);
}

pid_t FaultTest::start(const TuneOptions& options) const {
  const pid_t process = ::fork();
  if (process != 0) return process;
  int code = 1;
  try {
    code = run(options).interrupted ? 130 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  ::_exit(code);
}

int FaultTest::wait(pid_t process) {
  int status = 0;
  ::waitpid(process, &status, 0);
  return status;
}

pid_t FaultTest::worker_of(pid_t tuner, const std::string& role) {
  const std::string wanted = std::string("worker") + '\0' + role + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(read(entry.path() / "stat")) != tuner) continue;
    if (read(entry.path() / "cmdline").find(wanted) != std::string::npos) return std::stoi(name);
  }
  return 0;
}

}  // namespace tunesmith
