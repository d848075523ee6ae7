// The server's time. A development server can be moved ahead, so the browser's clock is not enough.
import { signal } from '@preact/signals';
import { get } from './api';
import type { Info } from './api_types';

const offset = signal(0);
export const info = signal<Info | null>(null);
export const tick = signal(0); // changes every second: what shows a relative time reads it

export const now = (): number => Date.now() + offset.value;

export async function ask_time(): Promise<void> {
  const before = Date.now();
  const answer = await get<Info>('/v1/info');
  const middle = (before + Date.now()) / 2;
  const ahead = Date.parse(answer.now) - middle;
  offset.value = Math.abs(ahead) < 1500 ? 0 : ahead;
  info.value = answer;
}

let timer: ReturnType<typeof setInterval> | undefined;
export function start_clock(): void {
  timer ??= setInterval(() => {
    if (!document.hidden) tick.value++;
  }, 1000);
}
