// SPDX-License-Identifier: Apache-2.0
// The template `loops`: any expression as loops that are written for it, in one of its forms.

#include "templates/tensor/loops/loops.h"

#include <algorithm>
#include <array>

#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

constexpr IntegerAxis BLOCK_X("BLOCK_X"), BLOCK_Y("BLOCK_Y"), FORM("FORM"), REDUCE("REDUCE"), SPLIT("SPLIT"),
    THREAD_Y("THREAD_Y"), THREAD_Z("THREAD_Z"), UNROLL("UNROLL");

const LoopForm& form_of(const LoopForms& all, const Config& c) {
  return all.forms[static_cast<std::size_t>(c[FORM])];
}

constexpr std::array<std::int64_t, 4> splits = {1, 4, 16, 64};

// The forms with their sums in parts, for every SPLIT.
class FormTable {
 public:
  explicit FormTable(const LoopForms& all) {
    for (const LoopForm& form : all.forms)
      for (const std::int64_t split : splits) table_.push_back(with_parts(form, split));
  }
  const LoopForm& at(const Config& c, std::int64_t split) const {
    const auto place =
        static_cast<std::size_t>(std::find(splits.begin(), splits.end(), split) - splits.begin());
    return table_[static_cast<std::size_t>(c[FORM]) * splits.size() + place];
  }
  const LoopForm& at(const Config& c) const { return at(c, c[SPLIT]); }

 private:
  std::vector<LoopForm> table_;
};

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
  for (const LoopKernel& kernel : form.kernels) most = std::max(most, kernel.nest.extent(kernel.*along));
  return most;
}

bool shares_sums(const LoopForm& form, const LoopShape& shape) {
  return any(form, [&](const LoopKernel& kernel) { return LoopMapping(kernel, shape).lanes > 1; });
}

