/* SPDX-License-Identifier: Apache-2.0
 *
 * From a key of 128 bits to one of 256 by other bits: a partial set, and a complete one, of the configuration for such
 * keys. Where the lists of steps are in the library's memory is written into set_lists before the program runs. */
#include "molen.h"

typedef unsigned int word;

static const word set_code[] = MICRO_SET_FOR(MICRO_AES);
static const word key_codes[2][4] = {MICRO_TAKE_KEY(MICRO_AES, 16), MICRO_TAKE_KEY(MICRO_AES, 32)};
static const word encrypt_code[] = MICRO_ON_BLOCK(MICRO_AES, 4);

/* For keys of all sizes; over it, and by itself, for those of 256 bits. */
word set_lists[3];
/* Clocks from the set's instruction to the end of the first block: partial, complete. */
word report[2];
/* The block 00 11 22 … (FIPS 197, appendix C) under the key 00 01 02 … of 128 bits, then of 256 twice. */
word cipher[12];

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

int main(void) {
  word ignored, i, start, key[8];
  for (i = 0; i < 8; i++) key[i] = 0x03020100u + i * 0x04040404u;
  for (i = 0; i < 12; i++) cipher[i] = 0x33221100u + (i & 3) * 0x44444444u;
  MOLEN_C_SET(ignored, set_code, set_lists[0]);
  MOLEN_EXECUTE(ignored, key_codes[0], key);
  MOLEN_EXECUTE(ignored, encrypt_code, cipher);
  start = cycle();
  MOLEN_P_SET(ignored, set_code, set_lists[1]);
  MOLEN_EXECUTE(ignored, key_codes[1], key);
  MOLEN_EXECUTE(ignored, encrypt_code, cipher + 4);
  report[0] = cycle() - start;
  start = cycle();
  MOLEN_C_SET(ignored, set_code, set_lists[2]);
  MOLEN_EXECUTE(ignored, key_codes[1], key);
  MOLEN_EXECUTE(ignored, encrypt_code, cipher + 8);
  report[1] = cycle() - start;
  (void)ignored;
  return 0;
}
