// SPDX-License-Identifier: Apache-2.0
// Writes the text of kernels of the template `loops`: loops with the indices' names, in which all extents and
// strides are numbers.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "templates/filled.h"
#include "templates/tensor/loops/loops.h"
#include "templates/tensor/op.h"
#include "templates/tensor/sum_text.h"

namespace tunesmith::tensor_op {
namespace {

bool is_near(const LoopKernel& kernel) {
  const auto reaches_along = [&](std::int64_t start, const std::vector<std::int64_t>& strides) {
    double span = static_cast<double>(std::abs(start));
    for (std::size_t i = 0; i < strides.size(); ++i)
      span += static_cast<double>(std::abs(strides[i])) * static_cast<double>(kernel.nest.extents[i]);
    return span < 0x1p31 - 65536;
  };
  const auto reaches = [&](const View& view) {
    return reaches_along(view.start, view.strides) &&
           std::all_of(view.bounds.begin(), view.bounds.end(), [&](const Bound& bound) {
             return bound.extent < std::int64_t{1} << 31 && reaches_along(bound.start, bound.strides);
           });
  };
  return std::all_of(kernel.nest.inputs.begin(), kernel.nest.inputs.end(), reaches) &&
         reaches(kernel.nest.output);
}

// Writes one kernel.
class KernelText {
 public:
  KernelText(const LoopKernel& kernel, const LoopMapping& mapping, const std::vector<std::int64_t>& workspace,
             std::size_t number, DType compute)
      : k_(kernel),
        nest_(kernel.nest),
        m_(mapping),
        workspace_(workspace),
        number_(number),
        compute_(compute) {}

  std::string text(std::int64_t threads) {
    for (std::size_t f = 0; f < k_.functions.size(); ++f)
      line("namespace $ {\n$}", function(f), language::code(k_.functions[f].code, compute_));
    line("// $", k_.text);
    std::string parameters;
    for (const int array : arrays_read(k_))
      parameters += array == first_intermediate ? "InputPointer<Compute> before, "
                                                : filled("InputPointer<T> $, ", argument_name(array));
    parameters += is_result() ? "InOutPointer<Out> out" : "InOutPointer<Compute> kept";
    open("extern \"C\" __global__ void __launch_bounds__($) ENTRY($)($)", threads, kernel_name(number_),
         parameters);
    if (m_.lanes > 32) line("__shared__ Compute parts[$];", threads / 32 * tile());
    line("start();");
    if (!is_near(k_)) {
      line("using Place = long long;  // of an element");
      counter_ = "Place ";
    }
    write_places();
    write_pointers();
    write_sums();
    write_results();
    --depth_;
    line("}\n");
    return std::move(text_);
  }

 private:
  // Writes a line of code; a line that begins with # stands at the margin.
  template <typename... Words>
  void line(Pattern<sizeof...(Words)> pattern, const Words&... words) {
    const std::string code = filled(pattern, words...);
    text_ += (code[0] == '#' ? std::string() : std::string(2 * depth_, ' ')) + code + "\n";
  }
  template <typename... Words>
  void open(Pattern<sizeof...(Words)> pattern, const Words&... words) {
    line("$ {", filled(pattern, words...));
    ++depth_;
  }
  void close(std::size_t depth) {
    while (depth_ > depth) {
      --depth_;
      line("}");
    }
  }

  std::string function(std::size_t f) const { return filled("function_$_$", number_, f); }
  bool is_result() const { return nest_.output.array == output_argument; }
  std::string name(std::size_t index) const {
    const std::string& its = nest_.names[index];
    return its.size() == 1 ? its : its + "_";
  }
  std::string name(int index) const { return name(static_cast<std::size_t>(index)); }
  std::int64_t extent(int index) const { return nest_.extent(index); }
  std::int64_t tile() const { return m_.thread_y * m_.thread_z; }
  std::string how() const {
    return k_.reduction == Reduction::sum ? "Sum" : k_.reduction == Reduction::max ? "Max" : "Min";
  }

