// Who uses the console and what they may do.
import { computed, signal } from '@preact/signals';
import type { Permission, Session } from './api_types';

export type SignedIn = Session & { user: string };

// undefined: not asked yet; null: no user is signed in.
export const session = signal<SignedIn | null | undefined>(undefined);
export const session_lost = signal(false);
export const sign_in_ways = signal<string[]>(['key']); // key, oidc
export const server_away = signal<number | null>(null); // since when the server does not answer
export const may = (permission: Permission): boolean => session.value?.permissions.includes(permission) ?? false;
export const user = computed(() => session.value?.user ?? '');
