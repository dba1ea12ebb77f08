#include "store/cdxj.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "store/cdxj_merge.h"

namespace nephila::store {
namespace {

constexpr std::string_view kLine =
    R"(org,iana)/ 20140126200624 {"url": "http://www.iana.org/", )"
    R"("mime": "text/html", "status": "200", )"
    R"("digest": "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB", "length": "2258", )"
    R"("offset": "334", "filename": "iana.warc.gz"})";

std::string Read(FileSystem& fs, const std::string& path) {
  auto text = ReadWholeFile(fs, path, size_t{64} << 20);
  EXPECT_TRUE(text.has_value()) << text.error().message;
  return text ? *text : "";
}

void Put(FileSystem& fs, const std::string& path, std::string_view text) {
  ASSERT_TRUE(PublishFile(fs, path, text).has_value());
}

TEST(Cdxj, ReadsALineOfPywb) {
  auto line = ParseCdxj(kLine);
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->key, "org,iana)/");
  EXPECT_EQ(line->timestamp, "20140126200624");
  EXPECT_EQ(line->url, "http://www.iana.org/");
  EXPECT_EQ(line->mime, "text/html");
  EXPECT_EQ(line->status, "200");
  EXPECT_EQ(line->digest, "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB");
  EXPECT_EQ(line->length, 2258u);
  EXPECT_EQ(line->offset, 334u);
  EXPECT_EQ(line->filename, "iana.warc.gz");
  EXPECT_EQ(FormatCdxj(*line), kLine);
}

TEST(Cdxj, TakesNumbersAndUnknownMembers) {
  auto line = ParseCdxj(
      R"(a)/ 20140126200624 {"offset": 5, "length": "-", "status": 200,)"
      R"( "languages": "eng", "x": [1, {"y": null}]})");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->offset, 5u);
  EXPECT_EQ(line->length, std::nullopt);
  EXPECT_EQ(line->status, "200");
  ASSERT_EQ(line->others.size(), 2u);
  EXPECT_EQ(line->others[0].second, "eng");
  EXPECT_EQ(line->others[1].second, R"([1,{"y":null}])");
}

TEST(Cdxj, RefusesWhatIsNoLine) {
  auto error = [](std::string_view text) {
    auto line = ParseCdxj(text);
    EXPECT_FALSE(line.has_value()) << text;
    return line ? CdxjError::kTooLong : line.error();
  };
  EXPECT_EQ(error(""), CdxjError::kNoFields);
  EXPECT_EQ(error("a)/ 20140126200624"), CdxjError::kNoFields);
  EXPECT_EQ(error(" CDX N b a"), CdxjError::kNoFields);
  EXPECT_EQ(error("a)/ 2014 {}"), CdxjError::kTimestamp);
  EXPECT_EQ(error("a)/ 2014012620062x {}"), CdxjError::kTimestamp);
  EXPECT_EQ(error("a)/ 20140126200624 {"), CdxjError::kJson);
  EXPECT_EQ(error("a)/ 20140126200624 []"), CdxjError::kJson);
  EXPECT_EQ(error(R"(a)/ 20140126200624 {"offset": "x"})"), CdxjError::kJson);
  EXPECT_EQ(error(R"(a)/ 20140126200624 {"offset": -1})"), CdxjError::kJson);
  EXPECT_EQ(error(std::string(kLongestCdxjLine + 1, 'a')), CdxjError::kTooLong);
}

