// SPDX-License-Identifier: Apache-2.0
// The template `separable`: windows along one to three dimensions in one launch, with intermediate values in
// shared memory and registers; and windows with a mask.

#include "templates/tensor/separable/separable.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "templates/shared_layout.h"
#include "templates/tensor/op.h"
#include "templates/tensor/sum_text.h"

namespace tunesmith::tensor_op {
namespace {

#include "templates/tensor/separable/separable_layout.inl"

constexpr IntegerAxis BLOCK_X("BLOCK_X"), BLOCK_Y("BLOCK_Y"), OUTPUTS("OUTPUTS"), RUN("RUN"),
    STAGES("STAGES"), VECTOR("VECTOR");

constexpr std::int64_t most_partial_words = 192;  // words of sums that a thread keeps in registers
constexpr std::int64_t most_unrolled = 1024;      // operations of a mask, for each output of a thread
constexpr std::int64_t shortest_row = 9;          // fewest taps of a single window as a first guess

std::int64_t element_bytes(const Problem& problem) { return bytes(dtype_of(problem)); }
std::int64_t compute_bytes(const Problem& problem) {
  return bytes(language::compute_dtype(dtype_of(problem)));
}
std::int64_t partial_words(const Problem& problem, const Separable& s, std::int64_t outputs) {
  return (s.directions[Separable::march].taps - 1) * outputs *
         std::max<std::int64_t>(compute_bytes(problem) / 4, 1);
}

// The number of elements of a row of tiles that one access moves.
std::int64_t vector_of(const Problem& problem, const Separable& s, const View& view,
                       std::int64_t most_bytes) {
  const std::int64_t size = element_bytes(problem);
  const int array = view.array == output_argument ? -1 : view.array;
  if (view.stride(s.directions[Separable::x].free) != 1) return 1;
  if (memory(array_layout(problem, array)).value() * size < 16) return 1;  // it may have any address
  std::int64_t vector = most_bytes / size;
  const auto divides = [&](std::int64_t places) { return places % vector == 0; };
  const auto fits = [&] {
    return divides(view.start) && divides(view.stride(s.directions[Separable::y].free)) &&
           divides(view.stride(s.directions[Separable::march].free)) &&
           std::all_of(s.batch.begin(), s.batch.end(), [&](int i) { return divides(view.stride(i)); });
  };
  while (vector > 1 && !fits()) vector /= 2;
  return std::max<std::int64_t>(vector, 1);
}

std::vector<View> views_of(const Problem& problem, const Separable& s) {
  std::vector<View> views;
  for (const Access& access : s.element.accesses) views.push_back(view_of(problem, access));
  views.push_back(nest_of(problem).output);
  return views;
}

std::int64_t alignment(const Problem& problem, const Separable& s, std::int64_t most_bytes) {
  std::int64_t vector = 1;
  for (const View& view : views_of(problem, s))
    vector = std::max(vector, vector_of(problem, s, view, most_bytes));
  return vector * element_bytes(problem);
}

// The tiling that a config gives.
struct Tiling {
  std::int64_t lanes = 0, threads = 0, tile_x = 0, tile_y = 1, run = 0, blocks = 0, shared_bytes = 0;
};

// The least part that cuts `extent` into as many parts as `most` does.
std::int64_t even_part(std::int64_t extent, std::int64_t most) {
  return ceil_divide(extent, ceil_divide(extent, most));
}
std::int64_t run_of(const Separable& s, std::int64_t most) {
  return even_part(s.directions[Separable::march].extent, most);
}

// A row of a mask in shared memory is whole vectors, and the rows of a plane are an odd number of vectors.
std::int64_t mask_pitch(const Problem& problem, const Separable& s) {
  return round_up(s.directions[Separable::x].taps, 16 / compute_bytes(problem));
}
std::int64_t mask_elements(const Problem& problem, const Separable& s) {
  const std::int64_t vector = 16 / compute_bytes(problem),
                     rows = s.directions[Separable::march].taps * mask_pitch(problem, s);
  return rows / vector % 2 == 0 ? rows + vector : rows;
}
bool mask_moves_with_planes(const Problem& problem, const Separable& s) {
  return std::any_of(s.mask.accesses.begin(), s.mask.accesses.end(), [&](const Access& access) {
    return view_of(problem, access).stride(s.directions[Separable::y].free) != 0;
  });
}

Tiling tiling_of(const Problem& problem, const Separable& s, const Config& c) {
  const auto& [x, y, march] = s.directions;
  const bool has_y = s.has_y();
  Tiling t;
  t.lanes = s.has_mask() ? even_part(ceil_divide(x.extent, c[OUTPUTS]), c[BLOCK_X]) : c[BLOCK_X];
  t.tile_x = t.lanes * (has_y ? 1 : c[OUTPUTS]);
  t.tile_y = has_y ? c[BLOCK_Y] * c[OUTPUTS] : even_part(y.extent, c[BLOCK_Y]);
  t.threads = round_up(t.lanes * (has_y ? c[BLOCK_Y] : t.tile_y), 32);
  t.run = run_of(s, c[RUN]);
  t.blocks =
      ceil_divide(x.extent, t.tile_x) * ceil_divide(y.extent, t.tile_y) * ceil_divide(march.extent, t.run);
  for (const int i : s.batch) t.blocks *= nest_of(problem).extent(i);
  const std::int64_t masks = mask_moves_with_planes(problem, s) ? t.tile_y : 1;
  t.shared_bytes = separable_layout({.tile_x = t.tile_x,
                                     .tile_y = t.tile_y,
                                     .taps_x = x.taps,
                                     .taps_y = y.taps,
                                     .taps_march = march.taps,
                                     .inputs = std::ssize(s.element.accesses),
                                     .stages = c[STAGES],
                                     .element_bytes = element_bytes(problem),
                                     .compute_bytes = compute_bytes(problem),
                                     .mask_elements = s.has_mask() ? masks * mask_elements(problem, s) : 0})
                       .bytes;
  return t;
}

constexpr std::array<std::int64_t, 8> runs = {128, 64, 256, 32, 512, 48, 16, 1024};
constexpr std::array<std::int64_t, 5> blocks_y = {4, 8, 2, 1, 16};
constexpr std::array<std::int64_t, 4> blocks_x = {32, 64, 128, 256};
constexpr std::array<std::int64_t, 3> widths = {16, 8, 4};

// True if there is only one window, along the output's neighbours. If a thread then has three vectors of
// outputs, neighbouring threads' reads of shared memory hit all banks; with many taps these reads are the
// limit otherwise.
bool is_row(const Separable& s) {
  const auto& [x, y, march] = s.directions;
  return x.taps > 1 && !s.has_y() && !s.has_mask() && march.taps == 1;
}

std::int64_t least_block_x(const Separable& s, std::int64_t block_x, std::int64_t outputs) {
  return least_alike(blocks_x, block_x, [&](std::int64_t each) {
    return s.has_mask() ? even_part(ceil_divide(s.directions[Separable::x].extent, outputs), each) : each;
  });
}
std::int64_t least_block_y(const Separable& s, std::int64_t block_y) {
  return least_alike(blocks_y, block_y, [&](std::int64_t each) {
    return s.has_y() ? each : even_part(s.directions[Separable::y].extent, each);
  });
}
std::int64_t least_run(const Separable& s, std::int64_t run) {
  return least_alike(runs, run, [&](std::int64_t each) { return run_of(s, each); });
}
std::int64_t least_vector(const Problem& problem, const Separable& s, std::int64_t most_bytes) {
  return least_alike(widths, most_bytes, [&](std::int64_t each) {
    std::vector<std::int64_t> all;
    for (const View& view : views_of(problem, s)) all.push_back(vector_of(problem, s, view, each));
    return all;
  });
}

Space space(const Problem& problem) {
  const auto s = std::make_shared<const Separable>(separable_of(problem));
  const bool has_y = s->has_y();
  std::vector<Axis> axes = {
      {BLOCK_X,
       {blocks_x.begin(), blocks_x.end()},
       "threads along the output's neighbours, at most with a mask"},
      {BLOCK_Y,
       {blocks_y.begin(), blocks_y.end()},
       "threads along the second of three windows; with a mask planes beside each other"},
      {OUTPUTS,
       {4, 8, 2, 1, 12},
       "outputs of a thread at each step: neighbours, or along the second of three windows"},
      {RUN, {runs.begin(), runs.end()}, "steps that a block marches along the outermost window, at most"},
      {STAGES, {4, 8, 6, 3, 2}, "steps whose inputs are in shared memory, or on their way"},
      {VECTOR, {widths.begin(), widths.end()}, "bytes of an access at most, where rows are aligned"},
      resident_warps_axis({8, 16, 24, 12}),
      start_axis(),
      trigger_axis(),
  };
  std::vector<Rule> must = {
      {"A block has 32 to 512 threads.",
       [=](const Config& c) { return tiling_of(problem, *s, c).threads <= 512; }},
      {"OUTPUTS=12 is for one window of words along the output's neighbours.",
       [=](const Config& c) { return c[OUTPUTS] != 12 || (is_row(*s) && element_bytes(problem) == 4); }},
      one_name(
          BLOCK_X, [=](const Config& c) { return least_block_x(*s, c[BLOCK_X], c[OUTPUTS]); },
          "Of the BLOCK_X that are as many threads the least stands for all."),
      one_name(
          BLOCK_Y, [=](const Config& c) { return least_block_y(*s, c[BLOCK_Y]); },
          "Of the BLOCK_Y that are as many planes the least stands for all; without three windows or planes "
          "1."),
      one_name(
          RUN, [=](const Config& c) { return least_run(*s, c[RUN]); },
          "Of the RUN that are as many steps the least stands for all."),
      one_name(
          VECTOR, [=](const Config& c) { return least_vector(problem, *s, c[VECTOR]); },
          "Of the VECTOR that lead to the same accesses the least stands for all."),
      resident_warps_rule(axes, [=](const Config& c) { return tiling_of(problem, *s, c).threads; }),
  };
  return Space(
      std::move(axes), std::move(must),
      {{"A block's tile is no wider than twice the output.",
        [=](const Config& c) {
          return s->has_mask() || tiling_of(problem, *s, c).tile_x < 2 * s->directions[Separable::x].extent ||
                 (c[BLOCK_X] == 32 && (has_y || c[OUTPUTS] == 1));
        }},
       {"A block takes at most 100 KiB of shared memory.",
        [=](const Config& c) { return tiling_of(problem, *s, c).shared_bytes <= std::int64_t{100} * 1024; }},
       {"A block marches at least as far as the window reaches.",
        [=](const Config& c) {
          const Separable::Direction& march = s->directions[Separable::march];
          return run_of(*s, c[RUN]) >= std::min(march.taps, march.extent);
        }},
       trigger_rule()});
}

Work work(const Problem& problem, const Config& config) {
  const Tiling tiling = tiling_of(problem, separable_of(problem), config);
  std::vector<KernelArgument> arguments;
  for (int array = 0; array <= output_argument; ++array) arguments.emplace_back(ArgumentPointer{array});
  return {.steps = {Launch{.kernel = "tensor_separable",
                           .grid = {tiling.blocks},
                           .block = {tiling.threads},
                           .dynamic_shared_bytes = tiling.shared_bytes,
                           .arguments = std::move(arguments),
                           .overlaps_previous = config[START] == "overlapped"}}};
}

// Writes the code that separable.cu needs for a problem.
class Writer {
 public:
  Writer(const Problem& problem, const Config& config)
      : problem_(problem), nest_(nest_of(problem)), s_(separable_of(problem)), config_(config) {}

