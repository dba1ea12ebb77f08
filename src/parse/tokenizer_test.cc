// The tokenizer against html5lib's suite, whole and cut into pieces.

#include "parse/tokenizer.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/conformance_testing.h"
#include "base/random.h"
#include "parse/doctype.h"
#include "parse/pieces_testing.h"

namespace nephila::parse {
namespace {

using nlohmann::json;

constexpr size_t kNoBound = size_t{1} << 30;

// Wants everything, and writes it down in the suite's form.
class JsonSink {
 public:
  static constexpr bool kWantsText = true;
  static constexpr bool kWantsComments = true;

  TagInterest OnTagName(std::string_view /*name*/) {
    seen_.clear();
    return TagInterest::kAttributes;
  }
  int OnAttributeName(std::string_view name) {
    return seen_.insert(Name(name)).second ? 0 : -1;
  }
  ContentModel OnStartTag(const StartTag& tag) {
    json attributes = json::object();
    for (const Attribute& attribute : tag.attributes) {
      std::string value;
      AppendAttribute(attribute.value, &value);
      attributes[Name(attribute.name)] = value;
    }
    json token = {"StartTag", Name(tag.name), attributes};
    if (tag.self_closing) token.push_back(true);
    Push(std::move(token));
    return ContentModel::kData;
  }
  void OnEndTag(std::string_view name) { Push({"EndTag", Name(name)}); }
  bool InForeignContent() const { return false; }
  void OnText(std::string_view raw, TextKind kind) {
    decoder_.Append(raw, kind, &text_);
  }
  void OnTextEnd() { decoder_.Finish(&text_); }
  void OnComment(std::string_view raw) {
    std::string data;
    AppendComment(raw, &data);
    Push({"Comment", data});
  }
  void OnDoctype(std::string_view raw, bool at_end) {
    Doctype doctype = ReadDoctype(raw, at_end);
    auto text = [](const std::optional<std::string>& t) {
      return t ? json(*t) : json(nullptr);
    };
    Push({"DOCTYPE", text(doctype.name), text(doctype.public_id),
          text(doctype.system_id), !doctype.force_quirks});
  }

  json Take() {
    FlushText();
    return std::move(tokens_);
  }

 private:
  static std::string Name(std::string_view raw) {
    std::string name;
    AppendName(raw, &name);
    return name;
  }
  void FlushText() {
    decoder_.Finish(&text_);
    if (!text_.empty()) tokens_.push_back({"Character", text_});
    text_.clear();
  }
  void Push(json token) {
    FlushText();
    tokens_.push_back(std::move(token));
  }

  std::set<std::string> seen_;
  TextDecoder decoder_;
  std::string text_;
  json tokens_ = json::array();
};

json Tokenize(std::string_view input, const Pieces& pieces,
              ContentModel model = ContentModel::kData,
              std::string_view last_start_tag = {}) {
  JsonSink sink;
  Tokenizer<JsonSink> tokenizer(&sink, kNoBound);
  tokenizer.Reset(model, last_start_tag);
  pieces.FeedTo(input, &tokenizer);
  return sink.Take();
}

// "\\u0000" in a string of JSON: escaped twice, once for the suite.
std::string UnescapeTwice(const std::string& text) {
  std::string quoted;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' || text[i] == '\n') {
      quoted += text[i] == '"' ? "\\\"" : "\\n";
    } else {
      quoted += text[i];
    }
  }
  std::string document = "\"" + quoted + "\"";
  ReplaceLoneSurrogates(&document);
  return json::parse(document).get<std::string>();
}

json UnescapeTwice(const json& value) {
  if (value.is_string()) return UnescapeTwice(value.get<std::string>());
  if (!value.is_structured()) return value;
  json out = value.is_array() ? json::array() : json::object();
  for (const auto& [key, item] : value.items()) {
    if (value.is_array()) {
      out.push_back(UnescapeTwice(item));
    } else {
      out[UnescapeTwice(key)] = UnescapeTwice(item);
    }
  }
  return out;
}

ContentModel ModelOf(const std::string& state) {
  static const std::map<std::string, ContentModel> kModels = {
      {"Data state", ContentModel::kData},
      {"PLAINTEXT state", ContentModel::kPlaintext},
      {"RCDATA state", ContentModel::kRcdata},
      {"RAWTEXT state", ContentModel::kRawtext},
      {"Script data state", ContentModel::kScript},
      {"CDATA section state", ContentModel::kCdata}};
  return kModels.at(state);
}

// Runs a case in each of its states and in every cutting; returns how many
// states there were.
int CheckCase(const json& c) {
  SCOPED_TRACE(c.dump());
  bool twice = c.value("doubleEscaped", false);
  std::string input = c["input"].get<std::string>();
  json output = c["output"];
  if (twice) {
    input = UnescapeTwice(input);
    output = UnescapeTwice(output);
  }
  auto states =
      c.value("initialStates", std::vector<std::string>{"Data state"});
  std::string last = c.value("lastStartTag", "");
  for (const std::string& state : states) {
    for (const Pieces& pieces : EveryCutting()) {
      EXPECT_EQ(Tokenize(input, pieces, ModelOf(state), last), output)
          << state << ", " << pieces.name();
    }
  }
  return static_cast<int>(states.size());
}

