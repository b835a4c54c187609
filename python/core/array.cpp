// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>

#include "bind.h"
#include "cuda.h"
#include "generator/number_text.h"
#include "kept_object.h"

namespace tunesmith::python {
namespace {

// DLPack's structures, with the layout of its specification
// (https://dmlc.github.io/dlpack/latest/c_api.html).
struct DlTensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t dimensions;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct DlVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(DlVersioned*);
  std::uint64_t flags;
  DlTensor tensor;
};
// The table of functions of a library's type, __dlpack_c_exchange_api__ of DLPack 1.3.
struct DlExchange {
  std::uint32_t major, minor;
  DlExchange* older;
  int (*allocate)(DlTensor*, DlVersioned**, void*, void (*)(void*, const char*, const char*));
  int (*from_object)(void*, DlVersioned**);
  int (*to_object)(DlVersioned*, void**);
  int (*tensor_from_object)(void*, DlTensor*);
  int (*current_stream)(std::int32_t, std::int32_t, void**);
};
constexpr std::int32_t dl_cpu = 1;
constexpr std::int32_t dl_cuda = 2;
constexpr std::int32_t dl_cuda_host = 3;
constexpr std::int32_t dl_cuda_managed = 13;
constexpr std::uint64_t dl_read_only = 1;

struct Type {
  std::string_view name;
  char kind;  // the letter of NumPy's type strings: b, i, u, f, c; B for bfloat16
  std::int64_t bytes;
};
constexpr std::array types = {
    Type{"float32", 'f', 4}, Type{"float64", 'f', 8},   Type{"int32", 'i', 4},      Type{"int64", 'i', 8},
    Type{"float16", 'f', 2}, Type{"bfloat16", 'B', 2},  Type{"uint8", 'u', 1},      Type{"int8", 'i', 1},
    Type{"uint16", 'u', 2},  Type{"int16", 'i', 2},     Type{"uint32", 'u', 4},     Type{"uint64", 'u', 8},
    Type{"bool", 'b', 1},    Type{"complex64", 'c', 8}, Type{"complex128", 'c', 16}};

[[noreturn]] void refuse(const std::string& what) { throw nb::type_error(what.c_str()); }

const Type& type_of(char kind, std::int64_t bytes) {
  for (const Type& type : types) {
    if (type.kind == kind && type.bytes == bytes) return type;
  }
  refuse("The array's element type, kind '" + std::string(1, kind) + "' of " + std::to_string(bytes) +
         " bytes, is not known here; allowed are bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
         "float32, float64, complex64 and complex128.");
}

const Type& type_of(std::string_view name) {
  for (const Type& type : types) {
    if (type.name == name) return type;
  }
  refuse("The array's element type " + std::string(name) +
         " is not known here; allowed are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, "
         "float64, complex64 and complex128.");
}

void set_type(Array& array, const Type& type) {
  array.dtype = type.name;
  array.item_bytes = type.bytes;
}

void set_row_major_strides(Array& array) {
  array.strides.assign(array.shape.size(), 1);
  for (std::size_t k = array.shape.size(); k-- > 1;)
    array.strides[k - 1] = array.strides[k] * std::max<std::int64_t>(array.shape[k], 1);
}

// Sets strides in elements from strides in bytes.
void set_byte_strides(Array& array, const std::vector<std::int64_t>& strides) {
  array.strides.resize(strides.size());
  for (std::size_t k = 0; k < strides.size(); ++k) {
    if (strides[k] % array.item_bytes != 0)
      refuse("The array has a stride of " + std::to_string(strides[k]) +
             " bytes, which is not a multiple of its " + std::to_string(array.item_bytes) +
             "-byte elements; copy it first.");
    array.strides[k] = strides[k] / array.item_bytes;
  }
}

// object.NAME, its name is made once, which takes half the time of nb::handle::attr().
#define TUNESMITH_GET(object, name)                                                             \
  [&](nb::handle from) {                                                                        \
    static constinit KeptObject kept;                                                           \
    nb::handle interned = kept.get([] { return nb::steal(PyUnicode_InternFromString(name)); }); \
    PyObject* const found = PyObject_GetAttr(from.ptr(), interned.ptr());                       \
    if (found == nullptr) throw nb::python_error();                                             \
    return nb::steal(found);                                                                    \
  }(object)

// A table that threads share, of what is known of objects by their addresses. It keeps references to the last
// 16 of them, so that no other object gets their addresses.
template <typename Value>
class KnownObjects {
 public:
  std::optional<Value> find(nb::handle object) {
    const nb::ft_lock_guard lock(mutex_);
    for (const auto& [known, value] : entries_) {
      if (known == object.ptr()) return value;
    }
    return std::nullopt;
  }

