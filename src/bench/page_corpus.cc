#include "bench/page_corpus.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "bench/corpus.h"

namespace nephila::bench {
namespace {

constexpr size_t kTarBlockBytes = 512;
constexpr size_t kTarSizeOffset = 124;
constexpr size_t kTarSizeBytes = 12;
constexpr size_t kTarTypeOffset = 156;

// Octal digits up to a space or a NUL.
uint64_t ReadOctal(std::string_view field) {
  uint64_t value = 0;
  for (const char c : field) {
    if (c < '0' || c > '7') break;
    value = value * 8 + static_cast<uint64_t>(c - '0');
  }
  return value;
}

std::string MakePage(Random* random, size_t size) {
  constexpr std::string_view kTags[] = {"p", "li", "td", "div", "span", "h2"};
  std::string page = "<!DOCTYPE html><html><head><title>page</title></head>";
  while (page.size() < size) {
    const std::string_view tag = kTags[random->Below(std::size(kTags))];
    page += fmt::format("<{} class=\"c{}\"><a href=\"/{:x}.html\">", tag,
                        random->Below(20), random->Below(100000));
    for (uint64_t words = 3 + random->Below(20); words > 0; --words) {
      // The square of a uniform number: few words are common.
      const double u = random->Uniform();
      page += fmt::format("w{:x} ", static_cast<uint64_t>(u * u * 20000));
    }
    page += fmt::format("</a></{}>\n", tag);
  }
  return page;
}

}  // namespace

Result<std::vector<std::string>> FilesOfTar(std::string_view tar) {
  std::vector<std::string> files;
  while (tar.size() >= kTarBlockBytes && tar[0] != '\0') {
    const uint64_t size = ReadOctal(tar.substr(kTarSizeOffset, kTarSizeBytes));
    const char type = tar[kTarTypeOffset];
    tar.remove_prefix(kTarBlockBytes);
    const uint64_t padded =
        (size + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes;
    if (size > tar.size()) {
      return Unexpected(
          Error{ErrorCode::kCorruption, "a tar archive ends inside a file"});
    }
    if (type == '0' || type == '\0') files.emplace_back(tar.substr(0, size));
    tar.remove_prefix(std::min<uint64_t>(padded, tar.size()));
  }
  return files;
}

PageCorpus GeneratePages(size_t count, size_t smallest, size_t largest,
                         uint64_t seed) {
  Random random(seed);
  PageCorpus corpus;
  corpus.source = "generated";
  corpus.pages.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t size = smallest + random.Below(largest - smallest + 1);
    corpus.pages.push_back(MakePage(&random, size));
    corpus.pages.back().resize(size);
  }
  return corpus;
}

Result<PageCorpus> LoadPages(const std::string& folder, size_t smallest,
                             size_t largest) {
  constexpr size_t kGenerated = 200;
  const std::string path =
      (folder.empty() ? CorpusFolder() : folder) + "/html/pages-core.tar.zst";
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const bool exists, fs->Exists(path));
  if (!exists && folder.empty()) {
    return GeneratePages(kGenerated, smallest, largest, 1);
  }
  NEPHILA_TRY(const std::string tar, ReadMaybeCompressed(path));
  NEPHILA_TRY(std::vector<std::string> files, FilesOfTar(tar));
  PageCorpus corpus;
  corpus.source = "pages-core.tar.zst";
  corpus.pages.reserve(files.size());
  for (std::string& file : files) {
    if (file.size() < smallest || file.size() > largest) continue;
    corpus.pages.push_back(std::move(file));
  }
  if (corpus.pages.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            path + ": no page of the sizes asked for"});
  }
  return corpus;
}

}  // namespace nephila::bench
