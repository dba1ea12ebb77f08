#include "robots/parser.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "item/product_token.h"
#include "robots/line.h"
#include "robots/prepare.h"

namespace nephila::robots {
namespace {

// Seconds as "10", "0.5", ".5" or "10.0"; what follows a blank or a unit ("10
// sec", "5s") is passed over.
std::optional<double> ReadSeconds(std::string_view text, bool* whole) {
  double seconds = 0;
  double unit = 1;
  size_t digits = 0;
  bool fraction = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c >= '0' && c <= '9') {
      ++digits;
      if (fraction) unit /= 10;
      seconds =
          fraction ? seconds + (c - '0') * unit : seconds * 10 + (c - '0');
    } else if (c == '.' && !fraction) {
      fraction = true;
    } else {
      break;
    }
  }
  *whole = i == text.size();
  if (digits == 0) return std::nullopt;
  return seconds;
}

bool HasHttpScheme(std::string_view text) {
  auto starts = [text](std::string_view scheme) {
    return text.size() >= scheme.size() &&
           LowerAscii(text.substr(0, scheme.size())) == scheme;
  };
  return starts("http://") || starts("https://");
}

// The path of a rule that is written as a URL, or without its slash. Only for
// what restricts us; empty if nothing can be made of it.
std::string RepairPath(std::string_view path) {
  if (HasHttpScheme(path)) {
    size_t slash = path.find('/', path.find("//") + 2);
    if (slash == std::string_view::npos) return "";
    return std::string(path.substr(slash));
  }
  if (path == "$") return "";
  return "/" + std::string(path);
}

class Parser {
 public:
  Parser(std::string_view agent, const RobotsLimits& limits)
      : token_(item::ProductToken(agent)), limits_(limits) {}

  RobotsFile Run(std::string_view text) {
    Prepared prepared(text, limits_.max_bytes);
    file_.cut = prepared.cut();
    file_.bytes_read = prepared.bytes_read();
    if (prepared.cut()) Report(0, Deviation::kTooLong);
    if (prepared.utf16()) Report(0, Deviation::kUtf16);
    if (prepared.html()) Report(0, Deviation::kHtml);
    LineReader reader(prepared.text());
    Line line;
    while (reader.Next(&line)) Take(line);
    file_.lines = reader.lines();
    Choose();
    return std::move(file_);
  }

 private:
  // What holds for the agents of one of the two kinds.
  struct Part {
    bool named = false;   // some group was for it
    bool active = false;  // the group that is being read is
    std::vector<Rule> rules;
    std::optional<std::chrono::milliseconds> delay;
  };

  void Report(uint32_t line, Deviation kind) {
    ++file_.deviations[static_cast<size_t>(kind)];
    if (file_.findings.size() < limits_.max_findings) {
      file_.findings.push_back({line, kind});
    }
  }

  void Take(const Line& line) {
    CheckBytes(line);
    if (line.deviation) Report(line.number, *line.deviation);
    switch (line.directive) {
      case Directive::kUserAgent:
        return TakeAgent(line);
      case Directive::kAllow:
      case Directive::kDisallow:
        return TakeRule(line);
      case Directive::kCrawlDelay:
        return TakeDelay(line);
      case Directive::kSitemap:
        return TakeSitemap(line);
      case Directive::kOther:
        return;
    }
  }

  void CheckBytes(const Line& line) {
    bool ascii = true;
    bool control = false;
    for (char c : line.value) {
      ascii = ascii && static_cast<unsigned char>(c) < 0x80;
      control = control || (static_cast<unsigned char>(c) < 0x20 && c != '\t');
    }
    if (control) Report(line.number, Deviation::kControl);
    if (!ascii && !IsUtf8(line.value)) {
      Report(line.number, Deviation::kNotUtf8);
    }
  }

  void TakeAgent(const Line& line) {
    if (!in_agents_) {
      in_agents_ = true;
      ++file_.groups;
      own_.active = everyone_.active = false;
    }
    std::string_view token = item::ProductToken(line.value);
    bool everyone = item::MeansEveryone(line.value);
    if (everyone) {
      everyone_.active = everyone_.named = true;
    } else if (!token.empty() && item::SameToken(token, token_)) {
      own_.active = own_.named = true;
    }
    bool clean = everyone ? line.value.size() == 1
                          : !token.empty() && token.size() == line.value.size();
    if (!clean) Report(line.number, Deviation::kAgentName);
  }

  void TakeRule(const Line& line) {
    if (file_.groups == 0) {
      return Report(line.number, Deviation::kRuleBeforeGroup);
    }
    in_agents_ = false;
    // An empty value is a rule that matches nothing (s2.2.2).
    if (line.value.empty()) return;
    bool allow = line.directive == Directive::kAllow;
    std::string_view path = line.value;
    std::string repaired;
    if (path[0] != '/' && path[0] != '*') {
      Report(line.number, Deviation::kPathWithoutSlash);
      if (!allow) repaired = RepairPath(path);
      if (repaired.empty()) return;
      path = repaired;
    }
    if (!own_.active && !everyone_.active) return;
    Rule rule;
    rule.allow = allow;
    rule.line = line.number;
    rule.offset = static_cast<uint32_t>(file_.texts.size());
    rule.pattern = AppendPattern(path, &file_.texts);
    if (own_.active) own_.rules.push_back(rule);
    if (everyone_.active) everyone_.rules.push_back(rule);
  }

  void TakeDelay(const Line& line) {
    if (file_.groups == 0) {
      return Report(line.number, Deviation::kRuleBeforeGroup);
    }
    bool whole = false;
    std::optional<double> seconds = ReadSeconds(line.value, &whole);
    if (!whole || !seconds) Report(line.number, Deviation::kCrawlDelay);
    if (!seconds) return;
    auto longest = static_cast<double>(limits_.max_crawl_delay.count());
    std::chrono::milliseconds delay(
        std::llround(std::min(*seconds * 1000, longest)));
    for (Part* part : {&own_, &everyone_}) {
      if (part->active)
        part->delay = std::max(part->delay.value_or(delay), delay);
    }
  }

  void TakeSitemap(const Line& line) {
    if (!HasHttpScheme(line.value)) Report(line.number, Deviation::kSitemap);
    if (line.value.empty()) return;
    ++file_.sitemaps_seen;
    if (file_.sitemaps.size() < limits_.max_sitemaps) {
      file_.sitemaps.emplace_back(line.value);
    }
  }

  void Choose() {
    file_.group = own_.named        ? Group::kOwn
                  : everyone_.named ? Group::kEveryone
                                    : Group::kNone;
    if (file_.group == Group::kNone) return;
    Part& part = own_.named ? own_ : everyone_;
    file_.rules = std::move(part.rules);
    file_.crawl_delay = part.delay;
  }

  const std::string_view token_;
  const RobotsLimits& limits_;
  RobotsFile file_;
  Part own_;
  Part everyone_;
  bool in_agents_ = false;  // the last line but others was a user-agent
};

}  // namespace

RobotsLimits::RobotsLimits(const config::RobotsSettings& settings)
    : max_bytes(settings.max_size_bytes),
      max_crawl_delay(std::chrono::duration_cast<std::chrono::milliseconds>(
          settings.max_crawl_delay)),
      max_sitemaps(static_cast<size_t>(settings.max_sitemaps)) {}

RobotsFile Parse(std::string_view text, std::string_view agent,
                 const RobotsLimits& limits) {
  return Parser(agent, limits).Run(text);
}

}  // namespace nephila::robots
