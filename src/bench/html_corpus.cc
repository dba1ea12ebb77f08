#include "bench/html_corpus.h"

#include <fmt/core.h>

#include <map>

#include "base/file.h"
#include "base/random.h"
#include "bench/corpus.h"
#include "bench/tar.h"

namespace nephila::bench {
namespace {

std::map<std::string, std::string> UrlsOf(const std::string& manifest) {
  std::map<std::string, std::string> urls;
  for (size_t begin = 0; begin < manifest.size();) {
    size_t end = std::min(manifest.find('\n', begin), manifest.size());
    std::vector<std::string> columns(1);
    for (char c : manifest.substr(begin, end - begin)) {
      if (c == '\t') {
        columns.emplace_back();
      } else {
        columns.back() += c;
      }
    }
    if (columns.size() == 6) urls[columns[1]] = columns[5];
    begin = end + 1;
  }
  return urls;
}

// Pages are decoded as the reference links were: no guess.
void Finish(const std::map<std::string, std::string>& urls,
            HtmlCorpus* corpus) {
  parse::CharsetHints hints;
  hints.guess = false;
  for (HtmlFile& page : corpus->pages) {
    auto it = urls.find(page.path);
    bool known = it != urls.end() && it->second != "-";
    page.url = known ? it->second : "https://corpus.invalid/" + page.path;
    page.charset = parse::DecideCharset(page.bytes, hints);
    corpus->bytes += page.bytes.size();
  }
}

Status AddArchive(const std::string& path, HtmlCorpus* corpus) {
  NEPHILA_TRY(std::string tar, ReadMaybeCompressed(path));
  return ForEachTarFile(
      tar, [corpus](std::string_view name, std::string_view body) {
        corpus->pages.push_back({std::string(name), "", std::string(body), {}});
      });
}

}  // namespace

Result<HtmlCorpus> LoadHtml(const std::string& folder, bool all) {
  NEPHILA_TRY(std::string core,
              FindInCorpus(folder, "html", "pages-core.tar.zst"));
  if (core.empty()) return GenerateHtml(500, 1);
  HtmlCorpus corpus;
  corpus.source = all ? "pages-core, pages-more" : "pages-core";
  NEPHILA_RETURN_IF_ERROR(AddArchive(core, &corpus));
  const std::string where = ParentDir(core);
  if (all) {
    NEPHILA_RETURN_IF_ERROR(AddArchive(where + "/pages-more.tar.zst", &corpus));
  }
  NEPHILA_TRY(std::string manifest,
              ReadMaybeCompressed(where + "/manifest.tsv"));
  Finish(UrlsOf(manifest), &corpus);
  return corpus;
}

HtmlCorpus GenerateHtml(size_t count, uint64_t seed) {
  Random random(seed);
  UrlCorpus urls = GenerateUrls(count * 100, seed);
  HtmlCorpus corpus;
  corpus.source = "generated";
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string page =
        "<!DOCTYPE html><html><head><meta charset=utf-8><title>A page</title>"
        "</head><body>\n";
    const uint64_t items = 10 + random.Below(91);
    for (uint64_t item = 0; item < items; ++item) {
      page += fmt::format(
          "<div class=\"item i{}\" id=\"n{}\"><p>Some words of a text that is "
          "made up &amp; has {} of them <a class=\"link\" href=\"{}\" "
          "title=\"where it leads\">and a link</a>, then more words.</p>\n"
          "<script>var x = '{}';</script></div>\n",
          random.Below(9), random.Below(99999), random.Below(99),
          urls.urls[next++ % urls.urls.size()],
          std::string(random.Below(400), 'x'));
    }
    corpus.pages.push_back(
        {fmt::format("generated/{}.html", i), "", std::move(page), {}});
  }
  Finish({}, &corpus);
  return corpus;
}

}  // namespace nephila::bench
