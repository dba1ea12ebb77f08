// SURT: a URL written so that what belongs together begins alike, with its
// host reversed and in brackets: "(org,example,www,)/docs/" of
// https://www.example.org/docs/. Prefixes of it name parts of the web:
// "(org,example," is example.org with all hosts under it, and
// "(org,example,www,)/docs/" what lies in one folder of one host.
//
// Unlike the keys of archive indexes (store/surt.h) it changes nothing but the
// order of the host's labels, and leaves out scheme and user. A port that is
// not the scheme's own stands before the bracket: "(org,example,:8080)/".
// Addresses are not reversed: "(192.0.2.1)/", "([2001:db8::1]:8080)/".
//   In: canonical URLs; prefixes that a user writes, hostile
//   Threads: any; plain functions.   Cost: linear, no allocation but that of
//   the string that is appended to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nephila::url {

// "org,example,www" of www.example.org; addresses as they are.
void AppendReversedHost(std::string_view host, std::string& out);

// `host_start`, `host_size`: where the host stands in `href`, a URL as the
// Canonicalizer leaves it.
void AppendSurt(std::string_view href, size_t host_start, size_t host_size,
                std::string& out);

// The prefix that a user means: one that begins with '(' or with a scheme and
// "://(" is taken as it is, in small letters up to its host's end; a URL stands
// for its SURT, and one without a path for its host with all under it. Nothing
// if it is neither.
std::optional<std::string> ReadSurtPrefix(std::string_view text);

// What lies under the last slash of the URL's path, as a prefix.
void AppendFolderSurt(std::string_view href, size_t host_start,
                      size_t host_size, std::string& out);

// The host of a SURT, turned back; nothing if it has none.
std::optional<std::string> HostOfSurt(std::string_view surt);

}  // namespace nephila::url
