// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/watcher.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tunesmith {
namespace {

bool writes(AccessKind kind) {
  return kind == AccessKind::write || kind == AccessKind::volatile_write || kind == AccessKind::atomic ||
         kind == AccessKind::atomic_in_block;
}
std::string file_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}
bool is_atomic(std::uint8_t kind) {
  return kind == static_cast<std::uint8_t>(AccessKind::atomic) ||
         kind == static_cast<std::uint8_t>(AccessKind::atomic_in_block);
}

}  // namespace

Watcher::Watcher() {
  hooks_.self = this;
  hooks_.shared = [](void* given, const void* dynamic, long long bytes) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.begin_launch();
    if (bytes <= 0) return;
    Region& region = watcher.regions_.emplace_back();
    const auto* start = static_cast<const char*>(dynamic);
    region.array = {"the dynamic shared memory", start, bytes, 1};
    region.is_shared = true;
  };
  hooks_.next_block = [](void* given, long long blocks) -> long long {
    auto& watcher = *static_cast<Watcher*>(given);
    if (!watcher.settle()) return -1;
    if (!std::exchange(watcher.chosen_, true) && watcher.choose != nullptr)
      watcher.blocks_ = watcher.choose(blocks);
    if (watcher.has_reached_limit()) return -1;
    const std::size_t n = watcher.next_++;
    const bool all = watcher.choose == nullptr;
    if (n >= (all ? static_cast<std::size_t>(blocks) : watcher.blocks_.size())) return -1;
    const std::int64_t block = all ? static_cast<std::int64_t>(n) : watcher.blocks_[n];
    watcher.order_.begin_block(static_cast<std::uint32_t>(block));
    watcher.shown_.clear();
    watcher.changed();
    watcher.block_count_ = static_cast<std::uint64_t>(blocks);
    watcher.counter_ = nullptr;
    return block;
  };
  hooks_.access = [](void* given, const void* at, long long bytes, int kind, int thread) -> int {
    return static_cast<Watcher*>(given)->access(static_cast<const char*>(at), bytes,
                                                static_cast<AccessKind>(kind), thread)
               ? 1
               : 0;
  };
  hooks_.barrier = [](void* given, int) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.settle();
    watcher.order_.barrier();
  };
  hooks_.collective = [](void* given, int warp, unsigned lanes) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.settle();
    watcher.order_.collective(static_cast<std::uint32_t>(warp), lanes);
  };
  hooks_.fence = [](void* given, int thread, int of_device) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.settle();
    watcher.order_.fence(static_cast<std::uint16_t>(thread), of_device != 0);
  };
  hooks_.misaligned = [](void* given, const void* at, long long alignment, const char* file, int line,
                         int thread) -> int {
    auto& watcher = *static_cast<Watcher*>(given);
    if (watcher.finding_.kind != FindingKind::none) return 0;
    std::string where;
    std::string advice;
    if (Region* region = watcher.region_of(static_cast<const char*>(at), 1)) {
      where = " at " + watcher.place(*region, static_cast<const char*>(at), 1);
      if (!region->is_shared && (static_cast<const char*>(at) - region->array.start) % alignment == 0)
        advice = ". Where callers align it so, say alignment_bytes = \"" + std::to_string(alignment) +
                 "\" in the description";
    }
    watcher.finding_ = {FindingKind::misaligned,
                        file_name(file) + ":" + std::to_string(line) + ": Thread " + std::to_string(thread) +
                            " of block " + std::to_string(watcher.order_.block()) +
                            " makes a misaligned access" + where + ": its address is not a multiple of " +
                            std::to_string(alignment) + " bytes, which the type needs" + advice};
    return 0;
  };
  hooks_.overflow = [](void* given, const char* file, int line) {
    static_cast<Watcher*>(given)->overflows_.emplace(file_name(file), line);
  };
  hooks_.grid = [](void* given, long long block) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.settle();
    if (block < 0) {
      watcher.order_.grid_barrier();
    } else {
      watcher.order_.begin_block(static_cast<std::uint32_t>(block));
    }
    watcher.changed();
  };
  hooks_.runs_all = [](void* given) -> int {
    const auto& watcher = *static_cast<Watcher*>(given);
    return watcher.choose == nullptr || watcher.blocks_.size() == watcher.block_count_ ? 1 : 0;
  };
  hooks_.signal = [](void* given, const void* what, int thread, int waits) {
    auto& watcher = *static_cast<Watcher*>(given);
    watcher.settle();
    const auto who = static_cast<std::uint16_t>(thread);
    if (waits != 0) {
      watcher.order_.wait(what, who);
    } else {
      watcher.order_.arrive(what, who);
    }
  };
}

