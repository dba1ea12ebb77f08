#include "job/quarantine.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/hash.h"
#include "base/random.h"

namespace nephila::job {
namespace {

constexpr std::string_view kSlotsMagic = "nephila slots";
constexpr std::string_view kPagesMagic = "nephila quarantine 1\n";
constexpr std::string_view kCheckName = "crc32c ";
constexpr uint64_t kSlotsVersion = 1;
// The head of the file, then the slots, have so many bytes each: no write of
// one reaches into a sector of another.
constexpr uint64_t kSlotBytes = 1024;
// Of a URL, with all else that a slot holds.
constexpr size_t kMostUrlText = 900;
// More threads nobody has.
constexpr uint64_t kMostSlots = 4096;
constexpr size_t kMostPagesBytes = size_t{64} << 20;

uint64_t HeadSalt() { return KeyedHash(kSlotsMagic, 0); }

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct SlotsHead {
  uint64_t run = 0;
  uint64_t slots = 0;
};

std::string FormatHead(const SlotsHead& head) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kSlotsMagic);
  writer.Varint(kSlotsVersion);
  writer.Varint(head.run);
  writer.Varint(head.slots);
  std::string frame;
  AppendFrame(frame, payload, HeadSalt());
  return frame;
}

std::optional<SlotsHead> ReadHead(std::string_view bytes) {
  ByteReader frames(bytes);
  const auto payload = ReadFrame(frames, HeadSalt(), kSlotBytes);
  if (!payload) return std::nullopt;
  ByteReader reader(*payload);
  const auto magic = reader.Sized();
  const auto version = reader.Varint();
  const auto run = reader.Varint();
  const auto slots = reader.Varint();
  if (!magic || *magic != kSlotsMagic || !version ||
      *version != kSlotsVersion || !run || !slots || *slots > kMostSlots) {
    return std::nullopt;
  }
  return SlotsHead{*run, *slots};
}

template <typename T>
bool ReadNumber(std::string_view text, int base, T* out) {
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *out, base);
  return !text.empty() && read.ec == std::errc() && read.ptr == end;
}

// The text up to `end`, which is taken off with it; nothing if it is missing.
std::optional<std::string_view> TakeUntil(std::string_view* text, char end) {
  const size_t at = text->find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(at + 1);
  return taken;
}

}  // namespace

Quarantine::Quarantine(FileSystem& fs, const std::string& dir,
                       const std::string& boot_id)
    : fs_(fs),
      slots_path_(dir + "/" + std::string(kSlotsName)),
      pages_path_(dir + "/" + std::string(kQuarantineName)),
      boot_salt_(boot_id.empty() ? 0 : KeyedHash(boot_id, 0)) {}

// A slot is good in one place of one run under one boot only.
uint64_t Quarantine::SlotSalt(size_t slot) const {
  return KeyedHash(kSlotsMagic, run_ * kSplitMixStep + slot + 1) ^ boot_salt_;
}

Result<std::unique_ptr<Quarantine>> Quarantine::Open(
    FileSystem& fs, const std::string& dir, size_t slots,
    const std::string& boot_id) {
  std::unique_ptr<Quarantine> quarantine(new Quarantine(fs, dir, boot_id));
  NEPHILA_RETURN_IF_ERROR(quarantine->ReadPages());
  NEPHILA_TRY(const bool reusable, quarantine->CountStrikes());
  if (!reusable || quarantine->slot_count_ < slots) {
    NEPHILA_RETURN_IF_ERROR(quarantine->MakeSlots(slots));
  }
  return quarantine;
}

Status Quarantine::Check(FileSystem& fs, const std::string& dir) {
  return Quarantine(fs, dir).ReadPages();
}

Result<uint32_t> Quarantine::StrikesOf(FileSystem& fs, const std::string& dir,
                                       uint64_t key) {
  Quarantine read(fs, dir);
  NEPHILA_RETURN_IF_ERROR(read.ReadPages());
  const MutexLock lock(read.mutex_);
  const auto page = read.pages_.find(key);
  return page == read.pages_.end() ? 0 : page->second.strikes;
}

Status Quarantine::ReadPages() {
  const auto text = ReadWholeFile(fs_, pages_path_, kMostPagesBytes);
  if (!text.has_value()) {
    if (text.error().code == ErrorCode::kNotFound) return {};
    return Unexpected(text.error());
  }
  const MutexLock lock(mutex_);
  if (!Parse(*text)) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              pages_path_ + ": damaged; without it no page is left out"});
  }
  for (const auto& [key, page] : pages_) {
    if (page.strikes >= kMostStrikes) held_.emplace(key, page.url);
  }
  return {};
}

