#include "bench/spam_crawl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "crawl/fresh_links.h"
#include "drum/drum.h"
#include "item/admission.h"
#include "reputation/reputation.h"
#include "seen/seen.h"
#include "sim/mix.h"
#include "url/record_keys.h"

namespace nephila::bench {
namespace {

using item::Admission;

constexpr uint64_t kSeed = 5;
constexpr size_t kPagesPerTurn = 500;
constexpr size_t kUrlsPerStep = 10'000;
constexpr uint64_t kStageMemory = uint64_t{32} << 20;
constexpr uint64_t kStageDisk = uint64_t{512} << 20;
// Stores that are full may wait for a commit.
constexpr uint64_t kDryTurnsPerCommit = 64;
constexpr uint64_t kFewestDomains = 5;
constexpr uint64_t kCoursePoints = 40;

uint64_t HashOf(const SpamPage& page) {
  return sim::Mix(sim::Mix(page.pld, page.host, page.page), page.spam ? 1 : 0);
}

class BreadthFirst final : public CrawlFrontier {
 public:
  Status AddLinks(const SpamPage& /*from*/,
                  const std::vector<SpamPage>& links) override {
    for (const SpamPage& link : links) {
      if (seen_.insert(HashOf(link)).second) queue_.push_back(link);
    }
    return {};
  }
  Result<std::vector<SpamPage>> Take(size_t max_pages) override {
    std::vector<SpamPage> pages;
    pages.reserve(std::min(max_pages, queue_.size()));
    while (pages.size() < max_pages && !queue_.empty()) {
      pages.push_back(queue_.front());
      queue_.pop_front();
    }
    return pages;
  }

 private:
  std::unordered_set<uint64_t> seen_;
  std::deque<SpamPage> queue_;
};

class Budgeted final : public CrawlFrontier {
 public:
  Budgeted(const SpamWeb& web, FileSystem& fs) : web_(web), fs_(fs) {}

  Status Open(const std::string& dir,
              const config::ReputationSettings& settings) {
    for (const char* stage : {"/seen", "/reputation", "/budget"}) {
      NEPHILA_RETURN_IF_ERROR(EnsureDir(fs_, dir + stage));
    }
    const drum::DrumContext context{fs_, clock_, workers_};
    seen::SeenOptions seen_options;
    seen_options.seed = kSeed;
    // Names of simulated pages are no files, whatever they end in.
    seen_options.settings.skip_extensions.clear();
    seen_options.memory_bytes = kStageMemory;
    seen_options.disk_bytes = kStageDisk;
    NEPHILA_TRY(seen_,
                seen::Seen::Create(context, dir + "/seen", seen_options));
    reputation::ReputationOptions reputation_options;
    reputation_options.settings = settings;
    reputation_options.seed = kSeed;
    reputation_options.memory_bytes = kStageMemory;
    reputation_options.disk_bytes = kStageDisk;
    NEPHILA_TRY(reputation_,
                reputation::Reputation::Create(context, dir + "/reputation",
                                               reputation_options));
    budget::BudgetOptions budget_options;
    budget_options.seed = kSeed;
    budget_options.drum_memory_bytes = kStageMemory;
    budget_options.drum_disk_bytes = kStageDisk;
    budget_options.queue_memory_bytes = kStageMemory;
    budget_options.function = [this] { return reputation_->MakeFunction(); };
    budget_options.degree_changed = [this](uint64_t before, uint64_t after) {
      reputation_->DegreeChanged(before, after);
    };
    budget_options.may_leave = [this] { return fresh_links_->AreIn(); };
    NEPHILA_TRY(budget_, budget::Budget::Create(context, dir + "/budget",
                                                budget_options));
    fresh_links_.emplace(*seen_, /*caps=*/nullptr, *reputation_, *budget_);
    return {};
  }

  Status AddLinks(const SpamPage& from,
                  const std::vector<SpamPage>& links) override {
    std::string text;
    const url::PldKey from_pld =
        url::KeysOf(web_.MakeRecord(from, &text), kSeed).pld;
    for (const SpamPage& link : links) {
      const item::UrlRecord record = web_.MakeRecord(link, &text);
      const url::Keys keys = url::KeysOf(record, kSeed);
      while (!pairs_.Add(from_pld, keys.pld)) {
        NEPHILA_RETURN_IF_ERROR(AddPairs());
      }
      NEPHILA_RETURN_IF_ERROR(
          UntilTaken([&] { return seen_->Add(record, keys.url); }));
    }
    return AddPairs();
  }

