// Who holds the lease of a run: the worker's name for itself, which is only a label, and the person and account that
// took the lease. All of it stands in `leased_by` and in the events of the run, as `LABEL [PERSON ACCOUNT]`. A program
// in this process, or one that leases with SQL, has a label only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

struct LeaseHolder {
  std::string label;
  std::string person = {};
  std::string account = {};  // the credential; empty: none

  // As it is stored. Brackets and spaces that would be ambiguous are percent-encoded.
  std::string text() const;
  static LeaseHolder parse(std::string_view stored);
  // Whom histories name.
  const std::string& actor() const { return account.empty() ? label : person; }
};

// Whether `account` holds the lease. An empty account is not checked: the engine itself, or an operator.
bool holds_lease(std::string_view leased_by, std::string_view account);

// How much a lease raises the fence of its run: at least one, and otherwise random, so that no one can guess the fence
// of a lease they do not hold. 32 bits leave room for two million leases of one run within the 53 bits of a JSON
// number.
std::uint64_t fence_step();

}  // namespace cairn
