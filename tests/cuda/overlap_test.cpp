// SPDX-License-Identifier: Apache-2.0
// Tests overlapped variants of every template behind work that writes their inputs late: a kernel that lets
// them start at once, one that does not, a copy, a fill and an event of another stream; in a stream and in a
// graph. Before that work the inputs and outputs hold poison.
#include <cuda_runtime_api.h>

#include <iostream>

#include "generator/error.h"
#include "runtime/toolchain.h"
#include "tests/cuda/gpu.h"
#include "tests/op_checker.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_variants = 6;  // per template
constexpr unsigned char poison = 0xff;

constexpr const char* late_copy = R"cuda(
extern "C" __global__ void late_copy(const unsigned char* from, unsigned char* to, long long bytes, int triggers) {
#if __CUDA_ARCH__ >= 900
  if (triggers) asm volatile("griddepcontrol.launch_dependents;");
#endif
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - start < 50000);
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x) to[i] = from[i];
}
)cuda";

void require(cudaError_t code) {
  if (code != cudaSuccess) throw Error(cudaGetErrorString(code));
}

enum class Before { triggering_kernel, kernel, copy, filling, event };
constexpr std::pair<Before, const char*> all_before[] = {
    {Before::triggering_kernel, "a kernel that lets it start"},
    {Before::kernel, "a kernel that does not let it start"},
    {Before::copy, "a copy"},
    {Before::filling, "a filling"},
    {Before::event, "another stream's event"}};

