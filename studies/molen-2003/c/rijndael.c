/* SPDX-License-Identifier: Apache-2.0
 *
 * Rijndael with blocks of 128, 192 and 256 bits (Daemen and Rijmen's book, 3.4 to 3.6) under a key of 128 bits, there and
 * back, with MixColumns and its inverse in software and in the unit. The unit takes four columns at a time: a state is
 * two halves of four rows of four columns, of which the last may be empty. */
#include "aes.h"
#include "molen.h"

#define KEY 4
#define MOST 8

static const word set_mix[] = MICRO_SET_FOR(MICRO_MIX_COLUMNS);
static const word set_inverse[] = MICRO_SET_FOR(MICRO_INV_MIX_COLUMNS);
static const word mix_code[] = MICRO_ON_BLOCK(MICRO_MIX_COLUMNS, 4);
static const word inverse_mix_code[] = MICRO_ON_BLOCK(MICRO_INV_MIX_COLUMNS, 4);

/* In words, so that the unit may load them. */
typedef union {
  byte a[2][4][4];
  word rows[8];
} half_states;

/* Of each block size: clocks of encryption and decryption in software, then with the unit. At the end whether all came
 * back, and what both forms made was the same. */
word report[13];
/* 128, 192, 256 bits behind one another. */
word cipher[18];

static half_states round_keys[MOST + 7];
static const byte key[4 * KEY] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                  0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
/* Of 256 bits; shorter ones are its beginning. */
static const byte plain[4 * MOST] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d, 0x31, 0x31, 0x98,
                                     0xa2, 0xe0, 0x37, 0x07, 0x34, 0x4a, 0x40, 0x93, 0x82, 0x22, 0x99,
                                     0xf3, 0x1d, 0x00, 0x82, 0xef, 0xa9, 0x8e, 0xc4, 0xe6, 0xc8};

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

static byte *at(half_states *state, int row, int column) { return &state->a[column / 4][row][column % 4]; }

static int rounds_of(int columns) { return (columns > KEY ? columns : KEY) + 6; }

/* How far row i moves: one more for the last two rows of eight columns. */
static int offset_of(int columns, int row) { return columns == 8 && row > 1 ? row + 1 : row; }

static byte product(byte a, byte b) {
  if (a && b) return power[(logarithm[a] + logarithm[b]) % 255];
  return 0;
}

static void expand(int columns) {
  byte column[KEY][4], constant = 1;
  int i, n, words = columns * (rounds_of(columns) + 1);
  for (n = 0; n < words; n++) {
    for (i = 0; i < 4; i++) {
      byte last = column[(n + KEY - 1) % KEY][i];
      if (n % KEY == 0) last = (byte)(s_box[column[(n + KEY - 1) % KEY][(i + 1) % 4]] ^ (i == 0 ? constant : 0));
      *at(&round_keys[n / columns], i, n % columns) = n < KEY ? key[4 * n + i] : (byte)(column[n % KEY][i] ^ last);
    }
    if (n >= KEY && n % KEY == 0) constant = product(2, constant);
    for (i = 0; i < 4; i++) column[n % KEY][i] = *at(&round_keys[n / columns], i, n % columns);
  }
}

static void add(half_states *state, int round) {
  int i;
  for (i = 0; i < 8; i++) state->rows[i] ^= round_keys[round].rows[i];
}

static void substitute(half_states *state, int columns, const byte box[256]) {
  int i, j;
  for (i = 0; i < 4; i++) {
    for (j = 0; j < columns; j++) *at(state, i, j) = box[*at(state, i, j)];
  }
}

static void shift(half_states *state, int columns, int back) {
  byte moved[MOST];
  int i, j;
  for (i = 1; i < 4; i++) {
    int by = back ? columns - offset_of(columns, i) : offset_of(columns, i);
    for (j = 0; j < columns; j++) moved[j] = *at(state, i, (j + by) % columns);
    for (j = 0; j < columns; j++) *at(state, i, j) = moved[j];
  }
}

static void mix(half_states *state, int columns, const byte factor[4]) {
  int i, j;
  for (j = 0; j < columns; j++) {
    byte b[4];
    for (i = 0; i < 4; i++) {
      b[i] = (byte)(product(factor[0], *at(state, i, j)) ^ product(factor[1], *at(state, (i + 1) % 4, j)) ^
                    product(factor[2], *at(state, (i + 2) % 4, j)) ^ product(factor[3], *at(state, (i + 3) % 4, j)));
    }
    for (i = 0; i < 4; i++) *at(state, i, j) = b[i];
  }
}

static void mix_columns(half_states *state, int columns, int unit, int back) {
  static const byte there[4] = {2, 3, 1, 1}, inverse[4] = {0xe, 0xb, 0xd, 9};
  word ignored;
  int half;
  if (!unit) {
    mix(state, columns, back ? inverse : there);
    return;
  }
  for (half = 0; 4 * half < columns; half++) {
    if (back) {
      MOLEN_EXECUTE(ignored, inverse_mix_code, state->a[half]);
    } else {
      MOLEN_EXECUTE(ignored, mix_code, state->a[half]);
    }
  }
  (void)ignored;
}

static void encrypt(half_states *state, int columns, int unit) {
  int round, rounds = rounds_of(columns);
  add(state, 0);
  for (round = 1; round <= rounds; round++) {
    substitute(state, columns, s_box);
    shift(state, columns, 0);
    if (round < rounds) mix_columns(state, columns, unit, 0);
    add(state, round);
  }
}

static void decrypt(half_states *state, int columns, int unit) {
  int round, rounds = rounds_of(columns);
  for (round = rounds; round > 0; round--) {
    add(state, round);
    if (round < rounds) mix_columns(state, columns, unit, 1);
    shift(state, columns, 1);
    substitute(state, columns, inverse_s_box);
  }
  add(state, 0);
}

int main(void) {
  word ignored, start, *out = cipher;
  int size, unit, n;
  MOLEN_C_SET(ignored, set_mix, 0);
  MOLEN_P_SET(ignored, set_inverse, 0);
  (void)ignored;
  field_prepare();
  report[12] = 1;
  for (size = 0; size < 3; size++) {
    int columns = 4 + 2 * size;
    expand(columns);
    for (unit = 0; unit < 2; unit++) {
      half_states state;
      for (n = 0; n < 8; n++) state.rows[n] = 0;
      for (n = 0; n < 4 * columns; n++) *at(&state, n % 4, n / 4) = plain[n];
      start = cycle();
      encrypt(&state, columns, unit);
      report[4 * size + 2 * unit] = cycle() - start;
      for (n = 0; n < columns; n++) {
        word made = (word)*at(&state, 0, n) | (word)*at(&state, 1, n) << 8 | (word)*at(&state, 2, n) << 16 |
                    (word)*at(&state, 3, n) << 24;
        if (unit && out[n] != made) report[12] = 0;
        out[n] = made;
      }
      start = cycle();
      decrypt(&state, columns, unit);
      report[4 * size + 2 * unit + 1] = cycle() - start;
      for (n = 0; n < 4 * columns; n++) {
        if (*at(&state, n % 4, n / 4) != plain[n]) report[12] = 0;
      }
    }
    out += columns;
  }
  return 0;
}
