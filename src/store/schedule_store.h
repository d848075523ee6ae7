// Schedules: what starts by the clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/schedule_rows.h"
#include "store/store_base.h"

namespace cairn {

enum class PutSchedule { done, stale };  // stale: the row has another state version than the given one

class ScheduleStore : public virtual StoreBase {
 public:
  // `put_schedule` writes the row if the stored row has the state version `row.state_version` (0: no row exists) and
  // increments it. A schedule is due if it is not paused and `next_at` has come. A taken schedule is not
  // handed out again until `hold` has passed or its row has changed.
  virtual Result<PutSchedule> put_schedule(const ScheduleRow& row) = 0;
  virtual Result<std::optional<ScheduleRow>> find_schedule(const std::string& name) = 0;
  virtual Result<Page<ScheduleRow>> list_schedules(const PageRequest& page) = 0;
  virtual Result<bool> remove_schedule(const std::string& name) = 0;
  virtual Result<std::vector<ScheduleRow>> take_schedules(std::size_t max, Duration hold) = 0;
};

}  // namespace cairn
