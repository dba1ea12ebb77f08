#include "sim/site.h"

#include <fmt/format.h>

#include <charconv>

#include "base/hash.h"
#include "sim/pattern.h"
#include "sim/spaces.h"

namespace nephila::sim {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr uint64_t kFarmLinks = 100;
constexpr uint64_t kSmallSitePages = 10;

std::optional<uint64_t> WholeNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() ||
      (text.size() > 1 && text[0] == '0')) {
    return std::nullopt;
  }
  return number;
}

uint64_t FarmSeed(const Rule& farm) { return KeyedHash(farm.name, 0x6661726D); }

// A suffix of one label or more, drawn for each domain of a farm.
std::string_view FarmSuffix(const Rule& farm, uint64_t pld) {
  return TextTables::Suffix(Mix(FarmSeed(farm), pld));
}

void AppendFarmHost(const Rule& farm, uint64_t pld, uint64_t host,
                    std::string* out) {
  fmt::format_to(std::back_inserter(*out), "h{}.{}{}.{}", host, farm.name, pld,
                 FarmSuffix(farm, pld));
}

Found NotFound(std::string* body) {
  body->append("<html><title>404</title><h1>Not found</h1></html>\n");
  return {};
}

}  // namespace

Result<Site> Site::Make(Scenario scenario) {
  NEPHILA_TRY(Web web, Web::Make(scenario.shape));
  scenario.shape = web.shape();
  return Site(std::move(scenario), std::move(web));
}

