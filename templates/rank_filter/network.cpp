// SPDX-License-Identifier: Apache-2.0
// rank_filter/network, for small windows: a selection network is generated for each window and rank.

#include <algorithm>

#include "templates/rank_filter/network_text.h"
#include "templates/shared_layout.h"

namespace tunesmith::rank_filter_op {
namespace {

#include "templates/rank_filter/network_layout.inl"

constexpr IntegerAxis ADDED("ADDED");
constexpr IntegerAxis UNALIGNED("UNALIGNED");

bool has_pairs(const Problem& problem) { return bytes(dtype_of(problem)) <= 2; }  // a word is two elements
std::int64_t lanes_of(const Problem& problem) { return has_pairs(problem) ? 2 : 1; }
std::int64_t most_vector(const Problem& problem) {
  return has_pairs(problem) ? 16 / bytes(dtype_of(problem)) : 4;
}
std::int64_t word_bytes(const Problem& problem) { return bytes(dtype_of(problem)) == 8 ? 8 : 4; }

NetworkLayout layout_of(const Problem& problem, const Config& c) {
  const Dims d(problem);
  return network_layout({.half_x = c[BLOCK_X] * c[OUTPUTS_X],
                         .tile_y = c[BLOCK_Y] * c[OUTPUTS_Y],
                         .outputs_x = c[OUTPUTS_X],
                         .vector = c[VECTOR],
                         .lanes = lanes_of(problem),
                         .word_bytes = word_bytes(problem),
                         .window_depth = d.window.z,
                         .window_height = d.window.y,
                         .window_width = d.window.x,
                         .before_x = d.before.x});
}

// For extremes of a box, a thread keeps the columns of its outputs' windows in registers, for each row of
// outputs.
constexpr std::int64_t most_columns = 100;

bool is_box_extreme(const Problem& problem) {
  return is_box(problem) && (is_least(problem) || is_greatest(problem));
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_empty(problem); !no.empty()) return no;
  const Dims d(problem);
  const std::int64_t places = counted_places(problem);
  if ((places > 81 && !is_box_extreme(problem)) || d.window.product() > 256) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " of which " + std::to_string(places) +
           " places count is too large for a network; up to 81 of 256 are allowed, and all of them for the "
           "minimum or maximum of a box.";
  }
  if (is_box_extreme(problem) && d.window.x > most_columns) {
    return "A window of " + std::to_string(d.window.x) + " columns is longer than the " +
           std::to_string(most_columns) + " that a thread has in registers; take the transposed template.";
  }
  if (places == 1) return "A window of one place has nothing to compare; take the base template.";
  if (std::max({d.image.z, d.image.y, d.image.x}) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 4) * ceil_divide(d.image.x, 16) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

// The size of an image, by the number of outputs that each lane of a full device would have.
enum class Size { tiny, small, large, huge };
Size size_of(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t words = Dims(problem).image.product() / lanes_of(problem);
  const std::int64_t of_each = words / multiprocessors_to_fill(device);
  if (of_each < 300) return Size::tiny;
  if (of_each < (counted_places(problem) > 40 ? 1500 : 3000)) return Size::small;
  return of_each < 15000 ? Size::large : Size::huge;
}

Space space(const Problem& problem, const DeviceFacts& device) {
  std::vector<Value> vectors;
  for (std::int64_t vector = most_vector(problem); vector >= 4; vector /= 2) vectors.emplace_back(vector);
  vectors.emplace_back(std::int64_t{1});
  std::vector<Axis> axes = {
      {BLOCK_X, {32, 16, 64}, "threads side by side"},
      {BLOCK_Y, {8, 4, 16, 2, 1}, "threads above each other"},
      {OUTPUTS_X, {4, 2, 8, 1}, "outputs of a thread beside each other, in each half of the tile"},
      {OUTPUTS_Y, {2, 4, 1}, "rows of outputs of a thread"},
      {VECTOR, vectors, "elements per access to the image"},
      {UNALIGNED,
       has_pairs(problem) ? std::vector<Value>{std::int64_t{0}, std::int64_t{1}}
                          : std::vector<Value>{std::int64_t{0}},
       "whether rows that begin anywhere are read and written as aligned words"},
      {ADDED,
       dtype_of(problem) == DType::u8 && !is_least(problem) && !is_greatest(problem)
           ? std::vector<Value>{std::int64_t{20}, std::int64_t{0}, std::int64_t{30}}
           : std::vector<Value>{std::int64_t{0}},
       "of bytes, percent of the minima with their maxima that additions of halves make"},
      resident_warps_axis({8, 16, 20, 24, 32})};
  const auto threads = [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; };
  std::vector<Rule> must = {
      {"VECTOR must divide the image's width.",
       [width = problem.integer("width")](const Config& c) { return width % c[VECTOR] == 0; }},
      {"Aligned words of rows that begin anywhere need VECTOR=1, and a thread's outputs must be words.",
       [each = bytes(dtype_of(problem))](const Config& c) {
         return c[UNALIGNED] == 0 || (c[VECTOR] == 1 && c[OUTPUTS_X] * each >= 4);
       }},
      {"A block has 64 to 512 threads.",
       [threads](const Config& c) { return threads(c) >= 64 && threads(c) <= 512; }},
      {"A thread must have what it needs in registers: outputs times elements of a window are at most 800, "
       "of a box's extremes columns times rows of outputs at most 100.",
       [places = counted_places(problem), is_extreme = is_box_extreme(problem),
        overhang = Dims(problem).window.x - 1](const Config& c) {
         return is_extreme ? (c[OUTPUTS_X] + overhang) * c[OUTPUTS_Y] <= most_columns
                           : c[OUTPUTS_X] * c[OUTPUTS_Y] * places <= 800;
       }},
      {"Of few outputs and elements too few operations are added to tell.",
       [places = counted_places(problem)](const Config& c) {
         return c[ADDED] == 0 || c[OUTPUTS_X] * c[OUTPUTS_Y] * places >= 36;
       }},
      resident_warps_rule(axes, threads)};
  std::vector<Rule> worth = {
      {"In a large image a thread of few outputs shares little.",
       [is_small = size_of(problem, device) < Size::large, places = counted_places(problem)](
           const Config& c) { return is_small || places < 9 || c[OUTPUTS_X] * c[OUTPUTS_Y] >= 4; }}};
  return Space(std::move(axes), std::move(must), std::move(worth));
}

Work work(const Problem& problem, const Config& c) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t tiles_x = ceil_divide(d.image.x, lanes_of(problem) * c[BLOCK_X] * c[OUTPUTS_X]),
                     tiles_y = ceil_divide(d.image.y, c[BLOCK_Y] * c[OUTPUTS_Y]);
  Launch launch{.kernel = "rank_filter_network",
                .grid = {tiles_x * tiles_y * d.image.z},
                .block = {c[BLOCK_X] * c[BLOCK_Y]},
                .dynamic_shared_bytes = layout_of(problem, c).bytes,
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.image.z), int32(d.image.y),
                              int32(d.image.x), int32(tiles_x), int32(tiles_y)}};
  add_outside(launch, problem);
  return {.steps = {std::move(launch)}};
}

