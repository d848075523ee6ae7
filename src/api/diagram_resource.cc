#include <chrono>
#include <iterator>
#include <list>
#include <map>
#include <mutex>

#include "api/api.h"
#include "api/problem.h"
#include "api/progress.h"
#include "base/sha256.h"
#include "render/drawing.h"

namespace cairn::api {
namespace {

// A cache of recent pictures.
class PictureShelf {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  std::shared_ptr<const std::string> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    if (found->second->until <= std::chrono::steady_clock::now()) {
      remove(found->second);
      return nullptr;
    }
    pictures_.splice(pictures_.begin(), pictures_, found->second);
    return found->second->bytes;
  }
  void put(const std::string& key, std::shared_ptr<const std::string> picture, Instant until = Instant::max()) {
    if (picture->size() > picture_bytes_max) return;
    const std::lock_guard lock(mutex_);
    if (const auto before = places_.find(key); before != places_.end()) remove(before->second);
    bytes_ += picture->size();
    pictures_.push_front({key, std::move(picture), until});
    places_[key] = pictures_.begin();
    while (bytes_ > bytes_max) remove(std::prev(pictures_.end()));
  }

 private:
  static constexpr std::size_t bytes_max = 32u << 20;
  // Large pictures take longest to draw. This is more than a PNG with the default of `limits.png_pixels_max` has.
  static constexpr std::size_t picture_bytes_max = bytes_max / 4;
  struct Picture {
    std::string key;
    std::shared_ptr<const std::string> bytes;  // shared with answers
    Instant until;
  };
  using Pictures = std::list<Picture>;
  void remove(Pictures::iterator picture) {
    bytes_ -= picture->bytes->size();
    places_.erase(picture->key);
    pictures_.erase(picture);
  }

  std::mutex mutex_;
  Pictures pictures_;
  std::map<std::string, Pictures::iterator> places_;
  std::size_t bytes_ = 0;
};

// The picture of a running instance also shows attempts and remaining times, which change without a new state version.
constexpr std::chrono::seconds running_kept{2};

Result<render::Drawing> drawing_of(const Call& call) {
  auto drawing = render::read_drawing([&call](std::string_view name) -> std::optional<std::string> {
    const std::string_view value = call.request.query_value(name);
    return value.empty() ? std::nullopt : std::optional<std::string>(value);
  });
  if (drawing) drawing->pixels_max = call.answer_limits.png_pixels_max;
  return drawing;
}

Response refused(const Error& error) {
  if (error.code == ErrorCode::invalid) return problem(400, "format", "Invalid diagram options", error.message);
  return problem(error);
}

bool seen_before(const Call& call, const std::string& tag) {
  return call.request.header("if-none-match").find(tag) != std::string_view::npos;
}

void definition_diagram(EngineCore& core, PictureShelf& shelf, const Call& call) {
  const std::string version(call.at("version"));
  auto program = core.registry().find(std::string(call.at("name")),
                                      version.empty() ? std::nullopt : std::optional<std::string>(version));
  if (!program) return call.reply(problem(program.error()));
  const auto drawing = drawing_of(call);
  if (!drawing) return call.reply(refused(drawing.error()));
  const std::string key = (*program)->digest + "-" + drawing->key();
  const std::string tag = "\"" + key + "\"";
  // The picture of a version is final; the newest version may change.
  const Headers headers{{"etag", tag},
                        {"cache-control", version.empty() ? "no-cache" : "private, max-age=31536000, immutable"}};
  if (seen_before(call, tag)) return call.reply({304, render::media_type(drawing->format), headers, ""});
  std::shared_ptr<const std::string> picture = shelf.find(key);
  if (!picture) {
    auto drawn = render::draw(**program, *drawing);
    if (!drawn) return call.reply(refused(drawn.error()));
    picture = std::make_shared<const std::string>(std::move(*drawn));
    shelf.put(key, picture);
  }
  call.reply({200, render::media_type(drawing->format), headers, *picture});
}

void instance_diagram(EngineCore& core, PictureShelf& shelf, const Call& call) {
  const InstanceId id{std::string(call.at("id"))};
  const auto snapshot = core.store().find_snapshot(id);
  if (!snapshot) return call.reply(problem(snapshot.error()));
  if (!*snapshot) return call.reply(problem({ErrorCode::not_found, "no instance " + id.value}));
  auto program = core.registry().pinned((**snapshot).program);
  if (!program) return call.reply(problem(program.error()));
  const auto drawing = drawing_of(call);
  if (!drawing) return call.reply(refused(drawing.error()));
  // An id may be reused after retention has removed its instance; then the start time differs.
  const std::string key = "instance " + id.value + " " + std::to_string((**snapshot).started_at.unix_ms()) + " " +
                          std::to_string((**snapshot).state_version) + " " + drawing->key();
  std::shared_ptr<const std::string> picture = shelf.find(key);
  if (!picture) {
    const auto progress = read_progress(core.store(), core.store(), **program, **snapshot);
    if (!progress) return call.reply(problem(progress.error()));
    auto drawn = render::draw(**program, *drawing, &*progress);
    if (!drawn) return call.reply(refused(drawn.error()));
    picture = std::make_shared<const std::string>(std::move(*drawn));
    const bool moves = !is_final((**snapshot).status);
    shelf.put(key, picture, moves ? std::chrono::steady_clock::now() + running_kept : PictureShelf::Instant::max());
  }
  // The tag of the picture itself: another version may give the same picture.
  const std::string tag = "\"" + sha256_hex(*picture).substr(0, 32) + "\"";
  const Headers headers{{"etag", tag}, {"cache-control", "no-cache"}};
  if (seen_before(call, tag)) return call.reply({304, render::media_type(drawing->format), headers, ""});
  call.reply({200, render::media_type(drawing->format), headers, *picture});
}

}  // namespace

std::vector<Route> diagram_routes(EngineCore& core) {
  EngineCore* const with = &core;
  const auto shelf = std::make_shared<PictureShelf>();
  const auto definition = [with, shelf](const Call& call) { definition_diagram(*with, *shelf, call); };
  const std::vector<QueryParameter> query{{"format", "svg, png, json, mermaid, dot or txt"},
                                          {"theme", "light, dark or tokens: CSS properties of the page, for SVG"},
                                          {"direction", "tb or lr"},
                                          {"collapse", "draw deeper nesting as one step"},
                                          {"scale", "pixels of a PNG per unit, 1 to 4"}};
  return {
      {"GET", "/v1/definitions/{name}/diagram", Permission::view, "getNewestDiagram",
       "The diagram of a definition's newest version", definition, query},
      {"GET", "/v1/definitions/{name}/{version}/diagram", Permission::view, "getDefinitionDiagram",
       "The diagram of a definition", definition, query},
      {"GET", "/v1/instances/{id}/diagram", Permission::view, "getInstanceDiagram",
       "The diagram of an instance: its definition with its progress",
       [with, shelf](const Call& call) { instance_diagram(*with, *shelf, call); }, query},
  };
}

}  // namespace cairn::api
