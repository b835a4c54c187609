// SPDX-License-Identifier: Apache-2.0
// Checks a variant on a device against the op's reference: guards, unchanged inputs, every element.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/launch_check.h"
#include "runtime/watch.h"
#include "tests/op_cases.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {

inline bool floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

// The data that a problem is checked with; computed once.
struct Data {
  std::vector<std::string> contents;  ///< by argument, packed
  struct Output {
    std::int64_t elements;
    DeviceMemory value;
    DeviceMemory permitted;
  };
  std::map<int, Output> outputs;
};

// Changes the given random inputs, by argument; the new numbers must be numbers of the dtype.
using Alteration = std::function<void(std::vector<std::vector<double>>& inputs)>;

inline Data make_data(Device& device, const Op& op, const Problem& problem, int set, bool special,
                      const Alteration& alter) {
  std::vector<std::vector<double>> inputs = make_inputs(op, problem, 3, set);
  if (alter) alter(inputs);
  Data data;
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    const DType dtype = op.arguments[a].dtype(problem);
    const std::size_t n = inputs[a].size();
    // Only a few, and only in the largest arrays, so that most outputs stay numbers.
    if (special && !op.arguments[a].finite && n > 500 && floating(dtype)) {
      inputs[a][n / 3] = std::numeric_limits<double>::quiet_NaN();
      inputs[a][n / 2] = std::numeric_limits<double>::infinity();
      inputs[a][n - 1] = -std::numeric_limits<double>::infinity();
    }
    data.contents.push_back(pack(dtype, inputs[a]));
  }
  for (std::size_t a = 0; a < op.arguments.size(); ++a) {
    if (op.arguments[a].role == Role::input) continue;
    const ExpectedOutput expected = reference_of(op, problem, inputs, static_cast<int>(a));
    const auto elements = static_cast<std::int64_t>(expected.value.size());
    const std::string permitted = pack_permitted(op.arguments[a].dtype(problem), expected.permitted_error);
    const auto permitted_size = static_cast<std::int64_t>(permitted.size());
    Data::Output output{elements, DeviceMemory(device, elements * 8), DeviceMemory(device, permitted_size)};
    device.upload(output.value.get(), expected.value.data(), elements * 8);
    device.upload(output.permitted.get(), permitted.data(), permitted_size);
    data.outputs.emplace(static_cast<int>(a), std::move(output));
  }
  return data;
}

// Runs variants on the device and compares with the op's reference. The first wrong one is a failure of the
// test, the others are counted.
class OpChecker {
 public:
  explicit OpChecker(Device& device, Alteration alter = nullptr)
      : device_(&device), alter_(std::move(alter)) {}

