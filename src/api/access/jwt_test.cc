#include "api/access/jwt.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <latch>
#include <mutex>
#include <stop_token>
#include <thread>

#include "api/access/authenticator.h"
#include "base/clock.h"
#include "store/memory/memory_store.h"

namespace cairn::api {
namespace {

std::string encoded(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) out.push_back(digits[bits >> (count - 6) & 63]);
  }
  if (count > 0) out.push_back(digits[bits << (6 - count) & 63]);
  return out;
}

std::string bytes_of(const EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key, name, &number), 1);
  std::string out(static_cast<std::size_t>(BN_num_bytes(number)), '\0');
  BN_bn2bin(number, reinterpret_cast<unsigned char*>(out.data()));
  BN_free(number);
  return out;
}

std::string padded(std::string text, std::size_t size) { return std::string(size - text.size(), '\0') + text; }

// A signing key, and its public half as the issuer would publish it.
class Signer {
 public:
  Signer(std::string algorithm, std::string id) : algorithm_(std::move(algorithm)), id_(std::move(id)) {
    key_ = algorithm_ == "RS256"   ? EVP_RSA_gen(2048)
           : algorithm_ == "ES256" ? EVP_EC_gen("P-256")
                                   : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  }
  ~Signer() { EVP_PKEY_free(key_); }
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  Json jwk() const {
    Json json = Json::object({{"kid", id_}, {"use", "sig"}, {"alg", algorithm_}});
    if (algorithm_ == "RS256") {
      json.set("kty", "RSA");
      json.set("n", encoded(bytes_of(key_, OSSL_PKEY_PARAM_RSA_N)));
      json.set("e", encoded(bytes_of(key_, OSSL_PKEY_PARAM_RSA_E)));
    } else if (algorithm_ == "ES256") {
      json.set("kty", "EC");
      json.set("crv", "P-256");
      json.set("x", encoded(padded(bytes_of(key_, OSSL_PKEY_PARAM_EC_PUB_X), 32)));
      json.set("y", encoded(padded(bytes_of(key_, OSSL_PKEY_PARAM_EC_PUB_Y), 32)));
    } else {
      unsigned char raw[32];
      std::size_t size = sizeof raw;
      EVP_PKEY_get_raw_public_key(key_, raw, &size);
      json.set("kty", "OKP");
      json.set("crv", "Ed25519");
      json.set("x", encoded({reinterpret_cast<char*>(raw), size}));
    }
    return json;
  }
  std::string token(const Json& claims, Json header = Json::object()) const {
    if (!header.find("alg")) header.set("alg", algorithm_);
    if (!header.find("kid")) header.set("kid", id_);
    const std::string text = encoded(write_json(header)) + "." + encoded(write_json(claims));
    EVP_MD_CTX* digest = EVP_MD_CTX_new();
    EVP_DigestSignInit(digest, nullptr, algorithm_ == "EdDSA" ? nullptr : EVP_sha256(), nullptr, key_);
    unsigned char signature[1024];
    std::size_t size = sizeof signature;
    EVP_DigestSign(digest, signature, &size, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(digest);
    std::string raw(reinterpret_cast<char*>(signature), size);
    if (algorithm_ == "ES256") {
      const unsigned char* der = signature;
      ECDSA_SIG* parts = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size));
      unsigned char both[64];
      BN_bn2binpad(ECDSA_SIG_get0_r(parts), both, 32);
      BN_bn2binpad(ECDSA_SIG_get0_s(parts), both + 32, 32);
      ECDSA_SIG_free(parts);
      raw.assign(reinterpret_cast<char*>(both), 64);
    }
    return text + "." + encoded(raw);
  }

 private:
  std::string algorithm_;
  std::string id_;
  EVP_PKEY* key_;
};

constexpr std::int64_t noon = 1'700'000'000;

Json claims() {
  return Json::object({{"iss", "https://id.example"},
                       {"aud", "cairn"},
                       {"sub", "u1"},
                       {"email", "ada@example.com"},
                       {"exp", noon + 300},
                       {"roles", Json::array({"cairn:operator", "cairn:nonsense", "clerk"})}});
}
Json claims_with(std::string_view name, Json value) {
  Json json = claims();
  json.set(name, std::move(value));
  return json;
}
Json claims_without(std::string_view name) {
  Json json = Json::object();
  const Json all = claims();
  for (const Json::Member& member : all.members()) {
    if (member.key != name) json.set(member.key, member.value);
  }
  return json;
}

