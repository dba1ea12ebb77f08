// CompareLinks: the links that we find against those of a conforming parser.
//
// The reference (links-parse5.jsonl.zst of the corpus) lists the links of every
// page as the tree has them. A tree may hold an element several times, because
// a link that is not closed is opened again in the blocks that follow, and in
// another order, because what stands wrongly in a table is moved before it. So
// what is compared is, page by page, the set of (kind, value); and of values
// that agree, the URL they resolve to.
#pragma once

#include <iosfwd>
#include <string>

#include "base/result.h"

namespace nephila::bench {

// A line for each kind: links of the reference, of those found, found besides;
// then every difference, page by page.
Status CompareLinks(const std::string& folder, bool json, std::ostream& out);

}  // namespace nephila::bench
