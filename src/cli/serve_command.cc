#include "cli/commands.h"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <csignal>
#include <sstream>

#include "api/access/api_key.h"
#include "api/api.h"
#include "api/telemetry/metrics_fanout.h"
#include "base/log.h"
#include "cairn/engine.h"
#include "cli/configuration_flags.h"
#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/listen_address.h"
#include "cli/serve_confinement.h"
#include "cli/stop_watchdog.h"
#include "cli/store_session.h"
#include "redis/connection.h"

namespace cairn::cli {
namespace {

using config::Configuration;

std::chrono::milliseconds milliseconds(const Configuration& from, std::string_view name) {
  return std::chrono::milliseconds(from.duration(name).ms_up());
}

Result<http::HttpSettings> http_settings(const Configuration& from) {
  http::HttpSettings http;
  const std::string listen = from.text("listen");
  const auto address = read_listen_address(listen);
  if (!address) {
    return Error{ErrorCode::invalid, from.at("listen").origin + ": listen takes HOST:PORT, not \"" + listen + "\""};
  }
  if (!address->host.empty()) http.host = address->host;
  http.port = address->port;
  http.threads = std::max(1, static_cast<int>(from.number("http.threads")));
  http.head_bytes_max = static_cast<std::size_t>(from.number("http.head_bytes_max"));
  http.header_bytes_max = static_cast<std::size_t>(from.number("http.header_bytes_max"));
  http.headers_max = static_cast<std::size_t>(from.number("http.headers_max"));
  http.body_bytes_max = static_cast<std::size_t>(from.number("http.body_bytes_max"));
  http.unknown_body_bytes_max = static_cast<std::size_t>(from.number("http.unknown_body_bytes_max"));
  http.bodies_bytes_max = static_cast<std::size_t>(from.number("http.bodies_bytes_max"));
  if (http.body_bytes_max > Limits().body_bytes_max) {
    return Error{ErrorCode::invalid, from.at("http.body_bytes_max").origin + ": http.body_bytes_max is at most " +
                                         std::to_string(Limits().body_bytes_max) +
                                         ", the largest JSON text that a store reads back"};
  }
  if (http.bodies_bytes_max < http.body_bytes_max) {
    return Error{ErrorCode::invalid,
                 from.at("http.bodies_bytes_max").origin +
                     ": http.bodies_bytes_max is at least http.body_bytes_max: one body must find room"};
  }
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
  if (from.is_set("tls.certificate")) http.tls = http::TlsFiles{from.text("tls.certificate"), from.text("tls.key")};
  if (!http.tls && !api::is_this_machine(http.host) && from.text("auth") == "required" &&
      !from.yes("allow_plain_http")) {
    return Error{ErrorCode::not_allowed,
                 "without TLS, the credentials that callers send can be read on the network to " + http.host +
                     ": give tls.certificate and tls.key, listen on 127.0.0.1, or say allow_plain_http = true when a "
                     "proxy in front has TLS"};
  }
  return http;
}

Result<api::AccessSettings> access_settings(const Configuration& from) {
  api::AccessSettings access;
  const std::string auth = from.text("auth");
  if (auth != "required" && auth != "none") {
    return Error{ErrorCode::invalid, from.at("auth").origin + ": auth takes required or none, not \"" + auth + "\""};
  }
  access.required = auth == "required";
  access.session_lifetime = from.duration("session.lifetime");
  if (!from.is_set("oidc.issuer")) return access;
  api::TokenSettings tokens;
  tokens.rules.issuer = from.text("oidc.issuer");
  tokens.rules.audience = from.text("oidc.audience");
  tokens.rules.skew = from.duration("oidc.skew");
  tokens.jwks = from.text("oidc.jwks");
  tokens.ca_file = from.text("ca_file");
  tokens.roles_claim = from.text("oidc.roles_claim");
  tokens.person_claim = from.text("oidc.person_claim");
  tokens.prefixes_claim = from.text("oidc.prefixes_claim");
  tokens.pace.refresh = std::max(std::chrono::milliseconds(1'000), milliseconds(from, "oidc.refresh"));
  if (tokens.rules.audience.empty() || tokens.jwks.empty()) {
    return Error{ErrorCode::invalid, "oidc.issuer also needs oidc.audience and oidc.jwks"};
  }
  if (tokens.jwks.find("://") != std::string::npos && !tokens.jwks.starts_with("https://")) {
    return Error{ErrorCode::invalid, from.at("oidc.jwks").origin + ": oidc.jwks is a file or an https URL"};
  }
  access.tokens = std::move(tokens);
  return access;
}

Result<std::vector<api::InboundHook>> hooks_of(const Configuration& from) {
  if (!from.is_set("hooks")) return std::vector<api::InboundHook>();
  const auto list = parse_json(from.text("hooks"));
  if (!list) return Error{ErrorCode::invalid, from.at("hooks").origin + ": hooks must be a JSON list"};
  auto hooks = api::read_hooks(*list);
  if (!hooks) return Error{hooks.error().code, from.at("hooks").origin + ": " + hooks.error().message};
  return hooks;
}

Result<std::string> base_path_of(const Configuration& from) {
  const std::string path = from.text("base_path");
  const bool plain = path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~/") ==
                     std::string::npos;
  const bool fits = path.empty() || (path.starts_with('/') && !path.ends_with('/') && plain &&
                                     path.find("//") == std::string::npos && path.find("/.") == std::string::npos);
  // Below these, the server would answer with the console instead.
  constexpr std::string_view own[] = {"v1",      "assets",  "readyz",       "livez",
                                      "healthz", "metrics", "openapi.json", "problems"};
  const std::string first = path.empty() ? "" : path.substr(1, path.find('/', 1) - 1);
  if (fits && std::find(std::begin(own), std::end(own), first) == std::end(own)) return path;
  return Error{ErrorCode::invalid,
               from.at("base_path").origin + ": base_path takes a path such as /cairn, not \"" + path + "\""};
}

// An origin that no browser sends would allow nothing.
Result<std::vector<std::string>> cors_origins(const Configuration& from) {
  std::vector<std::string> origins = from.list("cors.origins");
  for (const std::string& origin : origins) {
    const std::size_t scheme = origin.find("://");
    const bool fits = (origin.starts_with("https://") || origin.starts_with("http://")) && origin.size() > scheme + 3 &&
                      origin.find_first_of("/*?#@ ", scheme + 3) == std::string::npos;
    if (!fits) {
      return Error{ErrorCode::invalid, from.at("cors.origins").origin +
                                           ": cors.origins takes origins such as https://console.example, not \"" +
                                           origin + "\""};
    }
  }
  return origins;
}

api::CallerLimits caller_limits(const Configuration& from) {
  api::CallerLimits limits;
  for (const api::Role role : api::all_roles) {
    limits.rate[static_cast<std::size_t>(role)] = from.number(api::rate_setting(role));
  }
  limits.expensive_max = from.number("limits.expensive_max");
  limits.long_polls_max = from.number("limits.long_polls_max");
  limits.streams_max = from.number("limits.streams_max");
  limits.answer.page_bytes_max = static_cast<std::size_t>(from.number("limits.page_bytes_max"));
  limits.answer.png_pixels_max = from.number("limits.png_pixels_max");
  return limits;
}

Result<api::AuditSettings> audit_settings(const Configuration& from) {
  api::AuditSettings audit;
  audit.node = from.text("node");
  audit.checkpoint_every = std::max(std::chrono::milliseconds(1'000), milliseconds(from, "audit.checkpoint_every"));
  if (!from.is_set("audit.signing_key")) return audit;
  constexpr std::size_t key_bytes_max = 64u << 10;
  std::istringstream none;
  const auto pem = read_input(from.text("audit.signing_key"), none, key_bytes_max);
  if (!pem) return with_context(pem.error(), from.at("audit.signing_key").origin);
  auto key = Ed25519PrivateKey::from_pem(*pem);
  if (!key) return with_context(key.error(), from.at("audit.signing_key").origin);
  audit.signing_key = std::move(*key);
  return audit;
}

std::optional<Duration> age(const Configuration& from, std::string_view name) {
  return from.is_set(name) ? std::optional(from.duration(name)) : std::nullopt;
}

// Encodes everything except letters and digits as %XX.
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

// The store handles hints, so their settings are part of its URL.
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

Limits engine_limits(const Configuration& from) {
  struct Sized {
    const char* setting;
    std::size_t Limits::*member;
  };
  constexpr Sized sized[] = {
      {"http.body_bytes_max", &Limits::body_bytes_max},
      {"limits.state_bytes_max", &Limits::state_bytes_max},
      {"limits.piece_bytes_min", &Limits::piece_bytes_min},
      {"limits.strands_max", &Limits::strands_max},
      {"limits.signals_per_instance_max", &Limits::buffered_signals_max},
      {"limits.name_length_max", &Limits::name_length_max},
      {"limits.definition_bytes_max", &Limits::definition_bytes_max},
      {"limits.definition_nodes_max", &Limits::definition_nodes_max},
      {"limits.comment_bytes_max", &Limits::comment_bytes_max},
      {"limits.reference_bytes_max", &Limits::reference_bytes_max},
      {"limits.signals_per_key_max", &Limits::signals_per_key_max},
      {"limits.signals_total_max", &Limits::signals_total_max},
      {"limits.commits_waiting_max", &Limits::commits_waiting_max},
      {"limits.runs_waiting_max", &Limits::runs_waiting_max},
      {"limits.reads_waiting_max", &Limits::reads_waiting_max},
      {"limits.writes_waiting_max", &Limits::writes_waiting_max},
      {"limits.instance_waiting_max", &Limits::instance_waiting_max},
      {"limits.search_length_max", &Limits::search_length_max},
      {"limits.lease_waiters_max", &Limits::lease_waiters_max},
      {"limits.event_batch_max", &Limits::event_batch_max},
      {"limits.bulk_jobs_max", &Limits::bulk_jobs_max},
  };
  Limits limits;
  for (const Sized& one : sized) limits.*one.member = static_cast<std::size_t>(from.number(one.setting));
  limits.json_depth_max = static_cast<int>(from.number("limits.json_depth_max"));
  limits.steps_per_slice_max = from.number("limits.steps_per_slice_max");
  limits.expression_steps_max = static_cast<std::uint64_t>(from.number("limits.expression_steps_max"));
  limits.expression_bytes_max = static_cast<std::uint64_t>(from.number("limits.expression_bytes_max"));
  return limits;
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
  options.secret_hosts = from.secret_hosts();
  options.events = from.events();
  options.keep = {age(from, "keep.completed"), age(from, "keep.failed"), age(from, "keep.cancelled"),
                  age(from, "keep.runs"),      age(from, "keep.outbox"), age(from, "keep.keys")};
  options.retention_every = milliseconds(from, "keep.every");
  options.strict_definitions = from.text("definitions") == "strict";
  options.limits = engine_limits(from);
  return options;
}

// Only a warning, because containers mount secrets with these permissions.
void warn_of_exposed_files(const Configuration& from) {
  std::vector<std::string> files = from.exposed_files();
  for (const char* const key : {"tls.key", "audit.signing_key"}) {
    if (from.is_set(key) && config::is_world_readable(from.text(key))) files.push_back(from.text(key));
  }
  for (const std::string& file : files) {
    log_warning("secret.exposed", {{"file", file}, {"reason", "every user of this machine may read it; chmod 600"}});
  }
}

// A server that no caller could use is a mistake; report it at the start.
Result<void> check_somebody_may_enter(AccessStore& store, const api::AccessSettings& access, const std::string& url) {
  if (!access.required || access.tokens) return {};
  CAIRN_TRY(const auto keys, store.list_api_keys());
  for (const ApiKeyRow& key : keys) {
    if (!api::is_session(key) && !key.revoked_at && (!key.expires_at || *key.expires_at > store.now())) return {};
  }
  return Error{ErrorCode::not_allowed,
               "no caller could authenticate: there is no API key and no oidc.issuer. Create a key first:\n"
               "  cairn keys create --store " +
                   url + " --subject YOU --role admin\nor use --auth none to listen on this machine only"};
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

// In warn mode, a file that cannot be deployed is logged and left out.
Result<void> deploy(Engine& engine, const std::vector<std::string>& paths, const EngineOptions& options,
                    std::istream& in) {
  const auto deploy_file = [&](const std::string& file) -> Result<std::string> {
    CAIRN_TRY(const std::string text, read_input(file, in, options.limits.definition_bytes_max));
    return engine.deploy(text, file);
  };
  for (const std::string& path : paths) {
    CAIRN_TRY(const auto files, definition_files(path));
    for (const std::string& file : files) {
      const auto name = deploy_file(file);
      if (name) {
        log_info("definition.deployed", {{"definition", *name}, {"file", file}});
      } else if (options.strict_definitions) {
        return name.error();
      } else {
        log_error("definition.not_deployed", name.error(), {{"file", file}});
      }
    }
  }
  return {};
}

std::chrono::milliseconds time_left_until(std::chrono::steady_clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  return std::clamp(left, std::chrono::milliseconds(0), Engine::stop_grace);
}

// SIGHUP reads the certificate again; the other signals end the wait.
int wait_for_end(const sigset_t& signals, api::Server& serving, bool has_certificate) {
  for (;;) {
    int received = 0;
    if (sigwait(&signals, &received) != 0 || received != SIGHUP) return received;
    if (!has_certificate) {
      log_info("signal.ignored", {{"signal", received}, {"reason", "no certificate is configured"}});
    } else if (const auto done = serving.reload_tls(); done) {
      log_info("tls.reloaded");
    } else {
      log_error("tls.not_reloaded", done.error());
    }
  }
}

// The server still answers, and load balancers that check readiness stop sending requests. A second signal ends the
// wait.
void wait_before_drain(const sigset_t& signals, std::chrono::milliseconds delay) {
  const auto until = std::chrono::steady_clock::now() + delay;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const timespec wait{static_cast<time_t>(left.count() / 1'000'000'000),
                        static_cast<long>(left.count() % 1'000'000'000)};
    const int received = sigtimedwait(&signals, nullptr, &wait);
    if (received == SIGINT || received == SIGTERM) return;
  }
}

}  // namespace

const CommandSpec& serve_spec() {
  static const CommandSpec spec{
      "serve",
      "--store URL [--listen HOST:PORT] [--config FILE] [--SETTING VALUE…]",
      "Run a server node",
      "Every flag has a key in the TOML file and a variable: --tls-key is CAIRN_TLS_KEY and `key` in [tls]. `cairn\n"
      "config show` tells where each value comes from. On SIGTERM the server drains: /readyz returns 503 for\n"
      "drain_delay; then the server accepts no new requests, finishes those in progress, releases its leases and\n"
      "exits with code 0. On SIGHUP it reads the certificate again.",
      configuration_flags(),
      {"cairn serve --store sqlite:/var/lib/cairn/cairn.db --listen 0.0.0.0:8400 --tls-certificate c.pem --tls-key "
       "k.pem",
       "cairn serve --config /etc/cairn/cairn.toml"}};
  return spec;
}

int run_serve(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  StopWatchdog watchdog;  // first: it covers every destructor that may block
  Arguments arguments;
  if (const auto over = read_arguments(serve_spec(), args, arguments, out, err)) return *over;
  const auto refuse = [&err](const Error& error) { return fail("serve", error, err); };
  const auto configuration = read_configuration(arguments);
  if (!configuration) return refuse(configuration.error());
  if (!configuration->is_set("store")) {
    return wrong_call("serve", "no store is given; use --store sqlite:PATH or postgres://…", err);
  }
  api::ServerSettings settings;
  auto http = http_settings(*configuration);
  if (!http) return refuse(http.error());
  settings.http = std::move(*http);
  auto access = access_settings(*configuration);
  if (!access) return refuse(access.error());
  settings.access = std::move(*access);
  auto origins = cors_origins(*configuration);
  if (!origins) return refuse(origins.error());
  settings.cors_origins = std::move(*origins);
  settings.log_requests = configuration->yes("log.requests");
  auto hooks = hooks_of(*configuration);
  if (!hooks) return refuse(hooks.error());
  settings.hooks = std::move(*hooks);
  auto base_path = base_path_of(*configuration);
  if (!base_path) return refuse(base_path.error());
  settings.base_path = std::move(*base_path);
  settings.limits = caller_limits(*configuration);
  settings.requests_waiting_max = static_cast<std::size_t>(configuration->number("limits.requests_waiting_max"));
  settings.expensive_threads =
      static_cast<std::size_t>(std::clamp<std::int64_t>(configuration->number("limits.expensive_threads"), 1, 64));
  auto audit = audit_settings(*configuration);
  if (!audit) return refuse(audit.error());
  settings.audit = std::move(*audit);
  configure_logging(*configuration);
  for (const std::string& warning : configuration->warnings()) {
    log_warning("config.unknown_variable", {{"message", warning}});
  }
  warn_of_exposed_files(*configuration);

  // Blocked before any thread starts, so that only sigwait below receives them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  // Only the server's own user may read what it writes.
  ::umask(0077);
  if (const auto confined = confine_server(*configuration); !confined) return refuse(confined.error());

  const auto options = engine_options(*configuration);
  if (!options) return refuse(options.error());
  auto engine = Engine::open(*options);
  if (!engine) return refuse(engine.error());
  if (const auto fine = check_somebody_may_enter((*engine)->store(), settings.access, configuration->text("store"));
      !fine) {
    return refuse(fine.error());
  }
  if (const auto done = deploy(**engine, configuration->list("deploy"), *options, in); !done) {
    return refuse(done.error());
  }
  if (configuration->is_set("otlp.endpoint")) {
    settings.spans = std::make_shared<api::SpanExporter>(api::OtlpSettings{
        configuration->text("otlp.endpoint"), configuration->list("otlp.headers"), (*engine)->core().node()});
    api::trace_units((*engine)->core(), settings.spans);
  }
  (*engine)->run();
  auto serving = api::Server::open((*engine)->core(), settings);
  if (!serving) return refuse(serving.error());
  out << "cairn serves on " << (settings.http.tls ? "https://" : "http://") << url_host(settings.http.host) << ":"
      << (*serving)->port() << std::endl;

  std::optional<api::MetricsFanout> fanout;
  if (configuration->is_set("hints")) {
    fanout.emplace(configuration->text("hints"), schema_of(options->store), (*engine)->core().node(),
                   [&serving] { return (*serving)->metrics(); });
  }

  const int received = wait_for_end(signals, **serving, settings.http.tls.has_value());
  const std::chrono::milliseconds drain = milliseconds(*configuration, "drain");
  const auto delay = milliseconds(*configuration, "drain_delay");
  const auto drained_by = std::chrono::steady_clock::now() + delay + drain;
  watchdog.arm(delay + drain + StopWatchdog::margin);
  log_info("server.draining", {{"signal", received}});
  (*serving)->announce_drain();
  wait_before_drain(signals, delay);
  // Whatever waits for a database without an answer ends in time for the rest of the stop. First of all, because the
  // threads that are joined next may wait so.
  (*engine)->core().store().stop_waiting(std::max(drain - Engine::stop_grace, drain / 2));
  fanout.reset();
  // Long polls end without runs, so that workers ask another node. Runs that they lease are released by the engine.
  (*engine)->core().leasing().waiters().stop();
  // Connections being established are still accepted: one network round trip.
  constexpr std::chrono::milliseconds handshakes{200};
  (*serving)->drain(time_left_until(drained_by), std::min(delay, handshakes));
  serving->reset();
  // Calls in progress get the remaining time.
  (*engine)->stop(time_left_until(drained_by));
  log_info("server.stopped");
  return exit_done;
}

}  // namespace cairn::cli