// A variant with its arrays, and copies of the true inputs.
class Case {
 public:
  Case(Device& device, const TemplateCase& which, const VariantCase& variant, const Data& data,
       const Work& work, std::unique_ptr<Executable> executable, const std::string& copier)
      : device_(device),
        which_(which),
        variant_(variant),
        data_(data),
        work_(work),
        executable_(std::move(executable)),
        workspace_(device, work.workspace_bytes) {
    for (std::size_t a = 0; a < which_.op->arguments.size(); ++a) {
      const Argument& argument = which_.op->arguments[a];
      const std::int64_t bytes =
          elements(argument, variant.problem) * tunesmith::bytes(argument.dtype(variant.problem));
      live_.emplace_back(device, bytes);
      kept_.emplace_back(device, bytes);
      staging_.emplace_back(device, bytes);
      pointers_.push_back(live_.back().get());
      if (argument.role != Role::output) {
        device.upload(kept_.back().get(), data.contents[a].data(), bytes);
      } else {
        device.fill(kept_.back().get(), poison, bytes);
      }
      for (const std::int32_t triggers : {0, 1}) {
        copies_.push_back(device.load(
            copier, "",
            {.steps = {Launch{.kernel = "late_copy",
                              .grid = {16, 1, 1},
                              .block = {256, 1, 1},
                              .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, bytes, triggers}}}}));
      }
    }
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking));
    require(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming));
    require(cudaEventCreateWithFlags(&joined_, cudaEventDisableTiming));
  }
  ~Case() {
    static_cast<void>(cudaEventDestroy(joined_));
    static_cast<void>(cudaEventDestroy(forked_));
    static_cast<void>(cudaStreamDestroy(other_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  void check(Before before, bool in_graph) {
    for (const DeviceMemory& live : live_) device_.fill(live.get(), poison, live.bytes());
    for (const DeviceMemory& staging : staging_) device_.fill(staging.get(), poison, staging.bytes());
    device_.fill(workspace_.get(), poison, workspace_.bytes());
    device_.fill(workspace_.get(), 0, work_.zeroed_bytes);
    device_.synchronize();
    if (in_graph) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
      enqueue(before);
      require(cudaStreamEndCapture(stream_, &graph));
      require(cudaGraphInstantiate(&ready, graph, 0));
      require(cudaGraphLaunch(ready, stream_));
      require(cudaStreamSynchronize(stream_));
      require(cudaGraphExecDestroy(ready));
      require(cudaGraphDestroy(graph));
    } else {
      enqueue(before);
    }
    device_.synchronize();
    for (const auto& [a, output] : data_.outputs) {
      const auto at = static_cast<std::size_t>(a);
      const Comparison found =
          device_.compare(pointers_[at], which_.op->arguments[at].dtype(variant_.problem),
                          output.value.as<double>(), output.permitted.get(), output.elements);
      EXPECT_EQ(found.wrong, 0) << "of " << output.elements << "; the first, at " << found.first_wrong
                                << ", is " << found.got << " instead of " << found.expected;
    }
  }

 private:
  void copy_late(std::size_t a, void* from, void* to, bool triggers, cudaStream_t stream) {
    if (live_[a].bytes() == 0) return;
    void* const pointers[] = {from, to};
    EXPECT_EQ(copies_[2 * a + (triggers ? 1 : 0)]->launch(pointers, nullptr, stream), 0);
  }

  void enqueue(Before before) {
    const cudaStream_t late = before == Before::event ? other_ : stream_;
    if (before == Before::event) {
      require(cudaEventRecord(forked_, stream_));
      require(cudaStreamWaitEvent(other_, forked_));
    }
    // Outputs are written first, so that an input is written last.
    for (const bool outputs : {true, false}) {
      for (std::size_t a = 0; a < live_.size(); ++a) {
        if ((which_.op->arguments[a].role == Role::output) != outputs) continue;
        const bool copied = before == Before::copy;
        copy_late(a, kept_[a].get(), copied ? staging_[a].get() : live_[a].get(),
                  before == Before::triggering_kernel, late);
        if (copied) {
          require(cudaMemcpyAsync(live_[a].get(), staging_[a].get(),
                                  static_cast<std::size_t>(live_[a].bytes()), cudaMemcpyDeviceToDevice,
                                  stream_));
        }
      }
    }
    if (before == Before::filling) {
      for (const auto& [a, output] : data_.outputs) {
        const auto at = static_cast<std::size_t>(a);
        if (which_.op->arguments[at].role != Role::output) continue;
        require(
            cudaMemsetAsync(live_[at].get(), poison, static_cast<std::size_t>(live_[at].bytes()), stream_));
      }
    }
    if (before == Before::event) {
      require(cudaEventRecord(joined_, other_));
      require(cudaStreamWaitEvent(stream_, joined_));
    }
    const int code = executable_->launch(pointers_.data(), workspace_.get(), stream_);
    EXPECT_EQ(code, 0) << executable_->describe(code);
  }

  Device& device_;
  const TemplateCase& which_;
  const VariantCase& variant_;
  const Data& data_;
  Work work_;
  std::unique_ptr<Executable> executable_;
  DeviceMemory workspace_;
  std::vector<DeviceMemory> live_, kept_, staging_;
  std::vector<void*> pointers_;
  std::vector<std::unique_ptr<Executable>> copies_;  // for each argument without and with a trigger
  cudaStream_t stream_ = nullptr, other_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

class EveryOverlappedTemplateOnGpu : public GpuTest, public testing::WithParamInterface<TemplateCase> {};

TEST_P(EveryOverlappedTemplateOnGpu, IsRightBehindLateWork) {
  const auto& [op, tmpl] = GetParam();
  const DeviceFacts& facts = device().facts();
  std::vector<VariantCase> variants;
  std::vector<VariantCase> all = test_variants(*op, *tmpl, 4, 1e7);
  Random random(7);
  while (!all.empty() && variants.size() < most_variants) {
    std::swap(all[random.below(all.size())], all.back());
    const VariantCase variant = all.back();
    all.pop_back();
    if (why_not(*tmpl, variant.problem, facts)) continue;
    const auto config = overlapped(*tmpl, variant.problem, variant.config, variants.size() % 2 == 0);
    if (config && !exceeds(tmpl->work(variant.problem, *config), facts))
      variants.push_back({variant.problem, *config});
  }
  if (variants.empty()) GTEST_SKIP() << "the template has no overlapped variant for this GPU";

  const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
  std::vector<Source> sources;
  for (const VariantCase& variant : variants)
    sources.push_back(render(*op, *tmpl, variant.problem, variant.config, facts.target));
  sources.push_back({.text = late_copy, .hash = "", .suffix = "", .kernels = {}, .target = facts.target});
  const std::vector<Compilation> compiled = compile_all(*toolchain, sources);
  int runs = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const VariantCase& variant = variants[i];
    SCOPED_TRACE(op->name + "/" + tmpl->name + " " + variant.config.text() + " on " + variant.problem.text());
    ASSERT_TRUE(compiled[i].ok) << compiled[i].log;
    const Work work = tmpl->work(variant.problem, variant.config);
    std::unique_ptr<Executable> executable;
    try {
      executable = device().load(compiled[i].bytes, sources[i].suffix, work);
    } catch (const LoadError& error) {
      if (error.kind != LoadError::Kind::resources) throw;
      continue;
    }
    const Data data = make_data(device(), *op, variant.problem, 0, false, nullptr);
    Case tested(device(), GetParam(), variant, data, work, std::move(executable), compiled.back().bytes);
    for (const auto& [before, name] : all_before) {
      for (const bool in_graph : {false, true}) {
        SCOPED_TRACE(std::string("behind ") + name + (in_graph ? ", in a graph" : ""));
        tested.check(before, in_graph);
        ++runs;
      }
    }
    if (HasFailure()) break;  // one config's report is enough
  }
  std::cout << op->name << "/" << tmpl->name << ": " << runs << " runs\n";
  EXPECT_GT(runs, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOverlappedTemplateOnGpu, testing::ValuesIn(overlapping_cases()),
                         [](const auto& info) { return info.param.op->name + "_" + info.param.tmpl->name; });

}  // namespace
}  // namespace tunesmith
