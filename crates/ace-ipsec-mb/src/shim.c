/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain functions over intel-ipsec-mb. The library is called through function pointers in a structure of which only
 * its header knows the layout, so the header is used by a C compiler; a hundred lines here stand for the thousands
 * that generated bindings would have.
 */

#include <intel-ipsec-mb.h>
#include <string.h>

/* As `Job` in ffi.rs. */
struct ace_mb_job {
  const void *enc_keys, *dec_keys;
  uint64_t key_len;
  uint8_t *packet;
  uint64_t text_start, text_len, over_start, over_len;
  const uint8_t *iv;
  uint64_t iv_len;
  uint8_t *tag;
  uint64_t tag_len;
  const void *inner, *outer;
  const void *aad;
  uint64_t aad_len;
  uint32_t cipher, hash, encrypt, index;
};

/* As `Done` in ffi.rs. */
struct ace_mb_done {
  uint32_t index, good;
};

static const IMB_CIPHER_MODE ciphers[] = {
  IMB_CIPHER_NULL, IMB_CIPHER_CBC,  IMB_CIPHER_CNTR,
  IMB_CIPHER_DES,  IMB_CIPHER_DES3, IMB_CIPHER_CHACHA20_POLY1305,
};

static const IMB_HASH_ALG hashes[] = {
  IMB_AUTH_NULL,         IMB_AUTH_MD5,          IMB_AUTH_HMAC_SHA_1,   IMB_AUTH_HMAC_SHA_224,
  IMB_AUTH_HMAC_SHA_256, IMB_AUTH_HMAC_SHA_384, IMB_AUTH_HMAC_SHA_512, IMB_AUTH_CHACHA20_POLY1305,
};

IMB_MGR *ace_mb_open(void) {
  IMB_MGR *mgr = alloc_mb_mgr(0);
  IMB_ARCH arch = IMB_ARCH_NONE;
  if (mgr == NULL) return NULL;
  init_mb_mgr_auto(mgr, &arch);
  if (arch == IMB_ARCH_NONE || imb_get_errno(mgr) != 0) {
    free_mb_mgr(mgr);
    return NULL;
  }
  return mgr;
}

/* DES has lanes in the AVX-512 code only; the other is a thousand times slower than any other software. */
uint32_t ace_mb_has_des(const IMB_MGR *mgr) { return mgr->used_arch == IMB_ARCH_AVX512; }

void ace_mb_close(IMB_MGR *mgr) { free_mb_mgr(mgr); }

const char *ace_mb_version(void) { return imb_get_version_str(); }

uint64_t ace_mb_gcm_key_size(void) { return sizeof(struct gcm_key_data); }

/* `len` is 16, 24 or 32. */
void ace_mb_gcm_key(IMB_MGR *mgr, const void *key, uint64_t len, void *expanded) {
  if (len == 16) IMB_AES128_GCM_PRE(mgr, key, expanded);
  if (len == 24) IMB_AES192_GCM_PRE(mgr, key, expanded);
  if (len == 32) IMB_AES256_GCM_PRE(mgr, key, expanded);
}

/* In place, with a nonce of 12 bytes; the tag comes out in both directions. */
void ace_mb_gcm(IMB_MGR *mgr, const void *key, uint64_t key_len, uint32_t encrypt, uint8_t *text, uint64_t len,
                const uint8_t *nonce, const uint8_t *aad, uint64_t aad_len, uint8_t *tag) {
  struct gcm_context_data context;
  if (key_len == 16 && encrypt)
    IMB_AES128_GCM_ENC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
  else if (key_len == 16)
    IMB_AES128_GCM_DEC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
  else if (key_len == 24 && encrypt)
    IMB_AES192_GCM_ENC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
  else if (key_len == 24)
    IMB_AES192_GCM_DEC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
  else if (encrypt)
    IMB_AES256_GCM_ENC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
  else
    IMB_AES256_GCM_DEC(mgr, key, &context, text, text, len, nonce, aad, aad_len, tag, 16);
}

/* A message piece by piece: the state of either AEAD. */
union ace_mb_stream {
  struct gcm_context_data gcm;
  struct chacha20_poly1305_context_data chacha;
};

uint64_t ace_mb_stream_size(void) { return sizeof(union ace_mb_stream); }

#define BY_KEY(len, action, ...)                                    \
  do {                                                           \
    if ((len) == 16) IMB_AES128_GCM_##action(mgr, __VA_ARGS__);  \
    if ((len) == 24) IMB_AES192_GCM_##action(mgr, __VA_ARGS__);  \
    if ((len) == 32) IMB_AES256_GCM_##action(mgr, __VA_ARGS__);  \
  } while (0)

void ace_mb_gcm_begin(IMB_MGR *mgr, const void *key, uint64_t key_len, union ace_mb_stream *state, const uint8_t *iv,
                      uint64_t iv_len, const uint8_t *aad, uint64_t aad_len) {
  if (iv_len == 12)
    BY_KEY(key_len, INIT, key, &state->gcm, iv, aad, aad_len);
  else
    BY_KEY(key_len, INIT_VAR_IV, key, &state->gcm, iv, iv_len, aad, aad_len);
}

void ace_mb_gcm_piece(IMB_MGR *mgr, const void *key, uint64_t key_len, uint32_t encrypt, union ace_mb_stream *state,
                      uint8_t *to, const uint8_t *from, uint64_t len) {
  if (encrypt)
    BY_KEY(key_len, ENC_UPDATE, key, &state->gcm, to, from, len);
  else
    BY_KEY(key_len, DEC_UPDATE, key, &state->gcm, to, from, len);
}