  std::string text() {
    const Expression& e = expression_of(problem_);
    text_ = "// ---- what is generated for it\n// " + tunesmith::tensor_op::text(e) + "\n";
    static constexpr std::array<const char*, 3> names = {"x", "y", "march"};
    static constexpr std::array<const char*, 3> weights = {"WeightX", "WeightY", "WeightMarch"};
    for (std::size_t d = 0; d < names.size(); ++d) {
      line("constexpr Place extent_" + std::string(names[d]) + " = " + number(s_.directions[d].extent) + ";");
      line("constexpr int taps_" + std::string(names[d]) + " = " + number(s_.directions[d].taps) + ";");
    }
    const Tiling tiling = tiling_of(problem_, s_, config_);
    line("constexpr int run = " + number(tiling.run) + ", lanes = " + number(tiling.lanes) +
         ", tile_x = " + number(tiling.tile_x) + ", tile_y = " + number(tiling.tile_y) +
         ", threads = " + number(tiling.threads) + ";");
    line(std::string("using How = ") +
         (e.reduction == Reduction::sum   ? "Sum"
          : e.reduction == Reduction::max ? "Max"
                                          : "Min") +
         ";");
    write_function("element", s_.element);
    std::string inputs;
    for (std::size_t n = 0; n < s_.element.accesses.size(); ++n) {
      const std::string name = "Input" + number(static_cast<std::int64_t>(n));
      write_view(name, view(s_.element.accesses[n]));
      inputs += (n > 0 ? ", " : "") + name;
    }
    line("using Inputs = List<" + inputs + ">;");
    write_view("Output", nest_.output);
    for (std::size_t d = 0; d < names.size(); ++d) write_weight(weights, d);
    write_mask();
    write_finish();
    return std::move(text_);
  }