  Result<std::vector<SpamPage>> Take(size_t max_pages) override {
    std::vector<SpamPage> pages;
    for (bool was_idle = false;;) {
      NEPHILA_TRY(const size_t moved, Pump());
      NEPHILA_TRY(const size_t taken,
                  budget_->Take(max_pages, [&](const budget::BudgetedUrl& url) {
                    const auto record = item::ReadUrl(url.record);
                    if (record.has_value()) {
                      pages.push_back(SpamWeb::PageOf(*record));
                    }
                  }));
      if (taken > 0) return pages;
      // Or a pass was begun that the next round brings on.
      if (moved > 0 || !std::exchange(was_idle, true)) continue;
      was_idle = false;
      if (seen_->IsEmpty() && reputation_->IsEmpty() && budget_->IsEmpty()) {
        return pages;
      }
      // All have run dry: what gathers goes on now.
      NEPHILA_RETURN_IF_ERROR(seen_->Flush());
      NEPHILA_RETURN_IF_ERROR(reputation_->Flush());
      NEPHILA_RETURN_IF_ERROR(budget_->Flush());
      NEPHILA_RETURN_IF_ERROR(seen_->Wait());
      NEPHILA_RETURN_IF_ERROR(reputation_->Wait());
      NEPHILA_RETURN_IF_ERROR(budget_->Wait());
      if (++dry_turns_ % kDryTurnsPerCommit == 0) {
        NEPHILA_RETURN_IF_ERROR(Commit());
      }
    }
  }

 private:
  // Everything that is ready moves one stage on.
  Result<size_t> Pump() {
    NEPHILA_TRY(const size_t new_urls, seen_->Step(
                                           [this](std::string_view record) {
                                             return budget_->Add(record);
                                           },
                                           kUrlsPerStep));
    NEPHILA_TRY(const size_t edges,
                reputation_->Step(
                    [this](const reputation::InDegree& in_degree) {
                      return budget_->AddInDegree(in_degree.to,
                                                  in_degree.count);
                    },
                    kUrlsPerStep));
    NEPHILA_TRY(const size_t placed, budget_->Step(kUrlsPerStep));
    return new_urls + edges + placed;
  }

  Status AddPairs() {
    for (const reputation::DomainPair& pair : pairs_.pairs()) {
      NEPHILA_RETURN_IF_ERROR(
          UntilTaken([&] { return reputation_->Add(pair); }));
    }
    pairs_.Clear();
    return {};
  }

  template <typename Offer>
  Status UntilTaken(const Offer& offer) {
    for (;;) {
      NEPHILA_TRY(const Admission admission, offer());
      if (admission == Admission::kTaken) return {};
      NEPHILA_TRY(const size_t moved, Pump());
      if (moved == 0) NEPHILA_RETURN_IF_ERROR(Commit());
    }
  }

  // Files that were read are freed by commits.
  Status Commit() {
    NEPHILA_TRY(const std::string seen, seen_->BeginCommit());
    NEPHILA_TRY(const std::string reputation, reputation_->BeginCommit());
    NEPHILA_TRY(const std::string budget, budget_->BeginCommit());
    NEPHILA_RETURN_IF_ERROR(seen_->FinishCommit());
    NEPHILA_RETURN_IF_ERROR(reputation_->FinishCommit());
    return budget_->FinishCommit();
  }

  const SpamWeb& web_;
  FileSystem& fs_;
  // No time and no threads: a run is the same each time.
  ManualClock clock_;
  Workers workers_{0};
  reputation::PairAggregator pairs_{1024};
  std::unique_ptr<seen::Seen> seen_;
  std::unique_ptr<reputation::Reputation> reputation_;
  std::unique_ptr<budget::Budget> budget_;
  std::optional<crawl::FreshLinks> fresh_links_;  // as in the frontier
  uint64_t dry_turns_ = 0;
};

std::vector<SpamPage> SeedsOf(const SpamWeb& web, uint64_t wanted) {
  std::vector<SpamPage> seeds;
  const uint64_t count = std::min(wanted, web.good_domains());
  seeds.reserve(count);
  for (uint64_t pld = 0; pld < count; ++pld) {
    seeds.push_back({pld, 0, 0, false});
  }
  return seeds;
}

// Ranks from 1; equal values share the mean of theirs.
std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<double> ranks;
  ranks.reserve(values.size());
  for (const double value : values) {
    const auto below = static_cast<double>(
        std::count_if(values.begin(), values.end(),
                      [&](double other) { return other < value; }));
    const auto equal =
        static_cast<double>(std::count(values.begin(), values.end(), value));
    ranks.push_back(below + (equal + 1) / 2);
  }
  return ranks;
}

}  // namespace

