// CheckStages: the stores and queues of the stages, as one manifest has them,
// and the accounting law: in + made = out + dropped + held, where what is held
// is counted in the stores and not taken from the account.
//
//   In: a job's folder, a manifest.   Out: damages, a line a stage, the files
//   that the manifest names.   Threads: one.
//   Memory: a commit of each store, a block, and --memory for the stages,
//   which are opened to be asked.   Cost: every named block is read once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/frozen_file_system.h"
#include "check/findings.h"
#include "config/settings.h"
#include "crawl/frontier.h"
#include "disk_queue/check_queues.h"
#include "drum/check_store.h"
#include "job/manifest.h"
#include "url/public_suffix.h"

namespace nephila::check {

class StagesCheck {
 public:
  struct Parts {
    FileSystem& fs;
    const Clock& clock;
    config::Settings settings;
    const url::PublicSuffixList& suffixes;
    std::string dir;  // of the job
    uint64_t key_seed = 0;
  };

  StagesCheck(Parts parts, Findings* findings);

  // The newest first. What the one before has in common with it is not read
  // again. `manifest_path` is for messages.
  void Check(const job::Manifest& manifest, const std::string& manifest_path);

  const std::set<std::string>& files() const { return files_; }

 private:
  // What the stores of a stage hold, by its name.
  struct Held {
    uint64_t results = 0;  // that wait in its Drum
    uint64_t urls = 0;     // of them, with aux
    uint64_t queued = 0;   // records of its queues
    bool is_known = true;
  };

  void CheckStage(const job::Manifest& manifest, const std::string& path,
                  std::string_view stage);
  std::string CheckDrum(std::string_view stage, const std::string& dir,
                        uint64_t generation);
  std::string CheckQueues(std::string_view stage, const std::string& dir,
                          uint64_t generation);
  void CheckLaw(const job::Manifest& manifest, const std::string& path,
                bool are_sound);
  void CheckAccounts(const crawl::Frontier& frontier, const std::string& path);
  // Counted for each stage by its name; nothing if that is not known.
  std::map<std::string, int64_t, std::less<>> CountHeld(
      const crawl::Frontier& frontier) const;

  const Parts parts_;
  Findings& findings_;
  bool is_newest_ = true;
  std::set<std::string> files_;
  std::map<std::string, std::unique_ptr<drum::StoreCheck>> stores_;
  std::map<std::string, std::unique_ptr<disk_queue::QueueCheck>> queues_;
  std::map<std::string, Held, std::less<>> held_;
};

}  // namespace nephila::check
