// Live events. One tab of the browser holds the stream and tells the others (a lock decides which); every page also works without it.
import { signal } from '@preact/signals';
import { link } from './base_path';
import { parse, type Json } from './json/lossless';
import { session } from './session';
import { live_on, stored, store } from './settings';

export interface CloudEvent {
  type: string;
  subject?: string;
  time: string;
  sequence: string;
  data: Json;
  id: string;
  source: string;
}

export const connected = signal(false);
type Listener = (event: CloudEvent) => void;
const listeners = new Set<Listener>();
let source: EventSource | null = null;
let last = '';
let channel: BroadcastChannel | null = null;
let leader = false;
let started = false;
let seen = 0; // when the last life-cycle event came

// A server may keep no life-cycle events. Then the stream is up and silent, and pages must ask.
export const is_silent = (): boolean => Date.now() - seen > 60_000;

function hand_out(event: CloudEvent): void {
  last = event.sequence;
  if (event.type.startsWith('cairn.')) seen = Date.now();
  for (const one of [...listeners]) one(event);
}

function open(): void {
  if (source || !leader || !live_on.value || !session.value) return;
  source = new EventSource(link(last ? `/v1/events?after=${encodeURIComponent(last)}` : '/v1/events'));
  source.onopen = () => announce(true);
  source.onerror = () => {
    announce(false);
    if (source?.readyState === EventSource.CLOSED) {
      source = null;
      setTimeout(open, 4000);
    }
  };
  source.addEventListener('cloudevent', (message) => {
    const text = (message as MessageEvent<string>).data;
    channel?.postMessage({ event: text });
    hand_out(parse(text) as unknown as CloudEvent);
  });
}

function close(): void {
  source?.close();
  source = null;
  announce(false);
}

function announce(up: boolean): void {
  connected.value = up;
  channel?.postMessage({ up });
}

export function start_live(): void {
  if (started) {
    open();
    return;
  }
  started = true;
  if (typeof BroadcastChannel !== 'undefined' && navigator.locks) {
    channel = new BroadcastChannel(`cairn-live${link('')}`);
    channel.onmessage = ({ data }) => {
      if (leader || !live_on.value) {
        if (leader && data.ask) announce(connected.value);
        return;
      }
      if (data.up !== undefined) connected.value = data.up;
      if (data.event) {
        connected.value = true;
        hand_out(parse(data.event) as unknown as CloudEvent);
      }
    };
    channel.postMessage({ ask: true });
    void navigator.locks.request(`cairn-live${link('')}`, () => {
      leader = true;
      open();
      return new Promise(() => {});
    });
  } else {
    leader = true;
    open();
  }
  live_on.subscribe((on) => {
    if (!leader) return;
    if (on) open();
    else close();
  });
  // Signing out ends the stream.
  session.subscribe((now) => {
    if (!now && source) close();
  });
}

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const instance_of = (event: CloudEvent): string | undefined => {
  const data = event.data as { instance?: string } | null;
  return data?.instance ?? (event as unknown as { instance?: string }).instance ?? event.subject;
};

export const recent = (): string[] => stored<string[]>('recent', []);
export function remember(path: string, title: string): void {
  const entry = `${path}\n${title}`;
  store('recent', [entry, ...recent().filter((one) => !one.startsWith(`${path}\n`))].slice(0, 8));
}
