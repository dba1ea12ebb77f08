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
constexpr uint8_t kWalkTuple = 4;
constexpr uint8_t kRedirectTuple = 5;
constexpr uint8_t kHostWaitTuple = 6;
// Added to the kind of a tuple that names its file. Tuples of older jobs do
// not.
constexpr uint8_t kWithFile = 16;

// Of answers in commits of older jobs.
constexpr uint8_t kOldAskFlag = 8;
constexpr uint8_t kOldStateMask = 7;
constexpr uint8_t kOldStates = 7;
// Of all others: the head is kNewAnswer and flags, then the state follows.
constexpr uint8_t kNewAnswer = 16;
constexpr uint8_t kAskFlag = 1;
constexpr uint8_t kHostKnownFlag = 2;
constexpr uint8_t kTextFlag = 4;
constexpr uint8_t kWalkingFlag = 8;
constexpr uint8_t kAnswerFlags = 15;

// After so long without reach a port makes room for another one.
constexpr uint64_t kPortHoldsFor = uint64_t{60} * 60 * 1000;

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
  // 0 in passes of older jobs too.
  uint64_t max_ports = 0;
  uint64_t max_waiting_sites = 0;
};

Pass ReadPass(std::string_view parameters) {
  NumberReader reader(parameters);
  Pass pass;
  pass.now = reader.Next();
  pass.longest_wait = reader.Next();
  pass.max_ports = reader.Next();
  pass.max_waiting_sites = reader.Next();
  return pass;
}

