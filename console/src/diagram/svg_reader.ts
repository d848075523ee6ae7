// Reads the SVG that the server draws. It knows only the elements and attributes that the renderer uses; anything else is dropped,
// so the picture can be part of the page without innerHTML.

export interface Mark {
  tag: string;
  attributes: Record<string, string>;
  children: (Mark | string)[];
}

const tags = new Set(['svg', 'g', 'rect', 'circle', 'path', 'text', 'title', 'desc']);
const attributes_known = new Set([
  'x', 'y', 'width', 'height', 'rx', 'cx', 'cy', 'r', 'd', 'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin',
  'stroke-linecap', 'font-size', 'font-weight', 'text-anchor', 'data-step', 'data-shape', 'data-state', 'opacity', 'viewBox',
]);
// Colours are properties of the page, with the light colour after them: var(--d-action, #e9f0fe).
const color = /^(none|#[0-9a-f]{6}|var\(--d-[a-z-]+, #[0-9a-f]{6}\))$/;
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const decode = (text: string): string =>
  text.replace(/&(#x[0-9a-f]+|#\d+|\w+);/gi, (all, name: string) =>
    name[0] === '#' ? String.fromCodePoint(name[1] === 'x' || name[1] === 'X' ? parseInt(name.slice(2), 16) : Number(name.slice(1))) : (entities[name] ?? all));

export function read_svg(text: string): Mark | null {
  const root: Mark = { tag: 'root', attributes: {}, children: [] };
  const open: Mark[] = [root];
  const token = /<(\/?)([a-zA-Z]+)((?:\s+[\w:-]+="[^"]*")*)\s*(\/?)>|<!--[^]*?-->|<\?[^]*?\?>|([^<]+)/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [, closing, tag, rest, single, words] = match;
    const parent = open[open.length - 1]!;
    if (words !== undefined) {
      if (['text', 'title', 'desc'].includes(parent.tag)) parent.children.push(decode(words));
    } else if (tag && closing) {
      if (open.length > 1 && parent.tag === tag) open.pop();
    } else if (tag) {
      const mark: Mark = { tag, attributes: {}, children: [] };
      for (const [, name, value] of rest!.matchAll(/([\w:-]+)="([^"]*)"/g)) {
        if (!attributes_known.has(name!)) continue;
        const plain = decode(value!);
        if ((name === 'fill' || name === 'stroke') && !color.test(plain)) continue;
        mark.attributes[name!] = plain;
      }
      if (tags.has(tag)) parent.children.push(mark);
      if (!single) open.push(mark);
    }
  }
  return root.children.find((one): one is Mark => typeof one !== 'string' && one.tag === 'svg') ?? null;
}

// The drawing without its background, its heading and its description: the page has its own.
export function drawing_of(svg: Mark): Mark[] {
  let head = true;
  return svg.children.filter((one): one is Mark => {
    if (typeof one === 'string' || one.tag === 'title' || one.tag === 'desc') return false;
    if (head && (one.tag === 'rect' || one.tag === 'text')) {
      const own = one.tag === 'rect' ? one.attributes.x === '0' && one.attributes.y === '0' : Number(one.attributes.y) <= 48 && one.attributes.x === '24';
      if (own) return false;
    }
    head = false;
    return true;
  });
}

export const text_of = (mark: Mark): string => mark.children.map((one) => (typeof one === 'string' ? one : text_of(one))).join('');

export interface StepLook {
  state: string;
  note: string; // what the tooltip says: "Charge card: 3s"
}

export function step_looks(svg: Mark): Map<string, StepLook> {
  const found = new Map<string, StepLook>();
  for (const one of svg.children) {
    if (typeof one === 'string' || one.tag !== 'g' || !one.attributes['data-step']) continue;
    const title = one.children.find((child): child is Mark => typeof child !== 'string' && child.tag === 'title');
    found.set(one.attributes['data-step'], { state: one.attributes['data-state'] ?? '', note: title ? text_of(title) : '' });
  }
  return found;
}
