// SPDX-License-Identifier: Apache-2.0
// An application that ships a kernel of its own, y = 2 x, as `tunesmith export twice.cu` wrote it: without a
// database, a cache and a compiler.
//
//   shipped_kernel FILE.cu N [host_binaries=off]
//
// Prints the dispatcher's notes, the kind of its answer, and the variant that it launches. Exit code 0 if the
// result is right.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tunesmith/dispatcher.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  try {
    tunesmith::Dispatcher dispatcher({.device = "host",
                                      .database = "",
                                      .kernels = {arguments[1]},
                                      .host_binaries = count == 3,
                                      .compile = tunesmith::Compile::never,
                                      .cache_folder = ""});
    for (const std::string& note : dispatcher.notes()) std::printf("%s\n", note.c_str());
    const auto n = static_cast<std::size_t>(std::stoul(arguments[2]));
    std::vector<float> x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    const tunesmith::Plan plan = dispatcher.plan("twice", "n=" + std::to_string(n));
    void* const pointers[] = {x.data(), y.data()};
    const tunesmith::Status status = plan.launch(pointers);
    std::printf("match: %s, %s\n", std::string(name(plan.match())).c_str(), plan.variant().config.c_str());
    for (const std::string& sentence : plan.explanation(true)) std::printf("%s\n", sentence.c_str());
    for (std::size_t i = 0; i < n; ++i)
      if (!status || y[i] != 2 * x[i]) return 1;
    return 0;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}
