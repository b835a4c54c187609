// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/check_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "generator/error.h"
#include "kernel_file/user_kernel.h"
#include "tuner/device/check_data.h"
#include "tuner/device/fields.h"
#include "tuner/device/kernel_reference.h"

namespace tunesmith {
namespace {

constexpr std::size_t alignment = 64;
constexpr double most_without_companions = 1 << 26;  // bytes
constexpr double most_with_all_values = 1 << 21;     // bytes, and operations
constexpr int complete = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

// Hands out ranges of memory, or only counts their bytes.
class Layout {
 public:
  explicit Layout(char* memory) : memory_(memory) {}
  template <typename T>
  std::span<T> take(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    T* const start = memory_ != nullptr ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    used_ += (size * sizeof(T) + alignment - 1) / alignment * alignment;
    return {start, start != nullptr ? size : 0};
  }
  std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

CheckPart part_of(const Op& op, const Problem& problem, int set, Layout& layout) {
  CheckPart part{problem, set, {}};
  for (const Argument& argument : op.arguments) {
    const std::int64_t count = elements(argument, problem);
    CheckArray& array = part.arrays.emplace_back();
    if (argument.role != Role::output)
      array.initial = layout.take<char>(count * bytes(argument.dtype(problem)));
    if (argument.role == Role::input) continue;
    const std::vector<ArrayField> fields = fields_of(op, argument, problem);
    array.expected = layout.take<double>(numbers_of(fields));
    array.permitted = layout.take<char>(permitted_bytes(fields));
  }
  return part;
}

bool is_of_equals(const Contents& contents) {
  return contents.spread == Contents::uniform && !contents.bounds && contents.least == contents.most;
}

// True if many elements of an input are equal in this set of values.
bool has_many_equal(const Op& op, std::size_t set) {
  return std::any_of(op.arguments.begin(), op.arguments.end(), [&](const Argument& argument) {
    if (argument.role == Role::output || argument.contents.empty()) return false;
    const Contents& contents = argument.contents[(set - 1) % argument.contents.size()];
    return contents.spread == Contents::few || is_of_equals(contents);
  });
}

// True if all integers of an input are equal.
bool has_equal_integers(const Op& op, const Problem& problem, std::size_t set) {
  return std::any_of(op.arguments.begin(), op.arguments.end(), [&](const Argument& argument) {
    return argument.role != Role::output && !argument.contents.empty() && is_whole(argument.dtype(problem)) &&
           is_of_equals(argument.contents[(set - 1) % argument.contents.size()]);
  });
}

// True if an input holds integers whose sums are large.
bool has_large_sums(const Op& op, const Problem& problem, std::size_t set) {
  return std::any_of(op.arguments.begin(), op.arguments.end(), [&](const Argument& argument) {
    return argument.role != Role::output && !argument.contents.empty() && is_whole(argument.dtype(problem)) &&
           argument.contents[(set - 1) % argument.contents.size()].spread == Contents::distant;
  });
}

std::vector<CheckPart> lay_out(const Op& op, const Problem& problem, Layout& layout) {
  std::vector<CheckPart> parts = {part_of(op, problem, 0, layout)};
  std::vector<Problem> companions;
  for (const Problem& companion : op.companions(problem)) {
    companions.push_back(complete_problem(op, companion));
    parts.push_back(part_of(op, companions.back(), 0, layout));
  }
  // The other sets of values are dealt out to the companions, the largest first; without companions, to the
  // problem itself if it is small.
  if (companions.empty() && bytes_moved(op, problem) <= most_without_companions) companions = {problem};
  std::stable_sort(companions.begin(), companions.end(), [&](const Problem& a, const Problem& b) {
    return bytes_moved(op, a) > bytes_moved(op, b);
  });
  const auto others = static_cast<std::size_t>(value_sets(op) - 1);
  if (companions.empty() || others == 0) return parts;
  for (std::size_t n = 0; n < std::max(others, companions.size()); ++n) {
    parts.push_back(part_of(op, companions[n % companions.size()], 1 + static_cast<int>(n % others), layout));
  }
  const auto cost_of = [&](const Problem& one) { return std::max(bytes_moved(op, one), op.flops(one)); };
  // A counter of 16 bits overflows in the largest companion alone, where all elements count there.
  if (op.user_kernel != nullptr && companions.front() != problem &&
      cost_of(companions.front()) <= most_with_all_values)
    for (std::size_t n = 1; n <= others; ++n)
      if (has_equal_integers(op, problem, n))
        parts.push_back(part_of(op, companions.front(), static_cast<int>(n), layout));
  // For a user's own kernel the problem itself is also checked with many equal elements and with large sums:
  // a counter or a narrow sum overflows only there.
  if (op.user_kernel == nullptr || companions.front() == problem || cost_of(problem) > most_with_all_values)
    return parts;
  for (std::size_t n = 1; n <= others; ++n)
    if (has_many_equal(op, n) || has_large_sums(op, problem, n))
      parts.push_back(part_of(op, problem, static_cast<int>(n), layout));
  return parts;
}

void fill(const Op& op, const CheckPart& part, std::uint64_t seed) {
  std::vector<std::vector<double>> inputs = make_inputs(op, part.problem, seed, part.set);
  take_inputs(op, part.problem, seed, inputs);
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const CheckArray& array = part.arrays[i];
    const DType dtype = op.arguments[i].dtype(part.problem);
    const auto each = static_cast<std::size_t>(permitted_bytes(dtype));
    if (!array.initial.empty()) {
      const std::string packed = pack(dtype, inputs[i]);
      std::memcpy(array.initial.data(), packed.data(), packed.size());
    }
    if (!op.reference && !array.expected.empty()) {  // a kernel, which computes all elements at once
      const std::vector<ArrayField> fields = fields_of(op, op.arguments[i], part.problem);
      const std::vector<ExpectedOutput> all = references_of(op, part.problem, inputs, static_cast<int>(i));
      const double factor = usual_errors(op, part.problem, part.set);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const ExpectedOutput& expected = all[f];
        std::vector<double> permitted = expected.permitted_error;
        for (double& error : permitted) error *= factor;
        for (std::size_t n = 0; n < expected.error_of_terms.size(); ++n)
          permitted[n] = std::max(permitted[n], expected.error_of_terms[n]);
        double* const to = array.expected.data() + fields[f].first;
        if (is_exact(op, fields[f].dtype())) {
          std::memcpy(to, expected.exact.data(), expected.exact.size());
        } else {
          std::copy(expected.value.begin(), expected.value.end(), to);
        }
        std::ranges::copy(pack_permitted(fields[f].dtype(), permitted),
                          array.permitted.data() + fields[f].permitted_at);
      }
      continue;
    }
    const auto compute = [&](std::size_t begin, std::size_t end) {
      std::vector<double> permitted(end - begin);
      op.reference(part.problem, inputs, static_cast<int>(i), static_cast<std::int64_t>(begin),
                   static_cast<std::int64_t>(end), array.expected.subspan(begin, end - begin), permitted);
      std::ranges::copy(pack_permitted(dtype, permitted), array.permitted.data() + begin * each);
    };
    in_chunks(array.expected.size(), compute, reference_unit(op, part.problem));
  }
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : value_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) fail("be opened");
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  [[noreturn]] static void fail(const std::string& what) {
    throw Error("The memory for inputs and references cannot " + what + ": " + std::strerror(errno) + ".");
  }

