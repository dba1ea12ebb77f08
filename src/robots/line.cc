#include "robots/line.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/ascii.h"
#include "base/text.h"
#include "url/percent.h"

namespace nephila::robots {
namespace {

// No directive, however misspelled, has a longer key.
constexpr size_t kLongestKey = 32;

constexpr bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

constexpr bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Also what no editor shows: no-break spaces, marks of direction, joiners, and
// byte order marks in the middle. What restricts us is meant without them.
std::string_view TrimInvisible(std::string_view text) {
  constexpr std::string_view kInvisible[] = {
      "\xc2\xa0",     "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d",
      "\xe2\x80\x8e", "\xe2\x80\x8f", "\xef\xbb\xbf"};
  for (bool more = true; more;) {
    more = false;
    text = Trim(text);
    // All of them begin and end above ASCII, and nearly no line does.
    if (text.empty() || (IsAscii(text.front()) && IsAscii(text.back()))) break;
    for (std::string_view mark : kInvisible) {
      if (text.starts_with(mark)) {
        text.remove_prefix(mark.size());
        more = true;
      } else if (text.ends_with(mark)) {
        text.remove_suffix(mark.size());
        more = true;
      }
    }
  }
  return text;
}

// Records that others define and that RFC 9309 s2.2.4 lets a file have: no
// deviation, and not for us.
constexpr std::string_view kForeign[] = {
    "host",      "cleanparam",   "requestrate",   "visittime",    "noindex",
    "nofollow",  "noarchive",    "contentsignal", "contentusage", "llmpolicy",
    "license",   "comment",      "robotversion",  "indexpage",    "unavailable",
    "nosnippet", "noimageindex", "ignoreparam",   "allowcrawlon"};

struct Recognized {
  Directive directive = Directive::kOther;
  bool misspelled = false;
  bool known = false;
};

// A key in lower case, without blanks, '-' and '_'; empty if it is too long to
// be one, or holds anything but letters: errors are those of a hand that
// writes, not rubbish before a word.
struct SqueezedKey {
  explicit SqueezedKey(std::string_view key) {
    if (key.size() > kLongestKey) return;
    for (char c : key) {
      if (IsBlank(c) || c == '-' || c == '_') continue;
      char lower = Lower(c);
      if (lower < 'a' || lower > 'z') {
        size = 0;
        return;
      }
      chars[size++] = lower;
    }
  }
  std::string_view view() const { return {chars.data(), size}; }

  std::array<char, kLongestKey> chars{};
  size_t size = 0;
};

// Which letters a text of small ones has.
constexpr uint32_t LettersOf(std::string_view text) {
  uint32_t letters = 0;
  for (char c : text) letters |= uint32_t{1} << (c - 'a');
  return letters;
}

struct Name {
  Directive directive;
  std::string_view written;   // as the protocol has it
  std::string_view squeezed;  // as SqueezedKey has it
  size_t errors;              // so many may be wrong
};

// The most frequent first. "allow" takes no errors (see the header).
constexpr Name kNames[] = {
    {Directive::kDisallow, "disallow", "disallow", 2},
    {Directive::kUserAgent, "user-agent", "useragent", 2},
    {Directive::kAllow, "allow", "allow", 0},
    {Directive::kSitemap, "sitemap", "sitemap", 1},
    {Directive::kCrawlDelay, "crawl-delay", "crawldelay", 2},
};

Recognized Recognize(std::string_view key) {
  for (const Name& name : kNames) {
    if (EqualsIgnoreCase(key, name.written)) {
      return {name.directive, false, true};
    }
  }
  SqueezedKey squeezed(key);
  std::string_view text = squeezed.view();
  if (text.empty()) return {};
  for (std::string_view foreign : kForeign) {
    if (text == foreign) return {Directive::kOther, false, true};
  }
  if (text.starts_with("acap")) return {Directive::kOther, false, true};
  uint32_t letters = LettersOf(text);
  for (const Name& name : kNames) {
    if (name.errors == 0) continue;
    size_t longer = std::max(text.size(), name.squeezed.size());
    size_t shorter = std::min(text.size(), name.squeezed.size());
    if (longer - shorter > name.errors) continue;
    // An error takes one letter away and adds one at most: most words are told
    // apart without counting their errors.
    auto others =
        static_cast<size_t>(std::popcount(letters ^ LettersOf(name.squeezed)));
    if (others > 2 * name.errors) continue;
    if (EditDistance(text, name.squeezed, name.errors) <= name.errors) {
      return {name.directive, true, true};
    }
  }
  return {};
}

// "disallow /x", with or without a colon further on: a key that is spelled
// right, one value, and nothing else. Prose does not look like that.
bool ReadWithoutColon(std::string_view text, Line* line) {
  size_t blank = 0;
  while (blank < text.size() && !IsBlank(text[blank])) ++blank;
  std::string_view key = text.substr(0, blank);
  std::string_view value = Trim(text.substr(blank));
  for (const Name& name : kNames) {
    bool restricts = name.directive != Directive::kAllow;
    if (!restricts || !EqualsIgnoreCase(key, name.written)) continue;
    if (std::any_of(value.begin(), value.end(), IsBlank)) return false;
    line->directive = name.directive;
    line->value = value;
    line->deviation = Deviation::kMissingColon;
    return true;
  }
  return false;
}

void ReadDirective(std::string_view text, Line* line) {
  line->directive = Directive::kOther;
  line->value = {};
  line->deviation.reset();
  size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    std::string_view written = Trim(text.substr(0, colon));
    std::string_view key = TrimInvisible(written);
    Recognized found = Recognize(key);
    if (found.known && found.directive == Directive::kAllow &&
        key.size() != written.size()) {
      found = {};
    }
    if (found.known) {
      line->directive = found.directive;
      std::string_view value = Trim(text.substr(colon + 1));
      line->value =
          found.directive == Directive::kAllow ? value : TrimInvisible(value);
      bool invisible =
          key.size() != written.size() || line->value.size() != value.size();
      if (invisible) line->deviation = Deviation::kControl;
      if (found.misspelled) line->deviation = Deviation::kMisspelled;
      return;
    }
  }
  if (ReadWithoutColon(text, line)) return;
  line->deviation = colon == std::string_view::npos
                        ? Deviation::kNoDirective
                        : Deviation::kUnknownDirective;
}

}  // namespace

std::string_view LineReader::TakeLine() {
  size_t end = 0;
  while (end < rest_.size() && rest_[end] != '\n' && rest_[end] != '\r') ++end;
  std::string_view line = rest_.substr(0, end);
  if (end < rest_.size()) {
    bool pair = rest_.substr(end).starts_with("\r\n");
    end += pair ? 2 : 1;
  }
  rest_.remove_prefix(end);
  ++number_;
  return line;
}

bool LineReader::Next(Line* line) {
  while (!rest_.empty()) {
    std::string_view text = TakeLine();
    text = Trim(text.substr(0, text.find('#')));
    if (text.empty()) continue;
    line->number = number_;
    ReadDirective(text, line);
    return true;
  }
  return false;
}

}  // namespace nephila::robots
