#include "drum/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "drum/store_file.h"

namespace nephila::drum {
namespace {

constexpr size_t kMostVarintBytes = 10;
constexpr size_t kUsualContextBytes = size_t{2} << 20;

char* PutVarint(char* out, uint64_t number) {
  while (number >= 0x80) {
    *out++ = static_cast<char>(number | 0x80);
    number >>= 7;
  }
  *out++ = static_cast<char>(number);
  return out;
}

// Memory that merging a bucket will take for a tuple (bucket_merge.cc): with
// values its bytes, its answer, and where they are.
uint64_t SortBytes(const TupleFormat& format, uint64_t tuples, uint64_t bytes) {
  if (format.value.kind == ValueKind::kNone) return tuples * kSortBytesPerTuple;
  return tuples * (kSortBytesPerTuple + 32 + format.value.bytes) + 2 * bytes;
}

size_t ChunkBytes(const TupleFormat& format, const Plan& plan) {
  const int more = std::max(format.bucket_bits - plan.bucket_bits, 0);
  return std::max(plan.chunk_bytes >> more, size_t{kPageBytes});
}

Unexpected<Error> DamagedEntry() {
  return Unexpected(
      Error{ErrorCode::kCorruption, "an entry about a batch is damaged"});
}

void PutPlace(ByteWriter& writer, const BlockPlace& place) {
  writer.Varint(place.offset / kPageBytes);
  writer.Varint(place.payload_bytes);
}

bool GetPlace(ByteReader& reader, uint64_t end, BlockPlace& place) {
  const auto page = reader.Varint();
  const auto bytes = reader.Varint();
  if (!page || !bytes || *bytes > UINT32_MAX || *page > end / kPageBytes) {
    return false;
  }
  place = {*page * kPageBytes, static_cast<uint32_t>(*bytes)};
  // Not by place.end(), which wraps around for an absurd `end`.
  return place.pages() <= end - place.offset;
}

// A pass plans its memory by the number of tuples.
bool CanHold(const TupleFormat& format, uint64_t bytes, uint32_t tuples) {
  const size_t least = KeyBytes(format.bucket_bits) + (format.only ? 0 : 1);
  return tuples <= bytes / least;
}

bool GetCount(ByteReader& reader, uint32_t& count) {
  const auto value = reader.Varint();
  if (!value || *value == 0 || *value > UINT32_MAX) return false;
  count = static_cast<uint32_t>(*value);
  return true;
}

}  // namespace

bool TupleReader::Next(BucketTuple& tuple) {
  const size_t key_bytes = KeyBytes(format_.bucket_bits);
  const char* at = bytes_.data();
  size_t left = bytes_.size();
  if (format_.only) {
    tuple.operation = *format_.only;
  } else {
    if (left == 0) return false;
    const auto operation = static_cast<unsigned char>(*at++);
    --left;
    if (operation > static_cast<unsigned char>(Operation::kCheckUpdate)) {
      return false;
    }
    tuple.operation = static_cast<Operation>(operation);
  }
  if (left < key_bytes) return false;
  uint64_t low = 0;
  if (left >= sizeof low) {
    std::memcpy(&low, at, sizeof low);  // little-endian, as the machine is
    if (key_bytes < sizeof low) low &= (uint64_t{1} << (8 * key_bytes)) - 1;
  } else {
    std::memcpy(&low, at, key_bytes);
  }
  if (format_.bucket_bits > 0 && low >> (64 - format_.bucket_bits) != 0) {
    return false;
  }
  tuple.key = first_key_ | low;
  at += key_bytes;
  left -= key_bytes;
  tuple.value = {};
  if (Updates(tuple.operation) && format_.value.kind != ValueKind::kNone) {
    size_t size = format_.value.bytes;
    if (format_.value.kind == ValueKind::kVariable) {
      ByteReader reader(std::string_view(at, left));
      const auto value_size = reader.Varint();
      if (!value_size) return false;
      size = *value_size;
      at += reader.position();
      left -= reader.position();
    }
    if (left < size) return false;
    tuple.value = {at, size};
    at += size;
    left -= size;
  }
  bytes_ = {at, left};
  return true;
}

Status BatchState::Apply(ByteReader& reader) {
  const auto is_frozen = reader.U8();
  const auto frozen_parameters = reader.Sized();
  const auto results_delivered = reader.Varint();
  const auto new_keys_end = reader.Varint();
  const auto new_aux_end = reader.Varint();
  if (!is_frozen || *is_frozen > 1 || !frozen_parameters ||
      !results_delivered || !new_keys_end || !new_aux_end) {
    return DamagedEntry();
  }
  frozen = *is_frozen == 1;
  parameters = *frozen_parameters;
  delivered = *results_delivered;
  keys_end = *new_keys_end;
  aux_end = *new_aux_end;

  const auto chunks = reader.Varint();
  if (!chunks) return DamagedEntry();
  for (uint64_t i = 0; i < *chunks; ++i) {
    const auto bucket = reader.Varint();
    Chunk chunk;
    if (!bucket || *bucket >= buckets.size() ||
        !GetPlace(reader, keys_end, chunk.place) ||
        !GetCount(reader, chunk.tuples) ||
        !CanHold(format, chunk.place.payload_bytes, chunk.tuples)) {
      return DamagedEntry();
    }
    // A chunk is all that was open, so nothing of it is any more.
    Bucket& into = buckets[*bucket];
    into.chunks.push_back(chunk);
    into.chunk_tuples += chunk.tuples;
    into.open.clear();
    into.open_tuples = 0;
  }
  const auto blocks = reader.Varint();
  if (!blocks) return DamagedEntry();
  for (uint64_t i = 0; i < *blocks; ++i) {
    AuxPlace block;
    if (!GetPlace(reader, aux_end, block.place) ||
        !GetCount(reader, block.records)) {
      return DamagedEntry();
    }
    aux_blocks.push_back(block);
    aux_records += block.records;
    aux_open.Clear();
  }
  const auto pieces = reader.Varint();
  if (!pieces) return DamagedEntry();
  for (uint64_t i = 0; i < *pieces; ++i) {
    const auto bucket = reader.Varint();
    const auto first = reader.Varint();
    uint32_t tuples = 0;
    if (!bucket || *bucket >= buckets.size() || !first ||
        !GetCount(reader, tuples)) {
      return DamagedEntry();
    }
    const auto bytes = reader.Sized();
    Bucket& into = buckets[*bucket];
    if (!bytes || !CanHold(format, bytes->size(), tuples) ||
        *first != into.chunk_tuples + into.open_tuples) {
      return DamagedEntry();
    }
    into.open.append(*bytes);
    into.open_tuples += tuples;
  }
  const auto first_record = reader.Varint();
  const auto records = reader.Sized();
  if (!first_record || !records ||
      *first_record != aux_records + aux_open.records()) {
    return DamagedEntry();
  }
  if (!records->empty()) {
    ByteReader spilled(*records);
    NEPHILA_RETURN_IF_ERROR(aux_open.AddSpilled(spilled));
    if (!spilled.AtEnd()) return DamagedEntry();
  }
  return {};
}

struct Batch::Written {
  // Where the place belongs: a chunk of a bucket, or a block of the log.
  bool is_aux = false;
  uint32_t bucket = 0;
  size_t index = 0;
  BlockPlace place;
  // What is written, until it is.
  size_t bytes = 0;
  std::unique_ptr<BlockBuffer> chunk;
  std::unique_ptr<AuxBlockBuilder> aux;
};

Batch::Batch(const BatchContext& context, uint64_t number,
             const TupleFormat& format, const Plan& plan, Codec codec)
    : context_(context),
      number_(number),
      format_(format),
      codec_(codec),
      key_bytes_(KeyBytes(format.bucket_bits)),
      has_usual_chunks_(format.bucket_bits <= plan.bucket_bits),
      chunk_payload_(ChunkBytes(format, plan) - kFrameHeaderBytes),
      min_chunk_payload_(
          std::min(plan.min_chunk_bytes, ChunkBytes(format, plan) / 4)),
      aux_block_bytes_(plan.aux_block_bytes),
      most_writes_(plan.spare_chunks + plan.aux_blocks_written),
      sort_limit_(plan.bucket_sort_bytes),
      disk_limit_(plan.batch_disk_bytes),
      memory_limit_(plan.memory_run_bytes),
      buckets_(format.buckets()),
      aux_open_(std::make_unique<AuxBlockBuilder>(format.log_buckets)) {}

Result<std::unique_ptr<Batch>> Batch::Restore(const BatchContext& context,
                                              BatchState state,
                                              const Plan& plan, Codec codec) {
  auto batch =
      std::make_unique<Batch>(context, state.number, state.format, plan, codec);
  if (state.keys_end > 0) {
    NEPHILA_RETURN_IF_ERROR(
        batch->OpenFile(kKeysSuffix, state.keys_end, batch->keys_file_));
  }
  if (state.aux_end > 0) {
    NEPHILA_RETURN_IF_ERROR(
        batch->OpenFile(kAuxSuffix, state.aux_end, batch->aux_file_));
  }
  for (uint32_t b = 0; b < state.format.buckets(); ++b) {
    BatchState::Bucket& from = state.buckets[b];
    Bucket& to = batch->buckets_[b];
    uint64_t bytes = from.open.size();
    for (const Chunk& chunk : from.chunks) bytes += chunk.place.payload_bytes;
    to.chunks = std::move(from.chunks);
    to.journaled_chunks = to.chunks.size();
    to.chunk_tuples = from.chunk_tuples;
    to.tuples = from.chunk_tuples + from.open_tuples;
    to.sort_bytes = SortBytes(state.format, to.tuples, bytes);
    to.open_tuples = to.journaled_tuples = from.open_tuples;
    to.open_bytes = to.journaled_bytes = from.open.size();
    batch->tuples_ += to.tuples;
    batch->open_bytes_ += from.open.size();
    if (state.format.value.kind != ValueKind::kNone) {
      batch->value_bytes_ += bytes;
    }
    if (to.sort_bytes >= batch->sort_limit_) batch->full_ = true;
    if (from.open.empty()) continue;
    if (state.frozen) {
      to.tail = std::move(from.open);
    } else {
      to.open = std::make_unique<BlockBuffer>(
          std::max(batch->chunk_payload_, from.open.size()));
      std::memcpy(to.open->payload(), from.open.data(), from.open.size());
    }
  }
  batch->aux_blocks_ = std::move(state.aux_blocks);
  batch->journaled_aux_blocks_ = batch->aux_blocks_.size();
  batch->aux_block_records_ = state.aux_records;
  if (!state.aux_open.empty()) {
    std::string records;
    state.aux_open.AppendRecordsFrom(0, records);
    ByteReader reader(records);
    NEPHILA_RETURN_IF_ERROR(batch->aux_open_->AddSpilled(reader));
    if (state.frozen) batch->memory_aux_ = std::move(records);
  }
  batch->aux_journaled_records_ = batch->aux_open_->records();
  batch->results_ = state.aux_records + batch->aux_open_->records();
  batch->frozen_ = state.frozen;
  batch->parameters_ = std::move(state.parameters);
  batch->delivered_ = state.delivered;
  return batch;
}

Status Batch::OpenFile(std::string_view suffix, uint64_t end,
                       std::shared_ptr<BlockFile>& file) const {
  const std::string path = StoreFilePath(context_.dir, number_, suffix);
  const uint64_t salt = StoreFileSalt(context_.salt, number_, suffix);
  NEPHILA_TRY(file, end == 0 ? BlockFile::Create(context_.fs, path, salt,
                                                 context_.counts)
                             : BlockFile::Open(context_.fs, path, salt, end,
                                               context_.counts));
  return {};
}

Status Batch::MakeRoomToWrite(std::string_view suffix,
                              std::shared_ptr<BlockFile>& file) const {
  NEPHILA_RETURN_IF_ERROR(context_.writes.Retry());
  NEPHILA_RETURN_IF_ERROR(context_.writes.WaitUntilAtMost(most_writes_ - 1));
  return file == nullptr ? OpenFile(suffix, 0, file) : Status();
}

Status Batch::Add(Operation operation, uint64_t key, std::string_view value,
                  std::string_view aux) {
  const uint32_t number = format_.BucketOf(key);
  Bucket& bucket = buckets_[number];
  const bool has_value =
      format_.value.kind != ValueKind::kNone && Updates(operation);
  const size_t most_bytes =
      1 + sizeof key + (has_value ? kMostVarintBytes + value.size() : 0);
  // Room is made for all of it before any of it is taken.
  if (bucket.open != nullptr && bucket.open_bytes > 0 &&
      bucket.open->payload_capacity() - bucket.open_bytes < most_bytes) {
    NEPHILA_RETURN_IF_ERROR(SealChunk(number));
  }
  if (GivesResult(operation)) {
    if (!aux_open_->empty() &&
        aux_open_->raw_bytes() + aux.size() > aux_block_bytes_) {
      NEPHILA_RETURN_IF_ERROR(SealAux());
    }
    aux_open_->Add(number, aux);
    ++results_;
  }
  if (bucket.open == nullptr) {
    bucket.open = has_usual_chunks_
                      ? context_.chunk_buffers.TakeOrMake(chunk_payload_)
                      : std::make_unique<BlockBuffer>(chunk_payload_);
  }
  bucket.open->Reserve(most_bytes);
  char* const begin = bucket.open->payload() + bucket.open_bytes;
  char* at = begin;
  if (!format_.only) *at++ = static_cast<char>(operation);
  const uint64_t low = key - format_.FirstKey(number);
  std::memcpy(at, &low, sizeof low);  // what is too much is written over
  at += key_bytes_;
  if (has_value) {
    if (format_.value.kind == ValueKind::kVariable) {
      at = PutVarint(at, value.size());
    }
    at = std::copy(value.begin(), value.end(), at);
  }
  const auto bytes = static_cast<size_t>(at - begin);
  bucket.open_bytes += bytes;
  open_bytes_ += bytes;
  ++bucket.open_tuples;
  ++bucket.tuples;
  bucket.sort_bytes += SortBytes(format_, 1, bytes);
  if (GivesResult(operation)) {
    bucket.sort_bytes += 2 * context_.mean_value_bytes;
  }
  if (bucket.sort_bytes >= sort_limit_) full_ = true;
  ++tuples_;
  if (has_value) value_bytes_ += value.size();
  return {};
}

Status Batch::SealChunk(uint32_t number) {
  NEPHILA_RETURN_IF_ERROR(MakeRoomToWrite(kKeysSuffix, keys_file_));
  Bucket& bucket = buckets_[number];
  auto written = std::make_shared<Written>();
  written->bucket = number;
  written->index = bucket.chunks.size();
  written->bytes = bucket.open_bytes;
  written->chunk = std::move(bucket.open);
  under_way_.push_back(written);
  bucket.chunks.push_back({{}, bucket.open_tuples});
  bucket.chunk_tuples += bucket.open_tuples;
  open_bytes_ -= bucket.open_bytes;
  bucket.open_bytes = bucket.journaled_bytes = 0;
  bucket.open_tuples = bucket.journaled_tuples = 0;
  context_.writes.Post([file = keys_file_, written, usual = UsualChunkPages(),
                        &buffers = context_.chunk_buffers]() -> Status {
    if (written->place.payload_bytes == 0) {
      written->place = file->Reserve(written->bytes);
    }
    NEPHILA_RETURN_IF_ERROR(file->WriteAt(written->place, *written->chunk));
    // A buffer that grew for one large value is not kept.
    if (written->chunk->pages().size() == usual) {
      buffers.Give(std::move(written->chunk));
    }
    written->chunk.reset();
    return {};
  });
  return {};
}

Status Batch::SealAux() {
  NEPHILA_RETURN_IF_ERROR(MakeRoomToWrite(kAuxSuffix, aux_file_));
  auto written = std::make_shared<Written>();
  written->is_aux = true;
  written->index = aux_blocks_.size();
  written->aux = std::move(aux_open_);
  under_way_.push_back(written);
  aux_blocks_.push_back({{}, written->aux->records()});
  aux_block_records_ += written->aux->records();
  aux_open_ = context_.aux_builders.TakeOrMake(format_.log_buckets);
  aux_journaled_records_ = 0;
  context_.writes.Post([context = context_, file = aux_file_, written,
                        codec = codec_, usual = aux_block_bytes_]() -> Status {
    auto compressor = context.compressors.TakeOrMake();
    if (context.codecs.WantsTrial()) {
      std::string sample;
      written->aux->AppendRecordsFrom(0, sample);
      context.codecs.Try(sample, written->aux->records(), *compressor);
    }
    auto block = context.block_buffers.TakeOrMake(usual);
    const size_t bytes = written->aux->Encode(codec, *compressor, *block);
    // Nor a scratch that did.
    if (compressor->memory_bytes() <= 4 * usual + kUsualContextBytes) {
      context.compressors.Give(std::move(compressor));
    }
    // Tried again, it has its place from before.
    if (written->place.payload_bytes != bytes) {
      written->place = file->Reserve(bytes);
    }
    Status status = file->WriteAt(written->place, *block);
    // Buffers that grew for one large aux are not kept.
    if (block->payload_capacity() <= 2 * usual + kPageBytes) {
      context.block_buffers.Give(std::move(block));
    }
    if (!status) return status;
    if (written->aux->memory_bytes() <= 4 * usual) {
      written->aux->Clear();
      context.aux_builders.Give(std::move(written->aux));
    }
    written->aux.reset();
    return {};
  });
  return {};
}

Status Batch::Settle() {
  NEPHILA_RETURN_IF_ERROR(context_.writes.Settle());
  for (const auto& written : under_way_) {
    if (written->is_aux) {
      aux_blocks_[written->index].place = written->place;
    } else {
      buckets_[written->bucket].chunks[written->index].place = written->place;
    }
  }
  under_way_.clear();
  return {};
}

Status Batch::Freeze(std::string parameters) {
  const bool keys_to_disk = has_keys_file() || open_bytes_ > memory_limit_;
  if (keys_to_disk) {
    for (uint32_t b = 0; b < format_.buckets(); ++b) {
      if (buckets_[b].open_tuples > 0) NEPHILA_RETURN_IF_ERROR(SealChunk(b));
    }
  }
  if (has_aux_file() && !aux_open_->empty()) NEPHILA_RETURN_IF_ERROR(SealAux());
  NEPHILA_RETURN_IF_ERROR(Settle());
  for (Bucket& bucket : buckets_) {
    if (bucket.open == nullptr) continue;
    bucket.tail.assign(bucket.open->payload(), bucket.open_bytes);
    if (bucket.open->pages().size() == UsualChunkPages()) {
      context_.chunk_buffers.Give(std::move(bucket.open));
    }
    bucket.open.reset();
  }
  if (!aux_open_->empty()) aux_open_->AppendRecordsFrom(0, memory_aux_);
  parameters_ = std::move(parameters);
  frozen_ = true;
  return {};
}

Status Batch::PrepareCommit() {
  if (!frozen_) {
    for (uint32_t b = 0; b < format_.buckets(); ++b) {
      if (buckets_[b].open_bytes >= min_chunk_payload_) {
        NEPHILA_RETURN_IF_ERROR(SealChunk(b));
      }
    }
  }
  return Settle();
}

std::string_view Batch::OpenBytes(const Bucket& bucket) const {
  if (frozen_) return bucket.tail;
  if (bucket.open == nullptr) return {};
  return {bucket.open->payload(), bucket.open_bytes};
}

void Batch::AppendTo(ByteWriter& writer, bool whole) {
  NEPHILA_CHECK(under_way_.empty());
  if (whole) {
    for (Bucket& bucket : buckets_) {
      bucket.journaled_chunks = 0;
      bucket.journaled_bytes = 0;
      bucket.journaled_tuples = 0;
    }
    journaled_aux_blocks_ = 0;
    aux_journaled_records_ = 0;
  }
  writer.Varint(number_);
  writer.U8(static_cast<uint8_t>(format_.bucket_bits));
  writer.U8(frozen_ ? 1 : 0);
  writer.Sized(parameters_);
  writer.Varint(delivered_);
  writer.Varint(keys_file_ == nullptr ? 0 : keys_file_->end());
  writer.Varint(aux_file_ == nullptr ? 0 : aux_file_->end());

  size_t chunks = 0;
  size_t pieces = 0;
  for (const Bucket& bucket : buckets_) {
    chunks += bucket.chunks.size() - bucket.journaled_chunks;
    if (bucket.open_tuples > bucket.journaled_tuples) ++pieces;
  }
  writer.Varint(chunks);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    for (; bucket.journaled_chunks < bucket.chunks.size();
         ++bucket.journaled_chunks) {
      const Chunk& chunk = bucket.chunks[bucket.journaled_chunks];
      writer.Varint(b);
      PutPlace(writer, chunk.place);
      writer.Varint(chunk.tuples);
    }
  }
  writer.Varint(aux_blocks_.size() - journaled_aux_blocks_);
  for (; journaled_aux_blocks_ < aux_blocks_.size(); ++journaled_aux_blocks_) {
    const AuxPlace& block = aux_blocks_[journaled_aux_blocks_];
    PutPlace(writer, block.place);
    writer.Varint(block.records);
  }
  writer.Varint(pieces);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Bucket& bucket = buckets_[b];
    if (bucket.open_tuples == bucket.journaled_tuples) continue;
    writer.Varint(b);
    writer.Varint(bucket.chunk_tuples + bucket.journaled_tuples);
    writer.Varint(bucket.open_tuples - bucket.journaled_tuples);
    writer.Sized(OpenBytes(bucket).substr(bucket.journaled_bytes));
    bucket.journaled_bytes = bucket.open_bytes;
    bucket.journaled_tuples = bucket.open_tuples;
  }
  writer.Varint(aux_block_records_ + aux_journaled_records_);
  std::string records;
  if (aux_open_->records() > aux_journaled_records_) {
    aux_open_->AppendRecordsFrom(aux_journaled_records_, records);
  }
  writer.Sized(records);
  aux_journaled_records_ = aux_open_->records();
}

