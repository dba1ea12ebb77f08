#include "robots/cache_rule.h"

#include <algorithm>
#include <chrono>

#include "base/bytes.h"
#include "robots/matcher.h"
#include "robots/policy.h"
#include "robots/rules.h"

namespace nephila::robots {
namespace {

// DO NOT CHANGE THESE VALUES: batches on disk hold them.
constexpr uint8_t kUrlTuple = 0;
constexpr uint8_t kEndTuple = 1;
constexpr uint8_t kHostTuple = 2;
constexpr uint8_t kDelayTuple = 3;

constexpr uint8_t kAskFlag = 8;
constexpr uint8_t kStateMask = 7;

// A record that is used is asked for again in the last eighth of its life: a
// fetch seldom takes three hours, so URLs do not wait for it.
constexpr uint64_t kRefreshShare = 8;

// Reads numbers one after another and remembers whether all were there.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : reader_(bytes) {}

  uint64_t Next(uint64_t most = UINT64_MAX) {
    const auto number = reader_.Varint();
    if (number.has_value() && *number <= most) return *number;
    good_ = false;
    return 0;
  }
  uint32_t Next32() { return static_cast<uint32_t>(Next(UINT32_MAX)); }
  RulesPlace Place() {
    const auto place = ReadPlace(reader_);
    if (place.has_value()) return *place;
    good_ = false;
    return {};
  }
  std::string_view Rest() {
    const auto rest = reader_.Raw(reader_.remaining());
    return rest.has_value() ? *rest : std::string_view();
  }
  bool good() const { return good_; }
  bool GoodAtEnd() const { return good_ && reader_.AtEnd(); }

 private:
  ByteReader reader_;
  bool good_ = true;
};

std::optional<EndChange> ReadEnd(std::string_view bytes) {
  NumberReader reader(bytes);
  EndChange end;
  end.end = static_cast<item::RobotsFetchEnd>(
      reader.Next(static_cast<uint64_t>(item::RobotsFetchEnd::kNetwork)));
  end.status = reader.Next32();
  end.fetch = reader.Next();
  end.when = reader.Next();
  end.max_age = reader.Next();
  end.retry_wait = reader.Next();
  end.retry_wait_max = reader.Next();
  end.not_before = reader.Next();
  end.crawl_delay = reader.Next();
  end.kind = static_cast<RulesKind>(
      reader.Next(static_cast<uint64_t>(RulesKind::kLog)));
  if (end.kind == RulesKind::kInline) end.rules = reader.Rest();
  if (end.kind == RulesKind::kLog) end.place = reader.Place();
  if (!reader.GoodAtEnd()) return std::nullopt;
  return end;
}

// The wait after so many fetches in a row without reach.
uint64_t RetryWait(uint32_t tries, const EndChange& end) {
  uint64_t wait = std::max<uint64_t>(end.retry_wait, 1);
  for (uint32_t i = 1; i < tries && wait < end.retry_wait_max; ++i) wait *= 2;
  return std::min(wait, end.retry_wait_max);
}

const std::string& AllowAll() {
  static const std::string rules = CompileAllowAll();
  return rules;
}

void SetRules(Verdict verdict, const EndChange& end, RobotsRecord& record) {
  switch (verdict) {
    case Verdict::kKeepCopy:
      return;
    case Verdict::kParse:
      record.kind = end.kind;
      record.rules = end.rules;
      record.place = end.place;
      record.crawl_delay = end.crawl_delay;
      return;
    case Verdict::kAllowAll:
      record.kind = RulesKind::kInline;
      record.rules = AllowAll();
      record.place = {};
      record.crawl_delay = 0;
      return;
    case Verdict::kDisallowAll:
      record.kind = RulesKind::kNone;
      record.rules = {};
      record.place = {};
      record.crawl_delay = 0;
      return;
  }
}

struct Pass {
  uint64_t now = 0;
  uint64_t longest_wait = 0;
};

Pass ReadPass(std::string_view parameters) {
  NumberReader reader(parameters);
  return {reader.Next(), reader.Next()};
}

// Forgets rules that cannot be matched.
void Forget(RobotsRecord& record) {
  record.kind = RulesKind::kNone;
  record.rules = {};
  record.place = {};
  record.expires = 0;
  record.delayed = false;
}

// By rules in the record; nothing if they are damaged.
std::optional<bool> IsAllowed(std::string_view bytes, std::string_view path) {
  const auto rules = Rules::Open(bytes);
  if (!rules.has_value()) return std::nullopt;
  return Matcher(*rules).Match(path).allowed;
}

bool IsExpired(const RobotsRecord& record, const Pass& pass) {
  // What is further ahead than any wait was written by a wrong clock.
  return pass.now >= record.expires ||
         record.expires - pass.now > pass.longest_wait;
}

UrlState StateOf(RobotsRecord& record, const Pass& pass,
                 std::string_view path) {
  if (IsExpired(record, pass)) {
    return record.fetch == 0 ? UrlState::kUnknown : UrlState::kExpired;
  }
  if (record.delayed) return UrlState::kDelayed;
  if (record.kind == RulesKind::kNone) return UrlState::kUnreachable;
  if (record.kind == RulesKind::kLog) return UrlState::kInLog;
  const auto allowed = IsAllowed(record.rules, path);
  if (!allowed.has_value()) {
    Forget(record);
    return UrlState::kExpired;
  }
  return *allowed ? UrlState::kAllowed : UrlState::kDenied;
}

class CacheRule final : public drum::MergeRule {
 public:
  drum::Verdict Merge(const drum::Meeting& meeting, std::string& record,
                      std::string& answer) const override {
    answer.clear();
    std::optional<RobotsRecord> known;
    if (meeting.found) known = ReadRobotsRecord(record);
    // Checksums stand before this; a record that is none is begun anew.
    if (!known.has_value()) known.emplace();
    const RobotsRecord before = *known;
    if (meeting.value.empty()) return drum::Verdict::kLeave;
    const auto kind = static_cast<uint8_t>(meeting.value[0]);
    const std::string_view value = meeting.value.substr(1);
    if (kind == kUrlTuple) {
      AnswerUrl(value, ReadPass(meeting.parameters), *known, answer);
    } else if (kind == kEndTuple) {
      if (const auto end = ReadEnd(value)) known = ApplyEnd(*known, *end);
    } else if (kind == kHostTuple) {
      Note(value, *known);
    } else if (kind == kDelayTuple) {
      DelayFetch(value, ReadPass(meeting.parameters), *known);
    }
    if (*known == before) return drum::Verdict::kLeave;
    // Its rules may be views of the old bytes.
    std::string after;
    AppendRobotsRecord(*known, after);
    record.swap(after);
    return drum::Verdict::kWrite;
  }

