#include "cli/job_verbs.h"

#include <iostream>

#include "cli/job_files.h"

namespace nephila::cli {

void JobVerbs::AddAll() {
  AddStatus();
  AddSteer("pause",
           "Pause a running crawl: nephila pause --job DIR\n"
           "What is in flight ends; nobody else is asked for anything until "
           "`nephila resume`",
           RunPause, /*takes_words=*/false);
  AddSteer("resume", "Let a paused crawl go on: nephila resume --job DIR",
           RunResume, /*takes_words=*/false);
  AddSteer("checkpoint",
           "Take a checkpoint of a running crawl: nephila checkpoint --job "
           "DIR\n"
           "Ends when all that was fetched until now is safe on disk",
           RunCheckpoint, /*takes_words=*/false);
  AddSteer("set",
           "Change settings of a job: nephila set --job DIR KEY=VALUE...\n"
           "Rates, delays, limits and the log level of a running crawl; of a "
           "stopped job every setting that is not fixed. The job keeps them",
           RunSet, /*takes_words=*/true);
  AddSteer("block",
           "Never ask for something again: nephila block --job DIR ENTRY...\n"
           "ENTRY is a host, or 'host NAME', 'domain NAME', 'url URL', 'surt "
           "PREFIX', 'address NETWORK'",
           RunBlock, /*takes_words=*/true);
  CLI::App* retry =
      AddSteer("retry",
               "Try URLs again that failed for good: nephila retry --job DIR "
               "[--outcome NAME]...\n"
               "At once if the crawl runs, else with its next run",
               RunRetry, /*takes_words=*/false);
  retry
      ->add_option("--outcome", steer_.outcomes,
                   "Only those that ended like this, as `nephila status` names "
                   "it; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void JobVerbs::AddStatus() {
  CLI::App* verb = program_->AddVerb(
      "status",
      "The numbers of a job, running or not: nephila status --job DIR [--json]",
      [this](const Setup&) {
        IgnoreBrokenPipes();
        const auto fs = MakeGuardedFileSystem(status_.job);
        return RunStatus(*fs, status_, std::cout);
      });
  verb->add_option("--job", status_.job, "The folder of the crawl")
      ->type_name("DIR")
      ->required();
  verb->add_flag("--json", status_.json, "As one line of JSON");
}

CLI::App* JobVerbs::AddSteer(const std::string& name, const std::string& doc,
                             Run run, bool takes_words) {
  CLI::App* verb = program_->AddVerb(
      name, doc,
      [this, run](const Setup&) {
        IgnoreBrokenPipes();
        const JobUmask mask(steer_.job);
        const auto fs = MakeGuardedFileSystem(steer_.job);
        return run(*fs, steer_, std::cout);
      },
      takes_words ? &steer_.words : nullptr);
  verb->add_option("--job", steer_.job, "The folder of the crawl")
      ->type_name("DIR")
      ->required();
  verb->add_flag("--json", steer_.json, "The answer as one line of JSON");
  return verb;
}

}  // namespace nephila::cli
