// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/asked_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <variant>

#include "generator/error.h"
#include "generator/threads.h"
#include "tuner/process/child.h"

namespace tunesmith {
namespace {

constexpr std::string_view socket_prefix = "unix:";
constexpr std::size_t longest_line = 4000;
constexpr std::size_t shown_errors_bytes = 2000;

int connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  path.copy(&address.sun_path[0], path.size());
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0 || ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return made;
  const int error = errno;
  ::close(made);
  errno = error;
  return -1;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return json + '"';
}

std::string json_of(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : json_text(std::get<std::string>(value));
}

AskedProgram::AskedProgram(const std::string& words, std::string_view role) : words_(words), role_(role) {
  if (words.starts_with(socket_prefix)) {
    socket_ = connected(words.substr(socket_prefix.size()));
    if (socket_ < 0) fail(std::string("cannot be reached: ") + std::strerror(errno));
    return;
  }
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail(std::string("cannot be started: ") + std::strerror(errno));
  errors_ = ::memfd_create("tunesmith-asked", MFD_CLOEXEC);
  if (errors_ >= 0) ::fcntl(errors_, F_SETFL, O_APPEND);
  process_ = ::fork();
  if (process_ == 0) {
    unblock_signals();
    ::dup2(ends[1], 0);
    ::dup2(ends[1], 1);
    if (errors_ >= 0) ::dup2(errors_, 2);
    ::execl("/bin/sh", "sh", "-c", words.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  const int error = errno;
  ::close(ends[1]);
  socket_ = ends[0];
  if (process_ >= 0) return;
  ::close(socket_);
  if (errors_ >= 0) ::close(errors_);
  fail(std::string("cannot be started: ") + std::strerror(error));
}

AskedProgram::~AskedProgram() {
  ::close(socket_);
  if (errors_ >= 0) ::close(errors_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void AskedProgram::fail(const std::string& what) const {
  throw Error("The " + role_ + " " + words_ + " " + what + (what.ends_with('.') ? "" : "."));
}

// The program closed its end: its printed text says why.
void AskedProgram::fail_as_ended() {
  const std::string words = last_words(errors_, shown_errors_bytes);
  fail("ended without an answer" + (words.empty() ? "" : "; it printed: " + words));
}

void AskedProgram::write(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::send(socket_, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_as_ended();
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

void AskedProgram::read(void* bytes, std::size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::recv(socket_, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_as_ended();
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

std::string AskedProgram::read_line() {
  std::string line;
  for (char c = 0; line.size() < longest_line; line += c) {
    read(&c, 1);
    if (c == '\n') return line;
  }
  fail("answered with a line of more than " + std::to_string(longest_line) + " characters");
}

}  // namespace tunesmith
