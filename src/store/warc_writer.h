// WarcWriter: one stream of WARC/1.1 files (ISO 28500:2017), appended to in
// units that survive a crash whole or not at all.
//
// A unit is the records of one fetch (request, response, metadata) or a single
// resource. Append writes it behind the last one and returns where it stands;
// it is durable after the next Sync, which the caller makes once a second, not
// once a page. Files begin with a warcinfo record, are written as NAME.open and
// renamed when they are full or old, with a sorted CDXJ beside them.
//
// A crash: OpenAt takes the position of a checkpoint (any position that was
// synced), finds the files by their serials under either name, and cuts what is
// not a whole unit off the last one, never below that position. Files that were
// renamed are whole by construction and are not touched.
//
// A full disk: Append returns kNoSpace, the file is cut back to its last whole
// unit, and the same call succeeds when there is room. Any other failed write
// and any failed sync is final: it names the file, and all later calls return
// it too.
//
// With several folders the next file is begun in another one when there is no
// room, or less than `floor_bytes`, in that of the open file, which is finished
// first. If not even its index has room there it is left open, at most one such
// file, and is finished when there is some (`late_`).
//
// Threads: one. Memory: 1 MiB, the compressor, and the lines of the index
// (`max_index_bytes`, a third more while an archive is finished).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "store/archive_file.h"
#include "store/archive_name.h"
#include "store/compressor.h"
#include "store/digest.h"
#include "store/http_message.h"
#include "store/index_builder.h"
#include "store/position.h"
#include "store/warc_record.h"

namespace nephila::store {

struct WarcWriterOptions {
  std::string folder;
  // Where new files go when that has no room, in this order; and where files of
  // the stream may be, but new ones do not go.
  std::vector<std::string> other_folders;
  std::vector<std::string> old_folders;
  // A folder with less than this free is left, for one that has the margin
  // more; 0: only one that is full.
  uint64_t floor_bytes = 0;
  uint64_t margin_bytes = 0;
  std::string prefix = "nephila";  // see IsNamePart
  std::string host;                // in names and warcinfo; empty: left out
  CompressorKind compressor = CompressorKind::kIsal;
  int level = 1;
  DigestKind digest = DigestKind::kSha1;  // of the warcinfo
  // A file that has reached any of these is finished before the next unit.
  uint64_t max_file_bytes = 1'000'000'000;
  std::chrono::nanoseconds max_file_age = std::chrono::hours(24);
  uint64_t max_index_bytes = uint64_t{64} << 20;
  // Of record ids. Two streams, and two runs of one, need different ones.
  uint64_t seed = 0;
  // What warcinfo says, in this order; "format" and "conformsTo" are added.
  std::vector<std::pair<std::string, std::string>> info;
  // Called before a file is finished, which nothing is cut from any more:
  // makes durable what says of each unit in it that it belongs there. May be
  // null.
  std::function<Status()> before_finish = nullptr;
};

// A record that is to be written. The header has all but WARC-Warcinfo-ID and
// Content-Length, which the writer adds.
struct NewRecord {
  WarcHeader header;
  std::span<const std::string_view> block;
  // The pieces from this one on are not worth compressing.
  size_t store_from = SIZE_MAX;
  // Of a response or a revisit: its head, for the index.
  const HttpHead* http = nullptr;
};

// Where a record stands: what an index or a journal notes.
struct RecordPlace {
  uint64_t offset = 0;
  uint64_t length = 0;  // of the member
};

struct UnitPlace {
  std::string filename;  // as it will be called
  Position begin;
  Position end;
  std::vector<RecordPlace> records;
};

class WarcWriter {
 public:
  // A stream in `options.folder` and the others, which are made if need be:
  // goes on behind the last whole unit. `checkpoint` is a position that was
  // synced, or nothing for a stream that has none. kCorruption if the files do
  // not reach it. `fs` and `clock` outlive this. `keep`: units of the open file
  // behind it are cut though they are whole, since nobody knows of them; never
  // below the checkpoint.
  static Result<std::unique_ptr<WarcWriter>> OpenAt(
      FileSystem& fs, const Clock& clock, WarcWriterOptions options,
      std::optional<Position> checkpoint,
      std::optional<Position> keep = std::nullopt);
  // Leaves the file open: as after a crash, but Sync first is a good idea.
  ~WarcWriter();
  WarcWriter(const WarcWriter&) = delete;
  WarcWriter& operator=(const WarcWriter&) = delete;

