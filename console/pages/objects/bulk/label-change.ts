import type { LabelPatch } from './labelling.ts';

/** A label to set or to remove, as the user enters it. */
export type LabelChange = { readonly action: 'set' | 'remove'; readonly key: string; readonly value: string };

/** Returns the patch of the entered changes; undefined if a key is missing or occurs twice. */
export function labelPatchOf(changes: readonly LabelChange[]): LabelPatch | undefined {
  const keys = new Set(changes.map(({ key }) => key));
  if (keys.has('') || keys.size !== changes.length || changes.length === 0) return undefined;
  return Object.fromEntries(changes.map(({ action, key, value }) => [key, action === 'set' ? value : null]));
}
