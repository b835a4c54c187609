// SPDX-License-Identifier: Apache-2.0
// Tests of conv2d's spaces. Some configs run on the host with image samples that are not numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "generator/ops.h"
#include "runtime/toolchain.h"
#include "tests/refusal.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"

namespace tunesmith::conv2d_test {
namespace {

const Op& conv2d() {
  for (const Op& op : ops()) {
    if (op.name == "conv2d") return op;
  }
  throw Error("The table of ops has no conv2d.");
}

Problem problem(const std::string& text) { return complete_problem(conv2d(), Problem::parse(text)); }

TEST(Conv2dSpace, HasAFewThousandPromisingConfigsAndADefaultForEveryProblem) {
  const Template& tiled = find_template(conv2d(), "tiled");
  for (const char* text : {"height=4096 width=4096 mask_height=3 mask_width=3",
                           "height=4096 width=4096 mask_height=13 mask_width=13",
                           "height=4095 width=4095 mask_height=31 mask_width=31 dtype=f64",
                           "height=1 width=1 mask_height=1 mask_width=1",
                           "height=9 width=10 mask_height=4096 mask_width=4096 mode=convolution"}) {
    const Problem wanted = problem(text);
    const Space space = tiled.space(wanted);
    EXPECT_GE(space.count(Space::Subset::promising), 1000) << text;
    EXPECT_LE(space.count(Space::Subset::promising), 8000) << text;
    DeviceFacts device;
    device.kind = DeviceKind::cuda;
    EXPECT_FALSE(exceeds(tiled.work(wanted, space.complete({})), device)) << text;
  }
}

TEST(Conv2dSpace, AConfigIsLegalWhateverTheImageHoldsItsVectors) {
  const Template& tiled = find_template(conv2d(), "tiled");
  const Space large = tiled.space(problem("height=4096 width=4096 mask_height=7 mask_width=7"));
  const Space small = tiled.space(problem("height=3 width=4 mask_height=7 mask_width=7"));
  for (const Config& config : large.sample(200, 1))
    EXPECT_FALSE(small.why_not(config.values())) << config.text();
}

TEST(Conv2dSpace, TensorServesOnlyWhatItsErrorBoundAllows) {
  expect_refusals(conv2d(), "tensor", "height=64 width=64 ",
                  {{"mask_height=31 mask_width=31", ""},
                   {"mask_height=5 mask_width=5", ""},
                   {"mask_height=3 mask_width=3", "error bound"},
                   {"mask_height=999 mask_width=2", "error bound"},
                   {"mask_height=31 mask_width=31 dtype=f64", "f32"},
                   {"mask_height=3 mask_width=999", "mask_width"}});
  expect_refusals(conv2d(), "tensor_any", "height=64 width=64 ", {{"mask_height=3 mask_width=999", ""}});
}

TEST(Conv2dSpace, OneBinaryServesEveryMask) {
  const Problem small = problem("height=64 width=64 mask_height=5 mask_width=5");
  const Problem large = problem("height=99 width=64 mask_height=40 mask_width=63 mode=convolution");
  for (const char* name : {"sliding", "tensor_any", "warpgroup_any"}) {
    const Template& tmpl = find_template(conv2d(), name);
    const auto hash = [&](const Problem& wanted) {
      return render(conv2d(), tmpl, wanted, tmpl.space(wanted).complete({}), "sm_90a", template_files()).hash;
    };
    EXPECT_EQ(hash(small), hash(large)) << name;
  }
}

TEST(Conv2dSpace, SlidingHasADefaultForMasksOfAllSizes) {
  const Template& sliding = find_template(conv2d(), "sliding");
  DeviceFacts device;
  device.kind = DeviceKind::cuda;
  for (const char* text : {"height=4096 width=4096 mask_height=3 mask_width=3",
                           "height=4095 width=4095 mask_height=63 mask_width=31 dtype=f64",
                           "height=9 width=12 mask_height=4096 mask_width=4096 dtype=f64"}) {
    const Problem wanted = problem(text);
    const Space space = sliding.space(wanted);
    EXPECT_FALSE(exceeds(sliding.work(wanted, space.complete({})), device)) << text;
    EXPECT_GE(space.count(Space::Subset::promising), 200) << text;
    EXPECT_LE(space.count(Space::Subset::promising), 8000) << text;
  }
}

TEST(Conv2dOnHost, SamplesOfTheSpaceAreRight) {
  const auto device = make_host_device();
  const auto toolchain = make_host_toolchain();
  for (const char* text : {"height=37 width=53 mask_height=3 mask_width=3",
                           "batch=2 height=20 width=44 mask_height=6 mask_width=13 mode=convolution",
                           "height=5 width=8 mask_height=9 mask_width=35 dtype=f64"}) {
    const Problem wanted = problem(text);
    const DType dtype = dtype_of(wanted);
    auto inputs = make_inputs(conv2d(), wanted, 5);
    inputs[0][inputs[0].size() / 3] = std::numeric_limits<double>::quiet_NaN();
    inputs[0][inputs[0].size() / 2] = std::numeric_limits<double>::infinity();
    const ExpectedOutput expected = reference_of(conv2d(), wanted, inputs, 2);
    for (const double permitted : expected.permitted_error) EXPECT_TRUE(std::isfinite(permitted));
    const Template& tiled = find_template(conv2d(), "tiled");
    for (const Config& config : tiled.space(wanted).sample(2, 11)) {
      const Source source = render(conv2d(), tiled, wanted, config, "host", template_files());
      const Compilation compiled = toolchain->compile(source);
      ASSERT_TRUE(compiled.ok) << config.text() << "\n" << compiled.log;
      const auto executable = device->load(compiled.bytes, source.suffix, tiled.work(wanted, config));
      for (const bool reverse : {false, true}) {
        std::vector<DeviceMemory> owned;
        std::vector<void*> memory;
        for (std::size_t n = 0; n < 3; ++n) {
          const std::int64_t size = elements(conv2d().arguments[n], wanted) * bytes(dtype);
          owned.emplace_back(*device, size);
          memory.push_back(owned.back().get());
          if (n < 2) device->upload(memory[n], pack(dtype, inputs[n]).data(), size);
          if (n == 2) device->fill(memory[n], 0xff, size);
        }
        executable->reverse_threads(reverse);
        EXPECT_EQ(executable->launch(memory.data(), nullptr, nullptr), 0);
        const std::string permitted = pack_permitted(dtype, expected.permitted_error);
        const Comparison comparison =
            device->compare(memory[2], dtype, expected.value.data(), permitted.data(),
                            static_cast<std::int64_t>(expected.value.size()));
        EXPECT_EQ(comparison.wrong, 0)
            << text << ", " << config.text() << ", first at " << comparison.first_wrong;
        for (void* allocation : memory) EXPECT_TRUE(device->guards_intact(allocation)) << config.text();
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith::conv2d_test
