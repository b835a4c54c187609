// SPDX-License-Identifier: Apache-2.0
// The CUDA execution model on a CPU, for one rendered text: threads are fibers, a barrier is a switch to the
// next one, shared memory is a section that is poisoned before every block. Blocks run one after the other
// and one launch at a time: the state is the module's.
//
// No C++ header is included, and few of the C library: every variant would pay for them when it is compiled.
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
