/* SPDX-License-Identifier: Apache-2.0
 *
 * AES with a round in the unit: an execution for each round key, the block between them in the unit's rows. */
#include "aes.h"
#include "molen.h"

static const word set_code[] = MICRO_SET_FOR(MICRO_AES_ROUND);
/* A block into the rows and out of them, a key added to it, and rounds with the key that the operand points to. */
static const word take_code[] = {MICRO_HEADER(1u, 2u), MICRO_LOAD(0, 4, 0), MICRO_END};
static const word add_code[] = {MICRO_HEADER(1u, 2u), MICRO_XOR(0, 4, 0), MICRO_END};
#define ROUND_CODE(stays, operation) \
  { MICRO_HEADER(stays, 3u), MICRO_LOAD(4, 4, 0), MICRO_RUN(operation), MICRO_END }
static const word round_code[] = ROUND_CODE(1u, MICRO_AES_ROUND);
static const word last_code[] = ROUND_CODE(0u, MICRO_AES_ROUND | MICRO_LAST);
static const word back_code[] = ROUND_CODE(1u, MICRO_AES_ROUND | MICRO_DECRYPT);
static const word last_back_code[] = ROUND_CODE(0u, MICRO_AES_ROUND | MICRO_DECRYPT | MICRO_LAST);
static const word give_code[] = {MICRO_HEADER(0u, 2u), MICRO_STORE(0, 4, 0), MICRO_END};

static word keys[4 * (ROUNDS + 1)];

void aes_prepare(void) {
  word ignored;
  MOLEN_C_SET(ignored, set_code, 0);
  (void)ignored;
  field_prepare();
}

/* FIPS 197, 5.2; the first byte of a word is its lowest. */
void aes_key(const byte key[16]) {
  word i, constant = 1;
  for (i = 0; i < 16; i++) keys[i / 4] |= (word)key[i] << 8 * (i % 4);
  for (i = 4; i < 4 * (ROUNDS + 1); i++) {
    word x = keys[i - 1];
    if (i % 4 == 0) {
      x = (word)s_box[x >> 8 & 255] | (word)s_box[x >> 16 & 255] << 8 | (word)s_box[x >> 24] << 16 |
          (word)s_box[x & 255] << 24;
      x ^= constant;
      constant = constant << 1 ^ (constant >> 7) * 0x11b;
    }
    keys[i] = keys[i - 4] ^ x;
  }
}

void aes_encrypt(byte block[16]) {
  word ignored, i;
  MOLEN_EXECUTE(ignored, take_code, block);
  MOLEN_EXECUTE(ignored, add_code, keys);
  for (i = 1; i < ROUNDS; i++) MOLEN_EXECUTE(ignored, round_code, keys + 4 * i);
  MOLEN_EXECUTE(ignored, last_code, keys + 4 * ROUNDS);
  MOLEN_EXECUTE(ignored, give_code, block);
  (void)ignored;
}

void aes_decrypt(byte block[16]) {
  word ignored, i;
  MOLEN_EXECUTE(ignored, take_code, block);
  MOLEN_EXECUTE(ignored, add_code, keys + 4 * ROUNDS);
  for (i = ROUNDS - 1; i > 0; i--) MOLEN_EXECUTE(ignored, back_code, keys + 4 * i);
  MOLEN_EXECUTE(ignored, last_back_code, keys);
  MOLEN_EXECUTE(ignored, give_code, block);
  (void)ignored;
}
