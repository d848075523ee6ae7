#include "api/console.h"

#include <algorithm>

#include "api/embedded_console.h"
#include "base/sha256.h"
#include "http/gzip.h"

namespace cairn::api {
namespace {

constexpr std::string_view page_path = "/index.html";
constexpr std::size_t console_file_bytes_max = 16u << 20;

constexpr std::string_view console_headers =
    "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self'; require-trusted-types-for 'script'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'self'\r\n"
    "x-content-type-options: nosniff\r\n"
    "cross-origin-opener-policy: same-origin\r\n"
    "cross-origin-resource-policy: same-origin\r\n"
    "referrer-policy: no-referrer\r\n";

constexpr std::string_view no_console =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>cairn</title>"
    "<h1>This program was built without the console</h1>"
    "<p>The API is at <a href=\"openapi.json\">/openapi.json</a>. "
    "Build cairn with Node.js, or with <code>-DCAIRN_CONSOLE=FOLDER</code>, to get the console.</p></html>\n";

const ConsoleFile* find_file(std::string_view path) {
  const auto files = console_files();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const ConsoleFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Whether If-None-Match names the version that the client would get.
bool is_known(const Request& request, std::string_view etag) {
  const std::string_view known = request.header("if-none-match");
  return !known.empty() && (known == "*" || known.find(etag) != std::string_view::npos);
}

Response file_response(const Request& request, std::string_view type, std::string_view etag, bool immutable) {
  Response response(200, std::string(type), {}, "");
  response.standing_headers = console_headers;
  response.headers = {{"etag", std::string(etag)},
                      {"cache-control", immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                      {"vary", "accept-encoding"}};
  if (is_known(request, etag)) response.status = 304;
  return response;
}

void fill(Response& response, const Request& request, std::string_view packed) {
  if (response.status == 304) return;
  if (http::takes_gzip(request.header("accept-encoding"))) {
    response.body = std::string(packed);
    response.headers.emplace_back("content-encoding", "gzip");
  } else {
    response.body = http::gunzip(packed, console_file_bytes_max).value_or("");
  }
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

Console::Console(std::string base_path) : base_path_(std::move(base_path)) {
  const ConsoleFile* const file = find_file(page_path);
  if (file != nullptr && base_path_.empty()) {
    page_gzip_ = std::string(file->gzip);
    page_etag_ = std::string(file->etag);
    return;
  }
  std::string page(no_console);
  if (file != nullptr) {
    page = http::gunzip(file->gzip, console_file_bytes_max).value_or("");
    // The scripts learn the base path from their own address.
    replace_all(page, "=\"/assets/", "=\"" + base_path_ + "/assets/");
  }
  page_gzip_ = http::gzip(page);
  page_etag_ = "\"" + sha256_hex(page).substr(0, 32) + "\"";
}

std::optional<Response> Console::answer(const Request& request) const {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const std::string& path = request.path;
  if (path == "/" || path == page_path) return page(request);
  if (path == "/help") return Response(308, "text/plain; charset=utf-8", {{"location", base_path_ + "/help/"}}, "");
  const std::string_view file_path = path == "/help/" ? "/help/index.html" : std::string_view(path);
  if (const ConsoleFile* const file = find_file(file_path)) {
    Response response = file_response(request, file->type, file->etag, file->immutable);
    fill(response, request, file->gzip);
    return response;
  }
  // Programs that ask for an unknown address get a problem document, not a page.
  const bool is_address_of_page = !is_below(path, "/v1") && !is_below(path, "/assets");
  if (!is_address_of_page || request.header("accept").find("text/html") == std::string_view::npos) return std::nullopt;
  return page(request);
}

Response Console::page(const Request& request) const {
  Response response = file_response(request, "text/html; charset=utf-8", page_etag_, false);
  fill(response, request, page_gzip_);
  return response;
}

void Console::strip_base_path(std::string& path) const {
  if (base_path_.empty() || !is_below(path, base_path_)) return;
  path.erase(0, base_path_.size());
  if (path.empty()) path = "/";
}

}  // namespace cairn::api
