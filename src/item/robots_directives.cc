#include "item/robots_directives.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "item/product_token.h"

namespace nephila::item {
namespace {

// Words that someone defines, beside the six that mean something to us.
constexpr std::string_view kKnownWords[] = {
    "noarchive",   "nosnippet",       "noimageindex",
    "notranslate", "nocache",         "nositelinkssearchbox",
    "noodp",       "noydir",          "noai",
    "noimageai",   "indexifembedded", "nopagereadaloud",
    "archive",     "snippet",         "noyaca",
    "notion",      "noyandexbot"};

// Words that take a value behind a colon: no names of crawlers.
constexpr std::string_view kKnownKeys[] = {"max-snippet", "max-image-preview",
                                           "max-video-preview",
                                           "unavailable_after"};

template <typename Range>
bool Contains(const Range& words, std::string_view word) {
  return std::any_of(
      std::begin(words), std::end(words),
      [word](std::string_view known) { return EqualsIgnoreCase(known, word); });
}

// One word that is for us.
void TakeWord(std::string_view word, RobotsDirectives* out) {
  bool none = EqualsIgnoreCase(word, "none");
  bool noindex = none || EqualsIgnoreCase(word, "noindex");
  bool nofollow = none || EqualsIgnoreCase(word, "nofollow");
  bool plain = EqualsIgnoreCase(word, "all") ||
               EqualsIgnoreCase(word, "index") ||
               EqualsIgnoreCase(word, "follow");
  out->noindex = out->noindex || noindex;
  out->nofollow = out->nofollow || nofollow;
  bool known = noindex || nofollow || plain || Contains(kKnownWords, word);
  ++(known ? out->known : out->unknown);
}

bool IsOurName(std::string_view name, std::string_view agent) {
  std::string_view token = ProductToken(name);
  return !token.empty() && SameToken(token, ProductToken(agent));
}

bool IsForUs(std::string_view name, std::string_view agent) {
  return EqualsIgnoreCase(name, "*") || EqualsIgnoreCase(name, "robots") ||
         IsOurName(name, agent);
}

// The next part up to a comma; moves *rest behind it.
std::string_view TakePart(std::string_view* rest) {
  size_t comma = rest->find(',');
  std::string_view part = TrimSpaces(rest->substr(0, comma));
  rest->remove_prefix(comma == std::string_view::npos ? rest->size()
                                                      : comma + 1);
  return part;
}

// A date may have a comma behind its weekday ("Fri, 25 Jun 2010"): what follows
// a date and begins with a digit belongs to it.
bool BelongsToDate(std::string_view part) {
  return !part.empty() && part[0] >= '0' && part[0] <= '9';
}

// The next word of a part, up to a blank or a semicolon; moves *rest behind it.
// Careless pages have several words between two commas.
std::string_view NextWord(std::string_view* rest) {
  auto ends = [](char c) { return IsSpace(c) || c == ';'; };
  while (!rest->empty() && ends(rest->front())) rest->remove_prefix(1);
  size_t end = 0;
  while (end < rest->size() && !ends((*rest)[end])) ++end;
  std::string_view word = rest->substr(0, end);
  rest->remove_prefix(end);
  return word;
}

class Reader {
 public:
  Reader(std::string_view agent, bool with_names)
      : agent_(agent), with_names_(with_names) {}

  RobotsDirectives Read(std::string_view text) {
    while (!text.empty()) {
      std::string_view part = TakePart(&text);
      if (after_date_ && BelongsToDate(part)) continue;
      after_date_ = false;
      TakeAll(part);
    }
    return directives_;
  }

 private:
  void TakeAll(std::string_view part) {
    bool first = true;
    while (true) {
      std::string_view word = NextWord(&part);
      if (word.empty()) return;
      // "name : noindex" is "name: noindex".
      std::string_view behind = part;
      bool apart = NextWord(&behind) == ":";
      if (apart) part = behind;
      size_t colon = apart ? word.size() : word.find(':');
      if (colon == std::string_view::npos) {
        if (ours_) TakeWord(word, &directives_);
      } else if (!TakeKey(word.substr(0, colon),
                          word.substr(std::min(colon + 1, word.size())), first,
                          &part)) {
        return;
      }
      first = false;
    }
  }

  // A word with a colon in it: a key that is known, with its value, or the name
  // of a crawler, which is the first word of a part. False: nothing that
  // follows in the part is a word.
  bool TakeKey(std::string_view key, std::string_view value, bool first,
               std::string_view* part) {
    if (Contains(kKnownKeys, key)) {
      if (ours_) ++directives_.known;
      if (EqualsIgnoreCase(key, "unavailable_after")) {
        after_date_ = true;
        return false;
      }
      if (value.empty()) NextWord(part);
      return true;
    }
    if (with_names_ && first) ours_ = IsForUs(key, agent_);
    if (!value.empty() && ours_) TakeWord(value, &directives_);
    return true;
  }

  const std::string_view agent_;
  const bool with_names_;
  bool ours_ = true;
  bool after_date_ = false;
  RobotsDirectives directives_;
};

}  // namespace

void RobotsDirectives::Add(const RobotsDirectives& other) {
  noindex = noindex || other.noindex;
  nofollow = nofollow || other.nofollow;
  known += other.known;
  unknown += other.unknown;
}

RobotsDirectives ReadXRobotsTag(std::string_view value,
                                std::string_view agent) {
  return Reader(agent, true).Read(value);
}

bool IsMetaRobots(std::string_view name, std::string_view agent) {
  name = TrimSpaces(name);
  return EqualsIgnoreCase(name, "robots") || IsOurName(name, agent);
}

RobotsDirectives ReadMetaRobots(std::string_view name, std::string_view content,
                                std::string_view agent) {
  if (!IsMetaRobots(name, agent)) return {};
  return Reader(agent, false).Read(content);
}

PageUse UseOfPage(const RobotsDirectives& header, const RobotsDirectives& meta,
                  const config::RobotsSettings& settings) {
  RobotsDirectives both;
  if (settings.obey_x_robots_tag) both.Add(header);
  if (settings.obey_meta) both.Add(meta);
  return {!both.noindex, !both.nofollow};
}

bool TakesLink(std::string_view rel, const config::RobotsSettings& settings) {
  if (!settings.obey_rel_nofollow) return true;
  while (!(rel = TrimSpaces(rel)).empty()) {
    size_t end = 0;
    while (end < rel.size() && !IsSpace(rel[end])) ++end;
    if (EqualsIgnoreCase(rel.substr(0, end), "nofollow")) return false;
    rel.remove_prefix(end);
  }
  return true;
}

}  // namespace nephila::item
