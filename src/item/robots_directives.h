// RobotsDirectives: what a page says to crawlers about itself, in its
// X-Robots-Tag headers and its meta elements.
//
// There is no standard; this is how the large engines read them. Directives are
// words with commas between them, in any case. They are for every crawler, or
// for those whose name stands before ("nephila: noindex", a meta element with
// name="nephila"), and all that are for us add up: the strictest holds. Words
// that do not concern a crawler's work (noarchive, max-snippet:5,
// unavailable_after: 1 Jan 2030) are known and counted, the rest is counted
// too.
//   In: header values, attribute values: bytes, anything   Out: a value
//   Threads: any. Cost: linear in the text, no allocation.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/settings.h"

namespace nephila::item {

struct RobotsDirectives {
  bool operator==(const RobotsDirectives&) const = default;

  bool noindex = false;   // leave the page out of indexes
  bool nofollow = false;  // do not follow its links
  uint32_t known = 0;     // words for us that mean something to someone
  uint32_t unknown = 0;   // words for us that mean nothing

  // Both, the strictest of each.
  void Add(const RobotsDirectives& other);
};

// The value of one X-Robots-Tag header. `agent`: our product token. A name
// with a colon before directives makes them its own, up to the next name.
RobotsDirectives ReadXRobotsTag(std::string_view value, std::string_view agent);

// The attributes of one meta element. Elements that are for others are empty.
RobotsDirectives ReadMetaRobots(std::string_view name, std::string_view content,
                                std::string_view agent);

// Whether a meta element's name makes it ours: "robots", or our agent.
bool IsMetaRobots(std::string_view name, std::string_view agent);

// What the settings make of a page's directives.
struct PageUse {
  bool operator==(const PageUse&) const = default;

  bool index = true;   // may be shown to readers of an index
  bool follow = true;  // its links are taken
};
PageUse UseOfPage(const RobotsDirectives& header, const RobotsDirectives& meta,
                  const config::RobotsSettings& settings);

// Whether a link is taken whose rel attribute is `rel`: words with blanks
// between them, in any case.
bool TakesLink(std::string_view rel, const config::RobotsSettings& settings);

}  // namespace nephila::item
