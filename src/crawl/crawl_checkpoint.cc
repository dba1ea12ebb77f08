// Checkpoints of a crawl, and its opening from one.
//
// The frontier notes its state between two steps; then each downloader makes
// its archive durable and says up to where, the dispatcher says which hosts and
// addresses wait; then the journal, the stages and last the manifest are made
// durable. Nobody but the frontier stands still, and that only for its own
// syncs.
#include <algorithm>

#include "base/bytes.h"
#include "crawl/archive_folders.h"
#include "crawl/crawl.h"

namespace nephila::crawl {
Result<std::vector<store::StorePosition>> Crawl::StreamPositions(
    const job::Manifest* manifest) {
  ArchivePart part;
  if (manifest != nullptr) {
    const auto found = manifest->parts.find("archive");
    if (found == manifest->parts.end()) {
      return Unexpected(
          Error{ErrorCode::kCorruption, "the manifest has no part archive"});
    }
    NEPHILA_TRY(part, ReadArchivePart(found->second));
  }
  if (parts_.on_archive_folders) {
    parts_.on_archive_folders(ArchivePaths(
        parts_.folder.dir(), parts_.settings.store.folders, part.folders));
  }
  NEPHILA_TRY(folders_, ArchiveFolders::Open(parts_.fs, parts_.folder,
                                             parts_.settings.store.folders,
                                             part.folders));
  return part.streams;
}

Status Crawl::OpenJob() {
  job::ManifestOptions options;
  options.salt = parts_.folder.key_seed();
  NEPHILA_TRY(manifests_,
              job::ManifestFolder::Open(
                  parts_.fs, parts_.folder.Path(job::kManifestsDir), options));
  if (parts_.log != nullptr) {
    for (const Error& damaged : manifests_->damaged()) {
      parts_.log->Warn("a damaged manifest is set aside: {}", damaged.message);
    }
  }
  std::optional<job::Manifest> manifest;
  if (manifests_->newest_number() > 0) {
    NEPHILA_TRY(manifest, manifests_->Newest());
    if (manifest->number != manifests_->newest_number()) {
      return Unexpected(Error{
          ErrorCode::kIo, parts_.folder.Path(job::kManifestsDir) +
                              ": the newest manifest could be read once, and "
                              "then not: Input/output error"});
    }
    next_manifest_ = manifest->number + 1;
  } else if (!parts_.folder.is_new()) {
    // Stopped before its first checkpoint: all stages are made anew.
    NEPHILA_RETURN_IF_ERROR(ClearStages());
  }
  uint64_t from = 1;
  if (manifest) {
    NEPHILA_TRY(from, Frontier::NextEntry(manifest->parts));
  }
  job::JournalOptions journal;
  journal.salt = parts_.folder.key_seed();
  NEPHILA_TRY(journal_, job::Journal::Open(parts_.fs,
                                           parts_.folder.Path(job::kJournalDir),
                                           journal, from));
  NEPHILA_RETURN_IF_ERROR(OpenHistory());
  NEPHILA_RETURN_IF_ERROR(OpenStages(manifest ? &*manifest : nullptr, from));
  manifest_entry_ = from - 1;
  NEPHILA_RETURN_IF_ERROR(Replay(from));
  pages_before_ = frontier_->accounts().pages.value();
  bytes_before_ = frontier_->accounts().bytes.value();
  return {};
}

// The archive first: an entry whose record is lost is void, a record whose
// entry is lost is cut.
void Crawl::SyncIfDue() {
  if (parts_.clock.Now() < next_sync_) return;
  next_sync_ = parts_.clock.Now() + settings_.crawl.sync_interval;
  // A checkpoint does it too.
  if (checkpoint_ != nullptr || phase_ != Phase::kRunning) return;
  OnDownloaders(
      [this](CrawlThread& thread) {
        if (auto position = thread.downloader->Sync(); !position) {
          loop_->Post([this, error = position.error()] { Fail(error); });
        }
      },
      [this] {
        if (Status status = journal_->Sync(); !status) Fail(status.error());
      });
}

void Crawl::BeginCheckpointIfDue() {
  // Between two entries, unless a stage needs a commit to go on.
  if (parts_.clock.Now() < next_checkpoint_ || checkpoint_ != nullptr ||
      phase_ != Phase::kRunning ||
      (frontier_->is_mid_entry() && !frontier_->is_stuck())) {
    return;
  }
  if (disk_->is_refused()) return;
  if (Status status = BeginCheckpoint(); !status) Fail(status.error());
}

Status Crawl::NoteState() {
  if (checkpoint_ == nullptr) {
    checkpoint_ = std::make_unique<Checkpoint>();
    checkpoint_->manifest.number = next_manifest_++;
    checkpoint_->entry = frontier_->entry();
  }
  NEPHILA_TRY(checkpoint_->manifest.parts, frontier_->BeginCheckpoint());
  checkpoint_->manifest.parts["status"] = FormatStatus(status());
  checkpoint_->manifest.parts["settings"] = ChangedSettings(settings_);
  checkpoint_->manifest.parts["history"] = history_->Mark();
  checkpoint_->step = Checkpoint::Step::kCollecting;
  return {};
}

// On the thread of the downloader.
void Crawl::SyncArchive(CrawlThread& thread) {
  auto position = thread.downloader->Sync();
  if (position.has_value()) {
    thread.position = *position;
  } else {
    loop_->Post([this, error = position.error()] {
      if (checkpoint_ != nullptr) checkpoint_->archives_failed = true;
      Fail(error);
    });
  }
}

void Crawl::SyncArchives() {
  checkpoint_->archives_failed = false;
  ++checkpoint_->missing;
  // Each writes its own; who reads them has been told by all.
  OnDownloaders([this](CrawlThread& thread) { SyncArchive(thread); },
                [this] { CollectCheckpoint(); });
}

Status Crawl::BeginCheckpoint() {
  NEPHILA_RETURN_IF_ERROR(NoteState());
  // The dispatcher, and all downloaders together.
  checkpoint_->missing = 1;
  dispatcher_thread_->loop().Post([this] {
    loop_->Post([this, contacts = SaveContacts()]() mutable {
      if (!contacts.has_value()) return Fail(contacts.error());
      if (checkpoint_ != nullptr) {
        checkpoint_->contacts = *std::move(contacts);
      }
      CollectCheckpoint();
    });
  });
  SyncArchives();
  return {};
}

// On the dispatcher's thread.
Result<Crawl::SavedContacts> Crawl::SaveContacts() {
  SavedContacts saved;
  saved.waits = dispatcher_->SaveWaits();
  NEPHILA_TRY(saved.log, contact_log_->Begin(dispatcher_->InFlight()));
  return saved;
}

Status Crawl::CheckpointNow() {
  NEPHILA_RETURN_IF_ERROR(NoteState());
  NEPHILA_TRY(checkpoint_->contacts, SaveContacts());
  for (auto& thread : threads_) {
    NEPHILA_TRY(thread->position, thread->downloader->Sync());
  }
  return EndCheckpoint();
}

void Crawl::CollectCheckpoint() {
  if (checkpoint_ == nullptr) return;  // it was given up
  if (--checkpoint_->missing > 0 || !failure_.has_value()) return;
  // Without the end of each stream it would name too little of them.
  if (checkpoint_->archives_failed) return;
  if (Status status = EndCheckpoint(); !status) Fail(status.error());
}

Status Crawl::EndCheckpoint() {
  if (checkpoint_->step != Checkpoint::Step::kEnding) {
    checkpoint_->step = Checkpoint::Step::kEnding;
    ArchivePart part;
    part.folders = folders_.names();
    for (const auto& thread : threads_) {
      part.streams.push_back(thread->position);
      part.streams.back().folder = folders_.NameOf(thread->position.folder);
    }
    checkpoint_->manifest.parts["archive"] = WriteArchivePart(part);
    checkpoint_->manifest.parts["waits"] =
        std::move(checkpoint_->contacts.waits);
    ByteWriter(checkpoint_->manifest.parts["contacts"])
        .Varint(checkpoint_->contacts.log);
  }
  NEPHILA_RETURN_IF_ERROR(journal_->Sync());
  NEPHILA_RETURN_IF_ERROR(history_->Sync());
  // It is there if what comes behind it found no room the last time.
  if (manifests_->newest_number() < checkpoint_->manifest.number) {
    NEPHILA_RETURN_IF_ERROR(frontier_->FinishCheckpoint());
    NEPHILA_RETURN_IF_ERROR(manifests_->Write(checkpoint_->manifest));
  }
  NEPHILA_RETURN_IF_ERROR(quarantine_->Save());
  // What the manifest before this one covers nobody asks for again.
  NEPHILA_RETURN_IF_ERROR(journal_->Covered(manifest_entry_));
  manifest_entry_ = checkpoint_->entry;
  OnDownloaders(
      [](CrawlThread& thread) { thread.downloader->Covered(thread.position); },
      [] {});
  dispatcher_thread_->loop().Post([this, log = checkpoint_->contacts.log] {
    if (Status status = contact_log_->Covered(log); !status) {
      loop_->Post([this, error = status.error()] { Fail(error); });
    }
  });
  const uint64_t number = checkpoint_->manifest.number;
  checkpoint_.reset();
  checkpoint_time_ = parts_.clock.Now();
  next_checkpoint_ = parts_.clock.Now() + settings_.crawl.checkpoint_interval;
  TellCheckpoint(number);
  return {};
}

}  // namespace nephila::crawl
