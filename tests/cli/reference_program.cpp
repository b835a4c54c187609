// SPDX-License-Identifier: Apache-2.0
// A program for `--reference` that gives the reference of y = 2 x: reference_program WHAT.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "right";
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t at = line.find(R"("problem": {"n": )");
    if (at == std::string::npos || line.find(R"("output": "y"})") == std::string::npos ||
        (line.find(R"({"name": "x", "role": "input", "dtype": "f32", "extents": [)") == std::string::npos &&
         line.find(R"({"name": "x", "role": "input", "dtype": "f16", "extents": [)") == std::string::npos)) {
      std::cout << "a question that was not expected: " << line << std::endl;
      continue;
    }
    std::vector<double> x(std::strtoul(line.c_str() + at + std::strlen(R"("problem": {"n": )"), nullptr, 10));
    std::cin.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
    if (what == "refuse") {
      std::cout << "n is odd here." << std::endl;
      continue;
    }
    if (what == "end") {
      std::fputs("no module named y\n", stderr);
      return 1;
    }
    if (what == "endless") {
      for (;;) std::cout << 'a';
    }
    for (double& value : x) value *= what == "wrong" ? 3 : 2;
    std::cout << "ok\n";
    std::cout.write(reinterpret_cast<const char*>(x.data()),
                    static_cast<std::streamsize>(x.size() * sizeof(double)));
    std::cout.flush();
  }
}
