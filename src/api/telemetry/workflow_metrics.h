// Metrics of the work that this node has committed (engine/workflow_counts.h).
#pragma once

#include "api/telemetry/metrics.h"
#include "engine/retention_counts.h"
#include "engine/workflow_counts.h"

namespace cairn::api {

// `counts` must outlive the metrics.
void add_workflow_metrics(Metrics& metrics, const WorkflowCounts& counts);
void add_retention_metrics(Metrics& metrics, const RetentionCounts& removed);

}  // namespace cairn::api
