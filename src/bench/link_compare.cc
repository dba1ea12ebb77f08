#include "bench/link_compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <unordered_map>

#include "base/ascii.h"
#include "base/text.h"
#include "bench/corpus.h"
#include "bench/html_corpus.h"
#include "parse/html_page.h"
#include "parse/meta_refresh.h"
#include "parse/page_links.h"
#include "parse/query_encoder.h"
#include "url/parser.h"

namespace nephila::bench {
namespace {

using nlohmann::json;

struct KindCount {
  uint64_t wanted = 0;  // in the reference, distinct in their page
  uint64_t found = 0;
  uint64_t extra = 0;
  uint64_t resolved = 0;  // whose URL the reference names
  uint64_t resolved_alike = 0;
};

// By kind and value; what it resolves to, empty if it does not, null if the
// reference does not say.
using LinkSet = std::map<std::pair<std::string, std::string>, json>;

const std::set<std::string>& ResourceKinds() {
  static const std::set<std::string> kKinds = {"script.src", "img.src",
                                               "link.href"};
  return kKinds;
}

std::string KindOf(const parse::HtmlLink& link) {
  if (link.tag == parse::Tag::kMeta) return "meta.refresh";
  std::string kind = link.in_template ? "template:" : "";
  if (link.in_svg) kind += "svg:";
  kind.append(TagText(link.tag)).append(".");
  // The reference has one name for both.
  bool xlink = link.attr == parse::Attr::kXlinkHref;
  return kind.append(xlink ? "href" : AttrText(link.attr));
}

std::string BaseKind(const std::string& kind) {
  return kind.starts_with("template:") ? kind.substr(9) : kind;
}

// The reference was decoded by a library that reads bytes 0x80 to 0x9F of
// windows-1252 as controls; the Encoding Standard makes them letters and signs.
std::string MendWindows1252(std::string value) {
  for (size_t i = 0; i + 1 < value.size(); ++i) {
    bool control = value[i] == '\xc2' && (value[i + 1] & '\xe0') == '\x80';
    if (!control) continue;
    std::string mended = parse::DecodeToUtf8(parse::Encoding::kWindows1252,
                                             value.substr(i + 1, 1));
    value.replace(i, 2, mended);
    i += mended.size() - 1;
  }
  return value;
}

// A resource without an address, which nobody could fetch. (A link element may
// be one or not, so that all of them count.)
bool IsNothing(const std::string& kind, std::string_view value) {
  return value.empty() && ResourceKinds().contains(BaseKind(kind));
}

// What the reference has of a page.
LinkSet ReferenceOf(const json& page) {
  LinkSet links;
  bool windows1252 = page["encoding"] == "windows-1252";
  bool base_known = false;
  for (const json& link : page["links"]) {
    auto kind = link[0].get<std::string>();
    std::string value(TrimSpaces(link[1].get<std::string>()));
    if (windows1252) value = MendWindows1252(std::move(value));
    if (kind == "meta.refresh") {  // there the whole content stands
      std::optional<parse::Refresh> refresh = parse::ParseRefresh(value);
      if (!refresh || !refresh->url) continue;
      value = std::string(*refresh->url);
    }
    if (IsNothing(kind, value)) continue;
    if (kind == "base.href") {
      if (base_known) continue;
      base_known = true;
    }
    json resolved;
    if (link.size() > 2) {
      bool same = link[2].is_number() && link[2].get<int>() == 0;
      bool unsaid = link[2].is_number() && !same;
      if (same) resolved = link[1];
      if (!same && !unsaid) resolved = link[2].is_null() ? json("") : link[2];
    }
    links.emplace(std::pair(kind, value), resolved);
  }
  return links;
}

// What is compared is how pages are read, not how their encoding is found: that
// is taken from the reference.
parse::Charset CharsetOf(const json& reference, const HtmlFile& page) {
  parse::Charset charset = page.charset;
  auto named = parse::EncodingOfLabel(reference["encoding"].get<std::string>());
  if (named) charset.encoding = *named;
  return charset;
}

class Comparison {
 public:
  Comparison() : reader_(Options(), &links_) {}

  void AddPage(const json& reference, const HtmlFile& page,
               const parse::Charset& charset) {
    LinkSet wanted = ReferenceOf(reference);
    LinkSet found = FoundIn(page, charset);
    for (const auto& [key, resolved] : wanted) {
      KindCount& count = counts_[key.first];
      ++count.wanted;
      auto it = found.find(key);
      if (it == found.end()) {
        Difference(page, "missing", key);
        continue;
      }
      ++count.found;
      CheckResolved(page, key, resolved, it->second, &count);
    }
    for (const auto& [key, resolved] : found) {
      if (wanted.contains(key)) continue;
      // Kinds that the reference does not list are not compared.
      if (!counts_.contains(key.first)) continue;
      ++counts_[key.first].extra;
      Difference(page, "extra", key);
    }
  }

