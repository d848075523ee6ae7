// A program that uses only the installed package: a definition built in C++, a transport and a sink of its own, and a
// function with the name of one of SQLite's.
#include <cairn/definition.h>
#include <cairn/engine.h>
#include <cairn/sink.h>
#include <cairn/transport.h>

#include <cstdio>
#include <memory>

extern "C" const char* sqlite3_libversion() { return "of the program"; }

namespace {

class Pigeon final : public cairn::Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(cairn::TransportCall call, Done done) override {
    cairn::TransportAnswer answer;
    answer.result = cairn::Json::object({{"flew_to", call.request["to"]}});
    done(std::move(answer));
  }

 private:
  const std::string name_ = "pigeon";
};

class Collector final : public cairn::Sink {
 public:
  explicit Collector(std::vector<cairn::Json>& events) : Sink("collector", {"order."}), events_(events) {}
  std::vector<cairn::SinkAnswer> deliver(std::span<const cairn::OutboxRow> events) override {
    std::vector<cairn::SinkAnswer> answers;
    for (const cairn::OutboxRow& row : events) {
      events_.push_back(cairn::cloud_event(row, "/own"));
      answers.push_back({cairn::SinkAnswer::Kind::taken, "", std::nullopt});
    }
    return answers;
  }

 private:
  std::vector<cairn::Json>& events_;
};

int complain(const std::string& why) {
  std::fprintf(stderr, "own_parts: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main() {
  using namespace cairn::flow;
  const auto definition =
      workflow("order", "1.0.0").steps({set({{"x", 1}}), emit("order.sent").data({{"x", cel("state.x")}})}).build();
  if (!definition) return complain(definition.error().message);
  const auto wrong = workflow("order", "1.0.0").steps({set({{"x", cel("1 +")}})}).build();
  if (wrong) return complain("a wrong expression was built");

  std::vector<cairn::Json> events;
  cairn::EngineOptions options;
  options.transports.push_back(std::make_shared<Pigeon>());
  auto opened = cairn::Engine::open(options);
  if (!opened) return complain(opened.error().message);
  cairn::Engine& engine = **opened;
  if (auto added = engine.add_sink(std::make_unique<Collector>(events)); !added) return complain(added.error().message);
  if (auto deployed = engine.deploy(*definition); !deployed) return complain(deployed.error().message);
  if (auto deployed = engine.deploy("cairn: 1\nname: parcel\nversion: 1.0.0\nsteps:\n  - call: { pigeon: { to: Basel "
                                    "}, result: flight }\noutput: = state.flight\n");
      !deployed) {
    return complain(deployed.error().message);
  }
  engine.run();
  for (const char* const name : {"order", "parcel"}) {
    cairn::StartRequest request;
    request.definition = name;
    auto started = engine.start(request);
    if (!started) return complain(started.error().message);
    const auto ended = engine.wait(started->instance, std::chrono::seconds(30));
    if (!ended || ended->status != cairn::Status::completed) return complain(std::string(name) + " did not complete");
    if (request.definition == "parcel" && ended->output != cairn::Json::object({{"flew_to", "Basel"}}))
      return complain("wrong output");
  }
  opened->reset();
  if (events.size() != 1 || events[0]["source"] != cairn::Json("/own"))
    return complain("the sink got " + std::to_string(events.size()) + " events");
  if (std::string(sqlite3_libversion()) != "of the program")
    return complain("cairn's SQLite has replaced the program's");
  return 0;
}
