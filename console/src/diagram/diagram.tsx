// A diagram that can be moved and zoomed. Only the looks of steps change while the page is open; their places never do.
import { h } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { words } from '../words';
import { extent, node_of, type Layout } from './layout';
import { drawing_of, text_of, type Mark } from './svg_reader';

export type View = 'follow' | 'fit' | 'free';

interface Props {
  svg: Mark;
  layout: Layout;
  label: string;
  selected?: string;
  current?: string; // the step to follow
  counts?: Map<string, string>; // a figure at a step
  view?: View;
  onView?: (view: View) => void;
  onSelect?: (step: string) => void;
  still?: boolean; // a small picture without interaction
  minimap?: boolean;
}

const draw = (mark: Mark | string, extra?: (mark: Mark) => Record<string, unknown>): unknown => {
  if (typeof mark === 'string') return mark;
  const own = extra?.(mark) ?? {};
  // The name of a step that can be chosen begins with what is written in it; a tooltip would say it twice.
  const parts = 'role' in own ? mark.children.filter((one) => typeof one === 'string' || one.tag !== 'title') : mark.children;
  const children = parts.flatMap((one) => ('role' in own ? [draw(one, extra), ' '] : [draw(one, extra)])) as [];
  return h(mark.tag as 'g', { ...mark.attributes, ...own }, ...children);
};

