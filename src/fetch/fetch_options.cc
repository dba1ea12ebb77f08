#include "fetch/fetch_options.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "fetch/request_text.h"
#include "item/product_token.h"

namespace nephila::fetch {
namespace {

Error BadSetting(std::string_view name, std::string_view value,
                 std::string_view what) {
  return Error{ErrorCode::kInvalidArgument, std::string(name) + ": \"" +
                                                EscapeForTerminal(value) +
                                                "\" " + std::string(what)};
}

Status CheckFields(const config::AgentSettings& agent,
                   const config::FetchSettings& fetch) {
  if (item::ProductToken(agent.name).empty()) {
    return Unexpected(BadSetting("agent.name", agent.name,
                                 "begins with no name for robots.txt; write "
                                 "letters first, as in nephila"));
  }
  const std::array<std::pair<std::string_view, const std::string*>, 6> values =
      {{{"agent.name", &agent.name},
        {"agent.contact", &agent.contact},
        {"agent.from", &agent.from},
        {"fetch.accept", &fetch.accept},
        {"fetch.accept_language", &fetch.accept_language},
        {"fetch.accept_encoding", &fetch.accept_encoding}}};
  for (const auto& [name, value] : values) {
    if (!IsFieldValue(*value)) {
      return Unexpected(
          BadSetting(name, *value, "holds characters that no header may"));
    }
  }
  return {};
}

// Names would have to be resolved, which is not libcurl's task here.
Status ReadProxy(const std::string& proxy, FetchOptions* options) {
  if (proxy.empty()) return {};
  const size_t scheme = proxy.find("://");
  const std::string_view kind = std::string_view(proxy).substr(
      0, scheme == std::string::npos ? 0 : scheme);
  std::optional<net::Endpoint> endpoint;
  if (kind == "http" || kind == "socks5") {
    endpoint =
        net::Endpoint::Parse(std::string_view(proxy).substr(scheme + 3), 0);
  }
  if (!endpoint.has_value()) {
    return Unexpected(BadSetting("fetch.proxy", proxy,
                                 "is no http://ADDRESS:PORT or "
                                 "socks5://ADDRESS:PORT"));
  }
  options->proxy = proxy;
  options->proxy_address = endpoint->address;
  return {};
}

Status ReadSources(const config::FetchSettings& fetch, FetchOptions* options) {
  for (const std::string& text : fetch.source_addresses) {
    const std::optional<net::IpAddress> address = net::IpAddress::Parse(text);
    if (!address.has_value()) {
      return Unexpected(
          BadSetting("fetch.source_addresses", text, "is no IP address"));
    }
    std::optional<net::IpAddress>& source =
        address->is_v4() ? options->source_v4 : options->source_v6;
    if (!source.has_value()) source = address;
  }
  return {};
}

}  // namespace

std::string UserAgent(const config::AgentSettings& agent) {
  if (agent.contact.empty()) return agent.name;
  return agent.name + " (+" + agent.contact + ")";
}

Result<FetchOptions> FetchOptions::Make(const config::AgentSettings& agent,
                                        const config::FetchSettings& fetch) {
  NEPHILA_RETURN_IF_ERROR(CheckFields(agent, fetch));
  FetchOptions options;
  NEPHILA_RETURN_IF_ERROR(ReadProxy(fetch.proxy, &options));
  NEPHILA_RETURN_IF_ERROR(ReadSources(fetch, &options));
  NEPHILA_TRY(options.wanted,
              Wanted::Make(fetch.accept_types, fetch.max_declared_bytes));
  NEPHILA_TRY(options.trust, TrustStore::Load(fetch.ca_file));
  options.limits.connect_timeout = fetch.connect_timeout;
  options.limits.first_byte_timeout = fetch.first_byte_timeout;
  options.limits.timeout = fetch.timeout;
  options.limits.min_speed_bytes = fetch.min_speed_bytes;
  options.limits.speed_window = fetch.speed_window;
  options.limits.max_body_bytes = fetch.max_body_bytes;
  options.limits.max_head_bytes = fetch.max_head_bytes;
  options.limits.max_head_fields = static_cast<uint64_t>(fetch.max_head_fields);
  options.agent_fields =
      FormatAgentFields({.user_agent = UserAgent(agent),
                         .from = agent.from,
                         .accept = fetch.accept,
                         .accept_language = fetch.accept_language,
                         .accept_encoding = fetch.accept_encoding});
  options.http2 = fetch.http2;
  options.accept_tls_errors = fetch.tls_errors == config::TlsErrors::kAccept;
  options.ipv6 = fetch.ipv6;
  options.multi_transfers = static_cast<size_t>(fetch.multi_transfers);
  options.max_kept_connections =
      static_cast<size_t>(fetch.max_kept_connections);
  options.idle_timeout = fetch.idle_timeout;
  options.read_buffer_bytes = fetch.read_buffer_bytes;
  return options;
}

}  // namespace nephila::fetch
