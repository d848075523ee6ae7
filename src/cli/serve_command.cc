#include "cli/serve_command.h"

#include <pthread.h>

#include <cctype>
#include <charconv>
#include <csignal>

#include "base/log.h"
#include "bench/disk_counts.h"
#include "cairn/engine.h"
#include "cli/configuration_flags.h"
#include "cli/listen_address.h"
#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/store_session.h"
#include "redis/connection.h"
#include "server/api.h"
#include "server/metrics_fanout.h"

namespace cairn::cli {
namespace {

using config::Configuration;

std::chrono::milliseconds milliseconds(const Configuration& from, std::string_view name) {
  return std::chrono::milliseconds(from.duration(name).ms_up());
}

Result<server::HttpSettings> http_settings(const Configuration& from) {
  server::HttpSettings http;
  const std::string listen = from.text("listen");
  const auto address = read_listen_address(listen);
  if (!address) {
    return Error{ErrorCode::invalid, from.at("listen").origin + ": listen takes HOST:PORT, not \"" + listen + "\""};
  }
  if (!address->host.empty()) http.host = address->host;
  http.port = address->port;
  http.threads = std::max(1, static_cast<int>(from.number("http.threads")));
  http.head_bytes_max = static_cast<std::size_t>(from.number("http.head_bytes_max"));
  http.body_bytes_max = static_cast<std::size_t>(from.number("http.body_bytes_max"));
  http.connections_max = static_cast<std::size_t>(from.number("http.connections_max"));
  http.connections_per_address_max = static_cast<std::size_t>(from.number("http.connections_per_address_max"));
  http.head_timeout = milliseconds(from, "http.head_timeout");
  http.body_timeout = milliseconds(from, "http.body_timeout");
  http.idle_timeout = milliseconds(from, "http.idle_timeout");
  http.write_timeout = milliseconds(from, "http.write_timeout");
  http.answer_timeout = milliseconds(from, "http.answer_timeout");
  if (from.is_set("tls.certificate") != from.is_set("tls.key")) {
    return Error{ErrorCode::invalid, "TLS needs both tls.certificate and tls.key"};
  }
  if (from.is_set("tls.certificate")) http.tls = server::TlsFiles{from.text("tls.certificate"), from.text("tls.key")};
  return http;
}

Result<server::AccessSettings> access_settings(const Configuration& from) {
  server::AccessSettings access;
  const std::string auth = from.text("auth");
  if (auth != "required" && auth != "none") {
    return Error{ErrorCode::invalid, from.at("auth").origin + ": auth takes required or none, not \"" + auth + "\""};
  }
  access.required = auth == "required";
  if (!from.is_set("oidc.issuer")) return access;
  server::TokenSettings tokens;
  tokens.rules.issuer = from.text("oidc.issuer");
  tokens.rules.audience = from.text("oidc.audience");
  tokens.rules.skew = from.duration("oidc.skew");
  tokens.jwks = from.text("oidc.jwks");
  tokens.roles_claim = from.text("oidc.roles_claim");
  tokens.person_claim = from.text("oidc.person_claim");
  tokens.prefixes_claim = from.text("oidc.prefixes_claim");
  if (tokens.rules.audience.empty() || tokens.jwks.empty()) {
    return Error{ErrorCode::invalid, "oidc.issuer needs oidc.audience and oidc.jwks too"};
  }
  if (tokens.jwks.find("://") != std::string::npos && !tokens.jwks.starts_with("https://")) {
    return Error{ErrorCode::invalid, from.at("oidc.jwks").origin + ": oidc.jwks is a file or an https URL"};
  }
  access.tokens = std::move(tokens);
  return access;
}

Result<std::vector<server::InboundHook>> hooks_of(const Configuration& from) {
  if (!from.is_set("hooks")) return std::vector<server::InboundHook>();
  const auto list = parse_json(from.text("hooks"));
  if (!list) return Error{ErrorCode::invalid, from.at("hooks").origin + ": hooks takes a list as JSON"};
  auto hooks = server::read_hooks(*list);
  if (!hooks) return Error{hooks.error().code, from.at("hooks").origin + ": " + hooks.error().message};
  return hooks;
}

std::optional<Duration> age(const Configuration& from, std::string_view name) {
  return from.is_set(name) ? std::optional(from.duration(name)) : std::nullopt;
}

// Everything but letters and digits as %XX.
std::string encoded(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += c;
    } else {
      (out += '%') += digits[byte / 16];
      out += digits[byte % 16];
    }
  }
  return out;
}