export function Diagram({ svg, layout, label, selected, current, counts, view = 'fit', onView, onSelect, still, minimap }: Props) {
  const ref = useRef<SVGSVGElement>(null);
  const [size, set_size] = useState({ width: 800, height: 420 });
  const [free, set_free] = useState({ x: 0, y: 0, k: 1 });
  const box = useMemo(() => extent(layout), [layout]);
  const marks = useMemo(() => drawing_of(svg), [svg]);

  useLayoutEffect(() => {
    const read = () => {
      const { clientWidth: width, clientHeight: height } = ref.current!;
      if (width && height) set_size((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    read();
    const watch = new ResizeObserver(read);
    watch.observe(ref.current!);
    return () => watch.disconnect();
  }, []);

  const place = useMemo(() => {
    if (view === 'free') return free;
    const fit = Math.min(size.width / box.width, size.height / box.height, still ? 1 : 1.15);
    const target = view === 'follow' && current ? node_of(layout, current) : undefined;
    if (!target || fit >= 0.95) return { k: fit, x: (size.width - box.width * fit) / 2 - box.x * fit, y: (size.height - box.height * fit) / 2 - box.y * fit };
    const k = Math.min(1, Math.max(fit, 0.8));
    const keep = (wanted: number, begin: number, length: number, room: number) =>
      length * k <= room ? (room - length * k) / 2 - begin * k : Math.min(-begin * k, Math.max(room - (begin + length) * k, wanted));
    return {
      k,
      x: keep(size.width / 2 - (target.x + target.width / 2) * k, box.x, box.width, size.width),
      y: keep(size.height / 2 - (target.y + target.height / 2) * k, box.y, box.height, size.height),
    };
  }, [view, free, size, box, current, layout]);

  const move = (next: { x: number; y: number; k: number }) => {
    set_free(next);
    if (view !== 'free') onView?.('free');
  };
  const latest = useRef({ place, move });
  latest.current = { place, move };
  useEffect(() => {
    if (still) return;
    const element = ref.current!;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { place: now, move: go } = latest.current;
      const k = Math.min(3, Math.max(0.15, now.k * Math.exp(-event.deltaY / 300)));
      const { left, top } = element.getBoundingClientRect();
      const [px, py] = [event.clientX - left, event.clientY - top];
      go({ k, x: px - ((px - now.x) / now.k) * k, y: py - ((py - now.y) / now.k) * k });
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, [still]);

  const drag = (event: PointerEvent) => {
    if (still || event.button !== 0) return;
    const begin = { x: event.clientX, y: event.clientY };
    const from = latest.current.place;
    let moved = false;
    const on = (next: PointerEvent) => {
      const [dx, dy] = [next.clientX - begin.x, next.clientY - begin.y];
      if (!moved && Math.hypot(dx, dy) < 5) return;
      moved = true;
      latest.current.move({ k: from.k, x: from.x + dx, y: from.y + dy });
    };
    const end = () => {
      removeEventListener('pointermove', on);
      removeEventListener('pointerup', end);
    };
    addEventListener('pointermove', on);
    addEventListener('pointerup', end);
  };

  const order = useMemo(() => layout.rows.flatMap((row) => (row.node === undefined ? [] : (layout.nodes[row.node]?.step ?? []))), [layout]);
  const keys = (event: KeyboardEvent, step: string) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onSelect?.(step);
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      event.stopPropagation();
      const next = order[order.indexOf(step) + (event.key === 'ArrowDown' ? 1 : -1)];
      if (next === undefined) return;
      onSelect?.(next);
      ref.current?.querySelector<SVGElement>(`[data-step="${CSS.escape(next)}"]`)?.focus();
    }
  };
  const t = words.value.diagram;
  const name_of = (mark: Mark): string => {
    const step = mark.attributes['data-step']!;
    const node = node_of(layout, step);
    const state = mark.attributes['data-state'];
    const written = mark.children.filter((one): one is Mark => typeof one !== 'string' && one.tag === 'text').map(text_of).join(' ');
    return [written || (node?.text ?? step), t.shapes[node?.shape as keyof typeof t.shapes] ?? node?.shape, state && (t.states[state as keyof typeof t.states] ?? state), counts?.get(step) && t.here(counts.get(step)!)].filter(Boolean).join(', ');
  };
  const extra = (mark: Mark) => {
    const step = mark.attributes['data-step'];
    if (!step || still || !onSelect) return {};
    return {
      tabIndex: step === (selected ?? order[0]) ? 0 : -1,
      role: 'button',
      'aria-label': name_of(mark),
      'aria-pressed': step === selected,
      class: 'step',
      onClick: () => onSelect(step),
      onKeyDown: (event: KeyboardEvent) => keys(event, step),
    };
  };
  const chosen = selected ? node_of(layout, selected) : undefined;
  const seen = { x: -place.x / place.k, y: -place.y / place.k, width: size.width / place.k, height: size.height / place.k };
  const all_in_view = seen.x <= box.x + 4 && seen.y <= box.y + 4 && seen.x + seen.width >= box.x + box.width - 4 && seen.y + seen.height >= box.y + box.height - 4;
  const interactive = !still && onSelect;
  return (
    <>
      <svg ref={ref} class={still ? 'diagram' : 'diagram is-movable'} role={interactive ? 'group' : 'img'} aria-label={label} onPointerDown={drag}>
        <g transform={`translate(${place.x.toFixed(2)} ${place.y.toFixed(2)}) scale(${place.k.toFixed(4)})`}>
          {chosen && !still && <rect class="sel" x={chosen.x - 10} y={chosen.y - 10} width={chosen.width + 20} height={chosen.height + 20} rx="16" />}
          {marks.map((mark) => draw(mark, extra) as never)}
          {counts && [...counts].map(([step, text]) => <Tag key={step} layout={layout} step={step} text={text} />)}
        </g>
      </svg>
      {minimap && !all_in_view && (
        <div class="minimap" aria-hidden="true">
          <svg class="diagram" viewBox={`${box.x} ${box.y} ${box.width} ${box.height}`} preserveAspectRatio="xMidYMid meet">
            {marks.map((mark) => draw(mark) as never)}
            <rect class="view" x={seen.x} y={seen.y} width={seen.width} height={seen.height} rx="10" />
          </svg>
        </div>
      )}
    </>
  );
}

function Tag({ layout, step, text }: { layout: Layout; step: string; text: string }) {
  const node = node_of(layout, step);
  if (!node) return null;
  const width = 12 + text.length * 7;
  const x = node.x + node.width + 8 - width;
  return (
    <>
      <rect class="tag" x={x} y={node.y - 9} width={width} height="18" rx="9" />
      <text class="tag-text" x={x + width / 2} y={node.y + 4}>
        {text}
      </text>
    </>
  );
}
