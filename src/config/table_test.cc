#include "config/table.h"

#include <gtest/gtest.h>

#include <set>

#include "config/every_type.h"
#include "config/settings.h"

namespace nephila::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Row& RowOf(std::string_view name) {
  const Row* row = FindRow(EveryTypeTable().rows, name);
  NEPHILA_CHECK(row != nullptr);
  return *row;
}

// The value, or its error, as text.
std::string Parsed(std::string_view name, std::string_view text) {
  auto value = ParseValue(RowOf(name), text);
  if (!value.has_value()) return value.error().message;
  return FormatValue(RowOf(name), *value);
}

TEST(Table, ReadsBooleans) {
  EXPECT_EQ(Parsed("one.flag", "true"), "true");
  EXPECT_EQ(Parsed("one.flag", "false"), "false");
  for (std::string text : {"", "1", "yes", "True", "true "}) {
    EXPECT_EQ(Parsed("one.flag", text),
              "one.flag: '" + text + "' is not true or false");
  }
}

TEST(Table, ReadsIntegers) {
  EXPECT_EQ(Parsed("one.count", "5"), "5");
  EXPECT_EQ(Parsed("one.count", "-5"), "-5");
  EXPECT_EQ(Parsed("one.count", "6"),
            "one.count: 6 is out of range (allowed -5 to 5)");
  EXPECT_EQ(Parsed("one.count", "-6"),
            "one.count: -6 is out of range (allowed -5 to 5)");
  EXPECT_EQ(Parsed("one.count", "five"),
            "one.count: 'five' is not an integer (allowed -5 to 5)");
  EXPECT_EQ(Parsed("one.free_count", "-9223372036854775808"),
            "-9223372036854775808");
  EXPECT_EQ(Parsed("one.free_count", "9223372036854775807"),
            "9223372036854775807");
  for (std::string text : {"", "9223372036854775808", "1.5", "1e3", "0x10",
                           "+1", " 1", "1 ", "1_000"}) {
    EXPECT_EQ(Parsed("one.free_count", text),
              "one.free_count: '" + text + "' is not an integer");
  }
  EXPECT_EQ(Parsed("top", "10"), "top: 10 is out of range (allowed at most 9)");
}

TEST(Table, ReadsSizes) {
  EXPECT_EQ(Parsed("one.size", "2KiB"), "2KiB");
  EXPECT_EQ(Parsed("one.size", "1024B"), "1KiB");
  EXPECT_EQ(Parsed("one.size", "1025"), "1025B");
  EXPECT_EQ(Parsed("one.size", "1MiB"), "1MiB");
  EXPECT_EQ(Parsed("one.size", "2MiB"),
            "one.size: 2MiB is out of range (allowed 1KiB to 1MiB)");
  EXPECT_EQ(Parsed("one.size", "1023"),
            "one.size: 1023B is out of range (allowed 1KiB to 1MiB)");
  for (std::string text : {"", "lots", "KiB"}) {
    EXPECT_EQ(Parsed("one.size", text),
              "one.size: '" + text +
                  "' is not a size: not a number; write a size like 2MiB "
                  "(allowed 1KiB to 1MiB)");
  }
  EXPECT_EQ(Parsed("one.size", "2 potatoes"),
            "one.size: '2 potatoes' is not a size: unknown unit; use B, kB, "
            "MB, GB, TB, KiB, MiB, GiB or TiB (allowed 1KiB to 1MiB)");
  EXPECT_EQ(Parsed("one.free_size", "0"), "0B");
  EXPECT_EQ(Parsed("one.free_size", "-1"),
            "one.free_size: '-1' is not a size: a size is never negative");
  EXPECT_LT(Parsed("one.size", std::string(1 << 20, 'x')).size(), 400u);
}

