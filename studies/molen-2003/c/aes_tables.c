/* SPDX-License-Identifier: Apache-2.0
 *
 * AES with T-tables: S-box and MixColumns of a byte as one look-up of a word, four of them and a round key for a
 * column. Columns are words, their first byte lowest. */
#include "aes.h"

static word forward[4][256], backward[4][256];
static word keys[4 * (ROUNDS + 1)], inverse_keys[4 * (ROUNDS + 1)];

static word times(word a, word b) { return a && b ? power[(logarithm[a] + logarithm[b]) % 255] : 0; }

void aes_prepare(void) {
  word i, t;
  field_prepare();
  for (i = 0; i < 256; i++) {
    word s = s_box[i], r = inverse_s_box[i];
    word f = times(2, s) | s << 8 | s << 16 | times(3, s) << 24;
    word b = times(14, r) | times(9, r) << 8 | times(13, r) << 16 | times(11, r) << 24;
    for (t = 0; t < 4; t++) {
      forward[t][i] = f;
      backward[t][i] = b;
      f = f << 8 | f >> 24;
      b = b << 8 | b >> 24;
    }
  }
}

void aes_key(const byte key[16]) {
  word n, constant = 1;
  for (n = 0; n < 4; n++) {
    keys[n] = key[4 * n] | (word)key[4 * n + 1] << 8 | (word)key[4 * n + 2] << 16 | (word)key[4 * n + 3] << 24;
  }
  for (n = 4; n < 4 * (ROUNDS + 1); n++) {
    word last = keys[n - 1];
    if (n % 4 == 0) {
      last = last >> 8 | last << 24;
      last = s_box[last & 255] | (word)s_box[last >> 8 & 255] << 8 | (word)s_box[last >> 16 & 255] << 16 |
             (word)s_box[last >> 24] << 24;
      last ^= constant;
      constant = times(2, constant);
    }
    keys[n] = keys[n - 4] ^ last;
  }
  /* The equivalent inverse cipher (5.3.5): keys of the rounds between go through InvMixColumns. */
  for (n = 0; n < 4 * (ROUNDS + 1); n++) {
    word k = keys[n];
    inverse_keys[n] = n < 4 || n >= 4 * ROUNDS
                          ? k
                          : backward[0][s_box[k & 255]] ^ backward[1][s_box[k >> 8 & 255]] ^
                                backward[2][s_box[k >> 16 & 255]] ^ backward[3][s_box[k >> 24]];
  }
}

#define COLUMN(t, s, n, a, b, c) \
  ((t)[0][(s)[n] & 255] ^ (t)[1][(s)[a] >> 8 & 255] ^ (t)[2][(s)[b] >> 16 & 255] ^ (t)[3][(s)[c] >> 24])
#define LAST(t, s, n, a, b, c)                                                                    \
  ((word)(t)[(s)[n] & 255] | (word)(t)[(s)[a] >> 8 & 255] << 8 | (word)(t)[(s)[b] >> 16 & 255] << 16 | \
   (word)(t)[(s)[c] >> 24] << 24)

void aes_encrypt(byte block[16]) {
  word *words = (word *)block, s[4], t[4], round;
  for (round = 0; round < 4; round++) s[round] = words[round] ^ keys[round];
  for (round = 1; round < ROUNDS; round++) {
    const word *key = keys + 4 * round;
    t[0] = COLUMN(forward, s, 0, 1, 2, 3) ^ key[0];
    t[1] = COLUMN(forward, s, 1, 2, 3, 0) ^ key[1];
    t[2] = COLUMN(forward, s, 2, 3, 0, 1) ^ key[2];
    t[3] = COLUMN(forward, s, 3, 0, 1, 2) ^ key[3];
    s[0] = t[0], s[1] = t[1], s[2] = t[2], s[3] = t[3];
  }
  words[0] = LAST(s_box, s, 0, 1, 2, 3) ^ keys[4 * ROUNDS];
  words[1] = LAST(s_box, s, 1, 2, 3, 0) ^ keys[4 * ROUNDS + 1];
  words[2] = LAST(s_box, s, 2, 3, 0, 1) ^ keys[4 * ROUNDS + 2];
  words[3] = LAST(s_box, s, 3, 0, 1, 2) ^ keys[4 * ROUNDS + 3];
}

void aes_decrypt(byte block[16]) {
  word *words = (word *)block, s[4], t[4], round;
  for (round = 0; round < 4; round++) s[round] = words[round] ^ inverse_keys[4 * ROUNDS + round];
  for (round = ROUNDS - 1; round > 0; round--) {
    const word *key = inverse_keys + 4 * round;
    t[0] = COLUMN(backward, s, 0, 3, 2, 1) ^ key[0];
    t[1] = COLUMN(backward, s, 1, 0, 3, 2) ^ key[1];
    t[2] = COLUMN(backward, s, 2, 1, 0, 3) ^ key[2];
    t[3] = COLUMN(backward, s, 3, 2, 1, 0) ^ key[3];
    s[0] = t[0], s[1] = t[1], s[2] = t[2], s[3] = t[3];
  }
  words[0] = LAST(inverse_s_box, s, 0, 3, 2, 1) ^ inverse_keys[0];
  words[1] = LAST(inverse_s_box, s, 1, 0, 3, 2) ^ inverse_keys[1];
  words[2] = LAST(inverse_s_box, s, 2, 1, 0, 3) ^ inverse_keys[2];
  words[3] = LAST(inverse_s_box, s, 3, 2, 1, 0) ^ inverse_keys[3];
}
