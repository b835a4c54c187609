// SPDX-License-Identifier: Apache-2.0
// An object of Python that is made when it is first needed, and kept for the rest of the process.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace tunesmith::python {

namespace nb = nanobind;

class KeptObject {
 public:
  /// `make` returns the object. Threads that need it at the same time may all make one, and the first one
  /// counts: no thread waits for another one, which may wait for the interpreter.
  template <typename Make>
  nb::handle get(const Make& make) {
    PyObject* known = object_.load(std::memory_order_acquire);
    if (known != nullptr) return known;
    nb::object made = make();
    if (!made.is_valid()) throw nb::python_error();
    if (object_.compare_exchange_strong(known, made.ptr(), std::memory_order_acq_rel)) return made.release();
    return known;
  }

 private:
  std::atomic<PyObject*> object_ = nullptr;
};

}  // namespace tunesmith::python