  // Writes the places of the free indices: blocks take them in the order x, y, z, and then the others.
  void write_places() {
    line("unsigned tile = blockIdx.x;");
    const std::string thread = m_.lanes > 1 ? filled("threadIdx.x / $", m_.lanes) : "threadIdx.x";
    const auto next = [&](std::int64_t tiles) {
      if (tiles > 1) line("tile /= $;", tiles);
    };
    if (m_.lanes > 1) line("const int lane = threadIdx.x % $;", m_.lanes);
    const bool covers = m_.x_places % m_.block_x == 0;
    const std::string block = m_.x_tiles > 1 ? filled("Place(tile % $) * $ + ", m_.x_tiles, m_.block_x) : "";
    const std::string in_row = m_.block_y > 1 ? filled("$ % $", thread, m_.block_x) : thread;
    line("Place flat = $Place($);", block, in_row);
    next(m_.x_tiles);
    if (!covers && m_.lanes == 1) line("if (flat >= $) return;", m_.x_places);
    if (!covers && m_.lanes > 1) {
      line("const bool is_outside = flat >= $;", m_.x_places);
      line("if (is_outside) flat = 0;");
    }
    // Writes the first of a thread's outputs along an index. The last outputs are computed once more, and not
    // written.
    const auto outputs = [&](int index, const std::string& place, std::int64_t places, std::int64_t each) {
      const std::string its = name(index), first = each > 1 ? filled("$ * $", place, each) : place;
      if (extent(index) % each == 0 && places * each == extent(index)) {
        line("const Place $ = $;", its, first);
        return;
      }
      line("const Place first_$ = $;", its, first);
      if (places * each >= extent(index) + each && m_.lanes == 1)
        line("if (first_$ >= $) return;", its, extent(index));
      line("const Place $ = at_most(first_$, Place($));", its, its, extent(index) - each);
    };
    if (k_.has_neighbours()) {
      const std::int64_t places = ceil_divide(extent(k_.along_y), m_.thread_y);
      outputs(k_.along_y, m_.x.empty() ? "flat" : filled("flat % $", places), places, m_.thread_y);
      if (!m_.x.empty()) line("flat /= $;", places);
    }
    const auto count = [&](const std::vector<std::size_t>& indices, const std::string& counter) {
      for (const std::size_t i : indices) {
        const bool is_last = i == indices.back();
        line("const Place $ = Place($);", name(i),
             is_last ? counter : filled("$ % $", counter, nest_.extents[i]));
        if (!is_last) line("$ /= $;", counter, nest_.extents[i]);
      }
    };
    count(m_.x, "flat");
    const auto along = [&](int index, std::int64_t tiles, std::int64_t threads, std::int64_t each) {
      if (index < 0) return;
      std::string place = tiles > 1 ? filled("Place(tile % $)", tiles) : "0";
      if (threads > 1) {
        const std::string before = tiles > 1 ? filled("$ * $ + ", place, threads) : "";
        place = filled("($Place($ / $))", before, thread, m_.block_x);
      }
      outputs(index, place, tiles * threads, each);
      next(tiles);
    };
    if (m_.has_rows && !k_.has_neighbours()) along(k_.along_y, m_.y_tiles, m_.block_y, m_.thread_y);
    if (m_.thread_z > 1) along(k_.along_z, m_.z_tiles, 1, m_.thread_z);
    count(m_.rest, "tile");
  }

  using Strides = std::vector<std::int64_t>;
  // Adds the place of a thread's output along both tile indices.
  void add_tile(SumText& sum, std::int64_t z, std::int64_t y) const {
    if (m_.thread_z > 1) sum.add(name(k_.along_z) + "1", z);
    if (m_.thread_y > 1) sum.add(name(k_.along_y) + "1", y);
  }
  // The text of how far `indices` move something of these strides; with `tile`, also the thread's outputs.
  std::string moved(const Strides& strides, const std::vector<std::size_t>& indices, bool tile) const {
    SumText sum;
    if (tile) add_tile(sum, along(strides, k_.along_z), along(strides, k_.along_y));
    for (const std::size_t i : indices) sum.add(name(i), strides[i]);
    if (!window_base_.empty()) sum.add(window_base_, along(strides, k_.window));
    return sum.text();
  }