Watcher::Array Watcher::Array::of(const std::string& name, const char* start, std::int64_t bytes, DType dtype,
                                  const UserRecord* record) {
  if (record == nullptr) return {name, start, bytes, tunesmith::bytes(dtype)};
  return {name, start, bytes, record->layout.bytes, &record->layout};
}

void Watcher::begin(const ModuleMemory& memory, std::vector<Array> arrays, bool races, std::uint64_t most) {
  memory_ = memory;
  races_ = races;
  regions_.clear();
  regions_.reserve(arrays.size() + memory.arrays.size() + memory.variables.size() + 1);
  last_region_ = nullptr;
  for (Array& array : arrays) {
    Region& region = regions_.emplace_back();
    region.finest = std::clamp<std::int64_t>(array.element, 1, 4);
    if (array.structs != nullptr)
      for (const StructMember& member : array.structs->members)
        region.finest = std::min(region.finest, tunesmith::bytes(member.dtype));
    region.array = std::move(array);
  }
  for (const ModuleArray& variable : memory.variables) {
    Region& region = regions_.emplace_back();
    region.array = {"the variable " + variable.name, variable.start, variable.bytes, 1};
  }
  for (const ModuleArray& shared : memory.arrays) {
    Region& region = regions_.emplace_back();
    region.array = {"the shared array " + shared.name, shared.start, shared.bytes, 1};
    region.is_shared = true;
  }
  lasting_regions_ = regions_.size();
  own_start_ = own_end_ = nullptr;
  waits_ = has_signals_ = false;
  stuck_.clear();
  pending_ = {};
  replaced_ = {};
  finding_ = {};
  overflows_.clear();
  accesses_ = 0;
  most_ = most;
  begin_launch();
}

// All that the launches before have done lies before this one.
void Watcher::begin_launch() {
  settle();
  regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(lasting_regions_), regions_.end());
  for (Region& region : regions_) region.cells.clear();
  last_region_ = nullptr;
  chosen_ = false;
  next_ = 0;
  blocks_.clear();
  order_.begin();
  updated_by_.clear();
  updates_.clear();
  counter_ = nullptr;
  older_.clear();
  changed();
  if (older == Older::none) return;
  for (Region& region : regions_)
    if (!region.is_shared)
      region.found.assign(region.array.start, static_cast<std::size_t>(region.array.bytes));
}

void Watcher::end() { settle(); }

void Watcher::changed() {
  looks_ = 0;
  looked_at_.clear();
}

Watcher::Region* Watcher::region_of(const char* at, std::int64_t) {
  const auto holds = [&](const Region& region) {
    return at >= region.array.start && at < region.array.start + region.array.bytes;
  };
  if (last_region_ != nullptr && holds(*last_region_)) return last_region_;
  for (Region& region : regions_)
    if (holds(region)) return last_region_ = &region;
  return nullptr;
}

// The module's own variables are between the regions, threadIdx among them, which kernels read most often.
bool Watcher::is_of_module(const char* at) {
  if (at >= own_start_ && at < own_end_) return true;
  if (at < memory_.start || at >= memory_.end || (at >= memory_.shared_start && at < memory_.shared_end))
    return false;
  own_start_ = at < memory_.shared_start ? memory_.start : std::max(memory_.start, memory_.shared_end);
  own_end_ = at < memory_.shared_start ? std::min(memory_.end, memory_.shared_start) : memory_.end;
  for (const Region& region : regions_) {
    const char* const end = region.array.start + region.array.bytes;
    if (end <= at) {
      own_start_ = std::max(own_start_, end);
    } else if (region.array.start > at) {
      own_end_ = std::min(own_end_, region.array.start);
    } else {
      own_start_ = own_end_ = nullptr;
      return false;
    }
  }
  return true;
}

