#include "sim/scenario.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/text.h"
#include "config/toml_guard.h"
#include "config/tomlplusplus.h"
#include "sim/mix.h"
#include "sim/pattern.h"

namespace nephila::sim {
namespace {

using config::Row;
using config::Type;
using config::Value;
using std::chrono::hours;
using std::chrono::milliseconds;

template <typename Access>
Row Of(std::string_view name, Access access, config::Limits limits,
       std::string_view doc) {
  return config::MakeRow<Rule>(name, access, limits, config::Change::kAnyTime,
                               doc);
}

#define NEPHILA_FIELD(name, limits, doc) \
  Of(                                    \
      #name, [](auto& r) -> auto& { return r.name; }, limits, doc)

std::vector<Row> MakeRows() {
  using config::Any;
  using config::Between;
  constexpr int64_t kMany = 1'000'000'000'000;
  // A year: a Retry-After that no crawler should wait for.
  constexpr hours kLongestDelay{24 * 365};
  return {
      NEPHILA_FIELD(host, Any(), "Host names that it is for; `*` is any text."),
      NEPHILA_FIELD(path, Any(), "Paths that it is for, with the query."),
      NEPHILA_FIELD(share, Between(0, 1000),
                    "Of a thousand such hosts, how many behave so."),
      NEPHILA_FIELD(behaviour, Any(), "The behaviour."),
      NEPHILA_FIELD(status, Between(100, 999), "Status code."),
      NEPHILA_FIELD(text, Any(), "Body."),
      NEPHILA_FIELD(type, Any(), "Content-Type."),
      NEPHILA_FIELD(target, Any(), "Location."),
      NEPHILA_FIELD(name, Any(), "Letters that a farm's domains begin with."),
      NEPHILA_FIELD(of, Any(), "The host whose pages are shown."),
      NEPHILA_FIELD(
          count, Between(0, kMany),
          "Hops, header lines, links, ports, pages, folders, answers."),
      NEPHILA_FIELD(bytes, Between(0, kMany), "Bytes, as the behaviour says."),
      NEPHILA_FIELD(by, Between(-1'000'000, 1'000'000),
                    "What is added to the true length."),
      NEPHILA_FIELD(plds, Between(1, 1'000'000'000), "Domains of a farm."),
      NEPHILA_FIELD(
          hosts, Between(1, 1'000'000'000),
          "Hosts of each domain of a farm, or of a web of redirects."),
      NEPHILA_FIELD(entry, Between(0, 1000),
                    "Of a thousand pages outside, how many link to the farm."),
      NEPHILA_FIELD(ttl, Between(0, 2'147'483'647), "Seconds to keep."),
      NEPHILA_FIELD(delay, Between(milliseconds(0), kLongestDelay), "Wait."),
      NEPHILA_FIELD(period, Between(milliseconds(1), hours(24)),
                    "From the beginning of a burst to that of the next."),
      NEPHILA_FIELD(length, Between(milliseconds(0), hours(24)),
                    "How long a burst is."),
      NEPHILA_FIELD(addresses, Any(), "Addresses, IPv4 and IPv6."),
  };
}

#undef NEPHILA_FIELD

Error Wrong(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

std::string Place(std::string_view file, const toml::source_position& at) {
  return config::Printable(file) + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column);
}

// What a node holds, as text that config::ParseValue reads or as a value.
Result<Value> ToValue(const Row& row, const toml::node& node) {
  if (row.type == Type::kInteger && node.is_integer()) {
    return config::CheckValue(row, Value(node.as_integer()->get()));
  }
  if (row.type == Type::kSize && node.is_integer()) {
    return config::ParseValue(row, std::to_string(node.as_integer()->get()));
  }
  const bool text = row.type != Type::kInteger && row.type != Type::kBool &&
                    row.type != Type::kStringList;
  if (text && node.is_string()) {
    if (row.type == Type::kString) {
      return config::CheckValue(row, Value(node.as_string()->get()));
    }
    return config::ParseValue(row, node.as_string()->get());
  }
  if (row.type == Type::kStringList && node.is_array()) {
    std::vector<std::string> items;
    items.reserve(node.as_array()->size());
    for (const toml::node& item : *node.as_array()) {
      if (!item.is_string()) break;
      items.push_back(item.as_string()->get());
    }
    if (items.size() == node.as_array()->size()) {
      return config::CheckValue(row, Value(std::move(items)));
    }
  }
  return Unexpected(
      config::SettingError(row.name, "expected " + config::Expected(row)));
}

// Fills a struct from a table. `given` gets the keys that were in it.
Status Fill(std::span<const Row> rows, const toml::table& table,
            std::string_view file, void* into,
            std::vector<std::string>* given) {
  for (const auto& [key, node] : table) {
    const Row* row = config::FindRow(rows, key.str());
    if (row == nullptr) {
      return Unexpected(config::NoSuchSetting(rows, key.str())
                            .WithContext(Place(file, key.source().begin)));
    }
    auto value = ToValue(*row, node);
    if (!value) {
      return Unexpected(std::move(value).error().WithContext(
          Place(file, node.source().begin)));
    }
    row->set(into, *std::move(value));
    given->emplace_back(key.str());
  }
  return {};
}

bool Lists(std::string_view keys, const std::string& key) {
  return keys.find(" " + key + " ") != std::string_view::npos;
}

bool IsAddress(const std::string& text) {
  in6_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

// No line breaks in what goes into a header.
bool IsHeaderText(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c != '\x7f'; });
}

// Why a rule cannot be, or nothing.
std::string Complaint(const Rule& rule, const std::vector<std::string>& given) {
  const BehaviourInfo& info = InfoOf(rule.behaviour);
  for (const std::string& key : given) {
    // A farm has names of its own.
    const bool chosen =
        rule.behaviour != Behaviour::kFarm && (key == "host" || key == "share");
    const bool common = chosen || key == "behaviour" ||
                        (key == "path" && info.layer == Layer::kHttp);
    if (!common && !Lists(info.keys, key)) {
      return fmt::format("{}: {} does not read it", key, info.name);
    }
  }
  auto has = [&](const std::string& key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  if (!has("behaviour")) return "behaviour: missing";
  for (const Row& row : RuleRows()) {
    const std::string key(row.name);
    if (Lists(info.required, key) && !has(key)) {
      return fmt::format("{}: {} needs it", key, info.name);
    }
  }
  if (std::max(rule.host.size(), rule.path.size()) > kMaxPatternBytes) {
    return "host, path: longer than " + std::to_string(kMaxPatternBytes);
  }
  for (const std::string& address : rule.addresses) {
    if (!IsAddress(address)) {
      return "addresses: '" + config::Printable(address) + "' is none";
    }
  }
  if (rule.addresses.size() > 100) return "addresses: more than 100";
  if (!IsHeaderText(rule.type)) return "type: control characters";
  if (!IsHeaderText(rule.target)) return "target: control characters";
  if (rule.name.size() > 20 ||
      !std::all_of(rule.name.begin(), rule.name.end(),
                   [](char c) { return c >= 'a' && c <= 'z'; })) {
    return "name: up to 20 letters from a to z";
  }
  if (rule.behaviour == Behaviour::kPortLinks && rule.count > 65'535) {
    return "count: a host has at most 65535 ports";
  }
  if (rule.behaviour == Behaviour::kReorder && rule.count > 8) {
    return "count: at most 8 folders can be reordered";
  }
  return "";
}

Result<Rule> ParseRule(const toml::table& table, std::string_view file) {
  Rule rule;
  std::vector<std::string> given;
  NEPHILA_RETURN_IF_ERROR(Fill(RuleRows(), table, file, &rule, &given));
  rule.host = LowerAscii(rule.host);
  rule.of = LowerAscii(rule.of);
  if (std::string why = Complaint(rule, given); !why.empty()) {
    return Unexpected(
        Wrong(why).WithContext(Place(file, table.source().begin)));
  }
  return rule;
}

Status ReadRules(const toml::node& node, std::string_view file,
                 std::vector<Rule>* rules) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->size() > kMaxRules) {
    return Unexpected(Wrong("rule: expected at most " +
                            std::to_string(kMaxRules) + " tables [[rule]]")
                          .WithContext(Place(file, node.source().begin)));
  }
  rules->reserve(array->size());
  for (const toml::node& item : *array) {
    if (!item.is_table()) {
      return Unexpected(Wrong("rule: expected a table [[rule]]")
                            .WithContext(Place(file, item.source().begin)));
    }
    NEPHILA_TRY(Rule rule, ParseRule(*item.as_table(), file));
    rule.number = rules->size();
    rules->push_back(std::move(rule));
  }
  return {};
}

bool AppliesToPath(const Rule& rule, std::string_view path) {
  if (rule.path == "*") {
    const bool robots = rule.behaviour == Behaviour::kRobots ||
                        rule.behaviour == Behaviour::kHugeRobots;
    return (path == "/robots.txt") == robots;
  }
  return Matches(rule.path, path);
}

}  // namespace

std::span<const Row> RuleRows() {
  static const std::vector<Row> kRows = MakeRows();
  return kRows;
}

const Rule* Scenario::Find(Layer layer, std::string_view host,
                           std::string_view path) const {
  for (const Rule& rule : rules) {
    if (InfoOf(rule.behaviour).layer != layer) continue;
    if (rule.behaviour == Behaviour::kFarm) continue;  // known by its names
    if (!Matches(rule.host, host)) continue;
    if (layer == Layer::kHttp && !AppliesToPath(rule, path)) continue;
    if (rule.share < 1000) {
      const uint64_t drawn =
          Mix(KeyedHash(host, static_cast<uint64_t>(shape.seed)), rule.number);
      if (static_cast<int64_t>(ToBelow(drawn, 1000)) >= rule.share) continue;
    }
    return &rule;
  }
  return nullptr;
}

bool Scenario::Names(std::string_view host) const {
  const bool for_tests = host.ends_with(".example") ||
                         host.ends_with(".test") || host.ends_with(".invalid");
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    const bool makes = for_tests || rule.behaviour == Behaviour::kDnsWildcard ||
                       rule.host.find('*') == std::string::npos;
    return makes && rule.host.find_first_not_of("*.") != std::string::npos &&
           rule.behaviour != Behaviour::kFarm && Matches(rule.host, host);
  });
}

Result<Scenario> ParseScenario(std::string_view text,
                               std::string_view file_name) {
  if (text.size() > kMaxScenarioBytes) {
    return Unexpected(Wrong(config::Printable(file_name) +
                            ": too long for a scenario (at most " +
                            FormatSize(kMaxScenarioBytes) + ")"));
  }
  if (config::FindTooDeepKey(text)) {
    return Unexpected(
        Wrong(config::Printable(file_name) + ": a key has too many parts"));
  }
  const toml::parse_result parsed = toml::parse(text);
  if (parsed.failed()) {
    return Unexpected(
        Wrong(config::Printable(parsed.error().description()))
            .WithContext(Place(file_name, parsed.error().source().begin)));
  }
  Scenario scenario;
  std::vector<std::string> given;
  for (const auto& [key, node] : parsed.table()) {
    if (key.str() == "rule") {
      NEPHILA_RETURN_IF_ERROR(ReadRules(node, file_name, &scenario.rules));
    } else if (key.str() == "web" && node.is_table()) {
      NEPHILA_RETURN_IF_ERROR(Fill(ShapeRows(), *node.as_table(), file_name,
                                   &scenario.shape, &given));
    } else {
      return Unexpected(
          Wrong(config::Printable(key.str()) +
                ": a scenario has a table [web] and tables [[rule]]")
              .WithContext(Place(file_name, key.source().begin)));
    }
  }
  return scenario;
}

}  // namespace nephila::sim
