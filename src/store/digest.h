// Digests of blocks and payloads, as WARC-Block-Digest and WARC-Payload-Digest
// have them: "sha1:" and base32 (RFC 4648 s6), what every index and every other
// archive uses, or "sha256:" and hex.
//
// BlockDigester takes both in one pass: of a response the block is head and
// body, the payload the body alone, and each piece is read into the cache once.
// Where there is no head the two are the same and are computed once.
//
// Threads: one per object; objects are reused. Cost: SHA-1 takes about 0.65 ns
// a byte where the CPU has instructions for it (`nephila bench store`).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL stays in digest.cc
struct evp_md_st;

namespace nephila::store {

enum class DigestKind : uint8_t { kSha1, kSha256 };

struct Digest {
  bool operator==(const Digest&) const = default;

  // The bytes of the digest, 20 or 32.
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()),
            kind == DigestKind::kSha1 ? size_t{20} : size_t{32}};
  }
  // "sha1:TN3WAYLTYUZE7L4TR2Y6OXFZV5A7ZJRC", "sha256:e3b0c442...".
  std::string Text() const;

  DigestKind kind = DigestKind::kSha1;
  std::array<uint8_t, 32> bytes{};  // the rest is zero
};

// RFC 4648 s6, without padding where the size is a multiple of 5 bytes, as 20
// is; other sizes are padded with '='.
std::string Base32(std::string_view bytes);

class Hasher {
 public:
  explicit Hasher(DigestKind kind);
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void Begin();
  void Add(std::string_view bytes);
  // REQUIRES: Begin, and no End since.
  Digest End();

 private:
  struct FreeContext {
    void operator()(evp_md_ctx_st* context) const;
  };
  struct FreeAlgorithm {
    void operator()(evp_md_st* algorithm) const;
  };

  const DigestKind kind_;
  std::unique_ptr<evp_md_st, FreeAlgorithm> algorithm_;
  std::unique_ptr<evp_md_ctx_st, FreeContext> context_;
};

// The digest of bytes at hand.
Digest DigestOf(DigestKind kind, std::string_view bytes);

class BlockDigester {
 public:
  explicit BlockDigester(DigestKind kind) : block_(kind), payload_(kind) {}

  void Begin();
  // What belongs to the block alone: a head, the framing of chunks.
  void AddToBlock(std::string_view bytes);
  // What belongs to the payload alone: a body whose chunks were undone.
  void AddToPayload(std::string_view bytes);
  void AddToBoth(std::string_view bytes);

  struct Digests {
    Digest block;
    Digest payload;
  };
  Digests End();

 private:
  // Makes the two differ.
  void Split();

  Hasher block_;
  Hasher payload_;
  bool same_ = true;        // so far both have seen the same bytes,
  bool any_bytes_ = false;  // and these are some
};

}  // namespace nephila::store
