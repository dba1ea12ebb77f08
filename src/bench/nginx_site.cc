#include "bench/nginx_site.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unordered_set>
#include <utility>

#include "base/random.h"
#include "bench/child_process.h"
#include "net/descriptor.h"
#include "sim/web.h"

namespace nephila::bench {
namespace {

// Where a page's children are, as a tree: so each is reached by someone.
constexpr uint64_t kChildren = 5;
constexpr uint64_t kFolders = 100;
constexpr auto kStartWait = std::chrono::seconds(10);

std::string PathOf(uint64_t page) {
  if (page == 0) return "/";
  return fmt::format("/section-{}/page-{}.html", page % kFolders, page);
}

std::string FileOf(uint64_t page) {
  return page == 0 ? "/index.html" : PathOf(page);
}

void WriteText(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

// A page's links: its children in the tree, then pages anywhere.
std::string PageText(const sim::Web& web, uint64_t page,
                     const NginxSiteOptions& options) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html><head><title>Page {0}</title></head>\n<body>\n"
      "<h1>Page {0}</h1>\n",
      page);
  Random random(page + 1);
  const uint64_t text = options.page_bytes / (options.links + 1);
  for (uint64_t i = 0; i < options.links; ++i) {
    uint64_t to = page * kChildren + 1 + i;
    if (i >= kChildren || to >= options.pages) to = random.Below(options.pages);
    const std::string link =
        fmt::format("<a href=\"{}\">Page {}</a>\n", PathOf(to), to);
    html += link;
    if (text > link.size()) {
      web.AppendText(page * options.links + i, text - link.size(), &html);
    }
  }
  html += "</body></html>\n";
  return html;
}

// One that is free now; nginx cannot be asked to choose.
Result<uint16_t> FreePort() {
  const net::Descriptor socket_fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(socket_fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(socket_fd.get(), reinterpret_cast<sockaddr*>(&address),
                  &size) != 0) {
    return Unexpected(Error::FromErrno("127.0.0.1", errno));
  }
  return ntohs(address.sin_port);
}

bool Answers(uint16_t port) {
  const net::Descriptor socket_fd(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return connect(socket_fd.get(), reinterpret_cast<sockaddr*>(&address),
                 sizeof address) == 0;
}

}  // namespace

NginxSite::NginxSite(std::string folder, const NginxSiteOptions& options)
    : folder_(std::move(folder)), options_(options) {}

Result<std::unique_ptr<NginxSite>> NginxSite::Start(
    const std::string& folder, const NginxSiteOptions& options) {
  std::unique_ptr<NginxSite> site(new NginxSite(folder, options));
  NEPHILA_RETURN_IF_ERROR(site->WritePages());
  if (options.https) NEPHILA_RETURN_IF_ERROR(site->MakeCertificate());
  NEPHILA_RETURN_IF_ERROR(site->StartServer());
  return site;
}

NginxSite::~NginxSite() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Status NginxSite::WritePages() const {
  NEPHILA_TRY(const sim::Web web, sim::Web::Make(sim::Shape()));
  const std::string root = folder_ + "/www";
  for (uint64_t i = 0; i < kFolders; ++i) {
    std::error_code error;
    std::filesystem::create_directories(fmt::format("{}/section-{}", root, i),
                                        error);
    if (error)
      return Unexpected(Error{ErrorCode::kIo, root + ": " + error.message()});
  }
  for (uint64_t page = 0; page < options_.pages; ++page) {
    WriteText(root + FileOf(page), PageText(web, page, options_));
  }
  return {};
}

Status NginxSite::MakeCertificate() const {
  NEPHILA_TRY(
      const ChildUse made,
      RunChild({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                "-keyout", "site.key", "-out", "site.pem", "-subj",
                "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"},
               folder_, std::chrono::seconds(60)));
  if (made.exit_status == 0) return {};
  return Unexpected(Error{ErrorCode::kIo, "openssl: " + made.last_of_output});
}

Status NginxSite::StartServer() {
  NEPHILA_TRY(port_, FreePort());
  url_ = fmt::format("{}://127.0.0.1:{}/", options_.https ? "https" : "http",
                     port_);
  std::string text = fmt::format(
      "daemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/log;\n"
      "events {{ worker_connections 1024; }}\nhttp {{\n"
      "types {{ text/html html; text/plain txt; }}\n"
      "log_format asked '$status $request_uri';\n"
      "access_log {0}/asked asked buffer=64k flush=100ms;\n"
      "keepalive_requests 1000000;\nkeepalive_timeout 60s;\nsendfile on;\n"
      "tcp_nopush on;\nopen_file_cache max=10000;\nroot {0}/www;\n",
      folder_);
  for (const char* const kind :
       {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text += fmt::format("{0}_temp_path {1}/{0};\n", kind, folder_);
  }
  text += fmt::format("server {{\nlisten 127.0.0.1:{}{};\n", port_,
                      options_.https ? " ssl http2" : "");
  if (options_.https) {
    text += fmt::format(
        "ssl_certificate {0}/site.pem;\nssl_certificate_key {0}/site.key;\n"
        "ssl_protocols TLSv1.2 TLSv1.3;\n",
        folder_);
  }
  text += "}\n}\n";
  WriteText(folder_ + "/nginx.conf", text);
  pid_ = fork();
  if (pid_ < 0) return Unexpected(Error::FromErrno("fork", errno));
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string file = folder_ + "/nginx.conf";
    const int log =
        open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(log, STDERR_FILENO);
    execlp("nginx", "nginx", "-p", folder_.c_str(), "-c", file.c_str(),
           nullptr);
    _exit(127);
  }
  const auto until = std::chrono::steady_clock::now() + kStartWait;
  while (!Answers(port_)) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return Unexpected(
          Error{ErrorCode::kNotFound, "nginx did not start; is it installed?"});
    }
    if (std::chrono::steady_clock::now() > until) {
      return Unexpected(Error{ErrorCode::kIo, "nginx does not answer"});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

Result<NginxSite::Asked> NginxSite::TakeAsked() {
  // It writes what it keeps within a tenth of a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::ifstream log(folder_ + "/asked", std::ios::binary);
  log.seekg(static_cast<std::streamoff>(log_read_));
  Asked asked;
  std::unordered_set<std::string> pages;
  for (std::string line; std::getline(log, line);) {
    log_read_ += line.size() + 1;
    ++asked.requests;
    if (line.starts_with("200 ") && !line.ends_with("/robots.txt")) {
      pages.insert(line.substr(4));
    }
  }
  asked.pages = pages.size();
  return asked;
}

}  // namespace nephila::bench