std::string Watcher::place(const Region& region, const char* at, std::int64_t bytes) const {
  const std::int64_t offset = at - region.array.start;
  const std::int64_t unit = region.is_shared ? std::max<std::int64_t>(bytes, 1) : region.array.element;
  if (region.is_shared && (bytes <= 1 || offset % unit != 0))
    return "byte " + std::to_string(offset) + " of " + region.array.name;
  const std::string element = "element " + std::to_string(offset / unit) + " of " + region.array.name;
  if (region.array.structs == nullptr) return element;
  const std::string member = name_at(*region.array.structs, offset % unit);
  return element + (member.empty() ? "" : ", its member " + member + ",");
}

bool Watcher::outside(const char* at, std::int64_t bytes, AccessKind kind) {
  const std::string does = writes(kind) ? "writes " : "reads ";
  const bool is_static_shared = at >= memory_.shared_start && at < memory_.shared_end;
  if (!is_static_shared) {
    const Region* nearest = nullptr;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const Region& region : regions_) {
      if (region.array.start >= memory_.start && region.array.start < memory_.end) continue;
      const char* const end = region.array.start + region.array.bytes;
      const std::int64_t distance = at < region.array.start ? region.array.start - at : at - end;
      if (distance >= least) continue;
      least = distance;
      nearest = &region;
    }
    constexpr std::int64_t near = 1 << 20;
    finding_.kind = FindingKind::outside;
    finding_.sentence = "The variant " + does;
    if (nearest == nullptr || least > near) {
      finding_.sentence += "memory that is in none of its arrays";
      return false;
    }
    const Array& array = nearest->array;
    const std::int64_t element = at < array.start ? -((array.start - at + array.element - 1) / array.element)
                                                  : (at - array.start) / array.element;
    finding_.sentence += std::string(nearest->is_shared ? "byte " : "element ") + std::to_string(element) +
                         " of " + array.name + ", which has " + std::to_string(array.bytes / array.element);
    return false;
  }
  if (at >= memory_.shared_start && at < memory_.shared_end) {
    const Region* before = nullptr;
    const Region* behind = nullptr;
    for (const Region& region : regions_) {
      if (!region.is_shared || region.array.start < memory_.shared_start ||
          region.array.start >= memory_.shared_end)
        continue;
      if (region.array.start <= at && (before == nullptr || region.array.start > before->array.start))
        before = &region;
      if (region.array.start > at && (behind == nullptr || region.array.start < behind->array.start))
        behind = &region;
    }
    std::string what = "shared memory outside its arrays";
    if (before != nullptr &&
        (behind == nullptr || at - (before->array.start + before->array.bytes) < behind->array.start - at)) {
      const std::int64_t offset = at - before->array.start;
      what = offset % bytes == 0 && before->array.bytes % bytes == 0
                 ? "element " + std::to_string(offset / bytes) + " of " + before->array.name +
                       ", which has " + std::to_string(before->array.bytes / bytes)
                 : "byte " + std::to_string(offset) + " of " + before->array.name + ", which has " +
                       std::to_string(before->array.bytes);
    } else if (behind != nullptr) {
      what = std::to_string(behind->array.start - at) + " bytes before the start of " + behind->array.name;
    }
    finding_ = {FindingKind::outside, "The variant " + does + what};
    return false;
  }
  return true;
}

bool Watcher::access(const char* at, std::int64_t bytes, AccessKind kind, int thread) {
  if (!settle()) return false;
  if (++accesses_ > most_) return false;
  if (is_of_module(at)) return true;
  Region* const region = region_of(at, bytes);
  if (region == nullptr) return outside(at, bytes, kind);
  if (at + bytes > region->array.start + region->array.bytes && !region->is_shared) {
    const Array& array = region->array;
    finding_ = {FindingKind::outside, std::string("The variant ") + (writes(kind) ? "writes" : "reads") +
                                          " beyond the end of " + array.name + ", from element " +
                                          std::to_string((at - array.start) / array.element) + " of " +
                                          std::to_string(array.bytes / array.element) + " on"};
    return false;
  }
  if (at + bytes > region->array.start + region->array.bytes)
    return outside(region->array.start + region->array.bytes, 1, kind);
  const bool may_wait = kind == AccessKind::volatile_read || kind == AccessKind::atomic;
  if (may_wait && !goes_on(*region, at, bytes, thread)) return false;
  if (!races_) {
    if (writes(kind)) remember(*region, at, bytes, kind, static_cast<std::uint16_t>(thread));
    return true;
  }
  const std::int64_t place = (at - region->array.start) | bytes;
  if ((place & (region->granule - 1)) != 0) divide(*region, place);
  if (region->cells.empty())
    region->cells.resize(static_cast<std::size_t>(region->array.bytes / region->granule + 1));
  order_.tick();
  const auto who = static_cast<std::uint16_t>(thread);
  if (kind == AccessKind::constant_read) return region->is_shared || check_constant(*region, at, bytes, who);
  if (kind == AccessKind::atomic || kind == AccessKind::atomic_in_block) {
    if (older != Older::none && is_of_one_other(*region, at) && shows_older(*region, at, bytes, who))
      return finding_.kind == FindingKind::none;
    if (!update(*region, at, bytes, kind, who)) return false;
    if (!region->is_shared) remember(*region, at, bytes, kind, who);
    return true;
  }
  if (kind == AccessKind::volatile_read && !region->is_shared) {
    waits_ = true;
    if (shows_older(*region, at, bytes, who)) return finding_.kind == FindingKind::none;
  }
  if (kind == AccessKind::volatile_read) order_.acquire(at, who);
  if (writes(kind)) {
    remember(*region, at, bytes, kind, who);
    pending_.time = now();
    return true;
  }
  return check_read(*region, at, bytes, kind, who);
}