std::string generated(const Problem& problem, const Config& c) {
  const std::int64_t most = has_pairs(problem) ? 2 : 16 / word_bytes(problem);
  return network_text(problem, {c[OUTPUTS_X], c[OUTPUTS_Y]},
                      {.shift = layout_of(problem, c).shift,
                       .vector = std::min(most, c[OUTPUTS_X]),
                       .percent_added = c[ADDED]});
}

// Small images have a thread for each output. In large ones, a thread has several outputs, which share work.
std::optional<Values> untuned(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t places = counted_places(problem), width = problem.integer("width");
  const Size size = size_of(problem, device);
  const bool is_extreme = is_box_extreme(problem), is_paired = has_pairs(problem);
  const Dims d(problem);
  const bool is_for_others = size == Size::tiny    ? true
                             : size == Size::small ? is_paired && (places > 81 || d.window.z > 1)
                                                   : places >= (!is_paired                      ? 26
                                                                : bytes(dtype_of(problem)) == 1 ? 9
                                                                                                : 10);
  if (is_extreme && is_for_others && (size == Size::tiny || !is_paired || d.image.y >= 8))
    return std::nullopt;
  std::int64_t most = most_vector(problem);
  while (width % most != 0) most = most > 4 ? most / 2 : 1;
  struct Guess {
    std::int64_t block_x, block_y, outputs_x, outputs_y, vector, resident_warps;
  } guess = {32, 4, 1, 1, 1, 8};
  if (size == Size::tiny && d.image.y == 1) {  // other threads help to read a high window's rows
    const bool is_long = width >= 128 && places <= 40;
    guess.block_x = is_long ? 64 : 16;
    guess.block_y = is_long ? (d.window.y == 1 ? 1 : 2) : 8;
  }
  if (size == Size::small) guess = {16, 8, 2, 1, 1, 24};
  if (size == Size::small && is_extreme && is_paired && places > 9)
    guess = {16, 8, 4, 2, std::min<std::int64_t>(most, 8), 16};
  if (size >= Size::large) guess = {places > 40 ? 16 : 32, 8, 2, 4, most, places <= 30 ? 24 : 16};
  // Rows that begin at any address are read and written as words, and a thread's outputs fill whole words.
  const bool is_unaligned = is_paired && most == 1 && size >= Size::large;
  if (is_unaligned) guess.outputs_x = guess.outputs_y = 4;
  if (is_unaligned && places > 24) guess.outputs_y = 2;
  if (size == Size::huge && (most > 1 || is_unaligned) && word_bytes(problem) == 4) {
    if (is_paired && places <= 9) {
      guess = {32, 4, 8, 4, most, is_unaligned ? 24 : 32};
    } else if (places <= 9) {
      guess = {32, 8, 4, 2, most, 24};
    } else {
      guess = {16, 8, places <= 50 ? 8 : 4, 2, most, places <= 30 && !is_paired ? 24 : 16};
    }
  }
  if (size >= Size::small && d.image.y == 1) {
    guess.block_x = 64;
    guess.block_y = guess.outputs_y = 1;
  }
  const auto is_too_much = [&] {
    return is_extreme && (guess.outputs_x + d.window.x - 1) * guess.outputs_y > most_columns;
  };
  while (is_too_much() && guess.outputs_y > 1) guess.outputs_y /= 2;
  while (is_too_much()) guess.outputs_x /= 2;
  while (guess.block_x > 16 && guess.block_x / 2 * guess.outputs_x >= width) {
    guess.block_x /= 2;
    guess.block_y *= 2;
  }
  while (guess.outputs_x > 1 && lanes_of(problem) * guess.block_x * (guess.outputs_x / 2) >= width)
    guess.outputs_x /= 2;
  const std::int64_t unaligned = is_unaligned && guess.outputs_x * bytes(dtype_of(problem)) >= 4 ? 1 : 0;
  return Values{{"BLOCK_X", guess.block_x},
                {"BLOCK_Y", guess.block_y},
                {"OUTPUTS_X", guess.outputs_x},
                {"OUTPUTS_Y", guess.outputs_y},
                {"VECTOR", guess.vector},
                {"UNALIGNED", unaligned},
                {"RESIDENT_WARPS", guess.resident_warps}};
}

}  // namespace

std::vector<std::string> window_parameters() {
  return {"window_depth", "window_height", "window_width", "footprint", "rank",
          "origin_z",     "origin_y",      "origin_x",     "dtype"};
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  return std::max(config[VECTOR], element_bytes(problem));
}

Values window_constants(const Problem& problem) {
  const Dims d(problem);
  Values values;
  values.set("before_x", d.before.x);
  values.set("before_y", d.before.y);
  values.set("before_z", d.before.z);
  return values;
}

Template network() {
  return {.name = "network",
          .what =
              "A selection network of minima and maxima, made for the window and the rank, whose outputs "
              "share sorted parts of their windows.",
          .kernels = {"rank_filter_network"},
          .compiled_in = window_parameters(),
          .constants = window_constants,
          .generated = generated,
          .refuses = refuses,
          .untuned = untuned,
          .space = space,
          .work = work,
          .alignment_bytes = [](const Problem& problem, const Config& c) {
            return std::min<std::int64_t>(16, c[VECTOR] * bytes(dtype_of(problem)));
          }};
}

}  // namespace tunesmith::rank_filter_op
