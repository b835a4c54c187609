// SPDX-License-Identifier: Apache-2.0
// Uses the version of the library that it was compiled and linked with, through C++ and through C.
#include <cstring>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "tunesmith/conv2d.h"
#include "tunesmith/tunesmith.h"

#ifndef C_FIRST  // whether C's function is called before that of C++
#define C_FIRST false
#endif

namespace {

double by_cpp() {
  static tunesmith::Dispatcher dispatcher(  // its kernels stay loaded while the other version loads its own
      {.device = "host", .database = "", .compile = tunesmith::Compile::never, .cache_folder = ""});
  const std::vector<float> image(20, 1);
  const std::vector<float> mask = {1, 2, 3, 4};
  std::vector<float> output(20);
  const tunesmith::Status status =
      tunesmith::conv2d(dispatcher, image.data(), mask.data(), output.data(),
                        {.height = 4, .width = 5, .mask_height = 2, .mask_width = 2});
  if (!status) throw std::runtime_error(status.message());
  return output[7];
}

double by_c() {
  tunesmith_dispatcher* dispatcher = nullptr;
  tunesmith_plan* plan = nullptr;
  double input[2] = {3, 4};
  double output[1] = {0};
  void* const arguments[] = {input, output};
  if (tunesmith_dispatcher_create("device=host database=\"\" cache_folder=\"\" compile=never", &dispatcher) !=
          0 ||
      tunesmith_plan_create(dispatcher, "reduce", "length=2 function=sum dtype=f64", &plan) != 0 ||
      tunesmith_plan_launch(plan, arguments, 2, nullptr, nullptr) != 0)
    throw std::runtime_error(tunesmith_message());
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
  return output[0];
}

std::string caught() {
  try {
    tunesmith::Dispatcher dispatcher({.device = "nosuch"});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// "the version that was compiled, the one that is linked: sums, the namespace, what was caught"
extern "C" const char* RUN() {
  static std::string text;
  double c = C_FIRST ? by_c() : 0;
  const double cpp = by_cpp();
  if (!C_FIRST) c = by_c();
  text = std::string(TUNESMITH_VERSION) + " " + tunesmith_version() + ": " + std::to_string(cpp) + " " +
         std::to_string(c) + "\n" + typeid(tunesmith::Plan).name() + "\n" + caught();
  return text.c_str();
}

// The address of the function that this library calls.
extern "C" const void* VERSION_OF() { return reinterpret_cast<const void*>(&tunesmith_version); }