TEST(Table, ReadsDurations) {
  EXPECT_EQ(Parsed("one.delay", "10s"), "10s");
  EXPECT_EQ(Parsed("one.delay", "1h"), "1h");
  EXPECT_EQ(Parsed("one.delay", "250ms"),
            "one.delay: 250ms is out of range (allowed 1s to 1h)");
  EXPECT_EQ(Parsed("one.delay", "10"),
            "one.delay: '10' is not a duration: the unit is missing; use d, h, "
            "m, s, ms, us or ns (allowed 1s to 1h)");
  for (std::string text : {"", "soon", "s"}) {
    EXPECT_EQ(Parsed("one.delay", text),
              "one.delay: '" + text +
                  "' is not a duration: not a number; write a duration like "
                  "10s or 1h30m (allowed 1s to 1h)");
  }
  EXPECT_EQ(AllowedText(RowOf("one.free_delay")), "at least 0s");
}

TEST(Table, ReadsStrings) {
  EXPECT_EQ(Parsed("two.deep.text", ""), "");
  EXPECT_EQ(Parsed("two.deep.text", "a, \"b\" = c"), "a, \"b\" = c");
  EXPECT_EQ(Parsed("two.deep.text", "gr\xc3\xbc\xc3\x9f"),
            "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(Parsed("two.deep.text", std::string_view("a\0b", 3)),
            "two.deep.text: 'a\\x00b' holds a NUL byte");
}

TEST(Table, RefusesStringsThatAreNotUtf8) {
  for (std::string text :
       {"\x80", "\xc0\x80", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xe2\x82", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xff"}) {
    EXPECT_NE(Parsed("two.deep.text", text).find("' is not UTF-8"),
              std::string::npos);
    EXPECT_NE(Parsed("two.deep.list", "a," + text).find("' is not UTF-8"),
              std::string::npos);
  }
}

TEST(Table, ReadsLists) {
  const auto list = [](std::string_view text) {
    return *ParseValue(RowOf("two.deep.list"), text);
  };
  using Items = std::vector<std::string>;
  EXPECT_EQ(list(""), Value(Items{}));
  EXPECT_EQ(list(" "), Value(Items{}));
  EXPECT_EQ(list("a"), Value(Items{"a"}));
  EXPECT_EQ(list("a, b c ,d"), Value((Items{"a", "b c", "d"})));
  for (std::string_view text : {"a,,b", "a,", "a, "}) {
    EXPECT_EQ(Parsed("two.deep.list", text),
              "two.deep.list: item 2 of the list is empty (items are separated "
              "by one comma, or written as [\"a\", \"b\"])");
  }
}

TEST(Table, ReadsChoices) {
  EXPECT_EQ(Parsed("two.deep.color", "red"), "red");
  for (std::string text : {"", "Red", "blue", "red,green"}) {
    EXPECT_EQ(Parsed("two.deep.color", text),
              "two.deep.color: '" + text + "' is not one of red, green");
  }
}

TEST(Table, SetsAndGetsEveryType) {
  const std::pair<std::string_view, Value> values[] = {
      {"top", Value(int64_t{1})},
      {"one.flag", Value(false)},
      {"one.count", Value(int64_t{2})},
      {"one.size", Value(uint64_t{2000})},
      {"one.delay", Value(std::chrono::nanoseconds(seconds(3)))},
      {"two.deep.text", Value(std::string("t"))},
      {"two.deep.list", Value(std::vector<std::string>{"x"})},
      {"two.deep.color", Value(Choice{0})},
  };
  EveryType settings;
  for (const auto& [name, value] : values) {
    RowOf(name).set(&settings, value);
    EXPECT_EQ(RowOf(name).get(&settings), value) << name;
  }
  EveryType expected;
  expected.top = 1;
  expected.flag = false;
  expected.count = 2;
  expected.size_bytes = 2000;
  expected.delay = seconds(3);
  expected.text = "t";
  expected.list = {"x"};
  expected.color = Color::kRed;
  EXPECT_EQ(settings, expected);
}