  void write_pointers() {
    std::vector<std::size_t> owned(nest_.free);
    for (std::size_t i = 0; i < nest_.free; ++i) owned[i] = i;
    const auto from = [&](const View& view, const std::string& array, bool is_intermediate) {
      std::string words = array;
      if (is_intermediate && workspace_[static_cast<std::size_t>(view.array - first_intermediate)] > 0)
        words += filled(" + $ll", workspace_[static_cast<std::size_t>(view.array - first_intermediate)]);
      if (view.start != 0) words += filled(" + $ll", view.start);
      const std::string by = moved(view.strides, owned, false);
      return by == "0" ? words : filled("$ + ($)", words, by);
    };
    std::set<int> used;
    for (const LoopKernel::Function& each : k_.functions) used.insert(each.inputs.begin(), each.inputs.end());
    for (const int input : used) {
      if (input < 0) continue;
      const View& view = nest_.inputs[static_cast<std::size_t>(input)];
      const bool kept = view.array >= first_intermediate;
      line("const $* const p$ = $;", kept ? "Compute" : "T", input,
           from(view, kept ? "before" : std::string(argument_name(view.array)), kept));
      for (std::size_t n = 0; n < view.bounds.size(); ++n)
        line("const Place $ = $ + $;", bound(input, n), view.bounds[n].start,
             moved(view.bounds[n].strides, owned, false));
    }
    line("$* const to = $;", is_result() ? "Out" : "Compute",
         from(nest_.output, is_result() ? "out" : "kept", !is_result()));
  }

  std::string value(std::size_t f, const std::string& so_far, const std::vector<std::size_t>& indices) const {
    std::string words;
    for (const int input : k_.functions[f].inputs) {
      words += words.empty() ? "" : ", ";
      const auto kept = kept_.find(input);
      if (input < 0) {
        words += so_far;
      } else if (f == 0 && kept != kept_.end()) {
        words += filled("r$[$]", input, in_kept(kept->second));
      } else {
        words += loaded(input, [&](const Strides& strides) { return moved(strides, indices, true); });
      }
    }
    return filled("$::apply({$})", function(f), words);
  }
  const View& view(int input) const { return nest_.inputs[static_cast<std::size_t>(input)]; }
  static std::string element(int input, const std::string& place) { return filled("p$[$]", input, place); }

  static std::string bound(int input, std::size_t n) { return filled("at$_$", input, n); }
  // The text of a loaded element, 0 out of bounds. `place`: how far strides move it.
  template <typename Where>
  std::string loaded(int input, const Where& place) const {
    const View& its = view(input);
    std::string inside;
    for (std::size_t n = 0; n < its.bounds.size(); ++n)
      inside += filled("$is_below($ + $, Place($))", n == 0 ? "" : " && ", bound(input, n),
                       place(its.bounds[n].strides), its.bounds[n].extent);
    const std::string load = filled("load($)", element(input, place(its.strides)));
    return inside.empty() ? load : filled("($ ? $ : Compute(0))", inside, load);
  }

  // The elements of a view that a thread's outputs and the terms of the window need, in registers, each once:
  // how far the two tile indices and the window move in these registers.
  struct ViewRegisters {
    std::int64_t y = 0, z = 0, w = 0, size = 1;
    std::int64_t run = 0;  // elements with one stride where window and outputs overlap
  };
  static constexpr std::int64_t most_kept = 96;