  void add(nb::handle object, const Value& value) {
    nb::object replaced = nb::borrow(object);
    {
      const nb::ft_lock_guard lock(mutex_);
      auto& [known, its_value] = entries_[next_++ % entries_.size()];
      its_value = value;
      replaced = nb::steal(std::exchange(known, replaced.release().ptr()));
    }  // a reference is let go without the lock, because that may run Python
  }

 private:
  nb::ft_mutex mutex_;  // does nothing where the GIL is held
  std::array<std::pair<PyObject*, Value>, 16> entries_{};
  std::size_t next_ = 0;
};

std::vector<std::int64_t> integers(nb::handle sequence) {
  std::vector<std::int64_t> found;
  if (PyTuple_Check(sequence.ptr())) {
    const Py_ssize_t count = PyTuple_Size(sequence.ptr());
    found.resize(static_cast<std::size_t>(count));
    for (Py_ssize_t k = 0; k < count; ++k) {
      found[static_cast<std::size_t>(k)] = PyLong_AsLongLong(PyTuple_GetItem(sequence.ptr(), k));
      if (found[static_cast<std::size_t>(k)] == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    }
    return found;
  }
  for (nb::handle item : sequence) found.push_back(nb::cast<std::int64_t>(item));
  return found;
}

struct Class {
  ArrayLibrary library = ArrayLibrary::other;
  const char* refusal = nullptr;         // why its arrays are never read
  const DlExchange* exchange = nullptr;  // if its type has one of a version that is known here
};

const DlExchange* exchange_of(nb::handle type) {
  nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return nullptr;
  const auto* api =
      static_cast<const DlExchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->major != 1) api = api->older;
  return api;
}

// Returns why a subclass of NumPy's array is refused: NumPy computes its results in another way.
const char* refusal_of(nb::handle array) {
  if (nb::hasattr(array, "mask") && nb::hasattr(array, "filled"))
    return "A masked array was given, and these functions do not look at masks; give array.filled(value), or "
           "array.data where the mask does not matter.";
  if (nb::hasattr(array, "getA1"))
    return "A numpy.matrix was given, whose results would all have two dimensions; give "
           "numpy.asarray(matrix).";
  return nullptr;
}

// The class of a type, by the module that defines it. It is cached, because a type's answer never changes.
Class class_of(nb::handle object) {
  static constinit KnownObjects<Class> known;
  nb::handle type = object.type();
  if (const std::optional<Class> found = known.find(type)) return *found;
  std::string module;  // a type of ctypes may have None
  nb::try_cast(nb::getattr(type, "__module__", nb::none()), module);
  const std::string root = module.substr(0, module.find('.'));
  ArrayLibrary library = ArrayLibrary::other;
  if (root == "numpy") library = ArrayLibrary::numpy;
  if (root == "torch" || nb::hasattr(object, "__torch_function__")) library = ArrayLibrary::torch;
  if (root == "cupy") library = ArrayLibrary::cupy;
  if (root == "numba" || root == "numba_cuda_mlir") library = ArrayLibrary::numba;
  if (root == "jax" || root == "jaxlib") library = ArrayLibrary::jax;
  if (library == ArrayLibrary::other && PyObject_CheckBuffer(object.ptr()) != 0 &&
      nb::isinstance(object, nb::module_::import_("numpy").attr("ndarray")))
    library = ArrayLibrary::numpy;  // a subclass that another package defines
  const Class found = {library, library == ArrayLibrary::numpy ? refusal_of(object) : nullptr,
                       exchange_of(type)};
  known.add(type, found);
  return found;
}

// The type of a format of Python's struct module.
const Type& type_of_format(const char* format, std::int64_t bytes) {
  std::string_view text = format == nullptr ? "B" : format;
  if (!text.empty() && (text[0] == '@' || text[0] == '=' || text[0] == '<')) text.remove_prefix(1);
  if (text == "Zf" || text == "Zd") return type_of('c', bytes);
  if (text.size() == 1) {
    const char c = text[0];
    if (c == '?') return type_of('b', bytes);
    if (std::string_view("bhilqn").find(c) != std::string_view::npos) return type_of('i', bytes);
    if (std::string_view("BHILQN").find(c) != std::string_view::npos) return type_of('u', bytes);
    if (c == 'e' || c == 'f' || c == 'd') return type_of('f', bytes);
  }
  refuse("An array whose elements have the format \"" + std::string(text) +
         "\" cannot be used; allowed are booleans, integers, real and complex numbers in the machine's byte "
         "order.");
}

bool read_buffer(nb::handle object, Array& array) {
  auto* view = new Py_buffer{};
  if (PyObject_GetBuffer(object.ptr(), view, PyBUF_FULL_RO) != 0) {
    delete view;
    PyErr_Clear();
    return false;
  }
  array.owner = nb::capsule(view, [](void* data) noexcept {
    auto* held = static_cast<Py_buffer*>(data);
    PyBuffer_Release(held);
    delete held;
  });
  set_type(array, type_of_format(view->format, view->itemsize));
  if (view->suboffsets != nullptr)
    refuse("An array whose rows are reached by pointers cannot be used; copy it first.");
  array.data = view->buf;
  array.readonly = view->readonly != 0;
  if (view->shape != nullptr) {
    array.shape.assign(view->shape, view->shape + view->ndim);
  } else if (view->ndim > 0) {
    array.shape = {view->len / array.item_bytes};
  }
  if (view->strides != nullptr) {
    set_byte_strides(array, {view->strides, view->strides + view->ndim});
  } else {  // ctypes omits the strides
    set_row_major_strides(array);
  }
  return true;
}

void read_torch(nb::handle tensor, Array& array) {
  if (TUNESMITH_GET(tensor, "requires_grad").is(Py_True) &&
      nb::cast<bool>(nb::module_::import_("torch").attr("is_grad_enabled")()))
    refuse(
        "The tensor requires a gradient, which this function does not compute; give tensor.detach(), or "
        "import "
        "tunesmith.torch_ops and call an operator of torch.ops.tunesmith, most of which do.");
  static constinit KnownObjects<const Type*> known;
  nb::object dtype = TUNESMITH_GET(tensor, "dtype");
  const Type* type = known.find(dtype).value_or(nullptr);
  if (type == nullptr) {
    const auto text = nb::cast<std::string>(nb::str(dtype));  // "torch.float32"
    type = &type_of(std::string_view(text).substr(text.find('.') + 1));
    known.add(dtype, type);
  }
  set_type(array, *type);
  if (type->kind == 'c' && TUNESMITH_GET(tensor, "is_conj")().is(Py_True))
    refuse("The tensor is a view that PyTorch will conjugate when it is read; give tensor.resolve_conj().");
  if (TUNESMITH_GET(tensor, "is_neg")().is(Py_True))
    refuse("The tensor is a view that PyTorch will negate when it is read; give tensor.resolve_neg().");
  if (TUNESMITH_GET(tensor, "is_cuda").is(Py_True)) {
    array.device = nb::cast<int>(TUNESMITH_GET(TUNESMITH_GET(tensor, "device"), "index"));
  } else if (!TUNESMITH_GET(tensor, "is_cpu").is(Py_True)) {
    refuse("The tensor lies on the device \"" +
           nb::cast<std::string>(nb::str(TUNESMITH_GET(tensor, "device"))) + "\"; allowed are cpu and cuda.");
  }
  array.data = pointer_of(nb::cast<std::uintptr_t>(TUNESMITH_GET(tensor, "data_ptr")()));
  array.shape = integers(TUNESMITH_GET(tensor, "shape"));
  array.strides = integers(TUNESMITH_GET(tensor, "stride")());
  array.owner = nb::borrow(tensor);
}

void read_cupy(nb::handle object, Array& array) {
  nb::object dtype = TUNESMITH_GET(object, "dtype");
  array.device = nb::cast<int>(TUNESMITH_GET(TUNESMITH_GET(object, "device"), "id"));
  array.data = pointer_of(nb::cast<std::uintptr_t>(TUNESMITH_GET(TUNESMITH_GET(object, "data"), "ptr")));
  const auto letter = nb::cast<std::string>(TUNESMITH_GET(dtype, "kind"));
  const auto bytes = nb::cast<std::int64_t>(TUNESMITH_GET(dtype, "itemsize"));
  set_type(array, letter == "V" ? type_of(nb::cast<std::string>(TUNESMITH_GET(dtype, "name")))
                                : type_of(letter[0], bytes));
  array.shape = integers(TUNESMITH_GET(object, "shape"));
  set_byte_strides(array, integers(TUNESMITH_GET(object, "strides")));
  array.owner = nb::borrow(object);
}

// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, version 3 and before.
void read_cuda_fields(nb::handle object, nb::handle interface, Array& array) {
  nb::dict fields = nb::cast<nb::dict>(interface);
  const auto text = nb::cast<std::string>(fields["typestr"]);
  if (text.size() < 3 || text[0] == '>')
    refuse("An array with the type string \"" + text +
           "\" cannot be used; elements must be numbers in the machine's byte order.");
  const auto bytes = parsed_number<std::int64_t>(std::string_view(text).substr(2));
  if (!bytes)
    refuse("An array with the type string \"" + text +
           "\" cannot be used; \"<f4\" would be one of 4-byte floats.");
  set_type(array, type_of(text[1], *bytes));
  array.shape = integers(fields["shape"]);
  nb::tuple data = nb::cast<nb::tuple>(fields["data"]);
  array.data = pointer_of(nb::cast<std::uintptr_t>(data[0]));
  array.readonly = nb::cast<bool>(data[1]);
  if (fields.contains("strides") && !fields["strides"].is_none()) {
    set_byte_strides(array, integers(fields["strides"]));
  } else {
    set_row_major_strides(array);
  }
  if (fields.contains("stream") && !fields["stream"].is_none()) {
    const auto stream = nb::cast<std::uintptr_t>(fields["stream"]);
    array.stream = stream == 1 ? 0 : stream;  // 1 and 2 are the legacy and the per-thread default stream
  }
  array.device = device_of(array.data);  // the interface does not say it
  array.owner = nb::borrow(object);
}

std::string class_name(nb::handle object) {
  return nb::cast<std::string>(nb::str(object.type().attr("__name__")));
}

void read_cuda_interface(nb::handle object, nb::handle interface, Array& array) {
  const auto refuse_it = [&](const std::string& why) {
    refuse("The __cuda_array_interface__ of a value of the type " + class_name(object) +
           " cannot be read: " + why);
  };
  try {
    read_cuda_fields(object, interface, array);
  } catch (const std::bad_cast&) {
    refuse_it("an entry has a type or a size that the interface does not allow.");
  } catch (const nb::python_error& error) {
    if (error.matches(PyExc_KeyError))
      refuse_it("the entry " + nb::cast<std::string>(nb::str(error.value())) + " is missing.");
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_OverflowError)) throw;
    refuse_it(nb::cast<std::string>(nb::str(error.value())) + ".");
  }
}

