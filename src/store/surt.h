// SURT sort keys: the form of a URL by which archive indexes are sorted and
// looked up, "org,archive)/about?a=1&b=2" for
// http://www.archive.org/about/?b=2&a=1.
//
// The rules are those of the Internet Archive's canonicaliser with its
// defaults, which pywb, CDX servers and Common Crawl's index share: hosts
// reversed and without www, scheme and credentials dropped, paths and queries
// in small letters without session ids, percent-encoding made minimal,
// parameters sorted. It is no form to fetch by: two pages can share a key.
//   Threads: any.   Cost: linear in the URL, but for sorting its parameters.
#pragma once

#include <string>
#include <string_view>

namespace nephila::store {

// The key of any text: what is no URL with a host ("dns:example.com",
// "urn:uuid:...") is its own key, and nothing is "-". Never holds spaces or
// controls, so that a line of an index stays one.
std::string SurtKey(std::string_view url);

// The steps, for the suites that test each.
namespace surt {

// Percent-escapes undone until none is left, as if in as many passes.
std::string UnescapeRepeatedly(std::string_view text);
// Escapes what is no visible ASCII, '#' and '%'.
std::string EscapeOnce(std::string_view text);
// Parameters sorted by name, then value; empty ones stay.
std::string SortQuery(std::string_view query);
// Without "www." or "www12." in front.
std::string_view StripWww(std::string_view host);
// Without the session ids that ASP.NET puts into paths, and ;jsessionid=.
std::string StripPathSession(std::string_view path);
std::string StripQuerySession(std::string_view query);
// The first half of the rules, those once published for Safe Browsing: escapes,
// dot segments, slashes, numeric addresses, fragments.
std::string CanonicalUrl(std::string_view url);
// Both halves, as a URL.
std::string ArchiveUrl(std::string_view url);

}  // namespace surt
}  // namespace nephila::store