  // Every kind of the reference, before the pages are gone through.
  void NameKinds(const json& reference) {
    for (const json& link : reference["links"]) {
      counts_[link[0].get<std::string>()];
    }
  }

  void Print(bool as_json, std::ostream& out) const {
    for (const auto& [kind, count] : counts_) {
      if (as_json) {
        out << json{{"kind", kind},
                    {"wanted", count.wanted},
                    {"found", count.found},
                    {"extra", count.extra},
                    {"resolved", count.resolved},
                    {"resolved_alike", count.resolved_alike}}
                   .dump()
            << '\n';
        continue;
      }
      out << fmt::format(
          "{:<22} {:>7} wanted {:>7} found ({:.3f} %) {:>4} extra, of {:>7} "
          "resolved {:>7} alike\n",
          kind, count.wanted, count.found,
          100.0 * static_cast<double>(count.found) /
              static_cast<double>(std::max<uint64_t>(count.wanted, 1)),
          count.extra, count.resolved, count.resolved_alike);
    }
    for (const std::string& line : differences_) out << line << '\n';
  }

 private:
  static parse::HtmlOptions Options() {
    parse::HtmlOptions options;
    options.all_forms = true;
    options.templates = true;
    options.max_links = uint64_t{1} << 30;
    options.max_link_bytes = options.max_tag_bytes = uint64_t{1} << 30;
    return options;
  }

  LinkSet FoundIn(const HtmlFile& page, const parse::Charset& charset) {
    links_.Clear();
    page_.Begin(charset);
    page_.Feed(page.bytes);
    page_.Finish();
    url::Url document;
    url::Url base;
    bool has_url = url::Parse(page.url, nullptr, &document).has_value();
    if (has_url) links_.BaseUrl(document, &base);
    auto encoder = parse::MakeQueryEncoder(charset.encoding);
    LinkSet found;
    auto add = [&](std::string kind, std::string_view value,
                   const url::Url* on) {
      if (IsNothing(kind, value)) return;
      url::Url url;
      bool parsed = has_url && url::Parse(value, on, &url, encoder.get());
      found.emplace(std::pair(std::move(kind), std::string(value)),
                    parsed ? json(url.href()) : json(""));
    };
    if (links_.base()) add("base.href", *links_.base(), &document);
    for (size_t i = 0; i < links_.size(); ++i) {
      add(KindOf(links_[i]), links_[i].value, &base);
    }
    return found;
  }

  void CheckResolved(const HtmlFile& page,
                     const std::pair<std::string, std::string>& key,
                     const json& wanted, const json& found, KindCount* count) {
    if (wanted.is_null()) return;
    ++count->resolved;
    if (wanted == found) {
      ++count->resolved_alike;
    } else {
      Difference(page, "resolved", key);
      differences_.back() += fmt::format(
          " to {} not {}", EscapeForTerminal(found.get<std::string>()),
          EscapeForTerminal(wanted.get<std::string>()));
    }
  }

  void Difference(const HtmlFile& page, std::string_view what,
                  const std::pair<std::string, std::string>& key) {
    differences_.push_back(
        fmt::format("{} {} {} {}", page.path, what, key.first,
                    EscapeForTerminal(key.second.substr(0, 200))));
  }

  parse::PageLinks links_;
  parse::HtmlReader reader_;
  parse::HtmlPage page_{&reader_};
  std::map<std::string, KindCount> counts_;
  std::vector<std::string> differences_;
};

}  // namespace

Status CompareLinks(const std::string& folder, bool as_json,
                    std::ostream& out) {
  std::string where = folder.empty() ? CorpusFolder() + "/html" : folder;
  NEPHILA_TRY(std::string text,
              ReadMaybeCompressed(where + "/links-parse5.jsonl.zst"));
  NEPHILA_TRY(HtmlCorpus corpus, LoadHtml(where, /*all=*/true));
  std::unordered_map<std::string, const HtmlFile*> pages;
  for (const HtmlFile& page : corpus.pages) pages[page.path] = &page;

  std::vector<json> references;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    references.push_back(json::parse(text.substr(begin, end - begin),
                                     /*cb=*/nullptr,
                                     /*allow_exceptions=*/false));
    begin = end + 1;
  }
  Comparison comparison;
  for (const json& reference : references) comparison.NameKinds(reference);
  for (const json& reference : references) {
    auto it = pages.find(reference["path"].get<std::string>());
    if (it == pages.end()) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              where + ": links of a page that is not there"});
    }
    comparison.AddPage(reference, *it->second,
                       CharsetOf(reference, *it->second));
  }
  comparison.Print(as_json, out);
  return {};
}

}  // namespace nephila::bench
