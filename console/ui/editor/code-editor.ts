import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';

import type { Assist } from './assist.ts';
import { assistExtension } from './assist-extension.ts';

export type EditorLanguage = 'yaml' | 'json';

/** A problem with a part of the text, by offsets. */
export type Marked = { readonly from: number; readonly to: number; readonly message: string };

export type EditorOptions = {
  readonly text: string;
  readonly language: EditorLanguage;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  /** Called when the user presses Ctrl-S. */
  readonly onSave: () => void;
};

/** The colours are custom properties of the page, which also apply in a shadow root. */
const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface-low)',
    color: 'var(--text-faint)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--accent) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--surface-active)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in oklab, var(--accent) 24%, transparent) !important',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--surface-high)',
    color: 'var(--text)',
    borderColor: 'var(--line)',
  },
  '.cm-diagnostic': { padding: '4px 10px', fontFamily: 'var(--font)', maxWidth: '60ch' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--surface-active)', color: 'var(--text-muted)', border: '0' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-text)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--text-muted)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

/**
 * CodeMirror in a shadow root, where it uses constructed style sheets. In a document, it would insert a style element,
 * which the page's Content-Security-Policy refuses.
 */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  readonly #assistance = new Compartment();
  #spoken: EditorLanguage;
  #assist: Assist | undefined;

  constructor(host: HTMLElement, { text, language, label, isReadOnly, onChange, onSave }: EditorOptions) {
    this.#spoken = language;
    const root = host.attachShadow({ mode: 'open' });
    const state = EditorState.create({
      doc: text,
      extensions: [
        keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => (onSave(), true) }]),
        basicSetup,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        this.#language.of(extensionOf(language)),
        this.#assistance.of([]),
        lintGutter(),
        EditorView.domEventHandlers({ beforeinput: replaceSelection }),
        look,
        syntaxHighlighting(colours),
        EditorState.readOnly.of(isReadOnly),
        EditorView.updateListener.of(({ docChanged, state: { doc } }) => {
          if (docChanged) onChange(doc.toString());
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
  }

  /** Replaces the text, if the new text is different. */
  replace(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() !== text) this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  speak(language: EditorLanguage): void {
    this.#spoken = language;
    this.#view.dispatch({ effects: this.#language.reconfigure(extensionOf(language)) });
    this.assist(this.#assist);
  }

  /** Enables completion, and explanations of words under the pointer; undefined disables them. */
  assist(assist: Assist | undefined): void {
    this.#assist = assist;
    const extension = assist === undefined ? [] : assistExtension(assist, this.#spoken);
    this.#view.dispatch({ effects: this.#assistance.reconfigure(extension) });
  }

  mark(marks: readonly Marked[]): void {
    const { length } = this.#view.state.doc;
    const diagnostics = marks.map(({ from, to, message }) => ({
      from: Math.min(from, length),
      to: Math.min(Math.max(to, from), length),
      severity: 'error' as const,
      message,
    }));
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics));
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/**
 * Replaces a selection with typed text. The browser itself would copy the style of the replaced text into a style
 * attribute, which the page's Content-Security-Policy refuses and reports.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty || view.state.readOnly)
    return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

function extensionOf(language: EditorLanguage): Extension {
  return language === 'yaml' ? yaml() : json();
}
