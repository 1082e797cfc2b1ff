// SPDX-License-Identifier: Apache-2.0
//
// What the parts of lane_front tell each other about a frame.
package lane_pkg;

  // What is to be done with a block; ECB is none of these.
  typedef struct packed {
    logic ctr;
    logic cbc;
    logic decrypt;  // never with ctr
  } way_t;

endpackage
