#include "api/access/ticket.h"

#include <gtest/gtest.h>

namespace cairn::api {
namespace {

AnswerTicket answer_ticket() {
  AnswerTicket ticket;
  ticket.task = "t-1";
  ticket.state_version = 3;
  ticket.person = "jon";
  ticket.answer = Json::object({{"approved", true}});
  ticket.issued_at = Timestamp::of_unix_ms(1'000);
  ticket.expires_at = Timestamp::of_unix_ms(2'000);
  return ticket;
}

TEST(Ticket, SaysWhatItWasIssuedWith) {
  const auto tickets = Tickets::make();
  ASSERT_TRUE(tickets);
  const auto read = tickets->read_answer(tickets->issue(answer_ticket()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->task, "t-1");
  EXPECT_EQ(read->state_version, 3u);
  EXPECT_EQ(read->person, "jon");
  EXPECT_EQ(read->answer, Json::object({{"approved", true}}));
  EXPECT_EQ(read->expires_at, Timestamp::of_unix_ms(2'000));
}

TEST(Ticket, IsRefusedWithAnyOtherByte) {
  const auto tickets = Tickets::make();
  const std::string text = tickets->issue(answer_ticket());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(tickets->read_answer(changed)) << i;
    EXPECT_FALSE(tickets->read_answer(text.substr(0, i))) << i;
  }
  EXPECT_FALSE(tickets->read_answer(text + "A"));
  EXPECT_FALSE(Tickets::make()->read_answer(text)) << "another server has another key";
}

TEST(Ticket, OfOneKindIsNotOfAnother) {
  const auto tickets = Tickets::make();
  EmbedTicket embed;
  embed.person = "jon";
  embed.roles = {"viewer"};
  embed.paths = {"/v1/instances/i"};
  embed.expires_at = Timestamp::of_unix_ms(2'000);
  const std::string text = tickets->issue(embed);
  EXPECT_FALSE(tickets->read_answer(text));
  const auto read = tickets->read_embed(text, Timestamp::of_unix_ms(1'999));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->paths, embed.paths);
  EXPECT_FALSE(read->task_roles);
  EXPECT_FALSE(tickets->read_embed(text, Timestamp::of_unix_ms(2'000))) << "expired";
  EXPECT_FALSE(tickets->read_embed(tickets->issue(answer_ticket()), Timestamp::of_unix_ms(0)));
}

}  // namespace
}  // namespace cairn::api
