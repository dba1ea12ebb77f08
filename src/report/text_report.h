// TextReport: a short report for a terminal: what was crawled, what was refused
// and why, the top domains by in-degree with budget and pages, the files of the
// job, and commands to look further.
//   In: Figures (job_reader.h).   Out: about 40 lines of at most 80 columns,
//   escaped for a terminal.   Threads: any.
#pragma once

#include <cstddef>
#include <string>

#include "report/figures.h"

namespace nephila::report {

struct TextOptions {
  std::string program = "nephila";  // as the user calls it
  size_t domains = 10;              // rows of the table
  size_t reasons = 8;               // of refusals
  bool files = true;                // and commands
};

std::string TextReport(const Figures& figures, const TextOptions& options = {});

}  // namespace nephila::report
