// HtmlReport: one page of HTML that needs nothing else: no script, no style and
// no picture from elsewhere, so it can be mailed and kept. Plots are SVG
// within. Light or dark as the reader's system is; made for a screen, a phone
// and paper.
//   In: Figures (job_reader.h); names in them come from the web.
//   Out: HTML that is well-formed XML too, with all text escaped.
//   Threads: any.   Cost: some ms; about 60 KB, whatever the size of the crawl.
#pragma once

#include <string>

#include "report/figures.h"

namespace nephila::report {

std::string HtmlReport(const Figures& figures);

}  // namespace nephila::report
