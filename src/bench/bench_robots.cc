#include "bench/bench_robots.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/cpu_time.h"
#include "bench/corpus.h"
#include "robots/matcher.h"
#include "url/parser.h"

namespace nephila::bench {
namespace {

// Paths that each file is asked about, beside those of its own rules.
constexpr size_t kPathsOfLinks = 30;
constexpr size_t kPathsOfRules = 30;
// Of all files: what a DRUM record of a host keeps inline.
constexpr size_t kInlineBytes = size_t{4} << 10;

struct CompiledFile {
  std::string bytes;
  std::vector<std::string> paths;
};

struct Totals {
  uint64_t text_bytes = 0;
  uint64_t compiled_bytes = 0;
  uint64_t small = 0;  // at most kInlineBytes
  uint64_t rules = 0;
  uint64_t wild_rules = 0;
  uint64_t matches = 0;
  uint64_t allowed = 0;
  uint64_t deviating = 0;  // files
  uint64_t worst_match_steps = 0;
  std::array<uint64_t, robots::kDeviationCount> deviations{};  // files
};

struct Pass {
  double parse_ns = 0;
  double open_ns = 0;
  double match_ns = 0;
};

std::vector<std::string> LinkPaths() {
  std::vector<std::string> paths;
  auto corpus = LoadUrls("");
  if (!corpus) return {"/"};
  url::Url url;
  for (const std::string& text : corpus->urls) {
    if (paths.size() == 100000) break;
    if (!url::Parse(text, nullptr, &url) || !url.is_http()) continue;
    paths.emplace_back(robots::MatchedPart(url));
  }
  return paths;
}

class RobotsBench {
 public:
  RobotsBench(const RobotsCorpus& corpus, const BenchRobotsOptions& options,
              const robots::RobotsLimits& limits)
      : corpus_(corpus), options_(options), limits_(limits) {}

  // What every file becomes, and whether both ways of matching agree on it.
  Status Prepare() {
    std::vector<std::string> links = LinkPaths();
    size_t next_link = 0;
    files_.reserve(corpus_.files.size());
    for (const std::string& text : corpus_.files) {
      robots::RobotsFile file = robots::Parse(text, options_.agent, limits_);
      Count(text, file);
      CompiledFile compiled{robots::CompileRules(file), {}};
      totals_.compiled_bytes += compiled.bytes.size();
      if (compiled.bytes.size() <= kInlineBytes) ++totals_.small;
      for (size_t i = 0; i < kPathsOfLinks; ++i) {
        compiled.paths.push_back(links[next_link++ % links.size()]);
      }
      for (size_t i = 0; i < std::min(kPathsOfRules, file.rules.size()); ++i) {
        std::string path(file.TextOf(file.rules[i]));
        std::replace(path.begin(), path.end(), '*', 'x');
        compiled.paths.push_back(path + "index.html");
      }
      NEPHILA_RETURN_IF_ERROR(Check(compiled));
      files_.push_back(std::move(compiled));
    }
    return {};
  }