/* The tag is the same in both directions. */
void ace_mb_gcm_end(IMB_MGR *mgr, const void *key, uint64_t key_len, union ace_mb_stream *state, uint8_t *tag) {
  BY_KEY(key_len, ENC_FINALIZE, key, &state->gcm, tag, 16);
}

void ace_mb_chacha_begin(IMB_MGR *mgr, const void *key, union ace_mb_stream *state, const uint8_t *iv,
                         const uint8_t *aad, uint64_t aad_len) {
  IMB_CHACHA20_POLY1305_INIT(mgr, key, &state->chacha, iv, aad, aad_len);
}

void ace_mb_chacha_piece(IMB_MGR *mgr, const void *key, uint32_t encrypt, union ace_mb_stream *state, uint8_t *to,
                         const uint8_t *from, uint64_t len) {
  if (encrypt)
    IMB_CHACHA20_POLY1305_ENC_UPDATE(mgr, key, &state->chacha, to, from, len);
  else
    IMB_CHACHA20_POLY1305_DEC_UPDATE(mgr, key, &state->chacha, to, from, len);
}

void ace_mb_chacha_end(IMB_MGR *mgr, uint32_t encrypt, union ace_mb_stream *state, uint8_t *tag) {
  if (encrypt)
    IMB_CHACHA20_POLY1305_ENC_FINALIZE(mgr, &state->chacha, tag, 16);
  else
    IMB_CHACHA20_POLY1305_DEC_FINALIZE(mgr, &state->chacha, tag, 16);
}

void ace_mb_aes_key(IMB_MGR *mgr, const void *key, uint64_t len, void *enc, void *dec) {
  if (len == 16) IMB_AES_KEYEXP_128(mgr, key, enc, dec);
  if (len == 24) IMB_AES_KEYEXP_192(mgr, key, enc, dec);
  if (len == 32) IMB_AES_KEYEXP_256(mgr, key, enc, dec);
}

void ace_mb_des_key(IMB_MGR *mgr, const void *key, uint64_t *schedule) { IMB_DES_KEYSCHED(mgr, schedule, key); }

/* The chaining state behind one block: the key, padded and masked. */
void ace_mb_one_block(IMB_MGR *mgr, uint32_t hash, const void *block, void *state) {
  switch (hashes[hash]) {
    case IMB_AUTH_MD5: IMB_MD5_ONE_BLOCK(mgr, block, state); break;
    case IMB_AUTH_HMAC_SHA_1: IMB_SHA1_ONE_BLOCK(mgr, block, state); break;
    case IMB_AUTH_HMAC_SHA_224: IMB_SHA224_ONE_BLOCK(mgr, block, state); break;
    case IMB_AUTH_HMAC_SHA_256: IMB_SHA256_ONE_BLOCK(mgr, block, state); break;
    case IMB_AUTH_HMAC_SHA_384: IMB_SHA384_ONE_BLOCK(mgr, block, state); break;
    case IMB_AUTH_HMAC_SHA_512: IMB_SHA512_ONE_BLOCK(mgr, block, state); break;
    default: break;
  }
}

static uint32_t take(IMB_MGR *mgr, IMB_JOB *job, struct ace_mb_done *done, uint32_t room) {
  uint32_t count = 0;
  while (job != NULL && count < room) {
    done[count].index = (uint32_t)(uintptr_t)job->user_data;
    done[count].good = job->status == IMB_STATUS_COMPLETED;
    count++;
    job = count < room ? IMB_GET_COMPLETED_JOB(mgr) : NULL;
  }
  return count;
}

/* Hands a job in; what is complete comes out, in the order of submission, at most `room`. */
uint32_t ace_mb_submit(IMB_MGR *mgr, const struct ace_mb_job *from, struct ace_mb_done *done, uint32_t room) {
  IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
  const uint32_t chacha = ciphers[from->cipher] == IMB_CIPHER_CHACHA20_POLY1305;
  memset(job, 0, sizeof *job);
  job->enc_keys = from->enc_keys;
  job->dec_keys = from->dec_keys;
  job->key_len_in_bytes = from->key_len;
  job->src = from->packet;
  job->dst = from->packet + from->text_start;
  job->cipher_start_src_offset_in_bytes = from->text_start;
  job->msg_len_to_cipher_in_bytes = from->text_len;
  job->hash_start_src_offset_in_bytes = from->over_start;
  job->msg_len_to_hash_in_bytes = from->over_len;
  job->iv = from->iv;
  job->iv_len_in_bytes = from->iv_len;
  job->auth_tag_output = from->tag;
  job->auth_tag_output_len_in_bytes = from->tag_len;
  if (chacha) {
    job->u.CHACHA20_POLY1305.aad = from->aad;
    job->u.CHACHA20_POLY1305.aad_len_in_bytes = from->aad_len;
  } else {
    job->u.HMAC._hashed_auth_key_xor_ipad = from->inner;
    job->u.HMAC._hashed_auth_key_xor_opad = from->outer;
  }
  job->cipher_mode = ciphers[from->cipher];
  job->hash_alg = hashes[from->hash];
  job->cipher_direction = from->encrypt ? IMB_DIR_ENCRYPT : IMB_DIR_DECRYPT;
  job->chain_order = from->encrypt ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
  job->user_data = (void *)(uintptr_t)from->index;
  return take(mgr, IMB_SUBMIT_JOB(mgr), done, room);
}

/* Completes what was handed in, at most `room`; 0 if nothing is left. */
uint32_t ace_mb_flush(IMB_MGR *mgr, struct ace_mb_done *done, uint32_t room) {
  return take(mgr, IMB_FLUSH_JOB(mgr), done, room);
}
