#include "sim/simulation.h"

#include <utility>

#include "sim/descriptor.h"

namespace nephila::sim {

Result<std::unique_ptr<Simulation>> Simulation::Start(
    Scenario scenario, const SimulationOptions& options, FileSystem& fs,
    const Clock& clock) {
  NEPHILA_TRY(const HttpServer::Port port, HttpServer::Reserve(options.port));
  Descriptor held(port.fd);  // until the server has it
  if (scenario.shape.port == 0) scenario.shape.port = port.number;
  NEPHILA_TRY(Site site, Site::Make(std::move(scenario)));
  std::unique_ptr<Simulation> simulation(new Simulation(std::move(site)));
  if (!options.log.empty()) {
    NEPHILA_TRY(simulation->log_, RequestLog::Create(fs, options.log, clock));
  }
  held.Release();
  NEPHILA_TRY(simulation->http_,
              HttpServer::Start(simulation->site_, clock,
                                simulation->log_.get(), port, options.threads));
  NEPHILA_TRY(simulation->dns_,
              DnsServer::Start(simulation->site_, simulation->log_.get(),
                               options.dns_port));
  return simulation;
}

Status Simulation::Stop() {
  http_->Stop();
  dns_->Stop();
  return FlushLog();
}

Status Simulation::FlushLog() {
  if (log_ == nullptr) return {};
  return log_->Flush();
}

}  // namespace nephila::sim
