#include "crawl/crawl_testing.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "net/server_group.h"
#include "url/parser.h"

namespace nephila::crawl {
namespace {

using fetch::FetchResult;
using item::FetchOutcome;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Until a connection stands, and until a name is resolved.
constexpr milliseconds kConnectTime{5};
constexpr milliseconds kResolveTime{5};
constexpr uint64_t kPoolBytes = uint64_t{64} << 20;

std::unique_ptr<fetch::BodyPool> MakePool() {
  auto pool = fetch::BodyPool::Make(kPoolBytes);
  NEPHILA_CHECK(pool);
  return *std::move(pool);
}

std::string OriginOf(const fetch::FetchRequest& request) {
  std::string origin(request.https ? "https://" : "http://");
  return origin.append(request.host)
      .append(":")
      .append(std::to_string(request.port));
}

std::chrono::seconds RetryAfterOf(const FakeAnswer& answer) {
  for (const auto& [name, value] : answer.fields) {
    if (name == "Retry-After") return std::chrono::seconds(std::stoi(value));
  }
  return std::chrono::seconds(0);
}

std::string HeadOf(const FakeAnswer& answer) {
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " So\r\n";
  for (const auto& [name, value] : answer.fields) {
    head.append(name).append(": ").append(value).append("\r\n");
  }
  head.append("Content-Length: ").append(std::to_string(answer.body.size()));
  return head.append("\r\n\r\n");
}

}  // namespace

FakeAnswer FakePage(std::string body) {
  FakeAnswer answer;
  answer.fields = {{"Content-Type", "text/html; charset=utf-8"}};
  answer.body = std::move(body);
  return answer;
}

FakeAnswer FakeText(std::string body) {
  FakeAnswer answer;
  answer.fields = {{"Content-Type", "text/plain; charset=utf-8"}};
  answer.body = std::move(body);
  return answer;
}

FakeAnswer FakeRedirect(std::string location, int status) {
  FakeAnswer answer;
  answer.status = status;
  answer.fields = {{"Location", std::move(location)}};
  return answer;
}

FakeAnswer FakeError(int status) {
  FakeAnswer answer = FakePage("<p>error</p>");
  answer.status = status;
  return answer;
}

FakeAnswer FakeFailure(FetchOutcome outcome) {
  FakeAnswer answer;
  answer.outcome = outcome;
  answer.status = 0;
  return answer;
}

void FakeWeb::Put(std::string url, std::vector<FakeAnswer> answers) {
  NEPHILA_CHECK(!answers.empty());
  const MutexLock lock(mutex_);
  pages_[std::move(url)].assign(answers.begin(), answers.end());
}

void FakeWeb::PutHost(std::string host, std::vector<net::IpAddress> addresses) {
  const MutexLock lock(mutex_);
  hosts_[std::move(host)] = std::move(addresses);
}

void FakeWeb::FailName(std::string host, std::vector<dns::Outcome> outcomes) {
  const MutexLock lock(mutex_);
  failures_[std::move(host)].assign(outcomes.begin(), outcomes.end());
}

void FakeWeb::SlowName(std::string host, nanoseconds time) {
  const MutexLock lock(mutex_);
  name_times_[std::move(host)] = time;
}

nanoseconds FakeWeb::ResolveTime(std::string_view host) const {
  const MutexLock lock(mutex_);
  const auto found = name_times_.find(host);
  return found == name_times_.end() ? kResolveTime : found->second;
}

void FakeWeb::CloseKept(std::string host) {
  const MutexLock lock(mutex_);
  closed_.insert(std::move(host));
}

void FakeWeb::NumberAnswers() {
  const MutexLock lock(mutex_);
  numbers_ = true;
}

bool FakeWeb::numbers_answers() const {
  const MutexLock lock(mutex_);
  return numbers_;
}

void FakeWeb::BreakOff(MonoTime now, nanoseconds pause) {
  const MutexLock lock(mutex_);
  for (FakeContact& contact : log_) {
    if (contact.end != MonoTime::max()) continue;
    contact.end = now + ahead_;
    contact.lost = true;
  }
  ahead_ += pause;
}

void FakeWeb::Restore(const std::vector<FakeContact>& log) {
  const MutexLock lock(mutex_);
  NEPHILA_CHECK(log_.empty());
  log_ = log;
  ends_ = log.size();
  for (const FakeContact& contact : log) {
    const auto page = pages_.find(contact.url);
    if (page != pages_.end() && page->second.size() > 1) {
      page->second.pop_front();
    }
  }
}

size_t FakeWeb::requests() const {
  const MutexLock lock(mutex_);
  return log_.size();
}

size_t FakeWeb::ends() const {
  const MutexLock lock(mutex_);
  return ends_;
}

std::vector<FakeContact> FakeWeb::log() const {
  const MutexLock lock(mutex_);
  return log_;
}

std::vector<std::string> FakeWeb::Asked() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> urls;
  urls.reserve(log_.size());
  for (const FakeContact& contact : log_) urls.push_back(contact.url);
  return urls;
}

