#include "url/canonicalizer.h"

#include "url/host.h"
#include "url/parser.h"

namespace nephila::url {

std::string_view DropReasonName(DropReason reason) {
  return kDropReasonNames[static_cast<size_t>(reason)];
}

std::string_view PayLevelDomain(std::string_view host, HostKind kind,
                                const PublicSuffixList& suffixes) {
  if (kind != HostKind::kDomain) return host;
  std::string_view domain =
      suffixes.RegistrableDomain(host, PublicSuffixList::Rules::kIcann);
  return domain.empty() ? host : domain;
}

std::string_view SiteOf(std::string_view host,
                        const PublicSuffixList& suffixes) {
  if (host.ends_with(']') || EndsInNumber(host)) return host;
  const std::string_view site = suffixes.RegistrableDomain(
      host, PublicSuffixList::Rules::kIcannAndPrivate);
  return site.empty() ? host : site;
}

Canonicalizer::Canonicalizer(const config::UrlSettings& settings,
                             const PublicSuffixList& suffixes, uint64_t seed)
    : normalizer_(settings, suffixes),
      ports_(settings),
      suffixes_(suffixes),
      seed_(seed),
      max_length_(settings.max_length_bytes) {}

Result<CanonicalUrl, DropReason> Canonicalizer::Canonicalize(
    std::string_view link, const Url* base, const QueryEncoder* encoder) {
  account_.In(1);
  // Before it is parsed, so that what a hostile link makes us keep is bounded:
  // the buffers do not shrink. Fragments and session ids may be long.
  constexpr size_t kSlack = size_t{64} << 10;
  link = TrimUrl(link);
  if (link.size() > max_length_ + kSlack) return Drop(DropReason::kTooLong);
  if (!Parse(link, base, &url_, encoder)) return Drop(DropReason::kInvalid);
  return Finish();
}

Result<CanonicalUrl, DropReason> Canonicalizer::Canonicalize(const Url& url) {
  account_.In(1);
  url_ = url;
  return Finish();
}

Result<CanonicalUrl, DropReason> Canonicalizer::Finish() {
  if (!url_.is_http()) return Drop(DropReason::kScheme);
  if (url_.host_kind() == HostKind::kDomain && !IsDnsName(url_.host())) {
    return Drop(DropReason::kHost);
  }
  if (ports_.Refuses(url_.port())) return Drop(DropReason::kPort);
  normalizer_.Normalize(&url_);
  if (url_.href().size() > max_length_) return Drop(DropReason::kTooLong);
  // One host, one clock and one budget, whether or not the URL has the dot.
  std::string_view host = url_.host();
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string_view pld = PayLevelDomain(host, url_.host_kind(), suffixes_);
  account_.Out(1);
  return CanonicalUrl{url_.href(), host, pld,
                      MakeKeys(url_.href(), host, pld, seed_)};
}

Unexpected<DropReason> Canonicalizer::Drop(DropReason reason) {
  account_.Drop(static_cast<size_t>(reason), 1);
  return Unexpected(reason);
}

}  // namespace nephila::url