 private:
  static std::string number(std::int64_t n) { return std::to_string(n); }
  void line(const std::string& words) { text_ += words + "\n"; }
  const View& view(const Access& access) const { return view_of(problem_, access); }

  // The offset of a view's first element in a batch: how far the batch's indices move the view.
  SumText batch(const View& view) const {
    SumText place(number(view.start));
    std::int64_t below = 1;
    for (auto i = s_.batch.rbegin(); i != s_.batch.rend(); ++i) {
      const std::int64_t extent = nest_.extent(*i);
      const bool is_first = i + 1 == s_.batch.rend();
      place.add("Place(batch" + (below > 1 ? " / " + number(below) : "") +
                    (is_first ? "" : " % " + number(extent)) + ")",
                view.stride(*i));
      below *= extent;
    }
    return place;
  }
  std::int64_t step(const View& view, std::size_t direction) const {
    return view.stride(s_.directions[direction].free);
  }

  void write_view(const std::string& name, const View& view) {
    const std::string device = "  static __device__ __forceinline__ ";
    line("struct " + name + " {");
    line("  static constexpr Place x = " + number(step(view, Separable::x)) + ", y = " +
         number(step(view, Separable::y)) + ", march = " + number(step(view, Separable::march)) + ";");
    // With a mask a tile has any number of columns, and the next one begins behind them.
    const std::int64_t tile_x = tiling_of(problem_, s_, config_).tile_x;
    const std::int64_t vector = vector_of(problem_, s_, view, config_[VECTOR]);
    const bool is_one = tile_x >= s_.directions[Separable::x].extent;
    line("  static constexpr int vector = " + number(is_one ? vector : std::gcd(vector, tile_x)) + ";");
    line(device + "Place batch([[maybe_unused]] unsigned batch) { return " + batch(view).text() + "; }");
    if (view.array != output_argument)
      line(device + "const T* begin(const Sources& from, unsigned n) { return from." +
           std::string(argument_name(view.array)) + " + batch(n); }");
    line("};");
  }
  void write_function(const std::string& name, const Body& body) {
    line("namespace " + name + " {\n" + language::code(body.function, dtype_of(problem_)) + "}");
  }