// Hints are the store's business: they travel in its URL.
Result<std::string> store_url(const Configuration& from) {
  const std::string url = from.text("store");
  if (!from.is_set("hints")) return url;
  if (!url.starts_with("postgres://") && !url.starts_with("postgresql://")) {
    return Error{ErrorCode::invalid,
                 from.at("hints").origin + ": hints are for nodes that share a store on PostgreSQL"};
  }
  CAIRN_TRY_VOID(redis::check_url(from.text("hints")));
  return url + (url.find('?') == std::string::npos ? "?" : "&") + "hints=" + encoded(from.text("hints"));
}

// `schema` of a store URL.
std::string schema_of(const std::string& url) {
  const std::size_t at = url.find("schema=");
  return at == std::string::npos ? "cairn" : url.substr(at + 7, url.find('&', at) - at - 7);
}

Result<EngineOptions> engine_options(const Configuration& from) {
  EngineOptions options;
  CAIRN_TRY(options.store, store_url(from));
  options.node = from.text("node");
  options.config = from.values();
  options.workers = static_cast<std::size_t>(std::max<std::int64_t>(1, from.number("workers")));
  options.lease = milliseconds(from, "lease");
  options.receiving.batch = static_cast<std::size_t>(std::max<std::int64_t>(1, from.number("receive.batch")));
  options.receiving.attempts = static_cast<int>(std::clamp<std::int64_t>(from.number("receive.attempts"), 1, 1000));
  options.receiving.dead_letters = from.yes("receive.dead_letters");
  options.egress = from.list("egress");
  options.ca_file = from.text("ca_file");
  options.secrets = from.secrets();
  options.events = from.events();
  options.keep = {age(from, "keep.completed"), age(from, "keep.failed"), age(from, "keep.cancelled"),
                  age(from, "keep.runs"),      age(from, "keep.outbox"), age(from, "keep.keys")};
  options.retention_every = milliseconds(from, "keep.every");
  options.limits.body_bytes_max = static_cast<std::size_t>(from.number("http.body_bytes_max"));
  return options;
}

// A server to which nobody could come in is a mistake that should show now.
Result<void> check_somebody_may_enter(Store& store, const server::AccessSettings& access, const std::string& url) {
  if (!access.required || access.tokens) return {};
  CAIRN_TRY(const auto keys, store.list_api_keys());
  for (const ApiKeyRow& key : keys) {
    if (!key.revoked_at && (!key.expires_at || *key.expires_at > store.now())) return {};
  }
  return Error{ErrorCode::not_allowed,
               "nobody could come in: there is no API key and no oidc.issuer. Make a key first:\n"
               "  cairn keys create --store " +
                   url + " --subject YOU --role admin\nor say --auth none to listen on this machine only"};
}

void configure_logging(const Configuration& from) {
  LogSettings log;
  log.format = from.text("log.format") == "text" ? LogFormat::text : LogFormat::json;
  const std::string level = from.text("log.level");
  log.level = level == "debug"     ? LogLevel::debug
              : level == "warning" ? LogLevel::warning
              : level == "error"   ? LogLevel::error
                                   : LogLevel::info;
  configure_log(log);
}

Result<void> deploy(Engine& engine, const std::vector<std::string>& paths, std::istream& in) {
  for (const std::string& path : paths) {
    CAIRN_TRY(const auto files, definition_files(path));
    for (const std::string& file : files) {
      CAIRN_TRY(const std::string text, read_input(file, in, Limits().definition_bytes_max));
      CAIRN_TRY(const std::string name, engine.deploy(text, file));
      log_info("definition.deployed", {{"definition", name}, {"file", file}});
    }
  }
  return {};
}

