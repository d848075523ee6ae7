// The speed of diagrams: layout and SVG together, layout alone, PNG. The goal: 70 nodes within 1 ms and 1 000 nodes
// within 10 ms for layout and SVG.
#include <benchmark/benchmark.h>

#include "render/png.h"
#include "render/random_outline.h"
#include "render/svg.h"

namespace cairn::render {
namespace {

// The first seed whose outline has this many nodes, or a few more.
Outline outline_with(std::size_t nodes) {
  for (std::uint64_t seed = 1;; ++seed) {
    Outline outline = RandomOutline(seed).make(static_cast<int>(nodes));
    const std::size_t count = layout_of(outline).nodes.size();
    if (count >= nodes && count <= nodes + nodes / 20) return outline;
  }
}

void layout_and_svg(benchmark::State& state) {
  const Outline outline = outline_with(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(svg_text(layout_of(outline)));
}
BENCHMARK(layout_and_svg)->Arg(70)->Arg(300)->Arg(1000)->Unit(benchmark::kMicrosecond);

void layout_only(benchmark::State& state) {
  const Outline outline = outline_with(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(layout_of(outline));
}
BENCHMARK(layout_only)->Arg(70)->Arg(1000)->Unit(benchmark::kMicrosecond);

void png(benchmark::State& state) {
  const Layout layout = layout_of(outline_with(static_cast<std::size_t>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(png_bytes(layout));
  state.counters["megapixels"] = layout.width * static_cast<double>(layout.height) / 1e6;
}
BENCHMARK(png)->Arg(70)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cairn::render
