// LooksIncompressible: whether compressing a payload would be in vain.
//
// Images, films, fonts and zip files are compressed already, and so is a body
// that came with a content coding: deflating them again costs the most CPU of
// all records and saves nothing. Where the head does not say, a sample of the
// bytes does.
//
// In: what the head claims, and the first bytes of the payload; both may lie,
// which costs space or time and never the record. Threads: any. Cost: at most
// kSampleBytes are looked at.
#pragma once

#include <cstddef>
#include <string_view>

namespace nephila::store {

inline constexpr size_t kSampleBytes = 4096;

// `media_type` and `content_coding` as the head has them, in any case, with
// parameters or not; empty if there is none.
bool LooksIncompressible(std::string_view media_type,
                         std::string_view content_coding,
                         std::string_view first_bytes);

}  // namespace nephila::store
