// The gate of a server: who calls, whether they may, repeats, and a record of every change.
#pragma once

#include "api/access/audit_trail.h"
#include "api/access/authenticator.h"
#include "api/access/caller_limits.h"
#include "api/access/credential_watch.h"
#include "api/idempotent_answers.h"
#include "api/telemetry/metrics.h"
#include "http/request_threads.h"
#include "api/route.h"

namespace cairn::server {

// What the audit trail says about a call: who, what, which resource, why, from where.
AuditRow audit_row(const Call& call, std::string what);

class ApiGate final : public Gate {
 public:
  // `coordinator`, `authenticator` and `slow_lane` outlive the gate. Expensive requests are carried out in the slow
  // lane.
  ApiGate(Coordinator& coordinator, Authenticator& authenticator, const CallerLimits& limits, RequestThreads& slow_lane,
          std::shared_ptr<AuditTrail> audit, std::shared_ptr<Metrics> metrics)
      : store_(coordinator.store()),
        authenticator_(authenticator),
        limiter_(limits),
        slow_lane_(slow_lane),
        audit_(std::move(audit)),
        metrics_(std::move(metrics)),
        answers_(std::make_shared<IdempotentAnswers>(coordinator)) {}

  bool admit(const Route& route, Call& call) override;
  // Whether the caller may send the body of a request: `admit` by its head alone. Nothing counts against the caller's
  // limits yet, because the whole request is still to come; one that is refused does.
  bool admit_head(const Route& route, Call& call);
  bool prepare(const Route& route, Call& call) override;
  // With the audit_scope of whoever asks: the row of the audit trail is written in the transaction of the change.
  void carry_out(const Route& route, Call call) override;

 private:
  Result<Identity> identify(const Request& request);
  bool admit_signed(const Route& route, Call& call);
  // Whether the caller's limits allow this call; answers 429 otherwise.
  bool within_limits(const Route& route, Call& call);
  // The permit is held until the answer is sent, or the stream ends. A revoked credential ends both.
  void hold(Call& call, std::shared_ptr<void> permit);
  bool remember(const Route& route, Call& call);

  Store& store_;
  Authenticator& authenticator_;
  CallerLimiter limiter_;
  RequestThreads& slow_lane_;
  // Shared with answers that are still to come.
  std::shared_ptr<AuditTrail> audit_;
  std::shared_ptr<Metrics> metrics_;
  std::shared_ptr<IdempotentAnswers> answers_;
  std::shared_ptr<CredentialWatch> watch_ = std::make_shared<CredentialWatch>();
};

}  // namespace cairn::server
