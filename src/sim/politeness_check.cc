#include "sim/politeness_check.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <span>

#include "base/text.h"

namespace nephila::sim {
namespace {

constexpr size_t kMaxWords = 8;
constexpr size_t kMaxLine = size_t{64} << 10;

struct Words {
  std::array<std::string_view, kMaxWords> items;
  size_t size = 0;
};

Words Split(std::string_view line) {
  Words words;
  while (!line.empty() && words.size < kMaxWords) {
    const size_t space = std::min(line.find(' '), line.size());
    words.items[words.size++] = line.substr(0, space);
    line.remove_prefix(std::min(space + 1, line.size()));
  }
  return words;
}

template <typename T>
bool Read(std::string_view word, T* number) {
  const char* const end = word.data() + word.size();
  const auto [read, error] = std::from_chars(word.data(), end, *number);
  return error == std::errc() && read == end && !word.empty();
}

int64_t Micros(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

std::string Show(int64_t us) {
  return FormatDuration(std::chrono::microseconds(us));
}

}  // namespace

Error PolitenessCheck::Bad(std::string_view what) const {
  return Error{ErrorCode::kCorruption,
               fmt::format("line {} of the log: {}", line_, what)};
}

void PolitenessCheck::Add(uint64_t earlier, std::string what) {
  ++report_.violations;
  if (report_.first.size() < rules_.reported) {
    report_.first.push_back({line_, earlier, std::move(what)});
  }
}

Status PolitenessCheck::Line(std::string_view line) {
  line_ = ++lines_;
  if (line.empty() || line.starts_with('#') || line.starts_with("D ")) {
    return {};
  }
  if (line.starts_with("N ")) {
    if (const auto wrong = nginx_.Line(line, lines_)) {
      return Unexpected(Bad(*wrong));
    }
    return nginx_.TakeReady(
        [this](const LogEvent& event) { return Event(event); });
  }
  const Words words = Split(line);
  int64_t time = 0;
  uint64_t id = 0;
  if (words.size < 3 || !Read(words.items[1], &time) ||
      !Read(words.items[2], &id)) {
    return Unexpected(Bad("no time and connection"));
  }
  if (time < last_us_) return Unexpected(Bad("time steps back"));
  last_us_ = time;
  if (words.items[0] == "A" && words.size == 4) {
    return Accepted(time, id, words.items[3]);
  }
  if (words.items[0] == "R" && words.size == 8) {
    return Requested(time, id, words.items[5], words.items[7]);
  }
  if (words.items[0] == "E" && words.size == 6) {
    int status = 0;
    if (!Read(words.items[3], &status)) return Unexpected(Bad("no status"));
    return Ended(time, id, status, words.items[5] == "keep");
  }
  return Unexpected(Bad("not a line of a log"));
}

Status PolitenessCheck::Finish() {
  return nginx_.TakeAll([this](const LogEvent& event) { return Event(event); });
}

Status PolitenessCheck::Event(const LogEvent& event) {
  line_ = event.line;
  last_us_ = event.time_us;
  switch (event.kind) {
    case LogEvent::Kind::kAccept:
      return Accepted(event.time_us, event.connection, event.address);
    case LogEvent::Kind::kRequest:
      return Requested(event.time_us, event.connection, event.host, event.path);
    case LogEvent::Kind::kEnd:
      return Ended(event.time_us, event.connection, event.status,
                   /*kept=*/true);
  }
  return {};
}

void PolitenessCheck::Contact(int64_t time, const std::string& address) {
  Server& server = servers_[address];
  const int64_t wait = Micros(rules_.server_delay - rules_.tolerance);
  if (server.contact_line != 0 && time - server.contact_us < wait) {
    Add(server.contact_line,
        fmt::format("server {}: contacted {} after the contact before, not {}",
                    address, Show(time - server.contact_us),
                    FormatDuration(rules_.server_delay)));
  }
  server.contact_us = time;
  server.contact_line = line_;
}

Status PolitenessCheck::Accepted(int64_t time, uint64_t id,
                                 std::string_view address) {
  Connection& connection = connections_[id];
  if (!connection.address.empty()) {
    return Unexpected(Bad("the connection was accepted before"));
  }
  const auto parsed = net::IpAddress::Parse(address);
  connection.address =
      parsed ? rules_.groups.NameOf(*parsed) : std::string(address);
  connection.accepted_us = time;
  ++report_.connections;
  Contact(time, connection.address);
  return {};
}

void PolitenessCheck::CheckHost(int64_t time, const std::string& name,
                                bool robots, const Host& host) {
  if (host.open_line != 0) {
    Add(host.open_line,
        fmt::format("host {}: a second request in flight", name));
    return;
  }
  if (host.end_line == 0 || (robots && !host.robots_seen)) return;
  if (time < host.not_before_us - Micros(rules_.tolerance)) {
    Add(host.not_before_line,
        fmt::format("host {}: contacted {} before the end of the wait that its "
                    "answer asked for (Retry-After)",
                    name, Show(host.not_before_us - time)));
    return;
  }
  std::chrono::nanoseconds delay = rules_.host_delay;
  if (rules_.site_delay) delay = rules_.site_delay(name).value_or(delay);
  if (const auto own = rules_.host_delays.find(name);
      own != rules_.host_delays.end()) {
    delay = std::max(delay, own->second);
  }
  const bool by_robots = host.crawl_delay > delay;
  delay = std::max(delay, host.crawl_delay);
  if (time - host.end_us < Micros(delay - rules_.tolerance)) {
    Add(host.end_line,
        fmt::format("host {}: contacted {} after the end of the transfer "
                    "before, not {}{}",
                    name, Show(time - host.end_us), FormatDuration(delay),
                    by_robots ? " (Crawl-delay)" : ""));
  }
}

Status PolitenessCheck::Requested(int64_t time, uint64_t id,
                                  std::string_view host_name,
                                  std::string_view path) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) {
    return Unexpected(Bad("a request without a connection"));
  }
  Connection& connection = found->second;
  if (connection.busy) {
    return Unexpected(Bad("the request before has not ended"));
  }
  if (!connection.fresh) Contact(time, connection.address);
  ++report_.requests;
  Server& server = servers_[connection.address];
  ++server.in_flight;
  if (rules_.server_in_flight > 0 &&
      server.in_flight > rules_.server_in_flight) {
    Add(server.contact_line, fmt::format("server {}: {} requests in flight",
                                         connection.address, server.in_flight));
  }
  // A host is contacted when its fresh connection is made, which is before the
  // request came.
  const int64_t contact = connection.fresh ? connection.accepted_us : time;
  connection.fresh = false;
  connection.busy = true;
  connection.host = host_name;
  connection.path = path;
  Host& host = hosts_[connection.host];
  const bool robots = path == "/robots.txt";
  if (host_name == "-") return {};  // what was sent was no request
  CheckHost(contact, connection.host, robots, host);
  host.open_line = line_;
  if (robots) host.robots_seen = true;
  return {};
}

