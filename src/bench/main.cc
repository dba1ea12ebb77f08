// The program `nephila-bench`: its verbs and their options, one a function.

#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "bench/bench_budget.h"
#include "bench/bench_charset.h"
#include "bench/bench_coding.h"
#include "bench/bench_crawl.h"
#include "bench/bench_dns.h"
#include "bench/bench_drum.h"
#include "bench/bench_fetch.h"
#include "bench/bench_frontier.h"
#include "bench/bench_hostile.h"
#include "bench/bench_links.h"
#include "bench/bench_politeness.h"
#include "bench/bench_queue.h"
#include "bench/bench_recovery.h"
#include "bench/bench_robots.h"
#include "bench/bench_sim.h"
#include "bench/bench_spam.h"
#include "bench/bench_store.h"
#include "bench/bench_url.h"
#include "bench/hit_rates.h"
#include "bench/stores.h"
#include "cli/program.h"

namespace nephila::bench {
namespace {

class NephilaBench : public cli::Program {
 public:
  NephilaBench()
      : Program("nephila-bench", "The benchmarks of nephila",
                "docs/performance.md has their figures.") {
    AddUrl();
    AddRobots();
    AddLinks();
    AddCharset();
    AddCoding();
    AddDrum();
    AddBudget();
    AddSpam();
    AddFrontier();
    AddQueue();
    AddPoliteness();
    AddStore();
    AddFetch();
    AddSim();
    AddDns();
    AddCrawl();
    AddRecovery();
    AddHostile();
  }

 private:
  void AddUrl() {
    CLI::App* sub =
        AddVerb("url", "Cost of the stage `url` per link",
                [this](const cli::Setup& setup) {
                  return RunBenchUrl(setup, bench_url_options_, std::cout);
                });
    sub->add_option("--urls", bench_url_options_.urls_file,
                    "URLs, one a line, plain or .zst")
        ->type_name("FILE");
    sub->add_option("--passes", bench_url_options_.passes,
                    "How often all of them are gone through")
        ->check(CLI::Range(1, 1000));
    sub->add_flag("--json", bench_url_options_.json, "A line of JSON");
  }

  void AddRobots() {
    CLI::App* sub = AddVerb(
        "robots", "Reading and matching of robots.txt files",
        [this](const cli::Setup& setup) {
          return RunBenchRobots(setup, bench_robots_options_, std::cout);
        });
    sub->add_option("--corpus", bench_robots_options_.corpus,
                    "Folder of the corpus, or its robots/")
        ->type_name("DIR");
    sub->add_option("--agent", bench_robots_options_.agent,
                    "Read the files as this crawler")
        ->type_name("NAME")
        ->capture_default_str();
    sub->add_option("--passes", bench_robots_options_.passes,
                    "How often all files are gone through")
        ->check(CLI::Range(1, 1000));
    sub->add_flag("--json", bench_robots_options_.json, "A line of JSON");
  }

