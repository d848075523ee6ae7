#include "api/shared_report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>

namespace cairn::api {
namespace {

Response fine() { return Response(200, "text/plain", {}, ""); }

// The status of the answer to a client.
std::future<int> ask(SharedReport& report) {
  const auto told = std::make_shared<std::promise<int>>();
  report.ask(Reply([told](const Response& response) { told->set_value(response.status); }));
  return told->get_future();
}

TEST(SharedReport, OneReportAnswersAllWhoAskedBeforeItBegan) {
  std::atomic<int> made = 0;
  std::latch began(1), finish(1);
  SharedReport report([&] {
    if (++made == 1) {
      began.count_down();
      finish.wait();
    }
    return fine();
  });
  std::future<int> first = ask(report);
  began.wait();
  std::vector<std::future<int>> others;
  for (int i = 0; i < 20; ++i) others.push_back(ask(report));
  finish.count_down();
  EXPECT_EQ(first.get(), 200);
  for (std::future<int>& other : others) EXPECT_EQ(other.get(), 200);
  EXPECT_EQ(made, 2) << "the report that had begun is not an answer to later requests";
}

TEST(SharedReport, IsNotMadeForClientsThatHaveGone) {
  std::atomic<int> made = 0;
  SharedReport report([&] { return ++made, fine(); });
  report.ask(Reply([](const Response&) {}, std::make_shared<std::atomic<bool>>(true)));
  EXPECT_EQ(ask(report).get(), 200);
  EXPECT_EQ(made, 1);
}

TEST(SharedReport, AnExceptionIsAnAnswerAndNotTheEnd) {
  std::atomic<int> made = 0;
  SharedReport report([&]() -> Response {
    if (++made == 1) throw std::runtime_error("no memory");
    return fine();
  });
  EXPECT_EQ(ask(report).get(), 500);
  EXPECT_EQ(ask(report).get(), 200);
}

}  // namespace
}  // namespace cairn::api
