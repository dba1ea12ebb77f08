// Url: a parsed URL, held as its own serialization plus the offsets of its
// parts, so that every part is a view and parsing into a reused Url does not
// allocate.
//
//   https://user:pass@example.com:8443/a/b?x=1#top
//        |      |    |          |    |    |   |
//        |      |    |          |    |    |   `- fragment_start_
//        |      |    |          |    |    `- query_start_
//        |      |    |          |    `- path_start_, authority_end_
//        |      |    |          `- host_end_
//        |      |    `- host_start_
//        |      `- username_end_
//        `- scheme_end_
//
// A path that begins with "//" and has no host before it is serialized with
// "/." between authority_end_ and path_start_. Parsing: url/parser.h.
//   Threads: a value, no sharing inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::url {

// The special schemes of the standard; everything else is kOther.
enum class Scheme : uint8_t { kHttp, kHttps, kWs, kWss, kFtp, kFile, kOther };

enum class HostKind : uint8_t {
  kNone,    // "mailto:x": no authority at all
  kEmpty,   // "file:///x"
  kDomain,  // ASCII, lower case, after IDNA
  kIpv4,    // dotted decimal
  kIpv6,    // in brackets
  kOpaque,  // host of a scheme that is not special
};

class Url {
 public:
  std::string_view href() const { return href_; }
  Scheme scheme_kind() const { return scheme_; }
  HostKind host_kind() const { return host_kind_; }
  bool is_special() const { return scheme_ != Scheme::kOther; }
  bool is_http() const { return scheme_ <= Scheme::kHttps; }
  // "mailto:x": the path is one opaque text, nothing can be resolved on it.
  bool has_opaque_path() const { return opaque_path_; }
  bool has_userinfo() const {
    return host_kind_ != HostKind::kNone && host_start_ > scheme_end_ + 3;
  }
  bool has_query() const { return query_start_ != kNone; }
  bool has_fragment() const { return fragment_start_ != kNone; }

  // The parts, named as in the URL standard's API but without punctuation:
  // query "x=1", not "?x=1". Empty where there is none.
  std::string_view scheme() const { return Part(0, scheme_end_); }
  std::string_view username() const;
  std::string_view password() const;
  std::string_view host() const { return Part(host_start_, host_end_); }
  std::string_view port() const;
  std::string_view path() const { return Part(path_start_, PathEnd()); }
  std::string_view query() const;
  std::string_view fragment() const;

  // Edits for the crawler's normalisation; each keeps the offsets true and
  // costs one move of what stands behind it. REQUIRES: an http(s) URL, and a
  // text that is already encoded for its place (paths begin with '/').
  void RemoveUserinfo();
  void RemoveFragment();
  void RemoveQuery();
  void ReplaceHost(std::string_view host);
  void ReplacePath(std::string_view path);
  void ReplaceQuery(std::string_view query);
  // Path, query and fragment as one writable range, for edits that keep every
  // length and every '?' and '#' where it is.
  char* mutable_tail() { return href_.data() + path_start_; }
  size_t tail_size() const { return href_.size() - path_start_; }

 private:
  friend class UrlBuilder;  // url/parser.cc
  static constexpr uint32_t kNone = UINT32_MAX;

  std::string_view Part(size_t begin, size_t end) const {
    return std::string_view(href_).substr(begin, end - begin);
  }
  uint32_t PathEnd() const;
  // Replaces href_[begin, end) and moves every offset at or behind `end`.
  void Splice(size_t begin, size_t end, std::string_view text);

  std::string href_;
  uint32_t scheme_end_ = 0;
  uint32_t username_end_ = 0;
  uint32_t host_start_ = 0;
  uint32_t host_end_ = 0;
  uint32_t authority_end_ = 0;
  uint32_t path_start_ = 0;
  uint32_t query_start_ = kNone;     // of the '?'
  uint32_t fragment_start_ = kNone;  // of the '#'
  Scheme scheme_ = Scheme::kOther;
  HostKind host_kind_ = HostKind::kNone;
  bool opaque_path_ = false;
};

}  // namespace nephila::url
