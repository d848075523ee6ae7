#include "cli/serve_confinement.h"

#include <cstdlib>
#include <filesystem>

#include "base/log.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// Libraries loaded later, time zones, certificate authorities, name resolution, process metrics.
constexpr const char* system_files[] = {"/etc",
                                        "/usr",
                                        "/lib",
                                        "/lib32",
                                        "/lib64",
                                        "/bin",
                                        "/opt/etc",
                                        "/run/systemd/resolve",
                                        "/run/resolvconf",
                                        "/run/NetworkManager",
                                        "/proc",
                                        "/sys/devices/system/cpu",
                                        "/sys/fs/cgroup",
                                        "/dev"};

// Variables of libpq that name files outside the URL.
constexpr const char* libpq_variables[] = {"PGSSLCERT", "PGSSLKEY",   "PGSSLROOTCERT",
                                           "PGSSLCRL",  "PGPASSFILE", "PGSERVICEFILE"};

// Adds the folder of a file, both as named and resolved: the name may be a link whose target is replaced.
void add_folder(std::vector<std::string>& list, const std::string& file) {
  if (file.empty()) return;
  std::error_code ignored;
  const fs::path path = fs::absolute(file, ignored);
  list.push_back(path.parent_path().string());
  const fs::path real = fs::weakly_canonical(path, ignored);
  if (!real.empty()) list.push_back(real.parent_path().string());
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Adds files such as sslrootcert=/srv/ca.pem.
void add_files_of_url(std::vector<std::string>& list, std::string_view url) {
  const std::size_t query = url.find('?');
  std::string_view rest = query == std::string_view::npos ? std::string_view() : url.substr(query + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::string value = unescaped(pair.substr(std::min(pair.size(), pair.find('=') + 1)));
    if (value.starts_with('/')) add_folder(list, value);
  }
}

void add_store(ReachableFiles& files, const std::string& url) {
  constexpr std::string_view sqlite = "sqlite:";
  if (url.starts_with(sqlite)) {
    const std::string path = url.substr(sqlite.size(), url.find('?') - sqlite.size());
    add_folder(files.writable, path);
    return;
  }
  add_files_of_url(files.readable, url);
  for (const char* const name : libpq_variables) {
    if (const char* const path = std::getenv(name)) add_folder(files.readable, path);
  }
  if (const char* const home = std::getenv("HOME")) {
    files.readable.push_back(std::string(home) + "/.postgresql");
    files.readable.push_back(std::string(home) + "/.pgpass");
  }
}

}  // namespace

ReachableFiles files_of_server(const config::Configuration& configuration) {
  ReachableFiles files;
  files.readable.assign(std::begin(system_files), std::end(system_files));
  files.writable.emplace_back("/dev/null");
  add_store(files, configuration.text("store"));
  // The signing key is read later, with the options of the engine.
  for (const char* const name : {"tls.certificate", "tls.key", "ca_file", "audit.signing_key"}) {
    add_folder(files.readable, configuration.text(name));
  }
  if (const char* const authorities = std::getenv("SSL_CERT_FILE")) add_folder(files.readable, authorities);
  if (const std::string jwks = configuration.text("oidc.jwks"); jwks.find("://") == std::string::npos) {
    add_folder(files.readable, jwks);
  }
  if (const std::string exports = configuration.text("audit.export_folder"); !exports.empty()) {
    files.writable.push_back(exports);
  }
  for (const std::string& path : configuration.list("deploy")) {
    files.readable.push_back(path);
    add_folder(files.readable, path);
  }
  return files;
}

Result<void> confine_server(const config::Configuration& configuration) {
  if (!configuration.yes("confine")) {
    log_info("process.not_confined", {{"reason", configuration.at("confine").origin}});
    return {};
  }
  forbid_memory_dumps();
  CAIRN_TRY(const int version, confine_files(files_of_server(configuration)));
  if (version > 0) {
    log_info("process.confined", {{"landlock", version}});
  } else {
    log_warning("process.not_confined", {{"reason", "Landlock is not available here"}});
  }
  return {};
}

}  // namespace cairn::cli
