#include "bench/bench_spam.h"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "bench/spam_crawl.h"
#include "bench/spam_web.h"
#include "config/settings.h"

namespace nephila::bench {
namespace {

struct Line {
  std::string_view frontier;
  uint64_t ring = 0;
  uint64_t domains = 0;
  uint64_t spam_domains = 0;
  uint64_t fetches = 0;
  double spam_share = 0;
  std::optional<double> good_coverage;
  double in_degree_correlation = 0;
};

Line MakeLine(std::string_view frontier, uint64_t ring, const SpamWeb& web,
              const SpamCrawlResult& result) {
  Line line;
  line.frontier = frontier;
  line.ring = ring;
  line.domains = web.good_domains() + web.spam_domains();
  line.spam_domains = web.spam_domains();
  line.fetches = result.good.size() + result.spam_fetches;
  if (line.fetches > 0) {
    line.spam_share = static_cast<double>(result.spam_fetches) /
                      static_cast<double>(line.fetches);
  }
  line.in_degree_correlation = InDegreeCorrelation(web, result);
  return line;
}

void Print(const Line& line, bool as_json, std::ostream& out) {
  if (!as_json) {
    out << fmt::format(
        "rings of {}, {}: {} pages, {:.1f} % spam, correlation of in-degree "
        "and pages {:.2f}",
        line.ring, line.frontier, line.fetches, 100 * line.spam_share,
        line.in_degree_correlation);
    if (line.good_coverage.has_value()) {
      out << fmt::format(", {:.1f} % of the good pages of a web without spam",
                         100 * *line.good_coverage);
    }
    out << '\n';
    return;
  }
  nlohmann::ordered_json json;
  json["bench"] = "spam";
  json["frontier"] = line.frontier;
  json["ring"] = line.ring;
  json["domains"] = line.domains;
  json["spam_domains"] = line.spam_domains;
  json["pages"] = line.fetches;
  json["spam_share"] = line.spam_share;
  json["good_coverage"] = nullptr;
  if (line.good_coverage.has_value()) {
    json["good_coverage"] = *line.good_coverage;
  }
  json["in_degree_correlation"] = line.in_degree_correlation;
  out << json.dump() << '\n';
}

class SpamBench {
 public:
  SpamBench(const BenchSpamOptions& options, FileSystem& fs, std::string dir,
            std::ostream& out)
      : options_(options), fs_(fs), dir_(std::move(dir)), out_(out) {
    settings_.top_k = options.top_k;
  }

  Status Run(uint64_t ring) {
    SpamWebOptions with_spam;
    with_spam.hosts = options_.hosts;
    with_spam.ring = ring;
    NEPHILA_TRY(const SpamWeb web, SpamWeb::Make(with_spam));
    {
      // Out of memory before the next begins.
      const auto breadth_first = MakeBreadthFirst();
      NEPHILA_TRY(const SpamCrawlResult result,
                  RunSpamCrawl(web, *breadth_first, options_.pages, 0));
      Print(MakeLine("breadth-first", ring, web, result), options_.json, out_);
    }
    NEPHILA_TRY(const SpamCrawlResult result,
                RunBudgeted(web, fmt::format("{}-with", ring), 0));
    SpamWebOptions without_spam = with_spam;
    without_spam.with_spam = false;
    NEPHILA_TRY(const SpamWeb good_web, SpamWeb::Make(without_spam));
    NEPHILA_TRY(const SpamCrawlResult alone,
                RunBudgeted(good_web, fmt::format("{}-without", ring),
                            result.good.size()));
    Line line = MakeLine("budgets", ring, web, result);
    line.good_coverage = GoodCoverage(result, alone);
    Print(line, options_.json, out_);
    return {};
  }

 private:
  Result<SpamCrawlResult> RunBudgeted(const SpamWeb& web,
                                      const std::string& name,
                                      uint64_t good_pages) {
    NEPHILA_TRY(const auto frontier,
                MakeBudgeted(web, fs_, dir_ + "/" + name, settings_));
    return RunSpamCrawl(web, *frontier, options_.pages, good_pages);
  }

  const BenchSpamOptions& options_;
  FileSystem& fs_;
  const std::string dir_;
  std::ostream& out_;
  config::ReputationSettings settings_;
};

}  // namespace

Status RunBenchSpam(const BenchSpamOptions& options, std::ostream& out) {
  const auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const uint64_t unique, RandomSeed());
  const std::string directory = fmt::format(
      "{}/nephila-bench-spam-{:08x}",
      options.directory.empty() ? "." : options.directory, unique & 0xFFFFFFFF);
  SpamBench bench(options, *fs, directory, out);
  Status status;
  for (const uint64_t ring : options.rings) {
    status = bench.Run(ring);
    if (!status.has_value()) break;
  }
  IgnoreError(RemoveAll(*fs, directory), "the result is the run's");
  return status;
}

}  // namespace nephila::bench
