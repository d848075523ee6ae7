// Settings and limits of run types.
#pragma once

#include <string>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

class RunTypeStore : public virtual StoreBase {
 public:
  // The rules for runs of a type, which leasing applies.
  virtual Result<void> put_run_type(const RunTypeRow& row) = 0;
  virtual Result<bool> remove_run_type(const std::string& type) = 0;
  virtual Result<std::vector<RunTypeRow>> list_run_types() = 0;
};

}  // namespace cairn