int CheckSuite(const std::string& name) {
  json suite = ReadTestJson("html5lib/tokenizer/" + name);
  int cases = 0;
  for (const auto& c : suite["tests"]) {
    CheckCase(c);
    ++cases;
  }
  return cases;
}

TEST(Html5libTokenizer, EveryCaseHoldsInPiecesOfEverySize) {
  EXPECT_EQ(CheckSuite("contentModelFlags.test"), 14);
  EXPECT_EQ(CheckSuite("domjs.test"), 43);
  EXPECT_EQ(CheckSuite("entities.test"), 80);
  EXPECT_EQ(CheckSuite("escapeFlag.test"), 5);
  EXPECT_EQ(CheckSuite("namedEntities.test"), 4210);
  EXPECT_EQ(CheckSuite("numericEntities.test"), 336);
  EXPECT_EQ(CheckSuite("pendingSpecChanges.test"), 1);
  EXPECT_EQ(CheckSuite("test1.test"), 69);
  EXPECT_EQ(CheckSuite("test2.test"), 45);
  EXPECT_EQ(CheckSuite("test3.test"), 1590);
  EXPECT_EQ(CheckSuite("test4.test"), 85);
  EXPECT_EQ(CheckSuite("unicodeChars.test"), 323);
  EXPECT_EQ(CheckSuite("unicodeCharsProblematic.test"), 5);
}

TEST(Tokenizer, ReadsPiecesOfRealMarkupAsTheWhole) {
  using std::string_view_literals::operator""sv;
  std::string page;
  for (int i = 0; i < 40; ++i) {
    page +=
        "<!DOCTYPE html><div  class=x\tid='y z'disabled/>a&amp b&#1"
        "2;<!-- - -- --! --><a\nhref = \"/q?a&copy=1\" a=1 A=2>t\r\n\r</a >"
        "<![CDATA[x]]><?php ?></ x><br/><x =y\0z>"
        "<p title=\"a > b\"''=x>< 1 </>&notit;&#x80;"sv;
  }
  json whole = Tokenize(page, Pieces::Whole());
  for (const Pieces& pieces : EveryCutting()) {
    EXPECT_EQ(Tokenize(page, pieces), whole) << pieces.name();
  }
  EXPECT_EQ(whole.size(), 40 * 14) << whole.dump().substr(0, 2000);
}

TEST(Tokenizer, KeepsNoMoreOfATokenThanItsBound) {
  std::string page = "<a href=" + std::string(100, 'x') + " id=1>t</a><b>";
  std::set<std::string> seen;
  for (const Pieces& pieces : EveryCutting()) {
    JsonSink sink;
    Tokenizer<JsonSink> tokenizer(&sink, 64);
    tokenizer.Reset();
    pieces.FeedTo(page, &tokenizer);
    EXPECT_EQ(tokenizer.cut(), 2U) << pieces.name();  // href, and id behind it
    seen.insert(sink.Take().dump());
  }
  EXPECT_EQ(seen,
            (std::set<std::string>{R"([["StartTag","a",{}],["Character","t"],)"
                                   R"(["EndTag","a"],["StartTag","b",{}]])"}));
}

// The same states, but nothing wanted.
struct DeafSink {
  static constexpr bool kWantsText = false;
  static constexpr bool kWantsComments = false;
  TagInterest OnTagName(std::string_view name) {
    return name == "script" ? TagInterest::kTag : TagInterest::kNone;
  }
  int OnAttributeName(std::string_view /*name*/) { return -1; }
  ContentModel OnStartTag(const StartTag& /*tag*/) {
    ++scripts;
    return ContentModel::kScript;
  }
  void OnEndTag(std::string_view name) { ends += std::string(name) + " "; }
  bool InForeignContent() const { return false; }
  int scripts = 0;
  std::string ends;
};

TEST(Tokenizer, PassesOverWhatIsNotWantedInTheSameStates) {
  std::string_view page =
      "<!-- <script> --><p a=\"<script>\" b='>'>x</p><!bogus <script>"
      "<script x=1>a<!--<script></a></script></b>--></b></ScRiPt ></c>"
      "<!doctype <script><script></scripty></script/></d>";
  for (const Pieces& pieces : EveryCutting()) {
    DeafSink sink;
    Tokenizer<DeafSink> tokenizer(&sink, 64);
    tokenizer.Reset();
    pieces.FeedTo(page, &tokenizer);
    EXPECT_EQ(sink.scripts, 2) << pieces.name();
    EXPECT_EQ(sink.ends, "p ScRiPt c script d ") << pieces.name();
  }
}

}  // namespace
}  // namespace nephila::parse
