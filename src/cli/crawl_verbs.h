// CrawlVerbs: the verbs that ask servers, fetch, crawl and demo, and those that
// tell what a crawl has come to, report and check.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "cli/check_cmd.h"
#include "cli/crawl_cmd.h"
#include "cli/demo.h"
#include "cli/fetch_cmd.h"
#include "cli/program.h"
#include "cli/report_cmd.h"

namespace nephila::cli {

class CrawlVerbs {
 public:
  // Outlives this.
  explicit CrawlVerbs(Program* program) : program_(program) {}

  void AddFetch();
  void AddCrawl();
  void AddReport();
  void AddCheck();
  void AddDemo();
  // For tests: called before a page of a crawl is read.
  void SetOnRead(std::function<void(std::string_view url)> on_read);

 private:
  Status CheckContact(const Setup& setup);

  Program* const program_;
  FetchCmdOptions fetch_;
  CrawlCmdOptions crawl_;
  ReportCmdOptions report_;
  CheckCmdOptions check_;
  DemoOptions demo_;
};

}  // namespace nephila::cli
