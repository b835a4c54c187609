// Every op's templates on the GPU against the op's reference: many configs, the problem each was rendered for
// and its companions, once with NaN and infinities in the inputs and pointers that are only just aligned.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <limits>
#include <map>
#include <thread>

#include "dispatch/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_cases.h"
#include "tuner/check_data.h"

namespace tunesmith {
namespace {

// Device memory that is given back.
class Array {
 public:
  Array(Device& device, std::int64_t bytes) : device_(&device), memory_(device.allocate(bytes)) {}
  ~Array() { device_->release(memory_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  char* get() const { return static_cast<char*>(memory_); }

 private:
  Device* device_;
  void* memory_;
};

bool floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

// What a problem is checked with; computed once.
struct Data {
  std::vector<std::string> contents;  ///< by argument, packed
  struct Output {
    std::int64_t elements;
    std::unique_ptr<Array> value;
    std::unique_ptr<Array> permitted;
  };
  std::map<int, Output> outputs;
};

Data make_data(Device& device, const Op& op, const Problem& problem, bool special) {
  std::vector<std::vector<double>> inputs = make_inputs(op, problem, 3);
  Data data;
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    const DType dtype = op.arguments[a].dtype(problem);
    const std::size_t n = inputs[a].size();
    // A few, in the largest arrays only, so that most outputs stay numbers.
    if (special && !op.arguments[a].finite && n > 500 && floating(dtype)) {
      inputs[a][n / 3] = std::numeric_limits<double>::quiet_NaN();
      inputs[a][n / 2] = std::numeric_limits<double>::infinity();
      inputs[a][n - 1] = -std::numeric_limits<double>::infinity();
    }
    data.contents.push_back(pack(dtype, inputs[a]));
  }
  for (std::size_t a = 0; a < op.arguments.size(); ++a) {
    if (op.arguments[a].role == Role::input) continue;
    const Expected expected = reference_of(op, problem, inputs, static_cast<int>(a));
    const auto elements = static_cast<std::int64_t>(expected.value.size());
    Data::Output output{elements, std::make_unique<Array>(device, elements * 8),
                        std::make_unique<Array>(device, elements * 8)};
    device.upload(output.value->get(), expected.value.data(), elements * 8);
    device.upload(output.permitted->get(), expected.permitted_error.data(), elements * 8);
    data.outputs.emplace(static_cast<int>(a), std::move(output));
  }
  return data;
}

class EveryTemplateOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {
 protected:
  // Runs `binary`, rendered for another problem perhaps, on `problem`; false if the device cannot.
  bool check(const std::string& binary, const std::string& suffix, const Problem& problem,
             const Config& config, bool special) {
    const auto& [op, of] = GetParam();
    const Work work = of->work(problem, config);
    if (exceeds(work, device().facts())) return false;
    SCOPED_TRACE(op->name + "/" + of->name + " " + config.text() + " on " + problem.text() +
                 (special ? ", NaN and infinity among the inputs" : ""));
    auto& data = data_[problem.text() + (special ? "*" : "")];
    if (data.contents.empty()) data = make_data(device(), *op, problem, special);

    std::unique_ptr<Executable> executable;
    try {
      executable = device().load(binary, suffix, work);
    } catch (const LoadError& error) {
      // Registers and static shared memory are known only now.
      ++refused_;
      return false;
    }
    const std::int64_t shift = special ? alignment_bytes(*of, problem, config) : 0;
    std::vector<std::unique_ptr<Array>> arrays;
    std::vector<void*> pointers;
    for (std::size_t a = 0; a < op->arguments.size(); ++a) {
      const Argument& argument = op->arguments[a];
      const std::int64_t size = elements(argument, problem) * bytes(argument.dtype(problem));
      arrays.push_back(std::make_unique<Array>(device(), size + shift));
      pointers.push_back(arrays.back()->get() + shift);
      device().fill(arrays.back()->get(), 0xff, size + shift);
      if (argument.role != Role::output) device().upload(pointers.back(), data.contents[a].data(), size);
    }
    const Array workspace(device(), work.workspace_bytes);
    device().fill(workspace.get(), 0xff, work.workspace_bytes);
    const int code = executable->launch(pointers.data(), workspace.get(), nullptr);
    EXPECT_EQ(code, 0) << executable->describe(code);
    device().synchronize();

    EXPECT_TRUE(device().guards_intact(workspace.get())) << "the workspace";
    for (std::size_t a = 0; a < op->arguments.size(); ++a) {
      const Argument& argument = op->arguments[a];
      EXPECT_TRUE(device().guards_intact(arrays[a]->get())) << argument.name;
      if (argument.role == Role::input) {
        std::string after(data.contents[a].size(), '\0');
        device().download(after.data(), pointers[a], static_cast<std::int64_t>(after.size()));
        EXPECT_TRUE(after == data.contents[a]) << "the input " << argument.name << " was written";
        continue;
      }
      const Data::Output& output = data.outputs.at(static_cast<int>(a));
      const Comparison found = device().compare(
          pointers[a], argument.dtype(problem), reinterpret_cast<const double*>(output.value->get()),
          reinterpret_cast<const double*>(output.permitted->get()), output.elements);
      EXPECT_EQ(found.wrong, 0) << "of " << output.elements << " elements of " << argument.name
                                << "; the first, at " << found.first_wrong << ", is " << found.got
                                << " instead of " << found.expected << "; the largest error is "
                                << found.max_error << " of what is permitted";
      worst_ = std::max(worst_, found.max_error);
    }
    ++runs_;
    return true;
  }

  std::map<std::string, Data> data_;
  int runs_ = 0;
  int refused_ = 0;
  double worst_ = 0;
};

TEST_P(EveryTemplateOnGpu, IsRight) {
  const auto& [op, of] = GetParam();
  std::vector<VariantCase> variants = test_variants(*op, *of, 40, 3e8);
  std::erase_if(variants, [&](const VariantCase& variant) {
    return why_not(*of, variant.problem, device().facts()) ||
           exceeds(of->work(variant.problem, variant.config), device().facts());
  });
  if (variants.empty()) GTEST_SKIP() << "no problem of the test suits the template on this GPU";

  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(*op, *of, variant.problem, variant.config, device().facts().target));
  std::vector<Compiled> compiled(sources.size());
  const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1u, 16u); ++i) {
    threads.emplace_back([&] {
      for (std::size_t s = next++; s < sources.size(); s = next++)
        compiled[s] = toolchain->compile(sources[s]);
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (std::size_t i = 0; i < variants.size(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << variants[i].config.text() << "\n" << compiled[i].log;
    std::vector<Problem> problems = {variants[i].problem};
    if (op->companions) {
      for (Problem& companion : op->companions(variants[i].problem)) problems.push_back(std::move(companion));
    }
    for (const Problem& problem : problems) {
      if (why_not(*of, problem, device().facts()) || of->space(problem).why_not(variants[i].config)) continue;
      for (const bool special : {false, true})
        check(compiled[i].bytes, sources[i].suffix, problem, variants[i].config, special);
    }
    if (HasFailure()) break;  // one config's report is enough
  }
  std::cout << op->name << "/" << of->name << ": " << variants.size() << " variants, " << runs_ << " runs, "
            << refused_ << " refused by the device; the largest error is " << worst_
            << " of what is permitted\n";
  EXPECT_GT(runs_, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTemplateOnGpu, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.of->name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTemplateOnGpu);

}  // namespace
}  // namespace tunesmith