void Watcher::divide(Region& region, std::int64_t place) {
  const std::int64_t granule = std::max(region.finest, place & -place);
  if (granule >= region.granule) return;
  const std::size_t times = static_cast<std::size_t>(region.granule / granule);
  region.granule = granule;
  if (region.cells.empty()) return;
  std::vector<Cell> cells(static_cast<std::size_t>(region.array.bytes / granule + 1));
  for (std::size_t n = 0; n < cells.size(); ++n) cells[n] = region.cells[n / times];
  region.cells = std::move(cells);
}

bool Watcher::check_constant(Region& region, const char* at, std::int64_t bytes, std::uint16_t thread) {
  for (std::int64_t byte = 0; byte < bytes; byte += region.granule) {
    const Cell& cell =
        region.cells[static_cast<std::size_t>((at + byte - region.array.start) / region.granule)];
    if (cell.written == 0) continue;
    finding_ = {FindingKind::race,
                "Thread " + std::to_string(thread) + " of block " + std::to_string(order_.block()) +
                    " reads " + place(region, at, bytes) + " by __ldg(), after thread " +
                    std::to_string(cell.writer) + " of block " + std::to_string(cell.writer_block) +
                    " has written it in the same launch: __ldg() may find what was there before; read it "
                    "plainly"};
    return false;
  }
  return true;
}

void Watcher::remember(Region& region, const char* at, std::int64_t bytes, AccessKind kind,
                       std::uint16_t thread) {
  if (bytes > static_cast<std::int64_t>(pending_.before.size())) return;
  pending_.region = &region;
  pending_.at = at;
  pending_.bytes = bytes;
  pending_.thread = thread;
  pending_.kind = static_cast<std::uint8_t>(kind);
  std::memcpy(pending_.before.data(), at, static_cast<std::size_t>(bytes));
}

// A block that waits for another one may look before that has written, so it may find what the word held
// before. A load that something puts in order behind the store finds what was stored.
bool Watcher::shows_older(Region& region, const char* at, std::int64_t bytes, std::uint16_t thread) {
  const Cell& cell = region.cells[static_cast<std::size_t>((at - region.array.start) / region.granule)];
  if (cell.written == 0 || cell.writer_block == order_.block() ||
      order_.is_before({cell.writer_block, cell.writer, cell.written}, thread))
    return false;
  has_signals_ = true;
  if (older == Older::none || bytes > most_of_a_word) return false;
  const auto found = older_.find(at);
  if (found == older_.end()) return false;
  const std::vector<Held>& held = found->second;
  const auto size = static_cast<std::size_t>(bytes);
  if (held.size() > 1 && std::memcmp(at, region.found.data() + (at - region.array.start), size) == 0) {
    late(region, at, bytes, cell.writer_block, order_.block());
    return true;
  }
  std::size_t& shown = shown_[{at, thread}];
  if (shown == (older == Older::all ? held.size() : 1)) return false;
  const Held& one = held[shown++];
  order_.acquire(at, thread, one.until);
  replaced_.at = const_cast<char*>(at);
  replaced_.bytes = bytes;
  std::memcpy(replaced_.now.data(), at, size);
  replaced_.shown = one.value;
  std::memcpy(replaced_.at, one.value.data(), size);
  return true;
}