std::vector<Value> axis_values(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

// The kernel with the most terms; if with_y, among those with several outputs that share what they read, if
// there are any.
const LoopKernel& longest_kernel(const LoopForm& form, bool with_y = false) {
  const auto terms = [=](const LoopKernel& kernel) {
    double all = with_y && kernel.along_y < 0 ? 0 : 1;
    for (const std::int64_t extent : kernel.nest.extents) all *= static_cast<double>(extent);
    return all;
  };
  return *std::max_element(form.kernels.begin(), form.kernels.end(),
                           [&](const LoopKernel& a, const LoopKernel& b) { return terms(a) < terms(b); });
}

// True if an operand lies along the index that is summed and not along the output's: threads side by side
// then read neighbours by sharing sums.
bool reads_along_sums(const LoopKernel& kernel) {
  const Nest& nest = kernel.nest;
  const int along = kernel.nearest();
  if (nest.extent(along) < 16) return false;
  return std::any_of(nest.inputs.begin(), nest.inputs.end(), [&](const View& view) {
    if (std::abs(view.stride(along)) != 1) return false;
    std::int64_t neighbours = 1;  // outputs that read the same element
    for (std::size_t i = nest.free; i-- > 0 && neighbours < 32; neighbours *= nest.extents[i])
      if (view.strides[i] != 0) return std::abs(view.strides[i]) != 1;
    return nest.free == 0;
  });
}

Space space(const Problem& problem) {
  const std::shared_ptr<const LoopForms> all = loop_forms(problem);
  const auto table = std::make_shared<const FormTable>(*all);
  std::vector<Value> forms;
  for (const std::size_t form : all->usable) forms.emplace_back(static_cast<std::int64_t>(form));
  const std::vector<std::int64_t> outputs = {4, 8, 2, 1, 16}, others = {1, 2, 4, 8},
                                  parts(splits.begin(), splits.end());
  const auto thread_rule = [&](const IntegerAxis& axis, const std::vector<std::int64_t>& values,
                               int LoopKernel::*along) {
    return one_name(
        axis,
        [=, &axis](const Config& c) {
          const std::int64_t most = longest(table->at(c), along);
          return least_alike(values, c[axis], [&](std::int64_t value) { return std::min(value, most); });
        },
        "Of the numbers of outputs that are no fewer than there are, one stands for all.");
  };
  std::vector<Value> lanes = {1, 8, 32, 256};
  if (const LoopKernel& longest = longest_kernel(all->forms[all->usable.front()]);
      reads_along_sums(longest)) {
    const bool is_long = longest.nest.extent(longest.nearest()) >= 512;
    std::rotate(lanes.begin(), lanes.end() - (is_long && longest.nest.outputs() < 1024 ? 1 : 2), lanes.end());
  }
  std::vector<Axis> axes = {
      {FORM, std::move(forms), "the form, as derive numbers them: the loops as they are written are 0"},
      {BLOCK_X, {32, 64, 128, 256}, "threads along the output's neighbours"},
      {BLOCK_Y, {8, 4, 2, 1, 16}, "threads along the index whose outputs share most of what they read"},
      {THREAD_Y, axis_values(outputs), "outputs of a thread along that index"},
      {THREAD_Z, axis_values(others), "and along the one that shares most of the rest"},
      {REDUCE, std::move(lanes), "threads that share a sum"},
      {SPLIT, axis_values(parts), "parts of the longest sums, which one more kernel adds"},
      {UNROLL, {256, 64, 1024}, "terms of a thread that are written out, at most"},
      start_axis(),
      trigger_axis(),
  };
  return Space(
      std::move(axes),
      {conditional(
           BLOCK_Y, 1, [table](const Config& c) { return has_y(table->at(c)); },
           "No index but the output's neighbours has outputs that share what they read."),
       {"A block has 64 to 1024 threads, whole groups of those that share a sum.",
        [](const Config& c) {
          const std::int64_t threads = c[BLOCK_X] * c[BLOCK_Y];
          return threads >= 64 && threads <= 1024 && threads % c[REDUCE] == 0;
        }},
       {"A thread has at most 64 outputs.", [](const Config& c) { return c[THREAD_Y] * c[THREAD_Z] <= 64; }},
       thread_rule(THREAD_Y, outputs, &LoopKernel::along_y),
       thread_rule(THREAD_Z, others, &LoopKernel::along_z),
       one_name(
           SPLIT,
           [=](const Config& c) {
             const auto elements = [&](std::int64_t value) -> const std::vector<std::int64_t>& {
               return table->at(c, value).elements;
             };
             return least_alike(splits, c[SPLIT], elements);
           },
           "Of the SPLIT that make as many parts one stands for all."),
       one_name(
           REDUCE,
           [table](const Config& c) {
             return shares_sums(table->at(c), shape_of(table->at(c), c)) ? c[REDUCE] : 1;
           },
           "No sum has enough terms along the index that threads share.")},
      {{"A block has 128 to 512 threads.",
        [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y] >= 128 && c[BLOCK_X] * c[BLOCK_Y] <= 512; }},
       {"Threads share a sum where an operand lies along it, or where outputs are few.",
        [=](const Config& c) {
          const LoopKernel& kernel = longest_kernel(table->at(c, 1));
          return (c[REDUCE] > 1) == reads_along_sums(kernel) || kernel.nest.outputs() < 1 << 18;
        }},
       {"Sums are split where outputs are few.",
        [=](const Config& c) {
          return c[SPLIT] == 1 ||
                 longest_kernel(table->at(c, 1)).nest.outputs() * c[REDUCE] * c[SPLIT] <= 1 << 21;
        }},
       trigger_rule()},
      // The number of a form means nothing for another expression, which takes its cheapest one.
      [cheapest = static_cast<std::int64_t>(all->usable.front())](const Config&) {
        return Values{{std::string(FORM.name), cheapest}};
      });
}

Work work(const Problem& problem, const Config& config) {
  const LoopForm form = with_parts(form_of(*loop_forms(problem), config), config[SPLIT]);
  const LoopShape shape = shape_of(form, config);
  const std::int64_t element = bytes(compute_dtype(problem));
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
  const LoopForm form = with_parts(form_of(*loop_forms(problem), config), config[SPLIT]);
  return "// ---- what is generated for it\n" + text_of(form, shape_of(form, config), compute_dtype(problem));
}

std::string refuses(const Problem& problem) {
  if (nest_of(problem).outputs() == 0) return "There is nothing to compute; the base serves that.";
  if (nest_of(problem).outputs() < std::int64_t{1} << 36) return "";
  return "This template is for less than 2^36 results; take another template.";
}