  bool has_window() const { return m_.chunk > 0; }
  ViewRegisters kept(const View& view) const {
    const std::int64_t y = m_.thread_y > 1 ? view.stride(k_.along_y) : 0,
                       z = m_.thread_z > 1 ? view.stride(k_.along_z) : 0,
                       w = has_window() ? view.stride(k_.window) : 0;
    ViewRegisters its;
    if (w != 0) {
      its.w = 1;
      its.size = window_terms_;
    }
    const bool overlaps = y != 0 && w != 0 && y % w == 0 && y / w > 0;
    bool are_bounds_alike = true;
    for (const Bound& each : view.bounds) {
      const Strides& strides = each.strides;
      for (const auto& [index, step] : {std::pair(k_.along_y, y), {k_.along_z, z}, {k_.window, w}})
        if (step == 0 && along(strides, index) != 0)
          return {.size = most_kept + 1};  // it moves out of bounds alone
      are_bounds_alike = are_bounds_alike &&
                         (!overlaps || along(strides, k_.along_y) == along(strides, k_.window) * (y / w));
    }
    if (overlaps && are_bounds_alike) {
      its.y = y / w;
      its.run = its.size += (m_.thread_y - 1) * its.y;
    } else if (y != 0) {
      its.y = its.size;
      its.size *= m_.thread_y;
    }
    if (z != 0) {
      its.z = its.size;
      its.size *= m_.thread_z;
    }
    return its;
  }
  // True if these elements lie side by side in memory, as a thread's outputs do.
  bool is_consecutive(const View& view, const ViewRegisters& its) const {
    if (!view.bounds.empty() || !k_.has_neighbours() || its.z > 0 || its.size == 1 || its.size > most_kept)
      return false;
    if (its.w > 0) return view.stride(k_.window) == 1 && (its.y == 0 || its.run > 0);
    return view.stride(k_.along_y) == 1;
  }
  std::string in_kept(const ViewRegisters& its) const {
    SumText place;
    add_tile(place, its.z, its.y);
    if (its.w > 0) place.add(name(k_.window), its.w);
    return place.text();
  }
  void open_unrolled(const std::string& variable, std::int64_t count) {
    line("#pragma unroll");
    open("for ($$ = 0; $ < $; ++$)", counter_, variable, variable, count, variable);
  }

  void write_kept(const std::vector<std::size_t>& loops) {
    kept_.clear();
    for (const int input : std::set<int>(k_.functions[0].inputs.begin(), k_.functions[0].inputs.end())) {
      const ViewRegisters its = kept(view(input));
      if (its.size > most_kept) continue;
      kept_.emplace(input, its);
      line("Compute r$[$];", input, its.size);
      if (is_consecutive(view(input), its)) {
        line("load_run(r$, &$);", input, element(input, moved(view(input).strides, loops, false)));
        continue;
      }
      const std::size_t depth = depth_;
      if (its.z > 0) open_unrolled(name(k_.along_z) + "1", m_.thread_z);
      std::vector<std::size_t> all = loops;
      std::string place = in_kept(its), from;
      if (its.run > 0) {
        open_unrolled("n", its.run);
        SumText in_run("n");
        add_tile(in_run, its.z, 0);
        place = in_run.text();
        from = loaded(input, [&](const Strides& strides) {
          SumText sum(moved(strides, loops, false));
          sum.add("n", along(strides, k_.window));
          if (its.z > 0) add_tile(sum, along(strides, k_.along_z), 0);
          return sum.text();
        });
      } else {
        if (its.y > 0) open_unrolled(name(k_.along_y) + "1", m_.thread_y);
        if (its.w > 0) {
          open_unrolled(name(k_.window), window_terms_);
          all.push_back(static_cast<std::size_t>(k_.window));
        }
        from = loaded(input, [&](const Strides& strides) { return moved(strides, all, true); });
      }
      line("r$[$] = $;", input, place, from);
      close(depth);
    }
  }

