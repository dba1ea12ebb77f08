// The sandbox of `nephila crawl` (sandbox/sandbox.h): which paths a job needs.
//
// A crawl starts no program, so there is no helper process that could. What
// ever needs one has to fork it before EnterSandbox is called and talk to it by
// a socket.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "config/settings.h"
#include "job/job_folder.h"

namespace nephila::cli {

// The job's folder and its archive folders, which it makes if they are to be
// made; the files of seeds, certificates and the suffix list; and the folders
// of the blocklists, since a list that is replaced is another file. Says in a
// line of the log each what is confined, or why not.
// REQUIRES: the process has one thread.
Status EnterSandbox(FileSystem& fs, const job::JobFolder& folder,
                    const config::Settings& settings,
                    const std::vector<std::string>& seed_files, Logger* log);

}  // namespace nephila::cli
