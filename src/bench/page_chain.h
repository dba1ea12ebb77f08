// PageChain: all that a crawl thread does with a page once it is there: archive
// it (WARC, CDXJ, crawl.log), decode it, find its links, and take their keys.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/setup.h"
#include "coding/chunked_decoder.h"
#include "coding/content_decoder.h"
#include "fetch/fetch_result.h"
#include "fetch/response_head.h"
#include "parse/page_reader.h"
#include "store/store.h"
#include "url/canonicalizer.h"
#include "url/url.h"

namespace nephila::bench {

class PageChain {
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
  // The content in pieces: those of the body if it is not coded.
  std::span<const std::string_view> Decode(const fetch::FetchResult& result);
  void TakeLinks(const fetch::FetchResult& result);

  std::unique_ptr<store::Store> store_;
  fetch::ResponseHead head_;
  coding::ChunkedDecoder chunks_;
  coding::ContentDecoder content_;
  std::string payload_;
  std::string decoded_;
  std::string_view decoded_view_;
  parse::PageReader reader_;
  parse::ResponseHeaders headers_;
  url::Canonicalizer canonicalizer_;
  url::Url page_;
  url::Url base_;
  url::Url scratch_;
  uint64_t links_ = 0;
  uint64_t keys_ = 0;
};

}  // namespace nephila::bench
