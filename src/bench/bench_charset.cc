#include "bench/bench_charset.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/cpu_time.h"
#include "base/text.h"
#include "bench/corpus.h"
#include "bench/tar.h"
#include "parse/charset_guess.h"
#include "parse/decoder.h"
#include "parse/query_encoder.h"
#include "url/percent.h"

namespace nephila::bench {
namespace {

using parse::Encoding;

// Letters by what they tell of the encoding that a page was written in.
struct Letters {
  size_t total = 0;
  size_t latin = 0;
  size_t central = 0;
  size_t turkish = 0;
  size_t greek = 0;
  size_t cyrillic = 0;
  size_t hebrew = 0;
  size_t arabic = 0;
  size_t thai = 0;
  size_t kana = 0;
  size_t hangul = 0;
  size_t han = 0;
};

Letters CountLetters(std::string_view text) {
  Letters n;
  for (size_t at = 0; at < text.size();) {
    at += parse::AsciiPrefix(text.substr(at));
    if (at == text.size()) break;
    char32_t c = url::ReadUtf8(text, &at);
    ++n.total;
    auto in = [c](char32_t low, char32_t end) { return c >= low && c < end; };
    if (c == 0x11e || c == 0x11f || c == 0x130 || c == 0x131 || c == 0x15f) {
      ++n.turkish;
    } else if (in(0xa0, 0x100)) {
      ++n.latin;
    } else if (in(0x100, 0x180)) {
      ++n.central;
    } else if (in(0x370, 0x400)) {
      ++n.greek;
    } else if (in(0x400, 0x500)) {
      ++n.cyrillic;
    } else if (in(0x590, 0x600)) {
      ++n.hebrew;
    } else if (in(0x600, 0x700)) {
      ++n.arabic;
    } else if (in(0xe00, 0xe80)) {
      ++n.thai;
    } else if (in(0x3040, 0x3100)) {
      ++n.kana;
    } else if (in(0xac00, 0xd7a4)) {
      ++n.hangul;
    } else if (in(0x4e00, 0xa000)) {
      ++n.han;
    }
  }
  return n;
}

std::vector<Encoding> LegacyEncodingsOf(std::string_view text) {
  Letters n = CountLetters(text);
  auto third = [&n](size_t count) { return count * 3 > n.total; };
  auto fifth = [&n](size_t count) { return count * 5 > n.total; };
  if (fifth(n.kana)) return {Encoding::kShiftJis, Encoding::kEucJp};
  if (third(n.hangul)) return {Encoding::kEucKr};
  if (third(n.han)) return {Encoding::kGbk, Encoding::kBig5};
  if (third(n.cyrillic)) return {Encoding::kWindows1251, Encoding::kKoi8R};
  if (third(n.greek)) return {Encoding::kWindows1253};
  if (third(n.hebrew)) return {Encoding::kWindows1255};
  if (third(n.arabic)) return {Encoding::kWindows1256};
  if (third(n.thai)) return {Encoding::kWindows874};
  if (fifth(n.turkish)) return {Encoding::kWindows1254};
  if (fifth(n.central)) return {Encoding::kWindows1250, Encoding::kIso8859x2};
  if (third(n.latin)) return {Encoding::kWindows1252};
  return {};
}

// The page in the encoding; nothing if a tenth of its letters is lacking.
std::optional<std::string> WriteIn(Encoding encoding, std::string_view utf8) {
  std::string bytes;
  parse::LegacyQueryEncoder(encoding).Append(utf8, &bytes);
  size_t lacking = 0;
  constexpr std::string_view kReference = "%26%23";
  for (size_t at = bytes.find(kReference); at != std::string::npos;
       at = bytes.find(kReference, at + 1)) {
    ++lacking;
  }
  bool ascii = parse::AsciiPrefix(bytes) == bytes.size();
  if (ascii || lacking * 10 > CountLetters(utf8).total) return std::nullopt;
  return bytes;
}

struct Tally {
  size_t pages = 0;
  size_t right = 0;
  std::map<std::string_view, size_t> wrong;  // by what was guessed instead
};

class Charsets {
 public:
  void AddPage(std::string_view page) {
    if (!IsUtf8(page) || parse::AsciiPrefix(page) == page.size()) return;
    for (Encoding encoding : LegacyEncodingsOf(page)) {
      if (auto bytes = WriteIn(encoding, page)) Check(encoding, *bytes);
    }
  }

