#!/usr/bin/env python3
"""Writes font_widths.cc: the advance widths of DejaVu Sans (Debian: fonts-dejavu-core), in font units.

    src/render/make_font_widths.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf > src/render/font_widths.cc

Reads only the tables head, hhea, hmtx and cmap (format 4). Run again only to change the font or the ranges.
"""
import struct
import sys

RANGES = [(0x20, 0x52F), (0x1E00, 0x1EFF), (0x2010, 0x205E), (0x20A0, 0x20BF), (0x2100, 0x22FF), (0x25A0, 0x27BF)]


def tables(data):
    count = struct.unpack_from('>H', data, 4)[0]
    found = {}
    for i in range(count):
        tag, _, offset, length = struct.unpack_from('>4sIII', data, 12 + 16 * i)
        found[tag.decode()] = data[offset:offset + length]
    return found


def glyph_of(cmap):
    for i in range(struct.unpack_from('>H', cmap, 2)[0]):
        offset = struct.unpack_from('>HHI', cmap, 4 + 8 * i)[2]
        if struct.unpack_from('>H', cmap, offset)[0] == 4:
            break
    else:
        sys.exit('no cmap of format 4')
    n = struct.unpack_from('>H', cmap, offset + 6)[0] // 2
    at = offset + 14
    ends = struct.unpack_from(f'>{n}H', cmap, at)
    starts = struct.unpack_from(f'>{n}H', cmap, at + 2 * n + 2)
    deltas = struct.unpack_from(f'>{n}H', cmap, at + 4 * n + 2)
    offsets_at = at + 6 * n + 2
    offsets = struct.unpack_from(f'>{n}H', cmap, offsets_at)
    glyphs = {}
    for i in range(n):
        for code in range(starts[i], ends[i] + 1):
            if offsets[i] == 0:
                glyph = (code + deltas[i]) & 0xFFFF
            else:
                glyph = struct.unpack_from('>H', cmap, offsets_at + 2 * i + offsets[i] + 2 * (code - starts[i]))[0]
                glyph = (glyph + deltas[i]) & 0xFFFF if glyph else 0
            if glyph:
                glyphs[code] = glyph
    return glyphs


def main():
    font = tables(open(sys.argv[1], 'rb').read())
    units = struct.unpack_from('>H', font['head'], 18)[0]
    counted = struct.unpack_from('>H', font['hhea'], 34)[0]
    width = lambda glyph: struct.unpack_from('>H', font['hmtx'], 4 * min(glyph, counted - 1))[0]
    glyphs = glyph_of(font['cmap'])
    unknown = units * 6 // 10
    print('// Made by make_font_widths.py from DejaVu Sans (font-license.txt); do not edit.\n// clang-format off')
    print('#include "render/font_widths.h"\n')
    print('namespace cairn::render {\nnamespace {\n')
    for first, last in RANGES:
        print(f'constexpr std::uint16_t from_{first:x}[] = {{')
        values = [width(glyphs[c]) if c in glyphs else unknown for c in range(first, last + 1)]
        for i in range(0, len(values), 20):
            print('    ' + ', '.join(str(v) for v in values[i:i + 20]) + ',')
        print('};\n')
    print('constexpr WidthRange ranges[] = {')
    for first, last in RANGES:
        print(f'    {{0x{first:X}, 0x{last:X}, from_{first:x}}},')
    print('};\n\n}  // namespace\n')
    print(f'const int font_units = {units};')
    print(f'const int unknown_width = {unknown};\n')
    print('std::span<const WidthRange> width_ranges() { return ranges; }\n')
    print('}  // namespace cairn::render')


main()
