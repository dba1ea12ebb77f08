#include "sim/behaviour.h"

#include <algorithm>
#include <array>

namespace nephila::sim {
namespace {

constexpr auto kInfos = std::to_array<BehaviourInfo>({
    {"page", Layer::kHttp, "", ""},
    {"status", Layer::kHttp, " status text type ", ""},
    {"redirect", Layer::kHttp, " status target ", " target "},
    {"redirect-chain", Layer::kHttp, " status count ", ""},
    {"redirect-loop", Layer::kHttp, " status count ", ""},
    {"slow-first-byte", Layer::kHttp, " delay ", ""},
    {"slow-drip", Layer::kHttp, " delay bytes ", ""},
    {"endless-body", Layer::kHttp, "", ""},
    {"hang", Layer::kHttp, "", ""},
    {"drop", Layer::kHttp, "", ""},
    {"reset", Layer::kHttp, "", ""},
    {"cut-body", Layer::kHttp, " bytes ", ""},
    {"half-close", Layer::kHttp, " bytes ", ""},
    {"broken-chunking", Layer::kHttp, "", ""},
    {"wrong-length", Layer::kHttp, " by ", ""},
    {"content-type", Layer::kHttp, " type ", " type "},
    {"gzip-bomb", Layer::kHttp, " bytes ", ""},
    {"broken-gzip", Layer::kHttp, "", ""},
    {"header-flood", Layer::kHttp, " count bytes ", ""},
    {"retry-after", Layer::kHttp, " status delay ", ""},
    {"burst", Layer::kHttp, " status period length ", ""},
    {"close", Layer::kHttp, "", ""},
    {"robots", Layer::kHttp, " text type ", " text "},
    {"huge-robots", Layer::kHttp, " bytes ", ""},
    {"tarpit", Layer::kHttp, " delay bytes ", ""},
    {"redirect-web", Layer::kHttp, " status hosts ", ""},
    {"link-flood", Layer::kHttp, " count ", ""},
    {"heavy-page", Layer::kHttp, " count bytes ", ""},
    {"port-links", Layer::kHttp, " count of ", ""},
    {"link-farm", Layer::kSpace, " name plds hosts count bytes entry ",
     " name "},
    {"calendar", Layer::kSpace, "", ""},
    {"session-ids", Layer::kSpace, "", ""},
    {"growing-path", Layer::kSpace, "", ""},
    {"reorder", Layer::kSpace, " count ", ""},
    {"mirror", Layer::kSpace, " of ", " of "},
    {"soft-404", Layer::kSpace, "", ""},
    {"small-site", Layer::kSpace, " count ", ""},
    {"nxdomain", Layer::kDns, "", ""},
    {"servfail", Layer::kDns, "", ""},
    {"dns-timeout", Layer::kDns, "", ""},
    {"wildcard", Layer::kDns, " addresses ttl ", ""},
    {"address", Layer::kDns, " addresses ttl ", " addresses "},
    {"rebind", Layer::kDns, " addresses count ttl ", " addresses "},
    {"truncate", Layer::kDns, "", ""},
    {"dns-slow", Layer::kDns, " delay ", ""},
    {"dns-drip", Layer::kDns, " delay ", ""},
});
static_assert(kInfos.size() == static_cast<size_t>(Behaviour::kDnsDrip) + 1);

constexpr auto kNames = [] {
  std::array<std::string_view, kInfos.size()> names{};
  for (size_t i = 0; i < kInfos.size(); ++i) names[i] = kInfos[i].name;
  return names;
}();

}  // namespace

const BehaviourInfo& InfoOf(Behaviour behaviour) {
  return kInfos[static_cast<size_t>(behaviour)];
}

std::span<const std::string_view> ChoiceNames(Behaviour /*any*/) {
  return kNames;
}

}  // namespace nephila::sim
