// Metrics of the store's contents. The store is queried at most every few seconds, however many readers there are.
#pragma once

#include "api/telemetry/metrics.h"
#include "store/upkeep_store.h"

namespace cairn::api {

// `store` must outlive the metrics.
void add_store_metrics(Metrics& metrics, UpkeepStore& store);

}  // namespace cairn::api
