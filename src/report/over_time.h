// Plots of a report, from its figures: rates over the time of crawling (IRLbot
// fig. 5), the share of links that are new (fig. 6a), and pages of domains by
// their in-degree (fig. 6b).
//   Threads: any.   Memory: kRateBins points a plot.
#pragma once

#include "report/figures.h"
#include "report/plot.h"

namespace nephila::report {

// Rates are means over so many equal parts of the time, or over fewer where
// the history has fewer records.
inline constexpr size_t kRateBins = 120;
inline constexpr size_t kShareBins = 12;

Plot RatePlot(const Figures& figures);
Plot BytesPlot(const Figures& figures);
Plot UniquePlot(const Figures& figures);
Plot WaitingPlot(const Figures& figures);
Plot MemoryPlot(const Figures& figures);
Plot DegreePlot(const Figures& figures);

}  // namespace nephila::report
