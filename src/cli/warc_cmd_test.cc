// The verbs of `nephila warc`, over the samples of testdata/warc and over what
// is wrong with archives.
#include "cli/warc_cmd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "base/real_file_system.h"
#include "base/source_path_testing.h"

namespace nephila::cli {
namespace {

std::string Sample(const std::string& name) {
  return SourcePath("testdata/warc/" + name);
}

std::vector<nlohmann::json> JsonLines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

std::string Record(const std::string& uri, const std::string& block) {
  return "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:" + uri +
         ">\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: " + uri +
         "\r\nContent-Type: application/http\r\nContent-Length: " +
         std::to_string(block.size()) + "\r\n\r\n" + block + "\r\n\r\n";
}

std::string Page(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body;
}

class WarcCmd : public testing::Test {
 protected:
  void Put(const std::string& path, std::string_view text) {
    ASSERT_TRUE(PublishFile(fs_, path, text).has_value());
  }
  std::string Read(const std::string& path) {
    auto text = ReadWholeFile(fs_, path, 1 << 20);
    EXPECT_TRUE(text.has_value()) << path;
    return text ? *text : "";
  }
  MemoryFileSystem fs_;
  std::unique_ptr<FileSystem> real_ = MakeRealFileSystem();
  std::ostringstream out_;
};

TEST_F(WarcCmd, LsPrintsALineARecord) {
  auto status =
      RunWarcLs(*real_, {{Sample("warcio/example.warc.gz")}, false}, out_);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_NE(text.find("response     200 text/html"), std::string::npos) << text;
  EXPECT_NE(text.find("http://example.com/\n"), std::string::npos);
}

TEST_F(WarcCmd, LsPrintsJson) {
  auto status =
      RunWarcLs(*real_, {{Sample("warcio/example.warc.gz")}, true}, out_);
  ASSERT_TRUE(status.has_value());
  auto lines = JsonLines(out_.str());
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0]["type"], "warcinfo");
  EXPECT_EQ(lines[0]["offset"], 0);
  EXPECT_EQ(lines[2]["type"], "response");
  EXPECT_EQ(lines[2]["status"], "200");
  EXPECT_EQ(lines[2]["mime"], "text/html");
  EXPECT_EQ(lines[2]["uri"], "http://example.com/");
  EXPECT_EQ(lines[1]["offset"],
            lines[0]["offset"].get<int>() + lines[0]["length"].get<int>());
}

TEST_F(WarcCmd, LsGoesOnBehindDamageAndFails) {
  std::string a = Record("http://a/", Page("a"));
  Put("x.warc", a + "garbage" + a + a.substr(0, 100));
  auto status = RunWarcLs(fs_, {{"x.warc"}, true}, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  auto lines = JsonLines(out_.str());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1]["damage"], "broken");
  EXPECT_EQ(lines[1]["offset"], a.size());
  EXPECT_EQ(lines[2]["uri"], "http://a/");
  EXPECT_EQ(lines[3]["damage"], "torn");
}

TEST_F(WarcCmd, EscapesWhatComesFromTheWeb) {
  Put("x.warc", Record("http://a/\x1b[31m", Page("a")));
  ASSERT_TRUE(RunWarcLs(fs_, {{"x.warc"}, false}, out_).has_value());
  EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);
  std::ostringstream body;
  Put("y.warc", Record("http://a/", Page("\x1b[31mred\nline")));
  WarcCatOptions options;
  options.files = {"y.warc"};
  options.offset = 0;
  options.payload = options.escape = true;
  ASSERT_TRUE(RunWarcCat(fs_, options, body).has_value());
  EXPECT_EQ(body.str(), "\\x1B[31mred\nline");
}

TEST_F(WarcCmd, CatPrintsARecordAsItIs) {
  std::string a = Record("http://a/", Page("a"));
  std::string b = Record("http://b/", Page("b"));
  Put("x.warc", a + b);
  WarcCatOptions options;
  options.files = {"x.warc"};
  options.offset = a.size();
  ASSERT_TRUE(RunWarcCat(fs_, options, out_).has_value());
  EXPECT_EQ(out_.str(), b);
}

TEST_F(WarcCmd, CatFindsByUrlAndIndexLine) {
  std::string a = Record("http://a/", Page("one"));
  std::string b = Record("http://www.b/x/?q=2&p=1", Page("two"));
  Put("x.warc", a + b);
  WarcCatOptions options;
  options.files = {"x.warc"};
  options.url = "https://b/x?p=1&q=2";
  options.payload = true;
  ASSERT_TRUE(RunWarcCat(fs_, options, out_).has_value());
  EXPECT_EQ(out_.str(), "two");
  options.url = "http://none/";
  auto status = RunWarcCat(fs_, options, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);

  out_.str("");
  options.url.reset();
  options.files.clear();
  options.cdxj =
      "a)/ 20260102030405 {\"offset\": \"0\", \"filename\": "
      "\"../../x.warc\"}";
  ASSERT_TRUE(RunWarcCat(fs_, options, out_).has_value());
  EXPECT_EQ(out_.str(), "one");
}