  void Print(bool json, std::ostream& out) const {
    Tally sum;
    for (const auto& [encoding, tally] : tallies_) {
      PrintLine(parse::EncodingName(encoding), tally, json, out);
      sum.pages += tally.pages;
      sum.right += tally.right;
    }
    PrintLine("all", sum, json, out);
    double guess_ms = guess_s_ * 1e3 / static_cast<double>(sum.pages);
    double mb_per_s = static_cast<double>(decoded_bytes_) / decode_s_ / 1e6;
    if (json) {
      nlohmann::ordered_json line;
      line["bench"] = "charset";
      line["ms_per_guess"] = guess_ms;
      line["decode_mb_per_s"] = mb_per_s;
      out << line.dump() << '\n';
    } else {
      out << fmt::format("{:.2f} ms a guess; decoding {:.0f} MB/s\n", guess_ms,
                         mb_per_s);
    }
  }

 private:
  void Check(Encoding encoding, std::string_view bytes) {
    double begin = ThreadCpuSeconds();
    Encoding guess =
        parse::GuessEncoding(bytes).value_or(Encoding::kWindows1252);
    guess_s_ += ThreadCpuSeconds() - begin;
    begin = ThreadCpuSeconds();
    std::string text = parse::DecodeToUtf8(encoding, bytes);
    decode_s_ += ThreadCpuSeconds() - begin;
    decoded_bytes_ += bytes.size();
    Tally& tally = tallies_[encoding];
    ++tally.pages;
    if (guess == encoding || parse::DecodeToUtf8(guess, bytes) == text) {
      ++tally.right;
    } else {
      ++tally.wrong[parse::EncodingName(guess)];
    }
  }

  static void PrintLine(std::string_view name, const Tally& tally, bool json,
                        std::ostream& out) {
    if (json) {
      nlohmann::ordered_json line;
      line["bench"] = "charset";
      line["encoding"] = name;
      line["pages"] = tally.pages;
      line["right"] = tally.right;
      out << line.dump() << '\n';
      return;
    }
    out << fmt::format("{:<14} {:>5} pages {:>5} right", name, tally.pages,
                       tally.right);
    for (const auto& [other, count] : tally.wrong) {
      out << fmt::format(", {} {}", count, other);
    }
    out << '\n';
  }

  std::map<Encoding, Tally> tallies_;
  double guess_s_ = 0;
  double decode_s_ = 0;
  size_t decoded_bytes_ = 0;
};

// Where there is no corpus: greetings in Russian, Japanese, Polish and French.
std::vector<std::string> GeneratePages() {
  constexpr std::array<std::string_view, 4> kGreetings = {
      "\u0414\u043e\u0431\u0440\u044b\u0439 \u0434\u0435\u043d"
      "\u044c, \u0443\u0432\u0430\u0436\u0430\u0435\u043c\u044b"
      "\u0435 \u0447\u0438\u0442\u0430\u0442\u0435\u043b\u0438 "
      "\u043d\u0430\u0448\u0435\u0439 \u0433\u0430\u0437\u0435"
      "\u0442\u044b. ",
      "\u3053\u3093\u306b\u3061\u306f\u3001\u3053\u308c\u306f\u65e5"
      "\u672c\u8a9e\u306e\u6587\u7ae0\u3067\u3059\u3002",
      "Dzie\u0144 dobry, drodzy czytelnicy naszej gazety, dzi\u015b"
      " b\u0119dzie \u0142adna pogoda. ",
      "Bonjour, chers lecteurs, voici les derni\u00e8res nouvelles "
      "de l\u2019\u00e9t\u00e9 fran\u00e7ais. ",
  };
  std::vector<std::string> pages;
  for (std::string_view greeting : kGreetings) {
    std::string& page = pages.emplace_back("<!DOCTYPE html><title>x</title>");
    for (int i = 0; i < 100; ++i) page.append("<p>").append(greeting);
  }
  return pages;
}

}  // namespace

Status RunBenchCharset(const BenchCharsetOptions& options, std::ostream& out) {
  NEPHILA_TRY(std::string file,
              FindInCorpus(options.corpus, "html", "pages-core.tar.zst"));
  Charsets charsets;
  if (file.empty()) {
    if (!options.json) out << "no corpus: generated pages\n";
    for (const std::string& page : GeneratePages()) charsets.AddPage(page);
  } else {
    NEPHILA_TRY(std::string tar, ReadMaybeCompressed(file));
    NEPHILA_RETURN_IF_ERROR(ForEachTarFile(
        tar, [&charsets](std::string_view /*name*/, std::string_view page) {
          charsets.AddPage(page);
        }));
  }
  charsets.Print(options.json, out);
  return {};
}

}  // namespace nephila::bench