  // Opens the loops over a thread's outputs.
  void open_tile() {
    for (const auto& [index, each] :
         {std::pair(k_.along_z, m_.thread_z), std::pair(k_.along_y, m_.thread_y)}) {
      if (each == 1) continue;
      open_unrolled(name(index) + "1", each);
    }
  }
  std::string in_tile() const {
    SumText place;
    add_tile(place, m_.thread_y, 1);
    return place.text();
  }

  // A loop that is not written out.
  struct Loop {
    std::string variable, begin, end;
    std::int64_t step = 1, iterations = 0, unroll = 1;
    std::vector<std::int64_t> runs = {};  // iterations that are added up apart, then runs of such runs
  };

  // Chooses the loops that are not written out, the outermost first and that of a window's chunks last.
  void choose_loops() {
    for (const std::size_t i : m_.rolled) rolled_.push_back(i);
    if (m_.shared >= 0) rolled_.push_back(static_cast<std::size_t>(m_.shared));
    for (const std::size_t i : rolled_) {
      std::string end = std::to_string(nest_.extents[i]);
      if (static_cast<int>(i) == k_.split)
        end = filled("at_most(Place($), $ - $ * $)", end, k_.whole, name(std::size_t{0}), end);
      const bool is_shared = static_cast<int>(i) == m_.shared;
      loops_.push_back({.variable = name(i),
                        .begin = is_shared ? "lane" : "0",
                        .end = end,
                        .step = is_shared ? m_.lanes : 1,
                        .iterations = ceil_divide(nest_.extents[i], is_shared ? m_.lanes : 1)});
    }
    if (!loops_.empty()) loops_.back().unroll = m_.unroll;
    if (!has_chunks()) return;
    loops_.push_back({.variable = name(k_.window) + "0",
                      .begin = "0",
                      .end = std::to_string(whole_chunks() * m_.chunk),
                      .step = m_.chunk,
                      .iterations = whole_chunks()});
  }
  bool has_chunks() const { return has_window() && m_.chunk < extent(k_.window); }
  std::int64_t whole_chunks() const { return extent(k_.window) / m_.chunk; }

  // A long sum of f32 is a sum of runs of `run` terms, and these are added in runs again, so that each term
  // is rounded few times (README.md). Each level takes as many registers as a thread has outputs. The other
  // types have digits to spare, or are exact.
  static constexpr std::int64_t run = 256, longest_in_order = 4096;
  void choose_runs() {
    if (!k_.reduces() || k_.reduction != Reduction::sum || compute_ != DType::f32) return;
    double written_out = 1;
    for (const std::size_t i : m_.unrolled) written_out *= static_cast<double>(nest_.extents[i]);
    double terms = written_out * static_cast<double>(std::max<std::int64_t>(1, m_.chunk));
    double left_over = has_chunks() ? written_out * static_cast<double>(extent(k_.window) % m_.chunk) : 0;
    double all = terms + left_over;
    for (const Loop& loop : loops_) all *= static_cast<double>(loop.iterations);
    if (all <= longest_in_order) return;
    std::size_t levels = 0;
    for (std::size_t n = loops_.size(); n-- > 0; left_over = 0) {
      std::int64_t times = loops_[n].iterations;
      while (levels < 3 && terms * static_cast<double>(times) > run) {
        const std::int64_t length = std::max<std::int64_t>(1, run / static_cast<std::int64_t>(terms));
        loops_[n].runs.push_back(length);
        times = ceil_divide(times, length);
        terms = 1;
        ++levels;
      }
      terms = terms * static_cast<double>(times) + left_over;
    }
  }

