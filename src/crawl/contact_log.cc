#include "crawl/contact_log.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>
#include <utility>

#include "base/bytes.h"

namespace nephila::crawl {
namespace {

using politeness::Contact;
using std::chrono::milliseconds;

constexpr std::string_view kMagic = "nephila contacts";
constexpr uint64_t kVersion = 1;
constexpr size_t kContactBytes = 8 + 16 + 4;
// A log, with the heads of its frames.
constexpr size_t kMostBytes = 2 * kMostContacts * kContactBytes;

// Rounded up, at most 49 days.
uint32_t DelayOf(const Contact& contact) {
  const auto delay = std::chrono::ceil<milliseconds>(contact.delay).count();
  return static_cast<uint32_t>(std::clamp<int64_t>(delay, 0, UINT32_MAX));
}

// A frame is good in one log only.
uint64_t SaltOf(uint64_t salt, uint64_t number) { return salt ^ number; }

std::string FormatHead(std::string_view boot_id, uint64_t salt) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.Varint(kVersion);
  writer.Sized(boot_id);
  std::string frame;
  AppendFrame(frame, payload, salt);
  return frame;
}

bool AppendContacts(std::string_view payload, std::vector<Contact>* contacts) {
  ByteReader reader(payload);
  while (!reader.AtEnd()) {
    Contact contact;
    const auto host = reader.U64();
    if (!host) return false;
    contact.host = *host;
    for (uint8_t& byte : contact.address.bytes) {
      const auto one = reader.U8();
      if (!one) return false;
      byte = *one;
    }
    const auto delay = reader.U32();
    if (!delay) return false;
    contact.delay = milliseconds(*delay);
    contacts->push_back(contact);
  }
  return true;
}

struct Log {
  std::string boot_id;
  std::vector<Contact> contacts;
};

// Up to an end that is not whole: whoever wrote it was killed before it gave
// the leases. Nothing if it is damaged.
std::optional<Log> ReadLog(std::string_view bytes, uint64_t salt) {
  ByteReader frames(bytes);
  const auto head = ReadFrame(frames, salt, kMostBytes);
  if (!head) {
    if (head.error() == FrameError::kCorrupt) return std::nullopt;
    return Log();  // it was begun, and no more
  }
  ByteReader reader(*head);
  const auto magic = reader.Sized();
  const auto version = reader.Varint();
  const auto boot_id = reader.Sized();
  if (!magic || *magic != kMagic || !version || *version != kVersion ||
      !boot_id || !reader.AtEnd()) {
    return std::nullopt;
  }
  Log log;
  log.boot_id = *boot_id;
  while (!frames.AtEnd()) {
    const auto payload = ReadFrame(frames, salt, kMostBytes);
    if (!payload && payload.error() == FrameError::kTruncated) break;
    if (!payload || !AppendContacts(*payload, &log.contacts)) {
      return std::nullopt;
    }
  }
  return log;
}

std::optional<uint64_t> NumberOf(std::string_view name) {
  uint64_t number = 0;
  const auto read =
      std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size() ||
      number == 0 || name.front() == '0') {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Result<std::unique_ptr<ContactLog>> ContactLog::Open(const Parts& parts,
                                                     uint64_t last) {
  NEPHILA_RETURN_IF_ERROR(EnsureDir(parts.fs, parts.dir));
  NEPHILA_TRY(const auto entries, parts.fs.List(parts.dir));
  std::unique_ptr<ContactLog> log(new ContactLog(parts, last));
  for (const DirEntry& entry : entries) {
    const auto number = NumberOf(entry.name);
    if (number && !entry.is_directory) log->numbers_.push_back(*number);
  }
  std::sort(log->numbers_.begin(), log->numbers_.end());
  log->next_ =
      std::max(last, log->numbers_.empty() ? 0 : log->numbers_.back()) + 1;
  return log;
}

std::string ContactLog::PathOf(uint64_t number) const {
  return parts_.dir + "/" + std::to_string(number);
}

std::optional<std::vector<Contact>> ContactLog::Read() {
  const auto boot_id = parts_.clock.BootId();
  const auto first = std::lower_bound(numbers_.begin(), numbers_.end(), last_);
  if (last_ == 0 || !boot_id.has_value() || boot_id->empty() ||
      first == numbers_.end() || *first != last_) {
    return std::nullopt;
  }
  std::vector<Contact> contacts;
  for (auto number = first; number != numbers_.end(); ++number) {
    const auto bytes = ReadWholeFile(parts_.fs, PathOf(*number), kMostBytes);
    if (!bytes.has_value()) return std::nullopt;
    const auto log = ReadLog(*bytes, SaltOf(parts_.salt, *number));
    if (!log) return std::nullopt;
    // Whoever began it and no more gave nothing; but a manifest came after the
    // begin of the first.
    if (log->boot_id.empty() && number != first) continue;
    if (log->boot_id != *boot_id) return std::nullopt;
    contacts.insert(contacts.end(), log->contacts.begin(), log->contacts.end());
  }
  return contacts;
}

Result<uint64_t> ContactLog::Begin(const std::vector<Contact>& in_flight) {
  const uint64_t number = next_++;
  file_.reset();
  contacts_ = 0;
  NEPHILA_RETURN_IF_ERROR(Settle(BeginFile(number, in_flight)));
  return number;
}

Status ContactLog::BeginFile(uint64_t number,
                             const std::vector<Contact>& in_flight) {
  const auto boot_id = parts_.clock.BootId();
  if (!boot_id.has_value() || boot_id->empty()) {
    return Unexpected(Error{ErrorCode::kUnsupported, "the boot has no name"});
  }
  NEPHILA_TRY(file_, parts_.fs.Open(PathOf(number), OpenMode::kCreateNew));
  numbers_.push_back(number);
  const std::string head = FormatHead(*boot_id, SaltOf(parts_.salt, number));
  NEPHILA_RETURN_IF_ERROR(
      file_->Write(0, std::as_bytes(std::span(head.data(), head.size()))));
  end_ = head.size();
  return in_flight.empty() ? Status() : Write(in_flight);
}

Status ContactLog::Append(const std::vector<politeness::Lease>& leases) {
  if (file_ == nullptr || leases.empty()) return broken_;
  if (contacts_ + leases.size() > kMostContacts) {
    return Settle(Unexpected(Error{ErrorCode::kNoSpace, "too many contacts"}));
  }
  std::vector<Contact> contacts;
  contacts.reserve(leases.size());
  for (const politeness::Lease& lease : leases) {
    contacts.push_back({lease.host, lease.address, lease.host_delay});
  }
  return Settle(Write(contacts));
}

Status ContactLog::Write(const std::vector<Contact>& contacts) {
  std::string payload;
  payload.reserve(contacts.size() * kContactBytes);
  ByteWriter writer(payload);
  for (const Contact& contact : contacts) {
    writer.U64(contact.host);
    for (const uint8_t byte : contact.address.bytes) writer.U8(byte);
    writer.U32(DelayOf(contact));
  }
  std::string frame;
  AppendFrame(frame, payload, SaltOf(parts_.salt, numbers_.back()));
  NEPHILA_RETURN_IF_ERROR(
      file_->Write(end_, std::as_bytes(std::span(frame.data(), frame.size()))));
  end_ += frame.size();
  contacts_ += contacts.size();
  return {};
}

Status ContactLog::Settle(Status written) {
  if (written) return {};
  file_.reset();
  const ErrorCode code = written.error().code;
  if (code == ErrorCode::kNoSpace || code == ErrorCode::kUnsupported) {
    // That which the manifest names first: what stands in it is not all.
    written = RemoveUpTo(UINT64_MAX);
    // Some file systems have no room to remove a file, and this cannot wait.
    if (!written) {
      written = Unexpected(Error{ErrorCode::kIo, written.error().message});
    }
  }
  broken_ = written;
  return written;
}

Status ContactLog::RemoveUpTo(uint64_t number) {
  while (!numbers_.empty() && numbers_.front() <= number) {
    Status removed = parts_.fs.Remove(PathOf(numbers_.front()));
    if (!removed && removed.error().code != ErrorCode::kNotFound) {
      return removed;
    }
    numbers_.erase(numbers_.begin());
  }
  return {};
}

Status ContactLog::Check(FileSystem& fs, const std::string& path,
                         uint64_t salt) {
  NEPHILA_TRY(const std::string bytes, ReadWholeFile(fs, path, kMostBytes));
  const auto number =
      NumberOf(std::string_view(path).substr(path.rfind('/') + 1));
  if (!number || !ReadLog(bytes, SaltOf(salt, *number))) {
    return Unexpected(
        Error{ErrorCode::kCorruption, path + ": this is no log of contacts"});
  }
  return {};
}

}  // namespace nephila::crawl
