// FindInIndex: the lines of a key in a sorted CDXJ file, without reading it
// all.
//   In: the index of an archive, a key (SurtKey)   Out: its lines, in order
//   Threads: any.   Memory: a line.
//   Cost: a binary search, some twenty reads of 4 KiB
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "store/cdxj.h"

namespace nephila::store {

// kCorruption for a line that is none among those that were looked at.
Status FindInIndex(FileSystem& fs, const std::string& path,
                   std::string_view key,
                   const std::function<void(const CdxjLine&)>& take);

}  // namespace nephila::store