// First the strikes are durable, then the slots go; their number tells whether
// they were counted. Returns whether the file can be used again as it is.
Result<bool> Quarantine::CountStrikes() {
  auto opened = fs_.Open(slots_path_, OpenMode::kReadWrite);
  if (!opened.has_value()) {
    if (opened.error().code == ErrorCode::kNotFound) return false;
    return Unexpected(opened.error());
  }
  slots_ = *std::move(opened);
  std::string bytes(kSlotBytes, '\0');
  const auto read = [&](uint64_t place) {
    return slots_->Read(place * kSlotBytes,
                        std::as_writable_bytes(std::span(bytes)));
  };
  NEPHILA_RETURN_IF_ERROR(read(0));
  const auto head = ReadHead(bytes);
  if (!head) return false;
  run_ = head->run;
  slot_count_ = head->slots;
  const MutexLock lock(mutex_);
  const bool is_news = counted_run_ < run_;
  bool in_use = false;
  for (size_t slot = 0; slot < slot_count_; ++slot) {
    NEPHILA_TRY(const size_t size, read(slot + 1));
    ByteReader frames(std::string_view(bytes).substr(0, size));
    const auto payload = ReadFrame(frames, SlotSalt(slot), kSlotBytes);
    if (!payload) continue;
    ByteReader reader(*payload);
    const auto key = reader.U64();
    const auto url = reader.Sized();
    if (!key || !url) continue;
    in_use = true;
    if (!is_news) continue;
    Page& page = pages_[*key];
    page.url = *url;
    if (++page.strikes == kMostStrikes) {
      held_.emplace(*key, page.url);
      added_.push_back(page.url);
    }
  }
  if (in_use && is_news) {
    counted_run_ = run_;
    NEPHILA_RETURN_IF_ERROR(Write());
  }
  struck_ = pages_.size() - held_.size();
  return !in_use;
}

Status Quarantine::MakeSlots(size_t slots) {
  {
    const MutexLock lock(mutex_);
    run_ = std::max(run_, counted_run_) + 1;
  }
  slot_count_ = slots;
  NEPHILA_TRY(const auto aside, AsideFile::Create(fs_, slots_path_));
  NEPHILA_RETURN_IF_ERROR(
      aside->file().Write(0, BytesOf(FormatHead({run_, slots}))));
  // Where space cannot be reserved, a full disk costs a strike.
  Status reserved = aside->file().Allocate((slots + 1) * kSlotBytes);
  if (!reserved && reserved.error().code != ErrorCode::kUnsupported &&
      reserved.error().code != ErrorCode::kNoSpace) {
    return reserved;
  }
  NEPHILA_RETURN_IF_ERROR(aside->Commit());
  NEPHILA_TRY(slots_, fs_.Open(slots_path_, OpenMode::kReadWrite));
  return {};
}

bool Quarantine::Holds(uint64_t key) const {
  return !held_.empty() && held_.contains(key);
}

size_t Quarantine::size() const { return held_.size(); }

Status Quarantine::Begin(size_t slot, uint64_t key, std::string_view url) {
  std::string payload;
  ByteWriter writer(payload);
  writer.U64(key);
  writer.Sized(url.substr(0, kMostUrlText));
  std::string frame;
  AppendFrame(frame, payload, SlotSalt(slot));
  return slots_->Write((slot + 1) * kSlotBytes, BytesOf(frame));
}

Status Quarantine::Leave(size_t slot) {
  // Zeros are no frame.
  constexpr std::array<std::byte, kFrameHeaderBytes> kFree{};
  return slots_->Write((slot + 1) * kSlotBytes, kFree);
}

Status Quarantine::End(size_t slot, uint64_t key) {
  NEPHILA_RETURN_IF_ERROR(Leave(slot));
  if (struck_ == 0) return {};
  const MutexLock lock(mutex_);
  const auto page = pages_.find(key);
  if (page == pages_.end() || page->second.strikes >= kMostStrikes) return {};
  pages_.erase(page);
  --struck_;
  changed_ = true;
  return {};
}

Status Quarantine::Save() {
  const MutexLock lock(mutex_);
  if (!changed_) return {};
  return Write();
}

Status Quarantine::Write() {
  NEPHILA_RETURN_IF_ERROR(PublishFile(fs_, pages_path_, Format()));
  changed_ = false;
  return {};
}

std::string Quarantine::Format() const {
  std::string text(kPagesMagic);
  text.append(fmt::format("run {}\n", counted_run_));
  for (const auto& [key, page] : pages_) {
    text.append(fmt::format("{} {:016x} {}\n", page.strikes, key, page.url));
  }
  const uint32_t check = Crc32c(text);
  return text.append(fmt::format("{}{:08x}\n", kCheckName, check));
}

bool Quarantine::Parse(std::string_view text) {
  const size_t check_line = text.rfind(kCheckName);
  if (!text.starts_with(kPagesMagic) || check_line == std::string_view::npos ||
      !text.ends_with('\n')) {
    return false;
  }
  uint32_t check = 0;
  std::string_view digits = text.substr(check_line + kCheckName.size());
  digits.remove_suffix(1);
  const std::string_view checked = text.substr(0, check_line);
  if (!ReadNumber(digits, 16, &check) || check != Crc32c(checked)) return false;
  std::string_view rest = checked.substr(kPagesMagic.size());
  if (TakeUntil(&rest, ' ') != "run") return false;
  const auto run = TakeUntil(&rest, '\n');
  if (!run || !ReadNumber(*run, 10, &counted_run_)) return false;
  while (!rest.empty()) {
    const auto strikes = TakeUntil(&rest, ' ');
    const auto key_text = TakeUntil(&rest, ' ');
    const auto url = TakeUntil(&rest, '\n');
    Page page;
    uint64_t key = 0;
    if (!strikes || !key_text || !url ||
        !ReadNumber(*strikes, 10, &page.strikes) ||
        !ReadNumber(*key_text, 16, &key)) {
      return false;
    }
    page.url = *url;
    pages_.emplace(key, std::move(page));
  }
  return true;
}

}  // namespace nephila::job
