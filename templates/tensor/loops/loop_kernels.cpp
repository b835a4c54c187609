// SPDX-License-Identifier: Apache-2.0
// Turns a form into kernels: decides which of its steps share a kernel, their indices, and along which of
// these a thread has several outputs.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "templates/choice.h"
#include "templates/tensor/derive/forms.h"
#include "templates/tensor/loops/loops.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

constexpr std::int64_t outputs_to_fill = 1 << 14;  // for kernels that write each result several times

// Builds a kernel. It has the indices of all its steps, each once, with those that the first step writes in
// front.
class KernelBuilder {
 public:
  KernelBuilder(const Problem& problem, const Form& form, std::vector<ArrayLayout>& layouts)
      : problem_(problem), form_(form), layouts_(layouts) {}

  void begin(std::size_t step) {
    const Expression& e = form_.steps[step].expression;
    for (std::size_t i = 0; i < e.indices.size(); ++i)
      places_.push_back(add(e.indices[i].name, form_.steps[step].extents[i]));
    nest_.free = e.free;
    kernel_.reduction = e.reduction;
    append(step, -1);
  }

  /// Takes the step in if it can, and returns whether it did. The step reads the results so far as they are
  /// computed.
  bool take(std::size_t step, std::size_t before) {
    const FormStep& next = form_.steps[step];
    const int array = array_of_step(next, before);
    const Access& access = *std::find_if(next.expression.accesses.begin(), next.expression.accesses.end(),
                                         [&](const Access& each) { return each.array == array; });
    std::vector<int> places(next.extents.size(), -1);
    for (std::size_t d = 0; d < access.dimensions.size(); ++d) {
      const auto& factors = access.dimensions[d].factors;
      places[static_cast<std::size_t>(std::find(factors.begin(), factors.end(), 1) - factors.begin())] =
          places_[d];
    }
    // An index that the results do not have becomes a loop of the thread; not if its neighbours are the
    // output's, and not if threads are few.
    const std::vector<std::int64_t> strides =
        view_of(next.expression.output, layouts_[step], next.extents, false).strides;
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < strides.size(); ++i)
      if (next.extents[i] > 1 && (next.extents[nearest] == 1 || strides[i] < strides[nearest])) nearest = i;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0 || next.extents[i] == 1) continue;
      if (i == nearest || nest_.outputs() < outputs_to_fill) return false;
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] < 0) places[i] = add(next.expression.indices[i].name, next.extents[i]);
    places_ = std::move(places);
    append(step, array);
    return true;
  }

  LoopKernel finish(std::size_t last) {
    const bool is_result = last + 1 == form_.steps.size();
    const FormStep& step = form_.steps[last];
    nest_.output = view(step.expression.output, layouts_[last], step.extents, false);
    nest_.output.array = is_result ? output_argument : first_intermediate + static_cast<int>(last);
    for (std::vector<std::int64_t>* const strides : nest_.all_strides()) strides->resize(nest_.rank());
    nest_.erase_ones();
    kernel_.nest = fused(nest_);
    return std::move(kernel_);
  }

 private:
  int add(const std::string& name, std::int64_t extent) {
    nest_.names.push_back(name);
    nest_.extents.push_back(extent);
    return static_cast<int>(nest_.rank()) - 1;
  }

  int array_of_step(const FormStep& reader, std::size_t step) const {
    const int array = static_cast<int>(inputs() + step);
    return static_cast<int>(std::find(reader.arrays.begin(), reader.arrays.end(), array) -
                            reader.arrays.begin());
  }
  std::size_t inputs() const { return expression_of(problem_).arrays.size(); }

  // The view of an access with strides of the kernel's indices instead of the step's.
  View view(const Access& access, const ArrayLayout& layout, const std::vector<std::int64_t>& extents,
            bool is_zero_outside) const {
    View made = view_of(access, layout, extents, is_zero_outside);
    for (std::vector<std::int64_t>* const its : made.all_strides()) {
      std::vector<std::int64_t> strides(nest_.rank());
      for (std::size_t i = 0; i < its->size(); ++i)
        strides[static_cast<std::size_t>(places_[i])] += (*its)[i];
      *its = std::move(strides);
    }
    return made;
  }

  // Appends the step's function and accesses; for the array `so_far` it takes the results.
  void append(std::size_t step, int so_far) {
    const FormStep& its = form_.steps[step];
    LoopKernel::Function function{its.expression.function, {}};
    for (const Access& access : its.expression.accesses) {
      function.inputs.push_back(access.array == so_far ? -1 : static_cast<int>(nest_.inputs.size()));
      if (access.array == so_far) continue;
      const int array = its.arrays[static_cast<std::size_t>(access.array)];
      const bool is_input = array < static_cast<int>(inputs());
      const int its_step = array - static_cast<int>(inputs());
      const ArrayLayout layout =
          is_input ? array_layout(problem_, array) : layouts_[static_cast<std::size_t>(its_step)];
      nest_.inputs.push_back(
          view(access, layout, its.extents, is_input && expression_of(problem_).is_zero_outside(array)));
      nest_.inputs.back().array = is_input ? array : first_intermediate + its_step;
    }
    kernel_.functions.push_back(std::move(function));
    kernel_.text += (kernel_.text.empty() ? "" : "; ") + text(its.expression);
  }

  const Problem& problem_;
  const Form& form_;
  std::vector<ArrayLayout>& layouts_;
  LoopKernel kernel_;
  Nest nest_;
  std::vector<int> places_;  // the kernel's place of each index of the last step
};

