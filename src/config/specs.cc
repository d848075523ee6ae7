#include "config/configuration.h"

namespace cairn::config {

const std::vector<Spec>& specs() {
  static const std::vector<Spec> list{
      {"store", Kind::text, "", "where everything is kept: sqlite:PATH or postgres://…"},
      {"hints", Kind::text, "", "redis://HOST:PORT: nodes on PostgreSQL wake each other sooner; nothing depends on it"},
      {"listen", Kind::text, "127.0.0.1:8400", "HOST:PORT"},
      {"node", Kind::text, "node", "this node's name, for people"},
      {"workers", Kind::number, "4", "threads that execute http and graphql calls"},
      {"lease", Kind::duration, "30s", "how long a run is leased to a worker of this node"},
      {"receive.batch", Kind::number, "1024", "messages or timers that are taken at a time"},
      {"receive.attempts", Kind::number, "1", "of a message or timer that the store refuses; then it is given up"},
      {"receive.dead_letters", Kind::yes_no, "yes", "keep what is given up for an operator; no: it is only logged"},
      {"definitions", Kind::list, "", "files and folders to deploy at start"},
      {"hooks", Kind::text, "", "webhooks that come in: [[hooks]] in the file, elsewhere the same list as JSON", true},
      {"egress", Kind::list, "", "where calls may go besides https to public addresses: 10.0.0.0/8, http://HOST:PORT"},
      {"ca_file", Kind::text, "", "PEM file: authorities that calls trust besides the system's"},
      {"keep.completed", Kind::duration, "", "how long completed instances are kept; empty: for ever"},
      {"keep.failed", Kind::duration, "", "failed ones"},
      {"keep.cancelled", Kind::duration, "", "cancelled ones"},
      {"keep.runs", Kind::duration, "", "finished runs without an instance"},
      {"keep.outbox", Kind::duration, "", "published events"},
      {"keep.keys", Kind::duration, "", "idempotency keys"},
      {"keep.every", Kind::duration, "1h", "how often what is older is removed"},
      {"drain", Kind::duration, "30s", "how long requests may take to finish when the server is stopped"},
      {"auth", Kind::text, "required", "required, or none: only on this machine"},
      {"tls.certificate", Kind::text, "", "PEM file, with the chain"},
      {"tls.key", Kind::text, "", "PEM file"},
      {"oidc.issuer", Kind::text, "", "who signs tokens: the claim iss"},
      {"oidc.audience", Kind::text, "", "whom tokens are meant for: the claim aud"},
      {"oidc.jwks", Kind::text, "", "the issuer's keys: a file or https://…"},
      {"oidc.roles_claim", Kind::text, "roles", "where roles stand, with dots: realm_access.roles"},
      {"oidc.person_claim", Kind::text, "sub", "where the person stands: task checks ask for it"},
      {"oidc.prefixes_claim", Kind::text, "cairn_prefixes", "where a worker's types of runs stand"},
      {"oidc.skew", Kind::duration, "60s", "how far clocks may differ"},
      {"http.threads", Kind::number, "2", "threads for connections"},
      {"http.head_bytes_max", Kind::number, "16384", "of one request's head"},
      {"http.body_bytes_max", Kind::number, "4194304", "of one request's body, chunked or not"},
      {"http.connections_max", Kind::number, "10000", "open at one time"},
      {"http.connections_per_address_max", Kind::number, "1024", "from one address; 0: no limit"},
      {"http.head_timeout", Kind::duration, "10s", "from a request's first byte to the end of its head"},
      {"http.body_timeout", Kind::duration, "60s", "for a request's body"},
      {"http.idle_timeout", Kind::duration, "75s", "between requests"},
      {"http.write_timeout", Kind::duration, "30s", "for an answer"},
      {"http.answer_timeout", Kind::duration, "120s", "how long an answer may take, long polls included"},
      {"otlp.endpoint", Kind::text, "", "where traces go, as OTLP over HTTP: http://collector:4318; empty: nowhere"},
      {"otlp.headers", Kind::list, "", "NAME=VALUE, sent with traces", true},
      {"cors.origins", Kind::list, "", "pages that may read answers: https://console.example"},
      {"log.format", Kind::text, "json", "json or text"},
      {"log.level", Kind::text, "info", "debug, info, warning or error"},
      {"log.requests", Kind::yes_no, "no", "a line for every request, not only for failures"},
  };
  return list;
}

}  // namespace cairn::config
