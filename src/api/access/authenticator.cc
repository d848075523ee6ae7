#include "api/access/authenticator.h"

#include "api/access/api_key.h"
#include "api/access/session.h"
#include "base/log.h"
#include "base/sha256.h"

namespace cairn::api {
namespace {

constexpr std::size_t known_max = 10'000;
// Roles that did not change are written again after this time, because another node may have written others.
constexpr std::chrono::minutes roles_kept{5};
// Two tokens of one account with different roles must not cause a write with every request.
constexpr std::chrono::seconds roles_pause{1};

Error unknown() { return {ErrorCode::not_allowed, "the request has no valid API key or token"}; }

// The log has the reason; the caller gets the same answer for each. A warning, because the log limits the number of
// these lines: any caller can cause them.
Error refuse_token(const std::string& why) {
  log_warning("auth.token_refused", {{"message", why}});
  return unknown();
}

// Reads a dotted path: realm_access.roles.
const Json* claim_at(const Json& claims, std::string_view path) {
  const Json* at = &claims;
  while (at != nullptr && !path.empty()) {
    if (!at->is_object()) return nullptr;
    const std::size_t dot = path.find('.');
    at = at->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

std::vector<std::string> texts_of_claim(const Json* claim) {
  std::vector<std::string> out;
  if (claim == nullptr) return out;
  if (claim->is_string()) out.emplace_back(claim->as_string());
  if (claim->is_array()) {
    for (const Json& item : claim->items()) {
      if (item.is_string()) out.emplace_back(item.as_string());
    }
  }
  return out;
}

Identity everybody(const Request& request) {
  Identity identity;
  const std::string_view user = request.header("x-cairn-user");
  if (!user.empty()) identity.person = identity.account = std::string(user);
  identity.roles = {Role::admin};
  return identity;
}

// Rows of sessions are used again, so that their number stays bounded: the row of a session that has ended, a new one,
// or the one that ends first.
std::string free_session_id(const std::vector<ApiKeyRow>& rows, const std::string& account, Timestamp now) {
  constexpr std::size_t owner_characters = 16;
  const std::string owner = "session-" + sha256_hex(account).substr(0, owner_characters) + "-";
  const ApiKeyRow* first = nullptr;
  std::size_t count = 0;
  for (const ApiKeyRow& row : rows) {
    if (!row.id.starts_with(owner)) continue;
    ++count;
    if (row.revoked_at || row.expires_at <= now) return row.id;
    if (first == nullptr || row.expires_at < first->expires_at) first = &row;
  }
  return count < sessions_max ? owner + std::to_string(count) : first->id;
}

}  // namespace

Authenticator::Authenticator(AccessStore& store, AccessSettings settings, FetchText fetch)
    : store_(store), settings_(std::move(settings)) {
  if (!settings_.tokens) return;
  const TokenSettings& tokens = *settings_.tokens;
  keys_ = std::make_unique<JwksSource>(tokens.jwks, fetch ? std::move(fetch) : fetch_over_https(tokens.ca_file),
                                       tokens.pace);
}

std::string_view Authenticator::given(const Request& request) {
  std::string_view given;
  int count = 0;
  for (const auto& [name, value] : request.headers) {
    if (name != "authorization") continue;
    given = value;
    ++count;
  }
  constexpr std::string_view scheme = "bearer ";
  if (count != 1 || given.size() <= scheme.size()) return {};
  for (std::size_t i = 0; i < scheme.size(); ++i) {
    const char c = given[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != scheme[i]) return {};
  }
  return given.substr(scheme.size());
}

Result<Identity> Authenticator::identify(const Request& request) {
  if (!settings_.required) return everybody(request);
  const std::string_view credential = given(request);
  if (credential.empty()) {
    const std::string session = session_token(request);
    return session.empty() ? unknown() : by_session_hash(api_key_hash(session));
  }
  if (is_ticket(credential)) return by_ticket(credential);
  return is_api_key(credential) ? by_key_hash(api_key_hash(credential)) : by_token(credential);
}

Result<Identity> Authenticator::by_ticket(std::string_view text) {
  if (!settings_.tickets) return unknown();
  const auto ticket = settings_.tickets->read_embed(text, store_.now());
  if (!ticket) return unknown();
  Identity identity;
  identity.account = ticket->account + " (embedded)";
  identity.person = ticket->person;
  for (const std::string& name : ticket->roles) {
    if (const auto role = role_from(name)) identity.roles.push_back(*role);
  }
  identity.task_roles = ticket->task_roles;
  identity.prefixes.emplace();
  identity.paths = ticket->paths;
  return identity;
}

bool Authenticator::is_at_hand(const Request& request) {
  if (!settings_.required) return true;
  const std::string_view credential = given(request);
  if (is_api_key(credential)) return is_row_at_hand(api_key_hash(credential));
  const std::string session = session_token(request);
  if (session.empty()) return false;
  const std::string hash = api_key_hash(session);
  if (!is_row_at_hand(hash)) return false;
  const auto row = find_row(hash);
  if (!row || !*row || !is_session(**row)) return false;
  // For a session that began with a token, the issuer's keys are needed, which may be in a file.
  const std::string key = key_hash_of(**row);
  return !key.empty() && is_row_at_hand(key);
}

bool Authenticator::is_row_at_hand(const std::string& hash) {
  const std::scoped_lock lock(mutex_);
  const auto found = known_.find(hash);
  return found != known_.end() && found->second.until > std::chrono::steady_clock::now();
}

std::function<bool()> Authenticator::still_accepted(const Request& request) {
  if (!settings_.required) return {};
  const std::string_view credential = given(request);
  const auto is_accepted = [](const Result<Identity>& identity) {
    return identity || identity.error().code != ErrorCode::not_allowed;
  };
  if (is_api_key(credential)) {
    return [this, is_accepted, hash = api_key_hash(credential)] { return is_accepted(by_key_hash(hash)); };
  }
  if (const std::string session = session_token(request); !session.empty()) {
    return [this, is_accepted, hash = api_key_hash(session)] { return is_accepted(by_session_hash(hash)); };
  }
  if (is_ticket(credential)) {
    return [this, is_accepted, text = std::string(credential)] { return is_accepted(by_ticket(text)); };
  }
  const Result<UnverifiedToken> token = parse_token(credential);
  const auto keys = keys_ ? keys_->current() : nullptr;
  const KeySet::Key* const key = token && keys ? keys->find(token->key_id, token->algorithm) : nullptr;
  if (key == nullptr) return [] { return false; };
  return [this, id = token->key_id, algorithm = token->algorithm, claims = token->claims,
          print = KeySet::fingerprint(*key)] {
    const auto now = keys_->current();
    const KeySet::Key* const current = now ? now->find(id, algorithm) : nullptr;
    return current != nullptr && KeySet::fingerprint(*current) == print &&
           check_claims(claims, settings_.tokens->rules, store_.now()).has_value();
  };
}

Result<std::optional<ApiKeyRow>> Authenticator::find_row(const std::string& hash) {
  const auto now = std::chrono::steady_clock::now();
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known_.find(hash);
    if (found != known_.end() && found->second.until > now) return found->second.row;
  }
  CAIRN_TRY(std::optional<ApiKeyRow> row, store_.find_api_key(hash));
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= known_max) known_.clear();
  known_[hash] = {row, now + key_kept};
  return row;
}

void Authenticator::forget(const std::string& hash) {
  const std::scoped_lock lock(mutex_);
  known_.erase(hash);
}

Result<Identity> Authenticator::by_key_hash(const std::string& hash) {
  CAIRN_TRY(const std::optional<ApiKeyRow> row, find_row(hash));
  if (!row) return unknown();
  auto identity = identity_of(*row, store_.now());
  if (!identity) return unknown();
  identity->keys_only = !settings_.tokens;
  return std::move(*identity);
}

Result<void> Authenticator::check_token_key(const TokenKey& key) {
  if (!keys_) return unknown();  // this server accepts no tokens any more
  CAIRN_TRY(const auto keys, keys_->keys_for(key.id, key.algorithm));
  const KeySet::Key* const current = keys->find(key.id, key.algorithm);
  if (current != nullptr && KeySet::fingerprint(*current) == key.fingerprint) return {};
  keys_->fetch_soon();  // another node may have read newer keys
  return unknown();
}

Result<Identity> Authenticator::by_session_hash(const std::string& hash) {
  CAIRN_TRY(const std::optional<ApiKeyRow> row, find_row(hash));
  if (!row || !is_session(*row) || row->revoked_at || !row->expires_at || *row->expires_at <= store_.now()) {
    return unknown();
  }
  const std::string key = key_hash_of(*row);
  if (key.empty()) CAIRN_TRY_VOID(check_token_key(token_key_of(*row)));
  CAIRN_TRY(Identity identity, key.empty() ? Result<Identity>(identity_of_session(*row)) : by_key_hash(key));
  identity.session = row->id;
  return identity;
}

Result<std::string> Authenticator::start_session(const Request& request, const Identity& identity) {
  const std::string_view credential = given(request);
  if (credential.empty()) return Error{ErrorCode::invalid, "send your API key or token as Authorization: Bearer …"};
  if (is_api_key(credential)) {
    return put_session(session_of_key(identity, api_key_hash(credential)), identity.account);
  }
  CAIRN_TRY(const TokenKey key, key_of_token(credential));
  ApiKeyRow row = session_of_token(identity, key);
  // The session does not outlive the token.
  const auto parsed = parse_token(credential);
  const Json* const expires = parsed ? parsed->claims.find("exp") : nullptr;
  constexpr double seconds_max = 1e11;
  if (expires != nullptr && expires->is_number() && expires->as_double() < seconds_max) {
    row.expires_at = Timestamp::of_unix_ms(static_cast<std::int64_t>(expires->as_double() * 1000));
  }
  return put_session(std::move(row), identity.account);
}

Result<std::string> Authenticator::start_session(const Identity& identity) {
  if (!identity.token_key) return Error{ErrorCode::internal, "the caller has not signed in with an ID token"};
  return put_session(session_of_token(identity, *identity.token_key), identity.account);
}

Result<std::string> Authenticator::put_session(ApiKeyRow row, const std::string& account) {
  CAIRN_TRY(const std::string token, new_secret());
  row.secret_hash = api_key_hash(token);
  row.note = "session of the console";
  row.created_at = store_.now();
  const Timestamp end = add(row.created_at, settings_.session_lifetime).value_or(row.created_at);
  row.expires_at = std::min(row.expires_at.value_or(end), end);
  const std::scoped_lock lock(starting_session_);
  CAIRN_TRY(const std::vector<ApiKeyRow> rows, store_.list_api_keys());
  row.id = free_session_id(rows, account, row.created_at);
  CAIRN_TRY_VOID(store_.put_api_key(row));
  return token;
}

Result<void> Authenticator::end_session(const Request& request) {
  const std::string token = cookie_token(request);
  if (token.empty()) return {};
  const std::string hash = api_key_hash(token);
  CAIRN_TRY(const auto row, store_.find_api_key(hash));
  if (row && is_session(*row)) CAIRN_TRY_VOID(store_.revoke_api_key(row->id));
  forget(hash);
  return {};
}

bool Authenticator::lacks_csrf_token(const Request& request) const {
  if (!settings_.required) return false;
  const std::string token = session_token(request);
  return !token.empty() && !has_csrf_token(request, token);
}

Result<TokenKey> Authenticator::key_of_token(std::string_view text) {
  if (!keys_) return unknown();
  CAIRN_TRY(const UnverifiedToken token, parse_token(text));
  CAIRN_TRY(const auto keys, keys_->keys_for(token.key_id, token.algorithm));
  const KeySet::Key* const key = keys->find(token.key_id, token.algorithm);
  // The key may have been replaced since the token was accepted.
  if (key == nullptr || !verify_signature(token, *key)) return unknown();
  return TokenKey{token.key_id, token.algorithm, KeySet::fingerprint(*key)};
}

Result<Identity> Authenticator::by_token(std::string_view text) {
  if (!keys_) return unknown();
  CAIRN_TRY(const Json claims, verified_claims(text, settings_.tokens->rules));
  return identity_of_claims(claims);
}

Result<Identity> Authenticator::by_id_token(std::string_view text, const std::string& client_id,
                                            std::string_view nonce) {
  if (!keys_) return unknown();
  TokenRules rules = settings_.tokens->rules;
  rules.audience = client_id;
  CAIRN_TRY(const Json claims, verified_claims(text, rules));
  if (nonce.empty() || claims.text_or("nonce", "") != nonce) return refuse_token("the token has another nonce");
  CAIRN_TRY(Identity identity, identity_of_claims(claims));
  CAIRN_TRY(identity.token_key, key_of_token(text));
  return identity;
}

Result<Json> Authenticator::verified_claims(std::string_view text, const TokenRules& rules) {
  const auto token = parse_token(text);
  if (!token) return refuse_token(token.error().message);
  CAIRN_TRY(const auto keys, keys_->keys_for(token->key_id, token->algorithm));
  const KeySet::Key* key = keys->find(token->key_id, token->algorithm);
  if (key == nullptr) return refuse_token("the token's key is unknown");
  if (!verify_signature(*token, *key)) {
    keys_->fetch_soon();
    return refuse_token("the token's signature is wrong");
  }
  if (const auto fine = check_claims(token->claims, rules, store_.now()); !fine)
    return refuse_token(fine.error().message);
  return token->claims;
}

Result<Identity> Authenticator::identity_of_claims(const Json& claims) {
  const TokenSettings& settings = *settings_.tokens;
  Identity identity;
  identity.account = settings.rules.issuer + "#" + std::string(claims.text_or("sub", ""));
  const Json* person = claim_at(claims, settings.person_claim);
  if (person == nullptr || !person->is_string() || person->as_string().empty()) {
    return refuse_token("the token does not name the person");
  }
  identity.person = std::string(person->as_string());
  identity.task_roles.emplace();
  constexpr std::string_view own = "cairn:";
  for (const std::string& name : texts_of_claim(claim_at(claims, settings.roles_claim))) {
    if (!name.starts_with(own)) {
      identity.task_roles->push_back(name);
    } else if (const auto role = role_from(std::string_view(name).substr(own.size()))) {
      identity.roles.push_back(*role);
    }
  }
  // A worker token without prefixes may lease nothing: a missing list must not mean "no limit".
  identity.prefixes = texts_of_claim(claim_at(claims, settings.prefixes_claim));
  for (const Role role : identity.roles) {
    if (role == Role::admin) identity.prefixes.reset();
  }
  remember(identity);
  return identity;
}

void Authenticator::remember(const Identity& identity) {
  TokenUserRow row{identity.account, identity.person, {}, identity.task_roles.value_or(std::vector<std::string>())};
  for (const Role role : identity.roles) row.roles.emplace_back(to_string(role));
  const auto now = std::chrono::steady_clock::now();
  {
    const std::scoped_lock lock(mutex_);
    if (remembered_.size() >= known_max) remembered_.clear();
    const auto [found, is_new] = remembered_.try_emplace(row.account, Remembered{row, now});
    if (!is_new) {
      if (now < found->second.at + (found->second.row == row ? std::chrono::seconds(roles_kept) : roles_pause)) return;
      found->second = {row, now};
    }
  }
  const auto written = store_.put_token_user(row);
  if (written) return;
  // The request does not depend on it.
  log_warning("auth.roles_not_kept", {{"account", row.account}, {"message", written.error().message}});
  const std::scoped_lock lock(mutex_);
  remembered_.erase(row.account);
}

}  // namespace cairn::api
