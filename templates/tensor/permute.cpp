// Permutations of one array, with a function of each element: boxes through shared memory.

#include <algorithm>
#include <limits>
#include <numeric>

#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

#define BOX_FUNCTION constexpr
#include "templates/tensor/box.inl"
static_assert(most_box_dimensions == most_indices);

constexpr CategoricalAxis STAGING("STAGING"), BLOCK_ORDER("BLOCK_ORDER"), LOAD("LOAD");
constexpr IntegerAxis TILE_IN("TILE_IN"), TILE_OUT("TILE_OUT"), VECTOR_IN("VECTOR_IN"),
    VECTOR_OUT("VECTOR_OUT"), LEAST("LEAST"), PAD("PAD"), BLOCK("BLOCK");

constexpr std::int64_t static_shared_limit = std::int64_t{48} * 1024;  // bytes per block, on any device

struct Sides {
  Nest nest;
  std::vector<int> input_order, output_order;  // dimensions by rising stride; those that do not move last
  const View& input() const { return nest.inputs.front(); }
};

Sides sides_of(const Problem& problem) {
  Sides sides = {fused(nest_of(problem)), {}, {}};
  const auto order_of = [&](const View& view) {
    std::vector<int> order(sides.nest.rank());
    std::iota(order.begin(), order.end(), 0);
    const auto step = [&](int d) {
      const std::int64_t stride = std::abs(view.strides[static_cast<std::size_t>(d)]);
      return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return step(a) < step(b); });
    return order;
  };
  sides.input_order = order_of(sides.input());
  sides.output_order = order_of(sides.nest.output);
  return sides;
}

struct Wish {
  std::int64_t tile_in, tile_out, least, vector_in = 1, vector_out = 1;
};

Box box_of(const Sides& sides, const Wish& wish) {
  const std::vector<long long> extents(sides.nest.extents.begin(), sides.nest.extents.end());
  return box_of(static_cast<int>(sides.nest.rank()), extents.data(), sides.input_order.data(),
                sides.output_order.data(), wish.tile_in, wish.tile_out, wish.least, wish.vector_in,
                wish.vector_out);
}

Box box_of(const Sides& sides, const Config& c) {
  return box_of(sides, Wish{c[TILE_IN], c[TILE_OUT], c[LEAST], c[VECTOR_IN], c[VECTOR_OUT]});
}

std::int64_t blocks_of(const Sides& sides, const Box& box) {
  std::int64_t blocks = 1;
  for (std::size_t d = 0; d < sides.nest.rank(); ++d)
    blocks *= ceil_divide(sides.nest.extents[d], box.tiles[d]);
  return blocks;
}

std::int64_t elements_of(const Sides& sides, const Box& box) {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < sides.nest.rank(); ++d)
    all *= std::min<std::int64_t>(box.tiles[d], std::int64_t{1} << 20);
  return std::min<std::int64_t>(all, std::int64_t{1} << 40);
}

// The elements that a vector may have along the dimension in which the array is contiguous.
std::int64_t widest_vector(const Sides& sides, const View& view, const std::vector<int>& order,
                           std::int64_t element) {
  const auto first = static_cast<std::size_t>(order.front());
  if (view.strides[first] != 1) return 1;
  std::int64_t widest = 16 / element;
  const auto divides = [&](std::int64_t vector) {
    if (sides.nest.extents[first] % vector != 0 || view.start % vector != 0) return false;
    for (std::size_t d = 0; d < view.strides.size(); ++d)
      if (d != first && view.strides[d] % vector != 0) return false;
    return true;
  };
  while (widest > 1 && !divides(widest)) widest /= 2;
  return widest;
}

std::vector<Value> vectors_up_to(std::int64_t widest) {
  std::vector<Value> values;
  for (std::int64_t vector = widest; vector >= 1; vector /= 2) values.emplace_back(vector);
  return values;
}

