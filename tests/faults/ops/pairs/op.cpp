// SPDX-License-Identifier: Apache-2.0
// pairs: an op for the fault tests. One template is right in many ways, and there is one for each way to be
// wrong.
#include <algorithm>
#include <cmath>

#include "generator/ops.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis TWIST("TWIST");

constexpr std::int64_t group = 256;  // an element's partner is its mirror image within this many

std::int64_t count(const Problem& problem) { return problem.integer("count"); }

std::int64_t partner(std::int64_t index) { return index / group * group + (group - 1 - index % group); }

Work work_of(const std::string& kernel, std::int64_t n, std::int64_t block) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid.x = (n + block - 1) / block;
  launch.block.x = block;
  launch.arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                      static_cast<std::int32_t>(n)};
  return {{launch}, 0};
}

// A template with the name of its kernel, and one config.
Template faulty(const std::string& name, const std::string& what) {
  Template tmpl;
  tmpl.name = name;
  tmpl.what = what;
  tmpl.kernels = {name};
  tmpl.space = [](const Problem&) { return Space({{BLOCK, {std::int64_t{256}}, "threads per block"}}, {}); };
  tmpl.work = [name](const Problem& problem, const Config& config) {
    return work_of(name, count(problem), config[BLOCK]);
  };
  return tmpl;
}

Template changed(Template tmpl, std::function<void(Work&, const Problem&)> change) {
  tmpl.work = [inner = tmpl.work, change](const Problem& problem, const Config& config) {
    Work work = inner(problem, config);
    change(work, problem);
    return work;
  };
  return tmpl;
}

std::vector<Template> all_templates() {
  Template plain = faulty("plain", "right, in as many ways as a test wants");
  plain.space = [](const Problem&) {
    return Space(
        {{BLOCK, {std::int64_t{64}, std::int64_t{128}, std::int64_t{256}}, "threads per block"},
         {TWIST, {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}}, "nothing: it makes more variants"}},
        {});
  };
  std::vector<Template> templates = {plain};
  templates.push_back(faulty("shared", "right, through shared memory"));
  templates.push_back(faulty("slow", "right, a thousand times slower"));
  templates.push_back(faulty("race", "lacks the barrier"));
  templates.push_back(faulty("beyond_end", "writes one element after its output"));
  templates.push_back(faulty("reads_beyond", "reads one element after its input, and does not use it"));
  templates.push_back(faulty("wide", "reads four elements at once, and forgets to ask for aligned arrays"));
  templates.push_back(faulty("before_start", "writes one element before its output"));
  templates.push_back(faulty("wrong_value", "is off by one in one element"));
  templates.push_back(faulty("unwritten", "leaves the last element as it was"));
  templates.push_back(faulty("writes_input", "changes its input"));
  templates.push_back(faulty("wrong_and_outside", "is wrong, and in reverse order writes before its output"));
  templates.push_back(faulty("hang", "never ends"));
  templates.push_back(faulty("abort", "ends its process, or its context"));
  templates.push_back(faulty("illegal_address", "writes where nothing is"));
  templates.push_back(faulty("no_compile", "is no C++"));
  templates.push_back(
      changed(faulty("many_threads", "has a block of 2048 threads"),
              [](Work& work, const Problem&) { std::get<Launch>(work.steps[0]).block.x = 2048; }));
  templates.push_back(changed(
      faulty("much_shared", "asks for 16 MiB of shared memory"),
      [](Work& work, const Problem&) { std::get<Launch>(work.steps[0]).dynamic_shared_bytes = 16 << 20; }));
  templates.push_back(
      changed(faulty("no_memory", "asks for a workspace of 2^50 bytes"),
              [](Work& work, const Problem&) { work.workspace_bytes = std::int64_t{1} << 50; }));
  templates.push_back(changed(faulty("stateful", "counts its launches in its workspace, and is right once"),
                              [](Work& work, const Problem&) {
                                work.workspace_bytes = 4;
                                std::get<Launch>(work.steps[0]).arguments.push_back(WorkspacePointer{0});
                              }));
  templates.push_back(changed(faulty("stateful_zero", "does not put its counter back to zero"),
                              [](Work& work, const Problem&) {
                                work.workspace_bytes = work.zeroed_bytes = 4;
                                std::get<Launch>(work.steps[0]).arguments.push_back(WorkspacePointer{0});
                              }));
  const auto overlaps = [](Work& work, const Problem&) {
    std::get<Launch>(work.steps[0]).overlaps_previous = true;
  };
  templates.push_back(
      changed(faulty("waits", "right, starts early and waits for the kernel before it"), overlaps));
  templates.push_back(changed(faulty("no_wait", "starts early and does not wait"), overlaps));
  // The fastest by far, as its work says; but two streams must not run it at once.
  templates.push_back(
      changed(faulty("not_reentrant", "keeps the factors in its module"), [](Work& work, const Problem&) {
        work.steps.insert(work.steps.begin(), ConstantCopy{"kept_factors", 1, 2 * 4});
      }));
  return templates;
}

}  // namespace

Op ops_pairs() {
  Op op;
  op.name = "pairs";
  op.what = "y[i] = factors[0] x[i] + factors[1] x[partner(i)]";
  op.parameters = {{.name = "count", .what = "elements", .maximum = 1 << 24},
                   {.name = "dtype", .what = "element type", .categories = {"f32"}, .initial = Value("f32")}};
  op.arguments = {{"x", Role::input, [](const Problem& p) { return std::vector{count(p)}; }},
                  {"factors", Role::input, [](const Problem&) { return std::vector<std::int64_t>{2}; }},
                  {"y", Role::output, [](const Problem& p) { return std::vector{count(p)}; }}};
  op.templates = all_templates();
  op.reference = [](const Problem& problem, std::span<const std::vector<double>> arguments, int,
                    std::int64_t begin, std::int64_t end, std::span<double> value,
                    std::span<double> permitted) {
    const std::vector<double>& x = arguments[0];
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t other = partner(i);
      const double far = other < count(problem) ? x[static_cast<std::size_t>(other)] : 0;
      const auto at = static_cast<std::size_t>(i - begin);
      const double own = arguments[1][0] * x[static_cast<std::size_t>(i)];
      value[at] = own + arguments[1][1] * far;
      permitted[at] = 1e-6 * (1 + std::abs(own) + std::abs(arguments[1][1] * far));
    }
  };
  op.flops = [](const Problem& problem) { return 3.0 * static_cast<double>(count(problem)); };
  op.bytes_moved = [](const Problem& problem) { return 8.0 * static_cast<double>(count(problem)); };
  op.companions = [](const Problem& problem) {
    std::vector<Problem> problems;
    for (const std::int64_t n : {1, 255, 513}) {
      Problem companion = problem;
      companion.set("count", n);
      problems.push_back(companion);
    }
    return problems;
  };
  return op;
}

}  // namespace tunesmith
