// Archives for tests: records as text, packed into members.
#pragma once

#include <string>
#include <string_view>

namespace nephila::store {

// A whole WARC/1.1 record with the fields that every record has.
std::string RecordText(std::string_view type, std::string_view uri,
                       std::string_view block,
                       std::string_view more_fields = "");
// A response of status 200 that holds `body`, with right digests.
std::string ResponseText(std::string_view uri, std::string_view body);

std::string GzipMember(std::string_view text);
std::string ZstdFrame(std::string_view text, std::string_view dictionary = "");
std::string SkippableFrame(std::string_view contents, unsigned char number);

// "sha1:" and base32.
std::string Sha1Text(std::string_view bytes);

}  // namespace nephila::store
