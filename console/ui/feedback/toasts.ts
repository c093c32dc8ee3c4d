import { shallowRef, type Ref } from 'vue';

import { after } from '../../server/browser-clock.ts';

export type Toast = {
  readonly id: number;
  readonly kind: 'success' | 'failure';
  readonly text: string;
};

const shownMs = 6_000;
const toastsMax = 4;

const shown = shallowRef<readonly Toast[]>([]);
let lastId = 0;

/** The shown messages, newest last. */
export const toasts: Readonly<Ref<readonly Toast[]>> = shown;

/** Shows and announces a short message. A failure is shown until the user closes it. */
export function showToast(kind: Toast['kind'], text: string): void {
  lastId += 1;
  const id = lastId;
  shown.value = [...shown.value, { id, kind, text }].slice(-toastsMax);
  if (kind === 'success')
    after(shownMs, () => {
      closeToast(id);
    });
}

export function closeToast(id: number): void {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}
