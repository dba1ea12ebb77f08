#include "config/load.h"

#include <algorithm>
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

}  // namespace

Status ApplyTomlWith(const Table& table, std::string_view text,
                     std::string_view file_name, void* settings) {
  if (text.size() > kMaxTomlBytes) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            Printable(file_name) + ": " +
                                std::to_string(text.size()) +
                                " bytes are too many for settings (at most " +
                                FormatSize(kMaxTomlBytes) + ")"});
  }
  NEPHILA_TRY(const toml::table root, Parse(text, file_name));
  std::vector<Leaf> leaves;
  Collect(table.rows, "", root, &leaves);
  // toml++ sorts by key; users read from the top.
  std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) {
    return a.position < b.position;
  });
  std::vector<Assignment> assignments;
  for (const Leaf& leaf : leaves) {
    NEPHILA_TRY(Assignment assignment,
                AssignmentFromLeaf(table.rows, file_name, leaf));
    assignments.push_back(std::move(assignment));
  }
  for (auto& [row, value] : assignments) row->set(settings, std::move(value));
  return {};
}

Status ApplySetWith(const Table& table, std::string_view assignment,
                    void* settings) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || assignment.size() > kMaxTomlBytes) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              "'" + Printable(assignment) + "' is not key=value"});
  }
  const std::string name =
      FullName(std::string(Trim(assignment.substr(0, equals))));
  const std::string_view text = Trim(assignment.substr(equals + 1));
  const Row* row = FindRow(table.rows, name);
  if (row == nullptr) return Unexpected(NoSuchSetting(table.rows, name));
  const bool is_array = row->type == Type::kStringList && text.starts_with('[');
  NEPHILA_TRY(Value value,
              is_array ? ValueFromArray(*row, text) : ParseValue(*row, text));
  row->set(settings, std::move(value));
  return {};
}

Status ApplyToml(std::string_view text, std::string_view file_name,
                 Settings* settings) {
  return ApplyTomlWith(SettingsTable(), text, file_name, settings);
}

Status ApplySet(std::string_view assignment, Settings* settings) {
  return ApplySetWith(SettingsTable(), assignment, settings);
}

}  // namespace nephila::config