// SIGHUP reads the certificate again; the others end the wait.
int wait_for_end(const sigset_t& signals, server::Server& serving) {
  for (;;) {
    int received = 0;
    if (sigwait(&signals, &received) != 0 || received != SIGHUP) return received;
    if (const auto done = serving.reload_tls(); done) {
      log_info("tls.reloaded");
    } else {
      log_error("tls.not_reloaded", done.error());
    }
  }
}

}  // namespace

const CommandSpec& serve_spec() {
  static const CommandSpec spec{
      "serve",
      "--store URL [--listen HOST:PORT] [--config FILE] [--SETTING VALUE…]",
      "A server node",
      "Every flag has a key in the TOML file and a variable: --tls-key is CAIRN_TLS_KEY and `key` in [tls]. `cairn "
      "config show`\nsays where each value comes from. SIGTERM drains: nothing new is taken, what is under way is "
      "finished, leases are handed\nback, exit code 0. SIGHUP reads the certificate again.",
      configuration_flags(),
      {"cairn serve --store sqlite:/var/lib/cairn/cairn.db --listen 0.0.0.0:8400 --tls-certificate c.pem --tls-key "
       "k.pem",
       "cairn serve --config /etc/cairn/cairn.toml"}};
  return spec;
}

int run_serve(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(serve_spec(), args, arguments, out, err)) return *over;
  const auto refuse = [&err](const Error& error) { return fail("serve", error, err); };
  const auto configuration = read_configuration(arguments);
  if (!configuration) return refuse(configuration.error());
  if (!configuration->is_set("store")) {
    return wrong_call("serve", "say where everything is kept: --store sqlite:PATH or postgres://…", err);
  }
  server::ServerSettings settings;
  auto http = http_settings(*configuration);
  if (!http) return refuse(http.error());
  settings.http = std::move(*http);
  auto access = access_settings(*configuration);
  if (!access) return refuse(access.error());
  settings.access = std::move(*access);
  settings.cors_origins = configuration->list("cors.origins");
  settings.log_requests = configuration->yes("log.requests");
  auto hooks = hooks_of(*configuration);
  if (!hooks) return refuse(hooks.error());
  settings.hooks = std::move(*hooks);
  configure_logging(*configuration);

  // Blocked before any thread starts, so that only sigwait below sees them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  bench::count_disk_for_parent();
  const auto options = engine_options(*configuration);
  if (!options) return refuse(options.error());
  auto engine = Engine::open(*options);
  if (!engine) return refuse(engine.error());
  if (const auto fine = check_somebody_may_enter((*engine)->store(), settings.access, configuration->text("store"));
      !fine) {
    return refuse(fine.error());
  }
  if (const auto done = deploy(**engine, configuration->list("definitions"), in); !done) return refuse(done.error());
  if (configuration->is_set("otlp.endpoint")) {
    settings.spans = std::make_shared<server::SpanExporter>(server::OtlpSettings{
        configuration->text("otlp.endpoint"), configuration->list("otlp.headers"), (*engine)->coordinator().node()});
    server::trace_units((*engine)->coordinator(), settings.spans);
  }
  (*engine)->run();
  auto serving = server::Server::open((*engine)->coordinator(), settings);
  if (!serving) return refuse(serving.error());
  out << "cairn serves on " << (settings.http.tls ? "https://" : "http://") << url_host(settings.http.host) << ":"
      << (*serving)->port() << std::endl;

  std::optional<server::MetricsFanout> fanout;
  if (configuration->is_set("hints")) {
    fanout.emplace(configuration->text("hints"), schema_of(options->store), (*engine)->coordinator().node(),
                   [&serving] { return (*serving)->metrics(); });
  }

  const int received = wait_for_end(signals, **serving);
  fanout.reset();
  log_info("server.draining", {{"signal", received}});
  // Long polls end with nothing, so that workers ask another node; what they lease goes back with the engine.
  (*engine)->coordinator().lease_desk().stop();
  (*serving)->drain(milliseconds(*configuration, "drain"));
  (*engine)->coordinator().store().stop_waiting();  // requests that are still under way end with their answer
  serving->reset();
  (*engine)->stop();
  log_info("server.stopped");
  return exit_done;
}

}  // namespace cairn::cli
