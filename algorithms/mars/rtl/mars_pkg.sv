// SPDX-License-Identifier: Apache-2.0
//
// MARS as IBM left it in August 1999, with the key schedule revised for the second round of the AES contest:
// types, rotations and the S-box.
package mars_pkg;

  typedef logic [31:0] word_t;
  typedef logic [3:0][31:0] block_t;

  // What mars_core is at.
  typedef enum logic [3:0] {
    Idle,
    Enter,     // takes the words to their places
    Forward,   // mixing
    Lookup,    // of the first core round
    Multiply,  // the first half of a core round
    Add,       // the second
    Backward,  // mixing
    Adjust,    // A loses B
    Leave
  } phase_e;

  // The bits of A + K that address the S-box are the lowest, or in decryption those from bit 13 on.
  typedef logic [21:0] ahead_t;

  // The key schedule's lookups, as addresses of mars_sbox, and what they find: to stir with, and for the repair.
  typedef struct packed {
    logic [9:0] stir;
    logic [9:0] repair;
  } search_t;

  typedef struct packed {
    word_t stir;
    word_t repair;
  } found_t;

  // A beat of a key, and how many words that has.
  typedef struct packed {
    logic       valid;
    logic       last;
    logic [3:0] words;
  } beat_t;

  // What mars_key_expand does: its S-box is needed; all keys are there; it wants word number index of the key as it
  // came; and K[2 pair + odd] is to be written, as it is and repaired.
  typedef struct packed {
    logic       busy;
    logic       ready;
    logic       fill;
    logic [3:0] index;
    logic       write;
    logic [4:0] pair;
    logic       odd;
    word_t      word;
    word_t      repaired;
  } expansion_t;

  // The keys of mars_core: K[4 + 2 index] and K[5 + 2 index], and K[0] to K[3] or K[36] to K[39].
  typedef struct packed {
    word_t  add;
    word_t  multiply;
    block_t white;
  } keys_t;

  // Those of mars_ring, of two blocks: K[4 + 2 index] and K[5 + 2 index], and K[white] or, with upper, K[36 + white].
  typedef struct packed {
    core_pkg::context_t key;
    logic [3:0]         index;
    core_pkg::context_t white_key;
    logic               upper;
    logic [1:0]         white;
  } ring_at_t;

  typedef struct packed {
    word_t add;
    word_t multiply;
    word_t white;
  } ring_keys_t;

  // Where mars_core is, for its lookups: Adjust comes; in Add no core round comes; before the second half of the core.
  typedef struct packed {
    phase_e phase;
    logic   adjust;
    logic   turned;
    logic   forward;
    logic   decrypt;
  } at_t;

  // What it looks up: B; the next A of forward and of backward mixing; A + K, and what that is made of sooner.
  typedef struct packed {
    word_t      b;
    word_t      f_sum;
    word_t      b_sum;
    logic [8:0] a_key;
    logic [8:0] crossed;
    logic [8:0] key;
    ahead_t     ahead;
  } sought_t;

  // And what it finds, to be added and for exclusive ors.
  typedef struct packed {
    word_t l;
    word_t c;
    word_t x;
    word_t y;
  } words_t;

  function automatic word_t rol(input word_t x, input int unsigned n);
    return 32'({x, x} >> (32 - n));
  endfunction

  function automatic word_t rotate(input word_t x, input logic [4:0] n);
    word_t y;
    y = n[4] ? rol(x, 16) : x;
    y = n[3] ? rol(y, 8) : y;
    y = n[2] ? rol(y, 4) : y;
    y = n[1] ? rol(y, 2) : y;
    return n[0] ? rol(y, 1) : y;
  endfunction

  // Where the four words stand that repair a multiplication key.
  localparam int unsigned RepairBase = 265;

  // S0 is the first half, S1 the second. Entry 5i + j is word j of the SHA-1 digest of the words 5i,
  // b7e15162, 243f6a88, 02917d59 (little-endian, as are the words of the digest), but for the nine entries
  // 17, 67, 76, 131, 147, 210, 297, 351 and 420, which are three times that. flow/tests/test_mars.py holds
  // the table against it.
  // verilog_format: off
  localparam word_t SBox[512] = '{
    32'h09d0c479,32'h28c8ffe0,32'h84aa6c39,32'h9dad7287,32'h7dff9be3,32'hd4268361,32'hc96da1d4,32'h7974cc93,
    32'h85d0582e,32'h2a4b5705,32'h1ca16a62,32'hc3bd279d,32'h0f1f25e5,32'h5160372f,32'hc695c1fb,32'h4d7ff1e4,
    32'hae5f6bf4,32'h0d72ee46,32'hff23de8a,32'hb1cf8e83,32'hf14902e2,32'h3e981e42,32'h8bf53eb6,32'h7f4bf8ac,
    32'h83631f83,32'h25970205,32'h76afe784,32'h3a7931d4,32'h4f846450,32'h5c64c3f6,32'h210a5f18,32'hc6986a26,
    32'h28f4e826,32'h3a60a81c,32'hd340a664,32'h7ea820c4,32'h526687c5,32'h7eddd12b,32'h32a11d1d,32'h9c9ef086,
    32'h80f6e831,32'hab6f04ad,32'h56fb9b53,32'h8b2e095c,32'hb68556ae,32'hd2250b0d,32'h294a7721,32'he21fb253,
    32'hae136749,32'he82aae86,32'h93365104,32'h99404a66,32'h78a784dc,32'hb69ba84b,32'h04046793,32'h23db5c1e,
    32'h46cae1d6,32'h2fe28134,32'h5a223942,32'h1863cd5b,32'hc190c6e3,32'h07dfb846,32'h6eb88816,32'h2d0dcc4a,
    32'ha4ccae59,32'h3798670d,32'hcbfa9493,32'h4f481d45,32'heafc8ca8,32'hdb1129d6,32'hb0449e20,32'h0f5407fb,
    32'h6167d9a8,32'hd1f45763,32'h4daa96c3,32'h3bec5958,32'hababa014,32'hb6ccd201,32'h38d6279f,32'h02682215,
    32'h8f376cd5,32'h092c237e,32'hbfc56593,32'h32889d2c,32'h854b3e95,32'h05bb9b43,32'h7dcd5dcd,32'ha02e926c,
    32'hfae527e5,32'h36a1c330,32'h3412e1ae,32'hf257f462,32'h3c4f1d71,32'h30a2e809,32'h68e5f551,32'h9c61ba44,
    32'h5ded0ab8,32'h75ce09c8,32'h9654f93e,32'h698c0cca,32'h243cb3e4,32'h2b062b97,32'h0f3b8d9e,32'h00e050df,
    32'hfc5d6166,32'he35f9288,32'hc079550d,32'h0591aee8,32'h8e531e74,32'h75fe3578,32'h2f6d829a,32'hf60b21ae,
    32'h95e8eb8d,32'h6699486b,32'h901d7d9b,32'hfd6d6e31,32'h1090acef,32'he0670dd8,32'hdab2e692,32'hcd6d4365,
    32'he5393514,32'h3af345f0,32'h6241fc4d,32'h460da3a3,32'h7bcf3729,32'h8bf1d1e0,32'h14aac070,32'h1587ed55,
    32'h3afd7d3e,32'hd2f29e01,32'h29a9d1f6,32'hefb10c53,32'hcf3b870f,32'hb414935c,32'h664465ed,32'h024acac7,
    32'h59a744c1,32'h1d2936a7,32'hdc580aa6,32'hcf574ca8,32'h040a7a10,32'h6cd81807,32'h8a98be4c,32'haccea063,
    32'hc33e92b5,32'hd1e0e03d,32'hb322517e,32'h2092bd13,32'h386b2c4a,32'h52e8dd58,32'h58656dfb,32'h50820371,
    32'h41811896,32'he337ef7e,32'hd39fb119,32'hc97f0df6,32'h68fea01b,32'ha150a6e5,32'h55258962,32'heb6ff41b,
    32'hd7c9cd7a,32'ha619cd9e,32'hbcf09576,32'h2672c073,32'hf003fb3c,32'h4ab7a50b,32'h1484126a,32'h487ba9b1,
    32'ha64fc9c6,32'hf6957d49,32'h38b06a75,32'hdd805fcd,32'h63d094cf,32'hf51c999e,32'h1aa4d343,32'hb8495294,
    32'hce9f8e99,32'hbffcd770,32'hc7c275cc,32'h378453a7,32'h7b21be33,32'h397f41bd,32'h4e94d131,32'h92cc1f98,
    32'h5915ea51,32'h99f861b7,32'hc9980a88,32'h1d74fd5f,32'hb0a495f8,32'h614deed0,32'hb5778eea,32'h5941792d,
    32'hfa90c1f8,32'h33f824b4,32'hc4965372,32'h3ff6d550,32'h4ca5fec0,32'h8630e964,32'h5b3fbbd6,32'h7da26a48,
    32'hb203231a,32'h04297514,32'h2d639306,32'h2eb13149,32'h16a45272,32'h532459a0,32'h8e5f4872,32'hf966c7d9,
    32'h07128dc0,32'h0d44db62,32'hafc8d52d,32'h06316131,32'hd838e7ce,32'h1bc41d00,32'h3a2e8c0f,32'hea83837e,
    32'hb984737d,32'h13ba4891,32'hc4f8b949,32'ha6d6acb3,32'ha215cdce,32'h8359838b,32'h6bd1aa31,32'hf579dd52,
    32'h21b93f93,32'hf5176781,32'h187dfdde,32'he94aeb76,32'h2b38fd54,32'h431de1da,32'hab394825,32'h9ad3048f,
    32'hdfea32aa,32'h659473e3,32'h623f7863,32'hf3346c59,32'hab3ab685,32'h3346a90b,32'h6b56443e,32'hc6de01f8,
    32'h8d421fc0,32'h9b0ed10c,32'h88f1a1e9,32'h54c1f029,32'h7dead57b,32'h8d7ba426,32'h4cf5178a,32'h551a7cca,
    32'h1a9a5f08,32'hfcd651b9,32'h25605182,32'he11fc6c3,32'hb6fd9676,32'h337b3027,32'hb7c8eb14,32'h9e5fd030,
    32'h6b57e354,32'had913cf7,32'h7e16688d,32'h58872a69,32'h2c2fc7df,32'he389ccc6,32'h30738df1,32'h0824a734,
    32'he1797a8b,32'ha4a8d57b,32'h5b5d193b,32'hc8a8309b,32'h73f9a978,32'h73398d32,32'h0f59573e,32'he9df2b03,
    32'he8a5b6c8,32'h848d0704,32'h98df93c2,32'h720a1dc3,32'h684f259a,32'h943ba848,32'ha6370152,32'h863b5ea3,
    32'hd17b978b,32'h6d9b58ef,32'h0a700dd4,32'ha73d36bf,32'h8e6a0829,32'h8695bc14,32'he35b3447,32'h933ac568,
    32'h8894b022,32'h2f511c27,32'hddfbcc3c,32'h006662b6,32'h117c83fe,32'h4e12b414,32'hc2bca766,32'h3a2fec10,
    32'hf4562420,32'h55792e2a,32'h46f5d857,32'hceda25ce,32'hc3601d3b,32'h6c00ab46,32'hefac9c28,32'hb3c35047,
    32'h611dfee3,32'h257c3207,32'hfdd58482,32'h3b14d84f,32'h23becb64,32'ha075f3a3,32'h088f8ead,32'h07adf158,
    32'h7796943c,32'hfacabf3d,32'hc09730cd,32'hf7679969,32'hda44e9ed,32'h2c854c12,32'h35935fa3,32'h2f057d9f,
    32'h690624f8,32'h1cb0bafd,32'h7b0dbdc6,32'h810f23bb,32'hfa929a1a,32'h6d969a17,32'h6742979b,32'h74ac7d05,
    32'h010e65c4,32'h86a3d963,32'hf907b5a0,32'hd0042bd3,32'h158d7d03,32'h287a8255,32'hbba8366f,32'h096edc33,
    32'h21916a7b,32'h77b56b86,32'h951622f9,32'ha6c5e650,32'h8cea17d1,32'hcd8c62bc,32'ha3d63433,32'h358a68fd,
    32'h0f9b9d3c,32'hd6aa295b,32'hfe33384a,32'hc000738e,32'hcd67eb2f,32'he2eb6dc2,32'h97338b02,32'h06c9f246,
    32'h419cf1ad,32'h2b83c045,32'h3723f18a,32'hcb5b3089,32'h160bead7,32'h5d494656,32'h35f8a74b,32'h1e4e6c9e,
    32'h000399bd,32'h67466880,32'hb4174831,32'hacf423b2,32'hca815ab3,32'h5a6395e7,32'h302a67c5,32'h8bdb446b,
    32'h108f8fa4,32'h10223eda,32'h92b8b48b,32'h7f38d0ee,32'hab2701d4,32'h0262d415,32'haf224a30,32'hb3d88aba,
    32'hf8b2c3af,32'hdaf7ef70,32'hcc97d3b7,32'he9614b6c,32'h2baebff4,32'h70f687cf,32'h386c9156,32'hce092ee5,
    32'h01e87da6,32'h6ce91e6a,32'hbb7bcc84,32'hc7922c20,32'h9d3b71fd,32'h060e41c6,32'hd7590f15,32'h4e03bb47,
    32'h183c198e,32'h63eeb240,32'h2ddbf49a,32'h6d5cba54,32'h923750af,32'hf9e14236,32'h7838162b,32'h59726c72,
    32'h81b66760,32'hbb2926c1,32'h48a0ce0d,32'ha6c0496d,32'had43507b,32'h718d496a,32'h9df057af,32'h44b1bde6,
    32'h054356dc,32'hde7ced35,32'hd51a138b,32'h62088cc9,32'h35830311,32'hc96efca2,32'h686f86ec,32'h8e77cb68,
    32'h63e1d6b8,32'hc80f9778,32'h79c491fd,32'h1b4c67f2,32'h72698d7d,32'h5e368c31,32'hf7d95e2e,32'ha1d3493f,
    32'hdcd9433e,32'h896f1552,32'h4bc4ca7a,32'ha6d1baf4,32'ha5a96dcc,32'h0bef8b46,32'ha169fda7,32'h74df40b7,
    32'h4e208804,32'h9a756607,32'h038e87c8,32'h20211e44,32'h8b7ad4bf,32'hc6403f35,32'h1848e36d,32'h80bdb038,
    32'h1e62891c,32'h643d2107,32'hbf04d6f8,32'h21092c8c,32'hf644f389,32'h0778404e,32'h7b78adb8,32'ha2c52d53,
    32'h42157abe,32'ha2253e2e,32'h7bf3f4ae,32'h80f594f9,32'h953194e7,32'h77eb92ed,32'hb3816930,32'hda8d9336,
    32'hbf447469,32'hf26d9483,32'hee6faed5,32'h71371235,32'hde425f73,32'hb4e59f43,32'h7dbe2d4e,32'h2d37b185,
    32'h49dc9a63,32'h98c39d98,32'h1301c9a2,32'h389b1bbf,32'h0c18588d,32'ha421c1ba,32'h7aa3865c,32'h71e08558,
    32'h3c5cfcaa,32'h7d239ca4,32'h0297d9dd,32'hd7dc2830,32'h4b37802b,32'h7428ab54,32'haeee0347,32'h4b3fbb85,
    32'h692f2f08,32'h134e578e,32'h36d9e0bf,32'hae8b5fcf,32'hedb93ecf,32'h2b27248e,32'h170eb1ef,32'h7dc57fd6,
    32'h1e760f16,32'hb1136601,32'h864e1b9b,32'hd7ea7319,32'h3ab871bd,32'hcfa4d76f,32'he31bd782,32'h0dbeb469,
    32'habb96061,32'h5370f85d,32'hffb07e37,32'hda30d0fb,32'hebc977b6,32'h0b98b40f,32'h3a4d0fe6,32'hdf4fc26b,
    32'h159cf22a,32'hc298d6e2,32'h2b78ef6a,32'h61a94ac0,32'hab561187,32'h14eea0f0,32'hdf0d4164,32'h19af70ee
  };
  // verilog_format: on

endpackage