size_t FakeWeb::TimesResolved(std::string_view host) const {
  const MutexLock lock(mutex_);
  const auto found = resolved_.find(host);
  return found == resolved_.end() ? 0 : found->second;
}

std::string FakeWeb::FirstEarly(nanoseconds host_delay,
                                nanoseconds server_delay) const {
  std::vector<FakeContact> contacts = log();
  std::erase_if(contacts, [](const FakeContact& contact) {
    return contact.contact == MonoTime{};
  });
  std::sort(contacts.begin(), contacts.end(),
            [](const FakeContact& a, const FakeContact& b) {
              return a.contact < b.contact;
            });
  std::map<std::string, MonoTime> hosts;
  std::map<net::IpAddress, MonoTime> addresses;
  const net::ServerGroups groups;
  for (const FakeContact& contact : contacts) {
    const auto host = hosts.find(contact.host);
    if (host != hosts.end() && contact.begin < host->second + host_delay) {
      return contact.url + ": its host was asked for something " +
             std::to_string(Seconds(contact.begin - host->second)) +
             " s before";
    }
    const auto address = addresses.find(groups.FirstOf(contact.address));
    if (address != addresses.end() &&
        contact.contact < address->second + server_delay) {
      return contact.url + ": its address was contacted " +
             std::to_string(Seconds(contact.contact - address->second)) +
             " s before";
    }
    // A transfer whose process is gone never ended: it was a contact.
    hosts[contact.host] =
        contact.end == MonoTime::max() ? contact.contact : contact.end;
    addresses[groups.FirstOf(contact.address)] = contact.contact;
  }
  return "";
}

std::pair<FakeAnswer, size_t> FakeWeb::Ask(const fetch::FetchRequest& request,
                                           bool kept, MonoTime begin) {
  const MutexLock lock(mutex_);
  FakeContact contact;
  contact.url = request.url;
  contact.host = request.host;
  contact.address = request.address;
  contact.begin = begin + ahead_;
  contact.end = MonoTime::max();
  contact.reused = kept;
  log_.push_back(contact);
  const size_t place = log_.size() - 1;
  if (kept && closed_.erase(request.host) > 0) {
    return {FakeFailure(FetchOutcome::kConnectionLost), place};
  }
  const auto page = pages_.find(request.url);
  if (page == pages_.end()) return {FakeError(404), place};
  FakeAnswer answer = page->second.front();
  log_[place].retry_after = RetryAfterOf(answer);
  if (page->second.size() > 1) page->second.pop_front();
  return {std::move(answer), place};
}

void FakeWeb::Contact(size_t place, MonoTime when) {
  const MutexLock lock(mutex_);
  log_[place].contact = when + ahead_;
}

void FakeWeb::End(size_t place, MonoTime when) {
  const MutexLock lock(mutex_);
  log_[place].end = when + ahead_;
  ++ends_;
}

dns::Answer FakeWeb::Resolve(std::string_view host) {
  const MutexLock lock(mutex_);
  dns::Answer answer;
  answer.source = dns::Source::kAsked;
  ++resolved_[std::string(host)];
  const auto failure = failures_.find(host);
  if (failure != failures_.end() && !failure->second.empty()) {
    answer.outcome = failure->second.front();
    failure->second.pop_front();
    return answer;
  }
  std::vector<net::IpAddress>& addresses = hosts_[std::string(host)];
  if (addresses.empty()) {
    // 198.18.0.0/15, for tests of networks (RFC 2544).
    constexpr uint32_t kFirst = 0xC6120000;
    addresses.push_back(
        net::IpAddress::V4(kFirst + static_cast<uint32_t>(hosts_.size())));
  }
  answer.outcome = dns::Outcome::kFound;
  answer.addresses = addresses;
  answer.records = "20260101000000\n" + std::string(host) + ". 300 IN A " +
                   addresses.front().ToString() + "\n";
  return answer;
}

FakeFetcher::FakeFetcher(FakeWeb& web, net::EventLoop& loop)
    : web_(web), loop_(loop), pool_(MakePool()), share_(*pool_) {}

FakeFetcher::~FakeFetcher() {
  for (const auto& [id, transfer] : transfers_) loop_.Cancel(transfer.timer);
}

