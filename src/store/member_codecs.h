// The decoders behind MemberReader: gzip by zlib, zstd by libzstd, each in a
// file of its own that alone includes the library.
#pragma once

#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "store/member_reader.h"

namespace nephila::store {

inline constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

Result<std::unique_ptr<MemberReader>> OpenGzip(std::unique_ptr<File> file,
                                               const MemberOptions& options);

// Reads the dictionary in front, if there is one.
Result<std::unique_ptr<MemberReader>> OpenZstd(std::unique_ptr<File> file,
                                               const MemberOptions& options);

}  // namespace nephila::store
