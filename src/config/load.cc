#include "config/load.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/toml_guard.h"
#include "config/tomlplusplus.h"

namespace nephila::config {
namespace {

using Assignment = std::pair<const Row*, Value>;

// One value in a file, or what stands where one was expected.
struct Leaf {
  toml::source_position position;  // of its key
  std::string name;
  const toml::node* node;
};

std::string Place(std::string_view file_name,
                  const toml::source_position& position) {
  return Printable(file_name) + ":" + std::to_string(position.line) + ":" +
         std::to_string(position.column);
}

// The place behind `before`, counted as toml++ counts: columns of characters.
std::string Place(std::string_view file_name, std::string_view before) {
  toml::source_position position{1, 1};
  for (char c : before) {
    if (c == '\n') {
      position = {position.line + 1, 1};
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      ++position.column;
    }
  }
  return Place(file_name, position);
}

std::string_view TypeName(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return node.is_array_of_tables() ? "an array of tables" : "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a floating-point number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    case toml::node_type::date_time:
      return "a date with time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

// Two settings that everyone gives have short names too.
std::string FullName(std::string name) {
  if (name == "memory" || name == "disk") return "crawl." + name;
  return name;
}

bool IsSection(std::span<const Row> rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.name.size() > name.size() && row.name.starts_with(name) &&
           row.name[name.size()] == '.';
  });
}

// A key with a dot in it is quoted in the file, and so it is shown: it must
// not pass for a dotted one, or a setting could be given twice.
std::string NameOf(std::string_view prefix, std::string_view key) {
  std::string name(prefix);
  if (!name.empty()) name += '.';
  if (key.find('.') == std::string_view::npos) return name.append(key);
  return name.append("\"").append(key).append("\"");
}

// Goes down the first keys of a table that no setting is in, so that a
// misspelt section is answered with the setting that was meant.
void CollectUnknown(std::string name, const toml::key& key,
                    const toml::table& table, std::vector<Leaf>* leaves) {
  toml::source_position position = key.source().begin;
  const toml::table* inner = &table;
  while (inner != nullptr && !inner->empty()) {
    const auto first = inner->begin();
    name = NameOf(name, first->first.str());
    position = first->first.source().begin;
    inner = first->second.as_table();
  }
  leaves->push_back({position, std::move(name), &table});
}

// Recurses only into sections that exist, hence a few levels.
void Collect(std::span<const Row> rows, std::string_view prefix,
             const toml::table& table, std::vector<Leaf>* leaves) {
  for (const auto& [key, node] : table) {
    std::string name = NameOf(prefix, key.str());
    const toml::table* inner = node.as_table();
    if (inner == nullptr) name = FullName(std::move(name));
    if (inner != nullptr && IsSection(rows, name)) {
      Collect(rows, name, *inner, leaves);
    } else if (inner != nullptr && FindRow(rows, name) == nullptr) {
      CollectUnknown(std::move(name), key, *inner, leaves);
    } else {
      leaves->push_back({key.source().begin, std::move(name), &node});
    }
  }
}

// The first item of a list that is no string; else the node itself.
const toml::node& Culprit(const Row& row, const toml::node& node) {
  const toml::array* array = node.as_array();
  if (row.type != Type::kStringList || array == nullptr) return node;
  for (const toml::node& item : *array) {
    if (!item.is_string()) return item;
  }
  return node;
}

Result<Value> ValueFromNode(const Row& row, const toml::node& node) {
  if (row.type == Type::kBool && node.is_boolean()) {
    return Value(node.as_boolean()->get());
  }
  if (row.type == Type::kInteger && node.is_integer()) {
    return CheckValue(row, Value(node.as_integer()->get()));
  }
  if (row.type == Type::kSize && node.is_integer()) {
    const int64_t bytes = node.as_integer()->get();
    if (bytes < 0) return ParseValue(row, std::to_string(bytes));
    return CheckValue(row, Value(static_cast<uint64_t>(bytes)));
  }
  const bool is_text = row.type == Type::kSize || row.type == Type::kDuration ||
                       row.type == Type::kString || row.type == Type::kChoice;
  if (is_text && node.is_string()) {
    return ParseValue(row, node.as_string()->get());
  }
  if (row.type == Type::kStringList && node.is_array()) {
    const toml::node& culprit = Culprit(row, node);
    if (&culprit != &node) {
      return Unexpected(
          SettingError(row.name, "expected a list of strings, but an item is " +
                                     std::string(TypeName(culprit))));
    }
    std::vector<std::string> items;
    for (const toml::node& item : *node.as_array()) {
      items.push_back(item.as_string()->get());
    }
    return CheckValue(row, Value(std::move(items)));
  }
  return Unexpected(SettingError(
      row.name,
      "expected " + Expected(row) + ", not " + std::string(TypeName(node))));
}

Result<Assignment> AssignmentFromLeaf(std::span<const Row> rows,
                                      std::string_view file_name,
                                      const Leaf& leaf) {
  const Row* row = FindRow(rows, leaf.name);
  if (row != nullptr) {
    auto value = ValueFromNode(*row, *leaf.node);
    if (value.has_value()) return Assignment(row, *std::move(value));
    const auto& position = Culprit(*row, *leaf.node).source().begin;
    return Unexpected(
        std::move(value).error().WithContext(Place(file_name, position)));
  }
  Error error = NoSuchSetting(rows, leaf.name);
  if (IsSection(rows, leaf.name)) {
    error = SettingError(leaf.name, "expected a table of settings, not " +
                                        std::string(TypeName(*leaf.node)));
  }
  return Unexpected(
      std::move(error).WithContext(Place(file_name, leaf.position)));
}

// The root table, or an error that begins with its place in the file.
Result<toml::table> Parse(std::string_view text, std::string_view file_name) {
  if (const auto offset = FindTooDeepKey(text)) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            Place(file_name, text.substr(0, *offset)) +
                                ": a key has more than " +
                                std::to_string(kMaxKeyParts) + " parts"});
  }
  toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            Place(file_name, error.source().begin) + ": " +
                                Printable(error.description())});
  }
  return std::move(parsed).table();
}

