// nephila why and nephila list: what became of URLs and what they wait for, by
// the files of a job and by the crawl that runs (inspect/why.h, url_list.h).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup.h"

namespace nephila::cli {

struct WhyCmdOptions {
  std::string job;
  std::vector<std::string> words;  // URLs and hosts
  bool scan = false;
  bool json = false;
};

// One answer for each word. kInvalidArgument without any.
Status RunWhy(const Setup& setup, const WhyCmdOptions& options,
              std::ostream& out);

struct ListCmdOptions {
  std::string job;
  std::vector<std::string> words;  // one of seen, failed, waiting
  std::string host;
  std::string domain;
  std::string scratch;  // empty: the system's folder for such
  std::string memory = "64MiB";
  uint64_t limit = 0;  // 0: all
  bool waiting = false;
  bool json = false;
};

Status RunList(const Setup& setup, const ListCmdOptions& options,
               std::ostream& out);

}  // namespace nephila::cli
