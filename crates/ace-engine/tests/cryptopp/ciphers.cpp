// SPDX-License-Identifier: Apache-2.0
// Single blocks through Crypto++. Lines "algorithm key block" in hexadecimal come in; the block encrypted and the
// block decrypted go out.

#include <cryptopp/aes.h>
#include <cryptopp/camellia.h>
#include <cryptopp/cast.h>
#include <cryptopp/des.h>
#include <cryptopp/idea.h>
#include <cryptopp/mars.h>
#include <cryptopp/rc6.h>
#include <cryptopp/serpent.h>
#include <cryptopp/sm4.h>
#include <cryptopp/twofish.h>

#include <functional>
#include <iostream>
#include <map>
#include <string>

using Bytes = std::string;

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
static std::string one(const Bytes &key, const Bytes &block) {
  AnyKeyLength<Transformation> cipher;
  Bytes result(block.size(), 0);
  if (cipher.BlockSize() != block.size()) throw std::runtime_error("block size");
  cipher.SetKey(reinterpret_cast<const CryptoPP::byte *>(key.data()), key.size());
  cipher.ProcessBlock(reinterpret_cast<const CryptoPP::byte *>(block.data()),
                      reinterpret_cast<CryptoPP::byte *>(&result[0]));
  return to_hex(result);
}

template <class Cipher>
static std::string both(const Bytes &key, const Bytes &block) {
  return one<typename Cipher::Encryption>(key, block) + " " + one<typename Cipher::Decryption>(key, block);
}

static std::string triple_des(const Bytes &key, const Bytes &block) {
  return key.size() == 16 ? both<CryptoPP::DES_EDE2>(key, block) : both<CryptoPP::DES_EDE3>(key, block);
}

int main() {
  const std::map<std::string, std::function<std::string(const Bytes &, const Bytes &)>> ciphers = {
      {"aes", both<CryptoPP::AES>},          {"des", both<CryptoPP::DES>},
      {"3des", triple_des},                  {"mars", both<CryptoPP::MARS>},
      {"rc6", both<CryptoPP::RC6>},          {"serpent", both<CryptoPP::Serpent>},
      {"twofish", both<CryptoPP::Twofish>},  {"cast128", both<CryptoPP::CAST128>},
      {"cast256", both<CryptoPP::CAST256>},  {"idea", both<CryptoPP::IDEA>},
      {"camellia", both<CryptoPP::Camellia>}, {"sm4", both<CryptoPP::SM4>},
  };
  std::string algorithm, key, block;
  while (std::cin >> algorithm >> key >> block)
    std::cout << ciphers.at(algorithm)(from_hex(key), from_hex(block)) << '\n';
}
