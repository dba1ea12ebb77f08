// ByteSink: who takes bytes, a piece at a time, as decoders give them out.
//
// A piece lives until the call returns.
#pragma once

#include <functional>
#include <string_view>

namespace nephila::coding {

using ByteSink = std::function<void(std::string_view piece)>;

}  // namespace nephila::coding
