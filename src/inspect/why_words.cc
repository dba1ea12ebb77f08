#include "inspect/why_words.h"

#include <fmt/core.h>

#include <string_view>
#include <vector>

#include "base/text.h"
#include "item/outcome_policy.h"

namespace nephila::inspect {
namespace {

std::string Plural(uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// "2026-01-02T03:04:05.678Z, in 4m 5s".
std::string When(WallTime time, WallTime now) {
  std::string text = FormatUtc(time);
  if (time > now) text += ", in " + HumanDuration(time - now);
  return text;
}

std::string Until(const std::optional<WallTime>& time, WallTime now) {
  return time ? " until " + When(*time, now) : std::string();
}

std::string DropWords(std::string_view reason) {
  if (reason == "invalid-url") return "it is no URL";
  if (reason == "scheme") return "only http and https are crawled";
  if (reason == "bad-host") return "the DNS cannot know such a host";
  if (reason == "too-long") return "it is longer than url.max_length";
  if (reason == "bad-port") {
    return "browsers refuse its port; url.allow_ports can allow it";
  }
  return std::string(reason);
}

std::string RuleWords(const RobotsFacts& robots) {
  if (robots.rule.empty()) return "no rule speaks of it";
  return fmt::format("line {}, \"{}\"", robots.line, robots.rule);
}

std::string AttemptWords(const FetchAttempt& attempt) {
  std::string text(item::FetchOutcomeName(attempt.outcome));
  if (attempt.outcome == item::FetchOutcome::kResponse) {
    text = fmt::format("status {}", attempt.status);
  }
  return text;
}

std::string LastAttempt(const UrlFacts& facts) {
  if (facts.history.attempts.empty()) return "it is in the archive";
  const FetchAttempt& last = facts.history.attempts.back();
  return fmt::format("{} at {}, attempt {}", AttemptWords(last), last.when,
                     last.attempt);
}

std::string WhyGivenUp(const UrlFacts& facts) {
  if (facts.history.attempts.empty()) return "";
  const FetchAttempt& last = facts.history.attempts.back();
  const item::OutcomeRow& row = item::RowFor(last.outcome, last.status);
  if (row.url == item::UrlStep::kRetry) return ": it was tried often enough";
  return fmt::format(": {}", row.why);
}

// Of politeness::WaitsForName.
std::string_view WaitWords(std::string_view waits_for) {
  if (waits_for == "nothing") return "nothing of it waits in memory";
  if (waits_for == "host-delay") return "waits for its delay";
  if (waits_for == "domain-delay") {
    return "waits for the turn of another host of its domain";
  }
  if (waits_for == "server-delay") return "waits for the delay of its address";
  if (waits_for == "server-line") return "waits for others at its address";
  if (waits_for == "transfer") return "waits for the transfer in flight";
  if (waits_for == "parked") return "is left alone for long";
  if (waits_for == "authority") {
    return "waits for its port, which did not answer";
  }
  return "is due";
}

std::string HostWords(const LiveHost& live) {
  if (!live.error.empty()) return "the crawl does not answer: " + live.error;
  if (!live.is_asked) return "";
  if (live.resolving) return "its name is being looked up";
  std::string text(WaitWords(live.waits_for));
  if (live.until.count() > 0) {
    text +=
        fmt::format(", {} more ({})", HumanDuration(live.until), live.reason);
  }
  if (live.failures > 0 && !live.authority.empty()) {
    text += fmt::format(", {} silent {}", live.authority,
                        Plural(live.failures, "time"));
  }
  if (live.hosts_ahead > 0) {
    text += fmt::format(", {} before it at its address",
                        Plural(live.hosts_ahead, "host"));
  }
  return text;
}

std::string QueueRange(const DomainFacts& domain) {
  const uint64_t last = std::max(
      domain.current_queue, std::min(domain.next_queue, domain.last_queue));
  return fmt::format("{} to {}", domain.current_queue, last);
}

std::string SomewhereWords(const UrlFacts& facts) {
  std::string text = "known, and not among what was read";
  if (facts.of_domain.has_budgets) {
    text += fmt::format(": in queues {} of BEAST, or in Q_F ({})",
                        QueueRange(facts.of_domain),
                        Plural(facts.of_domain.in_failed, "URL"));
  }
  return text + ", or it ended before; --scan says which";
}

std::string BudgetWords(const UrlFacts& facts) {
  const DomainFacts& domain = facts.of_domain;
  const uint64_t queues =
      facts.queue.value_or(0) -
      std::min(facts.queue.value_or(0), domain.current_queue);
  std::string text =
      fmt::format("waits in queue {} of BEAST behind {}; queue {} is read now",
                  facts.queue.value_or(0), Plural(facts.ahead, "URL"),
                  domain.current_queue);
  if (queues > 0 && domain.queue_time.count() > 0) {
    text += fmt::format(", a queue takes about {}",
                        HumanDuration(domain.queue_time));
  }
  return text;
}

std::string ReadyWords(const UrlFacts& facts, WallTime now) {
  std::string text = "may be fetched, waits for the turn of its host";
  if (facts.held) {
    text += fmt::format(", behind {} of the ready queue",
                        Plural(facts.ahead, "URL"));
  }
  if (facts.due && *facts.due > now) {
    text += fmt::format("; the host is left alone{}", Until(facts.due, now));
  }
  const std::string host = HostWords(facts.live);
  return host.empty() ? text : text + "; host: " + host;
}

std::string RobotsWaitWords(const UrlFacts& facts) {
  std::string text =
      fmt::format("waits for {}robots.txt", facts.of_robots.origin);
  if (facts.of_robots.requested) text += ", which is asked for";
  return text +
         fmt::format("; behind {} that wait so", Plural(facts.ahead, "URL"));
}

}  // namespace

std::string DescribeState(const UrlFacts& facts, WallTime now) {
  switch (facts.state) {
    case UrlState::kNotCrawled:
      return "not crawled: " + DropWords(facts.dropped);
    case UrlState::kOutOfScope:
      return fmt::format(
          "the scope of the crawl refuses it: {}{}", facts.scope,
          facts.scope_rule.empty() ? "" : " (" + facts.scope_rule + ")");
    case UrlState::kSkippedExtension:
      return "left out for its extension (seen.skip_extensions)";
    case UrlState::kNeverSeen:
      return "never seen: no page that was read has a link to it";
    case UrlState::kSeed:
      return "given as a seed; the crawl has not taken it yet";
    case UrlState::kSeenLink:
      return "a link to it waits for the next pass of seen, which says "
             "whether it is new";
    case UrlState::kSeenNew:
      return "new, on its way from seen to budget";
    case UrlState::kCapsPass:
      return "waits for the pass that counts it against the limits of its "
             "host and domain";
    case UrlState::kCapsThrough:
      return "within the limits of its host and domain, on its way to budget";
    case UrlState::kBudgetPass:
      return "waits for the pass that gives it a queue of BEAST";
    case UrlState::kBudgetQueue:
      return BudgetWords(facts);
    case UrlState::kBudgetFailed:
      return fmt::format(
          "waits in Q_F behind {}: the budget of its domain is used up until "
          "Q_F is split",
          Plural(facts.ahead, "URL"));
    case UrlState::kToRobots:
      return "on its way to robots, to be checked with robots.txt";
    case UrlState::kRobotsChecking:
      return "waits for the next pass of robots, which checks it";
    case UrlState::kRobotsDecided:
      return "checked with robots.txt, moves on with the next step";
    case UrlState::kRobotsWaiting:
      return RobotsWaitWords(facts);
    case UrlState::kRobotsParked:
      return fmt::format("waits{}: {}robots.txt {}", Until(facts.due, now),
                         facts.of_robots.origin,
                         facts.of_robots.delayed
                             ? "has no turn at its server before"
                             : "is unreachable");
    case UrlState::kReady:
      return ReadyWords(facts, now);
    case UrlState::kParked:
      return fmt::format("parked{}: its host is left alone",
                         Until(facts.due, now));
    case UrlState::kRetry:
      return fmt::format("is tried again{}; the last attempt: {}",
                         facts.due ? " at " + When(*facts.due, now) : "",
                         LastAttempt(facts));
    case UrlState::kInFlight:
      return "is being fetched now";
    case UrlState::kDone:
      return "fetched: " + LastAttempt(facts);
    case UrlState::kRedirected:
      return fmt::format(
          "redirected to {}: {}",
          facts.redirect.empty() ? "another URL" : facts.redirect,
          LastAttempt(facts));
    case UrlState::kQuarantined:
      return fmt::format(
          "fetched and quarantined: reading it ended the process {} times, "
          "its links are left out; {}",
          facts.strikes, LastAttempt(facts));
    case UrlState::kFailed:
      return "given up after " + LastAttempt(facts) + WhyGivenUp(facts);
    case UrlState::kOverCap:
      return fmt::format(
          "left out: its host or domain has as many as it may have ({})",
          facts.cap);
    case UrlState::kRobotsDenied:
      return "dropped: robots.txt denies it, " + RuleWords(facts.of_robots);
    case UrlState::kRobotsUnreachable:
      return fmt::format("dropped: {}robots.txt was unreachable {} times",
                         facts.of_robots.origin, facts.of_robots.tries);
    case UrlState::kDropped:
      return "left the crawl without an attempt: robots.txt or the scope "
             "refused it, as they were then";
    case UrlState::kSomewhere:
      return SomewhereWords(facts);
  }
  return "";
}

namespace {

// A line with its name, escaped.
class Lines {
 public:
  void Add(std::string_view name, const std::string& text) {
    if (text.empty()) return;
    text_ += fmt::format("  {}: {}\n", name, EscapeForTerminal(text));
  }
  void Head(std::string_view text) { text_ += EscapeForTerminal(text) + "\n"; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

void AddDomain(const DomainFacts& domain, Lines* lines) {
  if (!domain.has_budgets) {
    lines->Add("domain", domain.name + ": this crawl has no budgets");
    return;
  }
  std::string text = domain.name;
  if (!domain.is_known) {
    text += ": no pass of budget has met it yet";
  } else {
    text += fmt::format(
        ": {} link to it, budget {}, next queue {} with {} in it, about {}",
        Plural(domain.in_degree, "domain"), domain.budget, domain.next_queue,
        Plural(domain.fill, "URL"), Plural(domain.hosts, "host"));
  }
  if (domain.in_pass > 0) {
    text += fmt::format("; {} for a pass",
                        domain.in_pass == 1
                            ? "1 URL waits"
                            : fmt::format("{} URLs wait", domain.in_pass));
  }
  lines->Add("domain", text);
  lines->Add("BEAST",
             fmt::format("reads queue {}, the window ends with queue {}, {} "
                         "in Q_F",
                         domain.current_queue, domain.last_queue,
                         Plural(domain.in_failed, "URL")));
}

std::string RobotsWords(const RobotsFacts& robots, WallTime now) {
  std::string text = robots.origin + "robots.txt";
  if (!robots.is_known) {
    text += robots.has_end ? ": came, and is not in its record yet"
                           : ": nothing is known of it";
    return text;
  }
  if (!robots.asked) {
    text += robots.requested ? ": is asked for, the first time"
                             : ": was never asked for";
  } else {
    text += fmt::format(": asked {}", FormatUtc(*robots.asked));
    if (robots.expires && !robots.delayed) {
      text += ", holds until " + When(*robots.expires, now);
    }
    if (robots.requested) text += ", is asked for again";
  }
  if (robots.delayed && robots.expires && *robots.expires > now) {
    text += "; no turn at its server before " + When(*robots.expires, now);
  }
  if (robots.tries > 0) {
    text +=
        fmt::format("; unreachable {} in a row", Plural(robots.tries, "time"));
  }
  if (robots.crawl_delay.count() > 0) {
    text += "; Crawl-delay " + FormatDuration(robots.crawl_delay);
  }
  if (robots.not_before && *robots.not_before > now) {
    text += "; host not before " + When(*robots.not_before, now);
  }
  if (robots.failures > 0) {
    text += fmt::format("; silent {}", Plural(robots.failures, "time"));
  }
  if (robots.overloads > 0) {
    text += fmt::format("; host asked for less {}",
                        Plural(robots.overloads, "time"));
  }
  if (robots.allowed) {
    text += fmt::format(
        "; {} the URL: {}", *robots.allowed ? "allows" : "denies",
        robots.disallows_all ? "all is forbidden while it is unreachable"
                             : RuleWords(robots));
  }
  return text;
}

void AddRobots(const RobotsFacts& robots, WallTime now, Lines* lines) {
  if (robots.origin.empty()) return;
  lines->Add("robots", RobotsWords(robots, now));
  if (robots.copies.empty()) return;
  const ArchivedCopy& copy = robots.copies.back();
  lines->Add("robots in", fmt::format("{} at offset {}, {}", copy.file,
                                      copy.offset, copy.timestamp));
}

void AddLooked(const Looked& looked, Lines* lines) {
  std::string text = looked.manifest == 0
                         ? std::string("before the first checkpoint")
                         : fmt::format("as of checkpoint {}", looked.manifest);
  for (const HeldUrls::Skipped& skipped : looked.skipped) {
    text += fmt::format("; not read: {} ({})", skipped.name,
                        HumanSize(skipped.bytes));
  }
  if (looked.log_read < looked.log_bytes) {
    text +=
        fmt::format("; of crawl.log the last {} of {}",
                    HumanSize(looked.log_read), HumanSize(looked.log_bytes));
  }
  for (const std::string& archive : looked.archives_not_read) {
    text += "; not read: " + archive;
  }
  text += looked.scanned ? "; all of it was read" : "; --scan reads all";
  lines->Add("looked", text);
}

std::string FoundWords(const UrlFacts& facts) {
  if (!facts.discovered) return "";
  std::string text = facts.parent.empty() ? std::string("given as a seed")
                                          : "on " + facts.parent;
  return fmt::format("{}, {}, depth {}{}", text, FormatUtc(*facts.discovered),
                     facts.depth,
                     facts.hop_path.empty() ? "" : ", path " + facts.hop_path);
}

void AddHistory(const History& history, Lines* lines) {
  for (const FetchAttempt& attempt : history.attempts) {
    std::string text = fmt::format("{}: {}, attempt {}", attempt.when,
                                   AttemptWords(attempt), attempt.attempt);
    if (attempt.bytes) text += ", " + Plural(*attempt.bytes, "byte");
    if (!attempt.media_type.empty()) text += ", " + attempt.media_type;
    if (!attempt.followed.empty()) text += ", followed to " + attempt.followed;
    lines->Add("attempt", text);
  }
  for (const ArchivedCopy& copy : history.copies) {
    std::string text = fmt::format("{} at offset {}, {}, status {}", copy.file,
                                   copy.offset, copy.timestamp, copy.status);
    if (!copy.redirect.empty()) text += ", to " + copy.redirect;
    lines->Add("archived", text);
  }
}

std::string SeenWords(const UrlFacts& facts) {
  if (facts.is_known) return "known";
  if (facts.links_in_pass > 0) {
    return fmt::format("{} to it in the batch for the next pass",
                       Plural(facts.links_in_pass, "link"));
  }
  return "never seen";
}

}  // namespace

std::string FormatText(const UrlFacts& facts, WallTime now) {
  Lines lines;
  lines.Head(facts.url.empty() ? facts.input : facts.url);
  lines.Add("state", DescribeState(facts, now));
  if (facts.url.empty()) return lines.Take();
  if (facts.url != facts.input) lines.Add("given as", facts.input);
  lines.Add("scope", facts.scope.empty() ? "belongs to the crawl"
                                         : "refused: " + facts.scope);
  lines.Add("caps", facts.cap);
  lines.Add("seen", SeenWords(facts));
  lines.Add("found", FoundWords(facts));
  AddHistory(facts.history, &lines);
  AddDomain(facts.of_domain, &lines);
  AddRobots(facts.of_robots, now, &lines);
  lines.Add("host", HostWords(facts.live));
  AddLooked(facts.looked, &lines);
  return lines.Take();
}

std::string FormatText(const HostFacts& facts, WallTime now) {
  Lines lines;
  lines.Head(facts.host.empty() ? facts.input : facts.host);
  if (facts.host.empty()) {
    lines.Add("state", "not crawled: " + DropWords(facts.dropped));
    return lines.Take();
  }
  lines.Add("scope", facts.scope.empty() ? "belongs to the crawl"
                                         : "refused: " + facts.scope);
  std::string waiting;
  for (const auto& [place, count] : facts.waiting) {
    if (!waiting.empty()) waiting += ", ";
    waiting += fmt::format("{} {}", count, place);
  }
  lines.Add("waiting", waiting.empty() ? "no URL" : waiting);
  std::string attempts = Plural(facts.attempts, "attempt");
  for (const auto& [outcome, count] : facts.outcomes) {
    attempts += fmt::format(", {} {}", count, outcome);
  }
  lines.Add("fetched", attempts);
  AddDomain(facts.of_domain, &lines);
  for (const RobotsFacts& robots : facts.of_robots) {
    AddRobots(robots, now, &lines);
  }
  lines.Add("host", HostWords(facts.live));
  if (!facts.live.is_asked && facts.saved_wait) {
    lines.Add("host", fmt::format("was to be left alone for {} more when the "
                                  "checkpoint was made",
                                  HumanDuration(*facts.saved_wait)));
  }
  AddLooked(facts.looked, &lines);
  return lines.Take();
}

}  // namespace nephila::inspect