class Tokens : public testing::Test {
 protected:
  void SetUp() override { path = testing::TempDir() + "cairn_jwks_" + std::to_string(::getpid()); }
  void TearDown() override { ::unlink(path.c_str()); }
  void publish(const std::vector<const Signer*>& signers) const {
    Json keys = Json::array();
    for (const Signer* signer : signers) keys.push_back(signer->jwk());
    std::ofstream(path, std::ios::trunc) << write_json(Json::object({{"keys", keys}}));
  }
  Authenticator& door() {
    if (!authenticator) {
      AccessSettings settings;
      settings.required = true;
      settings.tokens.emplace();
      settings.tokens->rules = {"https://id.example", "cairn", Duration::of_seconds(60)};
      settings.tokens->jwks = path;
      settings.tokens->person_claim = "email";
      authenticator = std::make_unique<Authenticator>(store, settings);
    }
    return *authenticator;
  }
  Result<Identity> enter(const std::string& token) {
    Request request;
    request.headers.emplace_back("authorization", "Bearer " + token);
    return door().identify(request);
  }

  std::string path;
  ManualClock clock{Timestamp::of_unix_ms(noon * 1000)};
  MemoryStore store{clock};
  std::unique_ptr<Authenticator> authenticator;
};

TEST_F(Tokens, OfEveryAlgorithmNameThePersonAndTheirRoles) {
  for (const char* algorithm : {"RS256", "ES256", "EdDSA"}) {
    const Signer signer(algorithm, std::string("key-") + algorithm);
    publish({&signer});
    authenticator.reset();
    const auto identity = enter(signer.token(claims()));
    ASSERT_TRUE(identity) << algorithm << identity.error().message;
    EXPECT_EQ(identity->person, "ada@example.com");
    EXPECT_EQ(identity->account, "https://id.example#u1");
    EXPECT_EQ(identity->roles, std::vector<Role>{Role::operations});
    EXPECT_EQ(identity->task_roles, std::vector<std::string>{"clerk"});
    EXPECT_FALSE(identity->may_work_on("billing.charge.v1"));
  }
}

TEST_F(Tokens, WithWrongClaimsAreRefused) {
  const Signer signer("ES256", "k");
  publish({&signer});
  ASSERT_TRUE(enter(signer.token(claims())));
  ASSERT_TRUE(enter(signer.token(claims_with("aud", Json::array({"other", "cairn"})))));
  ASSERT_TRUE(enter(signer.token(claims_with("exp", noon - 59))));
  ASSERT_TRUE(enter(signer.token(claims_with("nbf", noon + 59))));
  const std::vector<Json> bad{claims_without("iss"),
                              claims_with("iss", "https://evil.example"),
                              claims_without("aud"),
                              claims_with("aud", "other"),
                              claims_with("aud", Json::array({"cairn", 7})),
                              claims_with("aud", Json::object()),
                              claims_without("sub"),
                              claims_with("sub", ""),
                              claims_without("exp"),
                              claims_with("exp", noon - 61),
                              claims_with("exp", 1e308),
                              claims_with("exp", "soon"),
                              claims_with("nbf", noon + 61),
                              claims_with("nbf", "later"),
                              claims_without("email"),
                              claims_with("email", 7)};
  for (const Json& one : bad) {
    const auto refused = enter(signer.token(one));
    ASSERT_FALSE(refused) << write_json(one);
    EXPECT_EQ(refused.error().code, ErrorCode::not_allowed);
    EXPECT_EQ(refused.error().message, "the request has no valid API key or token");
  }
}

