// SPDX-License-Identifier: Apache-2.0
// The switch from one stack to another, in assembly for x86-64 and AArch64. On other machines fibers.h uses
// ucontext, which costs a system call per switch for the signal mask.
#pragma once

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(TUNESMITH_UCONTEXT)
#define TUNESMITH_UCONTEXT 1
#endif
#if defined(TUNESMITH_UCONTEXT)
#include <ucontext.h>
#endif

#if !defined(TUNESMITH_UCONTEXT)
namespace tunesmith_shim {

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.type tunesmith_switch, @function
tunesmith_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tunesmith_switch, .-tunesmith_switch
)");
constexpr size_t saved_bytes = 6 * 8;
#else
asm(R"(
.text
.p2align 4
.type tunesmith_switch, %function
tunesmith_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size tunesmith_switch, .-tunesmith_switch
)");
#endif

// Saves the callee-saved registers and the stack pointer to *from, and continues where `to` was saved.
extern "C" __attribute__((visibility("hidden"))) void tunesmith_switch(void** from, void* to);

}  // namespace tunesmith_shim
#endif
