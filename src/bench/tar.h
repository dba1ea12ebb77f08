// The files of a tar archive in memory (ustar, with GNU's long names).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nephila::bench {

// Calls `take` with name and contents of each regular file. kCorruption if the
// archive ends too early.
Status ForEachTarFile(std::string_view tar,
                      const std::function<void(std::string_view name,
                                               std::string_view body)>& take);

}  // namespace nephila::bench
