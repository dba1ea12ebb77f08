// PortGuard: the ports that the crawler sends no request to.
//
// A link can name any port of any public host. What listens at the ports of
// mail, chat, printing and other protocols may take the lines of an HTTP
// request for commands of its own. So browsers refuse these ports (the "bad
// ports" of the WHATWG Fetch standard), and so does nephila, unless
// `url.allow_ports` names them.
//   In: ports of URLs, hostile   Out: a verdict   Threads: any; it never
//   changes. Cost: a search of 82 numbers for a URL that names a port, nothing
//   for the others; no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace nephila::net {

class PortGuard {
 public:
  // Items of `url.allow_ports` that are no port allow nothing: Check reports
  // them.
  explicit PortGuard(const config::UrlSettings& settings);

  // Returns an error that names the first item which is no port.
  static Status Check(const config::UrlSettings& settings);

  // Returns true if `port`, as a URL has it, is refused. The empty text is the
  // default port of http or https, which is allowed.
  bool Refuses(std::string_view port) const;
  bool Refuses(uint16_t port) const;

  // Returns the reason in one line, with the setting that allows the port.
  static std::string Reason(std::string_view port);

  // The table, in ascending order.
  static std::span<const uint16_t> BadPorts();

 private:
  std::vector<uint16_t> allowed_;
};

}  // namespace nephila::net
