// Which settings may change while a crawl runs (`nephila set`): those that are
// read anew, or whose readers are told.
//   Threads: any.   Cost: a look through a short list.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "config/settings.h"

namespace nephila::config {

// By name, sorted.
std::span<const std::string_view> LiveSettings();
bool IsLive(std::string_view name);
// "X cannot change while the crawl runs; stop it and start it with --set".
Error NotLive(std::string_view name);
// Copies their values.
void TakeLive(const Settings& from, Settings* to);

}  // namespace nephila::config