 private:
  int value_;
};

char* map(int descriptor, std::size_t size, int protection) {
  void* const memory = ::mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) Descriptor::fail("be mapped");
  return static_cast<char*>(memory);
}

struct MappedMemory {
  char* memory;
  std::size_t bytes;
  ~MappedMemory() { ::munmap(memory, bytes); }
};

}  // namespace

std::vector<CheckPart> check_parts(const Op& op, const Problem& problem, char* memory) {
  Layout layout(memory);
  return lay_out(op, problem, layout);
}

std::size_t check_bytes(const Op& op, const Problem& problem) {
  Layout layout(nullptr);
  lay_out(op, problem, layout);
  return std::max(layout.used(), alignment);  // an empty file cannot be mapped
}

namespace {

void must_tell_from_zero(const Op& op, const CheckPart& part, std::size_t argument, const ArrayField& field) {
  const UserKernel* own = op.user_kernel;
  const DType dtype = field.dtype();
  const auto numbers = static_cast<std::size_t>(field.numbers);
  const double* const expected = part.arrays[argument].expected.data() + field.first;
  const char* const errors = part.arrays[argument].permitted.data() + field.permitted_at;
  const auto each = static_cast<std::size_t>(permitted_bytes(dtype));
  const auto expected_at = [&](std::size_t e) {
    if (!is_exact(op, dtype)) return expected[e];
    return unpack(dtype, {reinterpret_cast<const char*>(expected + e), 8})[0];
  };
  double largest = 0, most_permitted = 0;
  for (std::size_t e = 0; e < numbers; ++e)
    if (const double value = std::abs(expected_at(e)); std::isfinite(value))
      largest = std::max(largest, value);
  // The errors that are permitted because of the terms of a sum are not part of the description's tolerance.
  const double relative = own->relative_tolerance >= 0 ? own->relative_tolerance : default_tolerance(dtype);
  bool passes = true;
  for (std::size_t e = 0; e < numbers && passes; ++e) {
    const double value = std::abs(expected_at(e));
    if (!std::isfinite(value)) continue;
    double permitted = unpack_permitted(dtype, errors + e * each);
    if (own->absolute_tolerance < 0) permitted = std::min(permitted, relative * (value + largest));
    passes = value <= permitted;
    most_permitted = std::max(most_permitted, permitted);
  }
  if (passes && largest > 0)
    throw Error("The tolerance of " + op.name + " lets zeros pass for all of " + op.arguments[argument].name +
                (field.member.name.empty() ? "" : "[…]." + field.member.name) + " on " + part.problem.text() +
                ": its largest value is " + number_text(largest, 6) + ", and an error of " +
                number_text(most_permitted, 6) +
                " is permitted. Give a smaller tolerance; absolute is in the output's units.");
}

// A tolerance of the description that lets every small number pass checks nothing. Throws Error.
void must_tell_from_zero(const Op& op, const CheckPart& part) {
  const UserKernel* own = op.user_kernel;
  if (own == nullptr || (own->relative_tolerance < 0 && own->absolute_tolerance < 0)) return;
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (!part.arrays[i].expected.empty())
      for (const ArrayField& field : fields_of(op, op.arguments[i], part.problem))
        must_tell_from_zero(op, part, i, field);
}

}  // namespace

