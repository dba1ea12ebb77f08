#include "store/digest_check.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace nephila::store {
namespace {

const EVP_MD* AlgorithmOf(std::string_view name) {
  std::string lower = LowerAscii(name);
  if (lower == "sha1" || lower == "sha-1") return EVP_sha1();
  if (lower == "sha256" || lower == "sha-256") return EVP_sha256();
  if (lower == "sha512" || lower == "sha-512") return EVP_sha512();
  if (lower == "md5") return EVP_md5();
  return nullptr;
}

int Base32Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= '2' && c <= '7') return c - '2' + 26;
  return -1;
}

int Base64Value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Digits of so many bits each, the padding behind them left out.
std::optional<std::string> DecodeBits(std::string_view text, unsigned width,
                                      int (*value_of)(char)) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size());
  unsigned bits = 0;
  unsigned held = 0;
  for (char c : text) {
    int value = value_of(c);
    if (value < 0) return std::nullopt;
    held = (held << width | static_cast<unsigned>(value)) & 0x3fff;
    bits += width;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits & 0xff);
    }
  }
  return bytes;
}

// The lengths of the three forms differ for each of the algorithms.
std::optional<std::string> DecodeDigest(std::string_view text, size_t size) {
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() == 2 * size) return DecodeHex(text);
  if (text.size() == (size * 8 + 4) / 5) return DecodeBase32(text);
  return DecodeBase64(text);
}

}  // namespace

std::optional<std::string> DecodeBase32(std::string_view text) {
  return DecodeBits(text, 5, Base32Value);
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  return DecodeBits(text, 6, Base64Value);
}

std::optional<std::string> DecodeHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = HexValue(text[i]);
    int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

void DigestCheck::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

DigestCheck::DigestCheck(std::string_view claim) {
  size_t colon = claim.find(':');
  if (colon == std::string_view::npos) return;
  const EVP_MD* algorithm = AlgorithmOf(claim.substr(0, colon));
  if (algorithm == nullptr) return;
  auto size = static_cast<size_t>(EVP_MD_get_size(algorithm));
  std::string_view text = claim.substr(colon + 1);
  auto bytes = DecodeDigest(text, size);
  if (!bytes || bytes->size() != size) return;
  expected_ = *std::move(bytes);
  context_.reset(EVP_MD_CTX_new());
  NEPHILA_CHECK(context_ != nullptr);
  NEPHILA_CHECK(EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1);
  known_ = true;
}

DigestCheck::~DigestCheck() = default;
DigestCheck::DigestCheck(DigestCheck&&) noexcept = default;
DigestCheck& DigestCheck::operator=(DigestCheck&&) noexcept = default;

void DigestCheck::Add(std::string_view bytes) {
  if (!known_) return;
  NEPHILA_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) ==
                1);
}

bool DigestCheck::Matches() {
  if (!known_) return false;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  NEPHILA_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  return expected_ ==
         std::string_view(reinterpret_cast<const char*>(digest.data()), size);
}

}  // namespace nephila::store
