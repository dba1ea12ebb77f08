#include "bench/link_pages.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "bench/corpus.h"

namespace nephila::bench {
namespace {

constexpr size_t kLongestLink = 2048;
// Links make up this part of the corpus file, measured over all of it.
constexpr double kTextShare = 0.44;

std::string WithoutFragment(std::string link) {
  if (size_t hash = link.find('#'); hash != std::string::npos) {
    link.resize(hash);
  }
  return link;
}

bool IsCrawlable(std::string_view link) {
  return (link.starts_with("http://") || link.starts_with("https://")) &&
         link.size() <= kLongestLink;
}

// One site of generated pages: an origin, and links that all pages share.
struct Site {
  std::string origin;
  std::vector<std::string> navigation;
};

// A longer path than GenerateUrls makes, as articles have them.
std::string OwnLink(const Site& site, const std::string& url, Random* random) {
  size_t path = url.find('/', url.find("://") + 3);
  std::string link = site.origin + WithoutFragment(url.substr(path));
  if (link.ends_with('/') || random->Chance(0.3)) {
    static constexpr std::string_view kSlugs[] = {
        "news-of-the-week", "2014/03/12", "category/all", "article-about-this",
        "products"};
    std::string_view slug = kSlugs[random->Below(std::size(kSlugs))];
    size_t end = site.origin.size();
    link.insert(end, "/" + std::string(slug));
  }
  return link;
}

}  // namespace

std::string_view HostOf(std::string_view url) {
  size_t begin = url.find("://");
  if (begin == std::string_view::npos) return url;
  begin += 3;
  size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  return url.substr(begin, end - begin);
}

Result<LinkPage> ParseLinkPage(std::string_view line) {
  auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("doc") || !json["doc"].is_string() ||
      !json.contains("links") || !json["links"].is_array()) {
    return Unexpected(Error{ErrorCode::kCorruption, "not a page with links"});
  }
  LinkPage page;
  page.site = HostOf(json["doc"].get_ref<const std::string&>());
  for (const auto& link : json["links"]) {
    // [kind, raw, resolved], resolved 0 meaning "as raw".
    if (!link.is_array() || link.size() < 3 || !link[0].is_string()) continue;
    const auto& kind = link[0].get_ref<const std::string&>();
    if (kind != "a.href" && kind != "area.href") continue;
    bool as_raw = link[2].is_number() && link[2] == 0;
    const auto& text = as_raw ? link[1] : link[2];
    if (!text.is_string()) continue;
    std::string url = WithoutFragment(text.get<std::string>());
    if (IsCrawlable(url)) page.links.push_back(std::move(url));
  }
  return page;
}

Result<LinkPages> LoadLinkPages(size_t text_bytes) {
  std::string path = CorpusFolder() + "/html/links-parse5.jsonl.zst";
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(bool exists, fs->Exists(path));
  if (!exists) return GenerateLinkPages(text_bytes, 1);
  NEPHILA_TRY(std::string text, ReadMaybeCompressed(path));
  LinkPages result;
  result.source = path.substr(path.rfind('/') + 1);
  double share =
      std::min(1.0, static_cast<double>(text_bytes) /
                        (kTextShare * static_cast<double>(text.size())));
  double due = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    due += share;
    if (due >= 1 && end > begin) {
      due -= 1;
      auto page =
          ParseLinkPage(std::string_view(text).substr(begin, end - begin));
      if (!page) return Unexpected(std::move(page).error().WithContext(path));
      if (!page->links.empty()) result.pages.push_back(*std::move(page));
    }
    begin = end + 1;
  }
  if (result.pages.empty()) {
    return Unexpected(Error{ErrorCode::kCorruption, path + ": no links in it"});
  }
  return result;
}

LinkPages GenerateLinkPages(size_t text_bytes, uint64_t seed) {
  Random random(seed);
  LinkPages result;
  result.source = "generated";
  size_t bytes = 0;
  for (uint64_t batch = 0; bytes < text_bytes; ++batch) {
    // Enough for the largest site below.
    std::vector<std::string> urls =
        GenerateUrls(2500, seed + batch * kSplitMixStep).urls;
    size_t next = 0;
    Site site;
    site.origin = "http://" + std::string(HostOf(urls[next++]));
    for (int i = 0; i < 25; ++i) {
      site.navigation.push_back(OwnLink(site, urls[next++], &random));
    }
    uint64_t page_count = 1 + random.Below(3);
    for (uint64_t i = 0; i < page_count; ++i) {
      LinkPage page;
      page.site = HostOf(site.origin);
      page.links = site.navigation;
      // Mean 165, from 30 to 300.
      size_t length = 30 + random.Below(271);
      while (page.links.size() < length) {
        if (random.Chance(0.3)) {
          page.links.push_back(page.links[random.Below(page.links.size())]);
        } else if (random.Chance(0.17)) {
          page.links.push_back(WithoutFragment(urls[next++]));
        } else {
          page.links.push_back(OwnLink(site, urls[next++], &random));
        }
      }
      for (const std::string& link : page.links) bytes += link.size();
      result.pages.push_back(std::move(page));
    }
  }
  return result;
}

}  // namespace nephila::bench
