// Spaces: the endless and the repeating parts of sites that trap crawlers (VN
// s2.2, s4.5), each a function of its path.
//
// Threads: any. Cost: linear in the path and in what is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/scenario.h"
#include "sim/web.h"

namespace nephila::sim {

// Where a page links to to lead into the space; empty if that needs no link.
std::string_view EntryOf(Behaviour space);

// The page of the space at `path`, if there is one:
//   calendar      /calendar/2026/11, with links to its days, the month before
//                 and the month after, for ever
//   growing-path  /grow/, with links to more/ and next/ below it
//   reorder       /reorder/a/b/c/: the same page for every order of its folders
// `*seed` gets what is the same for equal pages.
bool AppendSpacePage(const Rule& space, std::string_view path, const Web& web,
                     uint64_t* seed, std::string* out);

// "/a?sid=5f" and "/a?x=1&sid=5f" without the session id, which `*id` gets; the
// path as it is if it has none.
std::string_view WithoutSession(std::string_view path, std::string_view* id);

// Links with the session id to the first pages below `page`.
void AppendSessionLinks(const Web& web, PageId page, std::string_view id,
                        std::string* out);

}  // namespace nephila::sim
