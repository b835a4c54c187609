// The template `loops`: any expression as loops that are written out for it, in one of its forms.

#include "templates/tensor/loops.h"

#include <algorithm>

#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

constexpr IntegerAxis BLOCK_X("BLOCK_X"), BLOCK_Y("BLOCK_Y"), FORM("FORM"), REDUCE("REDUCE"), SPLIT("SPLIT"),
    THREAD_Y("THREAD_Y"), THREAD_Z("THREAD_Z"), UNROLL("UNROLL");

const LoopForm& form_of(const LoopForms& all, const Config& c) {
  return all.forms[static_cast<std::size_t>(c[FORM])];
}

template <typename Test>
bool any(const LoopForm& form, const Test& test) {
  return std::any_of(form.kernels.begin(), form.kernels.end(), test);
}

bool has_y(const LoopForm& form) {
  return any(form, [](const LoopKernel& kernel) { return kernel.along_y >= 0; });
}

LoopShape shape_of(const LoopForm& form, const Config& c) {
  const std::int64_t block_y = has_y(form) ? c[BLOCK_Y] : 1;
  return {.threads = c[BLOCK_X] * block_y,
          .block_y = block_y,
          .thread_y = c[THREAD_Y],
          .thread_z = c[THREAD_Z],
          .lanes = c[REDUCE],
          .unroll = c[UNROLL]};
}

// The largest extent along which a thread of any kernel may have several outputs.
std::int64_t longest(const LoopForm& form, int LoopKernel::*along) {
  std::int64_t most = 1;
  for (const LoopKernel& kernel : form.kernels)
    if (kernel.*along >= 0)
      most = std::max(most, kernel.nest.extents[static_cast<std::size_t>(kernel.*along)]);
  return most;
}

bool shares_sums(const LoopForm& form, const LoopShape& shape) {
  return any(form, [&](const LoopKernel& kernel) { return LoopMapping(kernel, shape).lanes > 1; });
}

// Of an axis's values, the least that does the same.
std::int64_t least_alike(const std::vector<std::int64_t>& values,
                         const std::function<bool(std::int64_t)>& alike) {
  std::int64_t least = 0;
  for (const std::int64_t value : values)
    if (alike(value) && (least == 0 || value < least)) least = value;
  return least;
}

std::vector<Value> axis_values(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

Space space(const Problem& problem) {
  const std::shared_ptr<const LoopForms> all = loop_forms(problem);
  std::vector<Value> forms;
  for (const std::size_t form : all->usable) forms.emplace_back(static_cast<std::int64_t>(form));
  const std::vector<std::int64_t> outputs = {4, 8, 2, 1, 16}, others = {1, 2, 4, 8}, splits = {1, 4, 16, 64};
  const auto thread_rule = [&](const IntegerAxis& axis, const std::vector<std::int64_t>& values,
                               int LoopKernel::*along) {
    return one_name(
        axis,
        [=, &axis](const Config& c) {
          const std::int64_t most = longest(form_of(*all, c), along), own = std::min(c[axis], most);
          return least_alike(values, [&](std::int64_t value) { return std::min(value, most) == own; });
        },
        "Of the numbers of outputs that are no fewer than there are, one stands for all.");
  };
  std::vector<Axis> axes = {
      {FORM, std::move(forms), "the form, as derive numbers them: the loops as they are written are 0"},
      {BLOCK_X, {32, 64, 128, 256}, "threads along the output's neighbours"},
      {BLOCK_Y, {8, 4, 2, 1, 16}, "threads along the index whose outputs share most of what they read"},
      {THREAD_Y, axis_values(outputs), "outputs of a thread along that index"},
      {THREAD_Z, axis_values(others), "and along the one that shares most of the rest"},
      {REDUCE, {1, 8, 32, 256}, "threads that share a sum"},
      {SPLIT, axis_values(splits), "parts of the longest sums, which one more kernel adds"},
      {UNROLL, {256, 64, 1024}, "terms of a thread that are written out, at most"},
      start_axis(),
      trigger_axis(),
  };
  return Space(
      std::move(axes),
      {conditional(
           BLOCK_Y, 1, [all](const Config& c) { return has_y(form_of(*all, c)); },
           "No index but the output's neighbours has outputs that share what they read."),
       {"A block has 64 to 1024 threads, whole groups of those that share a sum.",
        [](const Config& c) {
          const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
          return threads >= 64 && threads <= 1024 && threads % c[REDUCE] == 0;
        }},
       {"A thread has at most 32 outputs.", [](const Config& c) { return c[THREAD_Y] * c[THREAD_Z] <= 32; }},
       thread_rule(THREAD_Y, outputs, &LoopKernel::along_y),
       thread_rule(THREAD_Z, others, &LoopKernel::along_z),
       one_name(
           SPLIT,
           [=](const Config& c) {
             const auto elements = [&](std::int64_t parts) {
               return with_parts(form_of(*all, c), parts).elements;
             };
             const auto own = elements(c[SPLIT]);
             return least_alike(splits, [&](std::int64_t value) { return elements(value) == own; });
           },
           "Of the SPLIT that make as many parts one stands for all."),
       one_name(
           REDUCE,
           [all](const Config& c) {
             const LoopForm form = with_parts(form_of(*all, c), c[SPLIT]);
             return shares_sums(form, shape_of(form, c)) ? c[REDUCE] : 1;
           },
           "No sum has enough terms along the index that threads share.")},
      {{"A block has 128 to 512 threads.",
        [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] >= 128 && c[BLOCK_X] * c[BLOCK_Y] <= 512; }},
       trigger_rule()});
}

