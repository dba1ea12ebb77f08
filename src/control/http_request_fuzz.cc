// Any bytes: the head of a request ends within them or not at all, and what is
// read of it lies within.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "control/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t head = nephila::control::HttpHeadSize(bytes);
  NEPHILA_CHECK(head <= size);
  const nephila::net::Endpoint at{*nephila::net::IpAddress::Parse("127.0.0.1"),
                                  9464};
  const auto request =
      nephila::control::ParseHttpRequest(bytes.substr(0, head), at);
  if (request.has_value()) {
    NEPHILA_CHECK(request->path.starts_with('/'));
    NEPHILA_CHECK(request->path.size() < size);
  } else {
    NEPHILA_CHECK(request.error() >= 400 && request.error() < 600);
  }
  return 0;
}
