#include "store/cdxj_search.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "store/surt.h"

namespace nephila::store {
namespace {

// Lines of very different lengths, some keys several times, some of them
// beginnings of others.
std::vector<CdxjLine> Lines() {
  std::vector<CdxjLine> lines;
  for (int i = 0; i < 400; ++i) {
    CdxjLine line;
    line.url = fmt::format("http://a.com/{}{}", i % 37,
                           std::string(static_cast<size_t>(i * i % 5000), 'x'));
    line.key = SurtKey(line.url);
    line.timestamp = fmt::format("2026010203{:04}", i);
    lines.push_back(line);
    line.url = fmt::format("http://a.com/{}", i % 37);
    line.key = SurtKey(line.url);
    lines.push_back(line);
  }
  return lines;
}

std::string Sorted(const std::vector<CdxjLine>& lines) {
  std::vector<std::string> texts;
  for (const CdxjLine& line : lines) texts.push_back(FormatCdxj(line));
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

size_t Found(FileSystem& fs, const std::string& key) {
  size_t found = 0;
  MustDo(FindInIndex(fs, "x.cdxj", key, [&](const CdxjLine& line) {
    EXPECT_EQ(line.key, key);
    ++found;
  }));
  return found;
}

TEST(CdxjSearch, FindsEveryLineOfEveryKeyAndNoOther) {
  MemoryFileSystem fs;
  const std::vector<CdxjLine> lines = Lines();
  Put(fs, "x.cdxj", Sorted(lines));
  for (const CdxjLine& line : lines) {
    const auto same = std::count_if(
        lines.begin(), lines.end(),
        [&](const CdxjLine& other) { return other.key == line.key; });
    ASSERT_EQ(Found(fs, line.key), static_cast<size_t>(same)) << line.key;
  }
  for (const char* url : {"http://0.com/", "http://a.com/9999", "http://z.com/",
                          "http://a.com/", "http://a.com/1y"}) {
    EXPECT_EQ(Found(fs, SurtKey(url)), 0U) << url;
  }
}

TEST(CdxjSearch, AnEmptyIndexHasNothing) {
  MemoryFileSystem fs;
  Put(fs, "x.cdxj", "");
  EXPECT_EQ(Found(fs, "com,a)/"), 0U);
}

TEST(CdxjSearch, ALineThatIsNoneIsNamed) {
  MemoryFileSystem fs;
  Put(fs, "x.cdxj", "com,a)/ 20260102030405 {broken\n");
  const Status status =
      FindInIndex(fs, "x.cdxj", "com,a)/", [](const CdxjLine&) {});
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  EXPECT_NE(status.error().message.find("x.cdxj"), std::string::npos);
}

}  // namespace
}  // namespace nephila::store
