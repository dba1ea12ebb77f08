#include "cli/agent.h"

#include <sys/random.h>

#include <chrono>

#include "fetch/fetch_options.h"
#include "store/store.h"

namespace nephila::cli {

Status CheckAgent(const config::AgentSettings& agent) {
  if (!agent.contact.empty()) return {};
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      "agent.contact is not set: servers must be able to tell who asks; add "
      "--set agent.contact=https://example.org/about-our-crawler"});
}

std::vector<std::pair<std::string, std::string>> ArchiveInfo(
    const config::Settings& settings) {
  std::vector<std::pair<std::string, std::string>> info = {
      {"software", "nephila"},
      {"http-header-user-agent", fetch::UserAgent(settings.agent)},
      {"robots", "obey"}};
  for (auto& field : store::SettingsInfo(settings)) {
    info.push_back(std::move(field));
  }
  return info;
}

uint64_t RandomSeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    seed = static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count());
  }
  return seed;
}

}  // namespace nephila::cli