void check_version(const DlVersioned& managed) {
  if (managed.major != 1)
    refuse("The array speaks version " + std::to_string(managed.major) + " of DLPack; this is version 1.");
}

bool is_on_cuda(std::int32_t type) {
  if (type != dl_cuda && type != dl_cuda_managed && type != dl_cpu && type != dl_cuda_host)
    refuse("The array lies on a device of DLPack's type " + std::to_string(type) +
           "; allowed are CPU (1), CUDA (2), pinned (3) and managed (13) memory.");
  return type == dl_cuda || type == dl_cuda_managed;
}

constexpr std::string_view dl_codes = "iuf.Bcb";  // DLDataTypeCode 0 to 6

void read_dl_tensor(const DlTensor& tensor, Array& array) {
  if (tensor.lanes != 1) refuse("An array of vectors of several lanes cannot be used.");
  const char letter = tensor.code < dl_codes.size() ? dl_codes[tensor.code] : '?';
  set_type(array, type_of(letter, tensor.bits / 8));
  array.device = is_on_cuda(tensor.device_type) ? tensor.device_id : -1;
  array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  array.shape.assign(tensor.shape, tensor.shape + tensor.dimensions);
  if (tensor.strides != nullptr) {
    array.strides.assign(tensor.strides, tensor.strides + tensor.dimensions);
  } else {
    set_row_major_strides(array);
  }
  if (array.library == ArrayLibrary::jax) array.readonly = true;  // JAX's arrays never change
}

