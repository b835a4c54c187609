// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/problem_arrays.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/launch_check.h"
#include "tuner/device/check_data.h"

namespace tunesmith {
namespace {

// Guard bytes and alignment of workspaces cost memory, so few sizes are kept.
constexpr std::size_t kept_workspaces = 12;

bool is_input(Role role) { return role != Role::output; }
bool is_output(Role role) { return role != Role::input; }

// The number at that byte, as text.
std::string text_at(Device& device, const DeviceMemory& array, DType dtype, std::int64_t offset) {
  std::array<char, 16> element{};
  device.download(element.data(), static_cast<const char*>(array.get()) + offset, bytes(dtype));
  return element_text(dtype, element.data());
}

const void* permitted_of(const ProblemArrays::Array& array) {
  return (array.permitted_more ? array.permitted_more : array.permitted)->get();
}

}  // namespace

std::string coordinates(std::int64_t index, const std::vector<std::int64_t>& extents) {
  std::string text;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(extents[axis], 1);
    text = std::to_string(axis == 0 ? index : index % extent) + (text.empty() ? "" : ", ") + text;
    index /= extent;
  }
  return "[" + text + "]";
}

std::string outside_text(const Outside& written, std::int64_t element, const std::string& unit,
                         const std::string& what) {
  const auto counted = [&](std::int64_t bytes) {
    const std::int64_t count = (bytes + element - 1) / element;
    return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
  };
  if (written.after > 0) return counted(written.after) + " beyond the end of " + what;
  if (written.before > 0) return counted(written.before) + " before the start of " + what;
  return "";
}

ProblemArrays::ProblemArrays(Device& device, const Op& op, const CheckPart& part)
    : device_(&device), op_(&op), problem_(part.problem), set_(part.set) {
  const auto uploaded = [&](const auto& values) {
    const auto size = static_cast<std::int64_t>(values.size_bytes());
    DeviceMemory memory(device, size);
    device.upload(memory.get(), values.data(), size);
    return memory;
  };
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const Argument& argument = op.arguments[i];
    const DType dtype = argument.dtype(part.problem);
    const std::int64_t count = elements(argument, part.problem);
    Array array{dtype,
                argument.role,
                fields_of(op, argument, part.problem),
                record_of(op, argument),
                DeviceMemory(device, count * bytes(dtype)),
                std::nullopt,
                std::nullopt,
                std::nullopt,
                std::nullopt};
    if (is_input(argument.role)) {
      array.initial = uploaded(part.arrays[i].initial);
      restore(array);
    }
    if (is_output(argument.role)) {
      array.expected = uploaded(part.arrays[i].expected);
      array.permitted = uploaded(part.arrays[i].permitted);
    }
    if (argument.role == Role::inout) repeatable_ = false;
    pointers_.push_back(array.live.get());
    arrays_.push_back(std::move(array));
  }
}

std::string ProblemArrays::where() const {
  return problem_.text() + (set_ > 0 ? ", where " + describe_inputs(*op_, set_) : "");
}

void ProblemArrays::align(std::int64_t bytes) {
  alignment_ = bytes;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    Array& array = arrays_[i];
    const std::int64_t size = array.live.bytes(), element = array.element_alignment();
    array.live = DeviceMemory(*device_, size, size < bytes ? element : std::max(bytes, element));
    if (array.initial) restore(array);
    pointers_[i] = array.live.get();
  }
}

void ProblemArrays::permit(double times) {
  if (times == times_) return;
  times_ = times;
  for (Array& array : arrays_) {
    array.permitted_more.reset();
    if (!array.permitted || times == 1) continue;
    std::string packed(static_cast<std::size_t>(array.permitted->bytes()), '\0');
    device_->download(packed.data(), array.permitted->get(), array.permitted->bytes());
    for (const ArrayField& field : array.fields) {
      char* const begin = packed.data() + field.permitted_at;
      std::vector<double> errors;
      for (std::int64_t n = 0; n < field.numbers; ++n)
        errors.push_back(times * unpack_permitted(field.dtype(), begin + n * permitted_bytes(field.dtype())));
      std::ranges::copy(pack_permitted(field.dtype(), errors), begin);
    }
    array.permitted_more.emplace(*device_, array.permitted->bytes());
    device_->upload(array.permitted_more->get(), packed.data(), array.permitted->bytes());
  }
}

void ProblemArrays::restore(Array& array) {
  device_->copy(array.live.get(), array.initial->get(), array.live.bytes());
}

void ProblemArrays::restore_inputs() {
  for (Array& array : arrays_)
    if (array.role == Role::input) restore(array);
}

void ProblemArrays::reset(Poison poison) {
  for (Array& array : arrays_) {
    if (array.role == Role::output) device_->fill(array.live.get(), byte_of(poison), array.live.bytes());
    if (array.role == Role::inout) restore(array);
  }
}

std::string ProblemArrays::written_beyond() const {
  std::string beyond;
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Outside written = device_->written_outside(arrays_[i].live.get());
    if (beyond.empty())
      beyond = outside_text(written, arrays_[i].element_bytes(), "element", op_->arguments[i].name);
  }
  return beyond;
}

// The first wrong number of an array of structs is that of the first wrong struct.
Comparison ProblemArrays::compare(std::size_t argument) const {
  const Array& array = arrays_[argument];
  Comparison all;
  std::int64_t first_struct = 0;
  for (const ArrayField& field : array.fields) {
    const Comparison one = device_->compare(
        array.live.get(), is_exact(*op_, field.dtype()) ? DType::b64 : field.dtype(),
        array.expected->as<const double>() + field.first,
        static_cast<const char*>(permitted_of(array)) + field.permitted_at, field.numbers, field.spacing());
    all.max_error = std::max(all.max_error, one.max_error);
    if (one.wrong == 0) continue;
    const std::int64_t at = one.first_wrong / field.member.numbers();
    if (all.wrong == 0 || at < first_struct) {
      first_struct = at;
      all.first_wrong = field.first + one.first_wrong;
      all.got = one.got;
      all.expected = one.expected;
    }
    all.wrong += one.wrong;
  }
  return all;
}

