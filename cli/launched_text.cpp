// SPDX-License-Identifier: Apache-2.0
#include "cli/launched_text.h"

#include <algorithm>
#include <vector>

#include "generator/number_text.h"

namespace tunesmith {
namespace {

// The longest group of steps that is found to be repeated.
constexpr std::size_t most_together = 8;

struct Line {
  std::string what, arguments;
};

std::string extent_text(const Extent& extent) {
  const bool is_line = extent.y == 1 && extent.z == 1;
  std::string text = std::to_string(extent.x);
  if (!is_line) text += " x " + std::to_string(extent.y);
  if (extent.z != 1) text += " x " + std::to_string(extent.z);
  return text;
}

std::string array_name(const Op& op, const Work& work, const ArgumentPointer& pointer) {
  static_cast<void>(work);
  return op.arguments[static_cast<std::size_t>(pointer.argument)].name;
}

std::string array_name(const Op& op, const Work& work, const WorkspacePointer& pointer) {
  static_cast<void>(op);
  for (const WorkspaceArray& one : work.workspace_arrays)
    if (one.offset_bytes == pointer.offset_bytes) return one.name;
  return "workspace + " + std::to_string(pointer.offset_bytes);
}

std::string argument_text(const Op& op, const Work& work, const KernelArgument& argument) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using Type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, ArgumentPointer> || std::is_same_v<Type, WorkspacePointer>) {
          return array_name(op, work, value);
        } else if constexpr (std::is_same_v<Type, BoxedArray>) {
          return (value.walks() == 0 ? "boxes of " : "pixels of ") +
                 std::visit([&](const auto& pointer) { return array_name(op, work, pointer); }, value.array);
        } else if constexpr (is_array<Type>) {
          return "a struct of " + std::to_string(value.size() * sizeof(value[0])) + " bytes";
        } else if constexpr (std::is_floating_point_v<Type>) {
          return printed("%g", static_cast<double>(value));
        } else {
          return std::to_string(value);
        }
      },
      argument);
}

Line line_of(const Op& op, const Work& work, const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step)) {
    Line made{.what = launch->kernel + "<<<" + extent_text(launch->grid) + ", " + extent_text(launch->block),
              .arguments = {}};
    if (launch->dynamic_shared_bytes > 0)
      made.what += ", " + std::to_string(launch->dynamic_shared_bytes) + " bytes";
    made.what += ">>>";
    for (const KernelArgument& one : launch->arguments)
      made.arguments += (made.arguments.empty() ? "(" : ", ") + argument_text(op, work, one);
    made.arguments += launch->arguments.empty() ? "()" : ")";
    return made;
  }
  if (const auto* copy = std::get_if<ConstantCopy>(&step)) {
    if (copy->argument < 0)
      return {.what = "the variable " + copy->symbol + " is set to zero", .arguments = {}};
    return {.what = "the variable " + copy->symbol + " is filled from " +
                    array_name(op, work, ArgumentPointer{copy->argument}),
            .arguments = {}};
  }
  const Zero& zero = std::get<Zero>(step);
  const std::string name =
      std::visit([&](const auto& pointer) { return array_name(op, work, pointer); }, zero.what);
  return {.what = name + " is set to zero", .arguments = {}};
}

}  // namespace

std::string launched_text(const Op& op, const Work& work, const std::string& opening) {
  std::vector<Line> lines;
  for (const Step& step : work.steps) lines.push_back(line_of(op, work, step));
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    // The group of steps that is repeated most from here on.
    std::size_t together = 1, times = 1;
    for (std::size_t size = 1; size <= most_together && at + 2 * size <= lines.size(); ++size) {
      std::size_t count = 1;
      const auto equal = [&](std::size_t n) {
        for (std::size_t i = 0; i < size; ++i)
          if (lines[at + i].what != lines[at + n * size + i].what) return false;
        return true;
      };
      while (at + (count + 1) * size <= lines.size() && equal(count)) ++count;
      if (count > 1 && count * size > times * together) {
        together = size;
        times = count;
      }
    }
    for (std::size_t i = 0; i < together; ++i) {
      bool is_same = true;
      for (std::size_t n = 1; n < times; ++n)
        is_same &= lines[at + i].arguments == lines[at + n * together + i].arguments;
      text += opening;
      if (times > 1) text += std::to_string(times) + (together > 1 ? " times in turn: " : " times: ");
      text += lines[at + i].what + lines[at + i].arguments;
      if (!is_same) text += ", with other arguments each time";
      text += "\n";
    }
    at += together * times;
  }
  return text;
}

}  // namespace tunesmith
