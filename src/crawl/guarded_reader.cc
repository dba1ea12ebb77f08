#include "crawl/guarded_reader.h"

#include <utility>

#include "base/check.h"
#include "item/url_record.h"
#include "robots/rules.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

// A strike less is no reason to end a crawl.
Status UnlessFull(Status status) {
  if (!status && status.error().code == ErrorCode::kNoSpace) return {};
  return status;
}

}  // namespace

void SetDisallowAll(FinishedVisit* finished) {
  finished->robots_end = item::RobotsFetchEnd::kAnswer;
  finished->robots_status = 200;
  finished->rules = robots::CompileDisallowAll();
}

Status GuardedReader::Guard(FinishedVisit* finished,
                            const std::function<void()>& read) {
  if (parts_.quarantine == nullptr) {
    read();
    return {};
  }
  const auto record = item::ReadUrl(finished->record);
  NEPHILA_CHECK(record);
  uint64_t key = url::KeysOf(*record, parts_.seed).url.value;
  std::string url(record->url);
  if (finished->kind == item::FetchKind::kRobots) {
    // That of the root, whose page is another one.
    key = ~key;
    url.append("robots.txt");
  }
  finished->quarantined = parts_.quarantine->Holds(key);
  if (finished->quarantined) return {};
  NEPHILA_RETURN_IF_ERROR(
      UnlessFull(parts_.quarantine->Begin(parts_.slot, key, url)));
  if (parts_.on_read) parts_.on_read(url);
  read();
  return UnlessFull(parts_.quarantine->End(parts_.slot, key));
}

Status GuardedReader::ReadPage(const item::FetchedPage& page,
                               FinishedVisit* finished) {
  return Guard(finished, [&] { parts_.reader.ReadPage(page, finished); });
}

Status GuardedReader::ReadSitemaps(const item::FetchedPage& page,
                                   FinishedVisit* finished) {
  return Guard(finished, [&] { parts_.reader.ReadSitemaps(page, finished); });
}

Result<GuardedReader::RobotsStep> GuardedReader::ReadRobots(
    const item::FetchedPage& page, fetch::RobotsWalk* walk,
    FinishedVisit* finished) {
  RobotsStep result;
  NEPHILA_RETURN_IF_ERROR(Guard(finished, [&] {
    result.step = walk->OnResult(parts_.reader.ReadHop(page));
    if (result.step == fetch::RobotsWalk::Step::kEnd) {
      result.sitemaps = parts_.reader.ReadRules(*walk, finished);
    }
  }));
  if (!finished->quarantined) return result;
  // What nobody can read gives no permission.
  SetDisallowAll(finished);
  return result;
}

}  // namespace nephila::crawl
