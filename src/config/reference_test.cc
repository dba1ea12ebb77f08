#include "config/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/source_path_testing.h"
#include "config/every_type.h"

namespace nephila::config {
namespace {

TEST(Reference, DocsAreUpToDate) {
  std::ifstream file(SourcePath("docs/config.md"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(text == ReferenceMarkdown())
      << "docs/config.md is not what src/config/settings.def says. Run:\n"
         "  ./nephila settings --markdown > docs/config.md";
}

TEST(Reference, NamesEverySetting) {
  const std::string markdown = ReferenceMarkdown();
  const std::string text = ReferenceText();
  for (const Row& row : AllRows()) {
    const std::string name(row.name);
    EXPECT_NE(markdown.find("\n| `" + name + "` | "), std::string::npos);
    EXPECT_NE(text.find("\n  " + name + "\n"), std::string::npos);
  }
}

TEST(Reference, TextFitsATerminal) {
  std::istringstream lines(ReferenceText());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(Reference, MarkdownOfEveryType) {
  EXPECT_EQ(MarkdownTables(EveryTypeTable()), R"(
## General

| setting | type | default | allowed | job | meaning |
| --- | --- | --- | --- | --- | --- |
| `top` | integer | `7` | at most 9 |  | No section. |

## `one`

Numbers.

| setting | type | default | allowed | job | meaning |
| --- | --- | --- | --- | --- | --- |
| `one.flag` | true or false | `true` |  | fixed | A flag. |
| `one.count` | integer | `-3` | -5 to 5 |  | A count. |
| `one.free_count` | integer | `0` |  |  | Any count. |
| `one.size` | size | `4KiB` | 1KiB to 1MiB |  | A size. |
| `one.free_size` | size | `1B` |  |  | Any size. |
| `one.delay` | duration | `10s` | 1s to 1h |  | A delay. |
| `one.free_delay` | duration | `1.5s` | at least 0s |  | Any delay. |

## `two.deep`

Texts | such.

| setting | type | default | allowed | job | meaning |
| --- | --- | --- | --- | --- | --- |
| `two.deep.text` | string | `plain` |  |  | A text. |
| `two.deep.list` | list of strings | `a`, `b` |  |  | A list. |
| `two.deep.color` | choice | `green` | red, green |  | A color. |
)");
}

TEST(Reference, EveryRowOfAMarkdownTableHasItsCells) {
  std::istringstream lines(ReferenceMarkdown());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) continue;
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    }
    EXPECT_EQ(bars, 7u) << line;
  }
}

TEST(Reference, TextOfEveryType) {
  EXPECT_TRUE(TextTables(EveryTypeTable()).starts_with(R"(
  top
      integer, at most 9; default 7
      No section.

one: Numbers.

  one.flag
      true or false; default true; fixed per job
      A flag.
)"));
}

}  // namespace
}  // namespace nephila::config