void FakeFetcher::Start(fetch::FetchRequest request,
                        fetch::FetchHandler* handler) {
  const uint64_t id = request.id;
  Transfer transfer;
  transfer.begin = loop_.clock().WallNow();
  transfer.begin_mono = loop_.clock().Now();
  transfer.reused = kept_.erase(OriginOf(request)) > 0;
  std::tie(transfer.answer, transfer.place) =
      web_.Ask(request, transfer.reused, transfer.begin_mono);
  transfer.request = std::move(request);
  transfer.handler = handler;
  const nanoseconds connect =
      transfer.reused ? nanoseconds{0} : nanoseconds{kConnectTime};
  transfer.timer =
      loop_.At(transfer.begin_mono + connect, [this, id] { OnContact(id); });
  const bool is_new = transfers_.emplace(id, std::move(transfer)).second;
  NEPHILA_CHECK(is_new);
}

void FakeFetcher::OnContact(uint64_t id) {
  Transfer& transfer = transfers_.at(id);
  transfer.contact = loop_.clock().Now();
  web_.Contact(transfer.place, transfer.contact);
  transfer.timer = loop_.At(transfer.contact + transfer.answer.takes,
                            [this, id] { Finish(id); });
  transfer.handler->OnContact(id, transfer.contact, !transfer.reused);
}

void FakeFetcher::Finish(uint64_t id) {
  const auto node = transfers_.extract(id);
  const Transfer& transfer = node.mapped();
  web_.End(transfer.place, loop_.clock().Now());
  if (transfer.request.keep_connection &&
      transfer.answer.outcome == FetchOutcome::kResponse) {
    kept_.insert(OriginOf(transfer.request));
  }
  transfer.handler->OnFetched(ResultOf(transfer));
}

bool FakeFetcher::Cancel(uint64_t id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return false;
  Transfer& transfer = found->second;
  loop_.Cancel(transfer.timer);
  transfer.answer = FakeFailure(FetchOutcome::kInterrupted);
  // Never from inside Cancel.
  transfer.timer = loop_.At(loop_.clock().Now(), [this, id] { Finish(id); });
  return true;
}

std::unique_ptr<FetchResult> FakeFetcher::ResultOf(const Transfer& transfer) {
  auto result = std::make_unique<FetchResult>();
  const fetch::FetchRequest& request = transfer.request;
  const FakeAnswer& answer = transfer.answer;
  result->id = request.id;
  result->kind = request.kind;
  result->outcome = answer.outcome;
  result->url = request.url;
  result->begin = transfer.begin;
  result->begin_mono = transfer.begin_mono;
  result->end_mono = loop_.clock().Now();
  result->contact = transfer.contact;
  result->timings.total = result->end_mono - transfer.begin_mono;
  result->reused = transfer.reused;
  result->kept = request.keep_connection;
  result->address = request.address;
  result->address_text = request.address.ToString();
  result->port = request.port;
  url::Url url;
  NEPHILA_CHECK(url::Parse(request.url, nullptr, &url));
  result->request = "GET " + std::string(url.path()) +
                    " HTTP/1.1\r\nHost: " + request.host + "\r\n\r\n";
  if (answer.outcome != FetchOutcome::kResponse) return result;
  result->status = answer.status;
  result->head = HeadOf(answer);
  if (web_.numbers_answers()) {
    result->head.insert(
        result->head.size() - 2,
        "X-Request: " + std::to_string(transfer.place) + "\r\n");
  }
  result->body.Begin(&share_);
  const size_t taken = result->body.Append(answer.body);
  NEPHILA_CHECK(taken == answer.body.size());
  result->body.Finished();
  result->bytes_in = result->head.size() + answer.body.size();
  return result;
}

void FakeFetcher::Recycle(std::unique_ptr<FetchResult> result) {
  result->Clear();
}

void FakeResolver::Resolve(std::string_view host, Callback callback) {
  const uint64_t id = next_++;
  waiting_.emplace(id, std::move(callback));
  const auto slow = takes_.find(host);
  const auto takes =
      slow == takes_.end() ? web_.ResolveTime(host) : slow->second;
  loop_.At(loop_.clock().Now() + takes, [this, id, name = std::string(host)] {
    takes_.erase(name);
    auto node = waiting_.extract(id);
    if (!node.empty()) node.mapped()(web_.Resolve(name));
  });
}

void FakeResolver::CancelAll() {
  loop_.Post([waiting = std::exchange(waiting_, {})] {
    for (const auto& [id, callback] : waiting) callback(dns::Answer());
  });
}

}  // namespace nephila::crawl
