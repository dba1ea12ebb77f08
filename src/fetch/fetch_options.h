// FetchOptions: the settings of `agent` and `fetch`, checked and made ready.
//
//   In: settings   Out: options, or one line that names the setting
//   Threads: any; they never change once made.
//   Cost: Make reads the file of certificates, some 30 ms.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "fetch/fetcher.h"
#include "fetch/trust_store.h"
#include "fetch/wanted.h"
#include "net/ip_address.h"

namespace nephila::fetch {

struct FetchOptions {
  static Result<FetchOptions> Make(const config::AgentSettings& agent,
                                   const config::FetchSettings& fetch);

  FetchLimits limits;
  Wanted wanted;
  std::string agent_fields;  // FormatAgentFields
  bool http2 = true;
  bool accept_tls_errors = false;
  std::shared_ptr<const TrustStore> trust;
  std::string proxy;  // "": none
  std::optional<net::IpAddress> proxy_address;
  std::optional<net::IpAddress> source_v4;
  std::optional<net::IpAddress> source_v6;
  bool ipv6 = true;
  size_t multi_transfers = 250;
  size_t max_kept_connections = 10000;
  std::chrono::nanoseconds idle_timeout = std::chrono::minutes(2);
  size_t read_buffer_bytes = 16384;
};

// "nephila (+https://example.org/bot)".
std::string UserAgent(const config::AgentSettings& agent);

}  // namespace nephila::fetch