 private:
  static void AnswerUrl(std::string_view value, const Pass& pass,
                        RobotsRecord& record, std::string& answer) {
    NumberReader reader(value);
    const uint64_t distrusted = reader.Next();
    const std::string_view path = reader.Rest();
    if (record.fetch > 0 && record.fetch <= distrusted &&
        record.kind == RulesKind::kLog) {
      Forget(record);
    }
    UrlAnswer given;
    given.state = StateOf(record, pass, path);
    const bool holds =
        given.state != UrlState::kUnknown && given.state != UrlState::kExpired;
    given.ask = !record.requested && (!holds || pass.now >= record.refresh);
    record.requested = record.requested || given.ask;
    given.fetch = record.fetch;
    given.asked = record.asked;
    given.until = record.expires;
    given.tries = record.tries;
    given.crawl_delay = record.crawl_delay;
    given.host = record.host;
    given.place = record.place;
    AppendAnswer(given, answer);
  }

  // Rules that hold do so as long as they did; without them, or with old ones,
  // URLs wait for that time.
  static void DelayFetch(std::string_view value, const Pass& pass,
                         RobotsRecord& record) {
    NumberReader reader(value);
    const uint64_t until = reader.Next();
    if (!reader.GoodAtEnd() || !record.requested) return;
    record.requested = false;
    record.refresh = until;
    if (!IsExpired(record, pass)) return;
    record.delayed = true;
    record.expires = until;
  }

  static void Note(std::string_view value, RobotsRecord& record) {
    NumberReader reader(value);
    HostNote note;
    note.not_before = reader.Next();
    note.failures = reader.Next32();
    note.overloads = reader.Next32();
    if (reader.GoodAtEnd()) record.host = note;
  }
};

}  // namespace

std::string UrlValue(std::string_view path, uint64_t distrusted) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(kUrlTuple);
  writer.Varint(distrusted);
  writer.Raw(path);
  return value;
}

