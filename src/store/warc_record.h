// WarcHeader: the header of a WARC record (ISO 28500:2017 s4), its named fields
// in their order, to be written or as they were read.
//
//   WARC/1.1\r\n  Name: value\r\n ...  \r\n  block of Content-Length bytes
//   \r\n\r\n
//
// Reading is tolerant where archives differ and the meaning is clear: names in
// any case, LF alone, folded values, fields that no standard names, versions
// 0.x, URIs in angle brackets. What is written is always well formed: bytes
// that would break a line are replaced.
//   Threads: a value, no sharing inside.   Cost: linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::store {

enum class RecordType : uint8_t {
  kWarcinfo,
  kResponse,
  kResource,
  kRequest,
  kMetadata,
  kRevisit,
  kConversion,
  kContinuation,
  kOther,  // readers shall ignore it (s5.5)
};

// As in WARC-Type; "other" for kOther.
std::string_view RecordTypeName(RecordType type);
RecordType RecordTypeOf(std::string_view name);

struct WarcField {
  bool operator==(const WarcField&) const = default;
  std::string name;
  std::string value;
};

// Why a text is no header.
enum class HeaderError : uint8_t {
  kIncomplete,     // it may be one, when more of it is there
  kNoVersion,      // it does not begin with "WARC/1.1" or the like
  kTooLong,        // over the limit without an empty line
  kTooManyFields,  // over kMostFields
  kNotArc,         // not a line of an ARC file
};

class WarcHeader {
 public:
  // No fields, of a version such as "1.1".
  void Reset(std::string_view version);

  // Adds a field at the end. Controls in `value` become spaces: a value may
  // come from the web and must not become another field. REQUIRES: `name` is
  // a token.
  void Add(std::string_view name, std::string_view value);

  const std::string& version() const { return version_; }
  const std::vector<WarcField>& fields() const { return fields_; }
  // The first field of that name in any case, or null.
  const std::string* Find(std::string_view name) const;
  // The same, or an empty text.
  std::string_view Get(std::string_view name) const;
  // Without the angle brackets that identifiers stand in (s5.2), and that wget
  // up to 1.20 wrote around target URIs too.
  std::string_view GetUri(std::string_view name) const;
  // How many fields have that name.
  size_t Count(std::string_view name) const;

  RecordType type() const { return RecordTypeOf(Get("WARC-Type")); }
  std::string_view record_id() const { return GetUri("WARC-Record-ID"); }
  std::string_view target_uri() const { return GetUri("WARC-Target-URI"); }
  std::string_view date() const { return Get("WARC-Date"); }
  std::string_view block_digest() const { return Get("WARC-Block-Digest"); }
  std::string_view payload_digest() const { return Get("WARC-Payload-Digest"); }
  // Of the block; the part before ';', in small letters: "application/http".
  std::string content_type() const;
  // None if it is missing or no number.
  std::optional<uint64_t> content_length() const;
  // Lines of a header as read that were no field.
  size_t malformed_lines() const { return malformed_lines_; }

  // The bytes of the header with its empty line.
  void AppendTo(std::string& out) const;

 private:
  friend Result<size_t, HeaderError> ParseWarcHeader(std::string_view, size_t,
                                                     WarcHeader*);

  std::string version_;
  std::vector<WarcField> fields_;
  size_t malformed_lines_ = 0;
};

// In words: "no WARC version line".
std::string_view HeaderErrorText(HeaderError error);

// What stands behind every block (s4).
inline constexpr std::string_view kRecordEnd = "\r\n\r\n";
// Real records have about a dozen; some write one WARC-Concurrent-To a link.
inline constexpr size_t kMostFields = 10'000;
// Of a header: records of browsers carry JSON in fields.
inline constexpr size_t kLongestHeader = size_t{1} << 20;

// Reads the header at the beginning of `text` into *out; returns its length,
// the empty line included. kTooLong if that is over `max_bytes`. Looks at the
// whole text at each call: a text that grows is better searched by
// FindHeaderEnd first.
Result<size_t, HeaderError> ParseWarcHeader(std::string_view text,
                                            size_t max_bytes, WarcHeader* out);

// The length of the header at the beginning of a text that grows; `seen` is the
// size that an earlier call saw of it.
Result<size_t, HeaderError> FindWarcHeader(std::string_view text, size_t seen,
                                           size_t max_bytes);

// "20140103030321" of "2014-01-03T03:03:21.123Z", as indexes have it. A date
// of lower precision is the first instant of what it names ("2014" is
// 20140101000000). None if it is not a date of W3CDTF in UTC.
std::optional<std::string> TimestampOf(std::string_view warc_date);

}  // namespace nephila::store
