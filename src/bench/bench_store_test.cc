#include "bench/bench_store.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "bench/html_corpus.h"
#include "bench/tar_testing.h"

namespace nephila::bench {
namespace {

TEST(BenchStoreTest, ComparesCompressorsOnThePagesOfACorpus) {
  const std::string folder =
      testing::TempDir() + "bench_store_corpus" + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/html");
  std::string tar;
  size_t pages = 0;
  for (const HtmlFile& page : GenerateHtml(5, 1).pages) {
    tar += TarMember("page", '0', page.bytes);
    pages += page.bytes.size() >= 10000 && page.bytes.size() <= 48000 ? 1 : 0;
  }
  ASSERT_GT(pages, 0U);
  tar += TarMember("small", '0', "too small to count");
  std::string packed(ZSTD_compressBound(tar.size()), '\0');
  packed.resize(
      ZSTD_compress(packed.data(), packed.size(), tar.data(), tar.size(), 1));
  std::ofstream(folder + "/html/pages-core.tar.zst", std::ios::binary)
      << packed;
  std::ofstream(folder + "/html/manifest.tsv") << "";

  std::ostringstream out;
  const BenchStoreOptions options{folder, 1, true};
  ASSERT_TRUE(RunBenchStore(options, out).has_value());
  std::istringstream lines(out.str());
  std::string line;
  bool seen_default = false;
  while (std::getline(lines, line)) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["pages"], pages);
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
