// SPDX-License-Identifier: Apache-2.0
#include "memo.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "bind.h"
#include "cuda.h"

namespace tunesmith::python {
namespace {

constexpr std::size_t most_calls = 1024;
constexpr std::int64_t most_content = 4096;  // bytes

template <typename T>
void append(std::string& key, char tag, T value) {
  key.push_back(tag);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  key.append(bytes, sizeof(T));
}

nb::object not_recorded() { return nb::borrow(Py_NotImplemented); }

bool is_host(const nb::callable& default_device) {
  nb::object device = default_device();
  const char* text = PyUnicode_AsUTF8AndSize(device.ptr(), nullptr);
  return text != nullptr && std::strcmp(text, "host") == 0;
}

// Kernels need aligned elements; the function itself copies an array whose elements are not aligned.
bool is_aligned(const Array& array) {
  const auto bytes = static_cast<std::uintptr_t>(std::min<std::int64_t>(array.item_bytes, 8));
  return reinterpret_cast<std::uintptr_t>(array.data) % bytes == 0;
}

// The largest power of two, up to 16, that divides the address: a function may move several elements as one.
std::uintptr_t alignment_of(const Array& array) {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(array.data) | 16;
  return address & (~address + 1);
}

}  // namespace

Memo::Memo(std::vector<std::string> names, const std::vector<int>& arrays, const std::vector<int>& by_content,
           int more)
    : names_(std::move(names)),
      uses_(names_.size(), Use::setting),
      positional_(more < 0 ? uses_.size() : static_cast<std::size_t>(more)),
      other_(more < 0 ? Use::setting : Use::array),
      epoch_(epoch) {
  for (const int k : arrays) uses_.at(static_cast<std::size_t>(k)) = Use::array;
  for (const int k : by_content) uses_.at(static_cast<std::size_t>(k)) = Use::content;
}

// Appends a value to the key; false: calls with such a value are not recorded. The exact type counts:
// numpy.float64 is a subclass of Python's float, but is keyed as float64. Lists and dicts are copied, because
// other threads may change them.
bool Memo::describe(nb::handle value, Use use, CallDescription& seen) {
  std::string& key = seen.key;
  PyObject* const object = value.ptr();
  if (object == Py_None) {
    key.push_back('n');
  } else if (PyBool_Check(object)) {
    key.push_back(object == Py_True ? 'T' : 'F');
  } else if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) return false;
    append(key, 'i', number);
  } else if (PyFloat_CheckExact(object)) {
    append(key, 'f', PyFloat_AsDouble(object));
  } else if (PyUnicode_CheckExact(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) {
      PyErr_Clear();
      return false;
    }
    append(key, 's', size);
    key.append(text, static_cast<std::size_t>(size));
  } else if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    const nb::tuple all = nb::tuple(value);
    append(key, PyTuple_CheckExact(object) ? 't' : 'l', all.size());
    for (nb::handle one : all) {
      if ((is_array(one) && use != Use::setting) || !describe(one, use, seen)) return false;
    }
  } else if (PyDict_CheckExact(object)) {
    const nb::list all = nb::borrow<nb::dict>(value).items();
    append(key, 'm', all.size());
    for (nb::handle item : all) {
      nb::handle one = PyTuple_GetItem(item.ptr(), 1);
      if (is_array(one) || !describe(PyTuple_GetItem(item.ptr(), 0), use, seen) || !describe(one, use, seen))
        return false;
    }
  } else if (is_array(value)) {
    try {
      seen.arrays.push_back(array_of(value));
    } catch (const std::exception&) {
      return false;  // the function itself says why
    }
    const Array& array = seen.arrays.back();
    if (array.library != ArrayLibrary::numpy && array.library != ArrayLibrary::torch &&
        array.library != ArrayLibrary::cupy)
      return false;
    append(key, 'a', array.library);
    append(key, 'd', array.dtype.data());  // each name stands once in the program
    append(key, array.readonly ? 'r' : 'w', array.device);
    append(key, 'x', array.shape.size());
    for (std::size_t k = 0; k < array.shape.size(); ++k) {
      append(key, 'e', array.shape[k]);
      append(key, 'p', array.strides[k]);
    }
    if (array.elements() == 0 || !is_aligned(array)) return false;
    if (use == Use::setting && array.device >= 0) return false;  // reading its value would wait for the GPU
    if (use != Use::array && array.device < 0) {
      const std::int64_t bytes = array.elements() * array.item_bytes;
      if (!array.contiguous() || bytes > most_content) return false;
      key.append(static_cast<const char*>(array.data), static_cast<std::size_t>(bytes));
      seen.arrays.pop_back();
    } else {
      append(key, 'o', alignment_of(array));
      seen.objects.push_back(nb::borrow(value));
    }
  } else {
    return false;
  }
  return true;
}

