// SPDX-License-Identifier: Apache-2.0
// Results that functions derive from a value and that are asked for often, such as a problem's parsed
// expression. They are stored with the value and its copies; this class does not know the value's type.
#pragma once

#include <atomic>
#include <utility>

namespace tunesmith {

/// A result is made when it is first asked for, and never changes. Copies share the results that exist and
/// those made later. Several threads may ask at the same time. There is no lock, so fork() cannot copy a held
/// one.
class DerivedData {
 public:
  DerivedData() = default;
  DerivedData(const DerivedData& other) noexcept : shared_(other.shared_.load(std::memory_order_acquire)) {
    if (Shared* const shared = shared_.load(std::memory_order_relaxed))
      shared->owners.fetch_add(1, std::memory_order_relaxed);
  }
  DerivedData(DerivedData&& other) noexcept : shared_(other.shared_.exchange(nullptr)) {}
  DerivedData& operator=(DerivedData other) noexcept {
    other.shared_ = shared_.exchange(other.shared_);
    return *this;
  }
  ~DerivedData() {
    Shared* const shared = shared_.load(std::memory_order_acquire);
    if (shared != nullptr && shared->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
  }

  /// Returns make(value); the address of `make` is the key. The result lives as long as one of the copies; it
  /// must not contain one of them.
  template <typename T, typename Value>
  const T& get(const Value& value, T (*make)(const Value&)) const {
    const auto maker = reinterpret_cast<void (*)()>(make);
    std::atomic<Result*>& first = shared().first;
    for (const Result* its = first.load(std::memory_order_acquire); its != nullptr; its = its->next)
      if (its->maker == maker) return static_cast<const ResultOf<T>*>(its)->result;
    // If two threads make the result at the same time, each keeps its own: both are right.
    auto* const made = new ResultOf<T>(maker, make(value));
    made->next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(made->next, made, std::memory_order_release)) continue;
    return made->result;
  }

  /// Always equal: values that are equal have equal derived results.
  bool operator==(const DerivedData& /*other*/) const { return true; }

 private:
  struct Result {
    explicit Result(void (*its_maker)()) : maker(its_maker) {}
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;
    virtual ~Result() = default;

    void (*maker)();
    Result* next = nullptr;
  };
  template <typename T>
  struct ResultOf : Result {
    ResultOf(void (*its_maker)(), T its_result) : Result(its_maker), result(std::move(its_result)) {}

    T result;
  };
  struct Shared {
    Shared() = default;
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() {
      for (Result* its = first; its != nullptr;) delete std::exchange(its, its->next);
    }

    std::atomic<long> owners = 1;
    std::atomic<Result*> first = nullptr;
  };

  Shared& shared() const {
    Shared* known = shared_.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto* const made = new Shared;
    if (shared_.compare_exchange_strong(known, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *known;
  }

  mutable std::atomic<Shared*> shared_ = nullptr;
};

}  // namespace tunesmith
