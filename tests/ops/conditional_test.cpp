// SPDX-License-Identifier: Apache-2.0
// Tests conditional axes: an axis has no effect where it is declared to have none, and no kernel has two
// names.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/op_cases.h"
#include "tuner/device/check_data.h"
#include "tuner/device/device_memory.h"

namespace tunesmith {
namespace {

// Two names of one kernel; the first is legal.
struct Names {
  Problem problem;
  Config legal, other;
  std::string axis;
};

// Each other name that a config would have without the rule of one axis.
std::vector<Names> names_of(const Problem& problem, const Space& space, const Config& config) {
  std::vector<Names> found;
  for (const Rule& rule : space.must()) {
    if (!rule.name) continue;
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
      if (space.axes()[axis].name != rule.axis) continue;
      for (std::size_t value = 0; value < space.axes()[axis].values.size(); ++value) {
        std::uint64_t stride = 1;
        for (std::size_t a = axis + 1; a < space.axes().size(); ++a) stride *= space.axes()[a].values.size();
        const Config other =
            space.config(space.number(config) + (value - config.index(axis)) * stride);  // wraps
        // A name that another rule forbids is no second name of the kernel.
        const bool is_named_alone =
            std::all_of(space.must().begin(), space.must().end(),
                        [&](const Rule& further) { return further.name || further.holds(other); });
        if (value != config.index(axis) && is_named_alone && Value(rule.name(other)) == config.value(axis))
          found.push_back({problem, config, other, std::string(rule.axis)});
      }
    }
  }
  return found;
}

std::vector<Problem> problems_of(const TemplateCase& which) {
  std::vector<Problem> problems = small_problems(*which.op);
  std::erase_if(problems, [&](const Problem& problem) {
    return which.tmpl->refuses && !which.tmpl->refuses(problem).empty();
  });
  return problems;
}

// The names of configs that show every value, and of `random` random ones of eight problems: drawing from a
// space takes longer than checking the configs.
std::vector<Names> names_of(const TemplateCase& which, std::size_t random) {
  const std::vector<Problem> problems = problems_of(which);
  std::vector<VariantCase> variants = dealt_variants(*which.tmpl, problems, 0, 3);
  const std::size_t drawn_from = std::min<std::size_t>(problems.size(), 8);
  for (std::size_t i = 0; i < drawn_from; ++i) {
    const Problem& problem = problems[i * problems.size() / drawn_from];
    for (const Config& config : which.tmpl->space(problem).sample(random, 3))
      variants.push_back({problem, config});
  }
  std::vector<Names> found;
  for (const auto& [problem, config] : variants) {
    std::vector<Names> its = names_of(problem, which.tmpl->space(problem), config);
    found.insert(found.end(), its.begin(), its.end());
  }
  return found;
}

std::set<std::string> conditional_axes(const TemplateCase& which) {
  std::set<std::string> axes;
  for (const Problem& problem : problems_of(which)) {
    const Space space = which.tmpl->space(problem);
    for (const Rule& rule : space.must())
      if (rule.name) axes.emplace(rule.axis);
  }
  return axes;
}

std::string text_of(const Work& work) {
  std::ostringstream text;
  text << work.workspace_bytes << " " << work.zeroed_bytes << "\n";
  for (const Step& step : work.steps) {
    if (const auto* zero = std::get_if<Zero>(&step)) text << "zero " << zero->bytes << "\n";
    if (const auto* copy = std::get_if<ConstantCopy>(&step)) text << copy->symbol << copy->bytes << "\n";
    const auto* launch = std::get_if<Launch>(&step);
    if (launch == nullptr) continue;
    text << launch->kernel << " " << launch->grid.x << " " << launch->grid.y << " " << launch->grid.z << " "
         << launch->block.x << " " << launch->block.y << " " << launch->block.z << " "
         << launch->dynamic_shared_bytes << launch->overlaps_previous << launch->waits_for_blocks;
    for (const KernelArgument& argument : launch->arguments) {
      std::visit(
          [&]<typename Argument>(const Argument& value) {
            if constexpr (std::is_arithmetic_v<Argument>) text << " " << value;
            if constexpr (is_array<Argument>)
              for (const auto number : value) text << " " << number;
            if constexpr (std::is_same_v<Argument, ArgumentPointer>) text << " a" << value.argument;
            if constexpr (std::is_same_v<Argument, WorkspacePointer>) text << " w" << value.offset_bytes;
          },
          argument);
    }
    text << "\n";
  }
  return text.str();
}

// Templates of one room, as tensor's contract/, have the same rules, so they take turns.
bool has_its_turn(const TemplateCase& which) {
  std::vector<TemplateCase> alike;
  for (const Template& tmpl : which.op->templates)
    if (tmpl.room == which.tmpl->room && !tmpl.room.empty()) alike.push_back({which.op, &tmpl});
  const std::vector<TemplateCase> taken = in_turn(alike, alike.size(), which);
  return alike.empty() || std::any_of(taken.begin(), taken.end(),
                                      [&](const TemplateCase& each) { return each.tmpl == which.tmpl; });
}

class ConditionalAxes : public testing::TestWithParam<TemplateCase> {
  void SetUp() override {
    if (!has_its_turn(GetParam())) GTEST_SKIP() << "it is another template's turn, of the same rules";
  }
};

TEST_P(ConditionalAxes, GiveAKernelOneNameWithTheSameWork) {
  const auto& [op, tmpl] = GetParam();
  std::set<std::string> shown;
  for (const Names& names : names_of(GetParam(), 200)) {
    SCOPED_TRACE(names.axis + " of " + names.legal.text() + " on " + names.problem.text());
    const Space space = tmpl->space(names.problem);
    ASSERT_TRUE(space.is_legal(names.legal));
    ASSERT_FALSE(space.is_legal(names.other));
    ASSERT_EQ(space.named(names.other).text(), names.legal.text());
    ASSERT_EQ(text_of(tmpl->work(names.problem, names.other)),
              text_of(tmpl->work(names.problem, names.legal)));
    shown.insert(names.axis);
  }
  EXPECT_EQ(shown, conditional_axes(GetParam()));
}

// RESIDENT_WARPS is compiled into nothing but the number of blocks.
TEST_P(ConditionalAxes, ResidentWarpsAreWholeBlocks) {
  const auto& [op, tmpl] = GetParam();
  std::set<std::string> texts;
  for (const Names& names : names_of(GetParam(), 50)) {
    if (names.axis != "RESIDENT_WARPS") continue;
    const Work work = tmpl->work(names.problem, names.legal);
    const Extent& block = std::get<Launch>(work.steps.back()).block;
    const auto blocks = [&](const Config& config) {
      return std::max<std::int64_t>(
          1, config[IntegerAxis("RESIDENT_WARPS")] * 32 / (block.x * block.y * block.z));
    };
    ASSERT_EQ(blocks(names.legal), blocks(names.other)) << names.legal.text();
    texts.insert(render(*op, *tmpl, names.problem, names.legal, "sm_90a").text);
    if (texts.size() == 2) break;
  }
  EXPECT_EQ(texts.empty(), !conditional_axes(GetParam()).contains("RESIDENT_WARPS"));
  for (const std::string& text : texts) {
    for (std::size_t at = text.find("RESIDENT_WARPS"); at != std::string::npos;
         at = text.find("RESIDENT_WARPS", at + 1)) {
      const std::string line =
          text.substr(text.rfind('\n', at) + 1, text.find('\n', at) - text.rfind('\n', at));
      const bool said = line.starts_with("//") || line.starts_with("constexpr int RESIDENT_WARPS =");
      EXPECT_TRUE(said || line.find("resident_blocks(RESIDENT_WARPS, ") != std::string::npos ||
                  line.find("RESIDENT_WARPS * 32 / threads") != std::string::npos ||
                  line.find("RESIDENT_WARPS * 32 / BLOCK") != std::string::npos ||
                  line.find("RESIDENT_WARPS / warps") != std::string::npos ||
                  line.find("RESIDENT_WARPS / WARPS") != std::string::npos)
          << line;
    }
  }
}

std::string outputs_of(const TemplateCase& which, Device& device, const Compilation& compiled,
                       const Source& source, const Problem& problem, const Config& config) {
  const auto& [op, tmpl] = which;
  const Work work = tmpl->work(problem, config);
  const std::unique_ptr<Executable> executable = device.load(compiled.bytes, source.suffix, work);
  const std::vector<std::vector<double>> inputs = make_inputs(*op, problem, 3);
  std::vector<DeviceMemory> arrays;
  std::vector<void*> pointers;
  for (std::size_t a = 0; a < op->arguments.size(); ++a) {
    const DType dtype = op->arguments[a].dtype(problem);
    const std::int64_t size = elements(op->arguments[a], problem) * bytes(dtype);
    arrays.emplace_back(device, size);
    pointers.push_back(arrays.back().get());
    device.fill(pointers.back(), 0xff, size);
    if (op->arguments[a].role != Role::output)
      device.upload(pointers.back(), pack(dtype, inputs[a]).data(), size);
  }
  const DeviceMemory workspace(device, work.workspace_bytes);
  device.fill(workspace.get(), 0, work.workspace_bytes);
  EXPECT_EQ(executable->launch(pointers.data(), workspace.get(), nullptr), 0);
  std::string all;
  for (std::size_t a = 0; a < op->arguments.size(); ++a) {
    if (op->arguments[a].role == Role::input) continue;
    const std::int64_t size = elements(op->arguments[a], problem) * bytes(op->arguments[a].dtype(problem));
    std::string its(static_cast<std::size_t>(size), '\0');
    device.download(its.data(), pointers[a], size);
    all += its;
  }
  return all;
}

// Both names of a kernel give the same on the host, bit for bit, for each axis.
TEST_P(ConditionalAxes, HaveNoEffectWhereTheyAreDeclaredToHaveNone) {
  const auto& [op, tmpl] = GetParam();
  if (tmpl->minimum_compute_capability > 0) GTEST_SKIP() << "the template has no host twin";
  const std::unique_ptr<Device> device = make_host_device();
  std::map<std::string, Names> by_axis;  // the last one, from a random config
  for (Names& names : names_of(GetParam(), 20)) {
    if (names.axis == "RESIDENT_WARPS") continue;  // it has no meaning on the host
    const Work work = tmpl->work(names.problem, names.legal);
    if (!work.steps.empty() && !exceeds(work, device->facts())) by_axis.insert_or_assign(names.axis, names);
  }
  std::set<std::string> expected = conditional_axes(GetParam());
  expected.erase("RESIDENT_WARPS");
  ASSERT_EQ(by_axis.size(), expected.size());
  std::vector<Source> sources;
  for (const auto& [axis, names] : by_axis) {
    sources.push_back(render(*op, *tmpl, names.problem, names.legal, "host"));
    sources.push_back(render(*op, *tmpl, names.problem, names.other, "host"));
  }
  const std::vector<Compilation> compiled = compile_all(*make_host_toolchain(), sources);
  std::size_t at = 0;
  for (const auto& [axis, names] : by_axis) {
    SCOPED_TRACE(axis + ": " + names.legal.text() + ", else " + names.other.text() + " on " +
                 names.problem.text());
    ASSERT_TRUE(compiled[at].ok && compiled[at + 1].ok) << compiled[at].log << compiled[at + 1].log;
    EXPECT_EQ(outputs_of(GetParam(), *device, compiled[at], sources[at], names.problem, names.legal),
              outputs_of(GetParam(), *device, compiled[at + 1], sources[at + 1], names.problem, names.other));
    at += 2;
  }
}

std::vector<TemplateCase> conditional_cases() {
  std::vector<TemplateCase> cases = template_cases();
  std::erase_if(cases, [](const TemplateCase& which) { return conditional_axes(which).empty(); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, ConditionalAxes, testing::ValuesIn(conditional_cases()),
                         [](const testing::TestParamInfo<TemplateCase>& info) {
                           return info.param.op->name + "_" + info.param.tmpl->name;
                         });

}  // namespace
}  // namespace tunesmith
