// Contacts: requests to servers for a handful of URLs, each when politeness
// lets it (polite_fetch.h). Names are resolved first; an answer that is no
// answer about the name is asked for again.
//   In: URLs   Out: one FetchResult for each, from the loop
//   Threads: the loop's   Memory: with the URLs that are asked for
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/table_hash.h"
#include "config/settings.h"
#include "dns/resolver.h"
#include "fetch/fetcher.h"
#include "fetch/response_head.h"
#include "net/event_loop.h"
#include "politeness/politeness.h"
#include "url/url.h"

namespace nephila::crawl {

class Contacts final : private fetch::FetchHandler {
 public:
  // All of it outlives this.
  struct Parts {
    net::EventLoop& loop;
    dns::Resolver& resolver;
    fetch::Fetcher& fetcher;
    const fetch::FetchLimits& limits;
    const config::Settings& settings;
    size_t max_in_flight;  // descriptors are the bound
  };
  // The result is never null: without a contact it has outcome and error
  // alone. `answer` says how the name was resolved.
  using Done = std::function<void(std::unique_ptr<fetch::FetchResult> result,
                                  const dns::Answer& answer)>;

  explicit Contacts(const Parts& parts);

  // `max_body_bytes`: in place of the setting.
  void Ask(const url::Url& url, politeness::Kind kind,
           std::optional<uint64_t> max_body_bytes, Done done);
  // The host asks for this between requests; the longest holds.
  void SetCrawlDelay(std::string_view host, std::chrono::nanoseconds delay);
  // Asks for nothing more: what waits ends as kInterrupted.
  void Stop() { stopped_ = true; }

 private:
  struct Request {
    fetch::FetchRequest fetch;
    politeness::Kind kind = politeness::Kind::kPage;
    Done done;
    dns::Answer answer;
    int resolved = 0;    // times that the name was asked for
    bool again = false;  // a kept connection was gone when it was used
    uint64_t lease = 0;
  };

  struct Host {
    size_t open = 0;  // requests
    std::chrono::nanoseconds crawl_delay{};
    std::vector<politeness::ServerKey> addresses;
  };

  politeness::HostFacts FactsOf(const std::string& name) const;
  politeness::HostFacts FactsOf(const Request& request) const;
  void Resolve(uint64_t id);
  void OnAnswer(uint64_t id, const dns::Answer& answer);
  void Add(uint64_t id);
  void AddAt(uint64_t id, MonoTime time);
  // Starts what is due, and sees to it that the next is.
  void Pump();
  void Start(const politeness::Lease& lease);
  // Without a contact, from the loop.
  void Fail(uint64_t id, item::FetchOutcome outcome, std::string error);
  // Frees the address for the next host, whatever the transfer takes.
  void OnContact(uint64_t id, MonoTime when, bool fresh) override;
  void OnFetched(std::unique_ptr<fetch::FetchResult> result) override;

  const Parts parts_;
  const TableHash hash_;  // keys of hosts
  fetch::ResponseHead head_;
  politeness::Politeness politeness_;
  std::map<uint64_t, Request> requests_;
  std::map<std::string, Host, std::less<>> hosts_;
  size_t in_flight_ = 0;
  uint64_t next_id_ = 1;
  net::TimerId timer_ = net::TimerId::kNone;
  bool stopped_ = false;
};

}  // namespace nephila::crawl