void read_dlpack(nb::handle object, Array& array) {
  if (!nb::hasattr(object, "__dlpack_device__"))  // such as the tracers that jax.jit passes to a function
    refuse("A value of the type " + class_name(object) +
           " has __dlpack__ but no __dlpack_device__, so that it lies nowhere; give an array with elements "
           "in memory, outside of a function that is being traced.");
  nb::object where = object.attr("__dlpack_device__")();
  std::pair<std::int32_t, std::int32_t> place;
  if (!nb::try_cast(where, place))
    refuse("__dlpack_device__ of a value of the type " + class_name(object) + " gives " +
           nb::cast<std::string>(nb::repr(where)) + ", which is not a pair of small whole numbers.");
  const bool on_cuda = is_on_cuda(place.first);
  nb::dict arguments;
  arguments["max_version"] = nb::make_tuple(1, 1);
  if (on_cuda) arguments["stream"] = 1;  // the legacy default stream, on which the array is then used
  nb::object capsule;
  try {
    capsule = object.attr("__dlpack__")(**arguments);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // a library before DLPack 1.0 does not know max_version
    nb::dict older;
    if (on_cuda) older["stream"] = 1;
    capsule = object.attr("__dlpack__")(**older);
  }
  const DlTensor* tensor = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    const auto* managed =
        static_cast<DlVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    check_version(*managed);
    tensor = &managed->tensor;
    array.readonly = (managed->flags & dl_read_only) != 0;
  } else {
    tensor = static_cast<DlTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (tensor == nullptr) throw nb::python_error();
  }
  read_dl_tensor(*tensor, array);
  array.owner = capsule;  // its destructor gives the array back
}