  // Runs `binary`, which may be rendered for another problem, on `problem`; false if the device cannot run
  // it.
  bool check(const TemplateCase& which, const std::string& binary, const std::string& suffix,
             const Problem& problem, const Config& config, bool special, bool reverse = false, int set = 0) {
    const auto& [op, tmpl] = which;
    const Work work = tmpl->work(problem, config);
    if (exceeds(work, device().facts())) return false;
    SCOPED_TRACE(op->name + "/" + tmpl->name + " " + config.text() + " on " + problem.text() +
                 (set > 0 ? ", where " + describe_inputs(*op, set) : "") +
                 (special ? ", NaN and infinity among the inputs" : "") +
                 (reverse ? ", threads in reverse" : ""));
    auto& data = data_[problem.text() + (special ? "*" : "") + std::to_string(set)];
    if (data.contents.empty()) data = make_data(device(), *op, problem, set, special, alter_);

    std::unique_ptr<Executable> executable;
    try {
      executable = device().load(binary, suffix, work);
    } catch (const LoadError& error) {
      if (error.cause != LoadError::Cause::resources) throw;
      // Registers and static shared memory are known only now.
      ++refused_;
      return false;
    }
    const std::int64_t alignment = alignment_bytes(*tmpl, problem, config);
    std::vector<DeviceMemory> arrays;
    std::vector<void*> pointers;
    for (std::size_t a = 0; a < op->arguments.size(); ++a) {
      const Argument& argument = op->arguments[a];
      const std::int64_t element = bytes(argument.dtype(problem));
      const std::int64_t size = elements(argument, problem) * element;
      // The pointers have only the least alignment.
      const std::int64_t shift = !special ? 0 : size < alignment ? element : std::max(element, alignment);
      // Otherwise, on the host, the arrays end at unreadable memory.
      arrays.emplace_back(device(), size + shift,
                          shift > 0          ? 256
                          : size < alignment ? element
                                             : std::max(element, alignment));
      pointers.push_back(arrays.back().as<char>() + shift);
      device().fill(arrays.back().get(), byte_of(poison_of(reverse, special)), size + shift);
      if (argument.role != Role::output) device().upload(pointers.back(), data.contents[a].data(), size);
    }
    const DeviceMemory workspace(device(), work.workspace_bytes);
    const unsigned char poison = byte_of(poison_of(reverse, special));
    device().fill(workspace.get(), poison, work.workspace_bytes);
    const std::int64_t zeros = bytes_kept_zero(work);
    device().fill(workspace.get(), 0, zeros);
    executable->emulate(reverse, poison_of(reverse, special));  // no effect on a GPU
    set_block_order(*executable, reverse ? BlockOrder::descending : BlockOrder::ascending);
    const int code = executable->launch(pointers.data(), workspace.get(), nullptr);
    bool right = expect(code == 0, executable->describe(code));
    device().synchronize();

    right &= expect(device().guards_intact(workspace.get()), "The workspace was written outside.");
    std::string zeroed(static_cast<std::size_t>(zeros), '\0');
    device().download(zeroed.data(), workspace.get(), zeros);
    right &= expect(zeroed.find_first_not_of('\0') == std::string::npos,
                    "The zeroed part of the workspace is not zero.");
    for (std::size_t a = 0; a < op->arguments.size(); ++a) {
      const Argument& argument = op->arguments[a];
      right &= expect(device().guards_intact(arrays[a].get()), argument.name + " was written outside.");
      if (argument.role == Role::input) {
        std::string after(data.contents[a].size(), '\0');
        device().download(after.data(), pointers[a], static_cast<std::int64_t>(after.size()));
        right &= expect(after == data.contents[a], "The input " + argument.name + " was written.");
        continue;
      }
      const Data::Output& output = data.outputs.at(static_cast<int>(a));
      const Comparison found =
          device().compare(pointers[a], argument.dtype(problem), output.value.as<double>(),
                           output.permitted.get(), output.elements);
      if (found.wrong > 0) {
        std::ostringstream words;
        words << found.wrong << " of " << output.elements << " elements of " << argument.name
              << " are wrong; the first, at " << found.first_wrong << ", is " << found.got << " instead of "
              << found.expected << "; the largest error is " << found.max_error << " of what is permitted.";
        right &= expect(false, words.str());
      }
      worst_ = std::max(worst_, found.max_error);
    }
    ++runs_;
    failed_ += right ? 0 : 1;
    return true;
  }

  int runs() const { return runs_; }
  int refused() const { return refused_; }
  int failed() const { return failed_; }   ///< runs; the first was reported
  double worst() const { return worst_; }  ///< error, as a part of the permitted one

 private:
  Device& device() { return *device_; }

  bool expect(bool right, const std::string& otherwise) {
    if (!right && failed_ == 0) ADD_FAILURE() << otherwise;
    return right;
  }

  Device* device_;
  Alteration alter_;
  std::map<std::string, Data> data_;
  int runs_ = 0;
  int refused_ = 0;
  int failed_ = 0;
  double worst_ = 0;
};

// Compiles variants for the host and checks each, some of them with NaN and infinity and in reverse.
inline void check_on_host(const TemplateCase& which, const std::vector<VariantCase>& variants) {
  const std::unique_ptr<Device> device = make_host_device();
  std::vector<Source> sources;
  for (const auto& [problem, config] : variants)
    sources.push_back(render(*which.op, *which.tmpl, problem, config, "host"));
  const std::vector<Compilation> compiled = compile_all(*make_host_toolchain(), sources);
  OpChecker checker(*device);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << variants[i].problem.text() << "\n" << compiled[i].log;
    checker.check(which, compiled[i].bytes, sources[i].suffix, variants[i].problem, variants[i].config,
                  i % 3 == 0, i % 2 == 0);
  }
  EXPECT_EQ(checker.failed(), 0) << "of " << checker.runs();
  EXPECT_EQ(checker.runs(), std::ssize(variants));
}

}  // namespace tunesmith
