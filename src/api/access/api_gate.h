// The gate of a server: authenticates callers, checks permissions, handles repeated requests and audits every change.
#pragma once

#include "api/access/audit_trail.h"
#include "api/access/authenticator.h"
#include "api/access/caller_limits.h"
#include "api/access/credential_watch.h"
#include "api/idempotent_answers.h"
#include "api/route.h"
#include "api/telemetry/metrics.h"
#include "http/request_threads.h"

namespace cairn::api {

// The audit row of a call: who, what, which resource, why, from where.
AuditRow audit_row(const Call& call, std::string what);

class ApiGate final : public Gate {
 public:
  // `core`, `authenticator` and `slow_lane` must outlive the gate. The slow lane runs expensive requests.
  ApiGate(EngineCore& core, Authenticator& authenticator, const CallerLimits& limits, http::RequestThreads& slow_lane,
          std::shared_ptr<AuditTrail> audit, std::shared_ptr<Metrics> metrics)
      : store_(core.store()),
        authenticator_(authenticator),
        limiter_(limits),
        slow_lane_(slow_lane),
        audit_(std::move(audit)),
        metrics_(std::move(metrics)),
        answers_(std::make_shared<IdempotentAnswers>(core)) {}

  bool admit(const Route& route, Call& call) override;
  // Whether the caller may send the body of a request: `admit` by its head alone. An admitted head does not count
  // against the caller's limits, because the whole request counts later; a refused head does.
  bool admit_head(const Route& route, Call& call);
  bool prepare(const Route& route, Call& call) override;
  // Runs the operation with the audit scope of the caller: the transaction of the change also writes the audit row.
  void carry_out(const Route& route, Call call) override;

 private:
  Result<Identity> identify(const Request& request);
  bool admit_signed(const Route& route, Call& call);
  // Whether the caller's limits allow this call; answers 429 otherwise.
  bool within_limits(const Route& route, Call& call);
  // Holds the permit until the answer is sent or the stream ends. A revoked credential ends both.
  void hold(Call& call, std::shared_ptr<void> permit);
  bool remember(const Route& route, Call& call);
  void handle(const Route& route, Call call);

  Store& store_;
  Authenticator& authenticator_;
  CallerLimiter limiter_;
  http::RequestThreads& slow_lane_;
  // Shared with pending answers.
  std::shared_ptr<AuditTrail> audit_;
  std::shared_ptr<Metrics> metrics_;
  std::shared_ptr<IdempotentAnswers> answers_;
  std::shared_ptr<CredentialWatch> watch_ = std::make_shared<CredentialWatch>();
};

}  // namespace cairn::api
