// The functions of all workloads, for the table in workloads.cc.
#pragma once

#include <array>

#include "workloads/workload.h"

namespace cairn::bench {

Result<std::vector<Row>> run_one_wait(const Plan& plan);
Result<std::vector<Row>> run_five_checkpoints(const Plan& plan);
Result<std::vector<Row>> run_w1(const Plan& plan);
Result<std::vector<Row>> run_w2(const Plan& plan);
Result<std::vector<Row>> run_w3(const Plan& plan);
Result<std::vector<Row>> run_w4(const Plan& plan);
Result<std::vector<Row>> run_w5(const Plan& plan);
Result<std::vector<Row>> run_w6(const Plan& plan);
Result<std::vector<Row>> run_w7(const Plan& plan);
Result<std::vector<Row>> run_w8(const Plan& plan);
Result<std::vector<Row>> run_nodes(const Plan& plan);
Result<std::vector<Row>> run_http_one_wait(const Plan& plan);
Result<std::vector<Row>> run_http_w1(const Plan& plan);
Result<std::vector<Row>> run_http_w2(const Plan& plan);
Result<std::vector<Row>> run_http_w3(const Plan& plan);
Result<std::vector<Row>> run_http_w7(const Plan& plan);
Result<std::vector<Row>> run_at_rest(const Plan& plan);
Result<std::vector<Row>> run_outbox_backlog(const Plan& plan);
Result<std::vector<Row>> run_scale(const Plan& plan);
Result<std::vector<Row>> run_scale_instance(const Plan& plan);

// A request with only a definition and an input.
inline StartRequest request_for(const std::string& definition, const Json& input) {
  StartRequest request;
  request.definition = definition;
  request.input = input;
  return request;
}

inline Result<void> expect(Status status, Status expected) {
  if (status == expected) return {};
  return Error{ErrorCode::internal,
               std::string("an instance is ") + to_string(status) + ", not " + to_string(expected)};
}

}  // namespace cairn::bench
