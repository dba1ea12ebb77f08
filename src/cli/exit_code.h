// What the program's exit status says. The table is the one source of
// `nephila --help`, the man page and docs/exit-codes.md.
#pragma once

#include <string_view>

namespace nephila::cli {

enum ExitCode : int {
  kSuccess = 0,
  kFailed = 1,
  kUsage = 2,
  kBadSettings = 3,
  kUnsound = 4,
  kInUse = 5,
  kNoContact = 6,
  kNothingFetched = 7,
  kDiskFull = 8,
  kNotPermitted = 9,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view meaning;  // some words, for --help
  std::string_view doc;      // sentences, for the pages
};

inline constexpr ExitCodeRow kExitCodes[] = {
    {kSuccess, "done",
     "What was asked for is done. A crawl that a limit or SIGINT ended is done "
     "too: the same command goes on with it."},
    {kFailed, "failed while running",
     "A file cannot be read or written, an input is missing, the machine lacks "
     "something."},
    {kUsage, "wrong command line",
     "No such verb or option, a word too many, or one that is missing."},
    {kBadSettings, "wrong setting",
     "A setting of a file or of --set is unknown, or its value is not "
     "allowed."},
    {kUnsound, "damage, or contacts that came early",
     "A file of a job or archive is damaged; or a check found damage, or "
     "contacts that came early."},
    {kInUse, "the job is in use", "Another process works on the job."},
    {kNoContact, "agent.contact is not set",
     "Servers must be able to tell who asks; the message has the line to add."},
    {kNothingFetched, "no seed could be fetched",
     "The crawl came to its end, or to the end of its time, without one page: "
     "its seeds do not answer, answer with errors alone, or may not be asked "
     "for. The message names one and its reason."},
    {kDiskFull, "no room on disk",
     "A file could not be made for want of space. A crawl that runs waits for "
     "room instead."},
    {kNotPermitted, "not permitted",
     "A file or folder may not be read or written by this user, or the file "
     "system is read-only."},
};

}  // namespace nephila::cli
