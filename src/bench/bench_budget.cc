#include "bench/bench_budget.h"

#include <fmt/core.h>

#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "base/workers.h"
#include "budget/budget.h"
#include "config/settings.h"
#include "item/budget_function.h"
#include "item/url_record.h"
#include "model/beast_model.h"

namespace nephila::bench {
namespace {

using budget::Budget;
using budget::BudgetStats;
using item::Admission;

constexpr size_t kUrlsPerTurn = 1000;
constexpr uint64_t kPagesPerCommit = 50'000;
constexpr uint64_t kDryTurnsPerCommit = 64;

// The n-th URL of the crawl, as text of the usual length.
void MakeRecord(uint64_t n, uint64_t domain, std::string& bytes) {
  const std::string host = fmt::format("www.domain{}.example", domain);
  const std::string url =
      fmt::format("http://{}/folder{}/page-{}.html", host, n % 100, n);
  const std::string parent = fmt::format("http://{}/", host);
  item::UrlRecord record;
  record.url = url;
  record.host_start = 7;
  record.host_size = static_cast<uint32_t>(host.size());
  record.pld_size = record.host_size - 4;
  record.depth = 5;
  record.hop_path = "LLLLL";
  record.parent = parent;
  record.entry = n / 8;
  record.ordinal = n % 8;
  bytes.clear();
  AppendUrlRecord(record, bytes);
}

// What had happened when an iteration ended.
struct Mark {
  uint64_t pages = 0;
  uint64_t moves = 0;
  uint64_t disk_bytes = 0;
};

struct Iteration {
  uint64_t number = 0;
  uint64_t pages = 0;  // of the whole crawl
  uint64_t queues = 0;
  double moves_per_page = 0;
  double disk_bytes_per_page = 0;
  // Since the crawl began.
  double all_moves_per_page = 0;
  double all_disk_bytes_per_page = 0;
};

class GrowingCrawl {
 public:
  GrowingCrawl(const BenchBudgetOptions& options, uint64_t max_queues,
               FileSystem& fs, std::string dir)
      : options_(options),
        max_queues_(max_queues),
        fs_(fs),
        dir_(std::move(dir)) {}

  // Tells `report` of all iterations if they become longer, else of those
  // whose numbers are powers of two.
  template <typename Report>
  Status Run(const Report& report) {
    NEPHILA_TRY(budget_,
                Budget::Create({fs_, clock_, workers_}, dir_, MakeOptions()));
    for (uint64_t domain = 0; domain < options_.domains; ++domain) {
      NEPHILA_RETURN_IF_ERROR(AddUrl(domain));
    }
    while (pages_ < options_.pages) {
      NEPHILA_RETURN_IF_ERROR(Turn());
      const BudgetStats stats = budget_->stats();
      if (stats.splits == splits_) continue;
      splits_ = stats.splits;
      const Mark now = MarkOf(stats);
      if (max_queues_ > 1 || std::has_single_bit(splits_)) {
        report(Compare(now, stats));
      }
      mark_ = now;
    }
    return {};
  }

 private:
  budget::BudgetOptions MakeOptions() const {
    budget::BudgetOptions options;
    options.settings.first_queues = 1;
    options.settings.max_queues = static_cast<int64_t>(max_queues_);
    options.drum_memory_bytes = options_.memory_bytes / 2;
    options.queue_memory_bytes = options_.memory_bytes / 2;
    options.function = [budget = options_.budget] {
      return item::EncodeBudgetFunction(config::BudgetPolicy::kEqual, budget,
                                        budget, {});
    };
    return options;
  }

  Status AddUrl(uint64_t domain) {
    MakeRecord(next_url_++, domain, record_);
    for (;;) {
      NEPHILA_TRY(const Admission admission, budget_->Add(record_));
      if (admission == Admission::kTaken) return {};
      NEPHILA_TRY(const size_t moved, budget_->Step(kUrlsPerTurn));
      if (moved == 0) NEPHILA_RETURN_IF_ERROR(Commit());
    }
  }

  // Crawls some pages and moves on what can be.
  Status Turn() {
    NEPHILA_TRY(const size_t moved, budget_->Step(kUrlsPerTurn));
    NEPHILA_TRY(const size_t taken,
                budget_->Take(kUrlsPerTurn, [](const budget::BudgetedUrl&) {}));
    for (size_t i = 0; i < taken; ++i) {
      ++pages_;
      links_due_ += options_.links;
      for (; links_due_ >= 1; links_due_ -= 1) {
        NEPHILA_RETURN_IF_ERROR(AddUrl(random_.Below(options_.domains)));
      }
    }
    if (taken == 0 && moved == 0) {
      NEPHILA_RETURN_IF_ERROR(budget_->Flush());
      NEPHILA_RETURN_IF_ERROR(budget_->Wait());
      // A store that is full may wait for a commit.
      if (++dry_turns_ % kDryTurnsPerCommit == 0) return Commit();
    }
    if (pages_ - committed_ < kPagesPerCommit) return {};
    committed_ = pages_;
    return Commit();
  }

