#include "parse/mime_type.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/conformance_testing.h"
#include "parse/encoding.h"
#include "url/percent.h"

namespace nephila::parse {
namespace {

// The suites have each byte of a header as a code point.
std::string ToBytes(const std::string& utf8) {
  std::string bytes;
  for (size_t at = 0; at < utf8.size();) {
    size_t begin = at;
    char32_t c = url::ReadUtf8(utf8, &at);
    if (c < 0x100) {
      bytes.push_back(static_cast<char>(c));
    } else {
      bytes.append(utf8, begin, at - begin);
    }
  }
  return bytes;
}

std::string NameOf(std::string_view label) {
  auto encoding = EncodingOfLabel(label);
  return encoding ? std::string(EncodingName(*encoding)) : "";
}

std::string TextOf(const nlohmann::json& value) {
  return value.is_string() ? ToBytes(value.get<std::string>()) : "";
}

void CheckTypes(const std::string& suite, Exceptions* exceptions) {
  for (const auto& c : ReadTestJson("mimesniff/" + suite)) {
    if (!c.is_object()) continue;
    auto input = c["input"].get<std::string>();
    auto mime = ParseMimeType(ToBytes(input));
    std::string seen = mime ? mime->Serialize() : "";
    bool holds = seen == TextOf(c["output"]);
    if (c.contains("encoding")) {
      holds =
          holds && NameOf(mime ? mime->Charset() : "") == TextOf(c["encoding"]);
    }
    exceptions->Expect(suite, input, holds, seen);
  }
}

TEST(MimeType, TheStandardsSuitesHold) {
  Exceptions exceptions("mimesniff");
  CheckTypes("mime-types.json", &exceptions);
  CheckTypes("generated-mime-types.json", &exceptions);
  EXPECT_EQ(exceptions.held("mime-types.json"), 73);
  EXPECT_EQ(exceptions.held("generated-mime-types.json"), 881);
}

TEST(MimeType, TheStandardsGroupsHold) {
  int cases = 0;
  for (const auto& c : ReadTestJson("mimesniff/mime-groups.json")) {
    if (!c.is_object()) continue;
    auto mime = ParseMimeType(c["input"].get<std::string>());
    ASSERT_TRUE(mime.has_value()) << c;
    std::set<std::string> seen;
    auto add = [&seen](const char* name, bool is) {
      if (is) seen.insert(name);
    };
    add("image", mime->IsImage());
    add("audio or video", mime->IsAudioOrVideo());
    add("font", mime->IsFont());
    add("ZIP-based", mime->IsZipBased());
    add("archive", mime->IsArchive());
    add("XML", mime->IsXml());
    add("HTML", mime->IsHtml());
    add("scriptable", mime->IsScriptable());
    add("JavaScript", mime->IsJavaScript());
    add("JSON", mime->IsJson());
    EXPECT_EQ(seen, c["groups"].get<std::set<std::string>>()) << c;
    ++cases;
  }
  EXPECT_EQ(cases, 146);
}

std::optional<MimeType> Extract(const nlohmann::json& headers) {
  std::vector<std::string> bytes;
  for (const auto& header : headers) {
    bytes.push_back(ToBytes(header.get<std::string>()));
  }
  std::vector<std::string_view> views(bytes.begin(), bytes.end());
  return ExtractMimeType(views);
}

TEST(MimeType, SeveralHeadersCombineAsTheStandardSays) {
  int cases = 0;
  for (const auto& c : ReadTestJson("mimesniff/content-types.json")) {
    auto mime = Extract(c["contentType"]);
    ASSERT_TRUE(mime.has_value()) << c;
    EXPECT_EQ(mime->Serialize(), TextOf(c["mimeType"])) << c;
    EXPECT_EQ(mime->Essence(), TextOf(c["documentContentType"])) << c;
    EXPECT_EQ(NameOf(mime->Charset()), TextOf(c["encoding"])) << c;
    ++cases;
  }
  EXPECT_EQ(cases, 20);
}

TEST(MimeType, ScriptsAreKnownAsTheStandardSays) {
  int cases = 0;
  for (const auto& c : ReadTestJson("mimesniff/script-content-types.json")) {
    auto mime = Extract(c["contentType"]);
    bool executes = mime && mime->IsJavaScript();
    EXPECT_EQ(executes, c["executes"].get<bool>()) << c;
    if (executes) {
      EXPECT_EQ(NameOf(mime->Charset()), TextOf(c["encoding"])) << c;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 18);
}

TEST(MimeType, ParametersAreBounded) {
  std::string text = "a/b";
  for (int i = 0; i < 100000; ++i) text += ";p" + std::to_string(i) + "=v";
  auto mime = ParseMimeType(text);
  ASSERT_TRUE(mime.has_value());
  EXPECT_EQ(mime->parameters.size(), kMostParameters);
}

TEST(MimeType, NoHeaderIsNoType) {
  EXPECT_FALSE(ExtractMimeType({}).has_value());
  std::vector<std::string_view> headers = {"", "x"};
  EXPECT_FALSE(ExtractMimeType(headers).has_value());
}

}  // namespace
}  // namespace nephila::parse
