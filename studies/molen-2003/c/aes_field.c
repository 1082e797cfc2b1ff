/* SPDX-License-Identifier: Apache-2.0
 *
 * The field of AES: powers of {03} and their logarithms, and the S-box from the inverse (FIPS 197, 4.2 and 5.1.1). */
#include "aes.h"

byte logarithm[256], power[256], s_box[256], inverse_s_box[256];

void field_prepare(void) {
  word i, x = 1;
  for (i = 0; i < 256; i++) {
    power[i] = (byte)x;
    if (i < 255) logarithm[x] = (byte)i;
    x ^= x << 1;
    if (x & 0x100) x ^= 0x11b;
  }
  for (i = 0; i < 256; i++) {
    word inverse = i == 0 ? 0 : power[(255 - logarithm[i]) % 255], s = inverse, n;
    for (n = 0; n < 4; n++) {
      inverse = (inverse << 1 | inverse >> 7) & 0xff;
      s ^= inverse;
    }
    s ^= 0x63;
    s_box[i] = (byte)s;
    inverse_s_box[s] = (byte)i;
  }
}
