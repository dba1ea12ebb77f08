// MakeScan: the Scan of a store's records.
#pragma once

#include <memory>

#include "base/result.h"
#include "drum/bucket_merge.h"
#include "drum/scan.h"

namespace nephila::drum {

Result<std::unique_ptr<Scan>> MakeScan(const Records& records,
                                       const ScanRange& range);

}  // namespace nephila::drum
