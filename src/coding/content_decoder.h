// ContentDecoder: removes the content codings of a payload (RFC 9110 s8.4):
// gzip, deflate (with and without zlib's header, since servers send both), br
// and zstd, in any order, a piece at a time, within bounds.
//
// What cannot be decoded is given out as it is from the beginning, if nothing
// was decoded yet and the caller wants it: servers name codings that they did
// not apply, and many archives hold decoded payloads under the original head.
//   In: Content-Encoding, the payload in pieces
//   Out: the content in pieces of at most 32 KiB, and how it ended
//   Threads: one per object, which lives as long as its thread and is begun
//   again for each payload: decoders and their memory are kept.
//   Memory: 90 KB for gzip; from Begin to Finish at most 8 MiB for zstd and
//   16 MiB for br, of which 3 and 1 are kept, for each of at most four codings.
//   Cost: that of the decoders;
//   linear in what comes in and what goes out, and both are bounded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coding/byte_sink.h"
#include "coding/decoders.h"
#include "config/settings.h"

namespace nephila::coding {

// In the order of how bad they are.
enum class DecodeState : uint8_t {
  kWhole,     // decoded to the end
  kCut,       // the payload ended before
  kBroken,    // damaged: what came before was given out
  kAsItIs,    // not in that coding: given out as it is
  kUnknown,   // a coding unknown here: given out as it is
  kTooLarge,  // stopped at max_bytes
  kBomb,      // stopped at max_ratio
};

std::string_view DecodeStateName(DecodeState state);

// They hold for what each coding gives, not only for the last.
struct DecodeLimits {
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  // Of content to the payload that it came from; not looked at in the first
  // MiB. Deflate reaches 1 030, the others a multiple of that.
  uint64_t max_ratio = std::numeric_limits<uint64_t>::max();
};

// Of pages: fetch.max_content_size and fetch.max_content_ratio.
DecodeLimits DecodeLimitsOf(const config::FetchSettings& settings);

class ContentDecoder {
 public:
  // What becomes of a payload that is not in the coding it names.
  enum class Undecodable : uint8_t { kGiveOut, kLeaveOut };

  explicit ContentDecoder(const DecodeLimits& limits = {}) : limits_(limits) {}

  // A new payload. `codings`: the value of Content-Encoding.
  void Begin(std::string_view codings,
             Undecodable undecodable = Undecodable::kGiveOut);
  // False: nothing more will come of this payload (damaged, or at a limit).
  bool Feed(std::string_view piece, const ByteSink& sink);
  // The worst state of all codings. REQUIRES: a Begin since the last Finish.
  DecodeState Finish(const ByteSink& sink);

  // The content given out since Begin.
  uint64_t content_bytes() const { return content_bytes_; }
  // Of all decoders, idle ones too.
  size_t memory_bytes() const;

 private:
  // One coding of the payload at hand.
  struct Layer {
    Coding coding = Coding::kGzip;
    std::unique_ptr<CodingDecoder> decoder;
    DecodeStep step = DecodeStep::kMore;
    bool any = false;  // was given out
    bool as_it_is = false;
    bool forgot = false;  // more came in than is held
    uint64_t out_bytes = 0;
    std::string held;  // what came in before anything went out
  };
  // What a layer gives goes to the next one.
  class LayerOutput final : public PieceTaker {
   public:
    LayerOutput(ContentDecoder& owner, size_t layer, const ByteSink& sink)
        : owner_(owner), layer_(layer), sink_(sink) {}
    bool Take(std::string_view piece) override {
      return owner_.TakeFrom(layer_, piece, sink_);
    }

   private:
    ContentDecoder& owner_;
    const size_t layer_;
    const ByteSink& sink_;
  };

  bool AddLayer(std::string_view coding);
  void KeepDecoders();
  void FeedLayer(size_t index, std::string_view piece, const ByteSink& sink);
  void GiveHeld(size_t index, std::string_view piece, const ByteSink& sink);
  bool TakeFrom(size_t index, std::string_view piece, const ByteSink& sink);
  // Cuts *piece at what is left of max_bytes.
  void Bound(uint64_t given, std::string_view* piece);

  const DecodeLimits limits_;
  Undecodable undecodable_ = Undecodable::kGiveOut;
  bool unknown_ = false;
  DecodeState stopped_ = DecodeState::kWhole;  // kTooLarge or kBomb
  uint64_t payload_bytes_ = 0;
  uint64_t content_bytes_ = 0;
  std::vector<Layer> layers_;  // in the order of use
  std::array<std::unique_ptr<CodingDecoder>, kCodings> idle_;
};

}  // namespace nephila::coding
