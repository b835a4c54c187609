// elementwise: out[i] = function(a[i], b[i], …), with NumPy's broadcasting; the function is a named one or an
// expression.
#include "generator/op.h"

#include <algorithm>
#include <limits>

#include "templates/elementwise/expression.h"
#include "templates/elementwise/layout.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK("BLOCK");
constexpr IntegerAxis BLOCKS("BLOCKS");
constexpr IntegerAxis INDEX("INDEX");
constexpr IntegerAxis ITEMS("ITEMS");
constexpr WordAxis LOAD("LOAD");
constexpr IntegerAxis RESIDENT_THREADS("RESIDENT_THREADS");
constexpr WordAxis START("START");
constexpr WordAxis STORE("STORE");
constexpr IntegerAxis TILES("TILES");
constexpr IntegerAxis VECTOR("VECTOR");
constexpr WordAxis VECTOR_IN("VECTOR_IN");

using elementwise_op::InputLayout;
using elementwise_op::Layout;

constexpr std::array<std::string_view, elementwise_op::most_inputs> input_names = {"a", "b", "c",
                                                                                   "d", "e", "f"};

elementwise_op::Expression expression_of(const Problem& problem) {
  return elementwise_op::parse(problem.word("function")).expression;
}

Layout layout_of(const Problem& problem) {
  return elementwise_op::layout_of(problem, expression_of(problem).inputs);
}

std::string check(const Problem& problem) {
  const elementwise_op::Expression expression = expression_of(problem);
  if (const std::string why = elementwise_op::refuses(expression, dtype_of(problem)); !why.empty())
    return "The elementwise problem's function is " + to_text(*problem.find("function")) + ". " + why;
  return elementwise_op::refuses_layout(problem, expression.inputs);
}

// Elements at offsets that walk the output's coordinates.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const elementwise_op::Expression expression = expression_of(problem);
  const Layout layout = elementwise_op::layout_of(problem, expression.inputs);
  const auto count = static_cast<std::size_t>(end - begin);
  std::vector<std::vector<double>> inputs(static_cast<std::size_t>(expression.inputs));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<std::int64_t>& strides = layout.inputs[k].strides;
    std::vector<std::int64_t> at(layout.extents.size());
    std::int64_t rest = begin;
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      at[dim] = rest % layout.extents[dim];
      rest /= layout.extents[dim];
      offset += at[dim] * strides[dim];
    }
    inputs[k].resize(count);
    for (double& element : inputs[k]) {
      element = arguments[k][static_cast<std::size_t>(offset)];
      for (std::size_t dim = 0; dim < at.size(); ++dim) {
        offset += strides[dim];
        if (++at[dim] < layout.extents[dim]) break;
        offset -= at[dim] * strides[dim];
        at[dim] = 0;
      }
    }
  }
  elementwise_op::evaluate(expression, dtype_of(problem), inputs, count, value.data(),
                           permitted_error.data());
}

// Odd sizes, vectors that end within a row and at its end, and sizes of 1. Those that differ in what a
// variant has compiled in do not reach it.
std::vector<Problem> companions(const Problem& problem) {
  static constexpr std::array<std::array<std::int64_t, elementwise_op::most_dimensions>, 3> sizes = {
      {{7, 5, 3, 2, 3, 2}, {64, 33, 3, 2, 2, 2}, {4099, 2, 2, 3, 2, 2}}};
  constexpr std::int64_t largest = 1 << 20;  // elements of memory: strides are the caller's
  std::vector<Problem> found;
  for (const auto& each : sizes) {
    Problem other = elementwise_op::resized(problem, each);
    const auto refused = [&](std::string_view name) {
      return other.word(name) != "dense" && !elementwise_op::refuses_input(other.word(name)).empty();
    };
    if (std::any_of(input_names.begin(), input_names.end(), refused)) continue;
    const Layout layout = layout_of(other);
    const auto fits = [&](const InputLayout& input) { return input.memory <= largest; };
    if (std::all_of(layout.inputs.begin(), layout.inputs.end(), fits)) found.push_back(std::move(other));
  }
  Problem one = problem;
  one.set("shape", std::string("1"));
  for (const std::string_view name : input_names) one.set(name, std::string("dense"));
  found.push_back(std::move(one));
  return found;
}

