#include "bench/spam_web.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/mix.h"
#include "sim/shape.h"

namespace nephila::bench {
namespace {

// Of a hundred domains one is spam, and of ten URLs nine are.
constexpr uint64_t kDomainsPerSpam = 99;
constexpr uint64_t kSpamUrlsPerGood = 9;
constexpr uint64_t kSpamLinks = 40;
// Good pages of a thousand that link to a farm.
constexpr int64_t kEntryPermille = 10;
constexpr uint64_t kSpamSalt = 0x7370616D;
constexpr uint64_t kSpamBit = uint64_t{1} << 63;
constexpr int kPageBits = 40;

uint64_t BitsOf(const SpamPage& page, int64_t seed) {
  return sim::Mix(static_cast<uint64_t>(seed) ^ kSpamSalt,
                  sim::Mix(page.pld, page.host, page.page), page.spam ? 1 : 0);
}

}  // namespace

SpamWeb::SpamWeb(const SpamWebOptions& options, sim::Web web)
    : options_(options),
      web_(std::move(web)),
      spam_domains_(std::max(web_.pld_count() / kDomainsPerSpam, options.ring)),
      spam_pages_(std::max<uint64_t>(
          static_cast<uint64_t>(web_.shape().hosts) *
              static_cast<uint64_t>(web_.shape().pages_per_host) *
              kSpamUrlsPerGood / spam_domains_,
          1)) {}

Result<SpamWeb> SpamWeb::Make(const SpamWebOptions& options) {
  sim::Shape shape;
  shape.hosts = options.hosts;
  shape.seed = options.seed;
  NEPHILA_TRY(sim::Web web, sim::Web::Make(shape));
  return SpamWeb(options, std::move(web));
}

void SpamWeb::AppendLinks(const SpamPage& page,
                          std::vector<SpamPage>* out) const {
  sim::Draw draw(BitsOf(page, options_.seed));
  if (!page.spam) {
    std::vector<sim::WebLink> links;
    web_.AppendLinks({{page.pld, page.host}, page.page}, &links);
    out->reserve(out->size() + links.size() + 1);
    for (const sim::WebLink& link : links) {
      out->push_back(
          {link.to.host.pld, link.to.host.host, link.to.page, false});
    }
    if (options_.with_spam && draw.Permille(kEntryPermille)) {
      out->push_back({draw.Below(spam_domains_), 0, 0, true});
    }
    return;
  }
  const uint64_t first = page.pld / options_.ring * options_.ring;
  const uint64_t ring = std::min(options_.ring, spam_domains_ - first);
  out->reserve(out->size() + kSpamLinks);
  for (uint64_t i = 0; i < kSpamLinks; ++i) {
    out->push_back(
        {first + draw.Below(ring), 0, draw.Below(spam_pages_), true});
  }
}

item::UrlRecord SpamWeb::MakeRecord(const SpamPage& page,
                                    std::string* text) const {
  text->assign("http://");
  std::string pld;
  std::string host;
  if (page.spam) {
    pld = fmt::format("spam{}.example", page.pld);
    host = "www." + pld;
    text->append(host).append(fmt::format("/page{}.html", page.page));
  } else {
    const sim::HostId id{page.pld, page.host};
    web_.AppendPldName(page.pld, &pld);
    web_.AppendHostName(id, &host);
    text->append(host);
    web_.AppendPath({id, page.page}, text);
  }
  item::UrlRecord record;
  record.url = *text;
  record.host_start = 7;
  record.host_size = static_cast<uint32_t>(host.size());
  record.pld_size = static_cast<uint32_t>(pld.size());
  record.entry = page.pld | (page.spam ? kSpamBit : 0);
  record.ordinal = page.host << kPageBits | page.page;
  return record;
}

SpamPage SpamWeb::PageOf(const item::UrlRecord& record) {
  return {record.entry & ~kSpamBit, record.ordinal >> kPageBits,
          record.ordinal & ((uint64_t{1} << kPageBits) - 1),
          (record.entry & kSpamBit) != 0};
}

}  // namespace nephila::bench
