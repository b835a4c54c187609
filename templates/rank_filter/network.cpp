// rank_filter/network: small windows, by a selection network that is generated for them.

#include <algorithm>

#include "templates/rank_filter/network_text.h"

namespace tunesmith::rank_filter_op {
namespace {

constexpr IntegerAxis HALVES("HALVES");

std::int64_t lanes_of(const Problem& problem) { return bytes(dtype_of(problem)) <= 2 ? 2 : 1; }
std::int64_t word_bytes(const Problem& problem) { return bytes(dtype_of(problem)) == 8 ? 8 : 4; }

std::int64_t shift_of(const Problem& problem, const Config& c) {
  return (c[VECTOR] - Dims(problem).before.x % c[VECTOR]) % c[VECTOR];
}

std::int64_t tile_bytes(const Problem& problem, const Config& c) {
  const Dims d(problem);
  const std::int64_t pitch = round_up(c[BLOCK_X] * c[OUTPUTS_X] + d.window.x - 1 + shift_of(problem, c),
                                      std::max<std::int64_t>(4, c[VECTOR]));
  return d.window.z * (c[BLOCK_Y] * c[OUTPUTS_Y] + d.window.y - 1) * pitch * word_bytes(problem);
}

std::string refuses(const Problem& problem) {
  if (std::string no = refuses_empty(problem); !no.empty()) return no;
  const Dims d(problem);
  const std::int64_t places = counted_places(problem);
  if (places > 81 || d.window.product() > 256) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " of which " + std::to_string(places) +
           " places count is too large for a network; up to 81 of 256 are allowed.";
  }
  if (places == 1) return "A window of one place has nothing to compare; take the base template.";
  if (std::max({d.image.z, d.image.y, d.image.x}) >= std::int64_t{1} << 30 ||
      d.image.z * ceil_divide(d.image.y, 4) * ceil_divide(d.image.x, 16) >= std::int64_t{1} << 31) {
    return "The image has more tiles than a grid; take the base template.";
  }
  return "";
}

Space space(const Problem& problem) {
  std::vector<Value> vectors = {std::int64_t{4}, std::int64_t{1}};
  if (dtype_of(problem) == DType::u8) vectors.insert(vectors.begin(), std::int64_t{8});
  std::vector<Axis> axes = {
      {BLOCK_X, {32, 16, 64}, "threads side by side"},
      {BLOCK_Y, {8, 4, 16, 2}, "threads above each other"},
      {OUTPUTS_X, {4, 2, 8, 1}, "outputs of a thread beside each other, in each half of the tile"},
      {OUTPUTS_Y, {2, 4, 1}, "rows of outputs of a thread"},
      {VECTOR, vectors, "elements per access to the image"},
      {HALVES,
       dtype_of(problem) == DType::u8 ? std::vector<Value>{std::int64_t{1}, std::int64_t{0}, std::int64_t{2}}
                                      : std::vector<Value>{std::int64_t{0}},
       "of bytes, what is compared as halves: minima; nothing; minima and maxima"},
      resident_warps_axis({8, 16, 24, 32})};
  const auto threads = [](const Config& c) { return c[BLOCK_X] * c[BLOCK_Y]; };
  std::vector<Rule> must = {
      {"VECTOR must divide the image's width.",
       [width = problem.integer("width")](const Config& c) { return width % c[VECTOR] == 0; }},
      {"A block has 64 to 512 threads.",
       [threads](const Config& c) { return threads(c) >= 64 && threads(c) <= 512; }},
      {"Outputs times elements of a window are at most 800, so that a compiler has them in registers.",
       [places = counted_places(problem)](const Config& c) {
         return c[OUTPUTS_X] * c[OUTPUTS_Y] * places <= 800;
       }},
      {"Vectors of four words need OUTPUTS_X of at least 4 where VECTOR is not 1.",
       [](const Config& c) { return c[VECTOR] == 1 || c[OUTPUTS_X] >= 4; }},
      resident_warps_rule(axes, threads)};
  std::vector<Rule> worth = {
      {"A thread of few outputs shares little.", [places = counted_places(problem)](const Config& c) {
         return places < 9 || c[OUTPUTS_X] * c[OUTPUTS_Y] >= 4;
       }}};
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
                .dynamic_shared_bytes = tile_bytes(problem, c),
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.image.z), int32(d.image.y),
                              int32(d.image.x), int32(tiles_x), int32(tiles_y)}};
  add_outside(launch, problem);
  return {.steps = {std::move(launch)}};
}

std::string generated(const Problem& problem, const Config& c) {
  const std::int64_t wide = std::min(16 / word_bytes(problem), c[OUTPUTS_X]);
  return network_text(problem, {c[OUTPUTS_X], c[OUTPUTS_Y]}, shift_of(problem, c), wide);
}

std::optional<Values> untuned(const Problem& problem, const DeviceFacts& /*device*/) {
  const std::int64_t places = counted_places(problem);
  if (is_box(problem) && (is_least(problem) || is_greatest(problem)) && places > 9) return std::nullopt;
  const std::int64_t width = problem.integer("width");
  const std::int64_t most = dtype_of(problem) == DType::u8 && width % 8 == 0 ? 8 : width % 4 == 0 ? 4 : 1;
  const bool is_small = places <= 9;
  Values values;
  values.set("VECTOR", most);
  values.set("OUTPUTS_X", std::int64_t{is_small || places > 50 ? 4 : 8});
  values.set("OUTPUTS_Y", std::int64_t{2});
  values.set("BLOCK_X", std::int64_t{is_small ? 32 : 16});
  values.set("BLOCK_Y", std::int64_t{8});
  values.set("RESIDENT_WARPS", std::int64_t{places <= 30 ? 24 : 16});
  return values;
}

}  // namespace

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
          .compiled_in = {"window_depth", "window_height", "window_width", "footprint", "rank", "origin_z",
                          "origin_y", "origin_x", "dtype"},
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