// ---- what the templates share

std::vector<Value> vectors(const Problem& problem) {
  std::vector<Value> values;
  for (std::int64_t n = 16 / bytes(dtype_of(problem)); n >= 1; n /= 2) values.emplace_back(n);
  return values;
}

std::int64_t alignment(const Problem& problem, const Config& config) {
  return config[VECTOR] * bytes(dtype_of(problem));
}

std::vector<KernelArgument> pointers() {
  std::vector<KernelArgument> arguments;
  for (int k = 0; k <= elementwise_op::most_inputs; ++k) arguments.emplace_back(ArgumentPointer{k});
  return arguments;
}

void add_strides(std::vector<KernelArgument>& arguments, const Layout& layout) {
  for (const InputLayout& input : layout.inputs) {
    for (std::size_t dim = 0; dim < elementwise_op::most_dimensions; ++dim)
      arguments.emplace_back(dim < input.strides.size() ? input.strides[dim] : std::int64_t{0});
  }
}

// What every tuned kernel may do: operations written out, which bounds the time to compile a hostile
// expression, and bytes of inputs that a thread holds.
std::vector<Rule> thread_rules(const Problem& problem) {
  const elementwise_op::Expression expression = expression_of(problem);
  std::int64_t operations = 0;
  for (const elementwise_op::Node& node : expression.nodes) {
    const elementwise_op::OperationFacts& known = elementwise_op::facts(node.operation);
    operations += known.called && known.real ? 16 : 1;
  }
  const std::int64_t bytes_each = expression.inputs * bytes(dtype_of(problem));
  return {{"Unrolled code has at most 4096 operations, a function of real numbers counted as 16.",
           [=](const Config& c) {
             const std::int64_t unrolled = c[ITEMS] * c[VECTOR];
             return unrolled == 1 || operations * unrolled <= 4096;
           }},
          {"A thread holds at most 256 bytes of inputs, and 64 where registers are for 2048 threads.",
           [=](const Config& c) {
             const std::int64_t held = bytes_each * c[ITEMS] * c[VECTOR];
             return held <= (c[RESIDENT_THREADS] == 2048 ? 64 : 256) || c[ITEMS] * c[VECTOR] == 1;
           }}};
}

const char* const load_what = "the hint that inputs are read with: none, not for L1, leave the caches first";
const char* const store_what = "the hint that outputs are written with";
const char* const start_what = "whether the kernel may start while the one before it runs";
const char* const resident_what =
    "threads that a multiprocessor must have room for; bounds a thread's registers";

constexpr std::int64_t index_limit = std::int64_t{1} << 31;  // elements that 32-bit indices are used for

// ---- base

Template base() {
  return {
      .name = "base",
      .what = "Threads walk the output in strides of the grid, one element at a time; serves every problem.",
      .kernels = {"elementwise_base"},
      .compiled_in = {"function", "dtype"},
      .space =
          [](const Problem&) {
            return Space({{BLOCK, {256, 128, 512, 1024}, "threads a block"},
                          {BLOCKS, {4096, 1024, 65536}, "blocks of the grid at most"}},
                         {});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Layout layout = layout_of(problem);
            if (layout.elements == 0) return Work{};
            std::vector<KernelArgument> arguments = pointers();
            arguments.emplace_back(layout.elements);
            arguments.emplace_back(static_cast<std::int32_t>(layout.extents.size()));
            for (std::size_t dim = 0; dim < elementwise_op::most_dimensions; ++dim)
              arguments.emplace_back(dim < layout.extents.size() ? layout.extents[dim] : std::int64_t{1});
            add_strides(arguments, layout);
            return Work{.steps = {Launch{
                            .kernel = "elementwise_base",
                            .grid = {std::min(ceil_divide(layout.elements, config[BLOCK]), config[BLOCKS])},
                            .block = {config[BLOCK]},
                            .arguments = std::move(arguments)}}};
          }};
}

