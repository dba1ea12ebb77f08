#include "robots/robots_stage_testing.h"

#include <algorithm>
#include <charconv>

#include "item/url_record.h"
#include "robots/parser.h"
#include "robots/rules.h"

namespace nephila::robots {
namespace {

using item::Admission;

struct Names {
  std::string scheme;
  std::string host;
  std::string pld;
  std::string port;
};

Names NamesOf(uint64_t origin) {
  Names names;
  names.scheme = origin % 3 == 1 ? "https://" : "http://";
  names.pld = "site" + std::to_string(origin / 2) + ".test";
  names.host = "h" + std::to_string(origin) + "." + names.pld;
  names.port = origin % 5 == 2 ? ":8080" : "";
  return names;
}

std::string Compile(const std::string& text) {
  return CompileRules(Parse(text, "nephila", RobotsLimits()));
}

}  // namespace

const url::PublicSuffixList& TestSuffixes() {
  static const url::PublicSuffixList list = url::PublicSuffixList::BuiltIn();
  return list;
}

RobotsStageOptions SmallStage() {
  RobotsStageOptions options;
  options.seed = kTestSeed;
  options.suffixes = &TestSuffixes();
  options.memory_bytes = uint64_t{2} << 20;
  options.disk_bytes = uint64_t{16} << 20;
  options.settings.unreachable_attempts = 0;
  return options;
}

std::string OriginText(uint64_t origin) {
  const Names names = NamesOf(origin);
  return names.scheme + names.host + names.port + "/";
}

uint64_t OriginNumber(std::string_view text) {
  const size_t start = text.find("://h") + 4;
  uint64_t number = 0;
  std::from_chars(text.data() + start, text.data() + text.size(), number);
  return number;
}

std::string EncodeUrl(uint64_t origin, uint64_t number, bool is_private) {
  const Names names = NamesOf(origin);
  std::string text = OriginText(origin);
  text += is_private ? "private/" : "open/";
  text += std::to_string(number);
  item::UrlRecord record;
  record.url = text;
  record.host_start = static_cast<uint32_t>(names.scheme.size());
  record.host_size = static_cast<uint32_t>(names.host.size());
  record.pld_size = static_cast<uint32_t>(names.pld.size());
  record.entry = number;
  std::string bytes;
  item::AppendUrlRecord(record, bytes);
  return bytes;
}

std::string EncodeText(std::string_view url) {
  item::UrlRecord record;
  record.url = url;
  record.host_start = static_cast<uint32_t>(url.find("://") + 3);
  const std::string_view rest = url.substr(record.host_start);
  const size_t end =
      rest.starts_with('[') ? rest.find(']') + 1 : rest.find_first_of(":/?#");
  record.host_size = static_cast<uint32_t>(std::min(end, rest.size()));
  record.pld_size = record.host_size;
  std::string bytes;
  item::AppendUrlRecord(record, bytes);
  return bytes;
}

uint64_t NumberOf(std::string_view bytes) {
  const auto record = item::ReadUrl(bytes);
  return record.has_value() ? record->entry : UINT64_MAX;
}

std::string PrivateRules(std::string_view more) {
  return Compile("User-agent: *\nDisallow: /private/\n" + std::string(more));
}

std::string LongPrivateRules() {
  std::string text = "User-agent: *\nDisallow: /private/\n";
  for (size_t i = 0; text.size() < kLongRulesBytes; ++i) {
    text += "Disallow: /no/such/place/";
    text += std::to_string(i);
    text += '\n';
  }
  return Compile(text);
}

RobotsEnd GoodEnd(std::string_view origin, std::string_view rules,
                  WallTime when) {
  RobotsEnd end = StatusEnd(origin, 200, when);
  end.rules = rules;
  return end;
}

RobotsEnd StatusEnd(std::string_view origin, int status, WallTime when) {
  RobotsEnd end;
  end.origin = origin;
  end.end = item::RobotsFetchEnd::kAnswer;
  end.status = status;
  end.when = when;
  return end;
}

RobotsEnd NetworkEnd(std::string_view origin, WallTime when) {
  RobotsEnd end;
  end.origin = origin;
  end.end = item::RobotsFetchEnd::kNetwork;
  end.when = when;
  return end;
}

bool RunUntilDry(RobotsStage& stage, std::vector<Taken>& taken) {
  const ReadySink sink = [&taken](const ReadyUrl& url) -> Result<Admission> {
    taken.push_back({NumberOf(url.record), url.budget, url.crawl_delay,
                     url.not_before, url.failures, url.overloads, url.checked});
    return Admission::kTaken;
  };
  for (;;) {
    const auto moved = stage.Step(sink, 100);
    if (!moved.has_value()) return false;
    if (*moved > 0) continue;
    const auto more = stage.RunDry();
    if (!more.has_value()) return false;
    if (!*more) return true;
  }
}

std::vector<std::string> TakeAll(RobotsStage& stage) {
  std::vector<std::string> origins;
  const auto taken = stage.TakeRequests(
      [&origins](const RobotsRequest& request) -> Result<Admission> {
        origins.emplace_back(request.origin);
        return Admission::kTaken;
      },
      1'000'000);
  if (!taken.has_value() || *taken != origins.size()) return {"error"};
  return origins;
}

bool SiteForbids(uint64_t origin) { return origin % 7 != 0; }

SiteAnswer AskSite(uint64_t origin, uint64_t times_asked, WallTime when) {
  SiteAnswer answer;
  const uint64_t kind = origin % 7;
  const bool unreachable =
      (kind == 2 && (times_asked < 2 || times_asked % 3 == 0)) ||
      (kind == 3 && times_asked == 0);
  if (unreachable) {
    answer.end = kind == 2 ? NetworkEnd({}, when) : StatusEnd({}, 503, when);
  } else if (kind == 0) {
    answer.end = StatusEnd({}, 404, when);
  } else {
    static const std::string long_rules = LongPrivateRules();
    static const std::string short_rules = PrivateRules();
    answer.rules = kind == 1 ? long_rules : short_rules;
    answer.end = GoodEnd({}, {}, when);
    if (kind > 3) answer.end.crawl_delay = std::chrono::seconds(kind);
  }
  return answer;
}

}  // namespace nephila::robots
