// SPDX-License-Identifier: Apache-2.0
// asm statements as calls on the host: a register is an unsigned number of its size, and an instruction a
// call with its registers, results first (runtime/ptx_translation.h). Its types and modifiers are template
// arguments.
#pragma once

#include "common/host/ptx_mathematics.h"
#include "common/host/ptx_matrices.h"
#include "common/host/ptx_memory.h"
#include "common/host/ptx_threads.h"
#include "common/host/ptx_whole.h"

namespace tunesmith_ptx {}  // namespace tunesmith_ptx