std::vector<std::shared_ptr<BlockFile>> Batch::TakeUnsynced() {
  std::vector<std::shared_ptr<BlockFile>> files;
  if (keys_file_ != nullptr && keys_synced_ != keys_file_->end()) {
    keys_synced_ = keys_file_->end();
    files.push_back(keys_file_);
  }
  if (aux_file_ != nullptr && aux_synced_ != aux_file_->end()) {
    aux_synced_ = aux_file_->end();
    files.push_back(aux_file_);
  }
  return files;
}

Status Batch::ReadBucket(
    uint32_t number, BlockBuffer& buffer,
    const std::function<Status(std::string_view tuples)>& take) const {
  NEPHILA_CHECK(frozen_);
  const Bucket& bucket = buckets_[number];
  for (const Chunk& chunk : bucket.chunks) {
    NEPHILA_TRY(const std::string_view tuples,
                keys_file_->Read(chunk.place, buffer));
    NEPHILA_RETURN_IF_ERROR(take(tuples));
  }
  if (!bucket.tail.empty()) NEPHILA_RETURN_IF_ERROR(take(bucket.tail));
  return {};
}

Result<std::string_view> Batch::ReadAuxBlock(size_t i,
                                             BlockBuffer& buffer) const {
  if (i == aux_blocks_.size()) return std::string_view(memory_aux_);
  return aux_file_->Read(aux_blocks_[i].place, buffer);
}

uint32_t Batch::aux_block_records(size_t i) const {
  if (i == aux_blocks_.size()) return aux_open_->records();
  return aux_blocks_[i].records;
}

std::string Batch::AuxBlockName(size_t i) const {
  if (i == aux_blocks_.size()) return "the aux log in memory";
  return FilePlace("reading", aux_file_->path(), aux_blocks_[i].place.offset);
}

uint64_t Batch::disk_bytes() const {
  return (keys_file_ == nullptr ? 0 : keys_file_->end()) + aux_log_bytes();
}

uint64_t Batch::aux_log_bytes() const {
  return aux_file_ == nullptr ? 0 : aux_file_->end();
}

}  // namespace nephila::drum
