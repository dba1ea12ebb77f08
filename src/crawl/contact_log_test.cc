#include "crawl/contact_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"

namespace nephila::crawl {
namespace {

using politeness::Contact;
using politeness::Lease;
using Contacts = std::vector<Contact>;

constexpr uint64_t kSalt = 99;

Contact ContactOf(uint64_t host) {
  Contact contact;
  contact.host = host;
  contact.address.bytes[15] = static_cast<uint8_t>(host);
  contact.delay = std::chrono::seconds(host);
  return contact;
}

Lease LeaseOf(uint64_t host) {
  const Contact contact = ContactOf(host);
  Lease lease;
  lease.host = contact.host;
  lease.address = contact.address;
  lease.host_delay = contact.delay;
  return lease;
}

class ContactLogTest : public testing::Test {
 protected:
  // The next process, whose manifest names the log `last`.
  void Open(uint64_t last) {
    log_.reset();
    fs_.KillProcess();
    log_ = Must(ContactLog::Open({faulty_, clock_, "contacts", kSalt}, last));
  }
  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const DirEntry& entry : Must(fs_.List("contacts"))) {
      names.push_back(entry.name);
    }
    return names;
  }

  MemoryFileSystem fs_;
  FaultyFileSystem faulty_{fs_};
  ManualClock clock_;
  std::unique_ptr<ContactLog> log_;
};

TEST_F(ContactLogTest, TheNextProcessReadsAllSinceTheCheckpoint) {
  Open(0);
  EXPECT_EQ(log_->Read(), std::nullopt) << "no manifest names one";
  EXPECT_EQ(Must(log_->Begin({})), 1U);
  MustDo(log_->Append({LeaseOf(1)}));
  EXPECT_EQ(Must(log_->Begin({ContactOf(1)})), 2U);
  MustDo(log_->Append({LeaseOf(2), LeaseOf(3)}));
  MustDo(log_->Append({LeaseOf(4)}));
  // The manifest of the second is not there yet.
  Open(1);
  EXPECT_EQ(log_->Read(), (Contacts{ContactOf(1), ContactOf(1), ContactOf(2),
                                    ContactOf(3), ContactOf(4)}));
  Open(2);
  EXPECT_EQ(log_->Read(),
            (Contacts{ContactOf(1), ContactOf(2), ContactOf(3), ContactOf(4)}));
}

TEST_F(ContactLogTest, LogsGoWhenAManifestCoversThem) {
  Open(0);
  for (int i = 0; i < 3; ++i) Must(log_->Begin({}));
  MustDo(log_->Covered(2));
  EXPECT_EQ(Files(), (std::vector<std::string>{"2", "3"}));
  MustDo(fs_.Remove("contacts/2"));
  MustDo(log_->Covered(3));
  EXPECT_EQ(Files(), (std::vector<std::string>{"3"}));
  log_->Forget();
  EXPECT_EQ(Files(), std::vector<std::string>());
}

TEST_F(ContactLogTest, ProcessesThatTakeNoCheckpointAddUp) {
  Open(0);
  Must(log_->Begin({}));
  MustDo(log_->Append({LeaseOf(1)}));
  for (uint64_t process = 2; process < 5; ++process) {
    Open(1);
    Must(log_->Begin({}));
    MustDo(log_->Append({LeaseOf(process)}));
  }
  Open(1);
  EXPECT_EQ(log_->Read(),
            (Contacts{ContactOf(1), ContactOf(2), ContactOf(3), ContactOf(4)}));
}

TEST_F(ContactLogTest, UnderAnotherBootItCountsForNothing) {
  Open(0);
  Must(log_->Begin({}));
  clock_.Reboot();
  Open(1);
  EXPECT_EQ(log_->Read(), std::nullopt);
  // Nor if the next process of that boot has begun one.
  Must(log_->Begin({}));
  Open(1);
  EXPECT_EQ(log_->Read(), std::nullopt);
}

TEST_F(ContactLogTest, OneThatIsGoneWasNotEmpty) {
  Open(0);
  Must(log_->Begin({}));
  Must(log_->Begin({}));
  MustDo(fs_.Remove("contacts/1"));
  Open(1);
  EXPECT_EQ(log_->Read(), std::nullopt);
}

