#include "store/index_line.h"

#include <string>
#include <utility>

#include "store/surt.h"

namespace nephila::store {
namespace {

// With all of these at their longest, and escaped, a line is shorter than
// kLongestCdxjLine; no replay asks for what is longer.
constexpr size_t kLongestUrl = size_t{32} << 10;
constexpr size_t kLongestWord = 1024;

std::string_view IfShort(std::string_view text, size_t longest) {
  return text.size() <= longest ? text : std::string_view();
}

}  // namespace

std::optional<CdxjLine> IndexLineOf(const WarcHeader& header,
                                    const HttpHead* http) {
  const RecordType type = header.type();
  if (type != RecordType::kResponse && type != RecordType::kRevisit &&
      type != RecordType::kResource) {
    return std::nullopt;
  }
  std::optional<std::string> timestamp = TimestampOf(header.date());
  const std::string_view url = header.target_uri();
  if (!timestamp || url.empty() || url.size() > kLongestUrl) {
    return std::nullopt;
  }
  CdxjLine line;
  line.key = SurtKey(url);
  line.timestamp = *std::move(timestamp);
  line.url = url;
  line.digest = CdxjDigest(IfShort(header.payload_digest(), kLongestWord));
  if (type == RecordType::kRevisit) {
    line.mime = "warc/revisit";
  } else if (http != nullptr) {
    line.mime = IfShort(http->media_type(), kLongestWord);
  } else {
    line.mime = IfShort(header.content_type(), kLongestWord);
  }
  if (http != nullptr && http->status > 0) {
    line.status = std::to_string(http->status);
    const bool redirect = http->status >= 300 && http->status < 400;
    const std::string_view location =
        IfShort(http->Get("Location"), kLongestUrl);
    if (redirect && !location.empty()) {
      line.others.emplace_back("redirect", location);
    }
  }
  const std::string_view truncated =
      IfShort(header.Get("WARC-Truncated"), kLongestWord);
  // Of a revisit it says that the payload is elsewhere, which goes without
  // saying.
  if (!truncated.empty() && type != RecordType::kRevisit)
    line.others.emplace_back("truncated", truncated);
  return line;
}

}  // namespace nephila::store