nb::capsule owned(DlVersioned* managed) {
  return {managed, [](void* data) noexcept {
            auto* held = static_cast<DlVersioned*>(data);
            if (held->deleter != nullptr) held->deleter(held);
          }};
}

// By the functions of the type: no capsule is made, and work goes to the library's own stream.
void read_by_exchange(nb::handle object, const DlExchange& exchange, Array& array) {
  DlVersioned* managed = nullptr;
  if (exchange.from_object(object.ptr(), &managed) != 0) throw nb::python_error();
  array.owner = owned(managed);
  check_version(*managed);
  array.readonly = (managed->flags & dl_read_only) != 0;
  read_dl_tensor(managed->tensor, array);
  if (array.device < 0) return;
  void* stream = nullptr;
  if (exchange.current_stream(managed->tensor.device_type, managed->tensor.device_id, &stream) != 0)
    throw nb::python_error();
  array.stream = reinterpret_cast<std::uintptr_t>(stream);
}

struct AllocationError {
  std::string kind, message;
};

void keep_error(void* to, const char* kind, const char* message) {
  *static_cast<AllocationError*>(to) = {kind, message};
}

// A new array of the library of `like`, on its device; None if its type has no functions for that.
nb::object new_array(nb::handle like, const std::vector<std::int64_t>& shape, std::string_view dtype) {
  const DlExchange* exchange = class_of(like).exchange;
  if (exchange == nullptr) return nb::none();
  DlVersioned* given = nullptr;
  if (exchange->from_object(like.ptr(), &given) != 0) throw nb::python_error();
  const nb::capsule kept = owned(given);
  const Type& type = type_of(dtype);
  std::vector<std::int64_t> extents = shape;
  DlTensor wanted = {.data = nullptr,
                     .device_type = given->tensor.device_type,
                     .device_id = given->tensor.device_id,
                     .dimensions = static_cast<std::int32_t>(extents.size()),
                     .code = static_cast<std::uint8_t>(dl_codes.find(type.kind)),
                     .bits = static_cast<std::uint8_t>(8 * type.bytes),
                     .lanes = 1,
                     .shape = extents.data(),
                     .strides = nullptr,
                     .byte_offset = 0};
  AllocationError error;
  DlVersioned* made = nullptr;
  if (exchange->allocate(&wanted, &made, &error, keep_error) != 0)
    throw std::runtime_error("The library of a value of the type " + class_name(like) +
                             " made no array of that type and shape: " + error.kind + ": " + error.message);
  void* object = nullptr;
  if (exchange->to_object(made, &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace

std::string_view name(ArrayLibrary library) {
  static constexpr std::array<std::string_view, 6> names = {"numpy", "torch", "cupy",
                                                            "numba", "jax",   "other"};
  return names[static_cast<std::size_t>(library)];
}

ArrayLibrary library_of(nb::handle object) { return class_of(object).library; }

std::int64_t Array::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

bool Array::contiguous() const {
  std::int64_t step = 1;
  for (std::size_t k = shape.size(); k-- > 0;) {
    if (shape[k] == 0) return true;
    if (shape[k] != 1 && strides[k] != step) return false;
    step *= shape[k];
  }
  return true;
}

bool overlap(const Array& one, const Array& other) {
  const auto bytes = [](const Array& array) {  // of the first byte, and of the one behind the last
    const auto first = reinterpret_cast<std::intptr_t>(array.data);
    std::pair<std::intptr_t, std::intptr_t> range(first, first + array.item_bytes);
    for (std::size_t k = 0; k < array.shape.size(); ++k) {
      const std::int64_t reach = (array.shape[k] - 1) * array.strides[k] * array.item_bytes;
      (reach < 0 ? range.first : range.second) += reach;
    }
    return range;
  };
  if (one.elements() == 0 || other.elements() == 0) return false;
  const auto [first, end] = bytes(one);
  const auto [other_first, other_end] = bytes(other);
  return first < other_end && other_first < end;
}

bool is_array(nb::handle object) {
  const ArrayLibrary library = library_of(object);
  return (library != ArrayLibrary::other && library != ArrayLibrary::numpy) ||
         PyObject_CheckBuffer(object.ptr()) != 0 || nb::hasattr(object, "__dlpack__") ||
         nb::hasattr(object, "__cuda_array_interface__") || class_of(object).exchange != nullptr;
}

Array array_of(nb::handle object) {
  Array array;
  const Class its_class = class_of(object);
  if (its_class.refusal != nullptr) refuse(its_class.refusal);
  array.library = its_class.library;
  if (array.library == ArrayLibrary::torch) {
    read_torch(object, array);
    return array;
  }
  if (array.library == ArrayLibrary::cupy) {
    read_cupy(object, array);
    return array;
  }
  if (PyObject_CheckBuffer(object.ptr()) != 0 && array.library != ArrayLibrary::jax) {
    if (read_buffer(object, array)) return array;
    const nb::object dtype = nb::getattr(object, "dtype", nb::none());
    refuse("An array of the type " + class_name(object) + " whose elements have no buffer format" +
           (dtype.is_none() ? "" : std::string(" (") + nb::str(dtype).c_str() + ")") +
           " cannot be used; convert them to a numeric type, such as float32.");
  }
  if (its_class.exchange != nullptr) {
    read_by_exchange(object, *its_class.exchange, array);
    return array;
  }
  if (nb::hasattr(object, "__dlpack__")) {
    read_dlpack(object, array);
    return array;
  }
  nb::object interface = nb::getattr(object, "__cuda_array_interface__", nb::none());
  if (!interface.is_none()) {
    read_cuda_interface(object, interface, array);
    return array;
  }
  refuse("A value of the type " + class_name(object) +
         " is not an array; give one of NumPy, PyTorch, CuPy, Numba or JAX, or an object with __dlpack__.");
}

std::uintptr_t current_stream(const Array& array) {
  if (array.device < 0) return 0;
  if (array.stream) return *array.stream;
  if (array.library == ArrayLibrary::torch) {
    // The function that PyTorch's own compiled kernels call; the public function makes a Stream object first.
    static constinit KeptObject kept;
    nb::handle current = kept.get([]() -> nb::object {
      return nb::getattr(nb::module_::import_("torch._C"), "_cuda_getCurrentRawStream", nb::none());
    });
    if (!current.is_none()) return nb::cast<std::uintptr_t>(current(array.device));
    return nb::cast<std::uintptr_t>(
        nb::module_::import_("torch.cuda").attr("current_stream")(array.device).attr("cuda_stream"));
  }
  if (array.library == ArrayLibrary::cupy) {
    static constinit KeptObject kept;
    nb::handle current =
        kept.get([]() -> nb::object { return nb::module_::import_("cupy.cuda").attr("get_current_stream"); });
    return nb::cast<std::uintptr_t>(current(array.device).attr("ptr"));
  }
  return 0;
}

void bind_array(nb::module_& m) {
  m.def(
      "is_array", [](nb::handle object) { return is_array(object); }, nb::arg("object").none(),
      "Whether Array can read the object, by its type.");
  m.def(
      "kind_of", [](nb::handle object) { return name(library_of(object)); }, nb::arg("object").none(),
      "The library of an array, by its type: numpy, torch, cupy, numba, jax or other.");
  m.def(
      "new_array",
      [](nb::handle like, const std::vector<std::int64_t>& shape, const std::string& dtype) {
        return new_array(like, shape, dtype);
      },
      nb::arg("like").none(), nb::arg("shape"), nb::arg("dtype"),
      "A new array of the library and on the device of `like`, by the functions of its type "
      "(__dlpack_c_exchange_api__); None if it has none.");
  nb::class_<Array>(
      m, "Array",
      "Where another library's array lies, without a copy. Raises TypeError for what is no array of "
      "numbers, and ValueError for one that cannot be read in place.\n\n"
      ">>> seen = tunesmith.Array(np.ones((3, 4), np.float32))\n"
      ">>> seen.kind, seen.dtype, seen.shape, seen.strides\n"
      "('numpy', 'float32', (3, 4), (4, 1))")
      .def(
          "__init__", [](Array* self, nb::handle object) { new (self) Array(array_of(object)); },
          nb::arg("object").none())
      .def_prop_ro(
          "kind", [](const Array& self) { return name(self.library); },
          "numpy, torch, cupy, numba, jax or other.")
      .def_prop_ro(
          "dtype", [](const Array& self) { return self.dtype; }, "The element type, as NumPy spells it.")
      .def_ro("itemsize", &Array::item_bytes, "Bytes of an element.")
      .def_ro("device", &Array::device, "The CUDA device's ordinal, -1 for ordinary memory.")
      .def_prop_ro(
          "pointer", [](const Array& self) { return reinterpret_cast<std::uintptr_t>(self.data); },
          "The address of the first element.")
      .def_prop_ro(
          "shape", [](const Array& self) { return nb::tuple(nb::cast(self.shape)); }, "The extents.")
      .def_prop_ro(
          "strides", [](const Array& self) { return nb::tuple(nb::cast(self.strides)); }, "In elements.")
      .def_prop_ro("size", &Array::elements, "The number of elements.")
      .def_prop_ro("contiguous", &Array::contiguous, "Whether it is row-major without gaps.")
      .def_ro("readonly", &Array::readonly, "Whether it must not be written.")
      .def(
          "overlaps", [](const Array& self, const Array& other) { return overlap(self, other); },
          nb::arg("other"),
          "Whether they may have memory in common: the bytes from the first to the last element. Raises "
          "TypeError "
          "for what is no Array.")
      .def_prop_ro(
          "stream", [](const Array& self) { return current_stream(self); },
          "The handle of the stream that the array's library uses now; 0: the default stream.");
}

}  // namespace tunesmith::python