void fill_check_memory(const Op& op, const Problem& problem, std::uint64_t seed, char* memory) {
  const std::vector<CheckPart> parts = check_parts(op, problem, memory);
  for (const CheckPart& part : parts) fill(op, part, seed++);
  must_tell_from_zero(op, parts.front());
}

MemoryFile::MemoryFile() : descriptor_(::memfd_create("tunesmith-check", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (descriptor_ < 0) Descriptor::fail("be made");
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string MemoryFile::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
}

void make_check_file(const Op& op, const Problem& problem, std::uint64_t seed, const std::string& path) {
  const Descriptor file(path, O_RDWR);
  const std::size_t size = check_bytes(op, problem);
  if (::ftruncate(file.get(), 0) != 0 || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
    Descriptor::fail("be made");
  {
    const MappedMemory mapped{map(file.get(), size, PROT_READ | PROT_WRITE), size};
    fill_check_memory(op, problem, seed, mapped.memory);
  }
  if (::fcntl(file.get(), F_ADD_SEALS, complete) != 0) Descriptor::fail("be sealed");
}

CheckFile::CheckFile(const Op& op, const Problem& problem, const std::string& path)
    : bytes_(check_bytes(op, problem)) {
  const Descriptor file(path, O_RDONLY);
  struct stat found {};
  if ((::fcntl(file.get(), F_GET_SEALS) & complete) != complete || ::fstat(file.get(), &found) != 0 ||
      static_cast<std::size_t>(found.st_size) != bytes_) {
    throw Error("The inputs and references of " + problem.text() + " are not complete.");
  }
  memory_ = map(file.get(), bytes_, PROT_READ);
  parts_ = check_parts(op, problem, memory_);
}

CheckFile::~CheckFile() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

}  // namespace tunesmith
