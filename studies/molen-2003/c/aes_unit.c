/* SPDX-License-Identifier: Apache-2.0
 *
 * AES in the unit: a block an execution, or with WHOLE the text in one. */
#include "aes.h"
#include "molen.h"

static const word set_code[] = MICRO_SET_FOR(MICRO_AES);
static const word key_code[] = MICRO_TAKE_KEY(MICRO_AES, 16);
static const word encrypt_code[] = MICRO_ON_BLOCK(MICRO_AES, 4);
static const word decrypt_code[] = MICRO_ON_BLOCK(MICRO_AES | MICRO_DECRYPT, 4);

void aes_prepare(void) {
  word ignored;
  MOLEN_C_SET(ignored, set_code, 0);
  (void)ignored;
}

void aes_key(const byte key[16]) {
  word ignored, i;
  union {
    byte bytes[16];
    word words[4];
  } aligned;
  for (i = 0; i < 16; i++) aligned.bytes[i] = key[i];
  MOLEN_EXECUTE(ignored, key_code, aligned.words);
  (void)ignored;
}

void aes_encrypt(byte block[16]) {
  word ignored;
  MOLEN_EXECUTE(ignored, encrypt_code, block);
  (void)ignored;
}

void aes_decrypt(byte block[16]) {
  word ignored;
  MOLEN_EXECUTE(ignored, decrypt_code, block);
  (void)ignored;
}

#ifdef WHOLE
/* Where the text is, how many blocks it has, and for CBC the block in front of it. */
typedef struct {
  word *text;
  word blocks;
  word before[4];
} job;

#ifdef CBC
/* What leaves stays in the rows for what enters. */
static const word encrypt_text[] = {
    MICRO_HEADER(1u, 8u), MICRO_LOAD(0, 4, 8), MICRO_COUNT(4),       MICRO_OPERAND(0),   MICRO_XOR(0, 4, 0),
    MICRO_RUN(MICRO_AES), MICRO_STORE(0, 4, 0), MICRO_LOOP(16, 3), MICRO_END};
#else
#define TEXT_CODE(operation)                                                                        \
  {                                                                                                 \
    MICRO_HEADER(1u, 7u), MICRO_COUNT(4), MICRO_OPERAND(0), MICRO_LOAD(0, 4, 0), MICRO_RUN(operation), \
        MICRO_STORE(0, 4, 0), MICRO_LOOP(16, 2), MICRO_END                                          \
  }
static const word encrypt_text[] = TEXT_CODE(MICRO_AES);
static const word decrypt_text[] = TEXT_CODE(MICRO_AES | MICRO_DECRYPT);
#endif

static void text_through(const word *code, word *text, word blocks) {
  word ignored;
  job work = {0, 0, {0, 0, 0, 0}};
  work.text = text;
  work.blocks = blocks;
  MOLEN_EXECUTE(ignored, code, &work);
  (void)ignored;
}

void aes_encrypt_text(word *text, word blocks) { text_through(encrypt_text, text, blocks); }
#ifndef CBC
void aes_decrypt_text(word *text, word blocks) { text_through(decrypt_text, text, blocks); }
#endif
#endif