// "h3.spam17.co.uk": host 3 of domain 17 of the farm "spam".
std::optional<HostFacts> Site::FindFarmHost(std::string_view host) const {
  const size_t dot = host.find('.');
  if (!host.starts_with('h') || dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = WholeNumber(host.substr(1, dot - 1));
  const std::string_view pld_name = host.substr(dot + 1);
  const std::string_view label = pld_name.substr(0, pld_name.find('.'));
  if (!number || label.size() == pld_name.size()) return std::nullopt;
  for (const Rule& rule : scenario_.rules) {
    if (rule.behaviour != Behaviour::kFarm) continue;
    if (!label.starts_with(rule.name)) continue;
    const auto pld = WholeNumber(label.substr(rule.name.size()));
    if (!pld || *pld >= static_cast<uint64_t>(rule.plds)) continue;
    if (*number >= static_cast<uint64_t>(rule.hosts)) continue;
    if (pld_name.substr(label.size() + 1) != FarmSuffix(rule, *pld)) continue;
    HostFacts facts;
    facts.kind = HostKind::kFarm;
    facts.farm = &rule;
    facts.seed = Mix(FarmSeed(rule), *pld, *number);
    return facts;
  }
  return std::nullopt;
}

HostFacts Site::FindHost(std::string_view host) const {
  HostFacts facts;
  if (const auto id = web_.FindHost(host)) {
    facts.kind = HostKind::kWeb;
    facts.id = *id;
    return facts;
  }
  if (const auto farm = FindFarmHost(host)) return *farm;
  if (scenario_.Names(host)) {
    facts.kind = HostKind::kNamed;
    facts.seed = KeyedHash(host, static_cast<uint64_t>(web_.shape().seed));
  }
  return facts;
}

AddressList Site::AddressesOf(const HostFacts& host,
                              std::string_view name) const {
  if (host.kind == HostKind::kWeb) return web_.AddressesOf(host.id);
  // Drawn as for a web host that cannot be: beyond all domains.
  const uint64_t bits = KeyedHash(name, 1) >> 1;
  return web_.AddressesOf({web_.pld_count() + bits, 0});
}

Found Site::FindRobots(const HostFacts& host, std::string* body) const {
  if (host.kind != HostKind::kWeb || !web_.HasRobots(host.id)) {
    return NotFound(body);
  }
  web_.AppendRobots(host.id, body);
  Found found;
  found.status = 200;
  found.type = kPlain;
  return found;
}

void Site::AppendFarmUrl(const Rule& farm, uint64_t bits,
                         std::string* out) const {
  const uint64_t pld = ToBelow(Mix(bits, 1), static_cast<uint64_t>(farm.plds));
  const uint64_t host =
      ToBelow(Mix(bits, 2), static_cast<uint64_t>(farm.hosts));
  out->append("http://");
  AppendFarmHost(farm, pld, host, out);
  if (web_.shape().port != 80 && web_.shape().port != 0) {
    fmt::format_to(std::back_inserter(*out), ":{}", web_.shape().port);
  }
  fmt::format_to(std::back_inserter(*out), "/p{}", ToBelow(Mix(bits, 3), 1000));
}

void Site::AppendEntries(const Rule* space, uint64_t page_bits,
                         std::string* out) const {
  if (space != nullptr) {
    if (const auto entry = EntryOf(space->behaviour); !entry.empty()) {
      out->append("<a href=\"").append(entry).append("\">more</a>\n");
    }
  }
  for (const Rule& rule : scenario_.rules) {
    if (rule.behaviour != Behaviour::kFarm) continue;
    const uint64_t bits = Mix(page_bits, FarmSeed(rule));
    if (static_cast<int64_t>(ToBelow(bits, 1000)) >= rule.entry) continue;
    out->append("<a href=\"");
    AppendFarmUrl(rule, bits, out);
    out->append("\">offer</a>\n");
  }
}

Found Site::FindFarmPage(const Request& request, const HostFacts& host,
                         std::string* body) const {
  const std::string_view path = request.target;
  const auto number =
      path.starts_with("/p") ? WholeNumber(path.substr(2)) : std::nullopt;
  if (path != "/" && (!number || *number >= 1000)) return NotFound(body);
  const Rule& farm = *host.farm;
  const uint64_t bits = Mix(host.seed, number.value_or(1000));
  const auto links =
      farm.count == 0 ? kFarmLinks : static_cast<uint64_t>(farm.count);
  body->append("<!DOCTYPE html>\n<html><head><title>")
      .append(farm.name)
      .append("</title></head>\n<body>\n");
  for (uint64_t i = 0; i < links; ++i) {
    body->append("<a href=\"");
    AppendFarmUrl(farm, Mix(bits, i), body);
    body->append("\">best offer</a>\n");
  }
  const uint64_t bytes = farm.bytes == 0 ? web_.shape().page_bytes : farm.bytes;
  if (body->size() < bytes) web_.AppendText(bits, bytes - body->size(), body);
  body->append("</body></html>\n");
  Found found;
  found.status = 200;
  found.version = bits;
  return found;
}

// Its home page links to all others, and no page to anywhere else.
Found Site::FindSmallSitePage(const Request& request, const Rule& rule,
                              const HostFacts& host, std::string* body) const {
  const uint64_t pages =
      rule.count == 0 ? kSmallSitePages : static_cast<uint64_t>(rule.count);
  const bool home = request.target == "/";
  const auto number =
      home ? std::optional<uint64_t>(0) : WholeNumber(request.target.substr(1));
  if (!number || *number >= pages || (!home && *number == 0)) {
    return NotFound(body);
  }
  Found found;
  found.status = 200;
  found.version = Mix(host.seed, *number);
  body->append("<!DOCTYPE html>\n<html><head><title>page</title></head>\n")
      .append("<body><a href=\"/\">home</a>\n");
  for (uint64_t page = 1; home && page < pages; ++page) {
    fmt::format_to(std::back_inserter(*body), "<a href=\"/{}\">page</a>\n",
                   page);
  }
  web_.AppendText(found.version, web_.shape().page_bytes, body);
  body->append("</body></html>\n");
  return found;
}

Found Site::FindWebPage(const Request& request, const HostFacts& host,
                        const Rule* space, std::string* body) const {
  Found found;
  found.status = 200;
  std::string_view path = request.target;
  std::string_view session;
  const bool sessions =
      space != nullptr && space->behaviour == Behaviour::kSessionIds;
  if (sessions) path = WithoutSession(path, &session);
  if (space != nullptr &&
      AppendSpacePage(*space, path, web_, &found.version, body)) {
    return found;
  }
  const auto page = web_.FindPage(host.id, path);
  if (!page) {
    if (space == nullptr || space->behaviour != Behaviour::kSoft404) {
      return NotFound(body);
    }
    found.version = KeyedHash(path, 404);
    body->append("<html><title>Sorry</title><h1>We did not find it</h1>\n");
    web_.AppendText(found.version, 2000, body);
    return found;
  }
  found.version = Mix(page->host.pld, page->host.host, page->page);
  std::string extra;
  AppendEntries(space, found.version, &extra);
  if (sessions && !request.has_cookie) {
    found.session = true;
    // A visitor without one begins a session named after the page.
    const std::string fresh = fmt::format("{:016x}", found.version);
    AppendSessionLinks(web_, *page, session.empty() ? fresh : session, &extra);
  }
  found.gzip = web_.FactsOf(*page).gzip;
  found.chunked = web_.IsChunked(page->host);
  web_.AppendPage(*page, extra, body);
  return found;
}

Found Site::Find(const Request& request, std::string* body) const {
  const Rule* space = scenario_.Find(Layer::kSpace, request.host, "");
  const bool mirror =
      space != nullptr && space->behaviour == Behaviour::kMirror;
  const std::string_view name =
      mirror ? std::string_view(space->of) : std::string_view(request.host);
  const HostFacts host = FindHost(name);
  if (request.target == "/robots.txt") return FindRobots(host, body);
  switch (host.kind) {
    case HostKind::kNone:
      return NotFound(body);
    case HostKind::kWeb:
      return FindWebPage(request, host, mirror ? nullptr : space, body);
    case HostKind::kFarm:
      return FindFarmPage(request, host, body);
    case HostKind::kNamed:
      break;
  }
  if (space != nullptr && space->behaviour == Behaviour::kSmallSite) {
    return FindSmallSitePage(request, *space, host, body);
  }
  Found found;
  found.status = 200;
  if (space != nullptr &&
      AppendSpacePage(*space, request.target, web_, &found.version, body)) {
    return found;
  }
  found.version = KeyedHash(request.target, host.seed);
  body->append("<!DOCTYPE html>\n<html><head><title>page</title></head>\n")
      .append("<body><a href=\"/\">home</a>\n");
  std::string extra;
  AppendEntries(space, found.version, &extra);
  body->append(extra);
  web_.AppendText(found.version, web_.shape().page_bytes, body);
  body->append("</body></html>\n");
  return found;
}

}  // namespace nephila::sim