  // The text of the values that a body reads: for each access, the element to which the batch and the
  // variables, each along an index, lead; for accesses to no array, `own`.
  std::string values(const Body& body, const std::vector<std::pair<std::string, int>>& variables,
                     const std::vector<std::string>& own = {}) const {
    std::string all;
    for (const Access& access : body.accesses) {
      all += all.empty() ? "" : ", ";
      if (access.array >= output_argument) {
        all += own.at(static_cast<std::size_t>(access.array - output_argument));
        continue;
      }
      const View& its = view(access);
      SumText place = batch(its);
      for (const auto& [variable, index] : variables) place.add(variable, its.stride(index));
      all += "load(from." + std::string(argument_name(its.array)) + "[" + place.text() + "])";
    }
    return all;
  }

  // Writes the weights of a direction. If they are the same as those of an earlier direction, they are that
  // one's.
  void write_weight(std::span<const char* const> names, std::size_t place) {
    const Separable::Direction& direction = s_.directions[place];
    const std::string name = names[place];
    if (direction.weight.function.nodes.empty()) return line("using " + name + " = NoWeight;");
    const std::string its = values(direction.weight, {{"Place(n)", direction.reduced}});
    std::string all =
        number(direction.taps) + " of " + its + language::code(direction.weight.function, dtype_of(problem_));
    const auto same = std::find(weights_.begin(), weights_.end(), all);
    if (same != weights_.end())
      return line("using " + name + " = " + names[static_cast<std::size_t>(same - weights_.begin())] + ";");
    weights_[place] = std::move(all);
    write_function("of_" + name, direction.weight);
    line("struct " + name + R"( {
  static constexpr bool is_one = false;
  static __device__ __forceinline__ Compute at(const Sources& from, int n) {
    return of_)" +
         name + "::apply({" + its + R"(});
  }
};)");
  }