std::string EndValue(const EndChange& end) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(kEndTuple);
  writer.Varint(static_cast<uint64_t>(end.end));
  writer.Varint(end.status);
  writer.Varint(end.fetch);
  writer.Varint(end.when);
  writer.Varint(end.max_age);
  writer.Varint(end.retry_wait);
  writer.Varint(end.retry_wait_max);
  writer.Varint(end.not_before);
  writer.Varint(end.crawl_delay);
  writer.Varint(static_cast<uint64_t>(end.kind));
  if (end.kind == RulesKind::kInline) writer.Raw(end.rules);
  if (end.kind == RulesKind::kLog) WritePlace(end.place, writer);
  return value;
}

std::string HostValue(const HostNote& note) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(kHostTuple);
  writer.Varint(note.not_before);
  writer.Varint(note.failures);
  writer.Varint(note.overloads);
  return value;
}

std::string DelayValue(uint64_t until) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(kDelayTuple);
  writer.Varint(until);
  return value;
}

bool IsUrlValue(std::string_view value) {
  return !value.empty() && static_cast<uint8_t>(value[0]) == kUrlTuple;
}

bool IsEndValue(std::string_view value) {
  return !value.empty() && static_cast<uint8_t>(value[0]) == kEndTuple;
}

std::string PassTime(WallTime now, uint64_t longest_wait_ms) {
  std::string parameters;
  ByteWriter writer(parameters);
  writer.Varint(MillisecondsOf(now));
  writer.Varint(longest_wait_ms);
  return parameters;
}

void AppendAnswer(const UrlAnswer& answer, std::string& out) {
  ByteWriter writer(out);
  const auto state = static_cast<uint8_t>(answer.state);
  writer.U8(static_cast<uint8_t>(answer.ask ? state | kAskFlag : state));
  writer.Varint(answer.fetch);
  writer.Varint(answer.asked);
  writer.Varint(answer.until);
  writer.Varint(answer.tries);
  writer.Varint(answer.crawl_delay);
  writer.Varint(answer.host.not_before);
  writer.Varint(answer.host.failures);
  writer.Varint(answer.host.overloads);
  if (answer.state == UrlState::kInLog) WritePlace(answer.place, writer);
}

std::optional<UrlAnswer> ReadAnswer(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto head = static_cast<uint8_t>(bytes[0]);
  if (head > (kAskFlag | kStateMask) || (head & kStateMask) >= kUrlStates) {
    return std::nullopt;
  }
  NumberReader reader(bytes.substr(1));
  UrlAnswer answer;
  answer.state = static_cast<UrlState>(head & kStateMask);
  answer.ask = (head & kAskFlag) != 0;
  answer.fetch = reader.Next();
  answer.asked = reader.Next();
  answer.until = reader.Next();
  answer.tries = reader.Next32();
  answer.crawl_delay = reader.Next();
  answer.host.not_before = reader.Next();
  answer.host.failures = reader.Next32();
  answer.host.overloads = reader.Next32();
  if (answer.state == UrlState::kInLog) answer.place = reader.Place();
  if (!reader.GoodAtEnd()) return std::nullopt;
  return answer;
}

RobotsRecord ApplyEnd(const RobotsRecord& record, const EndChange& end) {
  Fetch fetch;
  fetch.end = end.end;
  fetch.status = static_cast<int>(end.status);
  fetch.have_copy = record.kind != RulesKind::kNone;
  if (record.unreachable_since > 0) {
    fetch.unreachable_for = std::chrono::floor<std::chrono::seconds>(
        TimeOf(end.when) - TimeOf(record.unreachable_since));
  }
  const Policy policy = PolicyFor(fetch);
  RobotsRecord after = record;
  SetRules(policy.verdict, end, after);
  after.requested = false;
  after.delayed = false;
  after.fetch = end.fetch;
  after.asked = end.when;
  after.host.not_before = std::max(after.host.not_before, end.not_before);
  after.refresh = end.when + end.max_age - end.max_age / kRefreshShare;
  after.expires = end.when + end.max_age;
  if (!policy.unreachable) {
    after.tries = 0;
    after.unreachable_since = 0;
    return after;
  }
  after.tries = std::min(after.tries, UINT32_MAX - 1) + 1;
  if (after.unreachable_since == 0) after.unreachable_since = end.when;
  const uint64_t retry =
      std::max(end.when + RetryWait(after.tries, end), end.not_before);
  // Old rules, where there are some, hold while they are asked for again.
  after.refresh = std::min(after.refresh, retry);
  if (after.kind == RulesKind::kNone) after.refresh = after.expires = retry;
  return after;
}

std::shared_ptr<const drum::MergeRule> MakeCacheRule() {
  return std::make_shared<CacheRule>();
}

}  // namespace nephila::robots
