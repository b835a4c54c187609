// SPDX-License-Identifier: Apache-2.0
// rank_filter: in each window of an image of up to three dimensions the element of a given rank, such as the
// minimum, the median or the maximum.

#include "templates/rank_filter/op.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/sample.h"
#include "templates/array_limits.h"
#include "templates/image/origin.h"
#include "templates/image/rules.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith {
namespace rank_filter_op {

Dims::Dims(const Problem& problem)
    : image{problem.integer("depth"), problem.integer("height"), problem.integer("width")},
      window{problem.integer("window_depth"), problem.integer("window_height"),
             problem.integer("window_width")},
      before{places_before(window.z, problem.integer("origin_z")),
             places_before(window.y, problem.integer("origin_y")),
             places_before(window.x, problem.integer("origin_x"))} {}

bool is_box(const Problem& problem) { return problem.string("footprint") == "box"; }

std::string footprint_bits(const Problem& problem) {
  std::string bits = is_box(problem) ? "" : problem.string("footprint");
  std::erase(bits, '/');
  return bits;
}

std::int64_t counted_places(const Problem& problem) {
  if (is_box(problem)) return Dims(problem).window.product();
  const std::string& text = problem.string("footprint");
  return std::count(text.begin(), text.end(), 'x');
}

bool is_least(const Problem& problem) { return problem.integer("rank") == 0; }
bool is_greatest(const Problem& problem) { return problem.integer("rank") == counted_places(problem) - 1; }

std::string refuses_empty(const Problem& problem) { return tunesmith::refuses_empty(Dims(problem).empty()); }

void add_outside(Launch& launch, const Problem& problem) {
  launch.arguments.emplace_back(static_cast<std::int32_t>(boundary_of(problem)));
  add_value(launch, problem, dtype_of(problem));
}

std::string refuses_all_but_box_extremes(const Problem& problem) {
  if (std::string no = refuses_empty(problem); !no.empty()) return no;
  if (!is_box(problem)) return "A footprint in which not all places count is no box; take another template.";
  if (!is_least(problem) && !is_greatest(problem)) {
    return "The rank " + std::to_string(problem.integer("rank")) +
           " is neither the minimum's nor the maximum's; take another template.";
  }
  if (counted_places(problem) == 1)
    return "A window of one place has nothing to compare; take the base template.";
  return "";
}

Work work_of_box(const Problem& problem, const char* planes, const BoxLaunch& launch) {
  const Dims d(problem);
  Work work;
  if (d.empty()) return work;
  const bool in_planes = d.window.y > 1 || d.window.x > 1;
  const bool both = d.window.z > 1 && in_planes;
  if (both) work.workspace_bytes = d.image.product() * bytes(dtype_of(problem));
  if (d.window.z > 1) {
    Launch first = launch({1, d.image.z, d.image.y * d.image.x}, d.window.z, 1);
    first.kernel = planes;
    if (both) first.arguments[1] = WorkspacePointer{};
    add_outside(first, problem);
    work.steps.emplace_back(std::move(first));
  }
  if (in_planes) {
    Launch rows = launch(d.image, d.window.y, d.window.x);
    if (both) rows.arguments[0] = WorkspacePointer{};
    add_outside(rows, problem);
    work.steps.emplace_back(std::move(rows));
  }
  return work;
}

}  // namespace rank_filter_op

namespace {

using namespace rank_filter_op;

std::string refuses_footprint(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("x./") == std::string::npos) return "";
  return "'" + text +
         "' is no footprint; allowed are box, and a window's places row by row, x where one counts, such as "
         ".x./xxx/.x..";
}

std::string check_footprint(const Problem& problem, const Extents3& window) {
  const std::string& text = problem.string("footprint");
  const auto row = static_cast<std::size_t>(window.x);
  const auto rows = static_cast<std::size_t>(window.z * window.y);
  bool has_shape = text.size() == rows * (row + 1) - 1;
  for (std::size_t at = 0; has_shape && at < text.size(); ++at)
    has_shape = (text[at] == '/') == (at % (row + 1) == row);
  if (!has_shape) {
    return "The footprint " + text + " is not one of " + std::to_string(rows) + " rows of " +
           std::to_string(row) + " places, with a slash between two rows, as the window has.";
  }
  if (text.find('.') == std::string::npos) return "A footprint in which all places count is written box.";
  if (window.product() > 64 * footprint_words) {
    return "A window of " + std::to_string(window.product()) +
           " places is too large for a footprint; up to " + std::to_string(64 * footprint_words) +
           " are allowed, and any number for a box.";
  }
  return "";
}

