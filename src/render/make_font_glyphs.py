#!/usr/bin/env python3
"""Writes font_glyphs.cc: the outlines of DejaVu Sans that PNG pictures are drawn with.

    src/render/make_font_glyphs.py /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf > src/render/font_glyphs.cc

Latin, Greek, Cyrillic, and the punctuation and arrows that diagrams use. Each glyph is a run of contours; a contour is
its number of points, then per point one byte (1: on the curve) and the distance to the point before as two signed
16-bit numbers in variable length (zigzag, seven bits a byte). Compound glyphs are written out.
"""
import pathlib
import struct
import sys

RANGES = [(0x20, 0x17F), (0x386, 0x3CE), (0x400, 0x45F), (0x1E9E, 0x1E9E), (0x2010, 0x2027), (0x20AC, 0x20AC),
          (0x2190, 0x2193), (0x21A9, 0x21A9), (0x2260, 0x2265), (0xFFFD, 0xFFFD)]



def load_tables():
    source = pathlib.Path(__file__).with_name('make_font_widths.py').read_text().replace('\nmain()\n', '\n')
    names = {}
    exec(compile(source, 'make_font_widths.py', 'exec'), names)
    return names['tables'], names['glyph_of']


def outline(font, offsets, glyph, depth=0):
    start, end = offsets[glyph], offsets[glyph + 1]
    if start == end or depth > 4:
        return []
    data = font['glyf'][start:end]
    contours = struct.unpack_from('>h', data, 0)[0]
    if contours < 0:
        return compound(font, offsets, data, depth)
    ends = struct.unpack_from(f'>{contours}H', data, 10)
    at = 10 + 2 * contours
    at += 2 + struct.unpack_from('>H', data, at)[0]
    count = ends[-1] + 1
    flags = []
    while len(flags) < count:
        flag = data[at]
        at += 1
        flags.append(flag)
        if flag & 8:
            flags.extend([flag] * data[at])
            at += 1

    def coordinates(short, same):
        nonlocal at
        values, value = [], 0
        for flag in flags:
            if flag & short:
                value += data[at] if flag & same else -data[at]
                at += 1
            elif not flag & same:
                value += struct.unpack_from('>h', data, at)[0]
                at += 2
            values.append(value)
        return values

    xs = coordinates(2, 16)
    ys = coordinates(4, 32)
    result, first = [], 0
    for last in ends:
        result.append([(xs[i], ys[i], flags[i] & 1) for i in range(first, last + 1)])
        first = last + 1
    return result


def compound(font, offsets, data, depth):
    result, at = [], 10
    while True:
        flags, glyph = struct.unpack_from('>HH', data, at)
        at += 4
        dx, dy = struct.unpack_from('>hh' if flags & 1 else '>bb', data, at)
        at += 4 if flags & 1 else 2
        a, b, c, d = 1.0, 0.0, 0.0, 1.0
        if flags & 8:
            a = d = struct.unpack_from('>h', data, at)[0] / 16384
            at += 2
        elif flags & 0x40:
            a, d = (v / 16384 for v in struct.unpack_from('>hh', data, at))
            at += 4
        elif flags & 0x80:
            a, b, c, d = (v / 16384 for v in struct.unpack_from('>hhhh', data, at))
            at += 8
        for contour in outline(font, offsets, glyph, depth + 1):
            result.append([(round(x * a + y * c) + dx, round(x * b + y * d) + dy, on) for x, y, on in contour])
        if not flags & 0x20:
            return result


def number(value):
    value = (value << 1) ^ (value >> 31)
    out = []
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return out + [value]


def encode(contours):
    out = number(len(contours))
    x = y = 0
    for contour in contours:
        out += number(len(contour))
        for px, py, on in contour:
            out += [on] + number(px - x) + number(py - y)
            x, y = px, py
    return out


def main():
    tables, glyph_of = load_tables()
    font = tables(open(sys.argv[1], 'rb').read())
    glyphs = glyph_of(font['cmap'])
    long_offsets = struct.unpack_from('>h', font['head'], 50)[0]
    count = struct.unpack_from('>H', font['maxp'], 4)[0]
    offsets = struct.unpack_from(f'>{count + 1}' + ('I' if long_offsets else 'H'), font['loca'], 0)
    if not long_offsets:
        offsets = [2 * v for v in offsets]
    data, index = [], []
    for first, last in RANGES:
        for code in range(first, last + 1):
            if code in glyphs:
                index.append((code, len(data)))
                data += encode(outline(font, offsets, glyphs[code]))
    print('// Made by make_font_glyphs.py from DejaVu Sans (font-license.txt); do not edit.\n// clang-format off')
    print('#include "render/font_glyphs.h"\n')
    print('namespace cairn::render {\nnamespace {\n')
    print('constexpr std::uint8_t data[] = {')
    for i in range(0, len(data), 36):
        print('    ' + ','.join(str(v) for v in data[i:i + 36]) + ',')
    print('};\n')
    print('constexpr GlyphPlace places[] = {')
    for i in range(0, len(index), 8):
        print('    ' + ' '.join(f'{{0x{c:X}, {o}}},' for c, o in index[i:i + 8]))
    print('};\n\n}  // namespace\n')
    print('std::span<const std::uint8_t> glyph_data() { return data; }')
    print('std::span<const GlyphPlace> glyph_places() { return places; }\n')
    print('}  // namespace cairn::render')
    print(f'{len(index)} glyphs, {len(data)} bytes', file=sys.stderr)


main()