  Status Commit() {
    NEPHILA_TRY(const std::string commit, budget_->BeginCommit());
    return budget_->FinishCommit();
  }

  Mark MarkOf(const BudgetStats& stats) const {
    return {pages_, stats.queue_writes + stats.queue_reads,
            stats.drum.bytes_read + stats.drum.bytes_written +
                stats.queue_set.bytes_read + stats.queue_set.bytes_written};
  }

  Iteration Compare(const Mark& now, const BudgetStats& stats) const {
    Iteration iteration;
    iteration.number = stats.splits;
    iteration.pages = now.pages;
    iteration.queues = stats.queues;
    const auto pages = static_cast<double>(now.pages - mark_.pages);
    if (pages == 0) return iteration;
    iteration.moves_per_page =
        static_cast<double>(now.moves - mark_.moves) / pages;
    iteration.disk_bytes_per_page =
        static_cast<double>(now.disk_bytes - mark_.disk_bytes) / pages;
    const auto all_pages = static_cast<double>(now.pages);
    iteration.all_moves_per_page = static_cast<double>(now.moves) / all_pages;
    iteration.all_disk_bytes_per_page =
        static_cast<double>(now.disk_bytes) / all_pages;
    return iteration;
  }

  const BenchBudgetOptions& options_;
  const uint64_t max_queues_;
  FileSystem& fs_;
  const std::string dir_;
  RealClock clock_;
  Workers workers_{1};
  Random random_{1};
  std::unique_ptr<Budget> budget_;
  std::string record_;
  uint64_t next_url_ = 0;
  uint64_t pages_ = 0;
  uint64_t committed_ = 0;
  uint64_t dry_turns_ = 0;
  double links_due_ = 0;
  uint64_t splits_ = 0;
  Mark mark_;
};

model::BeastParameters ParametersOf(const BenchBudgetOptions& options) {
  model::BeastParameters parameters;
  // In moves for a page: URLs of one byte, a page a second.
  parameters.url_bytes = 1;
  parameters.pages_per_s = 1;
  parameters.unique_links = options.links;
  parameters.mean_budget = options.budget;
  parameters.domains = static_cast<double>(options.domains);
  return parameters;
}

void Print(const BenchBudgetOptions& options, bool naive,
           const Iteration& iteration, std::ostream& out) {
  const model::BeastParameters parameters = ParametersOf(options);
  const auto pages = static_cast<double>(iteration.pages);
  const double theorem = naive ? model::NaiveDiskSpeed(parameters, pages)
                               : model::DoublingDiskSpeed(parameters, pages);
  const double queues = naive ? 1 : model::QueuesByPaper(parameters, pages);
  const std::string_view method = naive ? "naive" : "beast";
  if (!options.json) {
    out << fmt::format(
        "{}: iteration {}, {} pages, {} queues (eq. 11: {:.0f}): {:.1f} moves "
        "a page (theorem {}: {:.1f}), {:.0f} bytes of disk a page; so far "
        "{:.1f} "
        "moves, {:.0f} bytes a page\n",
        method, iteration.number, iteration.pages, iteration.queues, queues,
        iteration.moves_per_page, naive ? 6 : 7, theorem,
        iteration.disk_bytes_per_page, iteration.all_moves_per_page,
        iteration.all_disk_bytes_per_page);
    return;
  }
  nlohmann::ordered_json line;
  line["bench"] = "budget";
  line["method"] = method;
  line["iteration"] = iteration.number;
  line["pages"] = iteration.pages;
  line["queues"] = iteration.queues;
  line["queues_by_paper"] = queues;
  line["moves_per_page"] = iteration.moves_per_page;
  line["moves_by_theorem"] = theorem;
  line["disk_bytes_per_page"] = iteration.disk_bytes_per_page;
  line["all_moves_per_page"] = iteration.all_moves_per_page;
  line["all_disk_bytes_per_page"] = iteration.all_disk_bytes_per_page;
  out << line.dump() << '\n' << std::flush;
}

}  // namespace

Status RunBenchBudget(const BenchBudgetOptions& options, std::ostream& out) {
  const auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const uint64_t unique, RandomSeed());
  const std::string directory = fmt::format(
      "{}/nephila-bench-budget-{:08x}",
      options.directory.empty() ? "." : options.directory, unique & 0xFFFFFFFF);
  const auto run = [&](bool naive) -> Status {
    const std::string dir = directory + (naive ? "/naive" : "/beast");
    NEPHILA_RETURN_IF_ERROR(EnsureDir(*fs, dir));
    GrowingCrawl crawl(options, naive ? 1 : 65'536, *fs, dir);
    return crawl.Run([&](const Iteration& iteration) {
      Print(options, naive, iteration, out);
    });
  };
  Status status = run(false);
  if (status.has_value()) status = run(true);
  IgnoreError(RemoveAll(*fs, directory), "the result is the run's");
  return status;
}

}  // namespace nephila::bench
