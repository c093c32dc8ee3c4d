import { onBeforeUnmount, onMounted, type ShallowRef } from 'vue';

type Focused = { readonly key: string; readonly place: number; readonly selection: readonly [number, number] };

/** The control that had the focus when its editor was unmounted. `place` is its index among the controls. */
let left: Focused | undefined;

/**
 * Restores the focus and the selection when the editor of a saved post replaces the editor of the new post, so that the
 * author can continue to type. Both editors have the same controls. `keyOf` returns the key of the post's draft.
 */
export function useKeptFocus(root: Readonly<ShallowRef<HTMLElement | null>>, keyOf: () => string): void {
  const controls = (): readonly HTMLElement[] => [
    ...(root.value?.querySelectorAll<HTMLElement>('input, textarea, select') ?? []),
  ];
  onMounted(() => {
    const focused = left?.key === keyOf() ? left : undefined;
    left = undefined;
    const control = controls()[focused?.place ?? -1];
    control?.focus({ preventScroll: true });
    if (focused !== undefined && isText(control)) control.setSelectionRange(...focused.selection);
  });
  onBeforeUnmount(() => {
    const { activeElement } = document;
    const place = controls().findIndex((control) => control === activeElement);
    const { selectionStart, selectionEnd } = isText(activeElement) ? activeElement : noSelection;
    left = place === -1 ? undefined : { key: keyOf(), place, selection: [selectionStart ?? 0, selectionEnd ?? 0] };
  });
}

const noSelection = { selectionStart: null, selectionEnd: null };

function isText(control: unknown): control is HTMLTextAreaElement | HTMLInputElement {
  return control instanceof HTMLTextAreaElement || (control instanceof HTMLInputElement && control.type === 'text');
}
