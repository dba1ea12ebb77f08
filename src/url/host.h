// The host parser of the URL standard: domains, IPv4 in all its numeric
// forms, IPv6, and the opaque hosts of schemes that are not special.
//   Cost: linear; an ordinary lower-case ASCII name is one table scan.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "url/url.h"

namespace nephila::url {

// Appends the serialized host to *out and tells its kind, or nothing if
// `host` is not a valid host (then *out may hold a part of it). `special`:
// the URL's scheme is special. REQUIRES: host is not empty.
std::optional<HostKind> AppendHost(std::string_view host, bool special,
                                   std::string* out);

// Whether the last label is a number (the standard's "ends in a number"
// check): then the host is an IPv4 address or none. REQUIRES: lower case.
bool EndsInNumber(std::string_view domain);

// Whether DNS can know this name: labels of 1 to 63 bytes, 253 bytes in all,
// a dot at its end allowed. The parser does not ask, the crawler does.
bool IsDnsName(std::string_view domain);

}  // namespace nephila::url