Work work(const Problem& problem, const Config& config) {
  if (nest_of(problem).outputs() == 0) return {};
  const LoopForm form = with_parts(form_of(*loop_forms(problem), config), config[SPLIT]);
  const LoopShape shape = shape_of(form, config);
  const std::int64_t element = bytes(elementwise_op::compute_dtype(dtype_of(problem)));
  Work work;
  work.workspace_bytes = places_in_workspace(form, element).back();
  for (std::size_t n = 0; n < form.kernels.size(); ++n) {
    std::vector<KernelArgument> arguments;
    for (const int array : arrays_read(form.kernels[n])) {
      if (array == first_intermediate) {
        arguments.emplace_back(WorkspacePointer{0});
      } else {
        arguments.emplace_back(ArgumentPointer{array});
      }
    }
    if (form.kernels[n].nest.output.array == output_argument) {
      arguments.emplace_back(ArgumentPointer{output_argument});
    } else {
      arguments.emplace_back(WorkspacePointer{0});
    }
    work.steps.push_back(Launch{.kernel = kernel_name(n),
                                .grid = {LoopMapping(form.kernels[n], shape).blocks},
                                .block = {shape.threads},
                                .arguments = std::move(arguments),
                                .overlaps_previous = config[START] == "overlapped"});
  }
  return work;
}

std::string generated(const Problem& problem, const Config& config) {
  if (nest_of(problem).outputs() == 0) return "";
  const LoopForm form = with_parts(form_of(*loop_forms(problem), config), config[SPLIT]);
  return text_of(form, shape_of(form, config), dtype_of(problem));
}

std::string refuses(const Problem& problem) {
  if (nest_of(problem).outputs() < std::int64_t{1} << 36) return "";
  return "This template is for less than 2^36 results; take another template.";
}

std::optional<Values> untuned(const Problem& /*problem*/, const DeviceFacts& /*device*/) { return Values(); }

}  // namespace

Template loops() {
  std::vector<std::string> kernels;
  for (std::size_t n = 0; n < most_kernels; ++n) kernels.push_back(kernel_name(n));
  return {.name = "loops",
          .what = "The loops of one of the expression's forms, written out with all extents and strides.",
          .kernels = std::move(kernels),
          .compiled_in = {"expression", "dtype", "extents", "may", "x0", "x1", "x2", "x3", "x4", "x5", "out"},
          .generated = generated,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::tensor_op