TEST_F(WarcCmd, CatUndoesCodings) {
  WarcCatOptions options;
  options.files = {Sample("warcio/example.warc.gz")};
  options.url = "http://example.com/";
  options.payload = true;
  ASSERT_TRUE(RunWarcCat(*real_, options, out_).has_value());
  EXPECT_EQ(out_.str().substr(0, 2), "\x1f\x8b");
  out_.str("");
  options.decode = true;
  ASSERT_TRUE(RunWarcCat(*real_, options, out_).has_value());
  EXPECT_EQ(out_.str().substr(0, 15), "<!doctype html>");
  out_.str("");
  options.files = {Sample("warcio/example-iana.org-chunked.warc")};
  options.url = "http://www.iana.org/";
  options.decode = false;
  ASSERT_TRUE(RunWarcCat(*real_, options, out_).has_value());
  EXPECT_TRUE(out_.str().starts_with("<!doctype html>")) << out_.str();
}

TEST_F(WarcCmd, CatWantsOneRecordOfOneFile) {
  for (const WarcCatOptions& options :
       {WarcCatOptions{}, WarcCatOptions{.files = {"a"}},
        WarcCatOptions{.files = {"a", "b"}, .offset = 1},
        WarcCatOptions{.files = {"a"}, .offset = 1, .url = "x"},
        WarcCatOptions{.cdxj = "nonsense"},
        WarcCatOptions{.cdxj = "a)/ 20260102030405 {}"}}) {
    auto status = RunWarcCat(fs_, options, out_);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(WarcCmd, VerifySaysWhatIsWrongAndRepairs) {
  std::string a = Record("http://a/", Page("a"));
  Put("x.warc", a);
  ASSERT_TRUE(RunWarcVerify(fs_, {{"x.warc"}}, out_).has_value());
  EXPECT_NE(out_.str().find("x.warc: ok, 1 records"), std::string::npos);
  Put("x.warc", a + a.substr(0, 50));
  out_.str("");
  auto status = RunWarcVerify(fs_, {{"x.warc"}}, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorruption);
  EXPECT_NE(out_.str().find("x.warc: offset " + std::to_string(a.size()) +
                            ": error: "),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(Read("x.warc").size(), a.size() + 50);
  out_.str("");
  ASSERT_TRUE(RunWarcVerify(fs_, {{"x.warc"}, true}, out_).has_value());
  EXPECT_EQ(Read("x.warc"), a);
  EXPECT_EQ(Read("x.warc.cut"), a.substr(0, 50));
  EXPECT_NE(out_.str().find("saved in x.warc.cut"), std::string::npos);
  EXPECT_NE(out_.str().find("x.warc: ok"), std::string::npos);
  EXPECT_FALSE(Read("x.cdxj").empty());
}

TEST_F(WarcCmd, IndexSortsAndMerges) {
  Put("x.warc",
      Record("http://c/", Page("c")) + Record("http://a/", Page("a")));
  Put("y.cdxj", "b)/ 20260102030405 {\"filename\": \"y.warc\"}\n");
  WarcIndexOptions options;
  options.files = {"x.warc", "y.cdxj"};
  options.output = "all.cdxj";
  auto status = RunWarcIndex(fs_, options, out_);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::istringstream lines(Read("all.cdxj"));
  std::string keys;
  for (std::string line; std::getline(lines, line);) keys += line[0];
  EXPECT_EQ(keys, "abc");
  // Nothing but these is left.
  EXPECT_EQ(fs_.List(".")->size(), 3u);
  options.output.reset();
  options.beside = true;
  options.files = {"x.warc"};
  ASSERT_TRUE(RunWarcIndex(fs_, options, out_).has_value());
  EXPECT_NE(Read("x.cdxj").find("c)/ "), std::string::npos);
}

TEST_F(WarcCmd, IndexGoesToTheOutput) {
  WarcIndexOptions options;
  options.files = {Sample("warcio/example.warc.gz")};
  ASSERT_TRUE(RunWarcIndex(*real_, options, out_).has_value());
  std::istringstream lines(out_.str());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(line.starts_with("com,example)/ 2017030604")) << line;
  EXPECT_NE(line.find("\"filename\": \"example.warc.gz\""), std::string::npos);
}

TEST_F(WarcCmd, RepairLeavesTheFileOfACrawlAlone) {
  Put("x.warc.open", Record("http://a/", Page("x")).substr(0, 100));
  auto status = RunWarcVerify(fs_, {{"x.warc.open"}, true, false}, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Read("x.warc.open").size(), 100u);
}

TEST_F(WarcCmd, IndexSaysWhatItLacks) {
  Put("x.warc", Record("http://a/", Page("x")) + "rubbish" +
                    Record("http://b/", Page("y")));
  auto status = RunWarcIndex(fs_, {{"x.warc"}, "out.cdxj", false}, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("1 damaged"), std::string::npos);
  std::string index = Read("out.cdxj");
  EXPECT_NE(index.find("http://a/"), std::string::npos);
  EXPECT_NE(index.find("http://b/"), std::string::npos);
}

TEST_F(WarcCmd, GivesUpWhereEverythingIsDamaged) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += "WARC/1.0\r\n\r\n";
  Put("x.warc", lines);
  auto status = RunWarcLs(fs_, {{"x.warc"}, false}, out_);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("more than"), std::string::npos)
      << status.error().message;
}

TEST_F(WarcCmd, WantsFiles) {
  EXPECT_FALSE(RunWarcLs(fs_, {}, out_).has_value());
  EXPECT_FALSE(RunWarcVerify(fs_, {}, out_).has_value());
  EXPECT_FALSE(RunWarcIndex(fs_, {}, out_).has_value());
  EXPECT_FALSE(RunWarcLs(fs_, {{"none.warc"}}, out_).has_value());
}

}  // namespace
}  // namespace nephila::cli
