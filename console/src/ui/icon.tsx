export function Icon({ name, size }: { name: string; size?: 12 | 20 }) {
  return (
    <svg class={size ? `i i-${size}` : 'i'} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