bool Watcher::is_of_one_other(const Region& region, const char* at) const {
  if (region.is_shared) return false;
  const auto found = changers_.find({region.array.name, at - region.array.start});
  return found != changers_.end() && !found->second.are_several && found->second.block != order_.block();
}

bool Watcher::keep_older(Region& region, std::uint16_t thread) {
  if (older == Older::none || region.is_shared || pending_.bytes > most_of_a_word) return true;
  const auto size = static_cast<std::size_t>(pending_.bytes);
  std::vector<Held>& all = older_[pending_.at];
  const bool is_set_back =
      !all.empty() &&
      std::memcmp(pending_.at, region.found.data() + (pending_.at - region.array.start), size) == 0;
  Held& one = all.emplace_back();
  std::memcpy(one.value.data(), pending_.before.data(), size);
  one.until = order_.now();
  one.by = order_.block();
  if (!is_set_back) return true;
  // A word that more blocks change than the one that sets it and the one that sets it back is no flag.
  std::set<std::uint32_t> blocks;
  for (const Held& other : all) blocks.insert(other.by);
  if (blocks.size() > 2) return true;
  const Cell& cell =
      region.cells[static_cast<std::size_t>((pending_.at - region.array.start) / region.granule)];
  for (std::size_t r = 0; r < 2; ++r) {
    const bool is_of_others = cell.read[r] > 0 && cell.reader_block[r] != order_.block() &&
                              cell.reader_block[r] != cell.writer_block;
    if (is_of_others && !order_.is_before({cell.reader_block[r], cell.reader[r], cell.read[r]}, thread)) {
      late(region, pending_.at, pending_.bytes, order_.block(), cell.reader_block[r]);
      return false;
    }
  }
  return true;
}

void Watcher::late(const Region& region, const char* at, std::int64_t bytes, std::uint32_t by,
                   std::uint32_t reader) {
  finding_ = {FindingKind::race,
              "Block " + std::to_string(by) + " sets " + place(region, at, bytes) +
                  " back to what the launch found there, and nothing puts that behind block " +
                  std::to_string(reader) +
                  ", which looks at it: it may be late and wait for ever. Let the last block that needs it "
                  "set it back, or set it to zero before the launch"};
}

bool Watcher::goes_on(const Region& region, const char* at, std::int64_t bytes, int thread) {
  constexpr std::size_t patience = 20'000, of_a_word = 200;
  looked_at_.emplace(at, static_cast<std::uint16_t>(thread));
  if (++looks_ < patience + of_a_word * looked_at_.size()) return true;
  stuck_ = "The kernel waits for ever: thread " + std::to_string(thread) + " of block " +
           std::to_string(order_.block()) + " waits for a change of " + place(region, at, bytes);
  return false;
}

// An atomic operation is in order with other atomic operations, and with accesses before a release of the
// same word.
bool Watcher::update(Region& region, const char* at, std::int64_t bytes, AccessKind kind,
                     std::uint16_t thread) {
  const auto first = static_cast<std::size_t>((at - region.array.start) / region.granule);
  const auto last = static_cast<std::size_t>((at + bytes - 1 - region.array.start) / region.granule);
  for (std::size_t n = first; n <= last; ++n) {
    Cell& cell = region.cells[n];
    const bool is_here = cell.written > 0 && !(region.is_shared && cell.writer_block != order_.block());
    const bool is_of_block = kind == AccessKind::atomic_in_block ||
                             cell.kind == static_cast<std::uint8_t>(AccessKind::atomic_in_block);
    const bool conflicts = is_atomic(cell.kind)
                               ? is_of_block && cell.writer_block != order_.block()
                               : cell.kind != static_cast<std::uint8_t>(AccessKind::volatile_write);
    if (is_here && conflicts && !order_.is_before({cell.writer_block, cell.writer, cell.written}, thread)) {
      race(region, at, bytes, cell.writer_block, cell.writer, true, thread, true);
      if (is_of_block)
        finding_.sentence +=
            "; an operation whose name ends in _block is atomic among the threads of one block only";
      return false;
    }
    cell.written = now();
    cell.writer_block = order_.block();
    cell.writer = thread;
    cell.kind = static_cast<std::uint8_t>(kind);
  }
  waits_ = waits_ || !region.is_shared;
  order_.acquire(at, thread);
  order_.release(at, thread);
  const auto [by, is_first] = updated_by_.try_emplace(at, order_.block());
  const bool once = is_first || std::exchange(by->second, order_.block()) != order_.block();
  if (bytes == sizeof(std::uint32_t)) {  // perhaps a counter of blocks, which each block updates once
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    std::uint32_t& updates = updates_[at];
    if (once && value == updates && updates > 0 && updates + 1 == block_count_) counter_ = at;
    updates = once ? updates + 1 : std::numeric_limits<std::uint32_t>::max() / 2;
  }
  return true;
}

