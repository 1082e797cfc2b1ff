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

/* A partial and a complete set, of a list of steps in the library's memory, and an execution; the result is the unit's. */
#define MOLEN_P_SET(result, code, list) MOLEN_INSTRUCTION(0, result, code, list)
#define MOLEN_C_SET(result, code, list) MOLEN_INSTRUCTION(1, result, code, list)
#define MOLEN_EXECUTE(result, code, operand) MOLEN_INSTRUCTION(2, result, code, operand)
/* A control register: 0 hits, 1 misses, 2 clocks that executions waited for a set, 3 what the unit can do,
 * 4 clocks that sets took. */
#define MOLEN_CONTROL(result, number) \
  __asm__ volatile(".insn r 0x0b, 3, 0, %0, x0, x" #number : "=r"(result))

/* Words of microcode: rtl/molen_unit.sv. Rows one behind the other, from or to the operand and offset bytes. */
#define MICRO_ROWS(operation, row, rows, offset) \
  ((operation) << 28 | (unsigned)(row) << 24 | ((rows) - 1u) << 16 | (unsigned)(offset))
#define MICRO_HEADER(stays, words) (0xa5000000u | (stays) << 8 | (words))
#define MICRO_END 0x00000000u
#define MICRO_LOAD(row, rows, offset) MICRO_ROWS(1u, row, rows, offset)
#define MICRO_STORE(row, rows, offset) MICRO_ROWS(2u, row, rows, offset)
#define MICRO_RUN(operation) (0x30000000u | (operation))
#define MICRO_SET(mask) (0x50000000u | (mask))
#define MICRO_XOR(row, rows, offset) MICRO_ROWS(6u, row, rows, offset)
#define MICRO_OPERAND(offset) (0x70000000u | (offset))
#define MICRO_COUNT(offset) (0x80000000u | (offset))
/* The operand goes on by so many bytes; back to the word of that number. */
#define MICRO_LOOP(bytes, at) (0x90000000u | (unsigned)(bytes) << 4 | (at))

/* Numbers of operations, and what a set says for them. */
#define MICRO_MIX_COLUMNS 1u
#define MICRO_INV_MIX_COLUMNS 2u
#define MICRO_AES 3u
#define MICRO_TRIPLE_DES 4u
#define MICRO_IDEA 5u
#define MICRO_AES_ROUND 6u
#define MICRO_SHA1 7u
#define MICRO_DES 8u
#define MICRO_CAN(operation) (1u << ((operation) - 1u))
#define MICRO_DECRYPT 0x100u
#define MICRO_FIRST 0x100u
#define MICRO_LAST 0x200u
#define MICRO_KEY(bytes) ((unsigned)(bytes) << 10)

/* An operation on so many words that the operand points to, which stays in the control store. */
#define MICRO_ON_BLOCK(operation, words) \
  { MICRO_HEADER(1u, 4u), MICRO_LOAD(0, words, 0), MICRO_RUN(operation), MICRO_STORE(0, words, 0), MICRO_END }
/* A key that the operand points to. */
#define MICRO_TAKE_KEY(operation, bytes) \
  { MICRO_HEADER(0u, 3u), MICRO_LOAD(0, (bytes) / 4, 0), MICRO_RUN((operation) | MICRO_KEY(bytes)), MICRO_END }
/* A set of one operation and of no other. */
#define MICRO_SET_FOR(operation) \
  { MICRO_HEADER(0u, 2u), MICRO_SET(MICRO_CAN(operation)), MICRO_END }

#endif
