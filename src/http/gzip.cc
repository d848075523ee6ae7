#include "http/gzip.h"

#include <zlib.h>

namespace cairn::http {
namespace {

constexpr int gzip_window = 15 + 16;

// Compressing smaller bodies does not save a packet.
constexpr std::size_t worth_it_bytes = 4u << 10;

bool compressible(std::string_view type) {
  return type.starts_with("text/") || type.find("json") != std::string_view::npos ||
         type.find("xml") != std::string_view::npos;
}

}  // namespace

bool takes_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    const std::size_t end = accepted.find(',');
    std::string_view one = accepted.substr(0, end);
    accepted = end == std::string_view::npos ? std::string_view() : accepted.substr(end + 1);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    if (!one.starts_with("gzip")) continue;
    one.remove_prefix(4);
    if (one.empty() || one.front() == ' ') return true;
    const std::size_t weight = one.find("q=");
    return one.front() == ';' && (weight == std::string_view::npos ||
                                  one.substr(weight + 2).find_first_not_of("0. ") != std::string_view::npos);
  }
  return false;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 5, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(done == Z_STREAM_END ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

std::optional<std::string> gunzip(std::string_view packed, std::size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int done = Z_OK;
  while (done == Z_OK && out.size() <= bytes_max) {
    constexpr std::size_t part = 64u << 10;
    out.resize(out.size() + part);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out.size() - part);
    stream.avail_out = static_cast<uInt>(part);
    done = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (done != Z_STREAM_END || out.size() > bytes_max) return std::nullopt;
  return out;
}

void compress(Response& response, std::string_view accept_encoding) {
  if (response.stream || response.body.size() < worth_it_bytes || !compressible(response.content_type)) return;
  for (const auto& [name, value] : response.headers) {
    if (name == "vary") return;
  }
  response.headers.emplace_back("vary", "accept-encoding");
  if (!takes_gzip(accept_encoding)) return;
  std::string small = gzip(response.body);
  if (small.empty() || small.size() >= response.body.size()) return;
  response.body = std::move(small);
  response.headers.emplace_back("content-encoding", "gzip");
}

}  // namespace cairn::http