std::string check(const Problem& problem) {
  const Dims d(problem);
  const auto real = [](const Extents3& e) {
    return static_cast<double>(e.z) * static_cast<double>(e.y) * static_cast<double>(e.x);
  };
  if (are_too_many(real(d.image))) {
    return "An image of depth=" + std::to_string(d.image.z) + " height=" + std::to_string(d.image.y) +
           " width=" + std::to_string(d.image.x) + " has more than the " + most_elements_text +
           " elements that are allowed.";
  }
  if (real(d.window) > static_cast<double>(most_window)) {
    return "A window of " + std::to_string(d.window.z) + " x " + std::to_string(d.window.y) + " x " +
           std::to_string(d.window.x) + " has more than the 2^24 places that are allowed.";
  }
  std::string wrong = refuses_origin(problem, "origin_z", d.window.z);
  if (wrong.empty()) wrong = refuses_origin(problem, "origin_y", d.window.y);
  if (wrong.empty()) wrong = refuses_origin(problem, "origin_x", d.window.x);
  if (wrong.empty() && !is_box(problem)) wrong = check_footprint(problem, d.window);
  if (!wrong.empty()) return wrong;
  const std::int64_t places = counted_places(problem);
  if (places == 0) return "A footprint without an x has no element of any rank.";
  if (problem.integer("rank") < places) return "";
  return "The rank " + std::to_string(problem.integer("rank")) + " is not below the " +
         std::to_string(places) + " elements of a window.";
}

std::vector<Parameter> parameters() {
  const auto extent = [](const char* name, const char* what, UsualSizes usual) {
    return Parameter{.name = name, .what = what, .minimum = 0, .maximum = most_elements, .usual = usual};
  };
  const auto window = [](const char* name, const char* what) {
    return Parameter{.name = name, .what = what, .maximum = most_window, .usual = UsualSizes{2, 31}};
  };
  const auto usually_one = [](Parameter parameter) {
    parameter.initial = std::int64_t{1};
    return parameter;
  };
  return {
      usually_one(extent("depth", "planes of the image", {2, 512})),
      usually_one(extent("height", "rows of the image", {16, 16384})),
      extent("width", "columns of the image", {16, 16384}),
      usually_one(window("window_depth", "planes of the window")),
      usually_one(window("window_height", "rows of the window")),
      window("window_width", "columns of the window"),
      {.name = "footprint",
       .what = "which places of the window count: box, all of them; or row by row, x where one does, as "
               ".x./xxx/.x.",
       .categories = {"box"},
       .initial = "box",
       .refuses_text = refuses_footprint,
       .is_computation = true},
      {.name = "rank",
       .what = "place of the result among a window's elements in order; 0: the minimum",
       .minimum = 0,
       .maximum = most_window},
      boundary_parameter("elements outside the image, as in scipy.ndimage", Boundary::reflect),
      origin_parameter("origin_z", "planes by which the window begins before the centred one", most_window),
      origin_parameter("origin_y", "rows by which the window begins above the centred one", most_window),
      origin_parameter("origin_x", "columns by which the window begins before the centred one", most_window),
      {.name = "dtype",
       .what = "element type",
       .categories = {"f32", "f64", "f16", "bf16", "u8", "u16", "i16", "i32", "i64"},
       .initial = "f32"},
      value_parameter("elements outside the image")};
}

// The order of elements: NaN after all numbers, -0 before 0.
bool precedes(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  if (a == 0 && b == 0) return std::signbit(a) && !std::signbit(b);
  return a < b;
}

