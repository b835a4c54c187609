// SPDX-License-Identifier: Apache-2.0
// Finds a selection network and writes its code for rank_filter/network. The elements that all windows of a
// tile of outputs have in common are sorted once. An element that cannot have the rank in any of these
// windows is dropped. Then the tile is halved again and again. Each half merges the elements that its windows
// have in addition, until one output is left, whose window is complete. Sets of elements are sorted by
// merging their halves (Batcher's odd-even merge); a set that several windows contain is sorted once.
// Operations that no output depends on are not written.
//
// See: Adams, Fast median filters using separable sorting networks, 2021.

#include "templates/rank_filter/network_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

namespace tunesmith::rank_filter_op {
namespace {

struct Point {
  std::int64_t x, y, z;
  auto operator<=>(const Point&) const = default;  // NOLINT(modernize-use-nullptr)
};
using Set = std::vector<Point>;  // in order
using List = std::vector<int>;   // sorted elements, as nodes

enum class NodeKind { element, lower, upper };
struct Node {
  NodeKind kind;
  int a = 0, b = 0;  // the operands of lower and upper
  int c = -1;        // the third operand, of a minimum or maximum of three
  Point point = {};  // the place of an element
};

class Network {
 public:
  int element(const Point& point) {
    const auto [found, is_new] = elements_.try_emplace(point, size());
    if (is_new) nodes.push_back({.kind = NodeKind::element, .point = point});
    return found->second;
  }
  int lower(int a, int b) { return made(NodeKind::lower, a, b); }
  int upper(int a, int b) { return made(NodeKind::upper, a, b); }

  std::vector<Node> nodes;
  std::vector<int> outputs;  // row by row

  /// The nodes that the outputs depend on. Each node comes after those that it depends on; the nodes of an
  /// output are neighbours.
  std::vector<int> needed() const {
    std::vector<bool> seen(nodes.size());
    std::vector<int> order;
    for (const int output : outputs) visit(output, seen, order);
    return order;
  }

 private:
  int size() const { return static_cast<int>(nodes.size()); }
  int made(NodeKind kind, int a, int b) {
    if (a == b) return a;
    const auto [found, is_new] = made_.try_emplace({kind, std::min(a, b), std::max(a, b)}, size());
    if (is_new) nodes.push_back({.kind = kind, .a = a, .b = b});
    return found->second;
  }
  void visit(int at, std::vector<bool>& seen, std::vector<int>& order) const {
    if (seen[static_cast<std::size_t>(at)]) return;
    seen[static_cast<std::size_t>(at)] = true;
    const Node& node = nodes[static_cast<std::size_t>(at)];
    if (node.kind != NodeKind::element) {
      visit(node.a, seen, order);
      visit(node.b, seen, order);
    }
    order.push_back(at);
  }

  std::map<Point, int> elements_;
  std::map<std::tuple<NodeKind, int, int>, int> made_;
};

// How outputs are grouped. Several plans are tried.
struct Plan {
  std::int64_t tile_x, tile_y;  // outputs whose common elements are sorted first
  bool rows_first;              // true if a tile is halved into rows first
  std::int64_t one_by_one;      // up to this many elements of two merged lists are found one by one
  Point origin;                 // where the first pairs to be merged begin
};

class Planner {
 public:
  Planner(Network& network, Set window, std::int64_t rank, const Plan& plan)
      : network_(network), window_(std::move(window)), rank_(rank), plan_(plan) {}

  void make(const NetworkShape& shape) {
    outputs_.assign(static_cast<std::size_t>(shape.outputs_x * shape.outputs_y), 0);
    across_ = shape.outputs_x;
    for (std::int64_t y = 0; y < shape.outputs_y; y += plan_.tile_y) {
      for (std::int64_t x = 0; x < shape.outputs_x; x += plan_.tile_x)
        select({x, x + plan_.tile_x, y, y + plan_.tile_y}, {}, 0, {});
    }
    network_.outputs = outputs_;
  }

 private:
  struct Tile {
    std::int64_t from_x, to_x, from_y, to_y;
    bool is_one() const { return to_x - from_x == 1 && to_y - from_y == 1; }
  };

