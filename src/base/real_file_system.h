// The FileSystem of the operating system: POSIX calls, nothing cached.
//
// Calls block for as long as the disk takes. A call that a signal interrupts
// is made again; any other error is returned with its errno. Locks are
// flock(2): two in one process conflict like two in different ones, and a lock
// ends with the last copy of its descriptor, so with its process however that
// ends, unless it has forked a child that lives on without an exec.
//
// A GuardedFileSystem is the same for the user's own paths, and stricter below
// the folders that it guards: there it follows no symbolic link, whoever made
// it, and changes nothing in a folder that another user owns. Both are errors
// that name the path. They are checked by the call itself (openat with
// O_NOFOLLOW for each name below the folder), so a link that appears between
// two calls is not followed either. The path of a guarded folder is the user's:
// it may contain links.
//
// With `wait`, a call that finds no free descriptor (EMFILE, ENFILE) does not
// fail: it calls `wait` with the error, any number of times, and tries again.
// `wait` blocks for a moment and may make room; any thread calls it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace nephila {

using DescriptorWait = std::function<void(const Error& error)>;

std::unique_ptr<FileSystem> MakeRealFileSystem(DescriptorWait wait = nullptr);

class GuardedFileSystem : public FileSystem {
 public:
  // Guards `dir` too. Does nothing for a folder inside one that is guarded:
  // its name is not the user's, and must not be a link. A path belongs to a
  // guarded folder if it begins with the text of `dir` and has no ".." behind.
  virtual void Guard(const std::string& dir) = 0;
};

std::unique_ptr<GuardedFileSystem> MakeGuardedFileSystem(
    const std::string& dir, DescriptorWait wait = nullptr);

// An error, with EPERM, if `dir` is there and another user owns it.
Status CheckOwnFolder(const std::string& dir);

}  // namespace nephila