// ---- contiguous

bool is_scalar(const InputLayout& input) {
  return input.used && std::all_of(input.strides.begin(), input.strides.end(),
                                   [](std::int64_t stride) { return stride == 0; });
}

std::string refuses_gaps(const Problem& problem) {
  const Layout layout = layout_of(problem);
  for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
    const InputLayout& input = layout.inputs[k];
    if (input.used && !input.is_output_like && !is_scalar(input)) {
      return "The input " + std::string(input_names[k]) +
             " is repeated along some dimensions only, or has gaps; the template broadcast serves that.";
    }
  }
  return "";
}

Template contiguous() {
  return {
      .name = "contiguous",
      .what =
          "For inputs as dense as the output or of one element: vectors, all loads before their first use.",
      .kernels = {"elementwise_contiguous"},
      .compiled_in = {"function", "dtype"},
      .constants =
          [](const Problem& problem) {
            const Layout layout = layout_of(problem);
            std::int64_t scalars = 0;
            for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
              if (is_scalar(layout.inputs[k])) scalars |= std::int64_t{1} << k;
            }
            return Values{{"SCALARS", scalars}};
          },
      .refuses = refuses_gaps,
      .space =
          [](const Problem& problem) {
            const bool small = layout_of(problem).elements < index_limit;
            std::vector<Axis> axes = {{INDEX, {32, 64}, "bits of an index"},
                                      {TILES, {1, 4, 16}, "tiles that a block walks; 1: the grid is exact"},
                                      {VECTOR, vectors(problem), "elements of an access"},
                                      {ITEMS, {2, 1, 4, 8}, "vectors of a thread, all in flight at once"},
                                      {BLOCK, {256, 128, 512, 1024}, "threads a block"},
                                      {LOAD, words({"plain", "streaming", "no_allocate"}), load_what},
                                      {STORE, words({"plain", "streaming"}), store_what},
                                      {START, words({"plain", "overlapped"}), start_what},
                                      {RESIDENT_THREADS, {1024, 2048}, resident_what}};
            std::vector<Rule> rules = thread_rules(problem);
            rules.push_back({"32-bit indices reach 2^31 elements.",
                             [=](const Config& c) { return small || c[INDEX] == 64; }});
            rules.push_back({"Below 2^31 elements 64-bit indices are for exact grids.",
                             [=](const Config& c) { return !small || c[INDEX] == 32 || c[TILES] == 1; }});
            return Space(std::move(axes), std::move(rules));
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Layout layout = layout_of(problem);
            if (layout.elements == 0) return Work{};
            std::vector<KernelArgument> arguments = pointers();
            arguments.emplace_back(layout.elements);
            const std::int64_t tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
            return Work{.steps = {Launch{.kernel = "elementwise_contiguous",
                                         .grid = {ceil_divide(layout.elements, tile * config[TILES])},
                                         .block = {config[BLOCK]},
                                         .arguments = std::move(arguments),
                                         .overlaps_previous = config[START] == "overlapped"}}};
          },
      .alignment_bytes = alignment};
}

// ---- broadcast

// The multiplier and shift by which a number below 2^31 is divided (broadcast.cu).
std::pair<std::int32_t, std::int32_t> divisor_of(std::int64_t extent) {
  int shift = 0;
  while ((std::int64_t{1} << shift) < extent) ++shift;
  const auto multiplier =
      static_cast<std::uint32_t>((((std::int64_t{1} << shift) - extent) << 32) / extent + 1);
  return {static_cast<std::int32_t>(multiplier), shift};
}

// Whether vectors of `vector` elements can be read as such within the rows of every input.
bool rows_take(const Layout& layout, std::int64_t vector) {
  if (layout.extents.front() % vector != 0) return false;
  return std::all_of(layout.inputs.begin(), layout.inputs.end(), [=](const InputLayout& input) {
    return !input.used || input.strides.front() != 1 ||
           std::all_of(input.strides.begin() + 1, input.strides.end(),
                       [=](std::int64_t stride) { return stride % vector == 0; });
  });
}

