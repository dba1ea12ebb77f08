#include <nlohmann/json.hpp>
#include <string>

#include "inspect/why.h"
#include "inspect/why_words.h"

namespace nephila::inspect {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  // What is no UTF-8 is shown with U+FFFD: JSON cannot hold it.
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json TimeOf(const std::optional<WallTime>& time) {
  return time ? Json(FormatUtc(*time)) : Json(nullptr);
}

template <typename Duration>
double Seconds(Duration length) {
  return std::chrono::duration<double>(length).count();
}

Json CopiesOf(const std::vector<ArchivedCopy>& copies) {
  Json list = Json::array();
  for (const ArchivedCopy& copy : copies) {
    Json one;
    one["file"] = copy.file;
    one["offset"] = copy.offset;
    one["timestamp"] = copy.timestamp;
    one["status"] = copy.status;
    one["mime"] = copy.media_type;
    if (!copy.redirect.empty()) one["redirect"] = copy.redirect;
    list.push_back(std::move(one));
  }
  return list;
}

Json AttemptsOf(const History& history) {
  Json list = Json::array();
  for (const FetchAttempt& attempt : history.attempts) {
    Json one;
    one["when"] = attempt.when;
    one["outcome"] = item::FetchOutcomeName(attempt.outcome);
    one["status"] = attempt.status;
    one["attempt"] = attempt.attempt;
    one["bytes"] = attempt.bytes ? Json(*attempt.bytes) : Json(nullptr);
    if (!attempt.media_type.empty()) one["mime"] = attempt.media_type;
    if (!attempt.followed.empty()) one["followed"] = attempt.followed;
    if (attempt.again) one["again"] = FormatUtc(*attempt.again);
    list.push_back(std::move(one));
  }
  return list;
}

Json JsonOf(const DomainFacts& domain) {
  Json json;
  json["name"] = domain.name;
  json["budgets"] = domain.has_budgets;
  if (!domain.has_budgets) return json;
  json["known"] = domain.is_known;
  json["in_degree"] = domain.in_degree;
  json["budget"] = domain.budget;
  json["next_queue"] = domain.next_queue;
  json["in_next_queue"] = domain.fill;
  json["hosts"] = domain.hosts;
  json["in_pass"] = domain.in_pass;
  json["current_queue"] = domain.current_queue;
  json["last_queue"] = domain.last_queue;
  json["in_failed"] = domain.in_failed;
  json["queue_seconds"] = Seconds(domain.queue_time);
  return json;
}

Json JsonOf(const RobotsFacts& robots) {
  Json json;
  json["origin"] = robots.origin;
  json["known"] = robots.is_known;
  json["requested"] = robots.requested;
  json["delayed"] = robots.delayed;
  json["asked"] = TimeOf(robots.asked);
  json["expires"] = TimeOf(robots.expires);
  json["unreachable"] = robots.tries;
  json["unreachable_since"] = TimeOf(robots.unreachable_since);
  json["crawl_delay"] = Seconds(robots.crawl_delay);
  json["not_before"] = TimeOf(robots.not_before);
  json["failures"] = robots.failures;
  json["overloads"] = robots.overloads;
  json["disallows_all"] = robots.disallows_all;
  if (robots.allowed) {
    json["allowed"] = *robots.allowed;
    json["rule"] = robots.rule.empty() ? Json(nullptr) : Json(robots.rule);
    json["line"] = robots.rule.empty() ? Json(nullptr) : Json(robots.line);
  }
  json["in_pass"] = robots.in_pass;
  json["archived"] = CopiesOf(robots.copies);
  return json;
}

Json JsonOf(const LiveHost& live) {
  Json json;
  json["in_flight"] = live.in_flight;
  json["in_memory"] = live.in_memory;
  json["resolving"] = live.resolving;
  json["waits_for"] = live.waits_for;
  json["reason"] = live.reason;
  json["seconds"] = Seconds(live.until);
  json["delay"] = Seconds(live.delay);
  json["urls"] = live.urls;
  json["hosts_ahead"] = live.hosts_ahead;
  json["authority"] = live.authority;
  json["failures"] = live.failures;
  json["overloads"] = live.overloads;
  return json;
}

Json JsonOf(const Looked& looked) {
  Json json;
  json["manifest"] = looked.manifest;
  json["all"] = looked.scanned;
  json["not_read"] = Json::array();
  for (const HeldUrls::Skipped& skipped : looked.skipped) {
    json["not_read"].push_back(
        {{"name", skipped.name}, {"bytes", skipped.bytes}});
  }
  json["log_bytes"] = looked.log_bytes;
  json["log_read"] = looked.log_read;
  json["archives_not_read"] = looked.archives_not_read;
  return json;
}

Json PlaceOf(const UrlFacts& facts) {
  Json json;
  json["stage"] = StageOf(*facts.held);
  json["where"] = HeldInName(*facts.held);
  json["ahead"] = facts.ahead;
  if (facts.queue) json["queue"] = *facts.queue;
  if (facts.due) json["due"] = FormatUtc(*facts.due);
  return json;
}

}  // namespace

