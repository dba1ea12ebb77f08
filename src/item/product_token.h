// Product tokens: the names by which robots.txt knows a crawler (RFC 9309
// s2.2.1).
//
// The RFC's token has letters, '_' and '-'. Here digits belong to it too, since
// names such as MJ12bot, 008 or 360Spider are common in real files and would
// otherwise be read as "MJ", nothing and nothing; so do bytes beyond ASCII,
// since a name cut at its first umlaut is another name.
//   Threads: any. Cost: linear in the name.
#pragma once

#include <string_view>

namespace nephila::item {

// The token that `text` begins with, behind blanks: "Foo" of "Foo/1.0 (x)".
// Empty if it begins with none.
std::string_view ProductToken(std::string_view text);

// Whether a user-agent value means every crawler: '*' that no name follows.
bool MeansEveryone(std::string_view value);

// The same token, whatever its ASCII case.
bool SameToken(std::string_view a, std::string_view b);

}  // namespace nephila::item