TEST(Table, FormatsForToml) {
  const auto toml = [](std::string_view name, Value value) {
    return FormatTomlValue(RowOf(name), value);
  };
  EXPECT_EQ(toml("one.flag", Value(true)), "true");
  EXPECT_EQ(toml("one.count", Value(int64_t{-1})), "-1");
  EXPECT_EQ(toml("one.size", Value(uint64_t{2048})), "\"2KiB\"");
  EXPECT_EQ(toml("one.delay", Value(std::chrono::nanoseconds(milliseconds(5)))),
            "\"5ms\"");
  EXPECT_EQ(toml("two.deep.color", Value(Choice{1})), "\"green\"");
  EXPECT_EQ(toml("two.deep.text", Value(std::string("a\"\\\n\x7f"))),
            R"("a\"\\\u000a\u007f")");
  EXPECT_EQ(toml("two.deep.list", Value(std::vector<std::string>{"a", "b,"})),
            R"(["a", "b,"])");
  EXPECT_EQ(toml("two.deep.list", Value(std::vector<std::string>{})), "[]");
}

TEST(Table, NamesTheNearestSetting) {
  const auto message = [](std::string_view name) {
    return NoSuchSetting(AllRows(), name).message;
  };
  EXPECT_EQ(message("url.max_lenght"),
            "url.max_lenght: no such setting; did you mean url.max_length?");
  EXPECT_EQ(message("completely_different_thing"),
            "completely_different_thing: no such setting");
  EXPECT_EQ(message(""), ": no such setting");
  const std::string shown = message(std::string(1 << 20, 'x'));
  EXPECT_LT(shown.size(), 300u);
}

TEST(Table, NamesTheSettingThatWasMeant) {
  const auto meant = [](std::span<const Row> rows, std::string_view name) {
    const std::string message = NoSuchSetting(rows, name).message;
    const size_t at = message.find("did you mean ");
    if (at == std::string::npos) return std::string();
    const std::string found = message.substr(at + 13);
    return found.substr(0, found.size() - 1);
  };
  for (std::string_view name :
       {"max_length", "max_lenght", "MAX_LENGTH", "url.max_length_bytes",
        "max_length_bytes", "URL.MAX_LENGTH", "Url.Max_Length_Bytes", "url.max",
        "fetch.max_length", "job.url.max_length", "url.max_length.bytes"}) {
    EXPECT_EQ(meant(AllRows(), name), "url.max_length") << name;
  }
  EXPECT_EQ(meant(AllRows(), "public_suffix"), "url.public_suffix_list");
  EXPECT_EQ(meant(AllRows(), "url.www.mode"), "url.www");
  // Several begin so, and none is more likely than the others.
  EXPECT_EQ(meant(AllRows(), "url.strip"), "");
  EXPECT_EQ(meant(AllRows(), "url"), "");
  EXPECT_EQ(meant(AllRows(), "url."), "");
  EXPECT_EQ(meant(AllRows(), "."), "");
  EXPECT_EQ(meant(AllRows(), "_"), "");
  const std::span<const Row> rows = EveryTypeTable().rows;
  EXPECT_EQ(meant(rows, "free_delay_ms"), "one.free_delay");
  EXPECT_EQ(meant(rows, "color"), "two.deep.color");
  EXPECT_EQ(meant(rows, "deep.colour"), "two.deep.color");
  EXPECT_EQ(meant(rows, "one.top"), "top");
}

