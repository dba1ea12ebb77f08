// Any bytes as a manifest, as they are and behind checksums that fit: they are
// refused, or they are the manifest's one spelling.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "job/manifest.h"

namespace nephila::job {
namespace {

constexpr uint64_t kNumber = 3;
constexpr uint64_t kSalt = 5;

void Check(std::string_view bytes) {
  const auto manifest = ReadManifest(bytes, kNumber, kSalt);
  if (!manifest.has_value()) {
    NEPHILA_CHECK(manifest.error().code == ErrorCode::kCorruption ||
                  manifest.error().code == ErrorCode::kUnsupported);
    return;
  }
  std::string again;
  AppendManifest(*manifest, kSalt, again);
  NEPHILA_CHECK(again == bytes);
}

// The input as payloads, each a length and so many bytes.
std::string Sealed(std::string_view input) {
  std::string bytes;
  ByteReader reader(input);
  for (uint64_t i = 0; !reader.AtEnd(); ++i) {
    const auto payload = reader.Sized();
    if (!payload.has_value()) break;
    const uint64_t salt =
        i == 0 ? KeyedHash("nephila manifest", kNumber)
               : KeyedHash("part", kSalt + kNumber * kSplitMixStep + i - 1);
    AppendFrame(bytes, *payload, salt);
  }
  return bytes;
}

}  // namespace
}  // namespace nephila::job

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  nephila::job::Check(bytes);
  nephila::job::Check(nephila::job::Sealed(bytes));
  return 0;
}
