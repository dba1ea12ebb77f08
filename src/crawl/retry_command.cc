#include "crawl/retry_command.h"

#include "base/text.h"

namespace nephila::crawl {
namespace {

using item::FetchOutcome;

static_assert(item::kFetchOutcomes <= 32);
constexpr std::string_view kVerb = "retry";

bool IsFailure(FetchOutcome outcome) {
  return outcome != FetchOutcome::kResponse &&
         outcome != FetchOutcome::kDnsAnswer;
}

std::optional<FetchOutcome> FailureNamed(std::string_view name) {
  for (uint8_t i = 0; i < item::kFetchOutcomes; ++i) {
    const auto outcome = static_cast<FetchOutcome>(i);
    if (IsFailure(outcome) && FetchOutcomeName(outcome) == name) return outcome;
  }
  return std::nullopt;
}

std::string AllNames() {
  std::string names;
  for (uint8_t i = 0; i < item::kFetchOutcomes; ++i) {
    const auto outcome = static_cast<FetchOutcome>(i);
    if (!IsFailure(outcome)) continue;
    names.append(names.empty() ? "" : ", ").append(FetchOutcomeName(outcome));
  }
  return names;
}

}  // namespace

std::optional<uint32_t> ParseRetry(std::string_view text) {
  if (!text.starts_with(kVerb)) return std::nullopt;
  text.remove_prefix(kVerb.size());
  if (text.empty()) return UINT32_MAX;
  if (!text.starts_with(' ')) return std::nullopt;
  text.remove_prefix(1);
  uint32_t outcomes = 0;
  while (true) {
    const size_t comma = text.find(',');
    const auto outcome = FailureNamed(text.substr(0, comma));
    if (!outcome) return std::nullopt;
    outcomes |= 1U << static_cast<uint32_t>(*outcome);
    if (comma == std::string_view::npos) return outcomes;
    text.remove_prefix(comma + 1);
  }
}

Result<std::string> RetryText(const std::vector<std::string>& outcomes) {
  std::string text(kVerb);
  for (const std::string& name : outcomes) {
    if (!FailureNamed(name)) {
      return Unexpected(Error{ErrorCode::kInvalidArgument,
                              "'" + EscapeForTerminal(name.substr(0, 100)) +
                                  "' is no outcome of a failure; there are " +
                                  AllNames()});
    }
    text.append(text.size() == kVerb.size() ? " " : ",").append(name);
  }
  return text;
}

}  // namespace nephila::crawl