// The extremes of a box: first the extremes of a row's columns, then those of the results along the row.
void extremes(const Problem& problem, const std::vector<double>& image, double outside, std::int64_t begin,
              std::int64_t end, std::span<double> value) {
  const Dims d(problem);
  const Boundary boundary = boundary_of(problem);
  const bool is_greatest = problem.integer("rank") > 0;
  const auto extreme = [&](double a, double b) { return precedes(a, b) == is_greatest ? b : a; };
  std::vector<double> row(static_cast<std::size_t>(d.image.x));
  std::int64_t done = -1;
  for (std::int64_t at = begin; at < end; ++at) {
    const std::int64_t x = at % d.image.x, line = at / d.image.x;
    double far = 0;
    bool is_first = true;
    for (std::int64_t k = 0; done != line && k < d.window.z; ++k) {
      const std::int64_t plane = sample_at(line / d.image.y + k - d.before.z, d.image.z, boundary);
      for (std::int64_t i = 0; i < d.window.y; ++i) {
        const std::int64_t above = sample_at(line % d.image.y + i - d.before.y, d.image.y, boundary);
        for (std::int64_t c = 0; c < d.image.x; ++c) {
          const double given =
              plane >= 0 && above >= 0
                  ? image[static_cast<std::size_t>((plane * d.image.y + above) * d.image.x + c)]
                  : outside;
          double& so_far = row[static_cast<std::size_t>(c)];
          so_far = is_first ? given : extreme(so_far, given);
        }
        is_first = false;
      }
    }
    done = line;
    for (std::int64_t j = 0; j < d.window.x; ++j) {
      const std::int64_t column = sample_at(x + j - d.before.x, d.image.x, boundary);
      const double given = column >= 0 ? row[static_cast<std::size_t>(column)] : outside;
      far = j == 0 ? given : extreme(far, given);
    }
    value[static_cast<std::size_t>(at - begin)] = far;
  }
}

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const Boundary boundary = boundary_of(problem);
  const std::string bits = footprint_bits(problem);
  const double outside = value_of(problem, dtype_of(problem));
  std::fill(permitted_error.begin(), permitted_error.end(), 0);
  if (is_box(problem) && (is_least(problem) || is_greatest(problem))) {
    if (counted_places(problem) > 1) return extremes(problem, arguments[0], outside, begin, end, value);
  }
  std::vector<std::int64_t> columns(static_cast<std::size_t>(d.window.x));
  std::vector<double> window;
  for (std::int64_t at = begin; at < end; ++at) {
    const std::int64_t x = at % d.image.x, y = at / d.image.x % d.image.y, z = at / d.image.x / d.image.y;
    for (std::int64_t j = 0; j < d.window.x; ++j)
      columns[static_cast<std::size_t>(j)] = sample_at(x + j - d.before.x, d.image.x, boundary);
    window.clear();
    for (std::int64_t k = 0; k < d.window.z; ++k) {
      const std::int64_t plane = sample_at(z + k - d.before.z, d.image.z, boundary);
      for (std::int64_t i = 0; i < d.window.y; ++i) {
        const std::int64_t row = sample_at(y + i - d.before.y, d.image.y, boundary);
        for (std::int64_t j = 0; j < d.window.x; ++j) {
          if (!bits.empty() && bits[static_cast<std::size_t>((k * d.window.y + i) * d.window.x + j)] == '.')
            continue;
          const std::int64_t column = columns[static_cast<std::size_t>(j)];
          const bool is_inside = plane >= 0 && row >= 0 && column >= 0;
          window.push_back(
              is_inside
                  ? arguments[0][static_cast<std::size_t>((plane * d.image.y + row) * d.image.x + column)]
                  : outside);
        }
      }
    }
    const auto ranked = window.begin() + problem.integer("rank");
    std::nth_element(window.begin(), ranked, window.end(), precedes);
    value[static_cast<std::size_t>(at - begin)] = *ranked;
  }
}

// Draws images, square windows of odd sizes, medians and extremes; sometimes volumes and signals.
void usual_images(Random& random, Problem& problem) {
  const std::vector<std::int64_t> odd = {3, 3, 3, 5, 5, 7, 9, 11, 15, 21, 31};
  const std::int64_t size = draw(random, odd);
  const int dimensions = draw_chance(random, 75) ? 2 : draw_chance(random, 50) ? 3 : 1;
  problem.set("window_width", size);
  problem.set("window_height", dimensions > 1 ? size : std::int64_t{1});
  problem.set("window_depth", dimensions > 2 ? std::min<std::int64_t>(size, 5) : std::int64_t{1});
  if (dimensions == 1) problem.set("height", std::int64_t{1});
  if (dimensions < 3) problem.set("depth", std::int64_t{1});
  for (const char* origin : {"origin_z", "origin_y", "origin_x"}) problem.set(origin, std::int64_t{0});
  problem.set("footprint", "box");
  if (dimensions == 2 && size <= 5 && draw_chance(random, 10)) {  // a cross
    std::string rows;
    for (std::int64_t y = 0; y < size; ++y) {
      if (y > 0) rows += '/';
      for (std::int64_t x = 0; x < size; ++x) rows += x == size / 2 || y == size / 2 ? 'x' : '.';
    }
    problem.set("footprint", rows);
  }
  const std::int64_t places = counted_places(problem);
  // Times per element hardly change from a million elements on, and the reference looks at each place.
  draw_smaller(problem, {"height", "width"}, [&](const Problem& one) {
    return static_cast<double>(Dims(one).image.product()) * static_cast<double>(places) <= 1.5e9;
  });
  problem.set("rank", draw_chance(random, 60)   ? places / 2
                      : draw_chance(random, 70) ? (draw_chance(random, 50) ? 0 : places - 1)
                                                : places * (draw_chance(random, 50) ? 1 : 3) / 4);
}