  void AddLinks() {
    CLI::App* sub =
        AddVerb("links", "Links found in pages, by us and by others",
                [this](const cli::Setup& setup) {
                  return RunBenchLinks(setup, bench_links_options_, std::cout);
                });
    BenchLinksOptions& options = bench_links_options_;
    sub->add_option("--corpus", options.corpus,
                    "Folder of the corpus, or its html/")
        ->type_name("DIR");
    sub->add_flag("--all", options.all, "Both archives of the corpus");
    sub->add_option("--passes", options.passes,
                    "How often all pages are gone through")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_flag("--compare", options.compare,
                  "With the reference links of the corpus, instead of time");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddCharset() {
    CLI::App* sub =
        AddVerb("charset", "How often the guess of an encoding is right",
                [this](const cli::Setup&) {
                  return RunBenchCharset(bench_charset_options_, std::cout);
                });
    sub->add_option("--corpus", bench_charset_options_.corpus,
                    "Folder of the corpus, or its html/")
        ->type_name("DIR");
    sub->add_flag("--json", bench_charset_options_.json, "Lines of JSON");
  }

  void AddFetch() {
    CLI::App* sub =
        AddVerb("fetch", "Downloads, by us and by a plain libcurl loop",
                [this](const cli::Setup& setup) {
                  cli::IgnoreBrokenPipes();
                  return RunBenchFetch(setup, bench_fetch_options_, std::cout);
                });
    BenchFetchOptions& options = bench_fetch_options_;
    sub->add_option("--mode", options.mode, "One of four, else all")
        ->check(CLI::IsMember(
            {"http-fresh", "http-kept", "https-fresh", "https-kept"}));
    sub->add_option("--rows", options.rows, "Some of three, else all")
        ->delimiter(',')
        ->check(CLI::IsMember({"libcurl", "engine", "chain"}));
    sub->add_option("--pages", options.pages, "In each mode")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    sub->add_option("--transfers", options.transfers, "At once")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    sub->add_option("--dir", options.folder,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_option("--slow", options.slow,
                    "Besides: with so many transfers that hardly move")
        ->check(CLI::Range(0, 100'000));
    sub->add_flag("--wrk", options.wrk, "Beside wrk, if it is installed");
    sub->add_flag("--memory", options.memory,
                  "Instead: memory of so many transfers at once");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddCoding() {
    CLI::App* sub =
        AddVerb("coding", "Cost of undoing gzip, by us and by others",
                [this](const cli::Setup&) {
                  return RunBenchCoding(bench_coding_options_, std::cout);
                });
    sub->add_option("--corpus", bench_coding_options_.corpus,
                    "Folder of the corpus, or its html/")
        ->type_name("DIR");
    sub->add_option("--passes", bench_coding_options_.passes,
                    "How often all pages are undone")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_flag("--json", bench_coding_options_.json,
                  "A line of JSON for each result");
  }

  void AddDns() {
    CLI::App* sub = AddVerb("dns", "Cost of a name that is resolved",
                            [this](const cli::Setup&) {
                              cli::IgnoreBrokenPipes();
                              return RunBenchDns(bench_dns_options_, std::cout);
                            });
    sub->add_option("--names", bench_dns_options_.names, "How many names")
        ->check(CLI::Range(1, 300'000));
    sub->add_option("--in-flight", bench_dns_options_.in_flight,
                    "Questions at a time")
        ->check(CLI::Range(1, 60'000));
    sub->add_option("--passes", bench_dns_options_.passes,
                    "How often all are resolved")
        ->check(CLI::Range(1, 1000));
    sub->add_flag("--json", bench_dns_options_.json, "A line of JSON");
  }

  void AddSim() {
    CLI::App* sub = AddVerb("sim", "Cost of a page of the simulated web",
                            [this](const cli::Setup&) {
                              cli::IgnoreBrokenPipes();
                              return RunBenchSim(bench_sim_options_, std::cout);
                            });
    sub->add_option("--passes", bench_sim_options_.passes,
                    "How often 200 pages are made")
        ->check(CLI::Range(1, 100'000));
    sub->add_flag("--json", bench_sim_options_.json, "A line of JSON");
  }

  void AddDrum() {
    CLI::App* sub =
        AddVerb("drum", "Links through a store that lets each through once",
                [this](const cli::Setup&) { return RunDrum(); });
    BenchDrumOptions& options = bench_drum_options_;
    std::string names;
    for (std::string_view name : StoreNames()) names.append(" ").append(name);
    sub->add_option("--store", options.store, "One of:" + names)
        ->capture_default_str();
    sub->add_option("--links", links_,
                    "How many, as 10M or 1B [10M; hit rates: 20M]");
    sub->add_option("--unique", options.unique_share, "Share of new links")
        ->capture_default_str();
    sub->add_option("--preload", preload_, "Keys in the store before")
        ->capture_default_str();
    sub->add_option("--memory", memory_, "For the store: 512MiB")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk", disk_, "For what waits on disk: 4GiB")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--threads", options.threads,
                    "Of the store, in the background")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    sub->add_option("--codec", codec_, "Of the text that waits in our store")
        ->check(CLI::IsMember({"auto", "none", "lz4", "zstd"}))
        ->capture_default_str();
    sub->add_flag("--page-cache", options.page_cache,
                  "Our store without direct I/O");
    sub->add_option("--text", options.text_file,
                    "Links from the lines of a file, plain or .zst")
        ->type_name("FILE");
    sub->add_flag("--shuffled", options.shuffled,
                  "Distinct links in random order");
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON");
    sub->add_option("--time-limit", options.time_limit_s,
                    "End the run after SECONDS")
        ->type_name("SECONDS");
    sub->add_option("--load-limit", options.load_limit_s,
                    "Give up the preload after SECONDS")
        ->type_name("SECONDS")
        ->capture_default_str();
    sub->add_option("--seed", options.seed, "Of the stream")
        ->capture_default_str();
    AddHitRates(sub);
  }

  void AddHitRates(CLI::App* sub) {
    model::Machine& machine = bench_drum_options_.machine;
    sub->add_flag("--hit-rates", hit_rates_,
                  "No store: what caches of recent links would catch, and "
                  "whether they pay, on a machine with");
    sub->add_option("--cores", machine.cores, "so many cores")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    sub->add_option("--disk-speed", disk_speed_, "a disk of bytes a second")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk-share", machine.disk_share,
                    "of which the store may have this")
        ->check(CLI::Range(0.001, 1.0))
        ->capture_default_str();
  }

  void AddQueue() {
    CLI::App* sub = AddVerb("queue", "Records through queues on disk",
                            [this](const cli::Setup&) { return RunQueue(); });
    BenchQueueOptions& options = bench_queue_options_;
    sub->add_option("--records", records_, "How many, as 2M")
        ->capture_default_str();
    sub->add_option("--queues", options.queues, "Spread over so many queues")
        ->check(CLI::Range(1, 1'000'000))
        ->delimiter(',')
        ->capture_default_str();
    sub->add_option("--codec", queue_codec_, "Of the blocks; without one, all")
        ->check(CLI::IsMember({"none", "lz4", "zstd"}));
    sub->add_option("--memory", queue_memory_, "For all queues")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--urls", options.urls_file,
                    "URLs, one a line, plain or .zst")
        ->type_name("FILE");
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddPoliteness() {
    CLI::App* sub =
        AddVerb("politeness", "What a lease costs", [this](const cli::Setup&) {
          return RunBenchPoliteness(bench_politeness_options_, std::cout);
        });
    BenchPolitenessOptions& options = bench_politeness_options_;
    sub->add_option("--hosts", options.hosts, "So many in memory")
        ->check(CLI::Range(1, 10'000'000))
        ->delimiter(',')
        ->capture_default_str();
    sub->add_option("--leases", options.leases, "How many are taken")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  Status RunQueue() {
    BenchQueueOptions& options = bench_queue_options_;
    NEPHILA_TRY(options.records, ParseCount(records_));
    NEPHILA_TRY(options.memory_bytes, ParseSize(queue_memory_));
    if (!queue_codec_.empty()) {
      NEPHILA_TRY(const Codec codec, ParseCodec(queue_codec_));
      options.codecs = {codec};
    }
    return RunBenchQueue(options, std::cout);
  }

  void AddBudget() {
    CLI::App* sub =
        AddVerb("budget", "Moves of a URL on disk by queues that double",
                [this](const cli::Setup&) {
                  return RunBenchBudget(bench_budget_options_, std::cout);
                });
    BenchBudgetOptions& options = bench_budget_options_;
    sub->add_option("--pages", options.pages, "Pages that are crawled")
        ->capture_default_str();
    sub->add_option("--domains", options.domains, "Domains of the web")
        ->check(CLI::Range(1, 100'000'000))
        ->capture_default_str();
    sub->add_option("--links", options.links, "New URLs a page")
        ->check(CLI::Range(1.0, 1000.0))
        ->capture_default_str();
    sub->add_option("--budget", options.budget, "Of each domain")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddSpam() {
    CLI::App* sub =
        AddVerb("spam", "Budgets against link farms, beside breadth-first",
                [this](const cli::Setup&) {
                  return RunBenchSpam(bench_spam_options_, std::cout);
                });
    BenchSpamOptions& options = bench_spam_options_;
    sub->add_option("--pages", options.pages, "Pages that are crawled")
        ->capture_default_str();
    sub->add_option("--hosts", options.hosts, "Good hosts of the web")
        ->check(CLI::Range(1000, 100'000'000))
        ->capture_default_str();
    sub->add_option("--ring", options.rings,
                    "Domains of a farm, which link to each other; several "
                    "are run in turn")
        ->capture_default_str();
    sub->add_option("--seeds", options.seeds,
                    "Home pages of the best known domains to begin with")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    sub->add_option("--entries", options.entries,
                    "Good pages of a thousand that link to a farm")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_option("--spam-links", options.spam_links, "Links of a spam page")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    sub->add_option("--top-k", options.top_k,
                    "reputation.top_k, a number or a share")
        ->capture_default_str();
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddFrontier() {
    CLI::App* sub =
        AddVerb("frontier", "A frontier that grows: rate, memory and disk",
                [this](const cli::Setup&) { return RunFrontier(); });
    BenchFrontierOptions& options = bench_frontier_options_;
    sub->add_option("--waiting", waiting_, "Ends when so many URLs wait: 10M")
        ->capture_default_str();
    sub->add_option("--memory", frontier_memory_, "crawl.memory")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk", frontier_disk_, "crawl.disk")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--merge-threads", options.merge_threads,
                    "crawl.merge_threads")
        ->check(CLI::Range(0, 64))
        ->capture_default_str();
    sub->add_option("--domains", options.web.domains, "Of the web")
        ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000'000}))
        ->capture_default_str();
    sub->add_option("--links", options.web.links, "Of a page")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    sub->add_option("--new", options.web.new_links,
                    "Of those, to pages that nobody has linked to")
        ->check(CLI::Range(0, 10'000))
        ->capture_default_str();
    sub->add_option("--time-limit", options.time_limit_s,
                    "End the run after SECONDS")
        ->type_name("SECONDS");
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  Status RunFrontier() {
    BenchFrontierOptions& options = bench_frontier_options_;
    NEPHILA_TRY(options.waiting, ParseCount(waiting_));
    NEPHILA_TRY(options.memory_bytes, ParseSize(frontier_memory_));
    NEPHILA_TRY(options.disk_bytes, ParseSize(frontier_disk_));
    if (options.web.new_links > options.web.links) {
      return Unexpected(
          Error{ErrorCode::kInvalidArgument, "--new: not more than --links"});
    }
    return RunBenchFrontier(options, std::cout);
  }

  void AddCrawl() {
    CLI::App* sub = AddVerb(
        "crawl", "Whole crawlers on the same site, or a broad crawl of ours",
        [this](const cli::Setup&) {
          BenchCrawlOptions& options = bench_crawl_options_;
          options.limit = std::chrono::seconds(crawl_limit_s_);
          options.broad_options.time = std::chrono::seconds(broad_time_s_);
          cli::IgnoreBrokenPipes();
          return RunBenchCrawl(options, std::cout);
        });
    BenchCrawlOptions& options = bench_crawl_options_;
    sub->add_option("--pages", options.pages, "Of the site on nginx")
        ->check(CLI::Range(uint64_t{10}, uint64_t{10'000'000}))
        ->capture_default_str();
    sub->add_flag("--https", options.https, "The site by HTTPS");
    sub->add_option("--crawlers", options.crawlers,
                    "Some of nephila, wget, wget-warc, wget2, httrack, scrapy")
        ->delimiter(',');
    sub->add_option("--rounds", options.rounds,
                    "So often, the best by the clock counts")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    sub->add_option("--limit", crawl_limit_s_, "Of one crawler")
        ->type_name("SECONDS")
        ->capture_default_str();
    sub->add_flag("--broad", options.broad,
                  "A broad crawl of the simulated web, by nephila alone");
    sub->add_option("--hosts", options.broad_options.hosts, "Of that web")
        ->capture_default_str();
    sub->add_option("--addresses", options.broad_options.addresses,
                    "That its hosts are on")
        ->capture_default_str();
    sub->add_option("--seeds", options.broad_options.seeds,
                    "Home pages that the broad crawl begins with")
        ->capture_default_str();
    sub->add_option("--time", broad_time_s_, "Of the broad crawl")
        ->type_name("SECONDS")
        ->check(CLI::Range(10, 86'400))
        ->capture_default_str();
    sub->add_option("--memory", options.broad_options.memory, "crawl.memory")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--with", options.settings,
                    "A setting of nephila's crawl; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  void AddRecovery() {
    CLI::App* sub =
        AddVerb("recovery", "A large job is killed and started again",
                [this](const cli::Setup&) -> Status {
                  BenchRecoveryOptions& options = bench_recovery_options_;
                  NEPHILA_TRY(options.known, ParseCount(known_));
                  options.run = std::chrono::seconds(recovery_run_s_);
                  cli::IgnoreBrokenPipes();
                  return RunBenchRecovery(options, std::cout);
                });
    BenchRecoveryOptions& options = bench_recovery_options_;
    sub->add_option("--known", known_, "URLs that the job knows: 1M")
        ->capture_default_str();
    sub->add_option("--addresses", options.addresses, "That its hosts are on")
        ->capture_default_str();
    sub->add_option("--run", recovery_run_s_,
                    "From a process's first request until it is killed")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    sub->add_option("--kills", options.kills, "How many processes")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_option("--memory", options.memory, "crawl.memory")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--disk", options.disk, "crawl.disk")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--with", options.settings,
                    "A setting of the crawl; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each process");
  }

  void AddHostile() {
    CLI::App* sub = AddVerb(
        "hostile", "Well-behaved hosts beside hostile ones",
        [this](const cli::Setup&) {
          BenchHostileOptions& options = bench_hostile_options_;
          options.limit = std::chrono::seconds(hostile_limit_s_);
          options.host_delay = std::chrono::milliseconds(hostile_delay_ms_);
          return RunBenchHostile(options, std::cout);
        });
    BenchHostileOptions& options = bench_hostile_options_;
    sub->add_option("--adversary", options.adversaries,
                    "Some of those of docs/sim.md, and mix; all by default")
        ->delimiter(',');
    sub->add_option("--factor", options.factors,
                    "Hostile hosts, times the size of the table they aim at")
        ->delimiter(',');
    sub->add_option("--good", options.good_hosts, "Well-behaved hosts")
        ->capture_default_str();
    sub->add_option("--pages", options.pages, "Of each well-behaved host")
        ->capture_default_str();
    sub->add_option("--host-delay", hostile_delay_ms_, "politeness.host_delay")
        ->type_name("MILLISECONDS")
        ->capture_default_str();
    sub->add_option("--max-hosts", options.max_hosts, "politeness.max_hosts")
        ->capture_default_str();
    sub->add_option("--transfers", options.max_transfers, "crawl.max_transfers")
        ->capture_default_str();
    sub->add_option("--names", options.max_names, "dns.max_in_flight")
        ->capture_default_str();
    sub->add_option("--seed", options.seed, "Of the simulated web")
        ->capture_default_str();
    sub->add_option("--limit", hostile_limit_s_, "Of one crawl")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    sub->add_option("--memory", options.memory, "crawl.memory")
        ->type_name("SIZE")
        ->capture_default_str();
    sub->add_option("--with", options.settings,
                    "A setting of the crawl; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--dir", options.directory,
                    "Where to work, in a folder that is removed at the end")
        ->type_name("DIR");
    sub->add_flag("--json", options.json, "A line of JSON for each crawl");
  }

  void AddStore() {
    CLI::App* sub = AddVerb(
        "store", "Cost of the archive per page", [this](const cli::Setup&) {
          return RunBenchStore(bench_store_options_, std::cout);
        });
    BenchStoreOptions& options = bench_store_options_;
    sub->add_option("--corpus", options.corpus,
                    "Folder of the corpus, or its html/")
        ->type_name("DIR");
    sub->add_option("--passes", options.passes,
                    "How often all pages are gone through")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_flag("--json", options.json, "A line of JSON for each result");
  }

  Status RunDrum() {
    BenchDrumOptions& options = bench_drum_options_;
    if (hit_rates_) options.links = kHitRateLinks;
    if (!links_.empty()) {
      NEPHILA_TRY(options.links, ParseCount(links_));
    }
    NEPHILA_TRY(options.preload, ParseCount(preload_));
    NEPHILA_TRY(options.memory_bytes, ParseSize(memory_));
    NEPHILA_TRY(options.disk_bytes, ParseSize(disk_));
    if (codec_ != "auto") {
      NEPHILA_TRY(options.codec, ParseCodec(codec_));
    }
    NEPHILA_TRY(const uint64_t speed, ParseSize(disk_speed_));
    if (speed == 0) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "--disk-speed: more than nothing"});
    }
    options.machine.disk_bytes_per_s = static_cast<double>(speed);
    if (hit_rates_) return RunHitRates(options, std::cout);
    return RunBenchDrum(options, std::cout, std::cerr);
  }

  BenchCharsetOptions bench_charset_options_;
  BenchFetchOptions bench_fetch_options_;
  BenchCodingOptions bench_coding_options_;
  BenchSimOptions bench_sim_options_;
  BenchDnsOptions bench_dns_options_;
  BenchUrlOptions bench_url_options_;
  BenchRobotsOptions bench_robots_options_;
  BenchLinksOptions bench_links_options_;
  BenchDrumOptions bench_drum_options_;
  BenchBudgetOptions bench_budget_options_;
  BenchSpamOptions bench_spam_options_;
  BenchCrawlOptions bench_crawl_options_;
  int64_t crawl_limit_s_ = 600;
  BenchRecoveryOptions bench_recovery_options_;
  BenchHostileOptions bench_hostile_options_;
  int64_t hostile_limit_s_ = 60;
  int64_t hostile_delay_ms_ = 200;
  std::string known_ = "1M";
  int64_t recovery_run_s_ = 20;
  int64_t broad_time_s_ = 600;
  BenchFrontierOptions bench_frontier_options_;
  BenchPolitenessOptions bench_politeness_options_;
  BenchQueueOptions bench_queue_options_;
  BenchStoreOptions bench_store_options_;
  std::string waiting_ = "10M";
  std::string frontier_memory_ = "1GiB";
  std::string frontier_disk_ = "8GiB";
  std::string records_ = "2M";
  std::string queue_codec_;
  std::string queue_memory_ = "64MiB";
  std::string links_;
  std::string preload_ = "0";
  std::string memory_ = "512MiB";
  std::string disk_ = "4GiB";
  std::string codec_ = "auto";
  std::string disk_speed_ = "1.7GB";  // as of model::Machine
  bool hit_rates_ = false;
};

}  // namespace
}  // namespace nephila::bench

int main(int argc, char** argv) {
  return nephila::bench::NephilaBench().Main(argc, argv);
}
