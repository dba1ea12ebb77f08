// DigestCheck: whether bytes have the digest that a record claims for them.
//
// Takes what archives hold: md5, sha1, sha256 and sha512 (also "sha-1"), in
// base32 or hex of any case, or base64 of either alphabet, with or without
// padding. The written form of our own digests is in digest.h.
//   Threads: one per object.   Cost: that of OpenSSL's hash.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace nephila::store {

// RFC 4648 s6, any case, padding allowed. None if it is no base32.
std::optional<std::string> DecodeBase32(std::string_view text);
std::optional<std::string> DecodeHex(std::string_view text);
// RFC 4648 s4 and s5.
std::optional<std::string> DecodeBase64(std::string_view text);

class DigestCheck {
 public:
  // `claim`: "sha1:TN3WAYLTYUZE7L4TR2Y6OXFZV5A7ZJRC".
  explicit DigestCheck(std::string_view claim);
  ~DigestCheck();
  DigestCheck(DigestCheck&&) noexcept;
  DigestCheck& operator=(DigestCheck&&) noexcept;

  // Whether the claim could be read: a known algorithm and as many bytes as it
  // has. Otherwise Matches has no answer.
  bool known() const { return known_; }
  void Add(std::string_view bytes);
  // After the last byte; once.
  bool Matches();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  bool known_ = false;
  std::string expected_;
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace nephila::store
