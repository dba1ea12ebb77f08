// What the tests of `nephila crawl` share: the real program in a process of its
// own against the simulated web in this one, what the web says must be found,
// and what the archive holds. For tests only.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/real_file_system.h"
#include "base/sanitizers_testing.h"
#include "sim/politeness_check.h"
#include "sim/simulation.h"

namespace nephila::cli {

// Bars of time are for a program as users build it.
inline constexpr int kSlowness = kIsSanitized ? 5 : 1;

// How long to wait for what has to come: far longer than it takes, so that
// only what never comes is not waited for.
inline constexpr std::chrono::seconds kPatience{120};

// A host of every web that answers, and has nothing to do with its pages.
inline constexpr std::string_view kMarker = "marker.example";

// How often each URL is in the archive: with its response, or as a revisit.
using PageCounts = std::map<std::string, int>;

struct Ended {
  int code = -1;        // of exit; -1 if a signal ended it
  int64_t wakings = 0;  // how often its threads had to wait for a processor
  std::string out;
  std::string err;
};

class CrawlCmdTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Starts a web with these rules (docs/sim.md), in which @PORT@ is its port
  // and @MORE@ another one, where the same hosts are.
  void Serve(std::string rules);
  std::string Url(std::string_view host, std::string_view path) const;
  std::string Folder(std::string_view name) const { return folder_ / name; }
  std::string Job() const { return Folder("job"); }
  std::string Log() const { return Folder("requests.log"); }
  // The home pages of the most popular domains, and of all hosts.
  std::vector<std::string> Seeds(size_t count) const;
  std::vector<std::string> AllHosts() const;
  std::string SeedFile(const std::vector<std::string>& seeds) const;

  // `nephila crawl --job JOB` with what the simulated web needs and no delays,
  // then `args`, which win.
  std::vector<std::string> CrawlArgs(std::vector<std::string> args) const;
  static std::vector<std::string> NoDelays();
  Ended Run(const std::vector<std::string>& args);
  Ended Crawl(std::vector<std::string> args) {
    return Run(CrawlArgs(std::move(args)));
  }
  // Not waited for: Start, then Signal, then Wait.
  pid_t Start(const std::vector<std::string>& args);
  // What it has written to standard error so far.
  std::string ErrOf(pid_t process) const;
  // Runs this program from now on instead of `nephila`.
  void UseProgram(const std::string& path) { program_ = path; }
  Ended Wait(pid_t process);
  // Waits until the web was asked for so many things in all. False if that
  // takes too long, or the process ends first.
  bool WaitForRequests(uint64_t count, pid_t process);
  // Asks for the status of the job until it is so, or for too long.
  bool StatusComes(const std::function<bool(const nlohmann::json&)>& wanted);

  // `nephila status --json` of the job.
  nlohmann::json JobStatus();
  // The law of each stage, and between them; `over`: nothing is left.
  void ExpectLaw(const nlohmann::json& status, bool over);

  // What a crawl from these seeds must find. `in_scope` says which hosts belong
  // to it; `attempts` are made of what answers 5xx.
  PageCounts Reachable(const std::vector<std::string>& seeds,
                       const std::function<bool(std::string_view)>& in_scope,
                       int attempts) const;
  PageCounts Archived(bool robots = false) const;
  void ExpectArchive(const PageCounts& expected) const;

  // From the log of the web, in microseconds.
  struct Request {
    int64_t begin = 0;
    int64_t end = 0;
    std::string host;
    std::string path;
  };
  std::vector<Request> Requests();
  // Asks the web for something, so that the log has a time of ours; and when it
  // is answered all that was sent to the web before has been read. A host that
  // is asked often would be asked early.
  void Mark(std::string_view host = kMarker);
  sim::PolitenessReport CheckPolite(const sim::PolitenessRules& rules);

  // The limit of open files of processes that are started; 0: that of ours.
  uint64_t open_files_ = 0;

  static inline int counter_ = 0;
  std::filesystem::path folder_;
  std::unique_ptr<FileSystem> fs_ = MakeRealFileSystem();
  RealClock clock_;
  std::unique_ptr<sim::Simulation> web_;

 private:
  struct Expected {
    int count = 0;  // of records
    std::vector<std::string> links;
  };
  Expected Expect(const std::string& url, int attempts) const;
  bool IsDenied(const std::string& host, std::string_view path) const;

  std::map<pid_t, std::string> running_;  // and where its output goes
  int runs_ = 0;
  std::string program_;  // empty: nephila
};

}  // namespace nephila::cli
