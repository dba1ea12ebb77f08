#include "sim/text_tables.h"

#include <algorithm>
#include <set>

namespace nephila::sim {
namespace {

constexpr uint64_t kTextSeed = 0x6E657068696C61;

constexpr auto kOnsets = std::to_array<std::string_view>(
    {"b",  "c",  "d",  "f",  "g",  "h",  "l",  "m",  "n",  "p",
     "r",  "s",  "t",  "v",  "w",  "br", "ch", "cl", "dr", "fl",
     "gr", "pl", "pr", "sh", "st", "th", "tr", ""});
constexpr auto kVowels = std::to_array<std::string_view>(
    {"a", "e", "i", "o", "u", "ea", "ai", "ou"});
constexpr auto kCodas = std::to_array<std::string_view>(
    {"", "", "", "n", "r", "s", "l", "t", "nd", "st", "ck", "m"});

// ICANN suffixes of one, two and three labels, some below a wildcard rule.
constexpr auto kSuffixes = std::to_array<std::string_view>(
    {"org",       "net",      "info",    "biz",       "de",
     "fr",        "nl",       "it",      "es",        "pl",
     "ru",        "ch",       "at",      "se",        "no",
     "dk",        "fi",       "cz",      "pt",        "eu",
     "us",        "ca",       "cn",      "jp",        "in",
     "io",        "edu",      "gov",     "dev",       "app",
     "xn--p1ai",  "museum",   "co.uk",   "org.uk",    "ac.uk",
     "gov.uk",    "com.au",   "net.au",  "org.au",    "co.jp",
     "or.jp",     "ne.jp",    "ac.jp",   "com.br",    "org.br",
     "com.cn",    "com.tw",   "co.kr",   "co.nz",     "co.za",
     "com.mx",    "com.ar",   "com.tr",  "co.in",     "com.pl",
     "com.ua",    "gouv.fr",  "or.at",   "com.bd",    "com.kh",
     "k12.ca.us", "cc.ny.us", "qc.ca",   "edu.pl",    "kyoto.jp",
     "oslo.no",   "asn.au",   "med.pro", "milano.it", "xn--55qx5d.cn"});

std::string MakeWord(Draw* draw, size_t syllables) {
  std::string word;
  for (size_t i = 0; i < syllables; ++i) {
    word.append(kOnsets[draw->Below(kOnsets.size())])
        .append(kVowels[draw->Below(kVowels.size())]);
  }
  return word.append(kCodas[draw->Below(kCodas.size())]);
}

}  // namespace

TextTables::TextTables() {
  Draw draw(kTextSeed);
  std::set<std::string> known;
  words_.reserve(kWords);
  while (words_.size() < kWords) {
    // As in real text common words are short.
    const size_t syllables = 1 + (words_.size() >= 128 ? 1 : 0) +
                             (words_.size() >= 1536 ? draw.Below(2) : 0);
    std::string word = MakeWord(&draw, syllables);
    if (word.size() >= 2 && known.insert(word).second) {
      words_.push_back(std::move(word));
    }
  }
  pieces_.reserve(kPieces);
  for (size_t i = 0; i < kPieces; ++i) pieces_.push_back(MakePiece(&draw));
}

std::string TextTables::MakePiece(Draw* draw) const {
  constexpr auto kOpen = std::to_array<std::string_view>(
      {"<div class=\"entry-content clearfix\">\n  <p class=\"text\">",
       "<section class=\"module module-text\">\n  <p>",
       "<table class=\"list\" cellpadding=\"0\" cellspacing=\"0\"><tr "
       "class=\"row\"><td class=\"cell\">",
       "<ul class=\"items\">\n  <li class=\"item\">"});
  constexpr auto kClose = std::to_array<std::string_view>(
      {"</p>\n</div>\n<div class=\"separator\"></div>\n", "</p>\n</section>\n",
       "</td></tr></table>\n", "</li>\n</ul>\n"});
  const size_t form = draw->Below(kOpen.size());
  std::string text(kOpen[form]);
  const size_t words = 5 + draw->Below(11);
  for (size_t i = 0; i < words; ++i) {
    const double unit = draw->Unit();
    std::string_view next =
        word(static_cast<size_t>(unit * unit * unit * unit * kWords));
    if (i > 0) text += i % 11 == 7 ? ", " : " ";
    text += next;
  }
  text += '.';
  return text.append(kClose[form]);
}

std::string_view TextTables::Suffix(uint64_t bits) {
  if (ToUnit(bits) < 0.45) return "com";
  return kSuffixes[ToBelow(Mix(bits, 1), kSuffixes.size())];
}

}  // namespace nephila::sim
