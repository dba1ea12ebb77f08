#include "store/index_line.h"

#include <string>
#include <utility>

#include "store/surt.h"

namespace nephila::store {

std::optional<CdxjLine> IndexLineOf(const WarcHeader& header,
                                    const HttpHead* http) {
  const RecordType type = header.type();
  if (type != RecordType::kResponse && type != RecordType::kRevisit &&
      type != RecordType::kResource) {
    return std::nullopt;
  }
  std::optional<std::string> timestamp = TimestampOf(header.date());
  const std::string_view url = header.target_uri();
  if (!timestamp || url.empty()) return std::nullopt;
  CdxjLine line;
  line.key = SurtKey(url);
  line.timestamp = *std::move(timestamp);
  line.url = url;
  line.digest = CdxjDigest(header.payload_digest());
  if (type == RecordType::kRevisit) {
    line.mime = "warc/revisit";
  } else if (http != nullptr) {
    line.mime = http->media_type();
  } else {
    line.mime = header.content_type();
  }
  if (http != nullptr && http->status > 0) {
    line.status = std::to_string(http->status);
    const bool redirect = http->status >= 300 && http->status < 400;
    const std::string_view location = http->Get("Location");
    if (redirect && !location.empty()) {
      line.others.emplace_back("redirect", location);
    }
  }
  const std::string_view truncated = header.Get("WARC-Truncated");
  if (!truncated.empty()) line.others.emplace_back("truncated", truncated);
  return line;
}

}  // namespace nephila::store
