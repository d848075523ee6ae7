// Loads something for a component, loads it again on live events and slowly without them, and keeps the last value on errors.
import { useEffect, useRef, useState } from 'preact/hooks';
import { connected, is_silent, listen, type CloudEvent } from './live';
import { live_on } from './settings';
import { session } from './session';

export interface Resource<T> {
  value: T | undefined;
  error: Error | undefined;
  loading: boolean;
  reload: () => void;
  set: (value: T) => void;
}

interface Options {
  live?: (event: CloudEvent) => boolean; // which events ask for another load
  least?: number; // milliseconds between loads caused by events
  poll?: number; // milliseconds between loads while the stream is away
  skip?: boolean;
  always?: boolean; // poll beside the stream: not every change has an event
}

export function useResource<T>(key: string, load: (signal: AbortSignal) => Promise<T>, options: Options = {}): Resource<T> {
  const [state, set_state] = useState<{ key: string; value?: T; error?: Error; loading: boolean }>({ key, loading: true });
  const again = useRef<() => void>(() => {});
  const current = useRef(load);
  current.current = load;
  const wanted = useRef(options);
  wanted.current = options;

  useEffect(() => {
    if (options.skip) return;
    let stop = new AbortController();
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let begun = 0;
    const run = () => {
      clearTimeout(timer);
      timer = undefined;
      stop.abort();
      stop = new AbortController();
      begun = Date.now();
      const mine = stop;
      current.current(mine.signal).then(
        (value) => !over && mine === stop && set_state({ key, value, loading: false }),
        (error: unknown) => {
          if (over || mine !== stop || mine.signal.aborted) return;
          set_state((old) => ({ key, value: old.key === key ? old.value : undefined, error: error as Error, loading: false }));
        },
      );
    };
    const soon = (least: number) => {
      if (timer !== undefined) return;
      timer = setTimeout(run, Math.max(30, begun + least - Date.now()));
    };
    again.current = run;
    set_state((old) => (old.key === key ? { ...old, loading: true } : { key, loading: true }));
    run();
    const quiet = listen((event) => {
      if (live_on.value && wanted.current.live?.(event)) soon(wanted.current.least ?? 150);
    });
    const poll = setInterval(() => {
      if (live_on.value && session.value && !document.hidden && (!connected.value || is_silent() || !wanted.current.live || wanted.current.always)) soon(0);
    }, options.poll ?? 15000);
    return () => {
      over = true;
      stop.abort();
      clearTimeout(timer);
      clearInterval(poll);
      quiet();
    };
  }, [key, options.skip]);

  const fresh = state.key === key;
  return {
    value: fresh ? state.value : undefined,
    error: fresh ? state.error : undefined,
    loading: fresh ? state.loading : true,
    reload: () => again.current(),
    set: (value) => set_state({ key, value, loading: false }),
  };
}
