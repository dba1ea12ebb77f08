#include "fetch/cookie_jar.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"

namespace nephila::fetch {
namespace {

using Rules = url::PublicSuffixList::Rules;

// RFC 6265bis s5.1.3. REQUIRES: both in lower case.
bool DomainMatches(std::string_view host, std::string_view domain) {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) &&
         host[host.size() - domain.size() - 1] == '.';
}

// s5.1.4.
bool PathMatches(std::string_view path, std::string_view cookie_path) {
  if (!path.starts_with(cookie_path)) return false;
  return path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
         path[cookie_path.size()] == '/';
}

std::string_view DefaultPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

// s5.7 steps 20 to 22; a value without a name may not look like one.
bool KeepsPrefix(const ParsedCookie& cookie) {
  const std::string_view text =
      cookie.name.empty() ? cookie.value : cookie.name;
  const bool host = StartsWithIgnoreCase(text, "__Host-");
  if (!host && !StartsWithIgnoreCase(text, "__Secure-")) return true;
  if (cookie.name.empty() || !cookie.secure) return false;
  return !host || (cookie.domain.empty() && cookie.path == "/");
}

// Without a random number from the kernel there is no TLS either.
uint64_t DrawSeed() {
  const Result<uint64_t> seed = RandomSeed();
  NEPHILA_CHECK(seed.has_value());
  return *seed;
}

}  // namespace

CookieScope CookieScopeOf(const url::Url& url) {
  CookieScope scope;
  scope.host = url.host();
  scope.path = url.path();
  scope.https = url.scheme_kind() == url::Scheme::kHttps;
  scope.is_domain = url.host_kind() == url::HostKind::kDomain;
  return scope;
}

uint64_t CookieJar::Cookie::text_bytes() const {
  return name.size() + value.size() + domain.size() + path.size();
}

size_t SiteHash::operator()(std::string_view name) const {
  return KeyedHash(name, seed);
}

CookieJar::Site* CookieJar::Part::Find(std::string_view name) {
  const auto found = by_name.find(name);
  if (found == by_name.end()) return nullptr;
  sites.splice(sites.begin(), sites, found->second);
  return &sites.front();
}

CookieJar::Site& CookieJar::Part::FindOrAdd(std::string_view name) {
  if (Site* site = Find(name)) return *site;
  Site site;
  site.name = name;
  // The nodes of list and table, too.
  constexpr uint64_t kNodes = 96;
  site.memory_bytes = sizeof(Site) + kNodes + name.size();
  memory_bytes += site.memory_bytes;
  sites.push_front(std::move(site));
  by_name.emplace(sites.front().name, sites.begin());
  return sites.front();
}

void CookieJar::Part::Charge(Site& site, uint64_t before, uint64_t after) {
  site.memory_bytes += after - before;
  memory_bytes += after - before;
}

void CookieJar::Part::Add(Site& site, Cookie cookie) {
  const uint64_t before = site.list_bytes();
  const uint64_t text_bytes = cookie.text_bytes();
  site.cookies.push_back(std::move(cookie));
  Charge(site, before, site.list_bytes() + text_bytes);
}

void CookieJar::Part::Remove(Site& site, size_t cookie) {
  const uint64_t before = site.list_bytes() + site.cookies[cookie].text_bytes();
  if (cookie + 1 < site.cookies.size()) {
    site.cookies[cookie] = std::move(site.cookies.back());
  }
  site.cookies.pop_back();
  // Half, so that one that comes and goes moves nothing.
  if (site.cookies.size() < site.cookies.capacity() / 2) {
    site.cookies.shrink_to_fit();
  }
  Charge(site, before, site.list_bytes());
}

void CookieJar::Part::RemoveSite(Sites::iterator site) {
  memory_bytes -= site->memory_bytes;
  by_name.erase(site->name);
  sites.erase(site);
}

void CookieJar::Part::RemoveFirstSiteIfEmpty() {
  if (sites.front().cookies.empty()) RemoveSite(sites.begin());
}

CookieJar::CookieJar(const config::FetchSettings& settings,
                     const url::PublicSuffixList& suffixes, const Clock& clock)
    : CookieJar(settings, suffixes, clock, DrawSeed()) {}

