// The layout document of a diagram: where everything is, and the tree in reading order.
export interface LayoutNode {
  x: number;
  y: number;
  width: number;
  height: number;
  shape: string;
  step?: string;
  text?: string;
}

export interface LayoutRow {
  depth: number;
  node?: number;
  lane?: string;
  kind?: string;
}

export interface Layout {
  width: number;
  height: number;
  nodes: LayoutNode[];
  rows: LayoutRow[];
  containers: { x: number; y: number; width: number; height: number; step?: string }[];
  title?: string;
  name: string;
  version: string;
}

export const node_of = (layout: Layout, step: string): LayoutNode | undefined => layout.nodes.find((one) => one.step === step);
export const title_of = (layout: Layout | undefined, step: string): string => (layout && node_of(layout, step)?.text) || step;

// The part of the picture that has something in it; the heading is left out.
export function extent(layout: Layout): { x: number; y: number; width: number; height: number } {
  const boxes = [...layout.nodes, ...layout.containers];
  if (boxes.length === 0) return { x: 0, y: 0, width: layout.width, height: layout.height };
  const top = Math.min(...boxes.map((one) => one.y));
  return { x: 0, y: top - 24, width: layout.width, height: layout.height - top + 24 };
}
