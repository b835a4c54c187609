// SPDX-License-Identifier: Apache-2.0
// A dispatcher's plans, by problem. The common table has one mutex. In front of it are shards: a thread looks
// into its own shard, which it mostly does not share. References are counted in the shard, so that threads
// that look up the same problem do not write the same memory. A look-up that finds its plan in a shard does
// not allocate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "dispatch/plan_state.h"
#include "generator/values.h"

namespace tunesmith {

/// The field's value in the form that a problem holds.
Value value_of(const Field& field);

/// The key of a look-up: an op and a problem's fields, or a text as the only field.
struct Key {
  /// Throws UsageError if there are more fields than any op has parameters.
  Key(std::string_view op_name, std::span<const Field> problem);

  static constexpr std::size_t most_fields = 24;
  std::string_view op;
  std::span<const Field> fields;
  std::size_t hash;
};

/// The field of a problem that is given as a text.
inline Field as_text(std::string_view problem) { return {"the whole problem", problem}; }

class PlanCache {
 public:
  /// Returns null if there is no such plan.
  std::shared_ptr<const PlanState> find(const Key& key);

  /// Adds a plan, unless there is one of that key. Returns the plan that is kept.
  std::shared_ptr<const PlanState> keep(const Key& key, const std::shared_ptr<PlanState>& plan);
  /// Adds a key to a plan, if the plan is still kept.
  void also(const Key& key, const std::shared_ptr<const PlanState>& plan);
  /// Replaces `plan` by `better`; false if `plan` is no longer kept.
  bool replace(const PlanState& plan, std::shared_ptr<PlanState> better);

  bool has(const PlanState& plan);

  std::size_t bytes() const { return bytes_; }
  /// Evicts the oldest plan, for the caller to release; null if there is none.
  std::shared_ptr<const PlanState> remove_oldest();
  /// Evicts this plan, if it is kept.
  void remove(const PlanState& plan);

  struct DuePlans {
    std::vector<std::shared_ptr<PlanState>> fallbacks;  ///< plans whose launches asked for one
    std::vector<std::shared_ptr<PlanState>> again;  ///< plans for which something did not compile a while ago
    Clock::time_point next = never;                 ///< when more plans will be due in `again`
  };
  /// The plans that are due. Each is returned once.
  DuePlans take_due();

 private:
  struct NamedValue {
    const char* literal;  // address of the name; never read, its library may have been unloaded
    std::string name;
    Value value;
  };
  struct Entry {  // a plan by one of its keys
    Entry(const Key& key, std::shared_ptr<const PlanState> its_plan);
    bool operator==(const Key& key) const;
    std::size_t bytes() const;

    std::size_t hash;
    std::string op;
    std::vector<NamedValue> fields;
    std::shared_ptr<const PlanState> plan;
  };
  using EntryPointer = std::shared_ptr<const Entry>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const { return key.hash; }
    std::size_t operator()(const EntryPointer& entry) const { return entry->hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& key, const EntryPointer& entry) const { return *entry == key; }
    bool operator()(const EntryPointer& a, const EntryPointer& b) const { return a == b; }
  };
  struct alignas(64) Shard {  // aligned to a cache line of its own
    std::mutex mutex;
    std::unordered_map<EntryPointer, std::shared_ptr<const PlanState>, Hash, Equal> plans;
  };
  struct CachedPlan {
    std::shared_ptr<PlanState> plan;
    std::vector<EntryPointer> entries;
    std::size_t plan_bytes = 0;  // as when it was kept: its fallback may be made meanwhile
    std::size_t bytes = 0;       // with its entries
  };
  // Declared before any lock: released after all mutexes.
  using PlanReferences = std::vector<std::shared_ptr<const PlanState>>;

  Shard& own_shard();
  static std::shared_ptr<const PlanState> add_to(Shard& shard, const EntryPointer& entry);
  std::shared_ptr<const PlanState> add(CachedPlan& cached, const Key& key);
  void take_out(const EntryPointer& entry, PlanReferences& released);
  CachedPlan take_out(std::list<CachedPlan>::iterator place, PlanReferences& released);

  std::array<Shard, 32> shards_;
  std::mutex mutex_;             // guards the members below; locked before a shard's
  std::list<CachedPlan> plans_;  // oldest first
  std::unordered_map<const PlanState*, std::list<CachedPlan>::iterator> place_;
  std::unordered_set<EntryPointer, Hash, Equal> entries_;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace tunesmith
