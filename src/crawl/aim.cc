#include "crawl/aim.h"

#include <string_view>

#include "crawl/contact_parts.h"
#include "politeness/authority.h"
#include "url/canonicalizer.h"
#include "url/keys.h"
#include "url/parser.h"

namespace nephila::crawl {

uint32_t AuthorityOf(std::string_view text) {
  url::Url url;
  if (!url::Parse(text, nullptr, &url) || !url.is_http()) {
    return politeness::kNoAuthority;
  }
  return politeness::AuthorityOf(PortOf(url),
                                 url.scheme_kind() == url::Scheme::kHttps);
}

void AimAt(const url::Url& url, const url::PublicSuffixList& suffixes,
           uint64_t seed, Visit* visit) {
  visit->url = url.href();
  visit->host = url.host();
  visit->port = PortOf(url);
  visit->https = url.scheme_kind() == url::Scheme::kHttps;
  // A dot at its end makes no other host.
  std::string_view host = url.host();
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view domain =
      url::PayLevelDomain(host, url.host_kind(), suffixes);
  const url::Keys keys = url::MakeKeys(url.href(), host, domain, seed);
  visit->host_key = keys.host.value;
  visit->domain_key = keys.pld.value;
}

}  // namespace nephila::crawl
