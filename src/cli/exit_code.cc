#include "cli/exit_code.h"

namespace cairn::cli {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::limit: return exit_invalid;
    case ErrorCode::not_found: return exit_not_found;
    case ErrorCode::conflict: return exit_conflict;
    case ErrorCode::not_allowed: return exit_not_allowed;
    case ErrorCode::unavailable: return exit_unreachable;
    case ErrorCode::corrupt:
    case ErrorCode::unsupported:
    case ErrorCode::internal: return exit_failed;
  }
  return exit_failed;
}

}  // namespace cairn::cli
