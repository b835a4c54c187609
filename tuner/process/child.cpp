// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "generator/threads.h"

namespace tunesmith {
namespace {

constexpr double send_timeout_s = 10;      // the worker is idle when a message is sent, so it reads at once
constexpr off_t most_words_bytes = 65536;  // limit of a worker's printed text; a kernel may print in a loop
constexpr std::size_t shown_words_bytes = 300;

// A process that was killed ends in milliseconds, one with a CUDA context and much memory in a second.
constexpr auto longest_end = std::chrono::seconds(5);
constexpr auto longest_pause = std::chrono::microseconds(5000);

// Runs between fork and exec, so it calls only functions that are safe there.
[[noreturn]] void become_worker(int socket, int words, pid_t tuner, const char* role,
                                const char* const* environment) {
  unblock_signals();
  ::setpgid(0, 0);  // a compiler that the worker starts ends with it
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != tuner) ::_exit(1);
  // dup2 clears close-on-exec, except onto itself.
  if (socket == worker_descriptor) {
    ::fcntl(socket, F_SETFD, 0);
  } else {
    if (words == worker_descriptor) words = ::fcntl(words, F_DUPFD_CLOEXEC, worker_descriptor + 1);
    ::dup2(socket, worker_descriptor);
  }
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, 0);
  ::dup2(words, 1);
  ::dup2(words, 2);
  const char* const arguments[] = {"tunesmith", "worker", role, nullptr};
  ::execve("/proc/self/exe", const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
  ::_exit(127);
}

// Page faults cost a compiler 5 to 10 % of its time, and a reference that fills gigabytes most of it: so
// glibc's malloc is told to keep freed memory and, from 2.35 on, to ask for huge pages.
std::vector<const char*> worker_environment() {
  static constexpr const char* name = "GLIBC_TUNABLES";
  std::vector<const char*> environment;
  for (char** variable = ::environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  if (::getenv(name) == nullptr) {
    environment.push_back(
        "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.trim_threshold=1073741824:"
        "glibc.malloc.mmap_threshold=33554432:glibc.malloc.top_pad=33554432");
  }
  environment.push_back(nullptr);
  return environment;
}

}  // namespace

Child::Child(const std::string& role) {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(std::string("A worker's socket cannot be made: ") + ::strerror(errno) + ".");
  }
  words_ = ::memfd_create("tunesmith-worker", MFD_CLOEXEC);
  if (words_ >= 0) ::fcntl(words_, F_SETFL, O_APPEND);
  const pid_t tuner = ::getpid();
  const std::vector<const char*> environment = worker_environment();
  process_ = ::fork();
  if (process_ == 0) become_worker(ends[1], words_, tuner, role.c_str(), environment.data());
  ::close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    const int error = errno;
    ::close(socket_);
    ::close(words_);
    throw Error(std::string("A worker process cannot be started: ") + ::strerror(error) + ".");
  }
}

Child::~Child() {
  kill();
  end();
  ::close(socket_);
  if (words_ >= 0) ::close(words_);
}

bool Child::send(const Frame& frame) { return send_frame(socket_, frame, send_timeout_s); }

std::optional<Frame> Child::receive() {
  std::array<char, 65536> piece;
  while (!gone_) {
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (count > 0) {
      buffer_.add({piece.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      gone_ = true;
    } else if (errno == EAGAIN) {
      break;
    }
  }
  Frame frame;
  if (!buffer_.next(frame)) return std::nullopt;
  if (words_ >= 0 && ::lseek(words_, 0, SEEK_END) > most_words_bytes) (void)!::ftruncate(words_, 0);
  return frame;
}

void Child::say_goodbye() { ::shutdown(socket_, SHUT_WR); }

void Child::kill() {
  if (process_ <= 0 || !end_.empty()) return;
  ::kill(-process_, SIGKILL);  // with the compilers that it started
  ::kill(process_, SIGKILL);   // if it died before it had a group
}

std::string Child::end() {
  if (!end_.empty()) return end_;
  // WNOWAIT: until the process is waited for, no other process can get its group's number.
  siginfo_t seen = {};
  const Clock::time_point deadline = Clock::now() + longest_end;
  for (auto pause = std::chrono::microseconds(50);; pause = std::min(2 * pause, longest_pause)) {
    seen.si_pid = 0;
    ::waitid(P_PID, static_cast<id_t>(process_), &seen, WEXITED | WNOWAIT | WNOHANG);
    if (seen.si_pid != 0) break;
    if (Clock::now() >= deadline) {
      // A process that hangs in a driver does not even end by SIGKILL. It is left to init, which waits for
      // ever.
      kill();
      return end_ = "did not end within 5 s (process " + std::to_string(process_) +
                    ", which hangs in the system and was left behind)";
    }
    std::this_thread::sleep_for(pause);
  }
  ::kill(-process_, SIGKILL);  // processes that it may have left behind
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* const name = ::sigabbrev_np(signal);
    signal_name_ = name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
    end_ = "was ended by " + signal_name_ + " (" + ::strsignal(signal) + ")";
  } else {
    end_ = "ended with exit code " + std::to_string(WEXITSTATUS(status));
  }
  if (const std::string words = last_words(words_, shown_words_bytes); !words.empty())
    end_ += "; its last output: " + words;
  return end_;
}

std::string last_words(int file, std::size_t most_bytes) {
  if (file < 0) return {};
  const off_t size = ::lseek(file, 0, SEEK_END);
  std::string words(most_bytes, '\0');
  const off_t from = size > static_cast<off_t>(words.size()) ? size - static_cast<off_t>(words.size()) : 0;
  const ssize_t count = ::pread(file, words.data(), words.size(), from);
  words.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  for (char& c : words) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  words.erase(words.find_last_not_of(' ') + 1);
  return words;
}

void wait_for(const std::vector<int>& descriptors, double seconds) {
  std::vector<pollfd> waits;
  waits.reserve(descriptors.size());
  for (const int descriptor : descriptors) waits.push_back({descriptor, POLLIN, 0});
  const double milliseconds = seconds < 0 ? 0 : seconds * 1e3;
  ::poll(waits.data(), waits.size(), static_cast<int>(milliseconds) + 1);
}

}  // namespace tunesmith
