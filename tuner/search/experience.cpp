// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/experience.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>

namespace tunesmith {
namespace {

// Words in the names that this project, Kernel Tuner, KTT and CLBlast give to their axes: block_size_x,
// BLOCK, MDIMC; tile_size_y, OUT_X, ITEMS, WORK_PER_THREAD.
constexpr std::array<std::string_view, 5> thread_words = {"block", "threads", "mdimc", "ndimc", "workgroup"};
constexpr std::array<std::string_view, 6> work_words = {"tile", "out", "items", "work", "wpt", "coarsening"};
// Words of limits and of other meanings: RESIDENT_THREADS, tile_stride_x.
constexpr std::array<std::string_view, 5> other_words = {"resident", "max", "min", "stride", "order"};

template <std::size_t Size>
bool has_word(std::string_view name, const std::array<std::string_view, Size>& words) {
  std::string word;
  for (std::size_t at = 0; at <= name.size(); ++at) {
    if (at < name.size() && name[at] != '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[at])));
      continue;
    }
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
    word.clear();
  }
  return false;
}

}  // namespace

Experience::Experience(const Points& points, Prior prior) : points_(points), prior_(prior) {
  for (const SearchSpace::Part& part : points.space().parts) {
    std::vector<Role>& roles = roles_.emplace_back();
    for (const Axis& axis : part.space.axes()) {
      Role role = Role::none;
      if (axis.values.front().index() == 0 && !has_word(axis.name, other_words)) {
        if (has_word(axis.name, thread_words)) role = Role::threads;
        if (has_word(axis.name, work_words)) role = Role::work;
      }
      roles.push_back(role);
    }
  }
}

double Experience::slower(PointId id) const {
  if (prior_ == Prior::none) return 0;
  const Space& space = points_.space().parts[id.part].space;
  const Config config = points_.config(id);
  double threads = 1;
  double work = 1;
  bool blocks = false;
  for (std::size_t axis = 0; axis < roles_[id.part].size(); ++axis) {
    if (roles_[id.part][axis] == Role::none) continue;
    const auto value = static_cast<double>(std::get<std::int64_t>(config.value(axis)));
    if (value < 1) continue;
    if (roles_[id.part][axis] == Role::threads) {
      threads *= value;
      blocks = true;
    } else {
      work *= value;
    }
  }
  double slower = 0;
  if (blocks) {
    // Fewer than 128 threads hide little latency, and leave warps unused if blocks per multiprocessor are
    // limited; more than 512 have few registers each and wait longer at barriers; threads of a partial warp
    // are idle.
    slower += 0.25 * std::max(0.0, 7 - std::log2(threads)) + 0.2 * std::max(0.0, std::log2(threads) - 9);
    if (std::fmod(threads, 32) != 0) slower += 0.15;
  }
  // One element per thread reuses nothing; more than 16 take many registers.
  slower += 0.15 * std::max(0.0, 1 - std::log2(work)) * (work > 0 ? 1 : 0) +
            0.15 * std::max(0.0, std::log2(work) - 4);
  return slower + 0.1 * static_cast<double>(space.broken_worth(config));
}

}  // namespace tunesmith
