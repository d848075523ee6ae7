// Letters that are typed after the palette was opened and before its field has the focus: the palette may still be loading.
let kept: string | null = null;

function keep(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Backspace') kept = (kept ?? '').slice(0, -1);
  else if (event.key.length === 1) kept = (kept ?? '') + event.key;
  else return;
  event.preventDefault();
  event.stopPropagation();
}

export function keep_letters() {
  if (kept !== null) return;
  kept = '';
  window.addEventListener('keydown', keep, true);
}

// Ends keeping.
export function take_letters(): string {
  window.removeEventListener('keydown', keep, true);
  const letters = kept ?? '';
  kept = null;
  return letters;
}