bool Memo::describe(const nb::tuple& args, const nb::dict& kwargs, CallDescription& seen) const {
  std::size_t k = 0;
  for (nb::handle value : args) {
    if (!describe(value, k < positional_ ? uses_[k] : other_, seen)) return false;
    ++k;
  }
  for (const auto& [name, value] : kwargs) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) return false;
    append(seen.key, 'k', size);
    seen.key.append(text, static_cast<std::size_t>(size));
    Use use = other_;
    for (std::size_t n = 0; n < names_.size(); ++n) {
      if (names_[n] == std::string_view(text, static_cast<std::size_t>(size))) use = uses_[n];
    }
    if (!describe(value, use, seen)) return false;
  }
  return !seen.arrays.empty();
}

nb::object Memo::launch(const nb::tuple& args, const nb::dict& kwargs, const nb::callable& default_device) {
  Calls forgotten;  // let go without the lock, because that may run Python
  bool is_empty = false;
  {
    const nb::ft_lock_guard lock(mutex_);
    if (const std::uint64_t now = epoch; epoch_ != now) {
      forgotten.swap(calls_);
      epoch_ = now;
    }
    is_empty = calls_.empty();
  }
  CallDescription seen;
  if (is_empty || !describe(args, kwargs, seen)) return not_recorded();
  std::shared_ptr<const Call> call;
  {
    const nb::ft_lock_guard lock(mutex_);
    if (const auto found = calls_.find(seen.key); found != calls_.end()) call = found->second;
  }
  if (!call) return not_recorded();
  if (call->device < 0 && !is_host(default_device)) return not_recorded();
  const std::vector<Array>& arrays = seen.arrays;
  for (const Slot& result :
       call->results) {  // a result would be written while it is read: the function itself makes a copy
    if (result.from != Slot::argument) continue;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (k != result.index && overlap(arrays[k], arrays[result.index])) return not_recorded();
    }
  }
  std::vector<nb::object> made;
  std::vector<void*> made_data;
  for (const nb::object& make : call->make) {
    made.push_back(make());
    made_data.push_back(array_of(made.back()).data);
  }
  std::vector<std::pair<Plan, std::vector<void*>>> launches;
  for (const Step& step : call->steps) {
    std::vector<void*> pointers;
    for (const Slot& slot : step.arrays) {
      switch (slot.from) {
        case Slot::nothing:
          pointers.push_back(nullptr);
          break;
        case Slot::argument:
          pointers.push_back(arrays[slot.index].data);
          break;
        case Slot::made:
          pointers.push_back(made_data[slot.index]);
          break;
        case Slot::constant:
          pointers.push_back(call->constants[slot.index].data);
          break;
      }
    }
    launches.emplace_back(nb::inst_ptr<PyPlan>(step.plan)->now(), std::move(pointers));
  }
  void* const stream = pointer_of(current_stream(arrays.front()));
  Status status;
  {
    nb::gil_scoped_release release;
    std::optional<CurrentDevice> current;
    if (call->device >= 0) current.emplace(call->device);
    for (std::size_t k = 0; k < launches.size() && status; ++k) {
      const auto& [plan, pointers] = launches[k];
      const std::vector<double>& numbers = call->steps[k].numbers;
      status = numbers.empty() ? plan.launch(pointers, stream) : plan.launch(pointers, numbers, stream);
    }
  }
  if (!status) raise(status);
  const auto given_back = [&](const Slot& slot) {
    return slot.from == Slot::argument ? seen.objects[slot.index] : made[slot.index];
  };
  if (call->is_tuple) {
    nb::list results;
    for (const Slot& slot : call->results) results.append(given_back(slot));
    return nb::tuple(results);
  }
  nb::object result = given_back(call->results.front());
  if (!call->check.is_none() && !nb::cast<bool>(call->check(result))) return not_recorded();
  return call->is_number ? nb::object(result[nb::make_tuple()]) : result;
}

