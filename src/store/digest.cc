#include "store/digest.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/check.h"

namespace nephila::store {
namespace {

// A piece that both hashes read while it is in the fastest cache.
constexpr size_t kSliceBytes = size_t{8} * 1024;

constexpr char kBase32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr char kHex[] = "0123456789abcdef";

std::string Hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

}  // namespace

std::string Base32(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 4) / 5 * 8);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<uint8_t>(c);
    count += 8;
    while (count >= 5) {
      count -= 5;
      text += kBase32[(bits >> count) & 31];
    }
  }
  if (count > 0) text += kBase32[(bits << (5 - count)) & 31];
  while (text.size() % 8 != 0) text += '=';
  return text;
}

std::string Digest::Text() const {
  return kind == DigestKind::kSha1 ? "sha1:" + Base32(view())
                                   : "sha256:" + Hex(view());
}

void Hasher::FreeContext::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

void Hasher::FreeAlgorithm::operator()(evp_md_st* algorithm) const {
  EVP_MD_free(algorithm);
}

// Fetched once: a fetch by name for each digest costs more than a small one.
Hasher::Hasher(DigestKind kind)
    : kind_(kind),
      algorithm_(EVP_MD_fetch(
          nullptr, kind == DigestKind::kSha1 ? "SHA1" : "SHA256", nullptr)),
      context_(EVP_MD_CTX_new()) {
  NEPHILA_CHECK(algorithm_ != nullptr && context_ != nullptr);
}

Hasher::~Hasher() = default;

void Hasher::Begin() {
  const int done =
      EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr);
  NEPHILA_CHECK(done == 1);
}

void Hasher::Add(std::string_view bytes) {
  const int done = EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  NEPHILA_CHECK(done == 1);
}

Digest Hasher::End() {
  Digest digest;
  digest.kind = kind_;
  unsigned int size = 0;
  const int done =
      EVP_DigestFinal_ex(context_.get(), digest.bytes.data(), &size);
  NEPHILA_CHECK(done == 1 && size == digest.view().size());
  return digest;
}

Digest DigestOf(DigestKind kind, std::string_view bytes) {
  Hasher hasher(kind);
  hasher.Begin();
  hasher.Add(bytes);
  return hasher.End();
}

void BlockDigester::Begin() {
  block_.Begin();
  same_ = true;
  any_bytes_ = false;
}

void BlockDigester::Split() {
  if (!same_) return;
  // Heads come first; a body that both share and that is then followed by
  // something else is not what a record has.
  NEPHILA_CHECK(!any_bytes_);
  payload_.Begin();
  same_ = false;
}

void BlockDigester::AddToBlock(std::string_view bytes) {
  if (bytes.empty()) return;
  Split();
  block_.Add(bytes);
}

void BlockDigester::AddToPayload(std::string_view bytes) {
  if (bytes.empty()) return;
  Split();
  payload_.Add(bytes);
}

void BlockDigester::AddToBoth(std::string_view bytes) {
  if (bytes.empty()) return;
  any_bytes_ = true;
  if (same_) return block_.Add(bytes);
  while (!bytes.empty()) {
    const std::string_view slice = bytes.substr(0, kSliceBytes);
    block_.Add(slice);
    payload_.Add(slice);
    bytes.remove_prefix(slice.size());
  }
}

BlockDigester::Digests BlockDigester::End() {
  const Digest block = block_.End();
  return {block, same_ ? block : payload_.End()};
}

}  // namespace nephila::store
