# SPDX-License-Identifier: Apache-2.0
# From reset: the stack at the end of the memory, main, and a halt. The memory is zero where nothing was loaded.
  .section .start
  .globl _start
_start:
  lui sp, 0x10
  call main
  ebreak