nb::object Memo::key(const nb::tuple& args, const nb::dict& kwargs) const {
  CallDescription seen;
  if (!describe(args, kwargs, seen)) return nb::none();
  return nb::bytes(seen.key.data(), seen.key.size());
}

void Memo::record(const nb::bytes& key, const nb::tuple& args, const nb::dict& kwargs,
                  const nb::list& launches, const nb::list& allocated, const nb::list& constants,
                  const nb::callable& allocator, const nb::callable& default_device, nb::handle check,
                  nb::handle value, bool is_number) {
  CallDescription seen;
  if (!describe(args, kwargs, seen)) return;
  if (seen.key != std::string_view(key.c_str(), key.size())) return;  // another thread has changed a setting
  const std::vector<Array>& arrays = seen.arrays;
  for (std::size_t k = 1; k < arrays.size(); ++k) {  // two equal pointers cannot be told apart
    for (std::size_t n = 0; n < k; ++n) {
      if (arrays[n].data == arrays[k].data) return;
    }
  }
  auto call = std::make_shared<Call>();
  call->device = arrays.front().device;
  for (const Array& array : arrays) {
    if (array.device != call->device) return;
  }
  if (call->device < 0 && !is_host(default_device)) return;
  std::vector<Array> made;
  for (nb::handle one : allocated) made.push_back(*nb::inst_ptr<Array>(one));
  std::vector<std::size_t> used(made.size(), 0);  // the place in call->make, from 1 on
  const auto slot_of = [&](const Array& array) -> std::optional<Slot> {
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (arrays[k].data == array.data) return Slot{Slot::argument, k};
    }
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (made[k].data == array.data) return Slot{Slot::made, k};
    }
    for (nb::handle one : constants) {
      const Array& known = *nb::inst_ptr<Array>(one);
      if (known.data != array.data) continue;
      call->constants.push_back(known);
      return Slot{Slot::constant, call->constants.size() - 1};
    }
    return std::nullopt;  // such as a converted copy
  };

  std::vector<std::optional<Array>> returned(made.size());  // the array that the caller gets
  const auto result_of = [&](nb::handle one) -> std::optional<Slot> {
    for (std::size_t k = 0; k < seen.objects.size(); ++k) {
      if (seen.objects[k].is(one)) return Slot{Slot::argument, k};
    }
    if (!is_array(one)) return std::nullopt;
    const Array array = array_of(one);
    for (std::size_t k = 0; k < made.size(); ++k) {
      if (made[k].data != array.data || !array.contiguous() || array.dtype != made[k].dtype ||
          array.elements() != made[k].elements() || array.library != arrays.front().library || returned[k])
        continue;
      returned[k] = array;
      return Slot{Slot::made, k};
    }
    return std::nullopt;
  };
  call->is_tuple = PyTuple_CheckExact(value.ptr());
  const nb::tuple values = call->is_tuple ? nb::borrow<nb::tuple>(value) : nb::make_tuple(nb::borrow(value));
  for (nb::handle one : values) {
    const std::optional<Slot> result = result_of(one);
    if (!result) return;
    call->results.push_back(*result);
  }

  // A new array counts only once a step has written it: otherwise its contents come from other code, and
  // would be missing in a repetition.
  std::vector<bool> written(made.size(), false);
  std::vector<bool> is_done(call->results.size(), false);
  for (nb::handle entry : launches) {
    nb::tuple parts = nb::cast<nb::tuple>(entry);
    Step step{nb::borrow(parts[0]), {}, nb::cast<std::vector<double>>(parts[2])};
    const std::vector<Argument>& expected = nb::inst_ptr<PyPlan>(step.plan)->op->arguments;
    for (nb::handle one : parts[1]) {
      if (one.is_none()) {
        step.arrays.emplace_back();
        continue;
      }
      const std::optional<Slot> slot = slot_of(*nb::inst_ptr<Array>(one));
      if (!slot) return;
      const bool is_read = expected[step.arrays.size()].role != Role::output;
      if (is_read && slot->from == Slot::made && !written[slot->index]) return;
      step.arrays.push_back(*slot);
    }
    is_done.assign(is_done.size(), false);
    for (std::size_t k = 0; k < step.arrays.size(); ++k) {
      const Slot& slot = step.arrays[k];
      if (slot.from == Slot::nothing || expected[k].role == Role::input) continue;
      if (slot.from == Slot::made) written[slot.index] = true;
      for (std::size_t n = 0; n < is_done.size(); ++n)
        is_done[n] =
            is_done[n] || (slot.from == call->results[n].from && slot.index == call->results[n].index);
    }
    call->steps.push_back(std::move(step));
  }
  // Otherwise something other than a launch has made a result.
  if (std::find(is_done.begin(), is_done.end(), false) != is_done.end()) return;

  for (Step& step : call->steps) {
    for (Slot& slot : step.arrays) {
      if (slot.from != Slot::made) continue;
      std::size_t& place = used[slot.index];
      if (place == 0) {
        const Array& array = returned[slot.index] && !is_number ? *returned[slot.index] : made[slot.index];
        call->make.push_back(allocator(seen.objects.front(), nb::tuple(nb::cast(array.shape)), array.dtype));
        place = call->make.size();
      }
      slot.index = place - 1;
    }
  }
  for (Slot& result : call->results) {
    if (result.from == Slot::made) result.index = used[result.index] - 1;
  }
  call->is_number = is_number;
  call->check = nb::borrow(check);
  Calls forgotten;
  std::shared_ptr<const Call> kept = std::move(call);
  const nb::ft_lock_guard lock(mutex_);
  if (calls_.size() >= most_calls) forgotten.swap(calls_);
  calls_[seen.key].swap(kept);
}

void bind_memo(nb::module_& m) {
  nb::class_<Memo>(
      m, "Memo", "Calls of a function that were seen before, by what they launch; see _recording.recorded().")
      .def(nb::init<std::vector<std::string>, std::vector<int>, std::vector<int>, int>(), nb::arg("names"),
           nb::arg("arrays"), nb::arg("by_content") = std::vector<int>(), nb::arg("more") = -1)
      .def("launch", &Memo::launch, nb::arg("args"), nb::arg("kwargs"), nb::arg("default_device"))
      .def("key", &Memo::key, nb::arg("args"), nb::arg("kwargs"))
      .def("record", &Memo::record, nb::arg("key"), nb::arg("args"), nb::arg("kwargs"), nb::arg("launches"),
           nb::arg("allocated"), nb::arg("constants"), nb::arg("allocator"), nb::arg("default_device"),
           nb::arg("check").none(), nb::arg("value").none(), nb::arg("is_number"))
      .def_static("forget", &Memo::forget);
}

}  // namespace tunesmith::python
