/* SPDX-License-Identifier: Apache-2.0
 *
 * AES-128 (FIPS 197) on whole blocks, as each of the forms has it. */
#ifndef AES_H
#define AES_H

#define ROUNDS 10

typedef unsigned char byte;
typedef unsigned int word;

/* Tables, once. */
void aes_prepare(void);
void aes_key(const byte key[16]);
void aes_encrypt(byte block[16]);
void aes_decrypt(byte block[16]);
/* With WHOLE: blocks of a text in one go, in ECB, or with CBC in CBC behind a block of zero. */
void aes_encrypt_text(word *text, word blocks);
void aes_decrypt_text(word *text, word blocks);

/* aes_field.c: logarithms, S-boxes. */
extern byte logarithm[256], power[256], s_box[256], inverse_s_box[256];
void field_prepare(void);

#endif
