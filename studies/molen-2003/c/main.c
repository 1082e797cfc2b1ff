/* SPDX-License-Identifier: Apache-2.0
 *
 * The paper's benchmark: a text of 4 KB under a key of 128 bits in ECB, there and back (with CBC: in CBC, there). What the simulation reads when the
 * machine has halted is in `report` and `text`. */
#include "aes.h"
#ifdef MOLEN
#include "molen.h"
#ifndef UNIT
static const word set_mix[] = MICRO_SET_FOR(MICRO_MIX_COLUMNS);
static const word set_inverse[] = MICRO_SET_FOR(MICRO_INV_MIX_COLUMNS);
#endif
#endif

#define TEXT 4096
/* Another text for whoever asks whether clocks depend on it. */
#ifndef SEED
#define SEED 1u
#endif

/* Words, so that blocks are aligned: the plain text, and the cipher text for whoever compares it. */
word text[TEXT / 4], cipher[TEXT / 4];
/* Cycles of encryption and decryption; whether the plain text came back; hits, misses, clocks waited for sets. */
word report[6];

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

int main(void) {
  static const byte key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                               0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  word i, start, random = SEED;
#if defined(MOLEN) && !defined(UNIT)
  word ignored;
  MOLEN_C_SET(ignored, set_mix, 0);
  MOLEN_P_SET(ignored, set_inverse, 0);
  (void)ignored;
#endif
  for (i = 0; i < TEXT / 4; i++) text[i] = random = random * 1664525u + 1013904223u;
  aes_prepare();
  aes_key(key);
  start = cycle();
#ifdef WHOLE
  aes_encrypt_text(text, TEXT / 16);
#else
  for (i = 0; i < TEXT; i += 16) aes_encrypt((byte *)text + i);
#endif
  report[0] = cycle() - start;
  for (i = 0; i < TEXT / 4; i++) cipher[i] = text[i];
  report[2] = 1;
#ifndef CBC
  start = cycle();
#ifdef WHOLE
  aes_decrypt_text(text, TEXT / 16);
#else
  for (i = 0; i < TEXT; i += 16) aes_decrypt((byte *)text + i);
#endif
  report[1] = cycle() - start;
  for (i = 0, random = SEED; i < TEXT / 4; i++) {
    random = random * 1664525u + 1013904223u;
    if (text[i] != random) report[2] = 0;
  }
#endif
#ifdef MOLEN
  MOLEN_CONTROL(report[3], 0);
  MOLEN_CONTROL(report[4], 1);
  MOLEN_CONTROL(report[5], 2);
#endif
  return 0;
}
