// What stands in the store, as figures: asked for at most every few seconds, whoever reads them.
#pragma once

#include "api/telemetry/metrics.h"
#include "store/store.h"

namespace cairn::server {

// `store` outlives the metrics.
void add_store_metrics(Metrics& metrics, Store& store);

}  // namespace cairn::server
