// JsonReport: the figures of a job as one object, on one line.
//   Threads: any.
#pragma once

#include <string>

#include "report/figures.h"

namespace nephila::report {

std::string JsonReport(const Figures& figures);

}  // namespace nephila::report
