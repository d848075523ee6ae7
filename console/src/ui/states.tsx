// What a page shows when it has nothing to show: loading, empty, broken.
import type { ComponentChildren } from 'preact';
import { Problem } from '../api';
import { words } from '../words';
import { Icon } from './icon';

export function Loading() {
  return (
    <div class="sk" aria-busy="true" role="status" aria-label={words.value.common.loading}>
      <span class="skel w2" />
      <span class="skel w3" />
      <span class="skel w1" />
      <span class="skel w3" />
    </div>
  );
}

export function Empty({ icon, title, children }: { icon: string; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function reason_of(error: unknown): string {
  if (error instanceof Problem) return error.detail || error.title;
  if (error instanceof TypeError) return words.value.common.no_answer;
  return error instanceof Error ? error.message : String(error);
}

export function Broken({ error, retry }: { error: Error; retry?: () => void }) {
  const t = words.value.common;
  const status = error instanceof Problem ? error.status : 0;
  const title = status === 404 ? t.not_found : status === 403 ? t.forbidden : t.broken;
  return (
    <div class="empty" role="alert">
      <Icon name={status === 404 ? 'search' : 'suspended'} />
      <h2>{title}</h2>
      <p>{reason_of(error)}</p>
      {retry && status !== 404 && status !== 403 && (
        <button class="btn" type="button" onClick={retry}>
          {t.try_again}
        </button>
      )}
    </div>
  );
}
