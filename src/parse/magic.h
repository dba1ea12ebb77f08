// IdentifyMagic: what kind of file bytes are, by the patterns they begin with.
//
// The tables and procedures of the MIME Sniffing standard, s6 (images, audio
// and video, fonts, archives) and s7.1 (documents that are not text).
//   In: the beginning of a body   Out: a type, a constant; empty: none
//   Threads: any   Cost: bounded, whatever the length
#pragma once

#include <string_view>

namespace nephila::parse {

std::string_view MatchImage(std::string_view bytes);
std::string_view MatchAudioOrVideo(std::string_view bytes);
std::string_view MatchFont(std::string_view bytes);
std::string_view MatchArchive(std::string_view bytes);
// PDF and PostScript.
std::string_view MatchDocument(std::string_view bytes);

// The first of them all that matches.
std::string_view IdentifyMagic(std::string_view bytes);

}  // namespace nephila::parse