  std::string sums() const { return runs_open_ == 0 ? "sum" : filled("sum$", runs_open_); }
  void for_each_sum(const std::string& words) {
    line("#pragma unroll");
    line("for (int n = 0; n < $; ++n) $;", tile(), words);
  }
  void begin_sums() {
    line("Compute $[$];", sums(), tile());
    if (k_.reduces()) for_each_sum(filled("$[n] = $::none()", sums(), how()));
  }
  void open_run(const std::string& variable, const std::string& begin, const std::string& condition) {
    line("#pragma unroll 1");
    open("for ($$ = $; $; ++$)", counter_, variable, begin, condition, variable);
    ++runs_open_;
    begin_sums();
  }
  void close_run() {
    const std::string its = sums();
    --runs_open_;
    for_each_sum(filled("$[n] = $::of($[n], $[n])", sums(), how(), sums(), its));
    close(depth_ - 1);
  }
  // Opens the loops over a loop's runs; the loop itself then has fewer iterations.
  void open_runs(Loop& loop) {
    if (loop.runs.empty()) return;
    std::vector<std::int64_t> counts = {loop.iterations};
    for (const std::int64_t length : loop.runs) counts.push_back(ceil_divide(counts.back(), length));
    std::string place;
    for (std::size_t level = loop.runs.size(); level-- > 0;) {
      const std::string its = filled("run$_$", level, loop.variable);
      const std::string all = filled("$ < $", its, counts[level + 1]);
      if (place.empty()) {
        open_run(its, "0", all);
      } else {
        const std::int64_t each = loop.runs[level + 1];
        open_run(its, filled("$ * $", place, each), filled("$ < ($ + 1) * $ && $", its, place, each, all));
      }
      place = its;
    }
    const std::int64_t length = loop.runs[0] * loop.step;
    const std::string from = "from_" + loop.variable, to = "to_" + loop.variable;
    line("const Place $ = $Place($) * $;", from, loop.begin == "0" ? "" : loop.begin + " + ", place, length);
    line("const Place $ = $ + at_most(Place($) - $, Place($));", to, from, loop.end, from, length);
    loop.begin = from;
    loop.end = to;
  }

  void write_loops(std::size_t n) {
    if (n == loops_.size()) return write_terms(rolled_, m_.chunk);
    Loop loop = loops_[n];
    open_runs(loop);
    const std::string& its = loop.variable;
    const std::string step = loop.step == 1 ? "++" + its : filled("$ += $", its, loop.step);
    const bool are_chunks = has_chunks() && n + 1 == loops_.size();
    if (are_chunks) window_base_ = its;
    // Of a loop whose end is a minimum, NVRTC 12.4 to 13.5 takes the number of iterations for a multiple of
    // 2^32 - 1, so that 3 or 5 copies have no remainder: 3 then run 12 iterations instead of 10.
    const bool is_minimum = loop.end.find_first_not_of("0123456789") != std::string::npos;
    if (is_minimum && loop.unroll > 1) loop.unroll -= loop.unroll % 2;
    line("#pragma unroll $", loop.unroll);
    open("for (Place $ = $; $ < $; $)", its, loop.begin, its, loop.end, step);
    write_loops(n + 1);
    close(depth_ - 1);
    for (std::size_t level = 0; level < loop.runs.size(); ++level) close_run();
    if (!are_chunks) return;
    const std::int64_t whole = whole_chunks() * m_.chunk;  // the terms that are left over
    window_base_ = std::to_string(whole);
    if (whole < extent(k_.window)) write_terms(rolled_, extent(k_.window) - whole);
    window_base_.clear();
  }

  void write_sums() {
    begin_sums();
    choose_loops();
    choose_runs();
    write_loops(0);
    if (m_.lanes > 1) line("combine<$, $>(sum$);", how(), m_.lanes, m_.lanes > 32 ? ", parts" : "");
  }

  // Writes the loops that are written out, with `window_terms` terms of the window.
  void write_terms(std::vector<std::size_t> loops, std::int64_t window_terms) {
    const std::size_t depth = depth_;
    window_terms_ = window_terms;
    for (const std::size_t i : m_.unrolled) {
      open_unrolled(name(i), nest_.extents[i]);
      loops.push_back(i);
    }
    if (m_.unrolled.empty() && !window_base_.empty()) {
      line("{");
      ++depth_;
    }
    write_kept(loops);
    if (has_window()) {
      open_unrolled(name(k_.window), window_terms);
      loops.push_back(static_cast<std::size_t>(k_.window));
    }
    open_tile();
    const std::string place = filled("$[$]", sums(), in_tile()), term = value(0, "", loops);
    line("$ = $;", place, k_.reduces() ? filled("$::of($, $)", how(), place, term) : term);
    close(depth);
  }

