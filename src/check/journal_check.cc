#include "check/journal_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "item/url_record.h"
#include "job/journal_file.h"
#include "job/journal_reader.h"
#include "robots/rules.h"
#include "url/record_keys.h"

namespace nephila::check {
namespace {

constexpr uint64_t kUrlSalt = 0x6A09E667F3BCC908;

class JournalCheck {
 public:
  JournalCheck(FileSystem& fs, const std::string& dir,
               const JournalNeeds& needs, Findings* findings)
      : fs_(fs), dir_(dir), needs_(needs), findings_(*findings) {}

  JournalFacts Run(std::set<std::string>* named) {
    const auto files = job::ListJournal(fs_, dir_);
    if (!files.has_value()) {
      Damaged(dir_, files.error().message);
      return std::move(facts_);
    }
    for (const uint64_t first : *files) {
      named->insert(PathOf(first));
      if (const auto file = fs_.Open(PathOf(first), OpenMode::kRead)) {
        facts_.bytes += (*file)->Size().value_or(0);
      }
    }
    facts_.first = files->empty() ? 1 : files->front();
    if (facts_.first > needs_.from) {
      Damaged(dir_, fmt::format("entries {} to {} are missing, and a manifest "
                                "needs them",
                                needs_.from, facts_.first - 1));
    }
    Walk();
    if (facts_.next <= needs_.covered) {
      Damaged(dir_,
              fmt::format("ends with entry {}, and a manifest covers entry {}",
                          facts_.next - 1, needs_.covered));
    }
    return std::move(facts_);
  }

 private:
  std::string PathOf(uint64_t first) const {
    return dir_ + "/" + job::JournalFileName(first);
  }
  void Damaged(const std::string& path, std::string what,
               std::optional<uint64_t> offset = std::nullopt) {
    facts_.whole = false;
    findings_.Report(path, offset, std::move(what));
  }

  void Walk() {
    auto reader = job::JournalReader::Open(fs_, dir_, facts_.first);
    if (!reader.has_value()) {
      Damaged(PathOf(facts_.first), reader.error().message);
      return;
    }
    facts_.next = facts_.first;
    while (true) {
      const auto next = reader->Next();
      if (!next.has_value()) {
        Damaged(dir_, next.error().message);
        return;
      }
      if (!*next) break;
      facts_.next = (*next)->number + 1;
      Take((*next)->number, (*next)->bytes);
    }
    const auto& cut = reader->cut();
    if (!cut) return;
    std::string what =
        fmt::format("{} bytes behind entry {} that are no whole entry",
                    cut->bytes, reader->next() - 1);
    if (reader->next() <= needs_.covered) {
      Damaged(cut->path, std::move(what), cut->offset);
    } else {
      findings_.Note(cut->path, cut->offset,
                     what +
                         ": a stopped machine left them, the next start "
                         "cuts them");
    }
  }

  void Take(uint64_t number, std::string_view bytes) {
    const auto entry = job::ReadEntry(bytes);
    if (!entry.has_value()) {
      return Damaged(dir_, fmt::format("entry {}: {}", number, entry.error()));
    }
    if (number == facts_.first) facts_.first_when = entry->when;
    if (entry->kind == job::EntryKind::kCommand) {
      ++facts_.commands;
      return;
    }
    const auto record = item::ReadUrl(entry->record);
    if (!record.has_value()) {
      return Damaged(dir_, fmt::format("entry {}: what is no URL: {}", number,
                                       record.error()));
    }
    if (entry->kind == job::EntryKind::kSeed) {
      ++facts_.seeds;
      return;
    }
    const bool is_robots = entry->kind == job::EntryKind::kRobots;
    ++(is_robots ? facts_.robots : facts_.pages);
    if (!entry->rules.empty()) {
      if (const auto rules = robots::Rules::Open(entry->rules); !rules) {
        Damaged(dir_, fmt::format("entry {}: rules of robots.txt: {}", number,
                                  rules.error().message));
      }
    }
    std::string url(record->url);
    if (is_robots) url += "robots.txt";
    if (!entry->archive) {
      facts_.failed.push_back(HashOf(url));
      return;
    }
    PlacedEntry placed;
    placed.number = number;
    placed.place = *entry->archive;
    placed.url_hash = HashOf(url);
    placed.key = url::KeysOf(*record, needs_.key_seed).url.value;
    placed.attempt = entry->attempt;
    placed.status = entry->status;
    placed.is_robots = is_robots;
    facts_.placed.push_back(placed);
  }

  FileSystem& fs_;
  const std::string& dir_;
  const JournalNeeds& needs_;
  Findings& findings_;
  JournalFacts facts_;
};

}  // namespace

uint64_t HashOf(std::string_view url) { return KeyedHash(url, kUrlSalt); }

JournalFacts CheckJournal(FileSystem& fs, const std::string& dir,
                          const JournalNeeds& needs, Findings* findings,
                          std::set<std::string>* named) {
  JournalFacts facts = JournalCheck(fs, dir, needs, findings).Run(named);
  findings->EndPart(
      "journal",
      fmt::format("entries {} to {}: {} pages, {} robots.txt, {} seeds, {} "
                  "commands, {}",
                  facts.first, facts.next - 1, facts.pages, facts.robots,
                  facts.seeds, facts.commands, HumanSize(facts.bytes)));
  return facts;
}

}  // namespace nephila::check