bool fits_32_bits(const Layout& layout) {
  return layout.elements < index_limit &&
         std::all_of(layout.inputs.begin(), layout.inputs.end(),
                     [](const InputLayout& input) { return input.memory < index_limit; });
}

Template broadcast() {
  return {
      .name = "broadcast",
      .what =
          "For inputs that are repeated along dimensions or have gaps, which are merged as far as possible.",
      .kernels = {"elementwise_broadcast"},
      .compiled_in = {"function", "dtype"},
      .constants =
          [](const Problem& problem) {
            const Layout layout = layout_of(problem);
            Values constants = {{"RANK", static_cast<std::int64_t>(layout.extents.size())}};
            for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
              const InputLayout& input = layout.inputs[k];
              std::int64_t bits = 0;
              for (std::size_t dim = 0; dim < input.strides.size(); ++dim) {
                if (input.used && input.strides[dim] != 0) bits |= std::int64_t{1} << dim;
              }
              if (input.used && input.strides.front() == 1) bits |= 64;
              if (input.is_output_like) bits |= 128;
              constants.set(std::string("INPUT_") + static_cast<char>('A' + k), bits);
            }
            return constants;
          },
      .refuses = [](const Problem& problem) -> std::string {
        if (!refuses_gaps(problem).empty()) return "";
        return "Every input is dense or of one element; the template contiguous serves that.";
      },
      .space =
          [](const Problem& problem) {
            const Layout layout = layout_of(problem);
            const bool small = fits_32_bits(layout);
            std::vector<Axis> axes = {
                {INDEX, {32, 64}, "bits of an index"},
                {VECTOR_IN, words({"row", "any"}), "whether a vector stays within a row of the output"},
                {VECTOR, vectors(problem), "elements of an access"},
                {ITEMS, {2, 1, 4, 8}, "vectors of a thread, all in flight at once"},
                {BLOCK, {256, 128, 512, 1024}, "threads a block"},
                {LOAD, words({"plain", "streaming", "no_allocate"}), load_what},
                {STORE, words({"plain", "streaming"}), store_what},
                {START, words({"plain", "overlapped"}), start_what},
                {RESIDENT_THREADS, {1024, 2048}, resident_what}};
            std::vector<Rule> rules = thread_rules(problem);
            rules.push_back({"32-bit indices reach 2^31 elements of each array, and are used there.",
                             [=](const Config& c) { return small == (c[INDEX] == 32); }});
            rules.push_back(
                {"A vector stays within a row where the row's length and the strides allow it.",
                 [=](const Config& c) { return rows_take(layout, c[VECTOR]) == (c[VECTOR_IN] == "row"); }});
            return Space(std::move(axes), std::move(rules));
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Layout layout = layout_of(problem);
            if (layout.elements == 0) return Work{};
            std::vector<KernelArgument> arguments = pointers();
            arguments.emplace_back(layout.elements);
            const auto extent = [&](std::size_t dim) {
              return dim < layout.extents.size() ? layout.extents[dim] : std::int64_t{1};
            };
            for (std::size_t dim = 0; dim < elementwise_op::most_dimensions; ++dim)
              arguments.emplace_back(extent(dim));
            for (std::size_t dim = 0; dim + 1 < elementwise_op::most_dimensions; ++dim) {
              const auto [multiplier, shift] = extent(dim) < index_limit
                                                   ? divisor_of(extent(dim))
                                                   : std::pair<std::int32_t, std::int32_t>();
              arguments.emplace_back(multiplier);
              arguments.emplace_back(shift);
            }
            add_strides(arguments, layout);
            const std::int64_t tile = config[BLOCK] * config[ITEMS] * config[VECTOR];
            return Work{.steps = {Launch{.kernel = "elementwise_broadcast",
                                         .grid = {ceil_divide(layout.elements, tile)},
                                         .block = {config[BLOCK]},
                                         .arguments = std::move(arguments),
                                         .overlaps_previous = config[START] == "overlapped"}}};
          },
      .alignment_bytes = alignment};
}

