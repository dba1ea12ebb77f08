// Parse: a robots.txt file, read for one crawler (RFC 9309).
//
// Everything is tolerated, nothing fails: what cannot be read is counted by
// kind and passed over, and a file that cannot be read at all has no rules (VN
// s4.5). Groups that name our agent are merged; without one, those for '*'
// hold. Lines of other kinds never divide a group (s2.2.4). Crawl-delay and
// Sitemap are read besides: a delay belongs to the agents named above it in its
// group, the longest one holds; sitemaps belong to the site.
//   In: bytes, anything   Out: rules, delay, sitemaps, deviations
//   Bounds: RobotsLimits   Threads: any
//   Cost: linear in the text read; memory at most three times as much
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "robots/deviation.h"
#include "robots/pattern.h"

namespace nephila::robots {

struct RobotsLimits {
  RobotsLimits() = default;
  explicit RobotsLimits(const config::RobotsSettings& settings);

  // What is behind the last line end within so many bytes is left out
  // (kTooLong). The RFC asks for 500 KiB at least (s2.5).
  size_t max_bytes = 512000;
  // Longer delays are taken for this one: nobody waits for weeks on purpose.
  std::chrono::milliseconds max_crawl_delay = std::chrono::hours(24);
  size_t max_sitemaps = 1000;
  // Deviations kept with their line; all are counted.
  size_t max_findings = 0;
};

struct Rule {
  bool allow = false;
  uint32_t line = 0;    // from 1
  uint32_t offset = 0;  // of the pattern's text in RobotsFile::texts
  Pattern pattern;
};

struct Finding {
  uint32_t line = 0;  // 0: the file as a whole
  Deviation kind = Deviation::kNoDirective;
};

enum class Group : uint8_t {
  kNone,      // no group is for us: all is allowed
  kEveryone,  // '*'
  kOwn,       // named
};

struct RobotsFile {
  std::string_view TextOf(const Rule& rule) const {
    return std::string_view(texts).substr(rule.offset, rule.pattern.size);
  }

  Group group = Group::kNone;
  std::vector<Rule> rules;  // of our group, in the order of the file
  std::string texts;
  std::optional<std::chrono::milliseconds> crawl_delay;
  std::vector<std::string> sitemaps;  // as written, the first so many
  uint32_t sitemaps_seen = 0;
  uint32_t groups = 0;  // in the whole file
  uint32_t lines = 0;
  size_t bytes_read = 0;
  bool cut = false;  // at max_bytes
  DeviationCounts deviations{};
  std::vector<Finding> findings;
};

// `agent`: our product token, or a text that begins with it ("nephila/1.0").
// '*' or a text without a token is a crawler that no file names.
RobotsFile Parse(std::string_view text, std::string_view agent,
                 const RobotsLimits& limits);

}  // namespace nephila::robots
