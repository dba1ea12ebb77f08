// What the tests of the journal share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "job/journal.h"

namespace nephila::job {

inline constexpr uint64_t kTestSalt = 99;
inline const std::string kTestDir = "journal";

// Rolls files often.
inline JournalOptions SmallJournal() {
  return {.file_bytes = 300, .reserve_bytes = 8192, .salt = kTestSalt};
}

// The entry with that number, as long as the number wants it.
inline std::string TestEntry(uint64_t number) {
  return "entry " + std::to_string(number) + " " +
         std::string(number * 7 % 60, 'x');
}

inline std::vector<std::string> ReadAll(JournalReader reader) {
  std::vector<std::string> entries;
  uint64_t expected = reader.next();
  for (;;) {
    const auto entry = Must(reader.Next());
    if (!entry) return entries;
    EXPECT_EQ(entry->number, expected++);
    entries.emplace_back(entry->bytes);
  }
}

inline std::vector<std::string> TestEntries(uint64_t from, uint64_t last) {
  std::vector<std::string> entries;
  for (uint64_t i = from; i <= last; ++i) entries.push_back(TestEntry(i));
  return entries;
}

inline std::unique_ptr<Journal> OpenJournal(FileSystem& fs, uint64_t from) {
  return Must(Journal::Open(fs, kTestDir, SmallJournal(), from));
}

// Appends the entries up to `last`.
inline void AppendTo(Journal& journal, uint64_t last) {
  while (journal.next() <= last) {
    const uint64_t number = journal.next();
    EXPECT_EQ(Must(journal.Append(TestEntry(number))), number);
  }
}

}  // namespace nephila::job