  void write_mask() {
    const bool has_mask = s_.has_mask(), has_term = !s_.term.function.nodes.empty();
    line("constexpr int mask_pitch = " + number(has_mask ? mask_pitch(problem_, s_) : 0) +
         ", mask_elements = " + number(has_mask ? mask_elements(problem_, s_) : 0) + ", masks = " +
         (!has_mask                              ? "0"
          : mask_moves_with_planes(problem_, s_) ? "tile_y"
                                                 : "1") +
         ";");
    if (!has_mask) return line("using Mask = NoMask;");
    const auto& [x, y, march] = s_.directions;
    write_function("of_mask", s_.mask);
    if (has_term) write_function("of_term", s_.term);
    line(R"(struct Mask {
  static __device__ __forceinline__ Compute at(const Sources& from, [[maybe_unused]] unsigned batch,
                                               [[maybe_unused]] Place y, [[maybe_unused]] Place i,
                                               [[maybe_unused]] Place j) {
    return of_mask::apply({)" +
         values(s_.mask, {{"y", y.free}, {"i", march.reduced}, {"j", x.reduced}}) + R"(});
  }
  static __device__ __forceinline__ Compute term(Compute value, Compute weight) {
    return )" +
         (has_term ? "of_term::apply({" + values(s_.term, {}, {"value", "weight"}) + "})"
                   : std::string("elementwise::multiply(weight, value)")) +
         ";\n  }\n};");
  }

  void write_finish() {
    const bool is_sum = s_.finish.function.nodes.empty();
    const auto& [x, y, march] = s_.directions;
    if (!is_sum) write_function("finish", s_.finish);
    line(R"(__device__ __forceinline__ Compute finished(Compute sum, [[maybe_unused]] const Sources& from,
                                            [[maybe_unused]] unsigned batch, [[maybe_unused]] Place x,
                                            [[maybe_unused]] Place y, [[maybe_unused]] Place march) {
  return )" +
         (is_sum ? std::string("sum")
                 : "finish::apply({" +
                       values(s_.finish, {{"x", x.free}, {"y", y.free}, {"march", march.free}}, {"sum"}) +
                       "})") +
         ";\n}");
  }

