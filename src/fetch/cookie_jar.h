// CookieJar: the cookies that servers set, so that they need no session id in
// their links (VN s4.5: those fell from 27 % to 3.5 %). RFC 6265bis.
//
// A cookie goes back to the host that set it, or to all hosts of its Domain if
// that is the host or above it and no public suffix. All of them live in
// memory only, those with a date too: a restart begins without.
//   In: the URL of a response and its Set-Cookie lines
//   Out: the Cookie header for a URL, or why a cookie was refused
//   Bounds (settings fetch.cookie*): bytes and life of a cookie, cookies of a
//   host, four times as many of a site, bytes of all, of which a site has at
//   most a 128th. Where there are too many the one that was not sent for the
//   longest time goes, where the bytes are used up the site that was not asked
//   for the longest time. A header has at most 8 KiB: servers refuse more.
//   Threads: any; a mutex for each of 16 parts, chosen by site with a seed of
//   the jar's own, so that nobody can aim at a part or at a list of a table.
//   Cost: linear in the cookies of the site.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/settings.h"
#include "fetch/cookie.h"
#include "url/public_suffix.h"
#include "url/url.h"

namespace nephila::fetch {

enum class CookieVerdict : uint8_t {
  kStored,
  kRemoved,  // it came with a life that is over
  kMalformed,
  kTooLarge,
  kForeignDomain,  // Domain is not above the host
  kPublicSuffix,   // Domain is where nobody owns all hosts
  kNotSecure,      // over plain HTTP: Secure, or in place of one that is
  kPrefix,         // __Host- or __Secure- without what they promise
  kOff,            // fetch.cookies
};

// Of a request. Host and path as url/parser.h leaves them.
struct CookieScope {
  std::string_view host;
  std::string_view path;
  bool https = false;
  bool is_domain = true;  // no IP address
};
CookieScope CookieScopeOf(const url::Url& url);

// Of the name of a site, for the jar's tables.
struct SiteHash {
  uint64_t seed = 0;
  size_t operator()(std::string_view name) const;
};

class CookieJar {
 public:
  static constexpr size_t kLongestHeader = size_t{8} << 10;
  // Several hosts share a site.
  static constexpr size_t kSiteHosts = 4;

  // List and clock outlive it.
  CookieJar(const config::FetchSettings& settings,
            const url::PublicSuffixList& suffixes, const Clock& clock);
  // With a seed that is not drawn.
  CookieJar(const config::FetchSettings& settings,
            const url::PublicSuffixList& suffixes, const Clock& clock,
            uint64_t seed);
  CookieJar(const CookieJar&) = delete;
  CookieJar& operator=(const CookieJar&) = delete;

  // One Set-Cookie line of a response to `scope`.
  CookieVerdict Store(const CookieScope& scope, std::string_view set_cookie);
  // The value of the Cookie header; empty: none.
  std::string HeaderFor(const CookieScope& scope);

  size_t cookies() const;
  // About what they take, with all that is around them.
  uint64_t memory_bytes() const;

 private:
  struct Cookie {
    std::string name;
    std::string value;
    std::string domain;
    std::string path;
    bool host_only = true;
    bool secure = false;
    MonoTime expires = MonoTime::max();
    uint64_t created = 0;  // by the part's count
    uint64_t used = 0;

    // Of what it holds outside of itself.
    uint64_t text_bytes() const;
  };
  // Of a registrable domain, or of a host that has none.
  struct Site {
    std::string name;
    std::vector<Cookie> cookies;
    uint64_t memory_bytes = 0;

    uint64_t list_bytes() const { return cookies.capacity() * sizeof(Cookie); }
  };
  using Sites = std::list<Site>;
  using SiteTable =
      std::unordered_map<std::string_view, Sites::iterator, SiteHash>;
  struct Part {
    mutable Mutex mutex;
    uint64_t count NEPHILA_GUARDED_BY(mutex) = 0;
    uint64_t memory_bytes NEPHILA_GUARDED_BY(mutex) = 0;
    // The one that was asked for last comes first.
    Sites sites NEPHILA_GUARDED_BY(mutex);
    SiteTable by_name NEPHILA_GUARDED_BY(mutex);

    // Null if there is none; makes it the last asked for.
    Site* Find(std::string_view name) NEPHILA_REQUIRES(mutex);
    Site& FindOrAdd(std::string_view name) NEPHILA_REQUIRES(mutex);
    void Add(Site& site, Cookie cookie) NEPHILA_REQUIRES(mutex);
    // The site stays, though it may be empty.
    void Remove(Site& site, size_t cookie) NEPHILA_REQUIRES(mutex);
    void RemoveSite(Sites::iterator site) NEPHILA_REQUIRES(mutex);
    // Of the last asked for.
    void RemoveFirstSiteIfEmpty() NEPHILA_REQUIRES(mutex);
    void Charge(Site& site, uint64_t before, uint64_t after)
        NEPHILA_REQUIRES(mutex);
  };
  static constexpr size_t kParts = 16;
  // So many of the largest fit into a part.
  static constexpr size_t kPartSites = 8;

  std::string_view SiteOf(const CookieScope& scope) const;
  // kStored if it may be: then *cookie has its domain and path.
  CookieVerdict Admit(const CookieScope& scope, const ParsedCookie& parsed,
                      Cookie* cookie) const;
  void Insert(Part& part, std::string_view site_name, Cookie cookie) const
      NEPHILA_REQUIRES(part.mutex);
  void KeepBounds(Part& part, Site& site, const std::string& domain) const
      NEPHILA_REQUIRES(part.mutex);
  static bool HidesSecure(const Site& site, const Cookie& cookie);
  static void RemoveSame(Part& part, Site& site, Cookie* cookie)
      NEPHILA_REQUIRES(part.mutex);
  static void RemoveOldest(Part& part, Site& site, std::string_view domain)
      NEPHILA_REQUIRES(part.mutex);
  Part& PartOf(std::string_view site);

  const config::FetchSettings settings_;
  const url::PublicSuffixList& suffixes_;
  const Clock& clock_;
  const uint64_t part_bytes_;
  const uint64_t seed_;
  std::array<Part, kParts> parts_;
};

}  // namespace nephila::fetch
