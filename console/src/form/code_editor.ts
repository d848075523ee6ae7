// CodeMirror inside a shadow root: there it keeps its styles to itself, which the strict policy allows.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--muted)' },
  { tag: tags.string, color: 'var(--st-event)' },
  { tag: tags.number, color: 'var(--st-time)' },
  { tag: [tags.bool, tags.null], color: 'var(--st-running)' },
]);
const look = EditorView.theme({
  '&': { font: 'var(--m-12)', color: 'var(--text)', background: 'var(--surface)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0', fontFamily: 'var(--mono)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '18px', overflow: 'auto' },
  '.cm-gutters': { background: 'var(--sunken)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--pressed)' },
});

export function open_editor(host: HTMLElement, text: string, label: string, language: 'json' | 'text', change: (text: string) => void) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const place = document.createElement('div');
  root.replaceChildren(place);
  place.style.height = '100%';
  const view = new EditorView({
    root,
    parent: place,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
        keymap.of([...defaultKeymap.filter((one) => one.key !== 'Mod-Enter'), ...historyKeymap]),
        ...(language === 'json' ? [json()] : []),
        syntaxHighlighting(colors), look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    set: (next: string) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    destroy: () => view.destroy(),
  };
}
