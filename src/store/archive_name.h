// ArchiveName: what an archive file is called, and finding its parts again.
//
//   crawl-20260102030405678-00042-host.warc.gz
//
// prefix, time of its creation (UTC, 17 digits), serial, host (may be missing),
// as Heritrix names them; ".open" behind it while it is written. The serial
// counts up within a prefix and never repeats: a checkpoint knows a file by it,
// under either name. docs/formats/archive.md.
//   Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "store/compressor.h"

namespace nephila::store {

inline constexpr std::string_view kGzipSuffix = ".warc.gz";
inline constexpr std::string_view kZstdSuffix = ".warc.zst";
// Of a file that is still written.
inline constexpr std::string_view kOpenSuffix = ".open";
// Of the index beside an archive.
inline constexpr std::string_view kIndexSuffix = ".cdxj";

struct ArchiveName {
  bool operator==(const ArchiveName&) const = default;

  std::string Text() const;  // with ".open" if it is
  std::string FinalText() const;
  // "crawl-20260102030405678-00042-host.cdxj".
  std::string IndexText() const;

  std::string prefix;
  std::string timestamp;  // 17 digits
  uint64_t serial = 0;
  std::string host;  // empty: none
  std::string suffix = std::string(kGzipSuffix);
  bool open = false;
};

// ".warc.gz" or ".warc.zst".
std::string_view SuffixOf(CompressorKind kind);

// The parts of a file's name if it is an archive of this prefix.
std::optional<ArchiveName> ParseArchiveName(std::string_view prefix,
                                            std::string_view name);

// Whether a text can be a prefix or a host: at most 100 letters, digits, '.',
// '_' and '-', a letter or digit first, so that no name leads out of a folder.
bool IsNamePart(std::string_view text);

// "20260102030405678".
std::string Timestamp17(WallTime time);
// "2026-01-02T03:04:05.678901Z", as WARC-Date has it from version 1.1 on.
std::string WarcDate(WallTime time);

}  // namespace nephila::store
