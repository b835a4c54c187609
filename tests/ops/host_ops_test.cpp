// Every op's templates on the host against the op's reference: the first config of every problem, every value
// of every axis, seeded random configs; on the problem that a variant was rendered for and on its companions,
// with the threads of a block in both orders, with NaN and infinities among the inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "dispatch/toolchain.h"
#include "tests/op_cases.h"
#include "tuner/check_data.h"
#include "tuner/device.h"

namespace tunesmith {
namespace {

struct Data {
  std::vector<std::string> contents;  ///< by argument, packed
  std::map<int, Expected> outputs;
};

Data make_data(const Op& op, const Problem& problem, bool special) {
  std::vector<std::vector<double>> inputs = make_inputs(op, problem, 3);
  Data data;
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    const DType dtype = op.arguments[a].dtype(problem);
    const std::size_t n = inputs[a].size();
    if (special && !op.arguments[a].finite && n > 500 && (dtype == DType::f32 || dtype == DType::f64)) {
      inputs[a][n / 3] = std::numeric_limits<double>::quiet_NaN();
      inputs[a][n / 2] = std::numeric_limits<double>::infinity();
      inputs[a][n - 1] = -std::numeric_limits<double>::infinity();
    }
    data.contents.push_back(pack(dtype, inputs[a]));
  }
  for (std::size_t a = 0; a < op.arguments.size(); ++a) {
    if (op.arguments[a].role != Role::input) {
      data.outputs.emplace(static_cast<int>(a), reference_of(op, problem, inputs, static_cast<int>(a)));
    }
  }
  return data;
}

class EveryTemplateOnHost : public testing::TestWithParam<TemplateCase> {
 protected:
  void check(const Compiled& compiled, const Source& source, const Problem& problem, const Config& config,
             bool special) {
    const auto& [op, of] = GetParam();
    const Work work = of->work(problem, config);
    if (exceeds(work, device_->facts())) return;
    SCOPED_TRACE(op->name + "/" + of->name + " " + config.text() + " on " + problem.text() +
                 (special ? ", NaN and infinity among the inputs" : ""));
    auto& data = data_[problem.text() + (special ? "*" : "")];
    if (data.contents.empty()) data = make_data(*op, problem, special);
    const std::unique_ptr<Executable> executable = device_->load(compiled.bytes, source.suffix, work);
    if (exceeds(work, device_->facts(), executable->facts().static_shared_bytes)) return;

    for (const bool reverse : {false, true}) {
      std::vector<void*> pointers;
      for (std::size_t a = 0; a < op->arguments.size(); ++a) {
        const Argument& argument = op->arguments[a];
        const std::int64_t size = elements(argument, problem) * bytes(argument.dtype(problem));
        pointers.push_back(device_->allocate(size));
        device_->fill(pointers.back(), 0xff, size);
        if (argument.role != Role::output) device_->upload(pointers.back(), data.contents[a].data(), size);
      }
      void* workspace = device_->allocate(work.workspace_bytes);
      executable->reverse_threads(reverse);
      const int code = executable->launch(pointers.data(), workspace, nullptr);
      EXPECT_EQ(code, 0) << executable->describe(code);
      EXPECT_TRUE(device_->guards_intact(workspace)) << "the workspace";
      for (std::size_t a = 0; a < op->arguments.size(); ++a) {
        const Argument& argument = op->arguments[a];
        EXPECT_TRUE(device_->guards_intact(pointers[a])) << argument.name;
        if (argument.role == Role::input) {
          EXPECT_TRUE(device_->equal(pointers[a], data.contents[a].data(),
                                     static_cast<std::int64_t>(data.contents[a].size())))
              << "the input " << argument.name << " was written";
        } else {
          const Expected& expected = data.outputs.at(static_cast<int>(a));
          const Comparison found = device_->compare(pointers[a], argument.dtype(problem),
                                                    expected.value.data(), expected.permitted_error.data(),
                                                    static_cast<std::int64_t>(expected.value.size()));
          EXPECT_EQ(found.wrong, 0) << (reverse ? "in reverse order " : "") << "of " << expected.value.size()
                                    << "; the first, at " << found.first_wrong << ", is " << found.got
                                    << " instead of " << found.expected;
        }
        device_->release(pointers[a]);
      }
      device_->release(workspace);
      ++runs_;
    }
  }

  std::unique_ptr<Device> device_ = make_host_device();
  std::map<std::string, Data> data_;
  int runs_ = 0;
};

// TUNESMITH_TEST_CONFIGS: random configs a problem beside those that cover the axes; "all" takes every legal
// config.
std::size_t random_configs() {
  const char* given = std::getenv("TUNESMITH_TEST_CONFIGS");
  if (given == nullptr) return 6;
  return std::string(given) == "all" ? std::numeric_limits<std::size_t>::max() : std::stoul(given);
}

TEST_P(EveryTemplateOnHost, IsRight) {
  const auto& [op, of] = GetParam();
  if (of->minimum_compute_capability > 0) GTEST_SKIP() << "the template has no host twin";
  std::vector<VariantCase> variants = test_variants(*op, *of, random_configs(), 4e6);
  std::erase_if(variants, [&](const VariantCase& variant) {
    return exceeds(of->work(variant.problem, variant.config), device_->facts()).has_value();
  });
  ASSERT_FALSE(variants.empty());

  const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  std::vector<Source> sources;
  for (const VariantCase& variant : variants) {
    sources.push_back(render(*op, *of, variant.problem, variant.config, "host"));
  }
  std::vector<Compiled> compiled(sources.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i) {
    threads.emplace_back([&] {
      for (std::size_t s = next++; s < sources.size(); s = next++)
        compiled[s] = toolchain->compile(sources[s]);
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (std::size_t i = 0; i < variants.size() && !HasFailure(); ++i) {
    ASSERT_TRUE(compiled[i].ok) << variants[i].config.text() << "\n" << compiled[i].log;
    std::vector<Problem> problems = {variants[i].problem};
    if (op->companions) {
      for (Problem& companion : op->companions(variants[i].problem)) problems.push_back(std::move(companion));
    }
    for (const Problem& problem : problems) {
      if (why_not(*of, problem, device_->facts()) || of->space(problem).why_not(variants[i].config)) continue;
      for (const bool special : {false, true})
        check(compiled[i], sources[i], problem, variants[i].config, special);
    }
  }
  RecordProperty("variants", static_cast<int>(variants.size()));
  RecordProperty("runs", runs_);
  EXPECT_GT(runs_, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryTemplateOnHost, testing::ValuesIn(template_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.of->name; });

}  // namespace
}  // namespace tunesmith
