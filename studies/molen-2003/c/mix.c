/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of four algorithms in any order, each under a key of its own: a set where the algorithm changes, a partial one
 * between DES and triple DES, whose configurations differ in a few frames, the packet made ready meanwhile, a key, and a
 * block an execution. Sizes are 7 to 4 to 1 of 40, 576 and 1500 bytes, in whole blocks. */
#include "molen.h"

#define PACKETS 96
#define ROOM 10240

typedef unsigned int word;

static const word set_codes[4][3] = {MICRO_SET_FOR(MICRO_AES), MICRO_SET_FOR(MICRO_TRIPLE_DES),
                                     MICRO_SET_FOR(MICRO_DES), MICRO_SET_FOR(MICRO_IDEA)};
static const word key_codes[4][4] = {MICRO_TAKE_KEY(MICRO_AES, 16), MICRO_TAKE_KEY(MICRO_TRIPLE_DES, 24),
                                     MICRO_TAKE_KEY(MICRO_DES, 8), MICRO_TAKE_KEY(MICRO_IDEA, 16)};
static const word block_codes[4][5] = {MICRO_ON_BLOCK(MICRO_AES, 4), MICRO_ON_BLOCK(MICRO_TRIPLE_DES, 2),
                                       MICRO_ON_BLOCK(MICRO_DES, 2), MICRO_ON_BLOCK(MICRO_IDEA, 2)};
static const word key_words[4] = {4, 6, 2, 4}, block_words[4] = {4, 2, 2, 2};

/* Lists of steps in the library's memory, written before the program runs: of each algorithm's configuration, then
 * triple DES over DES and DES over triple DES. */
word set_lists[6];
/* Hits, misses, clocks waited for sets, sets, words of cipher text, clocks of all packets, clocks that sets took; of
 * partial sets alone: how many, clocks waited for them, clocks that they took. */
word report[10];
word cipher[ROOM];

static word random = 1;

static word next(void) {
  random = random * 1664525u + 1013904223u;
  return random;
}

static word cycle(void) {
  word now;
  __asm__ volatile("rdcycle %0" : "=r"(now));
  return now;
}

int main(void) {
  word packet, last = 4, at = 0, sets = 0, ignored, waited = 0, taken = 0, key[6], start = cycle();
  for (packet = 0; packet < PACKETS; packet++) {
    word which = next() >> 30, dice = (next() >> 8) % 12, i;
    word words = (dice < 7 ? 40 : dice < 11 ? 576 : 1500) / 4;
    word partial = which != last && (which ^ last) == 3u && (which == 1u || which == 2u);
    words += (0u - words) % block_words[which];
    if (at + words > ROOM) break;
    if (partial) {
      MOLEN_P_SET(ignored, set_codes[which], set_lists[3 + which]);
    } else if (which != last) {
      MOLEN_C_SET(ignored, set_codes[which], set_lists[which]);
    }
    sets += which != last;
    last = which;
    for (i = 0; i < key_words[which]; i++) key[i] = next();
    for (i = 0; i < words; i++) cipher[at + i] = next();
    MOLEN_EXECUTE(ignored, key_codes[which], key);
    if (partial) {
      MOLEN_CONTROL(ignored, 2);
      report[8] += ignored - waited;
      MOLEN_CONTROL(ignored, 4);
      report[9] += ignored - taken;
      report[7]++;
    }
    MOLEN_CONTROL(waited, 2);
    MOLEN_CONTROL(taken, 4);
    for (i = 0; i < words; i += block_words[which]) MOLEN_EXECUTE(ignored, block_codes[which], cipher + at + i);
    at += words;
  }
  report[5] = cycle() - start;
  MOLEN_CONTROL(report[0], 0);
  MOLEN_CONTROL(report[1], 1);
  MOLEN_CONTROL(report[2], 2);
  MOLEN_CONTROL(report[6], 4);
  report[3] = sets;
  report[4] = at;
  (void)ignored;
  return 0;
}
