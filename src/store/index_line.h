// IndexLineOf: the line of a CDXJ index that leads to a record.
//
// The writer makes lines while it writes, and an index is made again from an
// archive by the same function, so the two agree. Threads: any.
#pragma once

#include <optional>

#include "store/cdxj.h"
#include "store/http_message.h"
#include "store/warc_record.h"

namespace nephila::store {

// For a response, revisit or resource; nothing for records that no one asks an
// index for, and for those whose date or target is missing. `http` is the head
// of the block, or null if it is none. Offset, length and filename are the
// caller's to add.
std::optional<CdxjLine> IndexLineOf(const WarcHeader& header,
                                    const HttpHead* http);

}  // namespace nephila::store
