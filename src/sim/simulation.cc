#include "sim/simulation.h"

#include <utility>

#include "sim/descriptor.h"

namespace nephila::sim {
namespace {

// Each server numbers fewer connections than this many bits hold.
constexpr int kConnectionBits = 40;

}  // namespace

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
  for (size_t i = 0; i < options.more_ports.size(); ++i) {
    NEPHILA_TRY(const HttpServer::Port more,
                HttpServer::Reserve(options.more_ports[i]));
    NEPHILA_TRY(auto server, HttpServer::Start(simulation->site_, clock,
                                               simulation->log_.get(), more, 1,
                                               (i + 1) << kConnectionBits));
    simulation->more_.push_back(std::move(server));
  }
  NEPHILA_TRY(simulation->dns_,
              DnsServer::Start(simulation->site_, simulation->log_.get(),
                               options.dns_port));
  return simulation;
}

HttpCounts Simulation::counts() const {
  HttpCounts all = http_->counts();
  for (const auto& server : more_) {
    const HttpCounts counts = server->counts();
    all.connections += counts.connections;
    all.requests += counts.requests;
    all.robots += counts.robots;
    all.bytes += counts.bytes;
  }
  return all;
}

Status Simulation::Stop() {
  http_->Stop();
  for (const auto& server : more_) server->Stop();
  dns_->Stop();
  return FlushLog();
}

Status Simulation::FlushLog() {
  if (log_ == nullptr) return {};
  return log_->Flush();
}

}  // namespace nephila::sim
