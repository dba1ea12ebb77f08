// The stores that `nephila-bench drum` can run, by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/store.h"

namespace nephila::bench {

using StorePtr = std::unique_ptr<LinkStore>;

// Nothing: what the stream and the keys cost alone.
Result<StorePtr> MakeNoStore(const StoreOptions& options);
// Mercator-B (IRLbot s4.1): keys of a batch in memory, their text on disk.
Result<StorePtr> MakeMercatorStore(const StoreOptions& options);
// Polybot (Polybot s3.3): a batch of texts in a tree, a file of sorted texts.
Result<StorePtr> MakePolybotStore(const StoreOptions& options);
Result<StorePtr> MakeRocksDbStore(const StoreOptions& options);
Result<StorePtr> MakeLmdbStore(const StoreOptions& options);
// Our own.
Result<StorePtr> MakeDrumStore(const StoreOptions& options);

std::vector<std::string_view> StoreNames();
// kInvalidArgument, with the names there are, for a wrong one.
Result<StorePtr> MakeStore(std::string_view name, const StoreOptions& options);

}  // namespace nephila::bench