// The part of its elements that a view reads anew where a thread has four outputs along the free index: a
// quarter if the index does not move the view, between a quarter and all if windows overlap. `window`: the
// index along which they do.
double read_anew(const LoopKernel& kernel, const View& view, std::size_t index, int& window) {
  constexpr std::int64_t outputs = 4;
  const Nest& nest = kernel.nest;
  const std::int64_t step = view.strides[index];
  if (step == 0) return 1.0 / outputs;
  double least = 1;
  for (std::size_t u = nest.free; u < nest.rank(); ++u) {
    const std::int64_t stride = view.strides[u], extent = std::min<std::int64_t>(nest.extents[u], 64);
    if (stride == 0 || kernel.is_serial(u)) continue;
    std::set<std::int64_t> places;
    for (std::int64_t r = 0; r < outputs; ++r)
      for (std::int64_t k = 0; k < extent; ++k) places.insert(r * step + k * stride);
    const double part = static_cast<double>(places.size()) / static_cast<double>(outputs * extent);
    if (part >= least) continue;
    least = part;
    window = static_cast<int>(u);
  }
  // A thread's outputs are neighbours in the view and threads side by side are not: the outputs' sectors are
  // read once.
  if (least == 1 && std::abs(step) == 1 && nest.free > 0 && std::abs(view.strides[nest.free - 1]) > 1)
    return 0.5;
  return least;
}

void choose_tile(LoopKernel& kernel) {
  const Nest& nest = kernel.nest;
  std::vector<double> now(nest.inputs.size(), 1);
  const auto choose = [&](int& chosen, int& window, const auto& may_be) {
    double least = 0.9 * std::accumulate(now.begin(), now.end(), 0.0);
    std::vector<double> best = now;
    for (std::size_t i = nest.free; i-- > 0;) {
      if (!may_be(static_cast<int>(i))) continue;
      int its_window = -1;
      std::vector<double> then = now;
      for (std::size_t k = 0; k < then.size(); ++k)
        then[k] *= read_anew(kernel, nest.inputs[k], i, its_window);
      // A thread reads its neighbours by wide accesses at best, so another index that is as good is better.
      const bool is_last = i + 1 == nest.free;
      if (is_last && its_window < 0) continue;
      const double sum = std::accumulate(then.begin(), then.end(), 0.0) * (is_last ? 1.5 : 1);
      if (sum >= least) continue;
      least = sum;
      best = std::move(then);
      chosen = static_cast<int>(i);
      window = its_window;
    }
    now = std::move(best);
  };
  int ignored = -1;
  choose(kernel.along_y, kernel.window, [](int) { return true; });
  if (kernel.along_y >= 0)
    choose(kernel.along_z, ignored,
           [&](int i) { return i != kernel.along_y && i + 1 != static_cast<int>(nest.free); });
}

// True if the intermediate arrays are of a size that a device may have.
bool has_room(const Form& form) {
  return std::all_of(form.steps.begin(), form.steps.end() - 1, [](const FormStep& step) {
    double elements = 1;
    for (std::size_t i = 0; i < step.expression.free; ++i) elements *= static_cast<double>(step.extents[i]);
    return elements < 0x1p36;
  });
}

LoopForm loop_form(const Problem& problem, const Form& form) {
  LoopForm result;
  std::vector<ArrayLayout> layouts;
  for (const FormStep& step : form.steps) {
    const std::span<const std::int64_t> extents = std::span(step.extents).first(step.expression.free);
    layouts.push_back({{extents.begin(), extents.end()}, dense_strides(extents)});
    result.elements.push_back(0);
  }
  layouts.back() = array_layout(problem, -1);
  for (std::size_t n = 0; n < form.steps.size();) {
    KernelBuilder builder(problem, form, layouts);
    builder.begin(n);
    std::size_t last = n;
    while (last + 1 < form.steps.size() && form.steps[last + 1].joined && builder.take(last + 1, last))
      ++last;
    result.kernels.push_back(builder.finish(last));
    choose_tile(result.kernels.back());
    if (last + 1 < form.steps.size()) result.elements[last] = volume(layouts[last].extents);
    n = last + 1;
  }
  return result;
}

