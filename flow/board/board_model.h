/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface of a board in simulation: its pins, and the PHY and the wire at them. Frames go into the wire and come
 * out of it; everything happens in simulated time, in picoseconds from the creation on, and only while ace_board_run runs. One shared
 * object is one top with its slots; boards are independent of each other. Nothing of it may be called from two threads
 * for one board. */
#ifndef ACE_BOARD_MODEL_H
#define ACE_BOARD_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* And nothing else is seen of the shared object. */
#pragma GCC visibility push(default)

#define ACE_BOARD_ABI 1u

typedef struct ace_board ace_board;

/* A board just powered, with its reset button pressed for 200 ns: clocks run, the PHY is in reset as long as the board says
 * so. All that is random follows from `seed`. Returns NULL where there is no memory. */
ace_board *ace_board_new(uint64_t seed);
void ace_board_free(ace_board *board);
uint32_t ace_board_abi(void);

/* How a frame goes into the wire. */
enum {
  ACE_BOARD_FRAME = 0, /* preamble, padding to 60 bytes and FCS are added; a lossy wire loses and breaks it */
  ACE_BOARD_RAW = 1,   /* bytes as they are, preamble and all; nothing happens to them */
  ACE_BOARD_ERROR = 2  /* as the first; the PHY says error with the byte `error_at`, of the preamble and on */
};
/* Puts a frame behind those that wait, with a gap of 12 bytes. Returns its number, from 1 on. */
uint64_t ace_board_send(ace_board *board, const uint8_t *bytes, size_t length, uint32_t how, size_t error_at);
/* When the last byte of that frame had come to the board's pins; 0: not yet, or it was lost. */
uint64_t ace_board_ended(const ace_board *board, uint64_t number);
/* Frames that are in the wire to the board, or wait for it. */
size_t ace_board_waiting(const ace_board *board);

/* The next frame that has come out of the board, without preamble and FCS; and when its preamble began. Returns its length,
 * whatever of it fits the buffer; 0: there is none. Frames with a wrong preamble, length or FCS are counted and never come
 * here: see ace_board_counts. */
size_t ace_board_take(ace_board *board, uint8_t *bytes, size_t room, uint64_t *begun);

/* Runs for so long, or, with `until_frame`, until a frame has come out. Returns the time that has passed. */
uint64_t ace_board_run(ace_board *board, uint64_t picoseconds, int until_frame);
uint64_t ace_board_now(const ace_board *board);

/* Taps of the receive delay at which bits are sampled right, both included; at others one in 16 nibbles has a wrong bit.
 * From the start on 0 to 127. */
void ace_board_eye(ace_board *board, unsigned lowest, unsigned highest);
/* Chances in a million that a frame loses its way, or has a bit turned: to the board, and from it. */
void ace_board_wire(ace_board *board, uint32_t in_lost, uint32_t in_broken, uint32_t out_lost, uint32_t out_broken);
/* How far the PHY's clock is from the board's, in parts per million. From the start on 100. */
void ace_board_skew(ace_board *board, int32_t ppm);

/* A register of the PHY (its address is 0); what an MDIO frame has written, or the value after its reset. */
uint16_t ace_board_mdio(const ace_board *board, unsigned number);
/* The oscillator loses its lock for so long: everything is reset. What is in the wire stays there. */
void ace_board_reset(ace_board *board, uint64_t picoseconds);

typedef struct {
  uint64_t in_frames;   /* that came to the pins whole */
  uint64_t in_lost;
  uint64_t in_broken;
  uint64_t out_frames;  /* that left the pins whole */
  uint64_t out_lost;
  uint64_t out_broken;
  uint64_t out_wrong;   /* the board's own fault: preamble, FCS, length, or an error that it says */
  uint64_t out_close;   /* the board's own fault: less than 12 bytes behind the frame before */
  uint32_t tap;         /* of the receive delay now */
  uint32_t led;         /* 1: on */
  uint32_t phy_reset;   /* 1: the PHY is in reset */
  uint32_t sdram_clock; /* changes of the pin: there are none */
} ace_board_counts;
void ace_board_count(const ace_board *board, ace_board_counts *counts);

/* A digest of when which pin was what from the start on, but for the bits of tx_data while tx_ctl is 1. Two runs that it
 * does not tell apart differ in the bytes of what the board sends at most. */
uint64_t ace_board_pins(const ace_board *board);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
