// VisitLinks: the links of a finished visit, as records for the frontier.
//
// What all links of a page share (the page's URL as their parent, the entry of
// the journal, the time, the depth, the path of hops) is in the visit once, not
// in each link: a page with a URL of 2 KB and 10 000 links would take 20 MB for
// it. The record of a link on its way has its URL, flags, ordinal and the last
// letter of its hop path; VisitLinks fills in the rest.
//   In: FinishedVisit   Out: UrlRecord, in the order of the page
//   Threads: one   Cost: that of decoding a record
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "crawl/visit.h"
#include "item/url_record.h"

namespace nephila::crawl {

// The record as it is when a redirect to `target` is followed; nullopt if no
// record can have that target: it is too long, of another domain, or one
// redirect too many.
std::optional<item::UrlRecord> WithTarget(const item::UrlRecord& record,
                                          std::string_view target);

class VisitLinks {
 public:
  // The visit must outlive this. `offset`: where an earlier one was left.
  explicit VisitLinks(const FinishedVisit& visit, size_t offset = 0);

  // The next link, or nullopt behind the last; its views are valid until the
  // next call. The error, a constant, says what is damaged.
  Result<std::optional<item::UrlRecord>, std::string_view> Next();
  // Behind the link that Next returned.
  size_t offset() const { return begin_ + reader_.position(); }

 private:
  const FinishedVisit& visit_;
  const size_t begin_;
  ByteReader reader_;
  bool has_parent_ = false;
  std::string parent_;
  std::string page_path_;
  uint32_t page_depth_ = 0;
  std::string path_;
  std::string scratch_;
};

}  // namespace nephila::crawl
