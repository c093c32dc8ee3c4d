import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, hoverTooltip } from '@codemirror/view';

import type { Assist, Offer } from './assist.ts';
import type { EditorLanguage } from './code-editor.ts';

/** The used part of CodeMirror's completion context. */
type CompletionContext = { readonly state: EditorState; readonly pos: number; readonly explicit: boolean };

/** While the user types these characters, the offers are filtered and not requested again. */
const wordForm = /^["\w./-]*$/u;

/**
 * Completion, and the meaning of the word under the pointer. CodeMirror's basic setup contains the list of offers and
 * its keys.
 */
export function assistExtension(assist: Assist, language: EditorLanguage): Extension {
  const complete = ({ state, pos, explicit }: CompletionContext): object | null => {
    if (state.readOnly) return null;
    const found = assist.offers(state.doc.toString(), pos, language);
    if (found === undefined || (!explicit && found.from === pos)) return null;
    const { from, to, offers } = found;
    return { from, to, options: offers.map(optionOf), validFor: wordForm };
  };
  return [
    EditorState.languageData.of(() => [{ autocomplete: complete }]),
    hoverTooltip((view, pos) => {
      const found = assist.explain(view.state.doc.toString(), pos, language);
      if (found === undefined) return null;
      const { from, to, lines } = found;
      return { pos: from, end: to, above: false, create: () => ({ dom: elementOf(lines) }) };
    }),
    look,
  ];
}

function optionOf({ label, apply, detail, info, kind, rank }: Offer, index: number): object {
  // Equal matches keep the order of the schema.
  const sortText = String(index).padStart(4, '0');
  return { label, apply, detail, sortText, type: kind, boost: rank, ...(info === '' ? {} : { info }) };
}

function elementOf(lines: readonly string[]): HTMLElement {
  const element = document.createElement('div');
  element.className = 'cm-explained';
  for (const line of lines) {
    const paragraph = document.createElement('p');
    paragraph.textContent = line;
    element.append(paragraph);
  }
  return element;
}

const look = EditorView.theme({
  '.cm-explained': { maxWidth: '60ch', padding: '6px 10px', fontFamily: 'var(--font)' },
  '.cm-explained p': { margin: '0' },
  '.cm-explained p:first-child': { fontFamily: 'var(--font-mono)', fontWeight: '600' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '15em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--surface-active)',
    color: 'var(--text)',
  },
  '.cm-completionIcon': { display: 'none' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-completionDetail': { color: 'var(--text-muted)' },
  '.cm-tooltip.cm-completionInfo': {
    maxWidth: 'min(44ch, 64vw)',
    padding: '6px 10px',
    fontFamily: 'var(--font)',
    whiteSpace: 'pre-wrap',
  },
});
