#include "net/port_guard.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace nephila::net {
namespace {

// WHATWG Fetch, "port blocking".
constexpr auto kBadPorts = std::to_array<uint16_t>(
    {1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,
     25,   37,   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,
     103,  104,  109,  110,  111,  113,  115,  117,  119,  123,  135,  137,
     139,  143,  161,  179,  389,  427,  465,  512,  513,  514,  515,  526,
     530,  531,  532,  540,  548,  554,  556,  563,  587,  601,  636,  989,
     990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
     6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080});
static_assert(std::is_sorted(kBadPorts.begin(), kBadPorts.end()));

std::optional<uint16_t> ReadPort(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || at != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

PortGuard::PortGuard(const config::UrlSettings& settings) {
  for (const std::string& item : settings.allow_ports) {
    if (const auto port = ReadPort(item)) allowed_.push_back(*port);
  }
}

Status PortGuard::Check(const config::UrlSettings& settings) {
  for (const std::string& item : settings.allow_ports) {
    if (ReadPort(item)) continue;
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "url.allow_ports: " + EscapeForTerminal(item) +
                                " is not a port; write a number from 1 to "
                                "65535"});
  }
  return {};
}

bool PortGuard::Refuses(std::string_view port) const {
  if (port.empty()) return false;
  const auto number = ReadPort(port);
  // The URL parser lets 0 through. No server can listen there.
  return !number || Refuses(*number);
}

bool PortGuard::Refuses(uint16_t port) const {
  return port == 0 ||
         (std::binary_search(kBadPorts.begin(), kBadPorts.end(), port) &&
          std::find(allowed_.begin(), allowed_.end(), port) == allowed_.end());
}

std::string PortGuard::Reason(std::string_view port) {
  if (port == "0") return "port 0 cannot be connected to";
  const std::string text(port);
  return "port " + text +
         " belongs to another protocol than HTTP; url.allow_ports=" + text +
         " allows it";
}

std::span<const uint16_t> PortGuard::BadPorts() { return kBadPorts; }

}  // namespace nephila::net
