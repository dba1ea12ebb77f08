#include "bench/bench_store.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/page_corpus.h"

namespace nephila::bench {
namespace {

std::string TarHeader(size_t size, char type) {
  std::string header(512, '\0');
  header.replace(0, 4, "file");
  std::ostringstream octal;
  octal << std::oct << size;
  header.replace(124, octal.str().size(), octal.str());
  header[156] = type;
  return header;
}

std::string TarFile(const std::string& contents, char type = '0') {
  std::string file = TarHeader(contents.size(), type) + contents;
  file.resize((file.size() + 511) / 512 * 512);
  return file;
}

TEST(PageCorpusTest, ReadsTheFilesOfATar) {
  const std::string tar = TarFile("one") + TarFile("a/path/", 'L') +
                          TarFile(std::string(1000, 'x')) + TarFile("", '5') +
                          TarFile("") + std::string(1024, '\0');
  const auto files = FilesOfTar(tar);
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(*files,
            std::vector<std::string>({"one", std::string(1000, 'x'), ""}));
  EXPECT_FALSE(FilesOfTar(TarHeader(600, '0') + std::string(512, 'x')));
}

TEST(PageCorpusTest, GeneratedPagesHaveTheSizesAskedFor) {
  const PageCorpus corpus = GeneratePages(20, 1000, 2000, 1);
  EXPECT_EQ(corpus.source, "generated");
  ASSERT_EQ(corpus.pages.size(), 20U);
  for (const std::string& page : corpus.pages) {
    EXPECT_GE(page.size(), 1000U);
    EXPECT_LE(page.size(), 2000U);
  }
}

TEST(BenchStoreTest, ComparesCompressorsOnThePagesOfACorpus) {
  const std::string folder = testing::TempDir() + "bench_store_corpus";
  std::filesystem::create_directories(folder + "/html");
  std::string tar;
  for (const std::string& page : GeneratePages(3, 10000, 30000, 1).pages) {
    tar += TarFile(page);
  }
  tar += TarFile("too small to count");
  std::string packed(ZSTD_compressBound(tar.size()), '\0');
  packed.resize(
      ZSTD_compress(packed.data(), packed.size(), tar.data(), tar.size(), 1));
  std::ofstream(folder + "/html/pages-core.tar.zst", std::ios::binary)
      << packed;

  std::ostringstream out;
  const BenchStoreOptions options{folder, 1, true};
  ASSERT_TRUE(RunBenchStore(options, out).has_value());
  std::istringstream lines(out.str());
  std::string line;
  bool seen_default = false;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["pages"], 3);
    EXPECT_GT(json["mb_per_s"], 0.0);
    if (json["compressor"] != "isal" || json["level"] != 1) continue;
    seen_default = true;
    EXPECT_GT(json["size_to_zlib6"], 0.8);
    EXPECT_LT(json["size_to_zlib6"], 1.3);
  }
  EXPECT_TRUE(seen_default);
  EXPECT_FALSE(RunBenchStore({folder + "/missing", 1, true}, out).has_value());
}

}  // namespace
}  // namespace nephila::bench