ProblemArrays::Number ProblemArrays::number(std::size_t argument, std::int64_t number) const {
  const std::vector<ArrayField>& fields = arrays_[argument].fields;
  const auto next = std::find_if(fields.begin(), fields.end(), [&](const ArrayField& field) {
    return number < field.first + field.numbers;
  });
  const ArrayField& field = next == fields.end() ? fields.back() : *next;
  const std::int64_t at = number - field.first;
  return {&field, at, field.offset_of(at), field.permitted_at + at * permitted_bytes(field.dtype())};
}

std::string ProblemArrays::name_of(std::size_t argument, std::int64_t number) const {
  const Argument& described = op_->arguments[argument];
  const Array& array = arrays_[argument];
  std::vector<std::int64_t> extents = described.extents(problem_);
  if (array.record == nullptr) return described.name + coordinates(number, extents);
  const Number one = this->number(argument, number);
  if (extents.back() == array.record->layout.bytes) {
    extents.pop_back();
  } else {
    extents.clear();
  }
  if (extents.empty()) extents = {one.field->numbers};
  const std::int64_t each = one.field->member.numbers();
  return described.name + coordinates(one.at / each, extents) + "." +
         name_of_number(one.field->member, one.at % each);
}

std::string ProblemArrays::difference(std::size_t argument, const Comparison& comparison) const {
  const Array& array = arrays_[argument];
  const Number at = number(argument, comparison.first_wrong);
  const DType dtype = at.field->dtype();
  std::array<char, sizeof(double)> permitted{};
  device_->download(permitted.data(), static_cast<const char*>(permitted_of(array)) + at.permitted_at,
                    permitted_bytes(dtype));
  const std::string unit = array.record == nullptr ? " element" : " number";
  return name_of(argument, comparison.first_wrong) + " is " +
         text_at(*device_, array.live, dtype, at.offset) + ", expected " +
         text_at(*device_, *array.expected, is_exact(*op_, dtype) ? dtype : DType::f64,
                 comparison.first_wrong * static_cast<std::int64_t>(sizeof(double))) +
         " within " + number_text(unpack_permitted(dtype, permitted.data())) + "; " +
         std::to_string(comparison.wrong) + " of " + std::to_string(numbers_of(array.fields)) + unit +
         (comparison.wrong == 1 ? "s is wrong" : "s are wrong");
}

CheckFailure ProblemArrays::fault(const void* address, const void* workspace,
                                  std::int64_t workspace_bytes) const {
  const auto beyond = [&](const void* memory, std::int64_t bytes, std::int64_t element,
                          const std::string& unit, const std::string& what) {
    const std::int64_t at = static_cast<const char*>(address) - static_cast<const char*>(memory);
    const std::string is = at < 0 ? "before the start of " + what
                                  : unit + " " + std::to_string(at / element) + " of " + what +
                                        ", which has " + std::to_string(bytes / element);
    return CheckFailure{Verdict::out_of_bounds, "The variant accessed " + is + ", on " + where() + "."};
  };
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const Array& array = arrays_[i];
    if (device_->guards(array.live.get(), address))
      return beyond(array.live.get(), array.live.bytes(), array.element_bytes(), "element",
                    op_->arguments[i].name);
  }
  if (workspace_bytes > 0 && device_->guards(workspace, address))
    return beyond(workspace, workspace_bytes, 1, "byte", "the workspace");
  return {Verdict::crash, "The kernel accessed memory that is not there, on " + where() + "."};
}

void* Workspaces::get(std::int64_t bytes) {
  if (bytes <= 0) return nullptr;
  auto found = all_.find(bytes);
  if (found == all_.end()) {
    if (all_.size() >= kept_workspaces) all_.clear();
    found = all_.emplace(bytes, DeviceMemory(device_, bytes)).first;
  }
  return found->second.get();
}

void Workspaces::prepare(const Work& work, Poison poison) {
  void* const space = get(work.workspace_bytes);
  if (space == nullptr) return;
  device_.fill(space, byte_of(poison), work.workspace_bytes);
  device_.fill(space, 0, bytes_kept_zero(work));
}

bool Workspaces::zeroed_part_is_zero(const Work& work) {
  const std::int64_t bytes = bytes_kept_zero(work);
  if (bytes == 0) return true;
  std::string part(static_cast<std::size_t>(bytes), '\0');
  device_.download(part.data(), get(work.workspace_bytes), bytes);
  return part.find_first_not_of('\0') == std::string::npos;
}

std::string Workspaces::written_beyond(std::int64_t bytes) {
  if (bytes <= 0) return "";
  return outside_text(device_.written_outside(get(bytes)), 1, "byte", "the workspace");
}

std::string Workspaces::written_beyond_any() {
  std::string beyond;
  for (const auto& [bytes, memory] : all_) {
    const Outside written = device_.written_outside(memory.get());
    if (beyond.empty()) beyond = outside_text(written, 1, "byte", "the workspace");
  }
  return beyond;
}

bool serves(const Op& op, const Template& tmpl, const Config& config, const Problem& problem,
            const DeviceFacts& device, const Values& constants) {
  return !why_not(tmpl, problem, device) && tmpl.space(problem, device).find(config.values()) &&
         compiled_in(op, tmpl, problem) == constants;
}

}  // namespace tunesmith