// The extents, the places that count, and the distance of the rank from the nearer end, 1 for a minimum or a
// maximum.
Values sizes(const Problem& problem) {
  const std::int64_t rank = problem.integer("rank");
  return {{"depth", problem.integer("depth")},
          {"height", problem.integer("height")},
          {"width", problem.integer("width")},
          {"window_depth", problem.integer("window_depth")},
          {"window_height", problem.integer("window_height")},
          {"window_width", problem.integer("window_width")},
          {"places", counted_places(problem)},
          {"from_end", 1 + std::min(rank, counted_places(problem) - 1 - rank)}};
}

std::string kind(const Problem& problem) { return problem.string("dtype"); }

}  // namespace

Op ops_rank_filter() {
  return {
      .name = "rank_filter",
      .what =
          "output[z, y, x] = the element of rank `rank` among image[z + k - window_depth/2 - origin_z, y + i "
          "- window_height/2 - origin_y, x + j - window_width/2 - origin_x] over the places (k, i, j) of the "
          "window that count; `boundary` says what is outside the image.",
      .parameters = parameters(),
      .check = check,
      .arguments = {{.name = "image",
                     .role = Role::input,
                     .extents = {"depth", "height", "width"},
                     .contents = {{Contents::few, -1, 1}, {Contents::with_nan}}},
                    {.name = "output", .role = Role::output, .extents = {"depth", "height", "width"}}},
      .templates = {base(), network(), streamed(), transposed(), extreme(), ranks()},
      .reference = reference,
      .reference_unit =
          [](const Problem& problem) { return std::max<std::int64_t>(1, problem.integer("width")); },
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(d.image.product()) * static_cast<double>(counted_places(problem));
          },
      // One element, an image smaller than its window, rows of an odd size, several planes, an empty image.
      .companions = {"depth=1 height=1 width=1 boundary=mirror", "depth=1 height=2 width=3 boundary=wrap",
                     "depth=2 height=7 width=67 boundary=nearest",
                     "depth=1 height=9 width=140 boundary=reflect",
                     "depth=2 height=5 width=132 boundary=constant value=0.75", "depth=0 height=3 width=5"},
      .launch_numbers = value_at_launch(dtype_of),
      .sizes = sizes,
      .kind = kind,
      .examples =
          {"height=40 width=133 window_height=3 window_width=3 rank=4",
           "height=22 width=31 window_height=7 window_width=7 rank=24",
           "height=60 width=600 window_height=3 window_width=3 rank=4 dtype=u8 boundary=mirror",
           "height=20 width=130 window_height=7 window_width=7 rank=24 dtype=u16 boundary=wrap",
           "height=21 width=403 window_height=3 window_width=3 rank=4 dtype=u8 boundary=constant value=9",
           ("depth=2 height=9 width=20 window_depth=2 window_height=4 window_width=7 rank=30 "
            "boundary=nearest dtype=f16"),
           "height=12 width=640 window_height=5 window_width=35 rank=174 dtype=u8",
           "height=70 width=520 window_height=6 window_width=17 rank=101 dtype=u8 boundary=mirror origin_x=8",
           "height=9 width=264 window_height=2 window_width=9 rank=17 dtype=u8 boundary=constant value=200 "
           "origin_x=-4",
           "height=12 width=301 window_height=33 window_width=9 rank=0 dtype=f16 origin_x=2",
           "height=75 width=304 window_height=41 window_width=15 rank=614 dtype=u8",
           "height=40 width=201 window_width=101 rank=100 boundary=mirror dtype=i16",
           "depth=6 height=12 width=160 window_depth=3 window_height=2 window_width=4 rank=23 boundary=wrap",
           "height=45 width=77 window_height=3 window_width=3 footprint=.x./xxx/.x. rank=2 dtype=i16",
           "height=24 width=64 window_height=8 window_width=7 rank=20 boundary=constant value=-0.5",
           "depth=9 height=20 width=31 window_depth=3 window_height=3 window_width=3 rank=13 dtype=i32",
           "height=13 width=14 window_height=9 window_width=9 rank=40",
           "width=90 window_width=55 rank=3 origin_x=-27 dtype=f64",
           "height=25 width=40 window_height=4 window_width=3 rank=0 origin_y=1 origin_x=-1 dtype=i64",
           std::string("height=20 width=33 window_height=5 window_width=5 rank=6 dtype=bf16 ") +
               "footprint=..x../.xxx./xxxxx/.xxx./..x..",
           "height=0 width=7 window_width=3 rank=1"},
      .large_examples = {"height=65539 width=32801 window_height=3 window_width=3 rank=4 dtype=u8"},
      .sample = usual_images,
  };
}

}  // namespace tunesmith