  // The places that the windows of all outputs of the tile contain.
  Set common(const Tile& tile) const {
    Set found;
    for (const Point& place : window_) {
      const Point first = {place.x + tile.from_x, place.y + tile.from_y, place.z};
      bool is_common = true;
      for (std::int64_t y = tile.from_y; is_common && y < tile.to_y; ++y) {
        for (std::int64_t x = tile.from_x; is_common && x < tile.to_x; ++x)
          is_common =
              std::binary_search(window_.begin(), window_.end(), Point{first.x - x, first.y - y, first.z});
      }
      if (is_common) found.push_back(first);
    }
    return found;
  }

  // `sorted` has those of the `known` elements that may be the result; `below` others are known to be less.
  void select(const Tile& tile, const List& sorted, std::int64_t below, const Set& known) {
    const Set all = common(tile);
    Set more;
    std::set_difference(all.begin(), all.end(), known.begin(), known.end(), std::back_inserter(more));
    const List& others = this->sorted(more);
    if (tile.is_one()) {
      outputs_[static_cast<std::size_t>(tile.from_y * across_ + tile.from_x)] =
          ranked(sorted, others, rank_ - below);
      return;
    }
    // Drops an element if more elements than the rank precede it, or more follow it than the window allows.
    const auto count = static_cast<std::int64_t>(all.size());
    const auto most = static_cast<std::int64_t>(window_.size()) - 1;
    const std::int64_t from = std::max<std::int64_t>(below, count - 1 - (most - rank_));
    const std::int64_t to =
        std::min<std::int64_t>(below + std::ssize(sorted) + std::ssize(others), rank_ + 1);
    List merged;
    if (to - from <= plan_.one_by_one && !sorted.empty() && !others.empty()) {
      for (std::int64_t at = from; at < to; ++at) merged.push_back(ranked(sorted, others, at - below));
    } else if (from < to) {
      const List both = merge(sorted, others);
      merged = List(both.begin() + (from - below), both.begin() + (to - below));
    }
    const bool by_rows = tile.to_y - tile.from_y > 1 && (plan_.rows_first || tile.to_x - tile.from_x == 1);
    Tile one = tile, other = tile;
    if (by_rows) {
      one.to_y = other.from_y = (tile.from_y + tile.to_y) / 2;
    } else {
      one.to_x = other.from_x = (tile.from_x + tile.to_x) / 2;
    }
    select(one, merged, from, all);
    select(other, merged, from, all);
  }

  const List& sorted(const Set& set) {
    const auto found = sorted_.find(set);
    if (found != sorted_.end()) return found->second;
    List made;
    if (set.size() == 1) {
      made = {network_.element(set.front())};
    } else if (!set.empty()) {
      const auto [one, other] = halves(set);
      const List first = sorted(one);
      made = merge(first, sorted(other));
    }
    return sorted_.emplace(set, std::move(made)).first->second;
  }

  // Divides by the first coordinate that is not the same in all points, at a multiple of the largest power of
  // two, counted from the plan's origin.
  std::pair<Set, Set> halves(const Set& set) const {
    std::pair<Set, Set> result;
    for (const auto& [coordinate, origin] :
         {std::pair(&Point::x, plan_.origin.x), std::pair(&Point::y, plan_.origin.y),
          std::pair(&Point::z, plan_.origin.z)}) {
      const auto [least, most] = std::minmax_element(
          set.begin(), set.end(), [c = coordinate](const Point& a, const Point& b) { return a.*c < b.*c; });
      const std::int64_t first = (*least).*coordinate + 64 - origin, last = (*most).*coordinate + 64 - origin;
      if (first == last) continue;
      int bit = 0;
      while (first >> (bit + 1) != last >> (bit + 1)) ++bit;
      for (const Point& point : set)
        ((point.*coordinate + 64 - origin) >> bit == first >> bit ? result.first : result.second)
            .push_back(point);
      return result;
    }
    return result;
  }

