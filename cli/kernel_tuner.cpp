// SPDX-License-Identifier: Apache-2.0
#include "cli/kernel_tuner.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/render.h"

extern char** environ;

namespace tunesmith {

const Files& script_readers();  // written by the build

namespace {

// Reads a pipe to its end.
std::string contents_of(int pipe) {
  std::string text;
  std::array<char, 4096> some;
  for (ssize_t count; (count = ::read(pipe, some.data(), some.size())) != 0;) {
    if (count > 0) text.append(some.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  ::close(pipe);
  return text;
}

// Runs Python on the program with these arguments. Returns its exit code and all that it printed.
std::pair<int, std::string> run_python(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"python3", "-I", "-c", program});
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& one : arguments) words.push_back(one.data());
  words.push_back(nullptr);
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("A pipe to python3 cannot be made.");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, "python3", &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  const std::string printed = contents_of(ends[0]);
  if (failure != 0)
    throw UsageError(
        "A script is read by python3, which is not on the PATH; install Python, or describe the .cu.");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, printed};
}

}  // namespace

TunedScript read_tuned_script(const std::string& script, const std::string& kernel) {
  std::vector<std::string> arguments = {script};
  if (!kernel.empty()) arguments.push_back(kernel);
  auto [code, text] = run_python(script_readers().at("kernel_tuner.py"), std::move(arguments));
  while (code != 0 && !text.empty() && text.back() == '\n') text.pop_back();
  if (code == 2) throw UsageError(text);
  if (code != 0)
    throw Error("The script " + script + " was not read: " + text.substr(text.rfind('\n') + 1) +
                ". Describe its .cu by tunesmith describe FILE.cu.");
  const std::size_t end = text.find('\n');
  TunedScript made{.file = {}, .text = text.substr(end + 1)};
  constexpr std::string_view of_file = "file ";
  if (text.starts_with(of_file)) made.file = text.substr(of_file.size(), end - of_file.size());
  return made;
}

}  // namespace tunesmith
