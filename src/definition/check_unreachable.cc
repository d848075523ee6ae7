#include "definition/checks.h"
#include "definition/draft.h"

namespace cairn {

void check_unreachable(Draft& draft) {
  const Program& program = draft.program;
  for (const Block& block : program.blocks) {
    for (std::size_t i = 0; i + 1 < block.steps.size(); ++i) {
      const Step& step = program.steps[block.steps[i]];
      const bool fails = std::holds_alternative<FailStep>(step.body);
      if ((!fails && !std::holds_alternative<CompleteStep>(step.body)) || step.when) continue;
      const StepIndex next = block.steps[i + 1];
      draft.findings.warning(program.steps[next].at, draft.pointers[next],
                             std::string("this step is never reached, because `") + (fails ? "fail" : "complete") +
                                 "` before it ends the instance");
      break;
    }
  }
}

}  // namespace cairn
