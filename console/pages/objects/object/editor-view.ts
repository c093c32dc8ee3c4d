/** How a draft is shown. */
export type EditorView = 'form' | 'yaml' | 'json';

const viewKey = 'ledgerplane.editor';

/** Returns the view that the user chose last in this browser. */
export function chosenView(): EditorView {
  const kept = localStorage.getItem(viewKey);
  return kept === 'yaml' || kept === 'json' ? kept : 'form';
}

export function rememberView(view: EditorView): void {
  localStorage.setItem(viewKey, view);
}
