// SPDX-License-Identifier: Apache-2.0
// An array of any library: its address, shape, strides and element type, without a copy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tunesmith::python {

namespace nb = nanobind;

/// The library of an array: a result becomes an array of it, and its current stream is used.
enum class ArrayLibrary { numpy, torch, cupy, numba, jax, other };
std::string_view name(ArrayLibrary library);
ArrayLibrary library_of(nb::handle object);

struct Array {
  ArrayLibrary library = ArrayLibrary::numpy;
  std::string_view dtype;  ///< NumPy's name: "float32", "bfloat16"
  std::int64_t item_bytes = 0;
  int device = -1;  ///< the CUDA device's ordinal, -1 for memory of the host
  void* data = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements
  bool readonly = false;
  std::optional<std::uintptr_t> stream;  ///< the stream that the array's interface names
  nb::object owner;                      ///< keeps `data`

  std::int64_t elements() const;
  bool contiguous() const;  ///< row-major without gaps
};

/// Reads a NumPy array or another object with the buffer protocol, a PyTorch tensor, a CuPy array, an object
/// with the CUDA array interface (Numba), an object whose type has __dlpack_c_exchange_api__, or one with
/// __dlpack__ (JAX). Throws nb::type_error for any other object, and for an element type that has no name
/// here.
Array array_of(nb::handle object);

/// True if the byte ranges of the two arrays, from the first to the last element, overlap.
bool overlap(const Array& one, const Array& other);

/// True if array_of() can read the object, judged only by its type.
bool is_array(nb::handle object);

/// The pointer for an address or a handle that Python holds as a number.
inline void* pointer_of(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): there is no other way
}

/// The handle of the stream that the array's library uses now on its device; 0: the default stream.
std::uintptr_t current_stream(const Array& array);

}  // namespace tunesmith::python
