#include "coding/content_decoder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace nephila::coding {
namespace {

// What is held back until a coding has shown that it is one: more than any
// header of a coding.
constexpr size_t kMostHeld = size_t{64} << 10;
// More codings than anybody uses are an attack on who decodes them.
constexpr size_t kMostLayers = 4;
// Short texts may repeat themselves as they like.
constexpr uint64_t kRatioFrom = uint64_t{1} << 20;

std::optional<Coding> CodingOf(std::string_view name) {
  if (EqualsIgnoreCase(name, "gzip") || EqualsIgnoreCase(name, "x-gzip")) {
    return Coding::kGzip;
  }
  if (EqualsIgnoreCase(name, "deflate")) return Coding::kDeflate;
  if (EqualsIgnoreCase(name, "br")) return Coding::kBrotli;
  if (EqualsIgnoreCase(name, "zstd")) return Coding::kZstd;
  return std::nullopt;
}

std::unique_ptr<CodingDecoder> MakeDecoder(Coding coding) {
  switch (coding) {
    case Coding::kGzip:
    case Coding::kDeflate:
      return MakeInflateDecoder(coding);
    case Coding::kBrotli:
      return MakeBrotliDecoder();
    case Coding::kZstd:
      return MakeZstdDecoder();
  }
  NEPHILA_CHECK(false);
}

}  // namespace

std::string_view DecodeStateName(DecodeState state) {
  switch (state) {
    case DecodeState::kWhole:
      return "whole";
    case DecodeState::kCut:
      return "cut";
    case DecodeState::kBroken:
      return "broken";
    case DecodeState::kAsItIs:
      return "as-it-is";
    case DecodeState::kUnknown:
      return "unknown";
    case DecodeState::kTooLarge:
      return "too-large";
    case DecodeState::kBomb:
      return "bomb";
  }
  NEPHILA_CHECK(false);
}

DecodeLimits DecodeLimitsOf(const config::FetchSettings& settings) {
  DecodeLimits limits;
  limits.max_bytes = settings.max_content_bytes;
  limits.max_ratio = static_cast<uint64_t>(settings.max_content_ratio);
  return limits;
}

bool ContentDecoder::AddLayer(std::string_view name) {
  const std::optional<Coding> coding = CodingOf(name);
  if (!coding || layers_.size() == kMostLayers) return false;
  Layer layer;
  layer.coding = *coding;
  layer.decoder = std::move(idle_[static_cast<size_t>(*coding)]);
  if (layer.decoder == nullptr) layer.decoder = MakeDecoder(*coding);
  layer.decoder->Begin();
  layers_.push_back(std::move(layer));
  return true;
}

// One of each coding: several of one are rare.
void ContentDecoder::KeepDecoders() {
  for (Layer& layer : layers_) {
    layer.decoder->End();
    idle_[static_cast<size_t>(layer.coding)] = std::move(layer.decoder);
  }
  layers_.clear();
}

void ContentDecoder::Begin(std::string_view codings, Undecodable undecodable) {
  KeepDecoders();
  undecodable_ = undecodable;
  unknown_ = false;
  stopped_ = DecodeState::kWhole;
  payload_bytes_ = 0;
  content_bytes_ = 0;
  while (!codings.empty()) {
    const size_t comma = std::min(codings.find(','), codings.size());
    const std::string_view coding = TrimSpaces(codings.substr(0, comma));
    codings.remove_prefix(std::min(comma + 1, codings.size()));
    if (coding.empty() || EqualsIgnoreCase(coding, "identity")) continue;
    if (!AddLayer(coding)) {
      unknown_ = true;
      KeepDecoders();
      return;
    }
  }
  // They were applied in the order in which they are listed.
  std::reverse(layers_.begin(), layers_.end());
}

void ContentDecoder::Bound(uint64_t given, std::string_view* piece) {
  const uint64_t left = limits_.max_bytes - given;
  if (piece->size() <= left) return;
  *piece = piece->substr(0, static_cast<size_t>(left));
  stopped_ = DecodeState::kTooLarge;
}

// What layer `index` - 1 gave, or for 0 the payload.
void ContentDecoder::FeedLayer(size_t index, std::string_view piece,
                               const ByteSink& sink) {
  if (index == layers_.size()) {
    Bound(content_bytes_, &piece);
    content_bytes_ += piece.size();
    if (!piece.empty()) sink(piece);
    return;
  }
  Layer& layer = layers_[index];
  if (layer.as_it_is) return FeedLayer(index + 1, piece, sink);
  if (layer.step == DecodeStep::kBroken) return;
  LayerOutput output(*this, index, sink);
  layer.step = layer.decoder->Decode(piece, output);
  if (layer.any) return;
  if (layer.step == DecodeStep::kBroken) return GiveHeld(index, piece, sink);
  if (layer.held.size() + piece.size() <= kMostHeld) {
    layer.held += piece;
  } else {
    layer.forgot = true;
  }
}

void ContentDecoder::GiveHeld(size_t index, std::string_view piece,
                              const ByteSink& sink) {
  Layer& layer = layers_[index];
  if (layer.forgot || undecodable_ == Undecodable::kLeaveOut) return;
  layer.as_it_is = true;
  if (!layer.held.empty()) FeedLayer(index + 1, layer.held, sink);
  if (!piece.empty()) FeedLayer(index + 1, piece, sink);
  layer.held.clear();
}

bool ContentDecoder::TakeFrom(size_t index, std::string_view piece,
                              const ByteSink& sink) {
  Layer& layer = layers_[index];
  layer.any = true;
  layer.held.clear();
  Bound(layer.out_bytes, &piece);
  layer.out_bytes += piece.size();
  if (!piece.empty()) FeedLayer(index + 1, piece, sink);
  if (layer.out_bytes > kRatioFrom &&
      layer.out_bytes / limits_.max_ratio > payload_bytes_) {
    stopped_ = DecodeState::kBomb;
  }
  return stopped_ == DecodeState::kWhole;
}

bool ContentDecoder::Feed(std::string_view piece, const ByteSink& sink) {
  payload_bytes_ += piece.size();
  if (stopped_ == DecodeState::kWhole && !piece.empty()) {
    FeedLayer(0, piece, sink);
  }
  if (stopped_ != DecodeState::kWhole) return false;
  return std::none_of(layers_.begin(), layers_.end(), [](const Layer& layer) {
    return layer.step == DecodeStep::kBroken && !layer.as_it_is;
  });
}

size_t ContentDecoder::memory_bytes() const {
  size_t total = 0;
  for (const Layer& layer : layers_) {
    total += layer.decoder->memory_bytes() + layer.held.capacity();
  }
  for (const auto& decoder : idle_) {
    if (decoder != nullptr) total += decoder->memory_bytes();
  }
  return total;
}

DecodeState ContentDecoder::Finish(const ByteSink& sink) {
  DecodeState worst = unknown_ ? DecodeState::kUnknown : DecodeState::kWhole;
  for (size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    DecodeState state = DecodeState::kWhole;
    if (layer.step == DecodeStep::kBroken) {
      state = DecodeState::kBroken;
    } else if (layer.step == DecodeStep::kMore &&
               (layer.any || layer.forgot || !layer.held.empty())) {
      state = DecodeState::kCut;
      if (!layer.any) GiveHeld(i, {}, sink);
    }
    if (layer.as_it_is) state = DecodeState::kAsItIs;
    worst = std::max(worst, state);
  }
  KeepDecoders();
  return std::max(worst, stopped_);
}

}  // namespace nephila::coding
