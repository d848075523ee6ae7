#include "base/entropy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace cairn {
namespace {

using Bits = std::array<std::uint8_t, 16>;

Bits next_bits() {
  Bits bits{};
  fill_random(bits);
  return bits;
}

TEST(Entropy, AForkedProcessDoesNotGoOnWithItsParentsBits) {
  next_bits();  // this fetches a whole batch
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Bits own = next_bits();
    ::_exit(::write(ends[1], own.data(), own.size()) == static_cast<ssize_t>(own.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  Bits of_child{};
  EXPECT_EQ(::read(ends[0], of_child.data(), of_child.size()), static_cast<ssize_t>(of_child.size()));
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(next_bits(), of_child);
}

}  // namespace
}  // namespace cairn
