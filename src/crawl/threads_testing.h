// ThreadedCrawl: a crawl with all its threads, of the simulated web on loopback
// addresses, in a folder of the real disk. For tests only.
//
//   In: settings, what a test does while the crawl runs   Out: the archive
//   compared with what the web holds
//   Threads: one opens, runs and closes the crawl; Stop is for any.
//
// The crawl has a frontier, a dispatcher, three downloaders and two merge
// threads, and takes a checkpoint every 100 ms. The dispatcher holds few URLs,
// so that a crawl which the frontier's thread has paused is far from its end,
// however the threads are scheduled.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/file_testing.h"
#include "base/real_file_system.h"
#include "config/profile.h"
#include "config/settings.h"
#include "crawl/crawl.h"
#include "crawl/memory_plan.h"
#include "crawl/real_web.h"
#include "fetch/connection_budget.h"
#include "job/job_folder.h"
#include "sim/scenario.h"
#include "sim/simulation.h"
#include "store/warc_reader.h"
#include "url/public_suffix.h"

namespace nephila::crawl {

class ThreadedCrawl : public testing::Test {
 protected:
  // How often each URL is archived.
  using PageCounts = std::map<std::string, int>;

  void SetUp() override {
    static int counter = 0;
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("crawl_threads_" + std::to_string(getpid()) + "_" +
               std::to_string(counter++));
    std::filesystem::create_directories(folder_);
    auto scenario = Must(sim::ParseScenario(
        "[web]\nhosts = 40\nplds = 20\naddresses = 8\npages_per_host = 10\n"
        "largest_site = 40\npage_bytes = 3000\nlinks = 30\n"
        "robots_permille = 0\n",
        "scenario"));
    sim::SimulationOptions options;
    options.threads = 2;
    web_ = Must(
        sim::Simulation::Start(std::move(scenario), options, *fs_, clock_));
  }
  void TearDown() override {
    Close();
    web_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string Job() const { return folder_ / "job"; }

  config::Settings Settings(config::Profile profile) const {
    config::Settings settings = config::SettingsOf(profile);
    settings.crawl.threads = 3;
    settings.crawl.merge_threads = 2;
    settings.crawl.memory_bytes = uint64_t{64} << 20;
    settings.crawl.disk_bytes = uint64_t{64} << 20;
    settings.crawl.checkpoint_interval = std::chrono::milliseconds(100);
    settings.crawl.sync_interval = std::chrono::milliseconds(50);
    settings.politeness.host_delay = std::chrono::milliseconds(5);
    settings.politeness.host_delay_floor = std::chrono::milliseconds(5);
    settings.politeness.server_delay = std::chrono::milliseconds(1);
    settings.politeness.server_delay_floor = std::chrono::milliseconds(1);
    settings.politeness.domain_delay = std::chrono::milliseconds(0);
    settings.politeness.max_hosts = 16;
    settings.politeness.max_urls = 32;
    settings.scope.bounds = config::ScopeBounds::kAll;
    settings.disk.floor_bytes = 0;
    settings.agent.contact = "https://example.org/bot";
    settings.guard.allow = {"127.0.0.0/8"};
    settings.dns.servers = {"127.0.0.1:" + std::to_string(web_->dns_port())};
    return settings;
  }

  // Opens the job, or makes it with the seeds.
  void Open(config::Profile profile) {
    settings_ = Settings(profile);
    settings_ = WithPlan(PlanMemory(settings_), settings_);
    job::JobRequest request;
    request.settings = settings_;
    request.process_id = static_cast<uint64_t>(getpid());
    request.profile = profile;
    request.key_seed = 7;
    request.now = clock_.WallNow();
    request.version = "test";
    job_folder_ = Must(job::JobFolder::OpenOrCreate(*fs_, Job(), request));
    real_web_ =
        Must(RealWeb::Make(settings_, suffixes_, clock_, &connections_));
    Crawl::Parts parts{*fs_,      clock_,    *real_web_,
                       settings_, suffixes_, *job_folder_};
    parts.record_seed = ++runs_;
    parts.on_finished = on_finished_;
    crawl_ = Must(Crawl::Open(parts));
    if (job_folder_->is_new()) {
      for (const std::string& seed : Seeds()) MustDo(crawl_->AddSeed(seed));
    }
  }
  void Close() {
    crawl_.reset();
    real_web_.reset();
    job_folder_.reset();
  }

  std::vector<std::string> Seeds() const {
    const sim::Web& web = web_->site().web();
    std::vector<std::string> seeds;
    for (uint64_t pld = 0; pld < web.pld_count(); ++pld) {
      web.AppendUrl({{pld, 0}, 0}, &seeds.emplace_back());
    }
    return seeds;
  }

  // What the links of the web lead to, each page once.
  PageCounts Reachable() const {
    const sim::Web& web = web_->site().web();
    PageCounts known;
    std::deque<sim::PageId> open;
    const auto find = [&](const sim::PageId& page) {
      std::string url;
      web.AppendUrl(page, &url);
      if (known.emplace(std::move(url), 1).second) open.push_back(page);
    };
    for (uint64_t pld = 0; pld < web.pld_count(); ++pld) {
      find({{pld, 0}, 0});
    }
    while (!open.empty()) {
      const sim::PageId page = open.front();
      open.pop_front();
      std::vector<sim::WebLink> links;
      web.AppendLinks(page, &links);
      for (const sim::WebLink& link : links) find(link.to);
    }
    return known;
  }

  PageCounts Archived() {
    PageCounts pages;
    for (const DirEntry& entry : Must(fs_->List(Job() + "/archive"))) {
      if (entry.name.find(".warc") == std::string::npos) continue;
      const auto reader =
          Must(store::WarcReader::Open(*fs_, Job() + "/archive/" + entry.name));
      auto state = reader->Next();
      for (; state && *state == store::ReadState::kRecord;
           state = reader->Next()) {
        const store::RecordType type = reader->header().type();
        const std::string url(reader->header().target_uri());
        if ((type == store::RecordType::kResponse ||
             type == store::RecordType::kRevisit) &&
            url.starts_with("http") && !url.ends_with("/robots.txt")) {
          ++pages[url];
        }
      }
      EXPECT_TRUE(state && *state == store::ReadState::kEnd)
          << entry.name << ": " << reader->damage();
    }
    return pages;
  }

  // REQUIRES: the crawl has finished and is open.
  void ExpectFinished() {
    const CrawlStatus status = crawl_->status();
    const PageCounts reachable = Reachable();
    EXPECT_EQ(status.Imbalance(), "");
    EXPECT_EQ(status.waiting, 0U);
    EXPECT_EQ(status.pages, reachable.size());
    EXPECT_GE(reachable.size(), 200U);
    Close();
    EXPECT_EQ(Archived(), reachable);
  }

  std::filesystem::path folder_;
  const RealClock clock_{};
  const std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  std::unique_ptr<sim::Simulation> web_;
  config::Settings settings_;
  std::unique_ptr<job::JobFolder> job_folder_;
  fetch::ConnectionBudget connections_{256};
  std::unique_ptr<RealWeb> real_web_;
  std::function<void(const FinishedVisit&)> on_finished_;  // for Open
  std::unique_ptr<Crawl> crawl_;
  uint64_t runs_ = 0;
};

}  // namespace nephila::crawl
