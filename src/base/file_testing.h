// What the tests of files share. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): a failure names its own line.
#define EXPECT_OK(expression)                                               \
  do {                                                                      \
    const auto& outcome = (expression);                                     \
    EXPECT_TRUE(outcome.has_value())                                        \
        << (outcome.has_value() ? std::string() : outcome.error().message); \
  } while (false)

#define EXPECT_FAILS(expression, expected_code, named)                \
  do {                                                                \
    const auto& outcome = (expression);                               \
    ASSERT_FALSE(outcome.has_value());                                \
    EXPECT_EQ(ErrorCodeName(outcome.error().code),                    \
              ErrorCodeName(ErrorCode::expected_code));               \
    EXPECT_NE(outcome.error().message.find(named), std::string::npos) \
        << outcome.error().message;                                   \
  } while (false)
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace nephila {

inline std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Ends the test program, with the message, if there is an error.
template <typename T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return *std::move(result);
}

inline void MustDo(const Status& status) {
  EXPECT_TRUE(status.has_value())
      << (status.has_value() ? std::string() : status.error().message);
}

template <typename T>
std::string CodeOf(const Result<T>& result) {
  return std::string(result.has_value() ? "ok"
                                        : ErrorCodeName(result.error().code));
}

inline std::unique_ptr<File> Create(FileSystem& fs, const std::string& path) {
  return Must(fs.Open(path, OpenMode::kCreate));
}

// Makes the file hold `contents`, and syncs it but not its name.
inline void Put(FileSystem& fs, const std::string& path,
                std::string_view contents) {
  const auto file = Create(fs, path);
  MustDo(file->Truncate(0));
  MustDo(file->Write(0, Bytes(contents)));
  MustDo(file->Sync());
}

// The contents, or "(none)".
inline std::string Get(FileSystem& fs, const std::string& path) {
  const auto contents = ReadWholeFile(fs, path, 1 << 20);
  if (contents.has_value()) return *contents;
  EXPECT_EQ(CodeOf(contents), "not found");
  return "(none)";
}

// Those of a directory; directories end in '/'.
inline std::vector<std::string> Names(FileSystem& fs, const std::string& dir) {
  std::vector<std::string> names;
  for (const DirEntry& entry : Must(fs.List(dir))) {
    names.push_back(entry.name + (entry.is_directory ? "/" : ""));
  }
  return names;
}

}  // namespace nephila