Status PolitenessCheck::Ended(int64_t time, uint64_t id, int status,
                              bool kept) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || !found->second.busy) {
    return Unexpected(Bad("an end without a request"));
  }
  Connection& connection = found->second;
  connection.busy = false;
  --servers_[connection.address].in_flight;
  Host& host = hosts_[connection.host];
  host.end_us = time;
  host.end_line = line_;
  host.open_line = 0;
  TakeAskedFor(time, connection, status, &host);
  if (!kept) connections_.erase(found);
  return {};
}

void PolitenessCheck::TakeAskedFor(int64_t time, const Connection& connection,
                                   int status, Host* host) {
  if (!rules_.asked_for) return;
  const AskedFor asked =
      rules_.asked_for(connection.host, connection.path, status);
  if (asked.crawl_delay) host->crawl_delay = *asked.crawl_delay;
  if (asked.retry_after.count() > 0) {
    host->not_before_us = time + Micros(asked.retry_after);
    host->not_before_line = line_;
  }
  if (asked.crawl_delay || asked.retry_after.count() > 0) ++report_.asked_for;
}

PolitenessReport PolitenessCheck::Report() const {
  PolitenessReport report = report_;
  report.hosts = hosts_.size();
  report.addresses = servers_.size();
  return report;
}

Result<PolitenessReport> CheckPoliteness(FileSystem& fs,
                                         const std::string& path,
                                         const PolitenessRules& rules) {
  NEPHILA_TRY(auto file, fs.Open(path, OpenMode::kRead));
  PolitenessCheck check(rules);
  std::string text;
  std::string part(size_t{256} << 10, '\0');
  uint64_t offset = 0;
  while (true) {
    NEPHILA_TRY(const size_t size,
                file->Read(offset, std::as_writable_bytes(std::span(part))));
    if (size == 0) break;
    offset += size;
    text.append(part, 0, size);
    size_t begin = 0;
    for (size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
      NEPHILA_RETURN_IF_ERROR(
          check.Line(std::string_view(text).substr(begin, end - begin)));
      begin = end + 1;
    }
    text.erase(0, begin);
    if (text.size() > kMaxLine) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              path + ": a line is longer than any log's"});
    }
  }
  // A last line without its end was not written whole: the server was killed.
  NEPHILA_RETURN_IF_ERROR(check.Finish());
  return check.Report();
}

}  // namespace nephila::sim
