#include "config/load.h"

#include <gtest/gtest.h>

#include "config/every_type.h"

namespace nephila::config {
namespace {

// "" or the message; the settings must not have changed if there is one.
std::string Toml(std::string_view text, Settings* settings) {
  const Settings before = *settings;
  const Status status = ApplyToml(text, "crawl.toml", settings);
  if (status.has_value()) return "";
  EXPECT_EQ(*settings, before) << text;
  return status.error().message;
}

std::string TomlError(std::string_view text) {
  Settings settings;
  settings.url.max_length_bytes = 99;
  return Toml(text, &settings);
}

std::string Set(std::string_view assignment, Settings* settings) {
  const Settings before = *settings;
  const Status status = ApplySet(assignment, settings);
  if (status.has_value()) return "";
  EXPECT_EQ(*settings, before) << assignment;
  return status.error().message;
}

std::string SetError(std::string_view assignment) {
  Settings settings;
  return Set(assignment, &settings);
}

std::string EveryTypeError(std::string_view text) {
  EveryType settings;
  const Status status = ApplyTomlWith(EveryTypeTable(), text, "t", &settings);
  EXPECT_EQ(settings, EveryType()) << text;
  return status.has_value() ? "" : status.error().message;
}

std::string Repeat(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(ApplyToml, EmptyChangesNothing) {
  for (std::string_view text :
       {"", "\n", "# a comment", "[url]\n", "\xef\xbb\xbf[url]", "url = {}"}) {
    Settings settings;
    EXPECT_EQ(Toml(text, &settings), "");
    EXPECT_EQ(settings, Settings());
  }
}

TEST(ApplyToml, TakesTablesDottedKeysAndInlineTables) {
  Settings expected;
  expected.url.www = WwwMode::kAdd;
  expected.url.max_length_bytes = 4096;
  for (std::string_view text :
       {"[url]\nwww = 'add'\nmax_length = '4KiB'\n",
        "url.www = 'add'\nurl.max_length = 4096\n",
        "url = {www = 'add', max_length = \"4096B\"}\n",
        "\"url\".'www' = 'add'\nurl . max_length = 0x1000\r\n",
        "[ url ] # said twice is one table\nwww='add'\nmax_length=4_096"}) {
    Settings settings;
    EXPECT_EQ(Toml(text, &settings), "") << text;
    EXPECT_EQ(settings, expected) << text;
  }
}

TEST(ApplyToml, KeepsWhatIsNotNamed) {
  Settings settings;
  EXPECT_EQ(Toml("url.sort_query = true", &settings), "");
  EXPECT_EQ(Toml("url.www = 'add'", &settings), "");
  EXPECT_TRUE(settings.url.sort_query);
  EXPECT_EQ(settings.url.www, WwwMode::kAdd);
}

TEST(ApplyToml, TakesEveryType) {
  EveryType settings;
  const Status status = ApplyTomlWith(EveryTypeTable(), R"(
top = 9
[one]
flag = false
count = -5
free_count = 1
size = "2KiB"
free_size = 17
delay = "30s"
free_delay = "0s"
[two.deep]
text = "t"
list = ["x", "y, z", ""]
color = "red"
)",
                                      "t", &settings);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EveryType expected;
  expected.top = 9;
  expected.flag = false;
  expected.count = -5;
  expected.free_count = 1;
  expected.size_bytes = 2048;
  expected.free_size_bytes = 17;
  expected.delay = std::chrono::seconds(30);
  expected.free_delay = std::chrono::seconds(0);
  expected.text = "t";
  expected.list = {"x", "y, z", ""};
  expected.color = Color::kRed;
  EXPECT_EQ(settings, expected);
}

TEST(ApplyToml, SaysWhereAnUnknownSettingIs) {
  EXPECT_EQ(TomlError("# x\n\n\n[url]\nwww = 'add'\n\n  max_lenght = 5"),
            "crawl.toml:7:3: url.max_lenght: no such setting; did you mean "
            "url.max_length?");
  EXPECT_EQ(TomlError("[ulr]\nmax_length = 5\n"),
            "crawl.toml:2:1: ulr.max_length: no such setting; did you mean "
            "url.max_length?");
  EXPECT_EQ(TomlError("url.www.deep = {er = 1}\n"),
            "crawl.toml:1:5: url.www: expected one of keep, add, strip, not a "
            "table");
  EXPECT_EQ(TomlError("[nothing_like_it]\n"),
            "crawl.toml:1:2: nothing_like_it: no such setting");
  EXPECT_EQ(TomlError("[[nothing_like_it]]\n"),
            "crawl.toml:1:3: nothing_like_it: no such setting");
  EXPECT_EQ(TomlError("x = {}"), "crawl.toml:1:1: x: no such setting");
  EXPECT_EQ(TomlError("max_length = 100"),
            "crawl.toml:1:1: max_length: no such setting; did you mean "
            "url.max_length?");
  EXPECT_EQ(TomlError("[URL]\nMAX_LENGTH = 100"),
            "crawl.toml:2:1: URL.MAX_LENGTH: no such setting; did you mean "
            "url.max_length?");
}

TEST(ApplyToml, AQuotedDottedNameIsAnother) {
  EXPECT_EQ(TomlError("\"url.max_length\" = 512\nurl.max_length = 256"),
            "crawl.toml:1:1: \"url.max_length\": no such setting; did you mean "
            "url.max_length?");
}

TEST(ApplyToml, NamesTheFirstErrorInTheFile) {
  EXPECT_EQ(TomlError("url.zzzzzzzzzzz = 1\nurl.aaaaaaaaaaa = 1\n"),
            "crawl.toml:1:5: url.zzzzzzzzzzz: no such setting");
}

TEST(ApplyToml, SaysWhatAValueShouldBe) {
  EXPECT_EQ(TomlError("url.max_length = 'lots'"),
            "crawl.toml:1:18: url.max_length: 'lots' is not a size: not a "
            "number; write a size like 2MiB (allowed 64B to 64KiB)");
  EXPECT_EQ(TomlError("url.max_length = '1MiB'"),
            "crawl.toml:1:18: url.max_length: 1MiB is out of range (allowed "
            "64B to 64KiB)");
  EXPECT_EQ(TomlError("url.max_length = 63"),
            "crawl.toml:1:18: url.max_length: 63B is out of range (allowed "
            "64B to 64KiB)");
  EXPECT_EQ(TomlError("url.max_length = -5"),
            "crawl.toml:1:18: url.max_length: '-5' is not a size: a size is "
            "never negative (allowed 64B to 64KiB)");
  EXPECT_EQ(TomlError("[url]\nwww = 'drop'"),
            "crawl.toml:2:7: url.www: 'drop' is not one of keep, add, strip");
}

TEST(ApplyToml, SaysWhichTypeWasFound) {
  EXPECT_EQ(EveryTypeError("one.flag = 'true'"),
            "t:1:12: one.flag: expected true or false, not a string");
  EXPECT_EQ(EveryTypeError("one.flag = 1"),
            "t:1:12: one.flag: expected true or false, not an integer");
  EXPECT_EQ(EveryTypeError("one.count = 1.0"),
            "t:1:13: one.count: expected an integer, not a floating-point "
            "number");
  EXPECT_EQ(EveryTypeError("one.count = '1'"),
            "t:1:13: one.count: expected an integer, not a string");
  EXPECT_EQ(EveryTypeError("one.size = true"),
            "t:1:12: one.size: expected a size such as 2KiB, not a boolean");
  EXPECT_EQ(EveryTypeError("one.delay = 10"),
            "t:1:13: one.delay: expected a duration such as 10s, not an "
            "integer");
  EXPECT_EQ(EveryTypeError("one.delay = 07:32:00"),
            "t:1:13: one.delay: expected a duration such as 10s, not a time");
  EXPECT_EQ(EveryTypeError("two.deep.text = 1979-05-27"),
            "t:1:17: two.deep.text: expected a string, not a date");
  EXPECT_EQ(EveryTypeError("two.deep.text = 1979-05-27T07:32:00Z"),
            "t:1:17: two.deep.text: expected a string, not a date with time");
  EXPECT_EQ(EveryTypeError("two.deep.color = ['red']"),
            "t:1:18: two.deep.color: expected one of red, green, not an "
            "array");
  EXPECT_EQ(EveryTypeError("two.deep.list = 'a'"),
            "t:1:17: two.deep.list: expected a list of strings, not a string");
  EXPECT_EQ(EveryTypeError("two.deep.list = ['a',\n 5]"),
            "t:2:2: two.deep.list: expected a list of strings, but an item is "
            "an integer");
  EXPECT_EQ(EveryTypeError("[two.deep.text]\n"),
            "t:1:1: two.deep.text: expected a string, not a table");
}

TEST(ApplyToml, WantsATableForASection) {
  EXPECT_EQ(TomlError("url = 5"),
            "crawl.toml:1:1: url: expected a table of settings, not an "
            "integer");
  EXPECT_EQ(TomlError("[[url]]\nwww = 'add'"),
            "crawl.toml:1:3: url: expected a table of settings, not an array "
            "of tables");
  EXPECT_EQ(EveryTypeError("two = 'x'"),
            "t:1:1: two: expected a table of settings, not a string");
  EXPECT_EQ(EveryTypeError("two.deep = 'x'"),
            "t:1:5: two.deep: expected a table of settings, not a string");
}

TEST(ApplyToml, ATableOfASiteIsAnItemOfEachList) {
  Settings settings;
  settings.politeness.site_delays = {"b.test=1s", "A.test = 3s"};
  EXPECT_EQ(Toml("[site.\"a.test\"]\ndelay = \"2s\"\nmax_pages = 100\n"
                 "[site.\"C.test\"]\nblock = true\n"
                 "[site.local]\nblock = false\ndelay = '1m'\n"
                 "[scope]\nblock = ['host d.test']\n",
                 &settings),
            "");
  using List = std::vector<std::string>;
  EXPECT_EQ(settings.politeness.site_delays,
            (List{"b.test=1s", "a.test=2s", "local=1m"}));
  EXPECT_EQ(settings.scope.site_caps, List{"a.test=100"});
  EXPECT_EQ(settings.scope.block, (List{"host d.test", "host c.test"}));
  // The same file again changes nothing: a job goes on with it.
  const Settings before = settings;
  EXPECT_EQ(Toml("site = {'a.test' = {max_pages = 100, delay = '2s'}, "
                 "'c.test' = {block = true}}",
                 &settings),
            "");
  EXPECT_EQ(settings, before);
}

TEST(ApplyToml, SaysWhatIsWrongWithATableOfASite) {
  EXPECT_EQ(TomlError("[site.\"a.test\"]\ndelays = '2s'\n"),
            "crawl.toml:2:1: delays: no such setting; did you mean delay?");
  EXPECT_EQ(TomlError("[site.\"a.test\"]\ndelay = 2\n"),
            "crawl.toml:2:9: delay: expected a duration such as 10s, not an "
            "integer");
  EXPECT_EQ(TomlError("[site.a.test]\ndelay = '2s'\n"),
            "crawl.toml:1:1: site: a name with dots is quoted: "
            "[site.\"example.org\"]");
  EXPECT_EQ(TomlError("site = 5"),
            "crawl.toml:1:8: site: expected a table for each site, not an "
            "integer");
  EXPECT_EQ(TomlError("[site]\na = 5"),
            "crawl.toml:2:5: site: expected a table such as "
            "[site.\"example.org\"]");
  EXPECT_NE(TomlError("[site.\"a.test\"]\nmax_pages = -1\n"), "");
  EXPECT_NE(TomlError("[site.\"a.test\"]\ndelay = '-1s'\n"), "");
}

TEST(ApplyToml, ASettingGivenTwiceIsAnError) {
  const std::string message = TomlError("[url]\nwww = 'add'\nwww = 'strip'\n");
  EXPECT_TRUE(message.starts_with("crawl.toml:3:")) << message;
  EXPECT_NE(message.find("cannot redefine existing string"), std::string::npos)
      << message;
}

TEST(ApplyToml, PassesSyntaxErrorsOnWithTheirPlace) {
  for (std::string_view text :
       {"[url]\nwww = \n", "[url]\nwww", "[url]\nwww = 'add", "[url]\n[log\n",
        "[url]\nwww = \"\\q\"", "[url]\n= 1"}) {
    const std::string message = TomlError(text);
    EXPECT_TRUE(message.starts_with("crawl.toml:2:")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(ApplyToml, HostileTextIsAnErrorOfOneLine) {
  const std::string many = Repeat("a.", 500000);
  const std::string texts[] = {
      std::string("\0", 1),
      std::string("url.www = 'a\0b'", 15),
      "url.public_suffix_list = \"a\\u0000b\"",
      "url.session_ids = [\"a\\u0000b\"]",
      "url.www = '\x1b[2J'",
      "\xff\xfe",
      "url.www = '\xed\xa0\x80'",
      std::string(10 << 20, '\n'),
      std::string(kMaxTomlBytes, 'a'),
      std::string(kMaxTomlBytes - 4, 'a') + " = 1",
      "[[[a]]]",
      "[[=",
      "[=]",
      "two\xd2\x99ist = 1",
      "x = \xd2\x99",
      "x = \"\"\"\\\n \xd2\x99\"\"\"",
      std::string(kMaxTomlBytes, '['),
      "x = " + std::string(kMaxTomlBytes - 4, '['),
      "x = " + Repeat("{x=", 300000),
      many + "a = 1",
      "[" + many + "a]",
      "[[" + many + "a]]",
      "x = {" + many + "a = 1}",
      Repeat("x = [\n{" + Repeat("a.", 31) + "a = ", 1000),
      Repeat("[x]\n", 200000),
      Repeat("'\n", 200000),
      "\"" + std::string(100000, '\n') + "\" = 1",
      "'" + std::string(500000, 'a') + "'." + Repeat("x=1\n", 100000),
  };
  for (const std::string& text : texts) {
    const std::string message = TomlError(text);
    EXPECT_TRUE(message.starts_with("crawl.toml:")) << message;
    EXPECT_LT(message.size(), 600u) << message;
    for (char c : message) EXPECT_TRUE(c >= ' ' || c < 0) << message;
  }
  EXPECT_EQ(TomlError(std::string(10 << 20, '\n')),
            "crawl.toml: 10485760 bytes are too many for settings (at most "
            "1MiB)");
  EXPECT_EQ(TomlError("\n['\xc3\xbc'." + many + "a]"),
            "crawl.toml:2:67: a key has more than 32 parts");
}

TEST(ApplyToml, JoinsLinesBeforeAnyCharacter) {
  Settings settings;
  EXPECT_EQ(
      Toml("url.public_suffix_list = \"\"\"\\\n \xd2\x99\"\"\"", &settings),
      "");
  EXPECT_EQ(settings.url.public_suffix_list, "\xd2\x99");
}

TEST(ApplyToml, ManyUnknownTablesStayLinear) {
  // A name built anew for each leaf under a long one would take gigabytes.
  EXPECT_EQ(
      TomlError("[" + std::string(500000, 'a') + "]\n" +
                Repeat("'\xc3\xbc' = 1\n", 1)),
      "crawl.toml:2:1: " + std::string(200, 'a') + "...: no such setting");
  std::string text = "[" + std::string(300000, 'a') + "]\n";
  for (int i = 0; i < 50000; ++i) text += "k" + std::to_string(i) + " = 1\n";
  EXPECT_TRUE(TomlError(text).starts_with("crawl.toml:2:1: aaa"));
}

TEST(ApplySet, TakesEveryType) {
  EveryType settings;
  for (std::string_view assignment :
       {"top=1", "one.flag=false", "one.count=3", "one.size=3KiB",
        "one.delay=1min", "two.deep.text=a=b", "two.deep.list=x, y",
        "two.deep.color=red"}) {
    const Status status = ApplySetWith(EveryTypeTable(), assignment, &settings);
    EXPECT_TRUE(status.has_value()) << status.error().message;
  }
  EveryType expected;
  expected.top = 1;
  expected.flag = false;
  expected.count = 3;
  expected.size_bytes = 3072;
  expected.delay = std::chrono::minutes(1);
  expected.text = "a=b";
  expected.list = {"x", "y"};
  expected.color = Color::kRed;
  EXPECT_EQ(settings, expected);
}

TEST(ApplySet, TakesListsInBothForms) {
  using Items = std::vector<std::string>;
  const std::pair<std::string_view, Items> cases[] = {
      {"url.session_ids=", {}},
      {"url.session_ids=[]", {}},
      {"url.session_ids = a,b", {"a", "b"}},
      {"url.session_ids = [\"a\",\"b\"]", {"a", "b"}},
      {"url.session_ids=['a,b', 'c']", {"a,b", "c"}},
      {"url.session_ids=[\n'a', # first\n'b',\n]", {"a", "b"}},
  };
  for (const auto& [assignment, items] : cases) {
    Settings settings;
    EXPECT_EQ(Set(assignment, &settings), "");
    EXPECT_EQ(settings.url.session_ids, items) << assignment;
  }
  EXPECT_EQ(SetError("url.session_ids=['a', 1]"),
            "url.session_ids: expected a list of strings, but an item is an "
            "integer");
  for (std::string text : {"[a]", "['a'", "['a'] b", "[[\"a\"]]]"}) {
    EXPECT_EQ(SetError("url.session_ids=" + text),
              "url.session_ids: '" + text +
                  "' is not a list of strings such as [\"a\", \"b\"]");
  }
  EXPECT_EQ(SetError("url.session_ids=['a']\nurl.www = 'add'"),
            "url.session_ids: '['a']\\x0Aurl.www = 'add'' is not a list of "
            "strings such as [\"a\", \"b\"]");
}

TEST(ApplySet, SaysWhatIsWrong) {
  EXPECT_EQ(SetError("url.max_length=lots"),
            "url.max_length: 'lots' is not a size: not a number; write a size "
            "like 2MiB (allowed 64B to 64KiB)");
  EXPECT_EQ(SetError("max_length=100"),
            "max_length: no such setting; did you mean url.max_length?");
  EXPECT_EQ(SetError("url.max_lenght=1KiB"),
            "url.max_lenght: no such setting; did you mean url.max_length?");
  EXPECT_EQ(SetError("url.www"), "'url.www' is not key=value");
  EXPECT_EQ(SetError(""), "'' is not key=value");
  EXPECT_EQ(SetError("="), ": no such setting");
  EXPECT_EQ(SetError("url.www=\n"),
            "url.www: '\\x0A' is not one of keep, add, strip");
  EXPECT_EQ(SetError("url.public_suffix_list=\xff"),
            "url.public_suffix_list: '\\xFF' is not UTF-8");
  EXPECT_LT(SetError("url.session_ids=[" + Repeat("[", 400000)).size(), 400u);
  EXPECT_LT(SetError("url.session_ids=" + Repeat("a,", 1 << 20)).size(), 400u);
}

TEST(FormatToml, LoadsBack) {
  Settings settings;
  settings.url.www = WwwMode::kStrip;
  settings.url.strip_query = {"utm_*", "a\"b\\c", "", "n\new", "\xc3\xbc, #"};
  settings.url.session_ids.clear();
  settings.url.max_length_bytes = 12345;
  settings.url.public_suffix_list = "/tmp/it's \"here\"\t\x01\x7f";
  Settings loaded;
  EXPECT_EQ(Toml(FormatToml(settings), &loaded), "");
  EXPECT_EQ(loaded, settings);
}

TEST(FormatToml, LoadsBackEveryType) {
  EveryType settings;
  settings.top = -100;
  settings.free_count = std::numeric_limits<int64_t>::min();
  settings.free_size_bytes = std::numeric_limits<int64_t>::max();
  settings.free_delay = std::chrono::nanoseconds(1234567891);
  settings.text = "'''\"\"\"";
  settings.list = {};
  settings.color = Color::kRed;
  const std::string text = FormatTomlWith(EveryTypeTable(), &settings);
  EveryType loaded;
  const Status status = ApplyTomlWith(EveryTypeTable(), text, "t", &loaded);
  ASSERT_TRUE(status.has_value()) << status.error().message << "\n" << text;
  EXPECT_EQ(loaded, settings) << text;
}

TEST(FormatToml, CommentsEachSetting) {
  const EveryType settings;
  const std::string text = FormatTomlWith(EveryTypeTable(), &settings);
  EXPECT_TRUE(text.starts_with(R"(# No section.
# (integer, at most 9; default 7)
top = 7

# Numbers.
[one]

# A flag.
# (true or false; default true; fixed per job)
flag = true

# A count.
# (integer, -5 to 5; default -3)
count = -3
)")) << text;
  EXPECT_TRUE(text.ends_with(R"(
# A color.
# (one of red, green; default "green")
color = "green"
)")) << text;
}

}  // namespace
}  // namespace nephila::config
