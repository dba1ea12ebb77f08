#include "crawl/guarded_reader.h"

#include <new>
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

// A page that there is no memory for costs its links, not the crawl. (To
// refer to a function by std::ref takes no memory itself.)
template <typename Read>
void ReadOrGiveUp(FinishedVisit* finished, const Read& read) {
  try {
    read();
  } catch (const std::bad_alloc&) {
    finished->links = {};
    finished->edges = {};
    finished->found = {};
    finished->unread = false;
    finished->out_of_memory = true;
    finished->charge.Set(BytesOf(*finished));
  }
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
    ReadOrGiveUp(finished, read);
    return {};
  }
  const auto record = item::ReadUrl(finished->record);
  NEPHILA_CHECK(record);
  const bool is_robots = finished->kind == item::FetchKind::kRobots;
  const item::UrlRecord named = is_robots ? item::Asked(*record) : *record;
  uint64_t key = url::KeysOf(named, parts_.seed).url.value;
  std::string url(named.url);
  if (is_robots) {
    // That of the root, or of the target, whose page is another one.
    key = ~key;
    if (record->target.empty()) url.append("robots.txt");
  }
  finished->quarantined = parts_.quarantine->Holds(key);
  if (finished->quarantined) return {};
  NEPHILA_RETURN_IF_ERROR(
      UnlessFull(parts_.quarantine->Begin(parts_.slot, key, url)));
  ReadOrGiveUp(finished, [&] {
    if (parts_.on_read) parts_.on_read(url);
    read();
  });
  return UnlessFull(parts_.quarantine->End(parts_.slot, key));
}

Status GuardedReader::ReadPage(const item::FetchedPage& page,
                               FinishedVisit* finished) {
  const auto read = [&] { parts_.reader.ReadPage(page, finished); };
  return Guard(finished, std::ref(read));
}

Status GuardedReader::ReadSitemaps(const item::FetchedPage& page,
                                   FinishedVisit* finished) {
  const auto read = [&] { parts_.reader.ReadSitemaps(page, finished); };
  return Guard(finished, std::ref(read));
}

Status GuardedReader::GiveSitemaps(std::span<const std::string> sitemaps,
                                   FinishedVisit* finished) {
  const auto read = [&] { parts_.reader.GiveSitemaps(sitemaps, finished); };
  return Guard(finished, std::ref(read));
}

Result<GuardedReader::RobotsStep> GuardedReader::ReadRobots(
    const item::FetchedPage& page, fetch::RobotsWalk* walk,
    FinishedVisit* finished) {
  RobotsStep result;
  const auto read = [&] {
    result.step = walk->OnResult(parts_.reader.ReadHop(page));
    if (result.step == fetch::RobotsWalk::Step::kEnd) {
      result.sitemaps = parts_.reader.ReadRules(*walk, finished);
    }
  };
  NEPHILA_RETURN_IF_ERROR(Guard(finished, std::ref(read)));
  if (!finished->quarantined && !finished->out_of_memory) return result;
  // What nobody can read gives no permission.
  SetDisallowAll(finished);
  return RobotsStep();
}

}  // namespace nephila::crawl
