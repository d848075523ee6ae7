// A modal dialog. The browser keeps the focus inside and gives it back.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  actions?: ComponentChildren;
  wide?: boolean;
  onSubmit?: () => void;
}

export function Dialog({ title, onClose, children, actions, wide, onSubmit }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    if (!dialog.open) dialog.showModal();
    const first = dialog.querySelector<HTMLElement>('[autofocus], .in input, .in textarea, .in select, .in button, .in a');
    first?.focus();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog is-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <form method="dialog" onSubmit={submit}>
        <div class="in">
          <h2 id={id}>{title}</h2>
          {children}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </form>
    </dialog>
  );
}
