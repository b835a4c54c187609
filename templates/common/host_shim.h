// SPDX-License-Identifier: Apache-2.0
// The CUDA execution model on a CPU, for one rendered text. Threads are fibers, a barrier is a switch to the
// next fiber, and shared memory is a section that is poisoned before every block. Blocks run one after the
// other, and launches one at a time, because the state belongs to the module.
//
// It includes no C++ header and few headers of the C library, because every variant would compile them.
#pragma once

#define TUNESMITH_HOST 1

#include "common/host/atomics.h"
#include "common/host/bits.h"
#include "common/host/block.h"
#include "common/host/builtins.h"
#include "common/host/cache_hints.h"
#include "common/host/entry.h"
#include "common/host/language.h"
#include "common/host/math.h"
#include "common/host/rounding.h"
#include "common/host/warp.h"