  void write_results() {
    const std::size_t depth = depth_;
    if (k_.has_neighbours() && tile() == m_.thread_y && tile() > 1 && m_.lanes == 1 &&
        k_.functions.size() == 1 && m_.serial.empty() && nest_.output.strides[nest_.free - 1] == 1) {
      const bool is_whole = extent(k_.along_y) % m_.thread_y == 0;
      const std::string its = name(k_.along_y);
      line("if ($store_run(to, sum)) return;", is_whole ? "" : filled("first_$ == $ && ", its, its));
    }
    open_tile();
    const auto skip_seen = [&](int index, std::int64_t threads, std::int64_t each) {
      const bool is_flat = index == k_.along_y && k_.has_neighbours();
      if (index < 0 || extent(index) % (is_flat ? each : threads * each) == 0) return;
      const std::string its = name(index), place = each > 1 ? filled("$ + $1", its, its) : its;
      line("if ($ < first_$) $;", place, its, tile() > 1 ? "continue" : "return");
    };
    skip_seen(k_.along_y, m_.block_y, m_.thread_y);
    skip_seen(k_.along_z, 1, m_.thread_z);
    if (m_.lanes > 1) {
      const bool covers = m_.x_places % m_.block_x == 0;
      line("if (lane != ($) % $$) $;", in_tile(), m_.lanes, covers ? "" : " || is_outside",
           tile() > 1 ? "continue" : "return");
    }
    for (const std::size_t i : m_.serial)
      open("for (Place $ = 0; $ < $; ++$)", name(i), name(i), nest_.extents[i], name(i));
    std::string result = filled("sum[$]", in_tile());
    for (std::size_t f = 1; f < k_.functions.size(); ++f) {
      const std::string its = filled("value$", f);
      line("const Compute $ = $;", its, value(f, result, m_.serial));
      result = its;
    }
    line("to[$] = $;", moved(nest_.output.strides, m_.serial, true),
         is_result() ? filled("converted<Out>($)", result) : result);
    close(depth);
  }

