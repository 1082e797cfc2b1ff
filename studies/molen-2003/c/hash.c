/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-1 (FIPS 180-4) of a text of 4 KB: in C, in the unit with an execution for each block, and in one execution. */
#include "molen.h"

#define TEXT 4096
#define BLOCKS (TEXT / 64 + 1)

typedef unsigned int word;

static const word set_code[] = MICRO_SET_FOR(MICRO_SHA1);
static const word begin_code[] = {MICRO_HEADER(0u, 2u), MICRO_RUN(MICRO_SHA1 | MICRO_FIRST), MICRO_END};
/* A block is eight words and eight more. */
static const word block_code[] = {MICRO_HEADER(1u, 5u), MICRO_LOAD(0, 8, 0),   MICRO_RUN(MICRO_SHA1),
                                  MICRO_LOAD(0, 8, 32), MICRO_RUN(MICRO_SHA1), MICRO_END};
static const word digest_code[] = {MICRO_HEADER(0u, 3u), MICRO_RUN(MICRO_SHA1 | MICRO_LAST), MICRO_STORE(0, 5, 0),
                                   MICRO_END};
/* The digest goes behind the last block. */
static const word text_code[] = {MICRO_HEADER(0u, 11u),
                                 MICRO_RUN(MICRO_SHA1 | MICRO_FIRST),
                                 MICRO_COUNT(4),
                                 MICRO_OPERAND(0),
                                 MICRO_LOAD(0, 8, 0),
                                 MICRO_RUN(MICRO_SHA1),
                                 MICRO_LOAD(0, 8, 32),
                                 MICRO_RUN(MICRO_SHA1),
                                 MICRO_LOOP(64, 3),
                                 MICRO_RUN(MICRO_SHA1 | MICRO_LAST),
                                 MICRO_STORE(0, 5, 0),
                                 MICRO_END};

/* The text and what fills its last block; behind it is room for the digest. */
static word text[16 * BLOCKS + 5];
/* Clocks of each. */
word report[3];
/* Digests of each, the first byte in the lowest of a word. */
word cipher[15];

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

static word swapped(word x) { return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24; }

#define ROTATED(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define STEPS(first, last, mixed, constant)                             \
  for (i = first; i < last; i++) {                                      \
    word next = ROTATED(a, 5) + (mixed) + e + w[i] + constant;          \
    e = d;                                                              \
    d = c;                                                              \
    c = ROTATED(b, 30);                                                 \
    b = a;                                                              \
    a = next;                                                           \
  }

static void compress(word state[5], const word *block) {
  word w[80], i, a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (i = 0; i < 16; i++) w[i] = swapped(block[i]);
  for (i = 16; i < 80; i++) {
    word x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16];
    w[i] = ROTATED(x, 1);
  }
  STEPS(0, 20, (b & c) | (~b & d), 0x5a827999u)
  STEPS(20, 40, b ^ c ^ d, 0x6ed9eba1u)
  STEPS(40, 60, (b & c) | (b & d) | (c & d), 0x8f1bbcdcu)
  STEPS(60, 80, b ^ c ^ d, 0xca62c1d6u)
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

int main(void) {
  word ignored, i, start, random = 1;
  word state[5], job[2];
  MOLEN_C_SET(ignored, set_code, 0);
  for (i = 0; i < TEXT / 4; i++) text[i] = random = random * 1664525u + 1013904223u;
  text[TEXT / 4] = 0x80u;
  text[16 * BLOCKS - 1] = swapped(8u * TEXT);

  start = cycle();
  state[0] = 0x67452301u;
  state[1] = 0xefcdab89u;
  state[2] = 0x98badcfeu;
  state[3] = 0x10325476u;
  state[4] = 0xc3d2e1f0u;
  for (i = 0; i < BLOCKS; i++) compress(state, text + 16 * i);
  report[0] = cycle() - start;
  for (i = 0; i < 5; i++) cipher[i] = swapped(state[i]);

  start = cycle();
  MOLEN_EXECUTE(ignored, begin_code, 0);
  for (i = 0; i < BLOCKS; i++) MOLEN_EXECUTE(ignored, block_code, text + 16 * i);
  MOLEN_EXECUTE(ignored, digest_code, cipher + 5);
  report[1] = cycle() - start;

  job[0] = (word)text;
  job[1] = BLOCKS;
  start = cycle();
  MOLEN_EXECUTE(ignored, text_code, job);
  report[2] = cycle() - start;
  for (i = 0; i < 5; i++) cipher[10 + i] = text[16 * BLOCKS + i];
  (void)ignored;
  return 0;
}
