/* SPDX-License-Identifier: Apache-2.0
 *
 * AES in the unit under keys of 128, 192 and 256 bits, one behind the other: a change of the key's size by microcode
 * alone. The key is 00 01 02 …, the block 00 11 22 … (FIPS 197, appendix C). */
#include "molen.h"

typedef unsigned int word;

static const word set_code[] = MICRO_SET_FOR(MICRO_AES);
static const word key_codes[3][5] = {MICRO_TAKE_KEY(MICRO_AES, 16), MICRO_TAKE_KEY(MICRO_AES, 24),
                                     MICRO_TAKE_KEY(MICRO_AES, 32)};
static const word encrypt_code[] = MICRO_ON_BLOCK(MICRO_AES, 4);

/* Of each size, behind one another: clocks from the key's instruction to the end of the first block, there and in a
 * second round, when its microcode may be found again; and of the block behind it. */
word report[9];
/* The first blocks. */
word cipher[12];

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

static void fill(word *words, word count, word first, word step) {
  word i;
  for (i = 0; i < count; i++) words[i] = first + i * step;
}

int main(void) {
  word ignored, round, size, start, key[8], block[4];
  MOLEN_C_SET(ignored, set_code, 0);
  fill(key, 8, 0x03020100u, 0x04040404u);
  for (round = 0; round < 2; round++) {
    for (size = 0; size < 3; size++) {
      word *to = round ? block : cipher + 4 * size;
      fill(to, 4, 0x33221100u, 0x44444444u);
      start = cycle();
      MOLEN_EXECUTE(ignored, key_codes[size], key);
      MOLEN_EXECUTE(ignored, encrypt_code, to);
      report[3 * size + round] = cycle() - start;
      start = cycle();
      MOLEN_EXECUTE(ignored, encrypt_code, block);
      report[3 * size + 2] = cycle() - start;
    }
  }
  (void)ignored;
  return 0;
}
