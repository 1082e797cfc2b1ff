/* SPDX-License-Identifier: Apache-2.0
 *
 * Molen's three instructions as macros, and the microcode they point to. ANSI C but for the assembly. */
#ifndef MOLEN_H
#define MOLEN_H

#define MOLEN_INSTRUCTION(funct3, result, code, operand)                                        \
  __asm__ volatile(".insn r 0x0b, " #funct3 ", 0, %0, %1, %2"                                   \
                   : "=r"(result)                                                               \
                   : "r"(code), "r"(operand)                                                    \
                   : "memory")

/* A partial and a complete set, and an execution; the result is the unit's. */
#define MOLEN_P_SET(result, code) MOLEN_INSTRUCTION(0, result, code, 0)
#define MOLEN_C_SET(result, code) MOLEN_INSTRUCTION(1, result, code, 0)
#define MOLEN_EXECUTE(result, code, operand) MOLEN_INSTRUCTION(2, result, code, operand)
/* A control register: 0 hits, 1 misses, 2 clocks that executions waited for a set, 3 what the unit can do. */
#define MOLEN_CONTROL(result, number) \
  __asm__ volatile(".insn r 0x0b, 3, 0, %0, x0, x" #number : "=r"(result))

/* Words of microcode: rtl/molen_unit.sv. */
#define MICRO_HEADER(stays, words) (0xa5000000u | (stays) << 8 | (words))
#define MICRO_END 0x00000000u
#define MICRO_LOAD(row) (0x10000000u | (unsigned)(row) << 24 | 4u * (row))
#define MICRO_STORE(row) (0x20000000u | (unsigned)(row) << 24 | 4u * (row))
#define MICRO_RUN(operation) (0x30000000u | (operation))
#define MICRO_SET(mask) (0x50000000u | (mask))

/* An operation on the sixteen bytes that the operand points to, which stays in the control store. */
#define MICRO_ON_STATE(operation)                                                                  \
  {                                                                                                \
    MICRO_HEADER(1u, 10u), MICRO_LOAD(0), MICRO_LOAD(1), MICRO_LOAD(2), MICRO_LOAD(3),             \
        MICRO_RUN(operation), MICRO_STORE(0), MICRO_STORE(1), MICRO_STORE(2), MICRO_STORE(3), MICRO_END \
  }

#define MICRO_MIX_COLUMNS 1u
#define MICRO_INV_MIX_COLUMNS 2u

#endif
