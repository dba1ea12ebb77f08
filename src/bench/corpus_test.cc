#include "bench/corpus.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace nephila::bench {
namespace {

class CorpusTest : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void Write(const std::string& name, const std::string& contents) {
    path_ = testing::TempDir() + std::to_string(getpid()) + name;
    std::ofstream(path_, std::ios::binary) << contents;
  }
  std::string path_;
};

std::string Packed(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(
      ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

TEST_F(CorpusTest, ReadsPlainAndPackedLines) {
  Write("corpus.txt", "http://a/\n\nhttp://b/");
  EXPECT_EQ(LoadUrls(path_)->urls,
            (std::vector<std::string>{"http://a/", "http://b/"}));
  TearDown();
  // Two frames, as `cat a.zst b.zst` makes them.
  Write("corpus.txt.zst", Packed("http://a/\n") + Packed("http://b/\n"));
  EXPECT_EQ(LoadUrls(path_)->urls,
            (std::vector<std::string>{"http://a/", "http://b/"}));
}

TEST_F(CorpusTest, BrokenFilesAreErrorsThatNameThem) {
  std::string packed = Packed(std::string(100000, 'x'));
  Write("torn.zst", packed.substr(0, packed.size() / 2));
  auto torn = LoadUrls(path_);
  ASSERT_FALSE(torn);
  EXPECT_NE(torn.error().message.find("torn.zst"), std::string::npos);
  TearDown();
  Write("garbage.zst", "not zstd");
  EXPECT_FALSE(LoadUrls(path_));
  TearDown();
  Write("empty.txt", "\n");
  EXPECT_FALSE(LoadUrls(path_));
  EXPECT_FALSE(LoadUrls(path_ + ".missing"));
}

TEST(Corpus, GeneratedUrlsDependOnTheSeedAlone) {
  UrlCorpus a = GenerateUrls(1000, 1);
  EXPECT_EQ(a.urls.size(), 1000u);
  EXPECT_EQ(a.urls, GenerateUrls(1000, 1).urls);
  EXPECT_NE(a.urls, GenerateUrls(1000, 2).urls);
}

}  // namespace
}  // namespace nephila::bench
