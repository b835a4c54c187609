// SPDX-License-Identifier: Apache-2.0
// The smallest application in C: one correlation of an image with a 3 x 3 mask.
#include <stdio.h>

#include "tunesmith/tunesmith.h"

int main(void) {
  static float image[60000], mask[9], output[60000];  // 200 x 300, 3 x 3
  for (int i = 0; i < 60000; ++i) image[i] = 2;
  for (int i = 0; i < 9; ++i) mask[i] = 1;
  void* const arguments[] = {image, mask, output};

  tunesmith_dispatcher* dispatcher = NULL;
  tunesmith_plan* plan = NULL;
  // With "device=cuda", the first CUDA device, the pointers would have to come from cudaMalloc.
  if (tunesmith_dispatcher_create("device=host", &dispatcher) != TUNESMITH_SUCCESS ||
      tunesmith_plan_create(dispatcher, "conv2d", "height=200 width=300 mask_height=3 mask_width=3", &plan) !=
          TUNESMITH_SUCCESS ||
      tunesmith_plan_launch(plan, arguments, 3, NULL, NULL) != TUNESMITH_SUCCESS) {
    fprintf(stderr, "%s\n", tunesmith_message());
  } else {
    printf("%s: in the middle %g, in the corner %g\n", tunesmith_plan_template(plan), output[100 * 300 + 150],
           output[0]);
  }
  tunesmith_plan_destroy(plan);
  tunesmith_dispatcher_destroy(dispatcher);
  return output[0] == 8 ? 0 : 1;
}
