// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/reference_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string_view>
#include <variant>

#include "generator/error.h"
#include "generator/threads.h"
#include "tuner/device/check_data.h"
#include "tuner/device/child.h"

namespace tunesmith {
namespace {

constexpr std::string_view socket_prefix = "unix:";
constexpr std::size_t longest_line = 4000;
constexpr std::size_t shown_errors_bytes = 2000;

// The names and words of ops are identifiers, or nearly; characters that JSON would misread are escaped all
// the same.
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

// The line that asks the program; `asked` is its last pair.
std::string question(const Op& op, const Problem& problem, const std::string& asked) {
  std::string text = "{\"op\": " + json_text(op.name) + ", \"problem\": {";
  for (const auto& [name, value] : problem.entries())
    text += (text.back() == '{' ? "" : ", ") + json_text(name) + ": " + json_of(value);
  text += "}, \"arrays\": [";
  for (const Argument& argument : op.arguments) {
    text += (text.back() == '[' ? "" : ", ") + std::string("{\"name\": ") + json_text(argument.name) +
            ", \"role\": " + json_text(name(argument.role)) +
            ", \"dtype\": " + json_text(name(argument.dtype(problem))) + ", \"extents\": [";
    for (const std::int64_t extent : argument.extents(problem))
      text += (text.back() == '[' ? "" : ", ") + std::to_string(extent);
    text += "]}";
  }
  return text + "], " + asked + "}\n";
}

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

ReferenceProgram::ReferenceProgram(const std::string& words) : words_(words) {
  if (words.starts_with(socket_prefix)) {
    socket_ = connected(words.substr(socket_prefix.size()));
    if (socket_ < 0) fail(std::string("cannot be reached: ") + std::strerror(errno));
    return;
  }
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    fail(std::string("cannot be started: ") + std::strerror(errno));
  errors_ = ::memfd_create("tunesmith-reference", MFD_CLOEXEC);
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

ReferenceProgram::~ReferenceProgram() {
  ::close(socket_);
  if (errors_ >= 0) ::close(errors_);
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ReferenceProgram::fail(const std::string& what) const {
  throw Error("The reference " + words_ + " " + what + (what.ends_with('.') ? "" : "."));
}

// The program closed its end: its printed text says why.
void ReferenceProgram::fail_as_ended() {
  const std::string words = last_words(errors_, shown_errors_bytes);
  fail("ended without an answer" + (words.empty() ? "" : "; it printed: " + words));
}

void ReferenceProgram::write(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::send(socket_, at, size, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_as_ended();
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

void ReferenceProgram::read(void* bytes, std::size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::recv(socket_, at, size, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_as_ended();
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

std::string ReferenceProgram::read_line() {
  std::string line;
  for (char c = 0; line.size() < longest_line; line += c) {
    read(&c, 1);
    if (c == '\n') return line;
  }
  fail("answered with a line of more than " + std::to_string(longest_line) + " characters");
}

// An array's elements as a device holds them. They come as doubles; with `integers_as_such` 64-bit integers
// come as integers, because a double does not have all their digits.
std::string ReferenceProgram::read_array(const Argument& argument, const Problem& problem,
                                         bool integers_as_such) {
  const DType dtype = argument.dtype(problem);
  std::string words(static_cast<std::size_t>(elements(argument, problem)) * sizeof(double), '\0');
  read(words.data(), words.size());
  if (integers_as_such && (dtype == DType::i64 || dtype == DType::u64)) return words;
  const std::vector<double> values = unpack(DType::f64, words);
  for (std::size_t i = 0; is_whole(dtype) && i < values.size(); ++i) {
    if (round_to(dtype, values[i]) == values[i]) continue;
    fail("gave " + number_text(values[i]) + " as element " + std::to_string(i) + " of " + argument.name +
         " on " + problem.text() + ", which " + std::string(name(dtype)) + " cannot hold");
  }
  return pack(dtype, values);
}

std::string ReferenceProgram::ask(const Op& op, const Problem& problem,
                                  std::span<const std::vector<double>> inputs, int output) {
  const Argument& argument = op.arguments[static_cast<std::size_t>(output)];
  const std::string line = question(op, problem, "\"output\": " + json_text(argument.name));
  write(line.data(), line.size());
  for (const std::vector<double>& values : inputs) write(values.data(), values.size() * sizeof(double));
  if (const std::string answer = read_line(); answer != "ok")
    fail("failed on " + problem.text() + ": " + answer);
  return read_array(argument, problem, true);
}

void ReferenceProgram::take_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                                   std::vector<std::vector<double>>& inputs) {
  const std::string line = question(op, problem, "\"inputs\": true, \"seed\": " + std::to_string(seed));
  write(line.data(), line.size());
  std::istringstream answer(read_line());
  std::string word;
  if (!(answer >> word) || word != "ok") fail("failed on " + problem.text() + ": " + answer.str());
  while (answer >> word) {
    const auto found = std::find_if(op.arguments.begin(), op.arguments.end(), [&](const Argument& one) {
      return one.name == word && one.role != Role::output;
    });
    if (found == op.arguments.end()) fail("gave " + word + ", which is not an input of " + op.name);
    inputs[static_cast<std::size_t>(found - op.arguments.begin())] =
        unpack(found->dtype(problem), read_array(*found, problem, false));
  }
}

}  // namespace tunesmith
