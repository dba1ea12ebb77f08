// The files of a store by their numbers: names, paths and salts.
//
// Every file but a journal is "<number>.<suffix>"; a number is never used
// twice, and together with the suffix it makes the salt of the file's blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nephila::drum {

inline constexpr std::string_view kRunSuffix = "run";
inline constexpr std::string_view kKeysSuffix = "keys";  // of a batch
inline constexpr std::string_view kAuxSuffix = "aux";    // of a batch
inline constexpr std::string_view kResultsSuffix = "results";

std::string StoreFileName(uint64_t number, std::string_view suffix);
std::string StoreFilePath(const std::string& dir, uint64_t number,
                          std::string_view suffix);
uint64_t StoreFileSalt(uint64_t store_salt, uint64_t number,
                       std::string_view suffix);

}  // namespace nephila::drum
