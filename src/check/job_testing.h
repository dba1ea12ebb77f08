// TestJob: a job made by a real crawl of a web in memory, on a disk in memory,
// in one thread. For tests only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_file_system.h"
#include "check/job_check.h"
#include "config/profile.h"
#include "crawl/crawl.h"
#include "crawl/crawl_testing.h"
#include "job/job_folder.h"

namespace nephila::check {

class TestJob {
 public:
  explicit TestJob(config::Profile profile);
  ~TestJob();

  // Opens the job, or makes it with its seed.
  void Open();
  void Close();
  // Until it ends, or so many turns of a millisecond are over; whether it has
  // ended.
  bool Run(uint64_t turns = 200'000);
  // The process is gone, without a checkpoint of its own.
  void Kill();

  CheckReport Check();
  Result<CheckReport> TryCheck();
  // All files, with their contents.
  std::map<std::string, std::string> Files();
  void Restore(const std::map<std::string, std::string>& files);

  MemoryFileSystem fs;
  ManualClock clock;
  crawl::FakeWeb web;
  config::Settings settings;

 private:
  const config::Profile profile_;
  const std::unique_ptr<crawl::Web> web_of_crawl_;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  std::unique_ptr<job::JobFolder> folder_;
  std::unique_ptr<crawl::Crawl> crawl_;
  uint64_t runs_ = 0;
};

// What a report says, for messages.
std::string Describe(const CheckReport& report);
// Whether a damage of the report names the file.
bool NamesFile(const CheckReport& report, const std::string& path);

}  // namespace nephila::check
