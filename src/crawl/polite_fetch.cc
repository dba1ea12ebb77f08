#include "crawl/polite_fetch.h"

#include <utility>

#include "base/table_hash.h"
#include "base/text.h"
#include "crawl/contact_parts.h"
#include "net/port_guard.h"
#include "robots/matcher.h"
#include "robots/policy.h"
#include "robots/rules.h"
#include "url/parser.h"

namespace nephila::crawl {
namespace {

using fetch::FetchResult;

class LinkList final : public FoundLinkSink {
 public:
  explicit LinkList(std::vector<std::string>* links) : links_(links) {}
  void OnLink(const FoundLink& link) override {
    links_->emplace_back(link.url.href);
    if (link.hop == Hop::kRedirect) redirect = links_->back();
  }
  std::string redirect;

 private:
  std::vector<std::string>* links_;
};

std::string SiteName(const url::Url& url) {
  std::string name(url.scheme());
  name.append("://").append(url.host());
  if (!url.port().empty()) name.append(":").append(url.port());
  return name;
}

}  // namespace

PoliteFetch::PoliteFetch(const Parts& parts)
    : parts_(parts),
      contacts_(parts.contacts),
      processor_(parts.settings, parts.suffixes, DrawTableSeed(),
                 /*text=*/true),
      robots_(parts.settings) {}

Status PoliteFetch::Add(std::string_view url) {
  Job job;
  if (!url::Parse(url, nullptr, &job.url) || !job.url.is_http()) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              EscapeForTerminal(url) + ": not an http or https URL"});
  }
  if (net::PortGuard(parts_.settings.url).Refuses(job.url.port())) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            EscapeForTerminal(url) + ": " +
                                net::PortGuard::Reason(job.url.port())});
  }
  ++open_;
  Begin(std::move(job));
  return {};
}

void PoliteFetch::Begin(Job job) {
  std::unique_ptr<Site>& site = sites_[SiteName(job.url)];
  if (site == nullptr) {
    site = std::make_unique<Site>(parts_.settings.fetch, parts_.settings.url);
    site->walk.Start(job.url);
    site->waiting.push_back(std::move(job));
    AskRobots(site.get());
  } else if (site->rules.empty()) {
    site->waiting.push_back(std::move(job));
  } else {
    AskPage(site.get(), std::move(job));
  }
}

void PoliteFetch::AskRobots(Site* site) {
  bool first = site->walk.redirects() == 0;
  contacts_.Ask(site->walk.next(),
                first ? politeness::Kind::kFirstRobots : politeness::Kind::kHop,
                parts_.settings.robots.max_size_bytes,
                [this, site](std::unique_ptr<FetchResult> result,
                             const dns::Answer& answer) {
                  Archive(*result, answer, "", nullptr);
                  OnRobots(site, *result);
                  parts_.contacts.fetcher.Recycle(std::move(result));
                });
}

void PoliteFetch::OnRobots(Site* site, const FetchResult& result) {
  const fetch::RobotsHop hop = robots_.ReadHop(AsPage(result));
  if (site->walk.OnResult(hop) == fetch::RobotsWalk::Step::kAsk) {
    return AskRobots(site);
  }
  site->word.outcome = result.outcome;
  site->word.error = result.error;
  TakeRules(site);
  for (Job& job : std::exchange(site->waiting, {})) {
    AskPage(site, std::move(job));
  }
}

void PoliteFetch::TakeRules(Site* site) {
  const robots::Fetch fetch = EndOf(site->walk);
  const robots::Verdict verdict = robots::PolicyFor(fetch).verdict;
  site->word.verdict = robots::VerdictName(verdict);
  site->word.status = fetch.status;
  switch (verdict) {
    case robots::Verdict::kAllowAll:
      site->rules = robots::CompileAllowAll();
      return;
    case robots::Verdict::kKeepCopy:  // there is none
    case robots::Verdict::kDisallowAll:
      site->rules = robots::CompileDisallowAll();
      return;
    case robots::Verdict::kParse:
      break;
  }
  const robots::RobotsFile file = robots_.Parse();
  site->rules = robots::CompileRules(file);
  if (file.crawl_delay) {
    contacts_.SetCrawlDelay(site->waiting.front().url.host(),
                            *file.crawl_delay);
  }
}

RobotsWord PoliteFetch::Check(const Site& site, const url::Url& url) const {
  RobotsWord word = site.word;
  auto rules = robots::Rules::Open(site.rules);
  if (!rules) return word;
  robots::Answer answer =
      robots::Matcher(*rules).Match(robots::MatchedPart(url));
  word.allowed = answer.allowed;
  if (answer.rule != robots::Rules::kNone) {
    word.rule = rules->RuleText(answer.rule);
    word.line = answer.line;
  }
  return word;
}

void PoliteFetch::AskPage(Site* site, Job job) {
  RobotsWord word = Check(*site, job.url);
  if (!word.allowed || !status_) {
    FetchedUrl fetched;
    fetched.url = job.url.href();
    fetched.via = job.via;
    fetched.outcome = !status_ ? item::FetchOutcome::kInterrupted
                      : word.rule.empty()
                          ? item::FetchOutcome::kRobotsUnreachable
                          : item::FetchOutcome::kRobotsDenied;
    fetched.robots = word;
    parts_.report(fetched);
    --open_;
    return;
  }
  url::Url url = job.url;
  contacts_.Ask(
      url, politeness::Kind::kPage, std::nullopt,
      [this, job = std::move(job), word = std::move(word)](
          std::unique_ptr<FetchResult> result, const dns::Answer& answer) {
        OnPage(job, word, *result, answer);
        parts_.contacts.fetcher.Recycle(std::move(result));
        --open_;
      });
}

void PoliteFetch::OnPage(const Job& job, const RobotsWord& word,
                         const FetchResult& result, const dns::Answer& answer) {
  FetchedUrl fetched;
  std::string record_id;
  Archive(result, answer, job.via, &record_id);
  LinkList links(&fetched.links);
  if (result.outcome == item::FetchOutcome::kResponse) {
    fetched.facts = processor_.Process(AsPage(result), &links);
  }
  fetched.url = result.url;
  fetched.via = job.via;
  fetched.outcome = result.outcome;
  fetched.robots = word;
  fetched.result = &result;
  fetched.answer = &answer;
  fetched.location = links.redirect;
  fetched.record_id = record_id;
  parts_.report(fetched);
  if (links.redirect.empty() || job.redirects >= parts_.redirects) return;
  Job next;
  if (!url::Parse(links.redirect, nullptr, &next.url)) return;
  next.via = job.url.href();
  next.redirects = job.redirects + 1;
  ++open_;
  Begin(std::move(next));
}

void PoliteFetch::Archive(const FetchResult& result, const dns::Answer& answer,
                          std::string_view via, std::string* record_id) {
  if (parts_.store == nullptr) return;
  url::Url url;
  if (NamePage::IsNews(answer) && url::Parse(result.url, nullptr, &url) &&
      archived_names_.insert(std::string(url.host())).second) {
    Write(NamePage(url.host(), answer, result.begin).page(), nullptr);
  }
  item::FetchedPage page = AsPage(result);
  page.via = via;
  page.hop_path = result.kind == item::FetchKind::kRobots ? "P" : "";
  Write(page, record_id);
}

void PoliteFetch::Write(const item::FetchedPage& page, std::string* record_id) {
  if (!status_) return;
  auto stored = parts_.store->Write(page);
  if (!stored) {
    status_ = Unexpected(stored.error());
    contacts_.Stop();
  } else if (record_id != nullptr) {
    *record_id = stored->record_id;
  }
}

}  // namespace nephila::crawl
