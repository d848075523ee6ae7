#include "render/png.h"

#include <zlib.h>

#include "base/limit_refusals.h"
#include "render/outlines.h"
#include "render/raster.h"

namespace cairn::render {
namespace {

void append_number(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
}

const Bytef* zlib_bytes(std::string_view text) { return reinterpret_cast<const Bytef*>(text.data()); }

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_number(out, static_cast<std::uint32_t>(data.size()));
  std::string checked(type);
  checked += data;
  out += checked;
  append_number(out, static_cast<std::uint32_t>(crc32_z(0, zlib_bytes(checked), checked.size())));
}

// Stores each row as its difference to the row above, so flat areas become zeros.
std::string filtered_rows(const Raster& raster) {
  const std::size_t stride = static_cast<std::size_t>(raster.width()) * 3;
  const std::vector<std::uint8_t>& pixels = raster.pixels();
  std::string rows((stride + 1) * static_cast<std::size_t>(raster.height()), '\0');
  for (std::size_t y = 0; y < static_cast<std::size_t>(raster.height()); ++y) {
    char* row = &rows[y * (stride + 1)];
    *row++ = 2;
    const std::uint8_t* here = &pixels[y * stride];
    for (std::size_t x = 0; x < stride; ++x)
      row[x] = static_cast<char>(y == 0 ? here[x] : here[x] - *(here + x - stride));
  }
  return rows;
}

std::string compressed(std::string_view bytes) {
  constexpr int level = 3;  // level 6 makes pictures a fifth smaller and takes twice the time
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int done = compress2(reinterpret_cast<Bytef*>(out.data()), &size, zlib_bytes(bytes), bytes.size(), level);
  CAIRN_ASSERT(done == Z_OK);
  out.resize(size);
  return out;
}

std::string encode(const Raster& raster) {
  std::string out = "\x89PNG\r\n\x1a\n";
  std::string header;
  append_number(header, static_cast<std::uint32_t>(raster.width()));
  append_number(header, static_cast<std::uint32_t>(raster.height()));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // eight bits, red green blue, no other options
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", compressed(filtered_rows(raster)));
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace

Result<std::string> png_bytes(const Layout& layout, Theme theme, int scale, const Overlay* overlay, long pixels_max) {
  const long pixels = static_cast<long>(layout.width) * scale * layout.height * scale;
  if (pixels > pixels_max) {
    return limit_error("limits.png_pixels_max", pixels_max,
                       "the picture would have " + std::to_string(pixels / 1'000'000) +
                           " million pixels; use SVG, a smaller scale, or collapse it");
  }
  const Picture picture = draw(layout, theme, overlay);
  Raster raster(picture.width * scale, picture.height * scale);
  for (const Mark& mark : picture.marks) {
    if (mark.kind == Mark::Kind::rect && mark.width == picture.width * 10 && mark.height == picture.height * 10) {
      raster.clear(mark.ink.fill);
      continue;
    }
    if (mark.kind == Mark::Kind::text) {
      raster.fill(lettered(mark, scale), mark.ink.fill);
      continue;
    }
    const std::vector<Track> tracks = tracks_of(mark, scale);
    if (tracks.empty()) continue;
    if (!mark.ink.fill.empty()) raster.fill(filled(tracks), mark.ink.fill);
    if (!mark.ink.stroke.empty()) raster.fill(stroked(tracks, mark.ink.width, mark.ink.dash, scale), mark.ink.stroke);
  }
  return encode(raster);
}

}  // namespace cairn::render