  Result<Pass> RunPass() {
    Pass pass;
    double begin = ThreadCpuSeconds();
    size_t sum = 0;
    for (const std::string& text : corpus_.files) {
      sum += robots::CompileRules(robots::Parse(text, options_.agent, limits_))
                 .size();
    }
    pass.parse_ns = 1e9 * (ThreadCpuSeconds() - begin);
    if (sum != totals_.compiled_bytes) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              "robots: another result in another pass"});
    }
    begin = ThreadCpuSeconds();
    for (const CompiledFile& file : files_) {
      NEPHILA_TRY(robots::Rules rules, robots::Rules::Open(file.bytes));
      sum += rules.rule_count();
    }
    pass.open_ns = 1e9 * (ThreadCpuSeconds() - begin);
    for (const CompiledFile& file : files_) {
      NEPHILA_TRY(robots::Rules rules, robots::Rules::Open(file.bytes));
      robots::Matcher matcher(rules);
      begin = ThreadCpuSeconds();
      for (const std::string& path : file.paths) {
        sum += matcher.Match(path).line;
      }
      pass.match_ns += 1e9 * (ThreadCpuSeconds() - begin);
    }
    checksum_ += sum;
    return pass;
  }

  const Totals& totals() const { return totals_; }
  uint64_t checksum() const { return checksum_; }

 private:
  void Count(const std::string& text, const robots::RobotsFile& file) {
    totals_.text_bytes += text.size();
    totals_.rules += file.rules.size();
    bool deviates = false;
    for (size_t i = 0; i < file.deviations.size(); ++i) {
      if (file.deviations[i] == 0) continue;
      deviates = true;
      ++totals_.deviations[i];
    }
    if (deviates) ++totals_.deviating;
  }

  Status Check(const CompiledFile& file) {
    NEPHILA_TRY(robots::Rules rules, robots::Rules::Open(file.bytes));
    totals_.wild_rules += rules.wild_count();
    robots::Matcher each(rules, robots::WildWay::kEach);
    robots::Matcher scan(rules, robots::WildWay::kScan);
    for (const std::string& path : file.paths) {
      uint64_t before = each.steps();
      robots::Answer answer = each.Match(path);
      totals_.worst_match_steps =
          std::max(totals_.worst_match_steps, each.steps() - before);
      if (scan.Match(path).rule != answer.rule) {
        return Unexpected(Error{ErrorCode::kCorruption,
                                "robots: two ways, two answers for " + path});
      }
      ++totals_.matches;
      if (answer.allowed) ++totals_.allowed;
    }
    return {};
  }

  const RobotsCorpus& corpus_;
  const BenchRobotsOptions& options_;
  const robots::RobotsLimits limits_;
  std::vector<CompiledFile> files_;
  Totals totals_;
  uint64_t checksum_ = 0;
};

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::ordered_json Report(const RobotsCorpus& corpus, const Totals& totals,
                              const Pass& best) {
  uint64_t files = corpus.files.size();
  auto count = static_cast<double>(files);
  nlohmann::ordered_json line;
  line["bench"] = "robots";
  line["source"] = corpus.source;
  line["files"] = files;
  line["bytes"] = totals.text_bytes;
  line["mb_per_s"] =
      static_cast<double>(totals.text_bytes) * 1e3 / best.parse_ns;
  line["ns_per_open"] = best.open_ns / count;
  line["ns_per_match"] = best.match_ns / static_cast<double>(totals.matches);
  line["worst_match_steps"] = totals.worst_match_steps;
  line["matches"] = totals.matches;
  line["allowed_share"] = Ratio(totals.allowed, totals.matches);
  line["rules_per_file"] = Ratio(totals.rules, files);
  line["wild_rules_per_file"] = Ratio(totals.wild_rules, files);
  line["compiled_bytes_per_file"] = Ratio(totals.compiled_bytes, files);
  line["inline_share"] = Ratio(totals.small, files);
  line["deviating_share"] = Ratio(totals.deviating, files);
  line["deviations"] = nlohmann::ordered_json::object();
  for (size_t i = 0; i < robots::kDeviationCount; ++i) {
    line["deviations"][std::string(robots::kDeviationNames[i])] =
        totals.deviations[i];
  }
  return line;
}

void PrintText(const nlohmann::ordered_json& line, std::ostream& out) {
  auto number = [&line](const char* name) { return line[name].get<double>(); };
  out << fmt::format(
      "{} files of {}: {:.1f} rules each for our agent, {:.1f} of them with a "
      "star\n"
      "parse and compile: {:.0f} MB/s, {:.0f} bytes a file, {:.1f} % within "
      "{} bytes\n"
      "open: {:.0f} ns; match: {:.0f} ns (of {:.0f}, the worst {:.0f} bytes "
      "compared)\n"
      "{:.1f} % of the files deviate:\n",
      line["files"].get<uint64_t>(), line["source"].get<std::string>(),
      number("rules_per_file"), number("wild_rules_per_file"),
      number("mb_per_s"), number("compiled_bytes_per_file"),
      100 * number("inline_share"), kInlineBytes, number("ns_per_open"),
      number("ns_per_match"), number("matches"), number("worst_match_steps"),
      100 * number("deviating_share"));
  for (const auto& [name, files] : line["deviations"].items()) {
    if (files != 0) {
      out << fmt::format("  {} in {} files\n", name, files.get<uint64_t>());
    }
  }
}

}  // namespace

Status RunBenchRobots(const cli::Setup& setup,
                      const BenchRobotsOptions& options, std::ostream& out) {
  NEPHILA_TRY(RobotsCorpus corpus, LoadRobots(options.corpus));
  RobotsBench bench(corpus, options,
                    robots::RobotsLimits(setup.settings.robots));
  NEPHILA_RETURN_IF_ERROR(bench.Prepare());
  Pass best{1e300, 1e300, 1e300};
  for (int i = 0; i < options.passes; ++i) {
    NEPHILA_TRY(Pass pass, bench.RunPass());
    best.parse_ns = std::min(best.parse_ns, pass.parse_ns);
    best.open_ns = std::min(best.open_ns, pass.open_ns);
    best.match_ns = std::min(best.match_ns, pass.match_ns);
  }
  nlohmann::ordered_json line = Report(corpus, bench.totals(), best);
  if (!options.json) {
    PrintText(line, out);
    return {};
  }
  line["checksum"] = fmt::format("{:016x}", bench.checksum());
  out << line.dump() << '\n';
  return {};
}

}  // namespace nephila::bench
