#include "bench/html_corpus.h"

#include <fmt/core.h>

#include <iterator>
#include <map>

#include "base/random.h"
#include "base/real_file_system.h"
#include "bench/corpus.h"

namespace nephila::bench {
namespace {

constexpr size_t kTarBlock = 512;

// A field of a header: text up to a NUL.
std::string Field(std::string_view header, size_t at, size_t size) {
  std::string_view field = header.substr(at, size);
  return std::string(field.substr(0, field.find('\0')));
}

size_t Octal(std::string_view text) {
  size_t value = 0;
  for (char c : text) {
    if (c >= '0' && c <= '7') value = value * 8 + static_cast<size_t>(c - '0');
  }
  return value;
}

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

}  // namespace

Result<std::vector<HtmlFile>> ReadTar(std::string_view tar) {
  std::vector<HtmlFile> files;
  std::string long_name;
  size_t at = 0;
  while (at + kTarBlock <= tar.size() && tar[at] != '\0') {
    std::string_view header = tar.substr(at, kTarBlock);
    size_t size = Octal(Field(header, 124, 12));
    at += kTarBlock;
    if (size > tar.size() - at) {
      return Unexpected(
          Error{ErrorCode::kCorruption, "a tar file that is cut"});
    }
    std::string_view body = tar.substr(at, size);
    at += (size + kTarBlock - 1) / kTarBlock * kTarBlock;
    std::string name = Field(header, 0, 100);
    std::string prefix = Field(header, 345, 155);
    if (header.substr(257, 6) == std::string_view("ustar\0", 6) &&
        !prefix.empty()) {
      name = prefix + "/" + name;
    }
    char type = header[156];
    if (type == 'L') {
      long_name = Field(body, 0, body.size());
    } else if (type == '0' || type == '\0') {
      files.push_back(
          {long_name.empty() ? name : long_name, "", std::string(body), {}});
      long_name.clear();
    }
  }
  return files;
}

Result<HtmlCorpus> LoadHtml(const std::string& folder, bool all) {
  std::string where = folder.empty() ? CorpusFolder() + "/html" : folder;
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(bool exists, fs->Exists(where + "/pages-core.tar.zst"));
  if (!exists) {
    if (!folder.empty()) {
      return Unexpected(Error{ErrorCode::kNotFound,
                              folder + ": no pages-core.tar.zst in it"});
    }
    return GenerateHtml(500, 1);
  }
  HtmlCorpus corpus;
  corpus.source = all ? "pages-core, pages-more" : "pages-core";
  NEPHILA_TRY(std::string tar,
              ReadMaybeCompressed(where + "/pages-core.tar.zst"));
  NEPHILA_TRY(corpus.pages, ReadTar(tar));
  if (all) {
    NEPHILA_TRY(tar, ReadMaybeCompressed(where + "/pages-more.tar.zst"));
    NEPHILA_TRY(std::vector<HtmlFile> more, ReadTar(tar));
    std::move(more.begin(), more.end(), std::back_inserter(corpus.pages));
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
    for (int item = 0; item < 100; ++item) {
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
