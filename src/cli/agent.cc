#include "cli/agent.h"

#include <sys/random.h>

#include <chrono>

namespace nephila::cli {

Status CheckAgent(const config::AgentSettings& agent) {
  if (!agent.contact.empty()) return {};
  return Unexpected(Error{
      ErrorCode::kInvalidArgument,
      "agent.contact is not set: servers must be able to tell who asks; add "
      "--set agent.contact=https://example.org/about-our-crawler"});
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
