// SPDX-License-Identifier: Apache-2.0
#include "dispatch/plan_cache.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "dispatch/fork.h"
#include "dispatch/thread_index.h"
#include "generator/error.h"

namespace tunesmith {
namespace {

std::size_t bytes_of(const Kernel& kernel) {
  if (!kernel.executable) return 0;
  const Variant& variant = kernel.variant;
  constexpr std::size_t executable = 2400;  // approximate: its work, its steps
  return executable + variant.config.capacity() + variant.source_hash.capacity() +
         variant.tuned_problem.capacity() + variant.tuned_on.capacity();
}

std::size_t bytes_of(const PlanState& plan) {
  std::size_t sum =
      sizeof(PlanState) + 2 * plan.problem_text.capacity() + plan.why_refuses_unaligned.capacity() +
      plan.arguments.capacity() * sizeof(PlanState::Argument) + bytes_of(plan.first) +
      bytes_of(plan.temporary_fallback) + bytes_of(plan.fallback_comes ? plan.first : plan.fallback);
  for (const PlanState::Failure& failure : plan.failures) sum += sizeof failure + failure.why.capacity();
  return sum;
}

// Most texts are words of few letters.
std::size_t hash_of(std::string_view text) {
  if (text.size() > 8) return std::hash<std::string_view>()(text);
  std::size_t letters = text.size();
  for (const char c : text) letters = letters << 8 | static_cast<unsigned char>(c);
  return letters;
}

bool is_same(const Value& value, const Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    const auto* its = std::get_if<std::int64_t>(&value);
    return its != nullptr && *its == *number;
  }
  const auto* its = std::get_if<std::string>(&value);
  return its != nullptr && *its == std::get<std::string_view>(field.value);
}

}  // namespace

Value value_of(const Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return *number;
  return std::string(std::get<std::string_view>(field.value));
}

// Hashes only the values: an op's fields have the same names each time.
Key::Key(std::string_view op_name, std::span<const Field> problem) : op(op_name), fields(problem) {
  if (fields.size() > most_fields) {
    throw UsageError("The " + std::string(op) + " problem has " + std::to_string(fields.size()) +
                     " fields; name each of the op's parameters once.");
  }
  hash = hash_of(op);
  for (const Field& field : fields) {
    const auto* number = std::get_if<std::int64_t>(&field.value);
    hash ^= number != nullptr ? static_cast<std::size_t>(*number)
                              : hash_of(std::get<std::string_view>(field.value));
    hash *= 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
}

PlanCache::KeyedPlan::KeyedPlan(const Key& key, std::shared_ptr<const PlanState> its_plan)
    : hash(key.hash), op(key.op), plan(std::move(its_plan)) {
  for (const Field& field : key.fields)
    fields.push_back({field.name.text().data(), std::string(field.name.text()), value_of(field)});
}

// A typed function uses the same literals each time, so comparing their addresses is mostly enough.
bool PlanCache::KeyedPlan::operator==(const Key& key) const {
  return hash == key.hash && op == key.op &&
         std::equal(
             fields.begin(), fields.end(), key.fields.begin(), key.fields.end(),
             [](const NamedValue& its, const Field& field) {
               const std::string_view name = field.name.text();
               return is_same(its.value, field) &&
                      ((its.literal == name.data() && its.name.size() == name.size()) || its.name == name);
             });
}

std::size_t PlanCache::KeyedPlan::bytes() const {
  constexpr std::size_t in_tables = 256;  // approximate: in the common table and in a shard
  std::size_t sum =
      in_tables + sizeof(KeyedPlan) + op.capacity() + fields.capacity() * sizeof(fields.front());
  for (const NamedValue& field : fields) {
    sum += field.name.capacity();
    if (const auto* text = std::get_if<std::string>(&field.value)) sum += text->capacity();
  }
  return sum;
}

PlanCache::Shard& PlanCache::own_shard() { return shards_[thread_index() % shards_.size()]; }

std::shared_ptr<const PlanState> PlanCache::find(const Key& key) {
  const Inside inside;
  Shard& shard = own_shard();
  {
    const std::scoped_lock lock(shard.mutex);
    if (const auto found = shard.plans.find(key); found != shard.plans.end()) return found->second;
  }
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : add_to(shard, *found);
}

// Adds a copy of the entry whose references are counted in this shard.
std::shared_ptr<const PlanState> PlanCache::add_to(Shard& shard, const KeyedPlanPointer& entry) {
  const auto own = std::make_shared<std::shared_ptr<const PlanState>>(entry->plan);
  const std::scoped_lock lock(shard.mutex);
  auto& plan = shard.plans[entry];
  if (plan == nullptr) plan = std::shared_ptr<const PlanState>(own, own->get());
  return plan;
}

std::shared_ptr<const PlanState> PlanCache::add(CachedPlan& cached, const Key& key) {
  const KeyedPlanPointer entry = std::make_shared<const KeyedPlan>(key, cached.plan);
  cached.bytes += entry->bytes();
  bytes_ += entry->bytes();
  cached.entries.push_back(entry);
  entries_.insert(entry);
  return add_to(own_shard(), entry);
}

void PlanCache::take_out(const KeyedPlanPointer& entry, PlanReferences& released) {
  for (Shard& shard : shards_) {
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.plans.find(entry);
    if (found == shard.plans.end()) continue;
    released.push_back(std::move(found->second));
    shard.plans.erase(found);
  }
  entries_.erase(entry);
}

std::shared_ptr<const PlanState> PlanCache::keep(const Key& key, const std::shared_ptr<PlanState>& plan) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return (*found)->plan;
  const std::size_t plan_bytes = bytes_of(*plan);
  CachedPlan& cached = plans_.emplace_back(
      CachedPlan{.plan = plan, .entries = {}, .plan_bytes = plan_bytes, .bytes = plan_bytes});
  bytes_ += plan_bytes;
  place_[plan.get()] = std::prev(plans_.end());
  return add(cached, key);
}