std::unique_ptr<CrawlFrontier> MakeBreadthFirst() {
  return std::make_unique<BreadthFirst>();
}

Result<std::unique_ptr<CrawlFrontier>> MakeBudgeted(
    const SpamWeb& web, FileSystem& fs, const std::string& dir,
    const config::ReputationSettings& settings) {
  auto frontier = std::make_unique<Budgeted>(web, fs);
  NEPHILA_RETURN_IF_ERROR(frontier->Open(dir, settings));
  return std::unique_ptr<CrawlFrontier>(std::move(frontier));
}

Result<SpamCrawlResult> RunSpamCrawl(const SpamWeb& web,
                                     CrawlFrontier& frontier,
                                     const SpamCrawlOptions& options) {
  const auto domain_of = [&](const SpamPage& page) {
    return page.spam ? web.good_domains() + page.pld : page.pld;
  };
  SpamCrawlResult result;
  std::unordered_set<uint64_t> edges;
  std::vector<SpamPage> links = SeedsOf(web, options.seeds);
  NEPHILA_RETURN_IF_ERROR(frontier.AddLinks(links[0], links));
  const auto fetches = [&] { return result.good.size() + result.spam_fetches; };
  const auto is_over = [&] {
    return options.good_pages > 0 ? result.good.size() >= options.good_pages
                                  : fetches() >= options.pages;
  };
  while (!is_over()) {
    NEPHILA_TRY(const std::vector<SpamPage> turn, frontier.Take(kPagesPerTurn));
    if (turn.empty()) break;
    for (const SpamPage& page : turn) {
      if (is_over()) break;
      if (page.spam) {
        ++result.spam_fetches;
      } else {
        result.good.push_back(page);
      }
      ++result.pages_of[domain_of(page)];
      if (fetches() * kCoursePoints >=
          options.pages * (result.course.size() + 1)) {
        result.course.push_back(result.spam_fetches);
      }
      links.clear();
      web.AppendLinks(page, &links);
      for (const SpamPage& link : links) {
        const uint64_t from = domain_of(page);
        const uint64_t to = domain_of(link);
        if (from != to && edges.insert(sim::Mix(from, to)).second) {
          ++result.in_degree_of[to];
        }
      }
      NEPHILA_RETURN_IF_ERROR(frontier.AddLinks(page, links));
    }
  }
  return result;
}

std::vector<InDegreeClass> InDegreeClasses(const SpamWeb& web,
                                           const SpamCrawlResult& result) {
  struct Sums {
    uint64_t domains = 0;
    uint64_t pages = 0;
  };
  std::map<uint64_t, Sums> sums;
  for (const auto& [domain, in_degree] : result.in_degree_of) {
    if (domain >= web.good_domains()) continue;
    Sums& found = sums[std::bit_floor(in_degree)];
    ++found.domains;
    const auto pages = result.pages_of.find(domain);
    if (pages != result.pages_of.end()) found.pages += pages->second;
  }
  std::vector<InDegreeClass> classes;
  classes.reserve(sums.size());
  for (const auto& [in_degree, found] : sums) {
    if (found.domains < kFewestDomains) continue;
    classes.push_back({in_degree, found.domains,
                       static_cast<double>(found.pages) /
                           static_cast<double>(found.domains)});
  }
  return classes;
}

double InDegreeCorrelation(const std::vector<InDegreeClass>& classes) {
  std::vector<double> means;
  means.reserve(classes.size());
  for (const InDegreeClass& one : classes) {
    means.push_back(one.pages_per_domain);
  }
  const std::vector<double> ranks = RanksOf(means);
  const double middle = (static_cast<double>(classes.size()) + 1) / 2;
  double product = 0;
  double square_a = 0;
  double square_b = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    // Classes ascend, so that their own ranks are 1, 2, 3.
    const double a = static_cast<double>(i + 1) - middle;
    const double b = ranks[i] - middle;
    product += a * b;
    square_a += a * a;
    square_b += b * b;
  }
  const double scale = std::sqrt(square_a * square_b);
  return scale == 0 ? 0 : product / scale;
}

double GoodCoverage(const SpamCrawlResult& result,
                    const SpamCrawlResult& alone) {
  std::unordered_set<uint64_t> found;
  for (const SpamPage& page : result.good) found.insert(HashOf(page));
  const size_t wanted = std::min(alone.good.size(), result.good.size());
  if (wanted == 0) return 0;
  uint64_t both = 0;
  for (size_t i = 0; i < wanted; ++i)
    both += found.count(HashOf(alone.good[i]));
  return static_cast<double>(both) / static_cast<double>(wanted);
}

}  // namespace nephila::bench
