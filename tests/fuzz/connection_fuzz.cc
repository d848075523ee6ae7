// Arbitrary bytes from a client, split anywhere, with any way to disconnect: the connection ends, answers its requests,
// and its thread has nothing left to do. Byte 0 of an input selects how the client disconnects, byte 1 how it is
// answered, byte 2 the size of the first piece; the rest is the data.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "api/access/identity.h"
#include "base/log.h"
#include "base/result.h"
#include "http/connection.h"

namespace {

using namespace cairn::http;

enum class Answers { at_once, later, never, large, stream };

// Answers are kept until the connection had its turn, as a store's would be.
struct Answering {
  Answers how = Answers::at_once;
  std::vector<Reply> waiting;

  void operator()(const Request& request, const Reply& reply) {
    // Checks the connection's promises to a handler.
    CAIRN_ASSERT(!request.path.empty() && request.path.front() == '/');
    CAIRN_ASSERT(request.body.size() <= body_bytes_max);
    for (const auto& [name, value] : request.headers) {
      CAIRN_ASSERT(name.find_first_of("\r\n") == std::string::npos && value.find_first_of("\r\n") == std::string::npos);
    }
    if (how == Answers::later) {
      waiting.push_back(reply);
    } else if (how == Answers::large) {
      reply({200, "text/plain", {}, std::string(300u << 10, 'x')});
    } else if (how == Answers::stream) {
      Response response(200, "text/event-stream", {}, "");
      response.stream = [](const EventStream& events) {
        events.send("data: 1\n\n");
        events.close();
      };
      reply(std::move(response));
    } else if (how == Answers::at_once) {
      reply({200, "text/plain", {}, request.path});
    }
  }
  static constexpr std::size_t body_bytes_max = 4096;
};

// One thread for everything: the input alone decides what happens.
class Stage {
 public:
  Stage()
      : context_(settings(), [this](const Request& request, const Reply& reply) { answering_(request, reply); }),
        thread_(context_.settings) {
    context_.left = [this](const boost::asio::ip::tcp::endpoint&) { --open_; };
  }

  void play(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return;
    const int ending = data[0] % 4;
    const std::uint8_t kind = data[1];
    answering_.how = static_cast<Answers>(kind % 5);
    unknown_ = (kind & 0x80) != 0;
    std::size_t piece = data[2];
    std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);

    int ends[2];
    CAIRN_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    boost::asio::ip::tcp::socket socket(thread_.context);
    socket.assign(boost::asio::ip::tcp::v4(), ends[0]);
    ++open_;
    std::weak_ptr<Connection> taken;
    {
      auto connection =
          std::make_shared<Connection>(context_, thread_, std::move(socket), boost::asio::ip::tcp::endpoint(), nullptr);
      taken = connection;
      thread_.take(std::move(connection));
    }
    // The input determines the sizes of the pieces: each split lets the connection process what has arrived.
    while (!rest.empty()) {
      const std::string_view now = rest.substr(0, piece + 1);
      if (::send(ends[1], now.data(), now.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
      rest.remove_prefix(now.size());
      piece = piece * 5 % 251;
      turn();
      if (ending == 3) take(ends[1]);
    }
    if (ending == 1) ::shutdown(ends[1], SHUT_WR);
    if (ending == 2) ::shutdown(ends[1], SHUT_RDWR);
    turn();
    take(ends[1]);
    ::close(ends[1]);
    // A connection that waits for an answer looks only at each tick whether the client has gone. The first ticks come
    // from here: waiting for the clock would take milliseconds for each input.
    for (int i = 0; i < 1'000 && open_ > 0; ++i) {
      if (const auto connection = taken.lock()) connection->check(std::chrono::steady_clock::now());
      turn();
      if (open_ > 0 && i >= ticks_made) thread_.context.run_one_for(std::chrono::milliseconds(10));
    }
    CAIRN_ASSERT(open_ == 0);
    CAIRN_ASSERT(context_.bodies->used() == 0);
  }

 private:
  HttpSettings settings() {
    HttpSettings settings;
    settings.head_bytes_max = 2048;
    settings.header_bytes_max = 1024;
    settings.headers_max = 20;
    settings.body_bytes_max = Answering::body_bytes_max;
    settings.unknown_body_bytes_max = 64;
    settings.unwatched = std::chrono::milliseconds(0);
    settings.stream_beat = std::chrono::milliseconds(20);  // a tick is a quarter of it
    settings.admit = [this](const Request& head, const std::function<void(Admission)>& decide) {
      Admission admission;
      if (head.path == "/refused") {
        admission.refusal = Response(401, "text/plain", {}, "");
      } else if (!unknown_) {
        admission.caller = std::make_shared<const KnownCaller>();
      }
      decide(std::move(admission));
    };
    return settings;
  }

  // Until nothing is left to be done now. One that goes round without waiting never comes back from here, or does
  // more than any input of this size can ask for.
  void turn() {
    for (int rounds = 0;; ++rounds) {
      CAIRN_ASSERT(rounds < 100'000);
      thread_.context.restart();
      if (thread_.context.poll() > 0) continue;
      if (answering_.waiting.empty()) return;
      std::vector<Reply> waiting;
      waiting.swap(answering_.waiting);
      for (const Reply& reply : waiting) reply({200, "text/plain", {}, "later"});
    }
  }

  static void take(int end) {
    char bytes[4096];
    while (::recv(end, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
  }

  static constexpr int ticks_made = 4;

  Answering answering_;
  bool unknown_ = false;
  int open_ = 0;
  ServerContext context_;
  IoThread thread_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Stage& stage = *[] {
    cairn::LogSettings log;
    log.level = cairn::LogLevel::error;
    cairn::configure_log(log);
    return new Stage;
  }();
  stage.play(data, size);
  return 0;
}
