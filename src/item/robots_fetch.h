// RobotsFetchEnd: how the fetch of a robots.txt ended, redirects followed (at
// least five hops, also to other hosts: what is found holds for the site that
// was asked; RFC 9309 s2.3.1.2).
#pragma once

#include <cstdint>

namespace nephila::item {

enum class RobotsFetchEnd : uint8_t {
  kAnswer,            // with a status
  kTooManyRedirects,  // over the limit, or in a circle
  kBadRedirect,       // 3xx that leads nowhere: no Location, or not a URL
  kRefusedRedirect,   // to where we do not go
  kNetwork,           // no whole answer: DNS, connection, TLS, time-out
};

}  // namespace nephila::item