TEST(Table, MessagesHoldNoControlCharacters) {
  EXPECT_EQ(Printable("a\nb\x1b[2J\x7f\xc2\x9b\xc3\xbc\xff"),
            "a\\x0Ab\\x1B[2J\\x7F\\xC2\\x9B\xc3\xbc\\xFF");
  EXPECT_EQ(Printable(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(Printable(std::string(199, 'a') + "\xc3\xbc"),
            std::string(199, 'a') + "...");
  EXPECT_EQ(Printable(std::string(300, 'a')), std::string(200, 'a') + "...");
}

TEST(Table, WrapsAtTheColumn) {
  EXPECT_EQ(Wrap("", "# ", 10), "");
  EXPECT_EQ(Wrap("one two three", "# ", 9), "# one two\n# three\n");
  EXPECT_EQ(Wrap("muchtoolongaword b", "# ", 9), "# muchtoolongaword\n# b\n");
}

TEST(Table, SplitsNames) {
  EXPECT_EQ(SectionOf("url.max_length"), "url");
  EXPECT_EQ(KeyOf("url.max_length"), "max_length");
  EXPECT_EQ(SectionOf("top"), "");
  EXPECT_EQ(KeyOf("top"), "top");
  EXPECT_EQ(SectionOf("two.deep.text"), "two.deep");
}

// What the machinery takes for granted about nephila's own table.
TEST(SettingsTable, IsWellFormed) {
  const Table& table = SettingsTable();
  std::set<std::string_view> names;
  std::vector<std::string_view> sections;
  for (const Row& row : table.rows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    const std::string_view section = SectionOf(row.name);
    if (sections.empty() || sections.back() != section) {
      sections.push_back(section);
    }
    EXPECT_TRUE(row.doc.ends_with("."));
    EXPECT_EQ(row.doc.find('\n'), std::string_view::npos);
    EXPECT_EQ(std::count(row.doc.begin(), row.doc.end(), '`') % 2, 0);
    EXPECT_TRUE(CheckValue(row, row.default_value).has_value());
    EXPECT_EQ(row.type == Type::kChoice, !row.choices.empty());
    for (const Row& other : table.rows) {
      EXPECT_FALSE(other.name.starts_with(std::string(row.name) + "."))
          << "TOML cannot hold both a value " << row.name << " and "
          << other.name;
    }
  }
  ASSERT_EQ(sections.size(), table.sections.size());
  for (size_t i = 0; i < sections.size(); ++i) {
    EXPECT_EQ(sections[i], table.sections[i].name);
  }
}

TEST(SettingsTable, HasTheDefaults) {
  const Settings settings;
  EXPECT_TRUE(settings.url.strip_fragment);
  EXPECT_TRUE(settings.url.strip_userinfo);
  EXPECT_TRUE(settings.url.strip_host_dot);
  EXPECT_EQ(settings.url.www, WwwMode::kKeep);
  EXPECT_EQ(settings.url.default_documents,
            (std::vector<std::string>{"index.html", "index.htm", "index.shtml",
                                      "default.html", "default.htm"}));
  EXPECT_TRUE(settings.url.uppercase_escapes);
  EXPECT_FALSE(settings.url.decode_unreserved);
  EXPECT_FALSE(settings.url.escape_unsafe);
  EXPECT_EQ(settings.url.session_ids,
            (std::vector<std::string>{"phpsessid", "sid", "sessionid",
                                      "jsessionid"}));
  EXPECT_TRUE(settings.url.trim_directory_sort);
  EXPECT_TRUE(settings.url.strip_query.empty());
  EXPECT_FALSE(settings.url.sort_query);
  EXPECT_FALSE(settings.url.drop_empty_params);
  EXPECT_TRUE(settings.url.drop_empty_query);
  EXPECT_FALSE(settings.url.collapse_slashes);
  EXPECT_EQ(settings.url.max_length_bytes, 2048u);
  EXPECT_EQ(settings.url.public_suffix_list, "");
}

TEST(SettingsTable, FixesPerJobWhatKeysDependOn) {
  for (const Row& row : AllRows()) {
    // And which stages a job has, and what their records count.
    const bool fixed =
        (SectionOf(row.name) == "url" && row.name != "url.allow_ports") ||
        row.name == "crawl.budgets" || row.name == "scope.max_pages_per_host" ||
        row.name == "scope.max_pages_per_domain" ||
        row.name == "scope.max_hosts_per_domain" ||
        row.name == "scope.site_caps";
    EXPECT_EQ(row.change == Change::kFixedPerJob, fixed) << row.name;
  }
}

}  // namespace
}  // namespace nephila::config
