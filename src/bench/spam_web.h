// SpamWeb: the simulated web with link farms in it. One in a hundred domains is
// spam, and spam has nine in ten of all URLs.
//
// Good pages are those of sim::Web; some of them link to a farm. A farm is a
// ring of domains whose pages link to nothing but pages of the ring: with a
// ring of one domain it pays for one, with 500 each of them votes for the
// others.
//
// In: options. Out: the links of any page, the record of any page. Nothing is
// stored. Threads: immutable. Cost: that of sim::Web.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/url_record.h"
#include "sim/web.h"

namespace nephila::bench {

struct SpamPage {
  uint64_t pld = 0;  // of its kind
  uint64_t host = 0;
  uint64_t page = 0;
  bool spam = false;
  bool operator==(const SpamPage&) const = default;
};

struct SpamWebOptions {
  int64_t hosts = 200'000;   // good ones
  uint64_t ring = 1;         // domains that link to each other
  int64_t entries = 10;      // good pages of a thousand that link to a farm
  uint64_t spam_links = 80;  // of a spam page; a good one has 59
  bool with_spam = true;
  int64_t seed = 1;
};

class SpamWeb {
 public:
  static Result<SpamWeb> Make(const SpamWebOptions& options);

  uint64_t good_domains() const { return web_.pld_count(); }
  uint64_t spam_domains() const { return spam_domains_; }
  uint64_t pages_per_spam_domain() const { return spam_pages_; }

  void AppendLinks(const SpamPage& page, std::vector<SpamPage>* out) const;

  // The record of a page: its name is in `text`, the page itself in the place
  // of discovery, where PageOf finds it.
  item::UrlRecord MakeRecord(const SpamPage& page, std::string* text) const;
  static SpamPage PageOf(const item::UrlRecord& record);

 private:
  SpamWeb(const SpamWebOptions& options, sim::Web web);

  const SpamWebOptions options_;
  sim::Web web_;
  uint64_t spam_domains_;
  uint64_t spam_pages_;
};

}  // namespace nephila::bench