  // Batcher's odd-even merge (Knuth, The Art of Computer Programming, 5.3.4).
  List merge(const List& a, const List& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    if (a.size() == 1 && b.size() == 1) return {network_.lower(a[0], b[0]), network_.upper(a[0], b[0])};
    const auto every_other = [](const List& list, std::size_t from) {
      List found;
      for (std::size_t n = from; n < list.size(); n += 2) found.push_back(list[n]);
      return found;
    };
    const List odd = merge(every_other(a, 0), every_other(b, 0));
    const List even = merge(every_other(a, 1), every_other(b, 1));
    List all = {odd[0]};
    for (std::size_t n = 0; n < even.size(); ++n) {
      if (n + 1 < odd.size()) {
        all.push_back(network_.lower(even[n], odd[n + 1]));
        all.push_back(network_.upper(even[n], odd[n + 1]));
      } else {
        all.push_back(even[n]);
      }
    }
    for (std::size_t n = even.size() + 1; n < odd.size(); ++n) all.push_back(odd[n]);
    return all;
  }

  // The element of a rank in both lists together. Take some number of elements from one list and the rest
  // from the other: the result is the smallest, over all such numbers, of the largest element taken.
  int ranked(const List& a, const List& b, std::int64_t rank) {
    std::optional<int> least;
    for (std::int64_t from_a = 0; from_a <= std::min<std::int64_t>(std::ssize(a), rank + 1); ++from_a) {
      const std::int64_t from_b = rank + 1 - from_a;
      if (from_b > std::ssize(b)) continue;
      const int last = from_a == 0   ? b[static_cast<std::size_t>(from_b - 1)]
                       : from_b == 0 ? a[static_cast<std::size_t>(from_a - 1)]
                                     : network_.upper(a[static_cast<std::size_t>(from_a - 1)],
                                                      b[static_cast<std::size_t>(from_b - 1)]);
      least = least ? network_.lower(*least, last) : last;
    }
    return least.value();
  }

  Network& network_;
  Set window_;
  std::int64_t rank_;
  Plan plan_;
  std::int64_t across_ = 1;
  std::vector<int> outputs_;
  std::map<Set, List> sorted_;
};

// The extremes of a box: first along planes, then along columns, then along rows.
class Extremes {
 public:
  Extremes(Network& network, const Extents3& window, bool is_least)
      : network_(network), window_(window), is_least_(is_least) {}

  void make(const NetworkShape& shape) {
    std::vector<List> columns;  // each has the outputs' rows
    for (std::int64_t x = 0; x < shape.outputs_x + window_.x - 1; ++x) {
      List column;
      for (std::int64_t y = 0; y < shape.outputs_y + window_.y - 1; ++y) {
        List planes;
        for (std::int64_t z = 0; z < window_.z; ++z) planes.push_back(network_.element({x, y, z}));
        column.push_back(running(planes, window_.z)[0]);
      }
      columns.push_back(running(column, window_.y));
    }
    for (std::size_t y = 0; y < static_cast<std::size_t>(shape.outputs_y); ++y) {
      List row;
      for (const List& column : columns) row.push_back(column[y]);
      for (const int output : running(row, window_.x)) network_.outputs.push_back(output);
    }
  }

 private:
  int extreme(int a, int b) { return is_least_ ? network_.lower(a, b) : network_.upper(a, b); }

  // The extreme of each window of `length` elements. Up to `length` consecutive windows share the last
  // element of the first one: each combines the extreme from its first element to that one with the extreme
  // of its elements behind.
  List running(const List& given, std::int64_t length) {
    const auto at = [&](std::int64_t n) { return given[static_cast<std::size_t>(n)]; };
    const std::int64_t all = std::ssize(given) - length + 1;
    List found;
    for (std::int64_t first = 0; first < all; first += length) {
      const std::int64_t count = std::min(length, all - first);
      List windows(static_cast<std::size_t>(count));
      int so_far = at(first + length - 1);
      for (std::int64_t n = length - 1; n >= 0; --n) {
        if (n < length - 1) so_far = extreme(at(first + n), so_far);
        if (n < count) windows[static_cast<std::size_t>(n)] = so_far;
      }
      for (std::int64_t n = 1; n < count; ++n) {
        so_far = n == 1 ? at(first + length) : extreme(so_far, at(first + length + n - 1));
        int& window = windows[static_cast<std::size_t>(n)];
        window = extreme(window, so_far);
      }
      found.insert(found.end(), windows.begin(), windows.end());
    }
    return found;
  }