// Forgets rules that cannot be matched.
void Forget(RobotsRecord& record) {
  record.kind = RulesKind::kNone;
  record.rules = {};
  record.place = {};
  record.expires = 0;
  record.delayed = false;
  record.redirect = {};
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

// Room for one more file of a host: a port that was out of reach for long, or a
// target that has expired, makes way. False if there is none.
bool MakeRoom(HostRecord& host, FileId id, const Pass& pass) {
  if (!IsTarget(id) && (pass.max_ports == 0 || IsDefaultPort(id))) return true;
  const uint64_t most = IsTarget(id) ? kMostTargets : pass.max_ports;
  const auto is_alike = [id](const HostRecord::File& file) {
    return IsTarget(file.id) == IsTarget(id) && !IsDefaultPort(file.id);
  };
  const auto count =
      std::count_if(host.files.begin(), host.files.end(), is_alike);
  if (static_cast<uint64_t>(count) < most) return true;
  const auto may_go = [&](const HostRecord::File& file) {
    const RobotsRecord& record = file.record;
    if (!is_alike(file) || record.requested || record.delayed) return false;
    if (IsTarget(id)) return IsExpired(record, pass);
    return record.kind == RulesKind::kNone && record.unreachable_since > 0 &&
           record.unreachable_since + kPortHoldsFor <= pass.now;
  };
  const auto goes = std::find_if(host.files.begin(), host.files.end(), may_go);
  if (goes == host.files.end()) return false;
  host.files.erase(goes);
  return true;
}

class CacheRule final : public drum::MergeRule {
 public:
  drum::Verdict Merge(const drum::Meeting& meeting, std::string& record,
                      std::string& answer) const override {
    answer.clear();
    std::optional<HostRecord> host;
    if (meeting.found) host = ReadHostRecord(record);
    // Checksums stand before this; a record that is none is begun anew.
    if (!host.has_value()) host.emplace();
    if (meeting.value.empty()) return drum::Verdict::kLeave;
    NumberReader reader(meeting.value.substr(1));
    auto kind = static_cast<uint8_t>(meeting.value[0]);
    FileId id = kAnyFile;
    if (kind >= kWithFile) {
      kind = static_cast<uint8_t>(kind - kWithFile);
      id = reader.Next();
    }
    if (!Apply(kind, id, reader.Rest(), ReadPass(meeting.parameters), *host,
               answer)) {
      return drum::Verdict::kLeave;
    }
    // Its rules may be views of the old bytes.
    std::string after;
    AppendHostRecord(*host, after);
    record.swap(after);
    return drum::Verdict::kWrite;
  }

 private:
  // Whether the record has changed.
  static bool Apply(uint8_t kind, FileId id, std::string_view value,
                    const Pass& pass, HostRecord& host, std::string& answer) {
    if (kind == kHostWaitTuple) {
      NumberReader reader(value);
      HostNote note;
      note.not_before = reader.Next();
      note.overloads = reader.Next32();
      return reader.GoodAtEnd() && SetHost(note, host);
    }
    if (kind > kHostWaitTuple) return false;
    RobotsRecord* file = host.Find(id);
    const bool is_new = file == nullptr;
    // What would be forgotten again makes no file of a port: a hostile page may
    // name 60 000 of them.
    const bool asks = kind == kUrlTuple || kind == kWalkTuple;
    if (is_new && (asks || kind == kHostTuple) && !MakeRoom(host, id, pass)) {
      if (kind == kHostTuple) return NoteHost(value, host);
      UrlAnswer full;
      full.state = UrlState::kTooManyPorts;
      AppendAnswer(full, answer);
      return false;
    }
    if (is_new) file = host.Add(id);
    const RobotsRecord before = *file;
    switch (kind) {
      case kUrlTuple:
        AnswerUrl(value, pass, host, *file, answer);
        break;
      case kWalkTuple:
        AnswerWalk(value, pass, host, *file, answer);
        break;
      case kEndTuple:
        if (const auto end = ReadEnd(value)) *file = ApplyEnd(*file, *end);
        break;
      case kHostTuple:
        Note(value, *file);
        break;
      case kDelayTuple:
        DelayFetch(value, pass, *file);
        break;
      case kRedirectTuple:
        Redirect(value, id, *file);
        break;
      default:
        break;
    }
    if (*file == before) {
      if (is_new) host.files.pop_back();
      return false;
    }
    host.SetHost(file->host);
    return true;
  }

  static UrlAnswer AnswerOf(const HostRecord& host, const RobotsRecord& record,
                            UrlState state) {
    UrlAnswer given;
    given.state = state;
    given.fetch = record.fetch;
    given.asked = record.asked;
    given.until = record.expires;
    given.tries = record.tries;
    given.crawl_delay = record.crawl_delay;
    given.host = record.host;
    given.place = record.place;
    given.is_walking = record.requested && !record.redirect.empty();
    for (const HostRecord::File& file : host.files) {
      if (file.record.fetch > 0) given.is_host_known = true;
      if (IsTarget(file.id)) continue;
      given.host_crawl_delay =
          std::max(given.host_crawl_delay, file.record.crawl_delay);
    }
    return given;
  }

  static void AnswerUrl(std::string_view value, const Pass& pass,
                        const HostRecord& host, RobotsRecord& record,
                        std::string& answer) {
    NumberReader reader(value);
    Distrust(reader.Next(), record);
    UrlAnswer given =
        AnswerOf(host, record, StateOf(record, pass, reader.Rest()));
    // What StateOf has forgotten is not to be named.
    given.place = record.place;
    MarkAsked(pass, given, record);
    AppendAnswer(given, answer);
  }

  static void AnswerWalk(std::string_view value, const Pass& pass,
                         const HostRecord& host, RobotsRecord& record,
                         std::string& answer) {
    NumberReader reader(value);
    Distrust(reader.Next(), record);
    // Whatever the rules say of "/": the walk wants them, not a verdict.
    UrlState state = StateOf(record, pass, "/");
    if (state == UrlState::kDenied) state = UrlState::kAllowed;
    const bool is_redirect = !record.redirect.empty() &&
                             (record.requested || !IsExpired(record, pass)) &&
                             state != UrlState::kInLog &&
                             state != UrlState::kAllowed;
    if (is_redirect) state = UrlState::kRedirected;
    UrlAnswer given = AnswerOf(host, record, state);
    if (state == UrlState::kAllowed) given.text = record.rules;
    if (is_redirect) given.text = record.redirect;
    if (!is_redirect) MarkAsked(pass, given, record);
    const bool waits =
        state == UrlState::kUnknown || state == UrlState::kExpired;
    if (waits && pass.max_waiting_sites > 0 &&
        record.waiting_sites >= pass.max_waiting_sites) {
      given.state = UrlState::kTooManyPorts;
    } else if (waits) {
      ++record.waiting_sites;
    }
    AppendAnswer(given, answer);
  }

  static void Distrust(uint64_t distrusted, RobotsRecord& record) {
    if (record.fetch > 0 && record.fetch <= distrusted &&
        record.kind == RulesKind::kLog) {
      Forget(record);
    }
  }

  // The first that finds nothing, or a record to be refreshed, asks.
  static void MarkAsked(const Pass& pass, UrlAnswer& given,
                        RobotsRecord& record) {
    const bool holds =
        given.state != UrlState::kUnknown && given.state != UrlState::kExpired;
    given.ask = !record.requested && (!holds || pass.now >= record.refresh);
    if (given.ask) record.waiting_sites = 0;
    record.requested = record.requested || given.ask;
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

  static void Redirect(std::string_view value, FileId id,
                       RobotsRecord& record) {
    NumberReader reader(value);
    RedirectChange change;
    change.fetch = reader.Next();
    change.when = reader.Next();
    change.max_age = reader.Next();
    change.next = reader.Rest();
    if (!reader.good() || change.next.empty()) return;
    record.redirect = change.next;
    record.fetch = change.fetch;
    record.delayed = false;
    record.waiting_sites = 0;
    // Of a file of the host itself older rules hold until its walk ends; those
    // of a target are gone with the redirect.
    record.requested = !IsTarget(id);
    if (record.requested && record.kind != RulesKind::kNone) return;
    record.kind = RulesKind::kNone;
    record.rules = {};
    record.place = {};
    record.asked = change.when;
    // URLs of the host wait for the walk; walks find the redirect of a target.
    record.refresh = record.expires =
        record.requested ? 0 : change.when + change.max_age;
  }

  static void Note(std::string_view value, RobotsRecord& record) {
    if (const auto note = ReadNote(value)) record.host = *note;
  }
  // The host-wide part of a note alone.
  static bool NoteHost(std::string_view value, HostRecord& host) {
    const auto note = ReadNote(value);
    return note && SetHost(*note, host);
  }
  static bool SetHost(const HostNote& note, HostRecord& host) {
    const HostNote before = host.host;
    host.SetHost(note);
    return host.host != before;
  }
  static std::optional<HostNote> ReadNote(std::string_view value) {
    NumberReader reader(value);
    HostNote note;
    note.not_before = reader.Next();
    note.failures = reader.Next32();
    note.overloads = reader.Next32();
    // Older jobs have none.
    if (reader.good() && !reader.GoodAtEnd()) {
      note.authority_not_before = reader.Next();
    }
    if (!reader.GoodAtEnd()) return std::nullopt;
    return note;
  }
};

std::string ValueFor(uint8_t kind, FileId file) {
  std::string value;
  ByteWriter writer(value);
  writer.U8(static_cast<uint8_t>(kWithFile + kind));
  writer.Varint(file);
  return value;
}

uint8_t KindOf(std::string_view value) {
  if (value.empty()) return kWithFile;
  const auto kind = static_cast<uint8_t>(value[0]);
  return kind >= kWithFile ? static_cast<uint8_t>(kind - kWithFile) : kind;
}

}  // namespace

std::string UrlValue(FileId file, std::string_view path, uint64_t distrusted) {
  std::string value = ValueFor(kUrlTuple, file);
  ByteWriter writer(value);
  writer.Varint(distrusted);
  writer.Raw(path);
  return value;
}

std::string WalkValue(FileId file, uint64_t distrusted) {
  std::string value = ValueFor(kWalkTuple, file);
  ByteWriter(value).Varint(distrusted);
  return value;
}

std::string EndValue(FileId file, const EndChange& end) {
  std::string value = ValueFor(kEndTuple, file);
  ByteWriter writer(value);
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

std::string RedirectValue(FileId file, const RedirectChange& redirect) {
  std::string value = ValueFor(kRedirectTuple, file);
  ByteWriter writer(value);
  writer.Varint(redirect.fetch);
  writer.Varint(redirect.when);
  writer.Varint(redirect.max_age);
  writer.Raw(redirect.next);
  return value;
}

std::string HostValue(FileId file, const HostNote& note) {
  std::string value = ValueFor(kHostTuple, file);
  ByteWriter writer(value);
  writer.Varint(note.not_before);
  writer.Varint(note.failures);
  writer.Varint(note.overloads);
  writer.Varint(note.authority_not_before);
  return value;
}

std::string HostWaitValue(uint64_t not_before, uint32_t overloads) {
  std::string value = ValueFor(kHostWaitTuple, kAnyFile);
  ByteWriter writer(value);
  writer.Varint(not_before);
  writer.Varint(overloads);
  return value;
}

std::string DelayValue(FileId file, uint64_t until) {
  std::string value = ValueFor(kDelayTuple, file);
  ByteWriter(value).Varint(until);
  return value;
}

bool IsUrlValue(std::string_view value) { return KindOf(value) == kUrlTuple; }

bool IsEndValue(std::string_view value) { return KindOf(value) == kEndTuple; }

std::string PassTime(WallTime now, const PassLimits& limits) {
  std::string parameters;
  ByteWriter writer(parameters);
  writer.Varint(MillisecondsOf(now));
  writer.Varint(limits.longest_wait_ms);
  writer.Varint(limits.max_ports);
  writer.Varint(limits.max_waiting_sites);
  return parameters;
}

void AppendAnswer(const UrlAnswer& answer, std::string& out) {
  ByteWriter writer(out);
  writer.U8(static_cast<uint8_t>(kNewAnswer | (answer.ask ? kAskFlag : 0) |
                                 (answer.is_host_known ? kHostKnownFlag : 0) |
                                 (answer.is_walking ? kWalkingFlag : 0) |
                                 (answer.text.empty() ? 0 : kTextFlag)));
  writer.U8(static_cast<uint8_t>(answer.state));
  writer.Varint(answer.fetch);
  writer.Varint(answer.asked);
  writer.Varint(answer.until);
  writer.Varint(answer.tries);
  writer.Varint(answer.crawl_delay);
  writer.Varint(answer.host.not_before);
  writer.Varint(answer.host.failures);
  writer.Varint(answer.host.overloads);
  writer.Varint(answer.host.authority_not_before);
  writer.Varint(answer.host_crawl_delay);
  if (answer.state == UrlState::kInLog) WritePlace(answer.place, writer);
  writer.Raw(answer.text);
}

std::optional<UrlAnswer> ReadAnswer(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const auto head = static_cast<uint8_t>(bytes[0]);
  const bool is_new = (head & kNewAnswer) != 0;
  UrlAnswer answer;
  uint8_t state = 0;
  uint8_t flags = 0;
  if (is_new) {
    state = static_cast<uint8_t>(bytes[1]);
    flags = static_cast<uint8_t>(head - kNewAnswer);
    if (head > (kNewAnswer | kAnswerFlags) || state >= kUrlStates) {
      return std::nullopt;
    }
    answer.ask = (flags & kAskFlag) != 0;
    answer.is_host_known = (flags & kHostKnownFlag) != 0;
    answer.is_walking = (flags & kWalkingFlag) != 0;
  } else {
    state = head & kOldStateMask;
    if (head > (kOldAskFlag | kOldStateMask) || state >= kOldStates) {
      return std::nullopt;
    }
    answer.ask = (head & kOldAskFlag) != 0;
  }
  NumberReader reader(bytes.substr(is_new ? 2 : 1));
  answer.state = static_cast<UrlState>(state);
  answer.fetch = reader.Next();
  answer.asked = reader.Next();
  answer.until = reader.Next();
  answer.tries = reader.Next32();
  answer.crawl_delay = reader.Next();
  answer.host.not_before = reader.Next();
  answer.host.failures = reader.Next32();
  answer.host.overloads = reader.Next32();
  if (is_new) {
    answer.host.authority_not_before = reader.Next();
    answer.host_crawl_delay = reader.Next();
  }
  if (answer.state == UrlState::kInLog) answer.place = reader.Place();
  if ((flags & kTextFlag) != 0) {
    answer.text = reader.Rest();
    if (answer.text.empty()) return std::nullopt;
  }
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
  after.redirect = {};
  after.waiting_sites = 0;
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
