#include "bench/corpus.h"

#include <fmt/core.h>
#include <zstd.h>

#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"

namespace nephila::bench {
namespace {

constexpr size_t kLongestCorpus = size_t{4} << 30;

Result<std::string> Decompress(const std::string& packed,
                               const std::string& path) {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(
      ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::string text;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  size_t left = 0;
  do {
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    left = ZSTD_decompressStream(context.get(), &output, &input);
    bool stuck = output.pos == 0 && input.pos == input.size && left != 0;
    if (ZSTD_isError(left) != 0U || stuck ||
        text.size() + output.pos > kLongestCorpus) {
      return Unexpected(
          Error{ErrorCode::kCorruption, path + ": not a whole zstd file"});
    }
    text.append(chunk, 0, output.pos);
  } while (left != 0 || input.pos < input.size);
  return text;
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string Word(Random* random, uint64_t longest) {
  constexpr std::string_view kLetters = "etaoinshrdlucmfwypvbgkjqxz-0123456789";
  std::string word;
  uint64_t length = 2 + random->Below(longest);
  for (uint64_t i = 0; i < length; ++i) {
    // The smaller of two draws: common letters are common.
    word += kLetters[std::min(random->Below(kLetters.size()),
                              random->Below(kLetters.size()))];
  }
  return word;
}

}  // namespace

std::string CorpusFolder() {
  const char* folder = std::getenv("NEPHILA_CORPUS");
  return folder != nullptr ? folder : "../shared/corpus";
}

Result<std::string> FindInCorpus(const std::string& folder,
                                 std::string_view part, std::string_view name) {
  auto fs = MakeRealFileSystem();
  const std::string where = folder.empty() ? CorpusFolder() : folder;
  for (const std::string& path : {fmt::format("{}/{}", where, name),
                                  fmt::format("{}/{}/{}", where, part, name)}) {
    NEPHILA_TRY(const bool exists, fs->Exists(path));
    if (exists) return path;
  }
  if (folder.empty()) return std::string();
  return Unexpected(Error{
      ErrorCode::kNotFound,
      fmt::format("{}: neither {} nor {}/{} in it", folder, name, part, name)});
}

Result<std::string> ReadMaybeCompressed(const std::string& path) {
  auto fs = MakeRealFileSystem();
  NEPHILA_TRY(std::string text, ReadWholeFile(*fs, path, kLongestCorpus));
  if (!path.ends_with(".zst")) return text;
  return Decompress(text, path);
}

Result<UrlCorpus> LoadUrls(const std::string& file) {
  auto fs = MakeRealFileSystem();
  std::string path =
      file.empty() ? CorpusFolder() + "/urls/page-links.txt.zst" : file;
  if (file.empty()) {
    NEPHILA_TRY(bool exists, fs->Exists(path));
    if (!exists) return GenerateUrls(200000, 1);
  }
  NEPHILA_TRY(std::string text, ReadMaybeCompressed(path));
  UrlCorpus corpus;
  corpus.source = path.substr(path.rfind('/') + 1);
  corpus.urls = SplitLines(text);
  if (corpus.urls.empty()) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument, path + ": no URL in it"});
  }
  return corpus;
}

UrlCorpus GenerateUrls(size_t count, uint64_t seed) {
  constexpr std::string_view kSuffixes[] = {".com", ".com", ".com",   ".org",
                                            ".net", ".de",  ".co.uk", ".com.br",
                                            ".gov", ".io",  ".jp",    ".pt"};
  constexpr std::string_view kTypes[] = {"",     "",     "/",   ".html",
                                         ".php", ".htm", ".pdf"};
  Random random(seed);
  UrlCorpus corpus;
  corpus.source = "generated";
  for (size_t i = 0; i < count; ++i) {
    std::string url = random.Chance(0.7) ? "https://" : "http://";
    if (random.Chance(0.6)) url += "www.";
    if (random.Chance(0.2)) url += Word(&random, 6) + ".";
    url += Word(&random, 10);
    url += kSuffixes[random.Below(std::size(kSuffixes))];
    url += '/';
    for (uint64_t depth = random.Below(5); depth > 0; --depth) {
      url += Word(&random, 14);
      url += depth > 1 ? "/" : kTypes[random.Below(std::size(kTypes))];
    }
    if (random.Chance(0.25)) {
      url += '?';
      for (uint64_t params = 1 + random.Below(3); params > 0; --params) {
        url += fmt::format("{}={}{}", Word(&random, 6), random.Below(100000),
                           params > 1 ? "&" : "");
      }
    }
    if (random.Chance(0.02)) url += "#" + Word(&random, 8);
    corpus.urls.push_back(std::move(url));
  }
  return corpus;
}

}  // namespace nephila::bench
