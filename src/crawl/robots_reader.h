// RobotsReader: what the hops to a robots.txt bring, hop by hop, for a
// RobotsWalk; and at its end the file.
//   In: finished fetches   Out: RobotsHop, then RobotsFile
//   Threads: one reader each, reused   Memory: a file of robots.max_size
#pragma once

#include <string>

#include "config/settings.h"
#include "crawl/body_decoder.h"
#include "fetch/response_head.h"
#include "fetch/robots_walk.h"
#include "item/fetched_page.h"
#include "robots/parser.h"
#include "robots/policy.h"

namespace nephila::crawl {

class RobotsReader {
 public:
  // Keeps the reference.
  explicit RobotsReader(const config::Settings& settings);

  // Views live until the next call.
  fetch::RobotsHop ReadHop(const item::FetchedPage& page);
  // What the last hop has, for our agent.
  robots::RobotsFile Parse() const;

 private:
  const config::Settings& settings_;
  const std::string agent_;  // our product token
  fetch::ResponseHead head_;
  BodyDecoder decoder_;
  std::string text_;
};

// How the walk ended, for robots::PolicyFor.
robots::Fetch EndOf(const fetch::RobotsWalk& walk);

}  // namespace nephila::crawl
