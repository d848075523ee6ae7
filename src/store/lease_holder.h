// The holder of a run's lease: the worker's own label, which is not trusted, and the user and account that took the
// lease. `leased_by` and the run's events store it as `LABEL [PERSON ACCOUNT]`. A program in this process, or one that
// leases with SQL, has a label only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

struct LeaseHolder {
  std::string label;
  std::string person = {};
  std::string account = {};  // the credential; empty: none

  // The stored text. Ambiguous brackets and spaces are percent-encoded.
  std::string text() const;
  static LeaseHolder parse(std::string_view stored);
  // The name that histories show.
  const std::string& actor() const { return account.empty() ? label : person; }
};

// Whether `account` holds the lease. An empty account is not checked: it is the engine itself or an operator.
bool holds_lease(std::string_view leased_by, std::string_view account);

// How much a lease raises the fence of its run. It is random and at least one, so a client cannot guess the fence of a
// lease that it does not hold. With 32 bits, one run can be leased two million times within the 53 bits of a JSON
// number.
std::uint64_t fence_step();

}  // namespace cairn
