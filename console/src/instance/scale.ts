// A time axis that folds idle time: 24 empty hours are one narrow stripe that says how long it was.
export interface Fold {
  from: number; // percent
  to: number;
  milliseconds: number;
}

export interface Scale {
  at: (time: number) => number; // percent
  folds: Fold[];
}

export function make_scale(times: number[]): Scale {
  const points = [...new Set(times)].sort((a, b) => a - b);
  if (points.length < 2) return { at: () => 2, folds: [] };
  const span = points[points.length - 1]! - points[0]!;
  const least = Math.max(30_000, span * 0.12);
  const gaps = points.slice(1).map((time, at) => time - points[at]!);
  const folded = gaps.map((gap) => span > 60_000 && gap >= least);
  const fold_count = folded.filter(Boolean).length;
  const fold_width = fold_count ? Math.min(13, 44 / fold_count) : 0;
  const weights = gaps.map((gap, at) => (folded[at] ? 0 : Math.sqrt(gap) + 2));
  const total = weights.reduce((sum, one) => sum + one, 0) || 1;
  const room = 94 - fold_width * fold_count;
  const edges = [2];
  const folds: Fold[] = [];
  gaps.forEach((gap, at) => {
    const from = edges[at]!;
    const width = folded[at] ? fold_width : (weights[at]! / total) * room;
    edges.push(from + width);
    if (folded[at]) folds.push({ from, to: from + width, milliseconds: gap });
  });
  const at = (time: number): number => {
    if (time <= points[0]!) return edges[0]!;
    if (time >= points[points.length - 1]!) return edges[edges.length - 1]!;
    let low = 0;
    let high = points.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (points[middle]! <= time) low = middle;
      else high = middle;
    }
    return edges[low]! + ((time - points[low]!) / (gaps[low] || 1)) * (edges[low + 1]! - edges[low]!);
  };
  return { at, folds };
}
