// ContactLog: whom this process may have contacted since its last checkpoint,
// so that the next process knows who was left alone.
//
// Who was contacted lately when a checkpoint was taken stands in its manifest
// (politeness/saved_waits.h). Here stand the leases that were in flight then,
// and each one since, written before it is given. With both a restart makes
// those wait who may have been contacted, and nobody else. It outlives the
// process, not the machine: nothing is synced, and under another boot it counts
// for nothing. What is missing or damaged costs time alone: everyone counts as
// contacted then.
//
//   In: leases, before they are given   Out: those of the process before
//   Disk: `contacts/N` of the job, one for each checkpoint; docs/formats/job.md
//   Threads: the dispatcher's
//   Cost: a write for all leases of a turn, 28 bytes each, and no sync
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "politeness/politeness.h"

namespace nephila::crawl {

// More are not written down between two checkpoints: 7 MB.
inline constexpr size_t kMostContacts = size_t{1} << 18;

class ContactLog {
 public:
  struct Parts {
    FileSystem& fs;
    const Clock& clock;
    std::string dir;    // that of the logs, made if need be
    uint64_t salt = 0;  // the job's key seed
  };
  // `last`: the log that the manifest names; 0: none.
  static Result<std::unique_ptr<ContactLog>> Open(const Parts& parts,
                                                  uint64_t last);

  // All that stands in the log `last` and those after it; nothing if that is
  // not all there was.
  std::optional<std::vector<politeness::Contact>> Read();

  // Begins another one with what is in flight: at each checkpoint, and before
  // the first lease. Its number, for the manifest, also where there is no room
  // for one, or nobody could tell its boot from another: then no file has it.
  Result<uint64_t> Begin(const std::vector<politeness::Contact>& in_flight);
  // Before these are given. An error is one of the disk; they are not given
  // then. Where there is no room for them all logs are removed, as they would
  // say too little, and there is none until the next Begin.
  Status Append(const std::vector<politeness::Lease>& leases);
  // The manifest that names this log is durable: no one asks for those before.
  Status Covered(uint64_t number) { return RemoveUpTo(number - 1); }

  // Removes all, as far as that goes: nobody knows what a bad disk keeps.
  void Forget() { IgnoreError(RemoveUpTo(UINT64_MAX), "the disk is bad"); }

  // Looks at a log of the folder and changes nothing; kCorruption if it is
  // damaged. One that ends in the middle is not: nobody was told of its end.
  static Status Check(FileSystem& fs, const std::string& path, uint64_t salt);

 private:
  ContactLog(const Parts& parts, uint64_t last) : parts_(parts), last_(last) {}

  std::string PathOf(uint64_t number) const;
  Status BeginFile(uint64_t number,
                   const std::vector<politeness::Contact>& in_flight);
  Status Write(const std::vector<politeness::Contact>& contacts);
  // Without an error there is a file, or there is none at all.
  Status Settle(Status written);
  Status RemoveUpTo(uint64_t number);

  const Parts parts_;
  const uint64_t last_;
  std::vector<uint64_t> numbers_;  // of all files, in order
  uint64_t next_ = 1;              // no number names two
  std::unique_ptr<File> file_;     // null: there is no log now
  Status broken_;                  // the disk is
  uint64_t end_ = 0;
  size_t contacts_ = 0;
};

}  // namespace nephila::crawl
