// Lines of an input that may hold anything.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::cli {

// The next line without its end ("\n" or "\r\n"). Of a line that is longer than
// any URL only so much is kept that the parser refuses it: lines from outside
// may not fill the memory. False at the end of the input, or if it fails.
bool ReadLine(std::istream& in, std::string* line);

// All lines of the input, one after the other.
Status ForEachLine(std::istream& in,
                   const std::function<void(const std::string&)>& take);

}  // namespace nephila::cli
