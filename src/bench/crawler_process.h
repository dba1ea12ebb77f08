// CrawlerProcess: the program as users have it, at work on the simulated web,
// looked at from outside.
//   Threads: one
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/temporary_folder.h"
#include "net/descriptor.h"
#include "sim/simulation.h"

namespace nephila::bench {

// The program beside this one.
Result<std::string> NephilaBeside();

// In `directory`, empty being this one; programs run in it, so its name holds
// anywhere.
Result<std::unique_ptr<cli::TemporaryFolder>> MakeWorkFolder(
    const std::string& directory);

// What a crawler has used up to a moment.
struct ProcessUse {
  uint64_t rss_bytes = 0;
  uint64_t peak_rss_bytes = 0;        // VmHWM
  std::map<std::string, double> cpu;  // seconds, by name of thread

  double CpuSeconds() const;
};

// `nephila crawl` for a job in `folder`/job that asks this web and nobody else.
std::vector<std::string> CrawlCommand(const std::string& nephila,
                                      const std::string& folder,
                                      const sim::Simulation& web,
                                      const std::vector<std::string>& settings);

class CrawlerProcess {
 public:
  // What it says goes to the file `output`. It ends with this process.
  static Result<std::unique_ptr<CrawlerProcess>> Start(
      const std::vector<std::string>& command, const std::string& output);
  CrawlerProcess(const CrawlerProcess&) = delete;
  CrawlerProcess& operator=(const CrawlerProcess&) = delete;
  ~CrawlerProcess();

  ProcessUse Use() const;
  // Whether it ends before `when`, for which this waits.
  bool EndsBefore(std::chrono::steady_clock::time_point when) const;
  // Waits for it; an error that says what it said unless it ended well.
  Status Wait();
  // For one that was not to end yet.
  Error EndedEarly();
  // SIGKILL.
  void Kill();

 private:
  CrawlerProcess(pid_t pid, std::string output);

  const pid_t pid_;
  const std::string output_;
  const net::Descriptor ended_;
  bool waited_ = false;
};

}  // namespace nephila::bench