  Network& network_;
  Extents3 window_;
  bool is_least_;
};

struct Found {
  std::vector<Node> nodes;  // in the order of computation; lower and upper name earlier ones
  std::vector<int> outputs;
  std::int64_t operations = 0;
};

// If `of_three`, a minimum of a minimum that nothing else needs becomes a minimum of three; maxima likewise
// become maxima of three.
Found in_order(const Network& network, bool of_three) {
  std::vector<Node> nodes = network.nodes;
  const auto at = [&](int n) -> Node& { return nodes[static_cast<std::size_t>(n)]; };
  std::vector<int> order = network.needed();
  if (of_three) {
    std::vector<int> uses(nodes.size());
    for (const int output : network.outputs) uses[static_cast<std::size_t>(output)] += 2;
    for (const int n : order) {
      if (at(n).kind == NodeKind::element) continue;
      ++uses[static_cast<std::size_t>(at(n).a)];
      ++uses[static_cast<std::size_t>(at(n).b)];
    }
    std::vector<bool> gone(nodes.size());
    for (auto n = order.rbegin(); n != order.rend(); ++n) {
      Node& node = at(*n);
      if (node.kind == NodeKind::element || gone[static_cast<std::size_t>(*n)]) continue;
      const auto is_joined = [&](int of) {
        return at(of).kind == node.kind && uses[static_cast<std::size_t>(of)] == 1;
      };
      if (is_joined(node.b) && !is_joined(node.a)) std::swap(node.a, node.b);
      if (!is_joined(node.a)) continue;
      const int joined = node.a;
      gone[static_cast<std::size_t>(joined)] = true;
      node.c = node.b;
      node.b = at(joined).b;
      node.a = at(joined).a;
    }
    std::erase_if(order, [&](int n) { return gone[static_cast<std::size_t>(n)]; });
  }
  Found found;
  std::map<int, int> place;
  for (const int n : order) {
    Node node = at(n);
    if (node.kind != NodeKind::element) {
      node.a = place.at(node.a);
      node.b = place.at(node.b);
      if (node.c >= 0) node.c = place.at(node.c);
      ++found.operations;
    }
    place[n] = static_cast<int>(found.nodes.size());
    found.nodes.push_back(node);
  }
  for (const int output : network.outputs) found.outputs.push_back(place.at(output));
  return found;
}

Set window_of(const Problem& problem) {
  const Dims d(problem);
  const std::string bits = footprint_bits(problem);
  Set places;
  for (std::int64_t x = 0; x < d.window.x; ++x) {
    for (std::int64_t y = 0; y < d.window.y; ++y) {
      for (std::int64_t z = 0; z < d.window.z; ++z) {
        if (bits.empty() || bits[static_cast<std::size_t>((z * d.window.y + y) * d.window.x + x)] == 'x')
          places.push_back({x, y, z});
      }
    }
  }
  return places;
}

const Found& best(const Problem& problem, const NetworkShape& shape) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, NetworkShape>, Found> known;
  std::string key;
  for (const char* name : {"window_depth", "window_height", "window_width", "rank"})
    key += std::to_string(problem.integer(name)) + " ";
  key += problem.string("footprint");
  const DType dtype = dtype_of(problem);
  const bool of_three = bytes(dtype) <= 2 || dtype == DType::i32;  // DPX instructions support these
  if (of_three) key += " of three";
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace({std::move(key), shape});
  Found& found = entry->second;
  if (!is_new) return found;
  if (is_box(problem) && (is_least(problem) || is_greatest(problem))) {
    Network network;
    Extremes(network, Dims(problem).window, is_least(problem)).make(shape);
    return found = in_order(network, of_three);
  }
  const Set window = window_of(problem);
  for (std::int64_t tile_x = 1; tile_x <= std::min<std::int64_t>(shape.outputs_x, 4); tile_x *= 2) {
    for (std::int64_t tile_y = 1; tile_y <= std::min<std::int64_t>(shape.outputs_y, 4); tile_y *= 2) {
      for (const bool rows_first : {false, true}) {
        if (rows_first && (tile_x == 1 || tile_y == 1)) continue;
        for (const std::int64_t one_by_one : {1, 2, 4}) {
          Network network;
          Planner(network, window, problem.integer("rank"),
                  {tile_x, tile_y, rows_first, one_by_one, {tile_x - 1, tile_y - 1, 0}})
              .make(shape);
          Found tried = in_order(network, of_three);
          if (found.outputs.empty() || tried.operations < found.operations) found = std::move(tried);
        }
      }
    }
  }
  return found;
}

// Chooses pairs of a minimum and a maximum of the same two nodes, spread over the network. Maps each node of
// such a pair to its partner.
std::map<int, int> added(const Found& network, std::int64_t percent) {
  std::vector<std::pair<int, int>> pairs;
  std::map<std::pair<int, int>, int> single;
  for (int n = 0; n < static_cast<int>(network.nodes.size()); ++n) {
    const Node& node = network.nodes[static_cast<std::size_t>(n)];
    if (node.kind == NodeKind::element || node.c >= 0) continue;
    const auto [found, is_new] = single.try_emplace(std::minmax(node.a, node.b), n);
    if (!is_new) pairs.emplace_back(found->second, n);
  }
  const std::int64_t all = std::ssize(pairs), wanted = std::min(all, network.operations * percent / 100);
  std::map<int, int> other;
  for (std::int64_t n = 0; n < all; ++n) {
    if (n * wanted / all == (n + 1) * wanted / all) continue;
    const auto [first, second] = pairs[static_cast<std::size_t>(n)];
    other[first] = second;
    other[second] = first;
  }
  return other;
}

}  // namespace