std::string FormatJson(const UrlFacts& facts, WallTime now) {
  Json json;
  json["input"] = facts.input;
  json["state"] = UrlStateName(facts.state);
  json["words"] = DescribeState(facts, now);
  if (facts.url.empty()) {
    json["dropped"] = facts.dropped;
    return Dump(json);
  }
  json["url"] = facts.url;
  json["host"] = facts.host;
  json["pld"] = facts.domain;
  json["scope"] = facts.scope.empty() ? Json(nullptr) : Json(facts.scope);
  json["scope_rule"] =
      facts.scope_rule.empty() ? Json(nullptr) : Json(facts.scope_rule);
  json["cap"] = facts.cap.empty() ? Json(nullptr) : Json(facts.cap);
  json["seen"] = facts.is_known;
  json["links_in_pass"] = facts.links_in_pass;
  json["place"] = facts.held ? PlaceOf(facts) : Json(nullptr);
  if (facts.discovered) {
    json["found"] = {{"parent", facts.parent},
                     {"discovered", FormatUtc(*facts.discovered)},
                     {"depth", facts.depth},
                     {"hop_path", facts.hop_path},
                     {"attempts", facts.attempts_before}};
  }
  if (!facts.redirect.empty()) json["redirect"] = facts.redirect;
  json["strikes"] = facts.strikes;
  json["attempt_count"] = facts.history.attempt_count;
  json["attempts"] = AttemptsOf(facts.history);
  json["archived"] = CopiesOf(facts.history.copies);
  json["domain"] = JsonOf(facts.of_domain);
  json["robots"] = JsonOf(facts.of_robots);
  json["live"] = facts.live.is_asked ? JsonOf(facts.live) : Json(nullptr);
  json["looked"] = JsonOf(facts.looked);
  return Dump(json);
}

std::string FormatJson(const HostFacts& facts) {
  Json json;
  json["input"] = facts.input;
  if (facts.host.empty()) {
    json["dropped"] = facts.dropped;
    return Dump(json);
  }
  json["host"] = facts.host;
  json["pld"] = facts.domain;
  json["scope"] = facts.scope.empty() ? Json(nullptr) : Json(facts.scope);
  json["waiting"] = facts.waiting;
  json["attempts"] = facts.attempts;
  json["outcomes"] = facts.outcomes;
  json["domain"] = JsonOf(facts.of_domain);
  json["robots"] = Json::array();
  for (const RobotsFacts& robots : facts.of_robots) {
    json["robots"].push_back(JsonOf(robots));
  }
  json["saved_wait"] =
      facts.saved_wait ? Json(Seconds(*facts.saved_wait)) : Json(nullptr);
  json["live"] = facts.live.is_asked ? JsonOf(facts.live) : Json(nullptr);
  json["looked"] = JsonOf(facts.looked);
  return Dump(json);
}

}  // namespace nephila::inspect
