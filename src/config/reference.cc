#include "config/reference.h"

namespace nephila::config {
namespace {

constexpr size_t kColumns = 80;

constexpr std::string_view kMarkdownHead =
    R"(<!-- Generated: ./nephila settings --markdown > docs/config.md -->
# Settings

Every setting has a default. A file changes some of them
(`--config crawl.toml`, also several times), and `--set` changes single ones;
what comes later on the command line wins, and `--set` wins over files.

```
nephila url --config crawl.toml --set url.max_length=4KiB http://example.com/
```

```toml
[url]
max_length = "4KiB"
strip_query = ["utm_*", "fbclid"]
```

- Sizes are written `512B`, `2KiB`, `1.5GiB` (binary), `64kB`, `2MB`
  (decimal), or as a plain number of bytes.
- Durations are written `250ms`, `10s`, `5m`, `1h30m`, `7d`.
- Lists are TOML arrays of strings. With `--set` commas are enough,
  `--set url.strip_query=utm_*,fbclid`, and nothing is the empty list.
- A setting that is *fixed* decides which URLs are the same. A job keeps the
  value it was made with; a different one needs a new job.

A setting that does not exist, or a value that is not allowed, is an error in
one line with its place in the file. Nothing is started then.

Sources: VN is Gomes and Silva, *The Viuva Negra crawler* (2008).
)";

constexpr std::string_view kTextHead =
    R"(Settings come from --config FILE (TOML) and --set key=value; --set wins.
Those that are "fixed per job" keep the value that a job was made with.
)";

// Text in a cell of a table.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string Code(std::string_view text) {
  return text.empty() ? "" : "`" + Cell(text) + "`";
}

std::string MarkdownDefault(const Row& row) {
  if (row.type != Type::kStringList) {
    const std::string value = FormatValue(row, row.default_value);
    return value.empty() ? "empty" : Code(value);
  }
  std::string items;
  const auto* list = std::get_if<std::vector<std::string>>(&row.default_value);
  NEPHILA_CHECK(list != nullptr);
  for (const std::string& item : *list) {
    if (!items.empty()) items += ", ";
    items += Code(item);
  }
  return items.empty() ? "empty" : items;
}

std::string MarkdownRow(const Row& row) {
  std::string line = "| " + Code(row.name);
  line += " | " + TypeText(row);
  line += " | " + MarkdownDefault(row);
  line += " | " + Cell(AllowedText(row));
  line += row.change == Change::kFixedPerJob ? " | fixed" : " | ";
  line += " | " + Cell(row.doc) + " |\n";
  return line;
}

void AppendText(const Row& row, std::string* out) {
  *out += "\n  " + std::string(row.name) + "\n";
  *out += Wrap(Facts(row), "      ", kColumns);
  *out += Wrap(row.doc, "      ", kColumns);
}

std::string_view SectionDoc(const Table& table, std::string_view name) {
  for (const Section& section : table.sections) {
    if (section.name == name) return section.doc;
  }
  return "";
}

}  // namespace

std::string MarkdownTables(const Table& table) {
  std::string out;
  std::string_view section;
  for (const Row& row : table.rows) {
    if (out.empty() || SectionOf(row.name) != section) {
      section = SectionOf(row.name);
      out += "\n## " + (section.empty() ? "General" : Code(section)) + "\n\n";
      const std::string_view doc = SectionDoc(table, section);
      if (!doc.empty()) out += Wrap(doc, "", kColumns) + "\n";
      out += "| setting | type | default | allowed | job | meaning |\n";
      out += "| --- | --- | --- | --- | --- | --- |\n";
    }
    out += MarkdownRow(row);
  }
  return out;
}

std::string TextTables(const Table& table) {
  std::string out;
  std::string_view section;
  for (const Row& row : table.rows) {
    if (SectionOf(row.name) != section) {
      section = SectionOf(row.name);
      out += "\n" + Wrap(std::string(section) + ": " +
                             std::string(SectionDoc(table, section)),
                         "", kColumns);
    }
    AppendText(row, &out);
  }
  return out;
}

std::string ReferenceMarkdown() {
  return std::string(kMarkdownHead) + MarkdownTables(SettingsTable());
}

std::string ReferenceText() {
  return std::string(kTextHead) + TextTables(SettingsTable());
}

}  // namespace nephila::config
