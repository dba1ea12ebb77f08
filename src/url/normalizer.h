// Normalizer: the crawler's own rewriting of URLs, apart from parsing.
//
// The parser already does what the standard asks (case of the host, default
// ports, dot segments, an empty path). These rules go further: they make equal
// what is nearly always one page (VN s4.3, s4.5), each by a setting of the
// section `url` (docs/config.md). Applying them twice changes nothing more.
//   Threads: one; it keeps scratch space.
//   Cost: one scan of path and query; a rule is paid for only where it bites.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "url/public_suffix.h"
#include "url/url.h"

namespace nephila::url {

class Normalizer {
 public:
  // Keeps a reference to `suffixes`, which must outlive it.
  Normalizer(const config::UrlSettings& settings,
             const PublicSuffixList& suffixes);

  // REQUIRES: url is http or https, as Parse left it.
  void Normalize(Url* url);

 private:
  // Names of parameters or files, with filters that turn most texts away after
  // a look at one character.
  class NameSet {
   public:
    NameSet(const std::vector<std::string>& names, bool ignore_case);
    bool Contains(std::string_view name) const;
    // False if no name in the set ends so.
    bool MayEndWith(char c) const {
      return (last_letters_ & LetterBit(c)) != 0;
    }

   private:
    struct Name {
      std::string text;
      bool prefix;  // written "utm_*"
    };
    static uint64_t LetterBit(char c) {
      return uint64_t{1} << (static_cast<unsigned char>(c) & 31);
    }
    std::vector<Name> names_;
    uint64_t first_letters_ = 0;
    uint64_t last_letters_ = 0;
    bool ignore_case_;
  };

  void NormalizeHost(Url* url);
  void NormalizeEscapes(Url* url);
  void NormalizePath(Url* url, bool has_semicolon);
  void NormalizeQuery(Url* url, bool has_semicolon);
  void AppendRewrittenEscapes(std::string_view text);
  void AppendWithoutSessionIds(std::string_view segment);
  void DropParams(Url* url, bool split_at_semicolons);
  void SortParams(Url* url);
  bool IsDropped(std::string_view param) const;

  config::UrlSettings settings_;
  const PublicSuffixList& suffixes_;
  NameSet default_documents_;
  NameSet session_ids_;
  NameSet stripped_params_;
  std::string scratch_;
  std::vector<std::string_view> params_;
};

}  // namespace nephila::url