// True if another template has a better first guess: permute, or contract and its kin where both operands are
// used often.
bool is_for_others(const Problem& problem, const DeviceFacts& device) {
  const Nest& nest = nest_of(problem);
  if (nest.bounds() > 0 && !multiplies_borders(problem, device)) return false;
  if (nest.inputs.size() == 1) return nest.rank() > 0 && nest.free == nest.rank();
  if (multiplies_factors(problem, device)) return true;
  const Expression& e = expression_of(problem);
  if (e.function.inputs != 2 || e.finish.accesses.size() > most_finish_accesses) return false;
  std::int64_t rows = 1, columns = 1;
  for (std::size_t i = 0; i < nest.free; ++i) {
    const bool first = nest.inputs[0].strides[i] != 0, second = nest.inputs[1].strides[i] != 0;
    if (first && !second) rows *= nest.extents[i];
    if (second && !first) columns *= nest.extents[i];
  }
  if (has_windows(expression_of(problem)) && nest.terms() <= 256) return false;
  const double products = static_cast<double>(nest.outputs()) * static_cast<double>(nest.terms());
  return rows >= 8 && columns >= 8 && nest.terms() >= 8 && products >= 0x1p23;
}

// The ways of this template: threads share sums or do not, blocks share them, or each thread has as many
// outputs as it can hold.
std::vector<Values> ways() {
  return {{{"REDUCE", std::int64_t{1}}},
          {{"REDUCE", std::int64_t{8}}},
          {{"REDUCE", std::int64_t{32}}},
          {{"REDUCE", std::int64_t{1}}, {"SPLIT", std::int64_t{16}}},
          {{"REDUCE", std::int64_t{1}}, {"SPLIT", std::int64_t{64}}},
          {{"REDUCE", std::int64_t{1}}, {"THREAD_Y", std::int64_t{16}}, {"THREAD_Z", std::int64_t{4}}}};
}