TEST_F(Tokens, ThatAreForgedAreRefused) {
  const Signer signer("RS256", "k");
  const Signer other("RS256", "k");
  publish({&signer});
  const std::string good = signer.token(claims());
  ASSERT_TRUE(enter(good));
  EXPECT_FALSE(enter(other.token(claims())));
  for (const char* algorithm : {"none", "None", "HS256", "RS512", "ES256", "EdDSA", ""}) {
    EXPECT_FALSE(enter(signer.token(claims(), Json::object({{"alg", algorithm}})))) << algorithm;
  }
  EXPECT_FALSE(enter(signer.token(claims(), Json::object({{"alg", Json::array({"RS256"})}}))));
  EXPECT_FALSE(enter(signer.token(claims(), Json::object({{"crit", Json::array({"exp"})}}))));
  EXPECT_FALSE(enter(signer.token(claims(), Json::object({{"cty", "JWT"}}))));
  for (const char* id : {"../../etc/passwd", "' OR 1=1--", "unknown"}) {
    EXPECT_FALSE(enter(signer.token(claims(), Json::object({{"kid", id}})))) << id;
  }
  // Keys and URLs inside the token are ignored.
  EXPECT_FALSE(enter(other.token(claims(), Json::object({{"jwk", other.jwk()}, {"jku", "https://evil.example"}}))));
  EXPECT_FALSE(enter(good.substr(0, good.rfind('.') + 1)));
  EXPECT_FALSE(enter(good + "."));
  EXPECT_FALSE(enter(good + "A"));
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string changed = good;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(enter(changed)) << at;
  }
  EXPECT_FALSE(enter(signer.token(claims_with("pad", std::string(9000, 'x')))));
}

TEST_F(Tokens, AKeyThatTheIssuerAddsIsFoundAndOneThatItRemovesIsNot) {
  const Signer first("EdDSA", "first");
  const Signer second("EdDSA", "second");
  publish({&first});
  ASSERT_TRUE(enter(first.token(claims())));
  EXPECT_FALSE(enter(second.token(claims())));
  publish({&second});
  EXPECT_TRUE(enter(second.token(claims())));
  EXPECT_FALSE(enter(first.token(claims())));
  // A broken file leaves the previous keys.
  std::ofstream(path, std::ios::trunc) << "{";
  EXPECT_TRUE(enter(second.token(claims())));
}

// The content of an issuer's URL. Fetches can be blocked.
struct Issuer {
  void publish(const std::vector<const Signer*>& signers) {
    Json keys = Json::array();
    for (const Signer* const signer : signers) keys.push_back(signer->jwk());
    const std::scoped_lock lock(mutex);
    text = write_json(Json::object({{"keys", keys}}));
  }
  FetchText fetch() {
    return [this](const std::string&, const std::stop_token&) -> Result<std::string> {
      ++begun;
      std::unique_lock lock(mutex);
      open.wait(lock, [this] { return !blocked; });
      return text;
    };
  }
  void block(bool on) {
    const std::scoped_lock lock(mutex);
    blocked = on;
    open.notify_all();
  }
  std::mutex mutex;
  std::condition_variable open;
  std::string text = "{\"keys\":[]}";
  bool blocked = false;
  std::atomic<int> begun{0};
};

// Retries until the keys are known.
bool has_key(JwksSource& source, const std::string& id) {
  for (;;) {
    const auto keys = source.keys_for(id, "EdDSA");
    if (keys) return (*keys)->find(id, "EdDSA") != nullptr;
    std::this_thread::yield();
  }
}

constexpr auto never = std::chrono::hours(1);

TEST_F(Tokens, AStormOfUnknownKeysIsOneFetch) {
  const Signer signer("EdDSA", "known");
  Issuer issuer;
  issuer.publish({&signer});
  JwksSource source("https://id.example/keys", issuer.fetch(), {never, never});
  EXPECT_TRUE(has_key(source, "known"));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(has_key(source, "k" + std::to_string(i)));
  EXPECT_EQ(issuer.begun, 1);
}

TEST_F(Tokens, AFetchDoesNotHoldUpOthers) {
  const Signer signer("EdDSA", "known");
  Issuer issuer;
  issuer.publish({&signer});
  JwksSource source("https://id.example/keys", issuer.fetch(), {never, std::chrono::milliseconds(0)});
  ASSERT_TRUE(has_key(source, "known"));
  issuer.block(true);
  const auto unknown = source.keys_for("unknown", "EdDSA");  // starts a fetch that does not end
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::unavailable);
  while (issuer.begun < 2) std::this_thread::yield();
  EXPECT_TRUE(has_key(source, "known"));
  issuer.block(false);
}

