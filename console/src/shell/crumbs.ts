// Where the person is. Each page sets its own trail.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export interface Crumb {
  text: string;
  href?: string;
}
export const crumbs = signal<Crumb[]>([]);

export function useTitle(title: string, trail: Crumb[] = []): void {
  useEffect(() => {
    document.title = title ? `${title} · cairn` : 'cairn';
    crumbs.value = [...trail, { text: title }];
  }, [title, trail.map((one) => one.text).join('/')]);
}
