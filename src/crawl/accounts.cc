#include "crawl/accounts.h"

#include "item/saved_totals.h"

namespace nephila::crawl {
namespace {

std::span<const std::string_view> OutcomeNames() {
  static const auto kNames = [] {
    std::array<std::string_view, item::kFetchOutcomes> names;
    for (size_t i = 0; i < names.size(); ++i) {
      names[i] = item::FetchOutcomeName(static_cast<item::FetchOutcome>(i));
    }
    return names;
  }();
  return kNames;
}

template <typename Self, typename Function>
void ForEachCounter(Self& self, Function function) {
  for (auto* counter :
       {&self.pages, &self.bytes, &self.retries, &self.robots}) {
    function(*counter);
  }
  for (auto& counter : self.outcomes) function(counter);
  for (auto& counter : self.statuses) function(counter);
}

}  // namespace

Accounts::Accounts() : fetch("fetch", OutcomeNames()) {}

void Accounts::CountFound(const FoundCounts& found) {
  parse.Made(found.links);
  parse.Drop(0, found.unwanted);
  parse.Drop(1, found.nofollow);
  const uint64_t out = found.links - found.unwanted - found.nofollow;
  parse.Out(out);
  url.In(out);
  url.Made(found.roots);
  for (size_t i = 0; i < found.not_crawled.size(); ++i) {
    const bool port = i == static_cast<size_t>(url::DropReason::kPort);
    url.Drop(port ? kUrlDropPort : i, found.not_crawled[i]);
  }
  url.Drop(kUrlDropRepeated, found.repeated);
  url.Drop(kUrlDropPageLimit, found.over_limit);
  url.Out(found.out);
}

void Accounts::CountAttempt(const FinishedVisit& visit) {
  if (visit.quarantined) {
    parse.In();
    parse.Drop(kParseDropQuarantined);
  }
  if (visit.out_of_memory) {
    parse.In();
    parse.Drop(kParseDropNoMemory);
  }
  outcomes[static_cast<size_t>(visit.outcome)].Add();
  if (visit.outcome == item::FetchOutcome::kResponse) {
    statuses[static_cast<size_t>(visit.status / 100 % 10)].Add();
  }
  if (visit.kind == item::FetchKind::kRobots) {
    robots.Add();
    return;
  }
  if (visit.archived) {
    pages.Add();
    bytes.Add(visit.body_bytes);
  }
  if (visit.retry && !visit.goes_on) retries.Add();
  if (visit.retry || visit.body_lost) return;
  fetch.In();
  if (visit.outcome != item::FetchOutcome::kResponse) {
    fetch.Drop(visit.outcome);
    return;
  }
  fetch.Out();
  store.In();
  if (visit.archived) {
    store.Out();
  } else {
    store.Drop(0);
  }
}

void Accounts::Write(ByteWriter& writer) const {
  for (const StageAccount* account :
       {&seeds, &parse, &url, &scope, &politeness, &fetch, &store}) {
    item::WriteTotals(account->Totals(), writer);
  }
  ForEachCounter(*this, [&writer](const Counter& counter) {
    writer.Varint(counter.value());
  });
}

bool Accounts::Read(ByteReader& reader) {
  for (StageAccount* account :
       {&seeds, &parse, &url, &scope, &politeness, &fetch, &store}) {
    if (!item::RestoreTotals(reader, *account)) return false;
  }
  bool whole = true;
  ForEachCounter(*this, [&](Counter& counter) {
    const auto value = reader.Varint();
    if (value.has_value()) {
      counter.Add(*value);
    } else {
      whole = false;
    }
  });
  return whole;
}

}  // namespace nephila::crawl
