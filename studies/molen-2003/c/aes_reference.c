/* SPDX-License-Identifier: Apache-2.0
 *
 * AES step by step, a function for each transformation on a state of four rows, products by logarithms: the way of the
 * Rijndael book's reference. With MOLEN the unit does MixColumns and its inverse. */
#include "aes.h"
#ifdef MOLEN
#include "molen.h"
static const word mix_code[] = MICRO_ON_BLOCK(MICRO_MIX_COLUMNS, 4);
static const word inverse_mix_code[] = MICRO_ON_BLOCK(MICRO_INV_MIX_COLUMNS, 4);
#endif

static byte round_keys[ROUNDS + 1][4][4];

void aes_prepare(void) { field_prepare(); }

/* Not static: profiles go by these names. */
byte product(byte a, byte b) {
  if (a && b) return power[(logarithm[a] + logarithm[b]) % 255];
  return 0;
}

void add_round_key(byte a[4][4], byte key[4][4]) {
  int i, j;
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 4; j++) a[i][j] ^= key[i][j];
  }
}

void substitution(byte a[4][4], const byte box[256]) {
  int i, j;
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 4; j++) a[i][j] = box[a[i][j]];
  }
}

/* Row i moves left by i places, or right. */
void shift_rows(byte a[4][4], int back) {
  byte moved[4];
  int i, j;
  for (i = 1; i < 4; i++) {
    for (j = 0; j < 4; j++) moved[j] = a[i][(j + (back ? 4 - i : i)) % 4];
    for (j = 0; j < 4; j++) a[i][j] = moved[j];
  }
}

#ifdef MOLEN
void mix_columns(byte a[4][4]) {
  word result;
  MOLEN_EXECUTE(result, mix_code, a);
  (void)result;
}

void inverse_mix_columns(byte a[4][4]) {
  word result;
  MOLEN_EXECUTE(result, inverse_mix_code, a);
  (void)result;
}
#else
void mix_columns(byte a[4][4]) {
  byte b[4][4];
  int i, j;
  for (j = 0; j < 4; j++) {
    for (i = 0; i < 4; i++) {
      b[i][j] = (byte)(product(2, a[i][j]) ^ product(3, a[(i + 1) % 4][j]) ^ a[(i + 2) % 4][j] ^ a[(i + 3) % 4][j]);
    }
  }
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 4; j++) a[i][j] = b[i][j];
  }
}

void inverse_mix_columns(byte a[4][4]) {
  byte b[4][4];
  int i, j;
  for (j = 0; j < 4; j++) {
    for (i = 0; i < 4; i++) {
      b[i][j] = (byte)(product(0xe, a[i][j]) ^ product(0xb, a[(i + 1) % 4][j]) ^ product(0xd, a[(i + 2) % 4][j]) ^
                       product(0x9, a[(i + 3) % 4][j]));
    }
  }
  for (i = 0; i < 4; i++) {
    for (j = 0; j < 4; j++) a[i][j] = b[i][j];
  }
}
#endif

void aes_key(const byte key[16]) {
  byte column[4], constant = 1;
  int i, n;
  for (n = 0; n < 4 * (ROUNDS + 1); n++) {
    for (i = 0; i < 4; i++) {
      byte last = n < 4 ? 0 : column[(n % 4 ? i : (i + 1) % 4)];
      if (n >= 4 && n % 4 == 0) last = (byte)(s_box[last] ^ (i == 0 ? constant : 0));
      round_keys[n / 4][i][n % 4] = n < 4 ? key[4 * n + i] : (byte)(round_keys[n / 4 - 1][i][n % 4] ^ last);
    }
    if (n >= 4 && n % 4 == 0) constant = product(2, constant);
    for (i = 0; i < 4; i++) column[i] = round_keys[n / 4][i][n % 4];
  }
}

static void enter(byte a[4][4], const byte block[16]) {
  int i;
  for (i = 0; i < 16; i++) a[i % 4][i / 4] = block[i];
}

static void leave(byte block[16], byte a[4][4]) {
  int i;
  for (i = 0; i < 16; i++) block[i] = a[i % 4][i / 4];
}

void aes_encrypt(byte block[16]) {
  /* In words, so that the unit may load it. */
  union {
    byte a[4][4];
    word rows[4];
  } state;
  int round;
  enter(state.a, block);
  add_round_key(state.a, round_keys[0]);
  for (round = 1; round < ROUNDS; round++) {
    substitution(state.a, s_box);
    shift_rows(state.a, 0);
    mix_columns(state.a);
    add_round_key(state.a, round_keys[round]);
  }
  substitution(state.a, s_box);
  shift_rows(state.a, 0);
  add_round_key(state.a, round_keys[ROUNDS]);
  leave(block, state.a);
}

void aes_decrypt(byte block[16]) {
  union {
    byte a[4][4];
    word rows[4];
  } state;
  int round;
  enter(state.a, block);
  add_round_key(state.a, round_keys[ROUNDS]);
  substitution(state.a, inverse_s_box);
  shift_rows(state.a, 1);
  for (round = ROUNDS - 1; round > 0; round--) {
    add_round_key(state.a, round_keys[round]);
    inverse_mix_columns(state.a);
    substitution(state.a, inverse_s_box);
    shift_rows(state.a, 1);
  }
  add_round_key(state.a, round_keys[0]);
  leave(block, state.a);
}