// A list given to --set as a TOML array.
Result<Value> ValueFromArray(const Row& row, std::string_view text) {
  const auto root = Parse("x=" + std::string(text), "");
  // More keys than one: the text went on after the array.
  const toml::node* array = root.has_value() ? root->get("x") : nullptr;
  if (array == nullptr || root->size() != 1) {
    return Unexpected(SettingError(
        row.name, "'" + Printable(text) +
                      "' is not a list of strings such as [\"a\", \"b\"]"));
  }
  return ValueFromNode(row, *array);
}

// The root table of a file.
Result<toml::table> ParseFile(std::string_view text,
                              std::string_view file_name) {
  if (text.size() > kMaxTomlBytes) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            Printable(file_name) + ": " +
                                std::to_string(text.size()) +
                                " bytes are too many for settings (at most " +
                                FormatSize(kMaxTomlBytes) + ")"});
  }
  return Parse(text, file_name);
}

// What a table says, the first error in the file if it is wrong.
Result<std::vector<Assignment>> ReadTable(std::span<const Row> rows,
                                          const toml::table& table,
                                          std::string_view file_name) {
  std::vector<Leaf> leaves;
  Collect(rows, "", table, &leaves);
  // toml++ sorts by key; users read from the top.
  std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
    return a.position < b.position;
  });
  std::vector<Assignment> assignments;
  for (const Leaf& leaf : leaves) {
    NEPHILA_TRY(Assignment assignment,
                AssignmentFromLeaf(rows, file_name, leaf));
    assignments.push_back(std::move(assignment));
  }
  return assignments;
}

void Assign(std::vector<Assignment>& assignments, void* settings,
            std::vector<std::string_view>* names) {
  for (auto& [row, value] : assignments) {
    row->set(settings, std::move(value));
    if (names != nullptr) names->push_back(row->name);
  }
}

// What [site."example.org"] may say.
struct SiteSettings {
  std::chrono::nanoseconds delay{0};
  int64_t max_pages = 0;
  bool block = false;
};

std::span<const Row> SiteRows() {
  static const std::array<Row, 3> kRows = {
      MakeRow<SiteSettings>(
          "delay", [](auto& site) -> auto& { return site.delay; },
          AtLeast(std::chrono::nanoseconds(0)), Change::kAnyTime, ""),
      MakeRow<SiteSettings>(
          "max_pages", [](auto& site) -> auto& { return site.max_pages; },
          AtLeast(0), Change::kFixedPerJob, ""),
      MakeRow<SiteSettings>(
          "block", [](auto& site) -> auto& { return site.block; }, Any(),
          Change::kAnyTime, "")};
  return kRows;
}

// That of a host, as far as a list of sites can hold it.
bool IsSiteName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '=' && c != 0x7f;
  });
}

using Sites = std::vector<std::pair<std::string, std::vector<Assignment>>>;