bool Watcher::check_read(Region& region, const char* at, std::int64_t bytes, AccessKind kind,
                         std::uint16_t thread) {
  const auto first = static_cast<std::size_t>((at - region.array.start) / region.granule);
  const auto last = static_cast<std::size_t>((at + bytes - 1 - region.array.start) / region.granule);
  for (std::size_t n = first; n <= last; ++n) {
    Cell& cell = region.cells[n];
    const bool is_here = cell.written > 0 && !(region.is_shared && cell.writer_block != order_.block());
    // Blocks wait for each other by volatile loads of another block's volatile stores, and so do the threads
    // of a block if the store stands behind a fence.
    const bool is_signal =
        kind == AccessKind::volatile_read &&
        cell.kind == static_cast<std::uint8_t>(AccessKind::volatile_write) &&
        (cell.writer_block != order_.block() || order_.has_fenced(cell.writer, cell.written));
    const bool is_left = counter_ != nullptr && counter_ != at && cell.writer_block != order_.block();
    // Who has stored the same value reads its own.
    const bool is_own =
        cell.repeated > cell.written && cell.repeater == thread && cell.repeater_block == order_.block();
    if (is_here && !is_own && (!is_atomic(cell.kind) || is_left) && !is_signal &&
        !order_.is_before({cell.writer_block, cell.writer, cell.written}, thread))
      return race(region, at, bytes, cell.writer_block, cell.writer, true, thread, false);
    if (cell.reader[0] != thread || cell.reader_block[0] != order_.block()) {
      cell.read[1] = cell.read[0];
      cell.reader[1] = cell.reader[0];
      cell.reader_block[1] = cell.reader_block[0];
      cell.is_volatile[1] = cell.is_volatile[0];
    }
    cell.read[0] = now();
    cell.reader[0] = thread;
    cell.reader_block[0] = order_.block();
    cell.is_volatile[0] = kind == AccessKind::volatile_read;
  }
  return true;
}

