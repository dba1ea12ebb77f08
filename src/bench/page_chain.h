// PageChain: all that a crawl thread does with a page once it is there: archive
// it (WARC, CDXJ, crawl.log), decode it, find its links, and take their keys.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/setup.h"
#include "crawl/page_processor.h"
#include "fetch/fetch_result.h"
#include "store/store.h"

namespace nephila::bench {

class PageChain final : private crawl::FoundLinkSink {
 public:
  // Archives go to `folder`, which is there. All that is given outlives it.
  static Result<std::unique_ptr<PageChain>> Make(const cli::Setup& setup,
                                                 FileSystem& fs,
                                                 const Clock& clock,
                                                 const std::string& folder);

  Status Take(const fetch::FetchResult& result);
  Status Finish() { return store_->Finish(); }

  uint64_t links() const { return links_; }
  uint64_t keys() const { return keys_; }  // all of them, added up
  uint64_t archive_bytes() const { return store_->archive_bytes(); }

 private:
  PageChain(const cli::Setup& setup, std::unique_ptr<store::Store> store);
  void OnLink(const crawl::FoundLink& link) override;

  std::unique_ptr<store::Store> store_;
  crawl::PageProcessor processor_;
  uint64_t links_ = 0;
  uint64_t keys_ = 0;
};

}  // namespace nephila::bench
