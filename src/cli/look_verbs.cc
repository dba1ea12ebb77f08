#include "cli/look_verbs.h"

#include <iostream>

#include "cli/job_setup.h"

namespace nephila::cli {

void LookVerbs::AddAll() {
  AddWhy();
  AddList();
}

void LookVerbs::AddWhy() {
  CLI::App* verb = program_->AddVerb(
      "why",
      "What became of a URL or a host, and what it waits for: nephila why "
      "--job DIR [--] URL|HOST...\n"
      "Of a job that runs or not, as of its last checkpoint, and what the "
      "crawl that runs adds (docs/why.md)",
      [this](const Setup& setup) {
        IgnoreBrokenPipes();
        return RunWhy(setup, why_, std::cout);
      },
      &why_.words);
  verb->add_option("--job", why_.job, "The folder of the crawl")
      ->type_name("DIR")
      ->required();
  verb->add_flag("--scan", why_.scan,
                 "Read queues, batches and logs whole, however long they "
                 "are");
  verb->add_flag("--json", why_.json, "A line of JSON for each");
  PrepareByJob(verb, &why_.job);
}

void LookVerbs::AddList() {
  CLI::App* verb = program_->AddVerb(
      "list",
      "URLs of a job, one a line: nephila list seen|failed|waiting --job "
      "DIR\n"
      "seen: all that were asked for, with the last attempt; failed: those "
      "that were given up; waiting: those yet to be fetched, with the stage "
      "that has them (docs/why.md)",
      [this](const Setup& setup) { return RunList(setup, list_, std::cout); },
      &list_.words);
  verb->add_option("--job", list_.job, "The folder of the crawl")
      ->type_name("DIR")
      ->required();
  verb->add_option("--host", list_.host, "Only of this host")
      ->type_name("HOST");
  verb->add_option("--domain", list_.domain,
                   "Only of this domain and its hosts")
      ->type_name("DOMAIN");
  verb->add_option("--limit", list_.limit, "At most so many; 0: all")
      ->type_name("N")
      ->capture_default_str();
  verb->add_flag("--waiting", list_.waiting, "With seen: then those that wait");
  verb->add_option("--memory", list_.memory, "For sorting")
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_option("--scratch", list_.scratch,
                   "For what does not fit into it; else the system's folder")
      ->type_name("DIR");
  verb->add_flag("--json", list_.json, "As lines of JSON");
  PrepareByJob(verb, &list_.job);
}

// Settings are those of the job's last run.
void LookVerbs::PrepareByJob(CLI::App* verb, const std::string* job) {
  verb->parse_complete_callback([this, job] {
    program_->SetPrepare(
        [job](SetupOptions* options) { return PrepareForJob(*job, options); });
  });
}

}  // namespace nephila::cli
