// A suite whose processes are also the nodes that it kills.
#include <gtest/gtest.h>

#include "processes.h"

int main(int count, char** arguments) {
  cairn::become_node_when_asked(count, arguments);
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