// The store that was reported last has taken place: checks what it changed.
bool Watcher::settle() {
  if (char* const at = std::exchange(replaced_.at, nullptr)) {
    const auto size = static_cast<std::size_t>(replaced_.bytes);
    // An atomic operation that would have changed the older value has put the present one back.
    if (std::memcmp(at, replaced_.shown.data(), size) == 0) std::memcpy(at, replaced_.now.data(), size);
  }
  if (pending_.region == nullptr) return finding_.kind == FindingKind::none;
  Region& region = *std::exchange(pending_.region, nullptr);
  const std::size_t size = static_cast<std::size_t>(pending_.bytes);
  const auto first = static_cast<std::size_t>((pending_.at - region.array.start) / region.granule);
  const auto last =
      static_cast<std::size_t>((pending_.at + pending_.bytes - 1 - region.array.start) / region.granule);
  if (std::memcmp(pending_.before.data(), pending_.at, size) == 0) {
    // An atomic operation that only looks at what another block has written.
    has_signals_ = has_signals_ || (is_atomic(pending_.kind) && is_of_one_other(region, pending_.at));
    if (races_ && pending_.kind == static_cast<std::uint8_t>(AccessKind::write))
      for (std::size_t n = first; n <= last; ++n) {
        Cell& cell = region.cells[n];
        cell.repeated = pending_.time;
        cell.repeater_block = order_.block();
        cell.repeater = pending_.thread;
      }
    return finding_.kind == FindingKind::none;
  }
  changed();
  if (!races_) return finding_.kind == FindingKind::none;
  // Who finds the value may have found it before a store that did not change it.
  if (pending_.kind == static_cast<std::uint8_t>(AccessKind::volatile_write))
    order_.release(pending_.at, pending_.thread);
  if (pending_.kind != static_cast<std::uint8_t>(AccessKind::write) && !keep_older(region, pending_.thread))
    return false;
  if (is_atomic(pending_.kind)) {
    const auto [found, is_first] = changers_.try_emplace(
        {region.array.name, pending_.at - region.array.start}, Changers{order_.block(), false});
    if (!is_first && found->second.block != order_.block()) found->second.are_several = true;
    return finding_.kind == FindingKind::none;
  }
  for (std::size_t n = first; n <= last; ++n) {
    Cell& cell = region.cells[n];
    const char* const here = region.array.start + static_cast<std::int64_t>(n) * region.granule;
    if (cell.written > 0 && !(region.is_shared && cell.writer_block != order_.block())) {
      bool ordered = order_.is_before({cell.writer_block, cell.writer, cell.written}, pending_.thread);
      if (!ordered && cell.writer_block != order_.block()) {
        auto updated = updated_by_.find(pending_.at);
        if (updated == updated_by_.end()) updated = updated_by_.find(here);
        const bool both_signal = pending_.kind == static_cast<std::uint8_t>(AccessKind::volatile_write) &&
                                 cell.kind != static_cast<std::uint8_t>(AccessKind::write);
        ordered = both_signal ||
                  (is_atomic(cell.kind) && updated != updated_by_.end() && updated->second == order_.block());
      }
      if (!ordered)
        return race(region, pending_.at, pending_.bytes, cell.writer_block, cell.writer, true,
                    pending_.thread, true);
    }
    const bool is_repeated = cell.repeated > cell.written &&
                             pending_.kind == static_cast<std::uint8_t>(AccessKind::write) &&
                             !(region.is_shared && cell.repeater_block != order_.block());
    if (is_repeated &&
        !order_.is_before({cell.repeater_block, cell.repeater, cell.repeated}, pending_.thread))
      return race(region, pending_.at, pending_.bytes, cell.repeater_block, cell.repeater, true,
                  pending_.thread, true);
    for (std::size_t r = 0; r < 2; ++r) {
      if (cell.read[r] == 0 || (region.is_shared && cell.reader_block[r] != order_.block())) continue;
      if (pending_.kind == static_cast<std::uint8_t>(AccessKind::volatile_write) &&
          (cell.reader_block[r] != order_.block() ||
           (cell.is_volatile[r] && order_.has_fenced(pending_.thread, pending_.time))))
        continue;
      if (!order_.is_before({cell.reader_block[r], cell.reader[r], cell.read[r]}, pending_.thread))
        return race(region, pending_.at, pending_.bytes, cell.reader_block[r], cell.reader[r], false,
                    pending_.thread, true);
    }
    cell.written = pending_.time;
    cell.writer_block = order_.block();
    cell.writer = pending_.thread;
    cell.kind = pending_.kind;
  }
  return finding_.kind == FindingKind::none;
}

bool Watcher::race(const Region& region, const char* at, std::int64_t bytes, std::uint32_t block,
                   std::uint16_t first, bool first_writes, std::uint16_t second, bool second_writes) {
  const std::string where = place(region, at, bytes);
  const auto does = [](bool written) { return written ? "writes " : "reads "; };
  if (block != order_.block()) {
    finding_ = {
        FindingKind::race,
        "Block " + std::to_string(order_.block()) + " " + does(second_writes) + where + ", which block " +
            std::to_string(block) + " " + (first_writes ? "writes" : "reads") +
            ", and nothing puts the two in order: it depends on the order of blocks, which run in "
            "any order and at the same time. " +
            (first_writes && second_writes
                 ? "If one block alone is to write it, an index or a stride is wrong; otherwise use atomic "
                   "operations"
                 : "Use atomic operations, or a __threadfence() between the access and an atomic "
                   "operation that announces it")};
    return false;
  }
  const bool same_warp = first / 32 == second / 32;
  finding_ = {FindingKind::race,
              "Thread " + std::to_string(first) + " of block " + std::to_string(order_.block()) + " " +
                  does(first_writes) + where + ", which thread " + std::to_string(second) + " " +
                  (second_writes ? "writes" : "reads") + " without a " +
                  (same_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()") +
                  " between them: it depends on the order of threads; is a barrier missing?"};
  return false;
}

}  // namespace tunesmith