Space space(const Problem& problem) {
  const Sides sides = sides_of(problem);
  const std::int64_t element = bytes(dtype_of(problem));
  const std::int64_t in = widest_vector(sides, sides.input(), sides.input_order, element);
  const std::int64_t out = widest_vector(sides, sides.nest.output, sides.output_order, element);
  const bool same_side = sides.input_order.front() == sides.output_order.front();
  std::vector<Axis> axes = {
      {STAGING, categories({"shared", "none"}), "whether a box is turned in shared memory"},
      {TILE_IN, {64, 32, 16, 128, 256, 512}, "elements that a block reads one behind the other, about"},
      {TILE_OUT, {64, 32, 16, 128, 256, 512}, "elements that a block writes one behind the other, about"},
      {LEAST, {2048, 1024, 512, 4096, 8192}, "elements of a box, about, where those are fewer"},
      {VECTOR_IN, vectors_up_to(in), "elements of a load"},
      {VECTOR_OUT, vectors_up_to(out), "elements of a store"},
      {PAD, {1, 0, 2, 4}, "elements between rows in shared memory, against bank conflicts"},
      {BLOCK, {256, 128, 512}, "threads per block"},
      {BLOCK_ORDER, categories({"output", "input"}), "whose neighbouring boxes neighbouring blocks take"},
      {LOAD, categories({"plain", "no_allocate"}), "no_allocate: loads bypass the first-level cache"},
      store_axis(),
      start_axis(),
      trigger_axis(),
  };
  const auto elements = [sides](const Config& c) { return elements_of(sides, box_of(sides, c)); };
  return Space(
      std::move(axes),
      {{"A box with its padding is at most 48 KiB, the limit of static shared memory; PAD counts once per "
        "row.",
        [=](const Config& c) {
          const Box box = box_of(sides, c);
          std::int64_t places = 1;
          for (const int d : sides.input_order) {
            if (d == sides.output_order.front() && d != sides.input_order.front()) places += c[PAD];
            places *= std::min<std::int64_t>(box.tiles[d], static_shared_limit);
            if (places > static_shared_limit) return c[STAGING] == "none";
          }
          return c[STAGING] == "none" || places * element <= static_shared_limit;
        }},
       {"A thread holds at most 256 bytes, in at most 32 loads and 32 stores.",
        [=](const Config& c) {
          const std::int64_t each = ceil_divide(elements(c), c[BLOCK]);
          return each * element <= 256 && each <= 32 * std::min(c[VECTOR_IN], c[VECTOR_OUT]);
        }},
       {"Without shared memory a load is a store: VECTOR_IN is VECTOR_OUT, and 1 unless both arrays are "
        "contiguous along "
        "the same dimension.",
        [=](const Config& c) {
          return c[STAGING] == "shared" ||
                 (c[VECTOR_IN] == c[VECTOR_OUT] && (same_side || c[VECTOR_IN] == 1));
        }},
       conditional(
           PAD, 1, [same_side](const Config& c) { return c[STAGING] == "shared" && !same_side; },
           "Rows are padded only where a box is turned in shared memory.")},
      {{"Loads and stores are as wide as the arrays allow, or half of that.",
        [=](const Config& c) {
          return c[STAGING] == "none" || (2 * c[VECTOR_IN] >= in && 2 * c[VECTOR_OUT] >= out);
        }},
       {"Where the arrays are contiguous along different dimensions, boxes are turned in shared memory.",
        [=](const Config& c) { return same_side || c[STAGING] == "shared"; }},
       {"A block has something to do for each thread.",
        [=](const Config& c) { return elements(c) >= c[BLOCK] * std::max(c[VECTOR_IN], c[VECTOR_OUT]); }},
       trigger_rule()});
}

Work work(const Problem& problem, const Config& config) {
  const Sides sides = sides_of(problem);
  if (sides.nest.outputs() == 0) return {};
  const Box box = box_of(sides, config);
  return {
      .steps = {Launch{.kernel = "tensor_permute",
                       .grid = {blocks_of(sides, box)},
                       .block = {config[BLOCK]},
                       .arguments = {ArgumentPointer{sides.input().array}, ArgumentPointer{output_argument}},
                       .overlaps_previous = config[START] == "overlapped"}}};
}

std::string constant(const std::string& type, const std::string& name, const auto& values) {
  std::string text =
      "__host__ __device__ constexpr " + type + " " + name + "(int n) {\n  const " + type + " all[] = {";
  for (std::size_t n = 0; n < values.size(); ++n) text += (n == 0 ? "" : ", ") + std::to_string(values[n]);
  return text + "};\n  return all[n];\n}\n";
}

std::string preamble(const Problem& problem) {
  const Sides sides = sides_of(problem);
  const Expression& e = expression_of(problem);
  const bool is_identity = e.function.nodes.size() == 1;
  std::string names;
  for (const std::string& name : sides.nest.names) names += (names.empty() ? "" : ", ") + name;
  return "// " + problem.string("expression") + "\n" + elementwise_op::code(e.function, dtype_of(problem)) +
         "constexpr bool IDENTITY = " + (is_identity ? "true" : "false") + ";\n// Dimensions: " + names +
         "\nconstexpr int RANK = " + std::to_string(sides.nest.rank()) +
         ";\nconstexpr long long input_start = " + std::to_string(sides.input().start) +
         ", output_start = " + std::to_string(sides.nest.output.start) + ";\n" +
         constant("long long", "extent_of", sides.nest.extents) +
         constant("long long", "input_stride_of", sides.input().strides) +
         constant("long long", "output_stride_of", sides.nest.output.strides) + "// By rising stride.\n" +
         constant("int", "input_order_of", sides.input_order) +
         constant("int", "output_order_of", sides.output_order);
}

std::string refuses(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const Nest& nest = nest_of(problem);
  if (e.accesses.size() != 1 || nest.free < nest.rank())
    return "This template is for one access without sums, as in out[a,b] = x0[b,a].";
  if (nest.rank() == 0) return "This template is for arrays of more than one element.";
  if (nest.outputs() == 0) return "This template is for arrays with elements.";
  return "";
}

// The largest boxes that give each multiprocessor two.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Sides sides = sides_of(problem);
  const std::int64_t large = bytes(dtype_of(problem)) <= 2 ? 4096 : 2048;
  Wish wish = {};
  for (const Wish& each :
       {Wish{64, 64, large}, Wish{64, 64, 1024}, Wish{32, 32, 1024}, Wish{32, 32, 512}, Wish{16, 16, 512}}) {
    wish = each;
    if (blocks_of(sides, box_of(sides, wish)) >= std::int64_t{2} * multiprocessors_to_fill(device)) break;
  }
  return Values{
      {"TILE_IN", wish.tile_in}, {"TILE_OUT", wish.tile_out}, {"LEAST", wish.least}, {"START", "overlapped"}};
}

}  // namespace

Template permute() {
  return {
      .name = "permute",
      .what = "A block takes a box, reads it as the input lies in memory, and writes it as the output does.",
      .kernels = {"tensor_permute"},
      .compiled_in = {"expression", "dtype", "extents", "x0", "out"},
      .preamble = preamble,
      .refuses = refuses,
      .untuned = untuned,
      .space = space,
      .work = work,
      .alignment_bytes = [](const Problem& problem, const Config& c) {
        return std::max(c[VECTOR_IN], c[VECTOR_OUT]) * bytes(dtype_of(problem));
      }};
}

}  // namespace tunesmith::tensor_op