void PlanCache::also(const Key& key, const std::shared_ptr<const PlanState>& plan) {
  const Inside inside;
  const std::scoped_lock lock(mutex_);
  const auto place = place_.find(plan.get());
  if (place == place_.end() || entries_.find(key) != entries_.end()) return;
  add(*place->second, key);
}

bool PlanCache::replace(const PlanState& plan, std::shared_ptr<PlanState> better) {
  PlanReferences released;
  const std::scoped_lock lock(mutex_);
  const auto place = place_.find(&plan);
  if (place == place_.end()) return false;
  CachedPlan& cached = *place->second;
  place_[better.get()] = place->second;
  place_.erase(&plan);
  plan.outdated = true;
  const std::size_t better_bytes = bytes_of(*better);
  bytes_ += better_bytes - cached.plan_bytes;
  cached.bytes += better_bytes - cached.plan_bytes;
  cached.plan_bytes = better_bytes;
  for (KeyedPlanPointer& entry : cached.entries) {
    take_out(entry, released);
    auto changed = std::make_shared<KeyedPlan>(*entry);
    changed->plan = better;
    released.push_back(entry->plan);
    entry = std::move(changed);
    entries_.insert(entry);
  }
  released.push_back(std::exchange(cached.plan, std::move(better)));
  return true;
}

bool PlanCache::has(const PlanState& plan) {
  const std::scoped_lock lock(mutex_);
  return place_.contains(&plan);
}

std::shared_ptr<const PlanState> PlanCache::remove_oldest() {
  PlanReferences released;
  CachedPlan removed;
  const std::scoped_lock lock(mutex_);
  if (!plans_.empty()) removed = take_out(plans_.begin(), released);
  return removed.plan;
}

void PlanCache::remove(const PlanState& plan) {
  PlanReferences released;
  CachedPlan removed;
  const std::scoped_lock lock(mutex_);
  if (const auto place = place_.find(&plan); place != place_.end()) {
    plan.outdated = true;  // its holders ask for another one
    removed = take_out(place->second, released);
  }
}

PlanCache::CachedPlan PlanCache::take_out(std::list<CachedPlan>::iterator place, PlanReferences& released) {
  CachedPlan cached = std::move(*place);
  plans_.erase(place);
  place_.erase(cached.plan.get());
  bytes_ -= cached.bytes;
  for (const KeyedPlanPointer& entry : cached.entries) take_out(entry, released);
  return cached;
}

PlanCache::DuePlans PlanCache::take_due() {
  DuePlans due;
  const Clock::time_point now = Clock::now();
  const std::scoped_lock lock(mutex_);
  for (const CachedPlan& cached : plans_) {
    PlanState& plan = *cached.plan;
    const auto takes_fallback = [&](PlanState::FallbackState asked) {
      return plan.fallback_state.compare_exchange_strong(asked, PlanState::accepted);
    };
    bool fallback = takes_fallback(PlanState::requested);
    if (const Clock::time_point when = plan.try_again; when > now) {
      due.next = std::min(due.next, when);
    } else {
      plan.try_again = never;
      due.again.push_back(cached.plan);
      fallback |= takes_fallback(PlanState::did_not_compile);
    }
    if (fallback) due.fallbacks.push_back(cached.plan);
  }
  return due;
}

}  // namespace tunesmith