CookieJar::CookieJar(const config::FetchSettings& settings,
                     const url::PublicSuffixList& suffixes, const Clock& clock,
                     uint64_t seed)
    : settings_(settings),
      suffixes_(suffixes),
      clock_(clock),
      part_bytes_(settings.cookie_memory_bytes / kParts),
      seed_(seed) {
  for (Part& part : parts_) {
    MutexLock lock(part.mutex);
    part.by_name = SiteTable(0, SiteHash{seed});
  }
}

CookieJar::Part& CookieJar::PartOf(std::string_view site) {
  return parts_[SiteHash{seed_}(site) % kParts];
}

std::string_view CookieJar::SiteOf(const CookieScope& scope) const {
  if (!scope.is_domain) return scope.host;
  const std::string_view site =
      suffixes_.RegistrableDomain(scope.host, Rules::kIcannAndPrivate);
  return site.empty() ? scope.host : site;
}

CookieVerdict CookieJar::Admit(const CookieScope& scope,
                               const ParsedCookie& parsed,
                               Cookie* cookie) const {
  cookie->domain = scope.host;
  const std::string domain = LowerAscii(parsed.domain);
  if (!domain.empty()) {
    const bool same = domain == scope.host;
    // An address has no hosts below it.
    const bool above = scope.is_domain && DomainMatches(scope.host, domain);
    if (!same && !above) return CookieVerdict::kForeignDomain;
    const bool suffix =
        !scope.is_domain ||
        suffixes_.RegistrableDomain(domain, Rules::kIcannAndPrivate).empty();
    if (!same && suffix) return CookieVerdict::kPublicSuffix;
    // A host that is a public suffix may set cookies for itself.
    cookie->host_only = suffix;
    cookie->domain = domain;
  }
  cookie->path = parsed.path.empty() ? DefaultPath(scope.path) : parsed.path;
  cookie->secure = parsed.secure;
  if (parsed.secure && !scope.https) return CookieVerdict::kNotSecure;
  if (!KeepsPrefix(parsed)) return CookieVerdict::kPrefix;
  cookie->name = parsed.name;
  cookie->value = parsed.value;
  return CookieVerdict::kStored;
}

CookieVerdict CookieJar::Store(const CookieScope& scope,
                               std::string_view set_cookie) {
  if (!settings_.cookies) return CookieVerdict::kOff;
  ParsedCookie parsed;
  switch (ParseSetCookie(set_cookie, clock_.WallNow(), settings_.cookie_max_age,
                         &parsed)) {
    case CookieFault::kNone:
      break;
    case CookieFault::kMalformed:
      return CookieVerdict::kMalformed;
    case CookieFault::kTooLarge:
      return CookieVerdict::kTooLarge;
  }
  Cookie cookie;
  const CookieVerdict verdict = Admit(scope, parsed, &cookie);
  if (verdict != CookieVerdict::kStored) return verdict;
  if (parsed.life) cookie.expires = clock_.Now() + *parsed.life;

  const std::string_view site_name = SiteOf(scope);
  Part& part = PartOf(site_name);
  MutexLock lock(part.mutex);
  cookie.created = cookie.used = ++part.count;
  if (Site* site = part.Find(site_name)) {
    if (!scope.https && HidesSecure(*site, cookie)) {
      return CookieVerdict::kNotSecure;
    }
    RemoveSame(part, *site, &cookie);
  }
  if (parsed.life && parsed.life->count() <= 0) {
    if (part.Find(site_name) != nullptr) part.RemoveFirstSiteIfEmpty();
    return CookieVerdict::kRemoved;
  }
  Insert(part, site_name, std::move(cookie));
  return CookieVerdict::kStored;
}

// s5.7 step 18: plain HTTP leaves secure cookies alone.
bool CookieJar::HidesSecure(const Site& site, const Cookie& cookie) {
  return std::any_of(site.cookies.begin(), site.cookies.end(),
                     [&](const Cookie& old) {
                       return old.secure && old.name == cookie.name &&
                              (DomainMatches(old.domain, cookie.domain) ||
                               DomainMatches(cookie.domain, old.domain)) &&
                              PathMatches(cookie.path, old.path);
                     });
}

// The one that it takes the place of; its age is passed on.
void CookieJar::RemoveSame(Part& part, Site& site, Cookie* cookie) {
  for (size_t i = 0; i < site.cookies.size(); ++i) {
    const Cookie& old = site.cookies[i];
    if (old.name != cookie->name || old.domain != cookie->domain ||
        old.host_only != cookie->host_only || old.path != cookie->path) {
      continue;
    }
    cookie->created = old.created;
    part.Remove(site, i);
    return;
  }
}