std::shared_ptr<const LoopForms> all_forms(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  const std::vector<Form> all = forms(e, extents, choice<May>(problem, "may"), bytes(dtype_of(problem)));
  auto made = std::make_shared<LoopForms>();
  std::vector<Form> usable;
  for (const Form& form : all) {
    LoopForm& its = made->forms.emplace_back();
    if (!has_room(form)) continue;
    its = loop_form(problem, form);
    if (its.kernels.size() >= most_kernels) {  // one more kernel may add parts
      its = {};
      continue;
    }
    made->usable.push_back(made->forms.size() - 1);
    usable.push_back(form);
    if (its.kernels.size() > form.launches())  // a step that could join the one before it has its own kernel
      for (FormStep& step : usable.back().steps) step.joined = false;
  }
  std::swap(made->usable.front(), made->usable[cheapest(usable, usual_operations_per_byte)]);
  return made;
}

}  // namespace

bool LoopKernel::reduces() const {
  for (std::size_t i = nest.free; i < nest.rank(); ++i)
    if (!is_serial(i)) return true;
  return false;
}

int LoopKernel::nearest() const {
  int found = -1;
  std::int64_t least = 0;
  for (std::size_t i = nest.free; i < nest.rank(); ++i) {
    if (is_serial(i)) continue;
    for (const View& view : nest.inputs) {
      const std::int64_t stride = std::abs(view.strides[i]);
      if (stride == 0 || (found >= 0 && stride > least) ||
          (found >= 0 && stride == least && nest.extents[i] <= nest.extent(found)))
        continue;
      found = static_cast<int>(i);
      least = stride;
    }
  }
  return found;
}

std::shared_ptr<const LoopForms> loop_forms(const Problem& problem) { return problem.derived(all_forms); }

LoopForm with_parts(LoopForm form, std::int64_t parts) {
  std::size_t most = form.kernels.size();
  double most_terms = 0;
  int index = -1;
  for (std::size_t n = 0; n < form.kernels.size(); ++n) {
    const Nest& nest = form.kernels[n].nest;
    int longest = -1;
    double terms = 1;
    for (std::size_t i = 0; i < nest.rank(); ++i) {
      terms *= static_cast<double>(nest.extents[i]);
      if (!nest.is_reduced(i) || form.kernels[n].is_serial(i)) continue;
      if (longest < 0 || nest.extents[i] > nest.extent(longest)) longest = static_cast<int>(i);
    }
    if (longest < 0 || terms <= most_terms) continue;
    most_terms = terms;
    most = n;
    index = longest;
  }
  if (most == form.kernels.size()) return form;
  LoopKernel& kernel = form.kernels[most];
  auto at = static_cast<std::size_t>(index);
  const std::int64_t whole = kernel.nest.extents[at],
                     each = ceil_divide(whole, std::max<std::int64_t>(parts, 1));
  if (each == 0 || ceil_divide(whole, each) == 1) return form;
  const std::int64_t count = ceil_divide(whole, each), outputs = kernel.nest.outputs();

  // The sums of parts, dense in the order of the results.
  View partial = {.array = first_intermediate + static_cast<int>(form.elements.size()),
                  .strides = dense_strides(std::span(kernel.nest.extents).first(kernel.nest.free))};
  form.elements.push_back(outputs * count);

  // The kernel that adds them and continues with the sums. Loops that the result is written along stay; the
  // parts are the reduced index.
  LoopKernel sums = kernel;
  for (std::size_t i = sums.nest.rank(); i-- > sums.nest.free;)
    if (!sums.is_serial(i)) sums.nest.erase(i);
  sums.nest.insert(sums.nest.free, "part", count);
  sums.functions.front() = {language::parse("a").expression, {static_cast<int>(sums.nest.inputs.size())}};
  sums.nest.inputs.push_back(partial);
  sums.nest.inputs.back().strides.resize(sums.nest.rank());
  sums.nest.inputs.back().strides[sums.nest.free] = outputs;
  sums.along_y = sums.along_z = sums.window = -1;

  // The kernel itself. Loops along the output alone move to the other kernel with the results, and the part
  // is one more free index, the farthest.
  kernel.functions.resize(1);
  kernel.whole = whole;
  Nest& nest = kernel.nest;
  for (std::size_t i = nest.rank(); i-- > nest.free;) {
    if (!kernel.is_serial(i)) continue;
    nest.erase(i);
    if (at > i) --at;
    if (kernel.window > static_cast<int>(i)) --kernel.window;
  }
  nest.output = std::move(partial);
  nest.output.strides.resize(nest.rank());
  nest.insert(0, "part", count);
  ++nest.free;
  ++at;
  for (std::vector<std::int64_t>* const strides : nest.all_strides())
    strides->front() = (*strides)[at] * each;
  nest.output.strides.front() = outputs;
  nest.extents[at] = each;
  for (int* const place : {&kernel.along_y, &kernel.along_z, &kernel.window})
    if (*place >= 0) ++*place;
  kernel.split = static_cast<int>(at);
  form.kernels.insert(form.kernels.begin() + static_cast<std::ptrdiff_t>(most) + 1, std::move(sums));
  return form;
}

}  // namespace tunesmith::tensor_op
