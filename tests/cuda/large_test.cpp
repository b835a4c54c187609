// SPDX-License-Identifier: Apache-2.0
// Tests arrays of more than 2^31 elements on a GPU: each template that serves one of the op's large examples,
// with its default config, compared with the reference in samples: at the ends, around 2^31, and elsewhere.
#include <gtest/gtest.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

struct LargeCase {
  const Op* op;
  std::string problem;
};

void PrintTo(const LargeCase& which, std::ostream* to) { *to << which.op->name << " " << which.problem; }

std::vector<LargeCase> large_cases() {
  std::vector<LargeCase> cases;
  for (const Op& op : ops()) {
    for (const std::string& example : op.large_examples) cases.push_back({&op, example});
  }
  return cases;
}

using Range = std::pair<std::int64_t, std::int64_t>;  // begin, end

std::vector<Range> samples_of(std::int64_t elements) {
  constexpr std::int64_t sample = 1 << 16;
  if (elements <= 16 * sample) return {{0, elements}};
  std::vector<Range> ranges;
  const auto add = [&](std::int64_t begin) {
    begin = std::clamp<std::int64_t>(begin, 0, elements - sample);
    ranges.emplace_back(begin, begin + sample);
  };
  add(0);
  add(elements);
  add((std::int64_t{1} << 31) - sample / 2);
  add((std::int64_t{1} << 32) - sample / 2);
  Random random(5);
  for (int i = 0; i < 8; ++i) {
    add(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(elements))));
  }
  return ranges;
}

class LargeProblemOnGpu : public GpuTest, public testing::WithParamInterface<LargeCase> {};

TEST_P(LargeProblemOnGpu, IsRightWhereItIsLookedAt) {
  const Op& op = *GetParam().op;
  const Problem problem = complete_problem(op, Problem::parse(GetParam().problem));
  std::int64_t most = 0;
  std::int64_t input_elements = 0;
  for (const Argument& argument : op.arguments) {
    most = std::max(most, elements(argument, problem));
    if (argument.role != Role::output) input_elements += elements(argument, problem);
  }
  ASSERT_GT(most, std::int64_t{1} << 31) << "no large example";
  struct sysinfo memory = {};
  sysinfo(&memory);
  const double needed = 20.0 * static_cast<double>(input_elements);  // as doubles and packed, and a margin
  if (static_cast<double>(memory.freeram) * memory.mem_unit < needed) {
    GTEST_SKIP() << "This needs about " << needed / 0x1p30 << " GiB of free memory.";
  }

  const std::vector<std::vector<double>> inputs = make_inputs(op, problem, 3);
  std::vector<DeviceMemory> arrays;
  std::vector<void*> pointers;
  for (const Argument& argument : op.arguments) {
    arrays.emplace_back(device(), elements(argument, problem) * bytes(argument.dtype(problem)));
    pointers.push_back(arrays.back().get());
  }
  struct Sample {
    std::size_t argument;
    Range range;
    std::vector<double> value, permitted;
  };
  std::vector<Sample> samples;
  for (std::size_t a = 0; a < op.arguments.size(); ++a) {
    if (op.arguments[a].role == Role::input) continue;
    for (const Range& range : samples_of(elements(op.arguments[a], problem))) {
      const auto size = static_cast<std::size_t>(range.second - range.first);
      samples.push_back({a, range, std::vector<double>(size), std::vector<double>(size)});
    }
  }
  for (Sample& sample : samples) {
    in_chunks(sample.value.size(), [&](std::size_t begin, std::size_t end) {
      op.reference(problem, inputs, static_cast<int>(sample.argument),
                   sample.range.first + static_cast<std::int64_t>(begin),
                   sample.range.first + static_cast<std::int64_t>(end),
                   std::span(sample.value).subspan(begin, end - begin),
                   std::span(sample.permitted).subspan(begin, end - begin));
    });
  }

  const std::unique_ptr<Toolchain> toolchain = make_toolchain(device().facts().target);
  std::string served;
  for (const Template& tmpl : op.templates) {
    if (why_not(tmpl, problem, device().facts())) continue;
    const Config config = tmpl.space(problem).complete({});
    const Work work = tmpl.work(problem, config);
    SCOPED_TRACE(op.name + "/" + tmpl.name + " " + config.text());
    ASSERT_FALSE(exceeds(work, device().facts())) << *exceeds(work, device().facts());
    for (std::size_t a = 0; a < op.arguments.size(); ++a) {
      const Argument& argument = op.arguments[a];
      const std::int64_t size = elements(argument, problem) * bytes(argument.dtype(problem));
      if (argument.role == Role::output) {
        device().fill(pointers[a], 0xff, size);
      } else if (argument.role == Role::inout || served.empty()) {
        device().upload(pointers[a], pack(argument.dtype(problem), inputs[a]).data(), size);
      }
    }
    const DeviceMemory workspace(device(), work.workspace_bytes);
    device().fill(workspace.get(), 0xff, work.workspace_bytes);
    device().fill(workspace.get(), 0, work.zeroed_bytes);
    const Source source = render(op, tmpl, problem, config, device().facts().target);
    const Compilation compiled = toolchain->compile(source);
    ASSERT_TRUE(compiled.ok) << compiled.log;
    const std::unique_ptr<Executable> executable = device().load(compiled.bytes, source.suffix, work);
    ASSERT_EQ(executable->launch(pointers.data(), workspace.get(), nullptr), 0);
    device().synchronize();
    for (const DeviceMemory& array : arrays) EXPECT_TRUE(device().guards_intact(array.get()));
    for (const Sample& sample : samples) {
      const auto size = static_cast<std::int64_t>(sample.value.size());
      const DeviceMemory value(device(), size * 8);
      const DType dtype = op.arguments[sample.argument].dtype(problem);
      const std::string packed = pack_permitted(dtype, sample.permitted);
      const DeviceMemory permitted(device(), static_cast<std::int64_t>(packed.size()));
      device().upload(value.get(), sample.value.data(), size * 8);
      device().upload(permitted.get(), packed.data(), static_cast<std::int64_t>(packed.size()));
      const Comparison found =
          device().compare(static_cast<char*>(pointers[sample.argument]) + sample.range.first * bytes(dtype),
                           dtype, value.as<double>(), permitted.get(), size);
      EXPECT_EQ(found.wrong, 0) << "from element " << sample.range.first << " on; the first, at "
                                << sample.range.first + found.first_wrong << ", is " << found.got
                                << " instead of " << found.expected;
    }
    served += " " + tmpl.name;
  }
  EXPECT_FALSE(served.empty());
  std::cout << op.name << " " << problem.text() << ":" << served << "\n";
}

INSTANTIATE_TEST_SUITE_P(Ops, LargeProblemOnGpu, testing::ValuesIn(large_cases()), [](const auto& info) {
  return info.param.op->name + "_" + std::to_string(info.index);
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LargeProblemOnGpu);

}  // namespace
}  // namespace tunesmith
