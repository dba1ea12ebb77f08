// A finite site of equal pages on nginx, as all crawlers of `bench crawl` get
// it: about 21 KB and 59 links a page (IRLbot s7.1), every page reachable from
// the first. nginx logs what it was asked for, so that pages are counted by the
// server and not by the crawler.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace nephila::bench {

struct NginxSiteOptions {
  uint64_t pages = 20'000;
  uint64_t page_bytes = 21'000;
  uint64_t links = 59;  // of a page
  bool https = false;   // with a certificate that it signed itself
};

class NginxSite {
 public:
  // In `folder`, which is empty. kNotFound without nginx.
  static Result<std::unique_ptr<NginxSite>> Start(
      const std::string& folder, const NginxSiteOptions& options);
  ~NginxSite();
  NginxSite(const NginxSite&) = delete;
  NginxSite& operator=(const NginxSite&) = delete;

  const std::string& url() const { return url_; }  // of the first page
  std::string certificate() const { return folder_ + "/site.pem"; }

  // Since the last call.
  struct Asked {
    uint64_t pages = 0;     // different ones that were sent
    uint64_t requests = 0;  // of any kind
  };
  Result<Asked> TakeAsked();

 private:
  NginxSite(std::string folder, const NginxSiteOptions& options);
  Status WritePages() const;
  Status MakeCertificate() const;
  Status StartServer();

  const std::string folder_;
  const NginxSiteOptions options_;
  uint16_t port_ = 0;
  std::string url_;
  pid_t pid_ = -1;
  uint64_t log_read_ = 0;
};

}  // namespace nephila::bench