std::int64_t network_operations(const Problem& problem, const NetworkShape& shape) {
  return best(problem, shape).operations;
}

std::string network_text(const Problem& problem, const NetworkShape& shape, const NetworkWriting& writing) {
  const Found& network = best(problem, shape);
  const auto name_of = [](std::size_t node) { return "v" + std::to_string(node); };
  const auto text_of = [](std::int64_t number) { return std::to_string(number); };
  const std::map<int, int> other = added(network, writing.percent_added);
  std::string text =
      "__device__ __forceinline__ void select(const Word* s, Word (&out)[OUTPUTS_Y][OUTPUTS_X]) {\n";
  std::vector<std::string> names;
  std::map<std::array<std::int64_t, 3>, std::string> rows;  // vectors that are read
  for (const Node& node : network.nodes) {
    const std::size_t at = names.size();
    if (node.kind == NodeKind::element) {
      const std::int64_t wide = writing.vector, column = node.point.x + writing.shift;
      const auto [read, is_new] = rows.try_emplace({node.point.z, node.point.y, column / wide});
      if (is_new) {
        read->second = "r" + std::to_string(rows.size());
        text += "  const Vector<Word, " + text_of(wide) + "> " + read->second + " = load_vector<" +
                text_of(wide) + ">(s + (" + text_of(node.point.z) + " * tile_rows + " +
                text_of(node.point.y) + ") * pitch + in_row(" + text_of(column / wide * wide) + "));\n";
      }
      names.push_back(read->second + ".element[" + text_of(column % wide) + "]");
      continue;
    }
    names.push_back(name_of(at));
    const std::string &a = names[static_cast<std::size_t>(node.a)],
                      &b = names[static_cast<std::size_t>(node.b)];
    const auto found = other.find(static_cast<int>(at));
    if (found == other.end()) {
      text += "  const Word " + names.back() + (node.kind == NodeKind::lower ? " = lower(" : " = upper(") +
              a + ", " + b + (node.c >= 0 ? ", " + names[static_cast<std::size_t>(node.c)] : "") + ");\n";
    } else if (static_cast<int>(at) < found->second) {
      const std::string both[] = {names.back(), name_of(static_cast<std::size_t>(found->second))};
      const bool is_lower = node.kind == NodeKind::lower;
      text += "  Word " + both[0] + ", " + both[1] + ";\n  order_by_adding(" + a + ", " + b + ", " +
              both[is_lower ? 0 : 1] + ", " + both[is_lower ? 1 : 0] + ");\n";
    }
  }
  for (std::size_t n = 0; n < network.outputs.size(); ++n) {
    const auto across = static_cast<std::size_t>(shape.outputs_x);
    text += "  out[" + std::to_string(n / across) + "][" + std::to_string(n % across) +
            "] = " + names[static_cast<std::size_t>(network.outputs[n])] + ";\n";
  }
  return text + "}\n";
}

}  // namespace tunesmith::rank_filter_op