// The way says the threads and blocks that share a sum, and outputs of a thread; the rest is chosen.
std::optional<Values> untuned_way(const Problem& problem, const DeviceFacts& device, const Values& way) {
  const std::shared_ptr<const LoopForms> all = loop_forms(problem);
  const std::size_t form = all->usable.front();
  const std::int64_t threads_to_fill = std::int64_t{1024} * multiprocessors_to_fill(device);
  // The kernel that takes longest, if a thread adds each sum: few of them do not fill the device.
  const auto rounds = [&](const LoopKernel& kernel) {
    return static_cast<double>(kernel.nest.terms()) *
           static_cast<double>(std::max(kernel.nest.outputs(), threads_to_fill));
  };
  const std::vector<LoopKernel>& kernels = all->forms[form].kernels;
  const LoopKernel& kernel =
      *std::max_element(kernels.begin(), kernels.end(),
                        [&](const LoopKernel& a, const LoopKernel& b) { return rounds(a) < rounds(b); });
  const Nest& nest = kernel.nest;
  std::int64_t terms = 1;
  for (std::size_t i = nest.free; i < nest.rank(); ++i)
    if (!kernel.is_serial(i)) terms *= nest.extents[i];

  // With few outputs, or operands that lie along the sums, threads share sums; blocks share them if even
  // these threads are few.
  const bool shares_as_asked = way.find("REDUCE") != nullptr, holds_most = way.find("THREAD_Y") != nullptr;
  std::int64_t outputs = nest.outputs(), lanes = shares_as_asked ? way.integer("REDUCE") : 1, split = 1;
  const int along = kernel.nearest();
  const bool is_small = outputs * terms < std::int64_t{1} << 20;  // then all lies in caches
  for (const auto& [count, least_extent] :
       {std::pair<std::int64_t, std::int64_t>{8, 5}, {32, 15}, {256, 512}}) {
    if (!shares_as_asked && (is_small || reads_along_sums(kernel)) &&
        outputs * count <= 2 * threads_to_fill && nest.extent(along) >= least_extent)
      lanes = count;
  }
  if (!shares_as_asked && reads_along_sums(kernel))
    lanes = std::max<std::int64_t>(lanes, nest.extent(along) < 32 ? 8 : 32);
  const std::int64_t asked = way.find("SPLIT") != nullptr ? way.integer("SPLIT") : 0;
  if (asked > 0 && (terms < 16 * asked || outputs * asked > 16 * threads_to_fill)) return std::nullopt;
  while (asked == 0 && split < 64 && outputs * lanes * split * 4 <= threads_to_fill &&
         terms >= 32 * lanes * split)
    split *= 4;
  split = least_alike(splits, std::max(split, asked),
                      [&](std::int64_t parts) { return with_parts(all->forms[form], parts).elements; });

  // A thread has as many outputs as leave enough threads, and the more the longer the window is.
  const LoopKernel& tiled = longest_kernel(all->forms[form], true);
  const auto its_extent = [&](int index) { return tiled.nest.extent(index); };
  const std::int64_t most_y = holds_most                                                 ? 16
                              : lanes > 1                                                ? 4
                              : its_extent(tiled.window) >= 9 && !tiled.has_neighbours() ? 16
                              : tiled.has_neighbours() && its_extent(tiled.window) < 5   ? 4
                              : tiled.window >= 0                                        ? 8
                                                                                         : 4;
  const std::int64_t most_z = tiled.along_z >= 0 && (terms >= 16 || holds_most) && lanes == 1 ? 4 : 1;
  std::int64_t thread_y = 1, thread_z = 1;
  const auto fits = [&](std::int64_t y, std::int64_t z) {
    return holds_most || (y * z <= 32 && tiled.nest.outputs() * lanes * split >= threads_to_fill * y * z);
  };
  while (thread_y < most_y && 2 * thread_y <= its_extent(tiled.along_y) && fits(2 * thread_y, 1))
    thread_y *= 2;
  while (thread_z < most_z && 2 * thread_z <= its_extent(tiled.along_z) && fits(thread_y, 2 * thread_z))
    thread_z *= 2;
  const bool has_threads_y = lanes == 1 && tiled.along_y >= 0;
  const std::int64_t neighbours = tiled.nest.free > 0 ? tiled.nest.extents[tiled.nest.free - 1] : 1;
  const bool is_long = thread_y * thread_z >= 16 && tiled.window >= 0;  // each thread has much to do
  const std::int64_t block_x = !has_threads_y                 ? 256
                               : is_long && neighbours >= 112 ? 128
                               : neighbours >= 256 || is_long ? 64
                                                              : 32,
                     block_y = !has_y(all->forms[form]) || !has_threads_y ? 1
                               : is_long                                  ? 2
                                                                          : 4;
  // A part may have too few terms to share.
  const LoopShape shape = {.threads = block_x * block_y,
                           .block_y = block_y,
                           .thread_y = thread_y,
                           .thread_z = thread_z,
                           .lanes = lanes};
  if (!shares_sums(with_parts(all->forms[form], split), shape)) lanes = 1;
  return Values{{"FORM", static_cast<std::int64_t>(form)},
                {"BLOCK_X", block_x},
                {"BLOCK_Y", block_y},
                {"THREAD_Y", thread_y},
                {"THREAD_Z", thread_z},
                {"REDUCE", lanes},
                {"SPLIT", split},
                {"UNROLL", std::int64_t{is_long ? 1024 : 256}},
                {"START", all->forms[form].kernels.size() > 1 || split > 1 ? "overlapped" : "plain"}};
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  if (loop_forms(problem)->usable.front() == 0 && is_for_others(problem, device)) return std::nullopt;
  return untuned_way(problem, device, {});
}

}  // namespace

Template loops() {
  std::vector<std::string> kernels;
  for (std::size_t n = 0; n < most_kernels; ++n) kernels.push_back(kernel_name(n));
  return {.name = "loops",
          .room = "loops/",
          .what = "The loops of one of the expression's forms, written out with all extents and strides.",
          .kernels = std::move(kernels),
          .compiled_in = {"expression", "dtype", "extents", "may", "finish", "out_dtype", "zero_outside",
                          "x0", "x1", "x2", "x3", "x4", "x5", "out"},
          .preamble = types_code,
          .generated = generated,
          .refuses = refuses,
          .untuned = untuned,
          .ways = ways(),
          .untuned_way = untuned_way,
          .space = space,
          .work = work};
}

}  // namespace tunesmith::tensor_op
