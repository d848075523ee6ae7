// Small bar chart and the chart of two lines. Positions are attributes of SVG elements.
export function Spark({ values }: { values: number[] }) {
  const most = Math.max(1, ...values);
  const step = 100 / values.length;
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, at) => {
        const height = value === 0 ? 1.5 : Math.max(2.5, (value / most) * 22);
        return <rect key={at} class={value === 0 || at < values.length * 0.66 ? 'dim' : ''} x={(at * step).toFixed(2)} y={(24 - height).toFixed(1)} width={(step * 0.8).toFixed(2)} height={height.toFixed(1)} rx=".6" />;
      })}
    </svg>
  );
}

export function Lines({ one, two, label, ticks, unit }: { one: number[]; two: number[]; label: string; ticks: string[]; unit: string }) {
  const most = Math.max(4, ...one, ...two);
  const top = Math.ceil(most / 4) * 4;
  const x = (at: number) => 8 + (at / Math.max(1, one.length - 1)) * 304;
  const y = (value: number) => 88 - (value / top) * 70;
  const path = (values: number[]) => values.map((value, at) => `${at ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('');
  return (
    <svg class="chart" viewBox="0 0 320 112" role="img" aria-label={label}>
      <path class="grid" d="M8 88H312M8 53H312M8 18H312" />
      <text x="8" y="13">{`${top} ${unit}`}</text>
      <path class="a1" d={`${path(one)}L312 88L8 88Z`} />
      <path class="l1" d={path(one)} />
      <path class="l2" d={path(two)} />
      {ticks.map((tick, at) => (
        <text key={at} x={at === 0 ? 8 : at === ticks.length - 1 ? 312 : 160} y="106" text-anchor={at === 0 ? 'start' : at === ticks.length - 1 ? 'end' : 'middle'}>
          {tick}
        </text>
      ))}
    </svg>
  );
}

// How often something happened in equal stretches of time up to now.
export function buckets(times: number[], from: number, to: number, count: number): number[] {
  const result = new Array<number>(count).fill(0);
  for (const at of times) {
    const index = Math.floor(((at - from) / (to - from)) * count);
    if (index >= 0 && index < count) result[index]!++;
  }
  return result;
}