// The issuer never answers.
TEST_F(Tokens, AFetchDoesNotHoldUpTheStop) {
  std::latch begun(1);
  const FetchText endless = [&begun](const std::string&, const std::stop_token& stop) -> Result<std::string> {
    begun.count_down();
    std::mutex mutex;
    std::condition_variable_any answered;
    std::unique_lock lock(mutex);
    answered.wait(lock, stop, [] { return false; });
    return Error{ErrorCode::unavailable, "stopped"};
  };
  const JwksSource source("https://id.example/keys", endless, {never, never});
  begun.wait();
}

// A listener that never answers, as an issuer that hangs: its connections are established and silent.
TEST_F(Tokens, AFetchOverHttpsEndsAtTheStop) {
  const int hole = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(hole, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(hole, 5), 0);
  ASSERT_EQ(::getsockname(hole, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::stop_source stop;
  Result<std::string> fetched = std::string();
  std::jthread fetching([&, url = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/keys"] {
    fetched = fetch_over_https("")(url, stop.get_token());
  });
  const int client = ::accept(hole, nullptr, nullptr);
  stop.request_stop();
  fetching.join();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().message, "the engine is stopping");
  ::close(client);
  ::close(hole);
}

TEST_F(Tokens, AKeyRemovedAtTheIssuerIsRefusedAfterTheRefresh) {
  const Signer first("EdDSA", "first");
  const Signer second("EdDSA", "second");
  Issuer issuer;
  issuer.publish({&first});
  JwksSource source("https://id.example/keys", issuer.fetch(), {std::chrono::milliseconds(5), never});
  ASSERT_TRUE(has_key(source, "first"));
  issuer.publish({&second});
  while (source.current()->find("first", "EdDSA") != nullptr) std::this_thread::yield();
  EXPECT_TRUE(has_key(source, "second"));
}

TEST_F(Tokens, AnotherKeyUnderTheSameIdIsANewKey) {
  const Signer before("EdDSA", "same");
  const Signer after("EdDSA", "same");
  Issuer issuer;
  issuer.publish({&before});
  TokenSettings tokens;
  tokens.rules = {"https://id.example", "cairn", Duration::of_seconds(60)};
  tokens.jwks = "https://id.example/keys";
  tokens.person_claim = "email";
  tokens.pace = {never, std::chrono::milliseconds(0)};
  Authenticator gate(store, {true, tokens}, issuer.fetch());
  const auto request_with = [](const std::string& token) {
    Request request;
    request.headers.emplace_back("authorization", "Bearer " + token);
    return request;
  };
  const auto accepts = [&](const Signer& signer) {
    for (;;) {
      const auto identity = gate.identify(request_with(signer.token(claims())));
      if (identity) return true;
      if (identity.error().code == ErrorCode::not_allowed) return false;
      std::this_thread::yield();  // the keys are being fetched
    }
  };
  ASSERT_TRUE(accepts(before));
  const auto still_accepted = gate.still_accepted(request_with(before.token(claims())));
  EXPECT_TRUE(still_accepted());
  issuer.publish({&after});
  // A wrong signature triggers a fetch of the keys.
  while (!accepts(after)) std::this_thread::yield();
  EXPECT_FALSE(accepts(before));
  EXPECT_FALSE(still_accepted());
}

TEST_F(Tokens, KeysThatCannotBeUsedAreLeftOut) {
  EXPECT_FALSE(KeySet::parse("[]"));
  EXPECT_FALSE(KeySet::parse("{\"keys\":1}"));
  const auto set = KeySet::parse(
      R"({"keys":[1,{"kty":"oct","k":"c2VjcmV0"},{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},
          {"kty":"EC","crv":"P-521","x":"AA","y":"AA"},{"kty":"OKP","crv":"Ed25519","x":"AA"}]})");
  ASSERT_TRUE(set);
  EXPECT_EQ(set->size(), 0u);
}

}  // namespace
}  // namespace cairn::api