Parameter input_parameter(std::size_t k) {
  return {.name = std::string(input_names[k]),
          .what = k == 0 ? "an input's extents and, behind a colon, its strides in elements, as in 1080x1 or "
                           "1080x1920:4096x1; dense: the output's"
                         : "likewise",
          .words = {"dense"},
          .initial = "dense",
          .refuses_text = elementwise_op::refuses_input};
}

Argument input_argument(std::size_t k) {
  return {.name = std::string(input_names[k]),
          .role = Role::input,
          .extents = [k](const Problem& problem) { return std::vector{layout_of(problem).inputs[k].memory}; },
          .in_place = [k](const Problem& problem) { return layout_of(problem).inputs[k].is_output_like; }};
}

}  // namespace

Op ops_elementwise() {
  std::vector<std::string> functions;
  for (const elementwise_op::NamedFunction& function : elementwise_op::named_functions())
    functions.emplace_back(function.name);
  Op op = {
      .name = "elementwise",
      .what = "out = function(a, b, …), element by element, with NumPy's broadcasting of the inputs",
      .parameters =
          {{.name = "function",
            .what = "what is computed: a name, or an expression in a to f such as \"max(a, 0) * b\"",
            .words = functions,
            .refuses_text = [](const std::string& text) { return elementwise_op::parse(text).error; }},
           {.name = "dtype",
            .what = "element type of all arrays",
            .words = {"f32", "f64", "i32", "i64", "f16", "bf16"},
            .initial = "f32"},
           {.name = "shape",
            .what = "the output's extents, outermost first, as in 1000 or 1080x1920x3",
            .words = {"1000"},
            .refuses_text = elementwise_op::refuses_shape}},
      .check = check,
      .arguments = {},  // below
      .templates = {base(), contiguous(), broadcast()},
      .preamble =
          [](const Problem& problem) {
            return elementwise_op::code(expression_of(problem), dtype_of(problem));
          },
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const elementwise_op::Expression expression = expression_of(problem);
            const auto works = [](const elementwise_op::Node& node) {
              return elementwise_op::facts(node.operation).operands > 0;
            };
            return static_cast<double>(
                       std::count_if(expression.nodes.begin(), expression.nodes.end(), works)) *
                   static_cast<double>(layout_of(problem).elements);
          },
      .bytes_moved =
          [](const Problem& problem) {
            const Layout layout = layout_of(problem);
            std::int64_t elements = layout.elements;
            for (const InputLayout& input : layout.inputs) elements += input.distinct;
            return static_cast<double>(elements * bytes(dtype_of(problem)));
          },
      .companions = companions,
      .sizes =
          [](const Problem& problem) {
            const Layout layout = layout_of(problem);
            return Values{{"elements", std::max<std::int64_t>(layout.elements, 1)},
                          {"row", std::max<std::int64_t>(layout.extents.front(), 1)}};
          },
      .examples =
          {"function=add shape=1013", "function=\"a * b + c\" shape=37x53 b=53 c=37x1",
           "function=gaussian_pdf shape=1013 b=1 c=1",
           "function=a*b-c shape=3x2x2x3x2x8 a=2x1x3x1x8 b=3x1x2x1x2x1 c=3x2x2x3x2x8:900x320x150x44x20x2",
           "function=\"a - b\" dtype=f64 shape=24x64 a=24x64:80x1 b=24x64:1x24",
           "function=\"(a + b) / c % 7 < d ? -e * 3 : max(f, !a && b || c != 2)\" dtype=i32 shape=515",
           "function=add dtype=i64 shape=0x3"},
      .large_examples = {"function=\"a + 1\" dtype=f16 shape=2147487745",
                         "function=add dtype=f16 shape=65537x32769 b=65537x1"},
  };
  for (std::size_t k = 0; k < input_names.size(); ++k) {
    op.parameters.push_back(input_parameter(k));
    op.arguments.push_back(input_argument(k));
  }
  op.arguments.push_back({.name = "out", .role = Role::output, .extents = [](const Problem& problem) {
                            return std::vector{layout_of(problem).elements};
                          }});
  return op;
}

}  // namespace tunesmith