TEST(Cdxj, SurvivesDeepNesting) {
  std::string deep = "a)/ 20140126200624 {\"x\": " + std::string(400'000, '[') +
                     std::string(400'000, ']') + "}";
  EXPECT_TRUE(ParseCdxj(deep).has_value());
}

TEST(Cdxj, EscapesWhatJsonCannotHold) {
  CdxjLine line;
  line.key = "a)/";
  line.timestamp = "20140126200624";
  line.url = "http://a/\"\\\n\x7f\xff\xc3\xbc";
  std::string text = FormatCdxj(line);
  EXPECT_EQ(
      text,
      R"(a)/ 20140126200624 {"url": "http://a/\"\\\n\u007f\ufffd\u00fc"})");
  EXPECT_EQ(FormatCdxj(*ParseCdxj(text)), text);
}

TEST(Cdxj, HasSha1WithoutItsName) {
  EXPECT_EQ(CdxjDigest("sha1:ABC"), "ABC");
  EXPECT_EQ(CdxjDigest("SHA1:ABC"), "ABC");
  EXPECT_EQ(CdxjDigest("sha256:abc"), "sha256:abc");
  EXPECT_EQ(CdxjDigest(""), "");
}

TEST(CdxjMerge, MakesOneSortedFileWithoutEqualLines) {
  MemoryFileSystem fs;
  Put(fs, "a", " CDX N b\na 1\nc 1\r\nd 1");
  Put(fs, "b", "!meta {}\na 1\nb 1\nd 1\nd 2\n");
  Put(fs, "c", "");
  auto lines = MergeCdxj(fs, {"a", "b", "c"}, "out");
  ASSERT_TRUE(lines.has_value()) << lines.error().message;
  EXPECT_EQ(*lines, 5u);
  EXPECT_EQ(Read(fs, "out"), "a 1\nb 1\nc 1\nd 1\nd 2\n");
}

TEST(CdxjMerge, MayWriteOverAnInput) {
  MemoryFileSystem fs;
  Put(fs, "a", "a\nc\n");
  Put(fs, "b", "b\n");
  ASSERT_TRUE(MergeCdxj(fs, {"a", "b"}, "a").has_value());
  EXPECT_EQ(Read(fs, "a"), "a\nb\nc\n");
}

TEST(CdxjMerge, NamesFileAndLineThatAreNotInOrder) {
  MemoryFileSystem fs;
  Put(fs, "a", "a\nc\nb\n");
  auto lines = MergeCdxj(fs, {"a"}, "out");
  ASSERT_FALSE(lines.has_value());
  EXPECT_EQ(lines.error().code, ErrorCode::kCorruption);
  EXPECT_NE(lines.error().message.find("a: line 3"), std::string::npos);
  EXPECT_FALSE(*fs.Exists("out"));
}

TEST(CdxjMerge, HasABoundOnALine) {
  MemoryFileSystem fs;
  Put(fs, "a", "a\n" + std::string(kLongestCdxjLine + 1, 'b') + "\n");
  auto lines = MergeCdxj(fs, {"a"}, "out");
  ASSERT_FALSE(lines.has_value());
  EXPECT_NE(lines.error().message.find("line 2"), std::string::npos);
}

TEST(CdxjMerge, MergesMoreFilesThanItMayOpenAtOnce) {
  MemoryFileSystem fs;
  std::vector<std::string> inputs;
  std::string expected;
  for (size_t i = 0; i < 2 * kMostMerged + 3; ++i) {
    std::string line = std::to_string(10'000 + i) + "\n";
    inputs.push_back("in" + std::to_string(i));
    Put(fs, inputs.back(), line);
    expected += line;
  }
  auto lines = MergeCdxj(fs, inputs, "out");
  ASSERT_TRUE(lines.has_value()) << lines.error().message;
  EXPECT_EQ(*lines, inputs.size());
  EXPECT_EQ(Read(fs, "out"), expected);
  // Nothing but the inputs and the output is left.
  EXPECT_EQ(fs.List(".")->size(), inputs.size() + 1);
}

TEST(CdxjSorter, SortsInMemoryAndByRunsAlike) {
  std::vector<std::string> lines;
  uint64_t state = 1;
  for (int i = 0; i < 5'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    lines.push_back(std::to_string(state >> 52) + std::string(i % 50, 'x'));
  }
  std::string first;
  for (size_t memory : {size_t{1} << 30, size_t{20'000}, size_t{1}}) {
    if (memory == 1) lines.resize(300);
    MemoryFileSystem fs;
    CdxjSorter sorter(fs, "out", memory);
    for (const std::string& line : lines) {
      ASSERT_TRUE(sorter.Add(line).has_value());
    }
    auto count = sorter.Finish();
    ASSERT_TRUE(count.has_value()) << count.error().message;
    std::vector<std::string> sorted = lines;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::string expected;
    for (const std::string& line : sorted) expected += line + "\n";
    EXPECT_EQ(*count, sorted.size());
    EXPECT_EQ(Read(fs, "out"), expected) << memory;
  }
}

TEST(CdxjSorter, LeavesNoScratch) {
  MemoryFileSystem fs;
  {
    CdxjSorter sorter(fs, "out", 1);
    for (const char* line : {"c", "b", "a"}) {
      ASSERT_TRUE(sorter.Add(line).has_value());
    }
    ASSERT_TRUE(sorter.Finish().has_value());
  }
  EXPECT_EQ(fs.List(".")->size(), 1u);
  { CdxjSorter unfinished(fs, "other", 1); }
  EXPECT_EQ(fs.List(".")->size(), 1u);
}

}  // namespace
}  // namespace nephila::store
