// What ExplainUrl and ExplainHost share: the facts of a domain and of a site.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/why.h"
#include "item/url_record.h"
#include "url/keys.h"

namespace nephila::inspect {

Result<DomainFacts> DomainFactsOf(const JobView& job, std::string_view name,
                                  url::PldKey pld);

// Of the origin of a record; with the answer for its path if `is_url`. Where
// its robots.txt is archived is looked for by `history`.
Result<RobotsFacts> RobotsFactsOf(JobView& job, const item::UrlRecord& record,
                                  bool is_url, HistoryReader* history);

}  // namespace nephila::inspect