  // "urn:uuid:..." of its own, for a record of the next unit.
  std::string NewRecordId();

  Result<UnitPlace> Append(std::span<const NewRecord> unit);
  // Makes all units durable. With several folders it also looks which have
  // room, and finishes what was left open for want of it.
  Status Sync();
  // Finishes the file if it is due. For a stream that nothing is appended to.
  Status RotateIfDue();
  // Finishes the file: synced, indexed, renamed. A later Append begins another.
  Status Finish();

  // From now on; see WarcWriterOptions.
  void SetFloor(uint64_t floor_bytes, uint64_t margin_bytes) {
    options_.floor_bytes = floor_bytes;
    options_.margin_bytes = margin_bytes;
  }

  // The end of the last unit. A checkpoint notes it after Sync.
  Position position() const { return position_; }
  // Of the file of that position; the first one before there is any.
  const std::string& folder() const { return position_folder_; }
  // The files from a serial on, in their order, and where they are.
  Result<std::vector<std::pair<uint64_t, std::string>>> FilesFrom(
      uint64_t serial);
  // Bytes in all files since OpenAt, for counters.
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  WarcWriter(FileSystem& fs, const Clock& clock, WarcWriterOptions options);

  // A file of the stream, by its name and folder.
  struct Place {
    std::string folder;
    ArchiveName name;
  };
  // An archive that has no room for its index beside it.
  struct Late {
    Place place;
    IndexBuilder index;
  };

  Result<std::vector<Place>> FindFiles();
  Status Recover(std::optional<Position> checkpoint,
                 std::optional<Position> keep);
  Status RecoverFile(const Place& place, bool is_last,
                     std::optional<Position> checkpoint,
                     std::optional<Position> keep);
  Status NameAgain(const std::string& name);
  // A file that has its name: whole, with an index, and long enough.
  Status CheckFinished(const ArchiveName& name, Position mark);
  // Takes up the file that was still open.
  Status Resume(const ArchiveName& name, std::optional<Position> checkpoint,
                std::optional<Position> keep);

  // All folders, without those that no new file goes to, or with them.
  std::vector<std::string> Folders(bool old_too) const;
  bool HasRoom(const std::string& folder) const;
  // One with room that is not that of the open file.
  bool HasRoomElsewhere() const;
  void ChooseFolder();
  void NoteIfLow();
  void NoteRefusal();
  // Finishes the open file; kNoSpace: call again.
  Status FinishFile();
  // The same, or keeps it for later.
  Status Leave();
  Status FinishLate();
  // The index, the name, and both durable.
  Status Publish(const Place& place, const IndexBuilder& index);

  Status BeginFile();
  Status WriteWarcinfo();
  bool Due() const;
  Result<UnitPlace> TryAppend(std::span<const NewRecord> unit);
  // Compresses one record into the file; kNoSpace or a final error.
  Result<RecordPlace> WriteRecord(const NewRecord& record);
  void FormatHeader(const WarcHeader& header, uint64_t block_bytes);
  Status WriteRecords(std::span<const NewRecord> unit, UnitPlace* place);
  // Undoes a unit that failed with `error`, and returns it.
  Unexpected<Error> Undo(Error error);
  // The same error; if it cannot pass, the writer is broken from now on.
  Unexpected<Error> Judge(Error error);
  Unexpected<Error> Break(Error error);
  std::string PathOf(const std::string& name) const;

  FileSystem& fs_;
  const Clock& clock_;
  WarcWriterOptions options_;
  Random random_;
  std::unique_ptr<Compressor> compressor_;
  std::string header_text_;

  std::optional<Error> broken_;
  std::string folder_;  // of the open file
  ArchiveName name_;
  bool is_low_ = false;  // its folder, while another has room
  // Folders that had no room, and what was free in them then.
  std::map<std::string, uint64_t> refused_;
  std::optional<Late> late_;
  std::unique_ptr<ArchiveFile> file_;
  std::string warcinfo_id_;
  MonoTime file_begin_{};
  IndexBuilder index_;
  Position position_;
  std::string position_folder_;
  // The file's name is not known to be durable.
  bool sync_folder_ = false;
  uint64_t bytes_written_ = 0;
};

}  // namespace nephila::store