Result<Sites> ReadSites(const toml::node& node, std::string_view file_name) {
  const auto wrong = [&](const toml::node& at, std::string_view what) {
    return Unexpected(SettingError("site", what)
                          .WithContext(Place(file_name, at.source().begin)));
  };
  const toml::table* const table = node.as_table();
  if (table == nullptr) {
    return wrong(node, "expected a table for each site, not " +
                           std::string(TypeName(node)));
  }
  Sites sites;
  for (const auto& [key, value] : *table) {
    const toml::table* const site = value.as_table();
    if (site == nullptr || !IsSiteName(key.str())) {
      return wrong(value, "expected a table such as [site.\"example.org\"]");
    }
    for (const auto& [inner_key, inner] : *site) {
      if (!inner.is_table()) continue;
      return wrong(inner, "a name with dots is quoted: [site.\"example.org\"]");
    }
    auto said = ReadTable(SiteRows(), *site, file_name);
    if (!said.has_value()) return Unexpected(std::move(said).error());
    sites.emplace_back(LowerAscii(key.str()), *std::move(said));
  }
  return sites;
}

// In place of what the list says of that site, if it does.
void SetItem(const std::string& site, const std::string& value,
             std::vector<std::string>* list) {
  std::string item = site + "=" + value;
  for (std::string& known : *list) {
    const size_t equals = known.find('=');
    if (equals == std::string::npos ||
        LowerAscii(Trim(std::string_view(known).substr(0, equals))) != site) {
      continue;
    }
    known = std::move(item);
    return;
  }
  list->push_back(std::move(item));
}

// The list that a line of a table of a site stands for.
std::string_view ListOf(std::string_view line) {
  if (line == "delay") return "politeness.site_delays";
  return line == "max_pages" ? "scope.site_caps" : "scope.block";
}

// Tables of sites are another spelling of the lists of sites.
void ApplySites(const Sites& sites, Settings* settings,
                std::vector<std::string_view>* names) {
  for (const auto& [name, said] : sites) {
    for (const auto& [row, value] : said) {
      if (names != nullptr) names->push_back(ListOf(row->name));
      SiteSettings site;
      row->set(&site, value);
      if (row->name == "delay") {
        SetItem(name, FormatDuration(site.delay),
                &settings->politeness.site_delays);
      } else if (row->name == "max_pages") {
        SetItem(name, std::to_string(site.max_pages),
                &settings->scope.site_caps);
      } else if (site.block) {
        std::vector<std::string>& block = settings->scope.block;
        const std::string line = "host " + name;
        if (std::find(block.begin(), block.end(), line) == block.end()) {
          block.push_back(line);
        }
      }
    }
  }
}

}  // namespace

Status ApplyTomlWith(const Table& table, std::string_view text,
                     std::string_view file_name, void* settings,
                     std::vector<std::string_view>* names) {
  NEPHILA_TRY(const toml::table root, ParseFile(text, file_name));
  NEPHILA_TRY(auto assignments, ReadTable(table.rows, root, file_name));
  Assign(assignments, settings, names);
  return {};
}

namespace {

Result<const Row*> FindSetRow(const Table& table, std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || assignment.size() > kMaxTomlBytes) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "'" + Printable(assignment) + "' is not key=value"});
  }
  const std::string name =
      FullName(std::string(Trim(assignment.substr(0, equals))));
  const Row* row = FindRow(table.rows, name);
  if (row == nullptr) return Unexpected(NoSuchSetting(table.rows, name));
  return row;
}

}  // namespace

Status ApplySetWith(const Table& table, std::string_view assignment,
                    void* settings) {
  NEPHILA_TRY(const Row* const row, FindSetRow(table, assignment));
  const std::string_view text =
      Trim(assignment.substr(assignment.find('=') + 1));
  const bool is_array = row->type == Type::kStringList && text.starts_with('[');
  NEPHILA_TRY(Value value,
              is_array ? ValueFromArray(*row, text) : ParseValue(*row, text));
  row->set(settings, std::move(value));
  return {};
}

Status ApplyToml(std::string_view text, std::string_view file_name,
                 Settings* settings, std::vector<std::string_view>* names) {
  NEPHILA_TRY(toml::table root, ParseFile(text, file_name));
  Sites sites;
  if (const toml::node* const node = root.get("site")) {
    NEPHILA_TRY(sites, ReadSites(*node, file_name));
    root.erase("site");
  }
  NEPHILA_TRY(auto assignments,
              ReadTable(SettingsTable().rows, root, file_name));
  Assign(assignments, settings, names);
  // Behind the lists, which the same file may set.
  ApplySites(sites, settings, names);
  return {};
}

Result<const Row*> RowOfSet(std::string_view assignment) {
  return FindSetRow(SettingsTable(), assignment);
}

Status ApplySet(std::string_view assignment, Settings* settings) {
  return ApplySetWith(SettingsTable(), assignment, settings);
}

}  // namespace nephila::config
