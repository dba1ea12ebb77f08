#include "crawl/robots_reader.h"

#include <string_view>

#include "item/product_token.h"

namespace nephila::crawl {

RobotsReader::RobotsReader(const config::Settings& settings)
    : settings_(settings),
      agent_(item::ProductToken(settings.agent.name)),
      head_(fetch::HeadLimitsOf(settings.fetch)),
      decoder_({settings.robots.max_size_bytes,
                coding::DecodeLimitsOf(settings.fetch).max_ratio}) {}

fetch::RobotsHop RobotsReader::ReadHop(const item::FetchedPage& page) {
  fetch::RobotsHop hop;
  text_.clear();
  head_.Clear();
  hop.outcome = page.outcome;
  if (page.outcome != item::FetchOutcome::kResponse) return hop;
  std::string_view head = page.response_head;
  if (head_.Add(&head) != fetch::HeadState::kComplete) head_.Finish();
  hop.status = head_.status();
  hop.location = head_.location();
  hop.truncation = page.truncation;
  if (hop.status / 100 == 2) {
    for (const std::string_view piece : decoder_.Decode(page, head_)) {
      text_.append(piece);
    }
    hop.chunks = decoder_.chunks();
    hop.content = decoder_.state();
  }
  return hop;
}

robots::RobotsFile RobotsReader::Parse() const {
  return robots::Parse(text_, agent_, robots::RobotsLimits(settings_.robots));
}

robots::Fetch EndOf(const fetch::RobotsWalk& walk) {
  robots::Fetch fetch;
  fetch.end = walk.end();
  if (fetch.end == item::RobotsFetchEnd::kAnswer) fetch.status = walk.status();
  return fetch;
}

}  // namespace nephila::crawl