  const LoopKernel& k_;
  const Nest& nest_;
  const LoopMapping& m_;
  const std::vector<std::int64_t>& workspace_;
  std::size_t number_;
  DType compute_;
  std::string text_;
  std::size_t depth_ = 0;
  std::vector<std::size_t> rolled_;  // indices of loops_, but for the chunks
  std::vector<Loop> loops_;
  std::int64_t runs_open_ = 0;
  std::map<int, ViewRegisters> kept_;  // by input
  std::int64_t window_terms_ = 0;      // terms of the window that are written out
  std::string window_base_;            // the first of these terms, if they are not all
  std::string counter_ = "int ";  // type of unrolled loops' counters; counter times stride must not overflow
};

}  // namespace

LoopMapping::LoopMapping(const LoopKernel& kernel, const LoopShape& shape) {
  const Nest& nest = kernel.nest;
  // At least 1, as it divides; an empty sum has fewer terms.
  const auto extent = [&](int index) { return std::max<std::int64_t>(1, nest.extent(index)); };
  const int nearest = kernel.nearest();
  if (shape.lanes > 1 && nearest >= 0 && 2 * extent(nearest) >= shape.lanes) {
    lanes = shape.lanes;
    shared = nearest;
  }
  thread_y = std::min(shape.thread_y, extent(kernel.along_y));
  thread_z = std::min(shape.thread_z, extent(kernel.along_z));
  if (lanes == 1 && !kernel.has_neighbours())
    while (block_y < shape.block_y && block_y * thread_y < extent(kernel.along_y)) block_y *= 2;
  block_x = std::max<std::int64_t>(1, shape.threads / lanes / block_y);  // 0 where another rule does not hold
  has_rows = kernel.has_neighbours() || thread_y * block_y > 1;
  if (has_rows) y_tiles = ceil_divide(extent(kernel.along_y), thread_y * block_y);
  if (kernel.has_neighbours()) x_places = std::exchange(y_tiles, 1);
  for (std::size_t i = nest.free; i-- > 0;) {
    if (has_rows && static_cast<int>(i) == kernel.along_y) continue;
    if (thread_z > 1 && static_cast<int>(i) == kernel.along_z) continue;
    const bool is_x = rest.empty() && (x_places == 1 || 2 * x_places <= block_x);
    (is_x ? x : rest).push_back(i);
    (is_x ? x_places : blocks) *= nest.extents[i];
  }
  x_tiles = ceil_divide(x_places, block_x);
  if (thread_z > 1) z_tiles = ceil_divide(extent(kernel.along_z), thread_z);
  blocks *= x_tiles * y_tiles * z_tiles;
  // Writes out the window first, since its terms share what they read, then the nearest indices, as long as
  // there is room.
  std::int64_t room = std::max<std::int64_t>(1, shape.unroll / (thread_y * thread_z));
  if (kernel.window >= 0 && nest.extent(kernel.window) > 0 && kernel.window != shared &&
      kernel.window != kernel.split && room >= 2) {
    const std::int64_t terms = extent(kernel.window);
    chunk = ceil_divide(terms, ceil_divide(terms, room));
    // Wide accesses of further chunks are aligned as those of the first.
    if (chunk < terms && kernel.has_neighbours() && round_up(chunk, 8) <= room) chunk = round_up(chunk, 8);
    room /= chunk;
  }
  for (std::size_t i = nest.rank(); i-- > nest.free;) {
    if (static_cast<int>(i) == kernel.window && chunk > 0) continue;
    if (kernel.is_serial(i)) {
      serial.insert(serial.begin(), i);
    } else if (static_cast<int>(i) == shared) {
      continue;
    } else if (static_cast<int>(i) != kernel.split && nest.extents[i] <= room) {
      room /= std::max<std::int64_t>(nest.extents[i], 1);
      unrolled.insert(unrolled.begin(), i);
    } else {
      rolled.insert(rolled.begin(), i);
    }
  }
  unroll = std::clamp<std::int64_t>(room, 1, 8);
}

std::vector<std::int64_t> places_in_workspace(const LoopForm& form, std::int64_t element_bytes) {
  std::vector<std::int64_t> places = {0};
  for (const std::int64_t elements : form.elements)
    places.push_back(places.back() + round_up(elements * element_bytes, 256));
  return places;
}

std::string kernel_name(std::size_t kernel) { return "tensor_loops_" + std::to_string(kernel); }

std::vector<int> arrays_read(const LoopKernel& kernel) {
  std::set<int> arrays;
  for (const LoopKernel::Function& function : kernel.functions) {
    for (const int input : function.inputs) {
      if (input < 0) continue;
      arrays.insert(std::min(kernel.nest.inputs[static_cast<std::size_t>(input)].array, first_intermediate));
    }
  }
  return {arrays.begin(), arrays.end()};
}

std::string text_of(const LoopForm& form, const LoopShape& shape, DType compute) {
  const std::int64_t element = bytes(compute);
  std::vector<std::int64_t> workspace = places_in_workspace(form, element);
  for (std::int64_t& place : workspace) place /= element;
  std::string text;
  for (std::size_t n = 0; n < form.kernels.size(); ++n) {
    const LoopMapping mapping(form.kernels[n], shape);
    text += KernelText(form.kernels[n], mapping, workspace, n, compute).text(shape.threads);
  }
  return text;
}

}  // namespace tunesmith::tensor_op
