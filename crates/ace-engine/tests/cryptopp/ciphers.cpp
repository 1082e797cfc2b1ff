// SPDX-License-Identifier: Apache-2.0
// Data through Crypto++. Lines "algorithm mode key iv data" in hexadecimal come in, the mode ecb (a single block and
// no IV), cfb, cfb8 or ofb; the data encrypted and the data decrypted go out.

#include <cryptopp/aes.h>
#include <cryptopp/camellia.h>
#include <cryptopp/cast.h>
#include <cryptopp/des.h>
#include <cryptopp/idea.h>
#include <cryptopp/mars.h>
#include <cryptopp/modes.h>
#include <cryptopp/rc6.h>
#include <cryptopp/serpent.h>
#include <cryptopp/sm4.h>
#include <cryptopp/twofish.h>

#include <functional>
#include <iostream>
#include <map>
#include <string>

using Bytes = std::string;

struct Question {
  std::string mode;
  Bytes key, iv, data;
};

static const CryptoPP::byte *raw(const Bytes &bytes) {
  return reinterpret_cast<const CryptoPP::byte *>(bytes.data());
}

static Bytes from_hex(const std::string &text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) bytes += char(std::stoi(text.substr(i, 2), nullptr, 16));
  return bytes;
}

static std::string to_hex(const Bytes &bytes) {
  const char *digits = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : bytes) (text += digits[byte >> 4]) += digits[byte & 15];
  return text;
}

// Crypto++ computes MARS with any number of key words and admits the even ones.
template <class Transformation>
struct AnyKeyLength : Transformation {
  size_t GetValidKeyLength(size_t length) const override { return length; }
};

template <class Transformation>
static std::string block(const Question &q) {
  AnyKeyLength<Transformation> cipher;
  Bytes result(q.data.size(), 0);
  if (cipher.BlockSize() != q.data.size()) throw std::runtime_error("block size");
  cipher.SetKey(raw(q.key), q.key.size());
  cipher.ProcessBlock(raw(q.data), reinterpret_cast<CryptoPP::byte *>(&result[0]));
  return to_hex(result);
}

template <class Mode, class Transformation>
static std::string stream(const Question &q, int segment) {
  AnyKeyLength<Transformation> cipher;
  Bytes result(q.data.size(), 0);
  if (cipher.BlockSize() != q.iv.size()) throw std::runtime_error("block size");
  cipher.SetKey(raw(q.key), q.key.size());
  Mode mode(cipher, raw(q.iv), segment);
  mode.ProcessData(reinterpret_cast<CryptoPP::byte *>(&result[0]), raw(q.data), q.data.size());
  return to_hex(result);
}

template <class Mode, class Cipher>
static std::string streams(const Question &q, int segment) {
  // Both directions encrypt with the cipher.
  using Transformation = typename Cipher::Encryption;
  return stream<typename Mode::Encryption, Transformation>(q, segment) + " " +
         stream<typename Mode::Decryption, Transformation>(q, segment);
}

template <class Cipher>
static std::string both(const Question &q) {
  if (q.mode == "ofb") return streams<CryptoPP::OFB_Mode_ExternalCipher, Cipher>(q, 0);
  // A segment of no bytes is a whole block.
  if (q.mode == "cfb") return streams<CryptoPP::CFB_Mode_ExternalCipher, Cipher>(q, 0);
  if (q.mode == "cfb8") return streams<CryptoPP::CFB_Mode_ExternalCipher, Cipher>(q, 1);
  if (q.mode != "ecb") throw std::runtime_error("mode");
  return block<typename Cipher::Encryption>(q) + " " + block<typename Cipher::Decryption>(q);
}

static std::string triple_des(const Question &q) {
  return q.key.size() == 16 ? both<CryptoPP::DES_EDE2>(q) : both<CryptoPP::DES_EDE3>(q);
}

int main(int argc, char **) {
  const std::map<std::string, std::function<std::string(const Question &)>> ciphers = {
      {"aes", both<CryptoPP::AES>},          {"des", both<CryptoPP::DES>},
      {"3des", triple_des},                  {"mars", both<CryptoPP::MARS>},
      {"rc6", both<CryptoPP::RC6>},          {"serpent", both<CryptoPP::Serpent>},
      {"twofish", both<CryptoPP::Twofish>},  {"cast128", both<CryptoPP::CAST128>},
      {"cast256", both<CryptoPP::CAST256>},  {"idea", both<CryptoPP::IDEA>},
      {"camellia", both<CryptoPP::Camellia>}, {"sm4", both<CryptoPP::SM4>},
  };
  // With any argument: which ciphers there are.
  if (argc > 1) {
    for (const auto &cipher : ciphers) std::cout << cipher.first << '\n';
    return 0;
  }
  std::string algorithm, mode, key, iv, data;
  while (std::cin >> algorithm >> mode >> key >> iv >> data)
    std::cout << ciphers.at(algorithm)({mode, from_hex(key), from_hex(iv), from_hex(data)}) << '\n';
}
