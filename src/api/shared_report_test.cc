#include "api/shared_report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <thread>

namespace cairn::api {
namespace {

Reply count_in(std::atomic<int>& answers, int status) {
  return Reply([&answers, status](const Response& response) {
    if (response.status == status) ++answers;
  });
}

TEST(SharedReport, OneReportAnswersAllWhoAskedBeforeItBegan) {
  std::atomic<int> made = 0, answers = 0;
  std::promise<void> finish;
  std::latch began(1);
  SharedReport report([&] {
    if (++made == 1) {
      began.count_down();
      finish.get_future().wait();
    }
    return Response(200, "text/plain", {}, "");
  });
  std::thread first([&] { report.ask(count_in(answers, 200)); });
  began.wait();
  for (int i = 0; i < 20; ++i) report.ask(count_in(answers, 200));  // none of them waits on this thread
  EXPECT_EQ(answers, 0) << "a report that began earlier does not answer them";
  finish.set_value();
  first.join();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(answers, 21);
}

TEST(SharedReport, IsNotMadeForClientsThatHaveGone) {
  int made = 0;
  SharedReport report([&] { return ++made, Response(200, "text/plain", {}, ""); });
  report.ask(Reply([](const Response&) {}, std::make_shared<std::atomic<bool>>(true)));
  EXPECT_EQ(made, 0);
  std::atomic<int> answers = 0;
  report.ask(count_in(answers, 200));
  EXPECT_EQ(made, 1);
  EXPECT_EQ(answers, 1);
}

TEST(SharedReport, AnExceptionIsAnAnswerAndNotTheEnd) {
  int made = 0;
  SharedReport report([&]() -> Response {
    if (++made == 1) throw std::runtime_error("no memory");
    return Response(200, "text/plain", {}, "");
  });
  std::atomic<int> refused = 0, answers = 0;
  report.ask(count_in(refused, 500));
  report.ask(count_in(answers, 200));
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(answers, 1);
}

}  // namespace
}  // namespace cairn::api
