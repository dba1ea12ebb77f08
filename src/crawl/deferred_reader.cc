#include "crawl/deferred_reader.h"

#include "fetch/response_head.h"
#include "item/url_record.h"
#include "url/record_keys.h"

namespace nephila::crawl {

DeferredReader::DeferredReader(const Parts& parts)
    : parts_(parts),
      reader_(
          parts.settings, parts.suffixes, parts.seed,
          parts.settings.crawl.budgets,
          {parts.max_page_bytes, parts.max_links_bytes, /*may_defer=*/false}),
      guarded_(
          {reader_, parts.quarantine, parts.slot, parts.seed, parts.on_read}),
      archived_(parts.fs, parts.folders, parts.settings.store.prefix,
                fetch::HeadLimitsOf(parts.settings.fetch),
                parts.settings.fetch.max_body_bytes),
      canonicalizer_(parts.settings.url, parts.suffixes, parts.seed) {}

Status DeferredReader::Read(FinishedVisit* visit, bool replayed) {
  if (visit->charge.bytes() == 0) visit->charge = ByteCharge(parts_.in_transit);
  NEPHILA_TRY(const ArchivedPage::Found found,
              archived_.Read(*visit->archive, visit->original));
  const item::FetchedPage& page = archived_.page();
  const bool is_robots = visit->kind == item::FetchKind::kRobots;
  // Another page may stand where a record was that is lost.
  const bool is_gone = found == ArchivedPage::Found::kNothing ||
                       (!is_robots && !IsOf(page.url, visit->record));
  Status read;
  if (is_gone) {
    // What a robots.txt says is in the entry itself. A page of this run is
    // fetched again; one of an earlier run is in the stages still.
    visit->is_void = !is_robots && replayed;
    visit->body_lost = !is_robots && !replayed;
  } else if (visit->goes_on) {
    // It is there, and has nothing to be read.
  } else if (found == ArchivedPage::Found::kNoBody) {
    visit->body_lost = !is_robots;
  } else if (!is_robots) {
    read = guarded_.ReadPage(page, visit);
  } else if (parts_.settings.robots.sitemaps &&
             visit->robots_status / 100 == 2) {
    read = guarded_.ReadSitemaps(page, visit);
  }
  visit->charge.Set(BytesOf(*visit));
  archived_.Clear();
  return read;
}

bool DeferredReader::IsOf(std::string_view url, std::string_view bytes) {
  const auto record = item::ReadUrl(bytes);
  if (!record.has_value()) return false;
  if (record->url == url) return true;
  // A redirect that was followed at once leads to the same key.
  const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
  return canonical.has_value() &&
         canonical->keys.url == url::KeysOf(*record, parts_.seed).url;
}

}  // namespace nephila::crawl
