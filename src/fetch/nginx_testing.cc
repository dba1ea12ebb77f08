#include "fetch/nginx_testing.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "net/descriptor.h"

extern char** environ;

namespace nephila::fetch {
namespace {

// Between two looks whether it listens.
constexpr int kProbeMs = 5;

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Its output goes to a file of the folder. -1 if it cannot be started.
pid_t Spawn(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &files, nullptr,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? pid : -1;
}

bool Run(const std::vector<std::string>& command, const std::string& log) {
  const pid_t pid = Spawn(command, log);
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

constexpr std::string_view kAuthorityConfig = R"([ca]
default_ca = test
[test]
dir = .
database = ./index.txt
serial = ./serial
new_certs_dir = .
certificate = ./ca.pem
private_key = ./ca.key
default_md = sha256
policy = any
unique_subject = no
copy_extensions = copy
[any]
commonName = supplied
)";

}  // namespace

TestNginx::TestNginx() {
  // A test has its own process, and a process its own address of 127/8.
  const auto number = static_cast<uint32_t>(getpid()) % (200 * 250);
  address_ = net::IpAddress::V4(127, 77, static_cast<uint8_t>(number / 250 + 1),
                                static_cast<uint8_t>(number % 250 + 1));
  std::string pattern =
      std::filesystem::temp_directory_path() / "nephila-nginx-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return;
  folder_ = pattern;
  if (!MakeCertificates()) return;
  WriteFiles();
  pid_ = Spawn({"nginx", "-p", folder_, "-c", folder_ + "/nginx.conf"},
               folder_ + "/log");
  running_ = pid_ > 0 && WaitUntilReady();
}

TestNginx::~TestNginx() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string TestNginx::log() const { return ReadFile(folder_ + "/log"); }

bool TestNginx::MakeCertificates() {
  const std::string log = folder_ + "/log";
  const auto path = [this](std::string_view name) {
    return folder_ + "/" + std::string(name);
  };
  const std::string names =
      "subjectAltName=DNS:good.example,DNS:*.wild."
      "example,IP:" +
      address_.ToString();
  const std::string curve = "ec_paramgen_curve:prime256v1";
  const auto request = [&](const std::string& name, bool self_signed,
                           const std::string& subject) {
    std::vector<std::string> command = {
        "openssl",
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        curve,
        "-nodes",
        "-keyout",
        path(name + ".key"),
        "-out",
        path(name + (self_signed ? ".pem" : ".csr")),
        "-subj",
        subject};
    if (self_signed) {
      command.insert(command.end(), {"-x509", "-days", "30"});
    }
    if (name != "ca") command.insert(command.end(), {"-addext", names});
    return Run(command, log);
  };
  WriteFile(path("ca.conf"), kAuthorityConfig);
  WriteFile(path("index.txt"), "");
  WriteFile(path("serial"), "1000\n");
  // openssl's configuration has paths relative to where it runs.
  const auto sign = [&](const std::string& name, const std::string& from,
                        const std::string& until) {
    return Run({"env", "-C", folder_, "openssl", "ca", "-batch", "-notext",
                "-config", "ca.conf", "-in", name + ".csr", "-out",
                name + ".pem", "-startdate", from, "-enddate", until},
               log);
  };
  return request("ca", true, "/CN=Test CA") &&
         request("self", true, "/CN=good.example") &&
         request("good", false, "/CN=good.example") &&
         request("expired", false, "/CN=good.example") &&
         sign("good", "20200101000000Z", "20991231235959Z") &&
         sign("expired", "20200101000000Z", "20210101000000Z");
}

void TestNginx::WriteFiles() {
  const std::string www = folder_ + "/www";
  std::filesystem::create_directory(www);
  page_ = "<!doctype html><title>A page</title>\n";
  constexpr std::string_view kWords[] = {
      "silk ",    "thread ", "of ", "golden ",  "orb ",   "weaver ",
      "between ", "trees ",  "in ", "morning ", "light ", "web "};
  uint32_t word = 1;
  // 59 links, as the mean page of IRLbot's crawl has them.
  for (int i = 0; i < 59; ++i) {
    page_ += "<p>";
    for (int j = 0; j < 44; ++j) {
      word = word * 1664525 + 1013904223;
      page_ += kWords[(word >> 16) % std::size(kWords)];
    }
    page_ += "<a href=\"/" + std::to_string(word >> 8) + "\">more</a>\n";
  }
  uint32_t state = 1;
  big_.reserve(size_t{1} << 20);
  while (big_.size() < size_t{1} << 20) {
    state = state * 1664525 + 1013904223;
    big_.push_back(static_cast<char>(state >> 24));
  }
  WriteFile(www + "/page.html", page_);
  WriteFile(www + "/big.bin", big_);
  WriteFile(www + "/empty", "");
  WriteFile(folder_ + "/nginx.conf", Configuration());
}

std::string TestNginx::Configuration() const {
  std::ostringstream text;
  text << "daemon off;\nmaster_process off;\npid " << folder_ << "/pid;\n"
       << "error_log " << folder_ << "/log;\n"
       << "events { worker_connections 12000; }\nhttp {\n"
       << "types { text/html html; }\ndefault_type application/octet-stream;\n"
       << "access_log off;\nkeepalive_timeout 60s;\nroot " << folder_
       << "/www;\ngzip on;\ngzip_types text/html;\n";
  for (const char* const kind :
       {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    text << kind << "_temp_path " << folder_ << "/" << kind << ";\n";
  }
  const auto server = [&](uint16_t port, std::string_view listen,
                          std::string_view certificate,
                          std::string_view protocols) {
    text << "server {\nlisten " << address_.ToString() << ":" << port << listen
         << ";\nserver_name _;\n";
    if (!certificate.empty()) {
      text << "ssl_certificate " << folder_ << "/" << certificate
           << ".pem;\nssl_certificate_key " << folder_ << "/" << certificate
           << ".key;\nssl_protocols " << protocols << ";\n";
    }
    if (port == kTls10) text << "ssl_ciphers ALL:@SECLEVEL=0;\n";
    text << "location = /moved { return 301 /page.html; }\n"
         << "location = /slow { limit_rate 256; alias " << folder_
         << "/www/page.html; }\n}\n";
  };
  server(kPlain, "", "", "");
  server(kHttp2, " ssl http2", "good", "TLSv1.2 TLSv1.3");
  server(kTls12, " ssl", "good", "TLSv1.2");
  server(kTls13, " ssl", "good", "TLSv1.3");
  server(kExpired, " ssl", "expired", "TLSv1.2 TLSv1.3");
  server(kSelfSigned, " ssl", "self", "TLSv1.2 TLSv1.3");
  server(kTls10, " ssl", "good", "TLSv1");
  text << "}\n";
  return std::move(text).str();
}

bool TestNginx::WaitUntilReady() const {
  sockaddr_storage name{};
  const socklen_t size = address_.ToSockaddr(kPlain, &name);
  const net::Descriptor process(
      static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  while (true) {
    const net::Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(probe.get(), reinterpret_cast<sockaddr*>(&name), size) == 0) {
      return true;
    }
    // Gone already: it says why in its log.
    pollfd gone{process.get(), POLLIN, 0};
    if (poll(&gone, 1, kProbeMs) != 0) return false;
  }
}

}  // namespace nephila::fetch
