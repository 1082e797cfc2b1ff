/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface of a Verilated slot: whole frames cross it, and single clocks for tests alone. A model is one
 * shared object; the same interface serves the model of the RTL and the model of the synthesised netlist. */
#ifndef ACE_MODEL_H
#define ACE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACE_MODEL_ABI 3u

typedef struct ace_model ace_model;

/* One request and its response. Lengths are bytes and multiples of 8; tlast is on the last beat. */
typedef struct {
  const uint8_t *request;
  size_t request_len;
  uint8_t *response;
  size_t response_cap;
  size_t response_len;   /* out: written by the model */
  uint64_t first_in;     /* out: clock in which the first beat of the request was taken */
  uint64_t first_out;    /* out: clock in which the first beat of the response was taken */
  uint64_t last_out;     /* out: clock in which the last beat of the response was taken */
} ace_model_frame;

typedef struct {
  uint64_t seed;         /* of the stalls */
  uint32_t in_stall;     /* chance in 65536 that no request beat is offered in a clock */
  uint32_t out_stall;    /* chance in 65536 that no response beat is taken in a clock */
  uint64_t max_clocks;   /* without any beat on either side before the call gives up; 0: 1 << 20 */
  uint64_t reset_after;  /* assert reset after so many clocks of this call; 0: never. The frames that are not
                            answered by then are given up and the call returns ACE_MODEL_RESET. */
} ace_model_options;

enum {
  ACE_MODEL_OK = 0,
  ACE_MODEL_SILENT = 1,   /* max_clocks passed without a beat: the slot hangs */
  ACE_MODEL_NO_SPACE = 2, /* a response is longer than its buffer */
  ACE_MODEL_RESET = 3,    /* reset_after was reached */
  ACE_MODEL_BAD_FRAME = 4, /* a request is empty or not whole beats */
  ACE_MODEL_ASSERTION = 5, /* an assertion of rtl/formal failed; standard output says which */
  ACE_MODEL_NO_MEMORY = 6,
  ACE_MODEL_OTHER_LUTS = 7 /* the LUTs named are not those of the slot */
};

/* What one kept LUT holds: bit n is its output where its inputs are n. A base and its variants differ in nothing
   else, so one model serves all of them. */
typedef struct {
  const char *name; /* its path below the top, as in the netlist */
  uint16_t contents;
} ace_model_lut;

uint32_t ace_model_abi(void);
/* A new slot, out of reset, with these contents of its kept LUTs: each of them has to be named, and nothing else;
   or none of n = 0, for the contents that the model was built with. Instances are independent. */
int ace_model_new(ace_model **model, const ace_model_lut *luts, size_t n);
void ace_model_free(ace_model *model);
void ace_model_reset(ace_model *model);
/* Clocks since the last reset. */
uint64_t ace_model_clocks(const ace_model *model);
/* Sends n frames back to back and collects their responses. A response belongs to the first frame of its tag that
   waits for one: slots that work on several frames at a time answer in the order of completion, so tags of frames
   in one call should differ there. options may be NULL: no stalls. */
int ace_model_run(ace_model *model, ace_model_frame *frames, size_t n, const ace_model_options *options);

/* For tests of what a slot holds: its pins and its state, clock by clock. */

/* What is done in a clock, and what is seen in it. */
enum {
  ACE_MODEL_OFFER = 1, /* offer the next request beat, if none is offered yet; an offered one stays */
  ACE_MODEL_TAKE = 2,  /* m_axis_tready */
  ACE_MODEL_HOLD = 4   /* reset, with nothing offered; what was offered and not taken is offered anew later */
};
enum { ACE_MODEL_S_TREADY = 1, ACE_MODEL_M_TVALID = 2, ACE_MODEL_M_TLAST = 4 };

/* Runs `clocks` clocks as `todo` says, byte by byte, with the request beats and their tlast. seen[i] is the
   handshake of a clock, data[i] is m_axis_tdata; both may be NULL. While nothing is offered, s_axis_tdata and
   s_axis_tlast are noise, of `noise` and the clock alone. Returns how many beats were taken;
   SIZE_MAX if an assertion failed. */
size_t ace_model_drive(ace_model *model, const uint8_t *todo, size_t clocks, const uint64_t *beats,
                       const uint8_t *last, size_t n, uint64_t noise, uint8_t *seen, uint64_t *data);

/* One register, memory or net; `element` is the size of a word of a memory. */
typedef struct {
  const char *name;
  uint32_t offset;
  uint32_t bytes;
  uint32_t element;
} ace_model_item;

/* All that the model has from one clock to the next, with nets that follow from it. */
size_t ace_model_items(const ace_model_item **items);
/* Copies it, item by item and without gaps; `state` has the sum of all `bytes`. */
void ace_model_state(const ace_model *model, uint8_t *state);

#ifdef __cplusplus
}
#endif
#endif
