// CrawlControl: a running crawl, looked at and steered: the verbs of its socket
// (control_server.h), and metrics and status over HTTP where a setting asks for
// them.
//
//   In: requests of the job's owner   Out: answers; changes of the crawl, of
//   `settings.toml` and `blocked` in its folder; lines of its log
//   Threads: that which calls Crawl::Turn, from its loop   Cost: a sample of
//   the counters a second; a status costs about as much as a page
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "control/control_server.h"
#include "control/http_server.h"
#include "control/live_facts.h"
#include "control/rate_meter.h"
#include "crawl/crawl.h"
#include "job/kept_settings.h"
#include "url/public_suffix.h"

namespace nephila::control {

class CrawlControl {
 public:
  // All of it outlives this.
  struct Parts {
    crawl::Crawl& crawl;
    FileSystem& fs;
    const Clock& clock;
    Logger& log;
    const url::PublicSuffixList& suffixes;
    std::string dir;      // of the job
    std::string version;  // of nephila
    // So many transfers the limit of open files allows.
    size_t most_transfers = SIZE_MAX;
  };

  // REQUIRES: the crawl has the lock of the folder, and Turn was not called.
  static Result<std::unique_ptr<CrawlControl>> Open(const Parts& parts);
  ~CrawlControl();
  CrawlControl(const CrawlControl&) = delete;
  CrawlControl& operator=(const CrawlControl&) = delete;

  // Where metrics and status are, if anywhere.
  std::optional<net::Endpoint> http() const;
  // For the verbs of others.
  ControlServer& verbs() { return *server_; }

  // Facts of now; `done` is called by this thread, a little later.
  void Look(std::function<void(const LiveFacts&)> done);

 private:
  explicit CrawlControl(const Parts& parts) : parts_(parts) {}
  void AddVerbs();
  // As `control.http` wants it.
  Status OpenHttp();
  Json Pause(bool pause);
  Json Set(const Json& request);
  Status SetAll(const std::vector<std::string>& assignments, Json* values);
  Json Block(const Json& request);
  void AskHost(const Json& request, const ControlServer::Answer& answer);
  Json Retry(const Json& request);
  void Sample();
  uint64_t DiskUsed();

  const Parts parts_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<HttpServer> http_;  // may be null
  job::KeptSettings kept_;
  RateMeter pages_;
  RateMeter bytes_;
  net::TimerId timer_ = net::TimerId::kNone;
  uint64_t disk_used_ = 0;
  MonoTime disk_used_until_{};
};

// Of `log.level`.
LogLevel LevelOf(config::LogDetail detail);

}  // namespace nephila::control