void CookieJar::Insert(Part& part, std::string_view site_name,
                       Cookie cookie) const {
  Site& site = part.FindOrAdd(site_name);
  const std::string domain = cookie.domain;
  part.Add(site, std::move(cookie));
  KeepBounds(part, site, domain);
  part.RemoveFirstSiteIfEmpty();
  // The site itself is the first, and within its own bound.
  while (part.memory_bytes > part_bytes_ && part.sites.size() > 1) {
    part.RemoveSite(std::prev(part.sites.end()));
  }
}

void CookieJar::KeepBounds(Part& part, Site& site,
                           const std::string& domain) const {
  const auto most = static_cast<size_t>(settings_.cookies_per_host);
  auto host_is_over = [&] {
    const auto of_host = std::count_if(
        site.cookies.begin(), site.cookies.end(),
        [&](const Cookie& cookie) { return cookie.domain == domain; });
    return static_cast<size_t>(of_host) > most;
  };
  auto site_is_over = [&] {
    return site.cookies.size() > most * kSiteHosts ||
           site.memory_bytes > part_bytes_ / kPartSites;
  };
  if (!host_is_over() && !site_is_over()) return;
  const MonoTime now = clock_.Now();
  for (size_t i = site.cookies.size(); i-- > 0;) {
    if (site.cookies[i].expires <= now) part.Remove(site, i);
  }
  if (host_is_over()) RemoveOldest(part, site, domain);
  while (site_is_over() && !site.cookies.empty()) RemoveOldest(part, site, "");
}

// Of `domain`, or of any if it is empty.
void CookieJar::RemoveOldest(Part& part, Site& site, std::string_view domain) {
  size_t oldest = site.cookies.size();
  for (size_t i = 0; i < site.cookies.size(); ++i) {
    if (!domain.empty() && site.cookies[i].domain != domain) continue;
    if (oldest == site.cookies.size() ||
        site.cookies[i].used < site.cookies[oldest].used) {
      oldest = i;
    }
  }
  if (oldest < site.cookies.size()) part.Remove(site, oldest);
}

std::string CookieJar::HeaderFor(const CookieScope& scope) {
  if (!settings_.cookies) return {};
  const std::string_view site_name = SiteOf(scope);
  Part& part = PartOf(site_name);
  MutexLock lock(part.mutex);
  Site* site = part.Find(site_name);
  if (site == nullptr) return {};
  const MonoTime now = clock_.Now();
  std::vector<Cookie*> fitting;
  fitting.reserve(site->cookies.size());
  for (Cookie& cookie : site->cookies) {
    const bool same_host = cookie.host_only
                               ? cookie.domain == scope.host
                               : DomainMatches(scope.host, cookie.domain);
    if (same_host && (scope.https || !cookie.secure) && cookie.expires > now &&
        PathMatches(scope.path, cookie.path)) {
      fitting.push_back(&cookie);
    }
  }
  // s5.8.3: longer paths first, then the older ones.
  std::sort(fitting.begin(), fitting.end(),
            [](const Cookie* a, const Cookie* b) {
              if (a->path.size() != b->path.size()) {
                return a->path.size() > b->path.size();
              }
              return a->created < b->created;
            });
  std::string header;
  const uint64_t use = ++part.count;
  for (Cookie* cookie : fitting) {
    const size_t size = cookie->name.size() + cookie->value.size() + 3;
    if (header.size() + size > kLongestHeader) continue;
    cookie->used = use;
    if (!header.empty()) header += "; ";
    if (!cookie->name.empty()) header.append(cookie->name).append("=");
    header += cookie->value;
  }
  return header;
}

size_t CookieJar::cookies() const {
  size_t total = 0;
  for (const Part& part : parts_) {
    MutexLock lock(part.mutex);
    for (const Site& site : part.sites) total += site.cookies.size();
  }
  return total;
}

uint64_t CookieJar::memory_bytes() const {
  uint64_t total = 0;
  for (const Part& part : parts_) {
    MutexLock lock(part.mutex);
    total += part.memory_bytes;
  }
  return total;
}

}  // namespace nephila::fetch
