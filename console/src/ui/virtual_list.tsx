// A list of many rows of one height; only those on screen are in the document.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { scroll_to, window_of } from './window_of';

interface Props {
  count: number;
  row: number;
  render: (index: number) => ComponentChildren;
  cursor?: number; // kept on screen
  label: string;
  tag?: 'ol' | 'ul';
  class?: string;
  near_end?: () => void;
}

// Heights are set through the object model, which the strict policy allows; no style attribute is written.
export function Spacer({ height, tag: Tag = 'li' }: { height: number; tag?: 'li' | 'div' }) {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    ref.current!.style.height = `${height}px`;
  }, [height]);
  return <Tag ref={ref as never} class="spacer" aria-hidden="true" role="presentation" />;
}

export function useWindow(count: number, row: number, cursor?: number, head = 0) {
  const ref = useRef<HTMLDivElement>(null);
  const [view, set_view] = useState({ scroll: 0, height: 600 });
  useLayoutEffect(() => {
    const box = ref.current!;
    let frame = 0;
    const read = () => {
      frame = 0;
      set_view((old) => (old.scroll === box.scrollTop && old.height === box.clientHeight ? old : { scroll: box.scrollTop, height: box.clientHeight }));
    };
    const later = () => (frame ||= requestAnimationFrame(read));
    box.addEventListener('scroll', later, { passive: true });
    const watch = new ResizeObserver(later);
    watch.observe(box);
    read();
    return () => {
      box.removeEventListener('scroll', later);
      watch.disconnect();
      cancelAnimationFrame(frame);
    };
  }, []);
  useLayoutEffect(() => {
    if (cursor === undefined || cursor < 0 || !ref.current) return;
    const box = ref.current;
    const wanted = scroll_to(cursor, row, box.scrollTop, box.clientHeight, head);
    if (wanted !== box.scrollTop) box.scrollTop = wanted;
  }, [cursor, row]);
  return { ref, ...window_of(count, row, view.scroll, view.height) };
}

export function VirtualList({ count, row, render, cursor, label, tag: Tag = 'ol', class: name, near_end }: Props) {
  const view = useWindow(count, row, cursor);
  useLayoutEffect(() => {
    if (near_end && count > 0 && view.last >= count) near_end();
  }, [view.last, count]);
  return (
    <div class="vlist" ref={view.ref} tabIndex={0} role="region" aria-label={label}>
      <Tag class={name}>
        <Spacer height={view.above} />
        {Array.from({ length: Math.max(0, view.last - view.first) }, (_, at) => render(view.first + at))}
        <Spacer height={view.below} />
      </Tag>
    </div>
  );
}
