// Which rows of a long list are on screen. All rows have one height.
export interface RowWindow {
  first: number;
  last: number; // past the end
  above: number; // pixels before the first row
  below: number; // pixels after the last row
}

export function window_of(count: number, row: number, scroll: number, height: number, extra = 8): RowWindow {
  if (row <= 0) return { first: 0, last: count, above: 0, below: 0 };
  const most = Math.max(0, count * row - height);
  const at = Math.min(Math.max(0, scroll), most);
  const first = Math.max(0, Math.floor(at / row) - extra);
  const last = Math.min(count, Math.ceil((at + height) / row) + extra);
  return { first, last, above: first * row, below: (count - last) * row };
}

// The scroll position that shows a row, or the present one if it is on screen.
export function scroll_to(index: number, row: number, scroll: number, height: number, head = 0): number {
  const top = index * row;
  if (top < scroll) return top;
  if (top + row > scroll + height - head) return top + row - height + head;
  return scroll;
}
