#include "bench/stores.h"

#include <string>

namespace nephila::bench {
namespace {

struct Named {
  std::string_view name;
  Result<StorePtr> (*make)(const StoreOptions&);
};

constexpr Named kStores[] = {
    {"none", MakeNoStore},         {"mercator", MakeMercatorStore},
    {"polybot", MakePolybotStore}, {"rocksdb", MakeRocksDbStore},
    {"lmdb", MakeLmdbStore},       {"drum", MakeDrumStore},
};

class NoStore : public LinkStore {
 public:
  Status Preload(uint64_t) override { return {}; }
  Status Add(uint64_t key, std::string_view) override {
    key_xor_ ^= key;  // or the hash would be optimised away
    return {};
  }
  Status Finish() override { return {}; }
  StoreReport report() override { return {}; }

 private:
  uint64_t key_xor_ = 0;
};

}  // namespace

Result<StorePtr> MakeNoStore(const StoreOptions&) {
  return StorePtr(std::make_unique<NoStore>());
}

std::vector<std::string_view> StoreNames() {
  std::vector<std::string_view> names;
  for (const Named& store : kStores) names.push_back(store.name);
  return names;
}

Result<StorePtr> MakeStore(std::string_view name, const StoreOptions& options) {
  std::string names;
  for (const Named& store : kStores) {
    if (store.name == name) return store.make(options);
    names.append(" ").append(store.name);
  }
  return Unexpected(
      Error{ErrorCode::kInvalidArgument,
            std::string(name) + ": no such store; there are" + names});
}

}  // namespace nephila::bench