TEST_F(ContactLogTest, WhatWasCutOffWasNotGiven) {
  Open(0);
  Must(log_->Begin({}));
  MustDo(log_->Append({LeaseOf(1)}));
  MustDo(log_->Append({LeaseOf(2)}));
  const std::string whole = Get(fs_, "contacts/1");
  for (size_t cut = 1; cut <= 40; ++cut) {
    MustDo(Create(fs_, "contacts/1")->Truncate(whole.size() - cut));
    EXPECT_OK(ContactLog::Check(fs_, "contacts/1", kSalt));
    Open(1);
    EXPECT_EQ(log_->Read(), Contacts{ContactOf(1)}) << cut;
  }
}

TEST_F(ContactLogTest, OneThatWasOnlyBegunHoldsNothing) {
  Open(0);
  Must(log_->Begin({ContactOf(1)}));
  Must(log_->Begin({}));
  const size_t head = Get(fs_, "contacts/2").size();
  for (size_t size = head - 1; size < head; --size) {
    MustDo(Create(fs_, "contacts/2")->Truncate(size));
    Open(1);
    EXPECT_EQ(log_->Read(), Contacts{ContactOf(1)}) << size;
    Open(2);
    EXPECT_EQ(log_->Read(), std::nullopt) << "a manifest vouches for this one";
  }
  // Nor if another process was killed after that one.
  Open(1);
  Must(log_->Begin({ContactOf(2)}));
  Open(1);
  EXPECT_EQ(log_->Read(), (Contacts{ContactOf(1), ContactOf(2)}));
}

TEST_F(ContactLogTest, AFlippedBitIsSeen) {
  Open(0);
  Must(log_->Begin({ContactOf(1)}));
  MustDo(log_->Append({LeaseOf(2)}));
  const std::string whole = Get(fs_, "contacts/1");
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    MustDo(Create(fs_, "contacts/1")->Write(0, Bytes(bytes)));
    EXPECT_FAILS(ContactLog::Check(fs_, "contacts/1", kSalt), kCorruption,
                 "contacts/1");
    Open(1);
    EXPECT_EQ(log_->Read(), std::nullopt) << bit;
  }
}

TEST_F(ContactLogTest, WithoutRoomThereIsNoneThatSaysTooLittle) {
  Open(0);
  Must(log_->Begin({}));
  Must(log_->Begin({}));
  fs_.SetCapacity(1);
  EXPECT_OK(log_->Append(std::vector<Lease>(1000, LeaseOf(1))));
  EXPECT_EQ(Files(), std::vector<std::string>());
  EXPECT_OK(log_->Append({LeaseOf(2)}));
  EXPECT_EQ(Must(log_->Begin({})), 3U) << "which is no file";
  fs_.SetCapacity(1 << 20);
  EXPECT_EQ(Must(log_->Begin({ContactOf(3)})), 4U);
  MustDo(log_->Append({LeaseOf(4)}));
  Open(2);
  EXPECT_EQ(log_->Read(), std::nullopt) << "the manifest before names this one";
  Open(4);
  EXPECT_EQ(log_->Read(), (Contacts{ContactOf(3), ContactOf(4)}));
}

TEST_F(ContactLogTest, MoreThanAreToldApartAreEveryone) {
  Open(0);
  Must(log_->Begin({}));
  const std::vector<Lease> leases(kMostContacts, LeaseOf(1));
  MustDo(log_->Append(leases));
  EXPECT_EQ(Files(), std::vector<std::string>{"1"});
  MustDo(log_->Append({LeaseOf(2)}));
  EXPECT_EQ(Files(), std::vector<std::string>());
}

TEST_F(ContactLogTest, ABadDiskLetsNobodyBeAsked) {
  Open(0);
  Must(log_->Begin({}));
  faulty_.FailAt(faulty_.operations(), Fault::kEio);
  EXPECT_EQ(CodeOf(log_->Append({LeaseOf(1)})), "i/o error");
  // It is known to be bad.
  EXPECT_EQ(CodeOf(log_->Append({LeaseOf(1)})), "i/o error");
  EXPECT_EQ(Files(), std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace nephila::crawl
