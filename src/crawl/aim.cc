#include "crawl/aim.h"

#include <string_view>

#include "crawl/contact_parts.h"
#include "url/canonicalizer.h"
#include "url/keys.h"

namespace nephila::crawl {

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
