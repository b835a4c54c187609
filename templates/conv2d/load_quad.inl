// SPDX-License-Identifier: Apache-2.0
// Loads a quad of a tile into `quad`. Needs INSIDE, VECTOR, `window`, the quad's `row` and `column`, and its
// address `from`.

Vector<float, 4> quad = {{0, 0, 0, 0}};
if constexpr (VECTOR == 4) {
  if (INSIDE || (static_cast<unsigned>(row) < static_cast<unsigned>(window.height) &&
                 static_cast<unsigned>(column) < static_cast<unsigned>(window.width))) {
    quad = load_vector<4>(from);
  }
} else {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (INSIDE || (static_cast<unsigned>(row) < static_cast<unsigned>(window.height) &&
                   static_cast<unsigned>(column + e) < static_cast<unsigned>(window.width))) {
      quad.element[e] = from[e];
    }
  }
}
