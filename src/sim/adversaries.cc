#include "sim/adversaries.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "sim/mix.h"

namespace nephila::sim {
namespace {

constexpr auto kAdversaries = std::to_array<Adversary>({
    // robots.txt on another host, which asks for ten minutes between requests.
    {"robots-slow", Resource::kHosts, R"(
[[rule]]
host = "a-slow*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b-slow{n}.example:{port}/robots.txt"
[[rule]]
host = "b-slow*.example"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 600\n"
)",
     "http://a-slow{n}.example:{port}/{page}", 2},
    // On another host, which never answers.
    {"robots-dead", Resource::kTransfers, R"(
[[rule]]
host = "a-dead*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b-dead{n}.example:{port}/robots.txt"
[[rule]]
host = "b-dead*.example"
path = "/*"
behaviour = "hang"
)",
     "http://a-dead{n}.example:{port}/"},
    // On another host, which wants to be left alone for a day.
    {"robots-busy", Resource::kHosts, R"(
[[rule]]
host = "a-busy*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b-busy{n}.example:{port}/robots.txt"
[[rule]]
host = "b-busy*.example"
path = "/*"
behaviour = "retry-after"
delay = "1d"
)",
     "http://a-busy{n}.example:{port}/"},
    // On two hosts that send each other's visitors back.
    {"robots-loop", Resource::kHosts, R"(
[[rule]]
host = "a-loop*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b-loop{n}.example:{port}/robots.txt"
[[rule]]
host = "b-loop*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://a-loop{n}.example:{port}/robots.txt"
)",
     "http://a-loop{n}.example:{port}/"},
    // All on one host, which asks for ten minutes between requests.
    {"robots-fan-in", Resource::kHosts, R"(
[[rule]]
host = "a-fan*.example"
path = "/robots.txt"
behaviour = "redirect"
target = "http://b-fan.example:{port}/robots.txt"
[[rule]]
host = "b-fan.example"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 600\n"
)",
     "http://a-fan{n}.example:{port}/"},
    // Closed ports of one host: each has a robots.txt of its own.
    {"ports", Resource::kHosts, R"(
[[rule]]
host = "ports.example"
behaviour = "page"
)",
     "http://ports.example:{number}/"},
    // Just below the wait for which a crawler puts URLs on disk.
    {"crawl-delay", Resource::kHosts, R"(
[[rule]]
host = "delay*.example"
behaviour = "robots"
text = "User-agent: *\nCrawl-delay: 290\n"
)",
     "http://delay{n}.example:{port}/{page}", 3},
    // A robots.txt, and then nothing.
    {"robots-only", Resource::kTransfers, R"(
[[rule]]
host = "mute*.example"
behaviour = "hang"
)",
     "http://mute{n}.example:{port}/"},
    // 40 bytes a second, from the first line of the head on.
    {"tarpit", Resource::kTransfers, R"(
[[rule]]
host = "tar*.example"
behaviour = "tarpit"
)",
     "http://tar{n}.example:{port}/"},
    {"dns-slow", Resource::kNames, R"(
[[rule]]
host = "late*.example"
behaviour = "dns-slow"
delay = "4s"
)",
     "http://late{n}.example:{port}/"},
    {"dns-drip", Resource::kNames, R"(
[[rule]]
host = "drip*.example"
behaviour = "dns-drip"
delay = "200ms"
)",
     "http://drip{n}.example:{port}/"},
    {"dns-silent", Resource::kNames, R"(
[[rule]]
host = "silent*.example"
behaviour = "dns-timeout"
)",
     "http://silent{n}.example:{port}/"},
    // Redirects from host to host without end.
    {"redirect-web", Resource::kHosts, R"(
[[rule]]
host = "web*.example"
behaviour = "redirect-web"
hosts = {all}
)",
     "http://web{n}.example:{port}/"},
    {"retry-after", Resource::kHosts, R"(
[[rule]]
host = "later*.example"
behaviour = "retry-after"
delay = "365d"
)",
     "http://later{n}.example:{port}/{page}", 3},
    {"link-flood", Resource::kHosts, R"(
[[rule]]
host = "flood*.example"
behaviour = "link-flood"
)",
     "http://flood{n}.example:{port}/"},
    {"heavy-page", Resource::kHosts, R"(
[[rule]]
host = "heavy*.example"
behaviour = "heavy-page"
)",
     "http://heavy{n}.example:{port}/"},
});

void ReplaceAll(std::string_view what, const std::string& by,
                std::string* text) {
  for (size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + by.size())) {
    text->replace(at, what.size(), by);
  }
}

// A port below those that the system gives to servers and clients.
constexpr uint64_t kPorts = 30'000;

}  // namespace

std::span<const Adversary> Adversaries() { return kAdversaries; }

const Adversary* FindAdversary(std::string_view name) {
  const auto* const found =
      std::find_if(kAdversaries.begin(), kAdversaries.end(),
                   [&](const Adversary& one) { return one.name == name; });
  return found == kAdversaries.end() ? nullptr : found;
}

std::string HostileRules(const HostileWebOptions& options) {
  std::string rules = fmt::format(R"(
[web]
seed = {}
hosts = 10
addresses = 20000
several_addresses_permille = 0
page_bytes = 1500
[[rule]]
host = "good*.example"
behaviour = "small-site"
count = {}
)",
                                  options.seed, options.pages);
  for (const Adversary* one : options.adversaries) {
    std::string text(one->rules);
    ReplaceAll("{all}",
               std::to_string(std::max<uint64_t>(options.hostile_hosts, 1)),
               &text);
    rules += text;
  }
  return rules;
}

std::vector<std::string> HostileSeeds(const HostileWebOptions& options,
                                      uint16_t port) {
  std::vector<std::string> seeds;
  const size_t kinds = options.adversaries.size();
  for (uint64_t n = 0; n < options.hostile_hosts && kinds > 0; ++n) {
    const Adversary& one =
        *options.adversaries[ToBelow(Mix(options.seed, n), kinds)];
    for (int page = 1; page <= one.pages; ++page) {
      std::string url(one.url);
      ReplaceAll("{n}", std::to_string(n), &url);
      ReplaceAll("{number}", std::to_string(1 + n % kPorts), &url);
      ReplaceAll("{page}", std::to_string(page), &url);
      ReplaceAll("{port}", std::to_string(port), &url);
      seeds.push_back(std::move(url));
    }
  }
  for (uint64_t n = 0; n < options.good_hosts; ++n) {
    seeds.push_back(fmt::format("http://good{}.example:{}/", n, port));
  }
  return seeds;
}

}  // namespace nephila::sim
