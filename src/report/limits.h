// Limits: what ended at a bound of the crawl, how often, and which setting is
// that bound (VN s5.3 and table VI: thresholds are to be looked at after each
// crawl).
//   In: figures with their counters, settings, annotations of crawl.log.
//   Out: a row for each bound.   Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "report/figures.h"

namespace nephila::report {

std::vector<LimitRow> ListLimits(
    const Figures& figures, const config::Settings& settings,
    const std::function<uint64_t(std::string_view annotation)>& annotated);

// The value of a setting as text; "" for one that is not known.
std::string SettingText(const config::Settings& settings,
                        std::string_view name);

}  // namespace nephila::report