  const Problem& problem_;
  const Nest& nest_;
  const Separable s_;
  const Config& config_;
  std::array<std::string, 3> weights_;  // the text that is written for each direction
  std::string text_;
};

std::string generated(const Problem& problem, const Config& config) { return Writer(problem, config).text(); }

std::string refuses(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  if (expression_of(problem).finish.is_there() || nest_of(problem).bounds() > 0 ||
      out_dtype(problem) != dtype || bytes(dtype) == 1)
    return "This template is for sums as they are, of elements of 16 bits or more that are in bounds; take "
           "another template.";
  const Nest& nest = nest_of(problem);
  if (nest.outputs() == 0 || nest.terms() == 0) return "There is nothing to reduce; the base serves that.";
  if (nest.outputs() >= std::int64_t{1} << 36)
    return "This template is for less than 2^36 results; take another template.";
  const Separable s = separable_of(problem);
  if (!s.why_not.empty()) return s.why_not;
  if (s.has_mask()) {
    const std::int64_t taps = s.directions[Separable::x].taps * s.directions[Separable::march].taps,
                       operations = std::max<std::int64_t>(operations_of(s.term.function), 1);
    if (taps * operations > most_unrolled) {
      return "The mask has " + std::to_string(taps) + " weights, of " + std::to_string(operations) +
             " operations each; this template writes each out and is for at most " +
             std::to_string(most_unrolled) + " operations.";
    }
  }
  if (partial_words(problem, s, 1) > most_partial_words) {
    return "The window along the outermost dimension has " +
           std::to_string(s.directions[Separable::march].taps) +
           " elements; this template keeps a sum for each in registers and is for at most " +
           std::to_string(most_partial_words * 4 / std::max<std::int64_t>(compute_bytes(problem), 4) + 1) +
           " of this type.";
  }
  return "";
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const Separable s = separable_of(problem);
  const auto& [x, y, march] = s.directions;
  const bool has_y = s.has_y(), has_mask = s.has_mask();
  const std::int64_t words = std::max<std::int64_t>(compute_bytes(problem) / 4, 1);
  if (x.extent < 16) return std::nullopt;  // most threads would have nothing to do
  // Neighbours that share nothing, of several arrays: loops keep these in registers.
  if (x.taps == 1 && s.element.accesses.size() > 1) return std::nullopt;
  const bool row = is_row(s);
  if (row && x.taps < shortest_row) return std::nullopt;
  // Registers hold unfinished sums and weights.
  std::int64_t outputs = has_y || element_bytes(problem) < 4 ? 8 : 4;
  if (has_mask || row) outputs = 8;
  while (outputs > 1 && !row &&
         (has_mask ? partial_words(problem, s, outputs) + words * x.taps > 160
                   : partial_words(problem, s, outputs) + words * (x.taps + y.taps + march.taps) >
                         (has_y ? 120 : 230)))
    outputs /= 2;
  while (outputs > 1 && (has_y      ? y.extent < 2 * outputs
                         : has_mask ? x.extent < 4 * outputs
                                    : x.extent <= 16 * outputs))
    outputs /= 2;
  if (row && x.taps >= 40 && x.extent >= 4096 && element_bytes(problem) == 4) outputs = 12;
  // Warps wait for their rows, so if few threads share the sums, each adds fewer.
  const auto threads_of = [&](std::int64_t each) {
    return nest_of(problem).outputs() / (each * run_of(s, 16));
  };
  const std::int64_t few = std::int64_t{multiprocessors_to_fill(device)} * 448;
  while (row && outputs > 4 && threads_of(outputs) < few) outputs = 4;
  if (has_mask && threads_of(outputs) < few / 4) return std::nullopt;  // loops have a thread for each
  Values values = {{"OUTPUTS", outputs}, {"START", std::string("plain")}};
  const std::int64_t block_x = !has_y && x.extent > 32 * outputs ? 64 : 32;
  std::int64_t block_y = !has_y ? 1 : outputs < 8 ? 8 : 4;
  while (block_y > 1 && y.extent <= outputs * block_y / 2) block_y /= 2;
  const std::int64_t lanes = has_mask ? even_part(ceil_divide(x.extent, outputs), block_x) : block_x;
  if (has_mask) {
    // As many planes as leave the fewest of a block's threads idle, but no more than two warps.
    const auto used = [&](std::int64_t planes) {
      return static_cast<double>(lanes * planes) / static_cast<double>(round_up(lanes * planes, 32));
    };
    for (const std::int64_t planes : {2, 4, 8, 16})
      if (planes <= y.extent && lanes * planes <= 64 && used(planes) >= used(block_y)) block_y = planes;
  }
  std::int64_t tiles = ceil_divide(x.extent, lanes * (has_y ? 1 : outputs)) *
                       ceil_divide(y.extent, block_y * (has_y ? outputs : 1));
  for (const int i : s.batch) tiles *= nest_of(problem).extent(i);
  // The longest runs that give each multiprocessor the threads that it needs, but no shorter than two
  // windows.
  const std::int64_t threads = round_up(lanes * block_y, 32),
                     blocks =
                         std::int64_t{multiprocessors_to_fill(device)} * (has_y || row ? 512 : 256) / threads;
  const std::int64_t warps = has_y || row ? 16 : has_mask && march.taps >= 10 ? 12 : 8;
  std::int64_t run = 1024;
  if (has_mask) {
    // The run with the fewest steps of all blocks that a multiprocessor has one after the other.
    const std::int64_t at_once =
        multiprocessors_to_fill(device) * std::max<std::int64_t>(1, warps * 32 / threads);
    const auto steps = [&, &its = s.directions[Separable::march]](std::int64_t each) {
      return ceil_divide(tiles * ceil_divide(its.extent, each), at_once) * (run_of(s, each) + its.taps);
    };
    run = march.taps < 10 ? 32 : march.taps < 20 ? 48 : 128;
    for (const std::int64_t each : runs)
      if (each < run && steps(each) < steps(run)) run = each;
  }
  while (!has_mask && run > 16 && run >= 4 * march.taps &&
         tiles * ceil_divide(march.extent, run) < blocks * 9 / 10)
    run /= 2;
  values.set("BLOCK_X", least_block_x(s, block_x, outputs));
  values.set("BLOCK_Y", least_block_y(s, block_y));
  values.set("RUN", least_run(s, run));
  values.set("STAGES", std::int64_t{row ? 2 : has_y || has_mask ? 4 : 8});
  const std::int64_t vector = has_mask ? (element_bytes(problem) == 2 ? 4 : 16)
                              : !has_y && !row && element_bytes(problem) == 4 ? 8
                                                                              : 16;
  values.set("VECTOR", least_vector(problem, s, vector));
  values.set("RESIDENT_WARPS", warps);
  return values;
}

}  // namespace

Template separable() {
  return {.name = "separable",
          .room = "separable/",
          .what =
              "Windows along one to three dimensions, reduced one after the other in one launch: a "
              "separable filter, a box, a dilation; along two at once with a mask.",
          .kernels = {"tensor_separable"},
          .compiled_in = {"expression", "dtype", "extents", "may", "x0", "x1", "x2", "x3", "x4", "x5", "out"},
          .generated = generated,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work,
          .alignment_bytes = [](const Problem& problem, const Config& config) {
            return alignment(problem, separable_of(problem), config[VECTOR]);
          }};
}

}  // namespace tunesmith::tensor_op
