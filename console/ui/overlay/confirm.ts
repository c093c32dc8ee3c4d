import { shallowRef, type Ref } from 'vue';

export type Question = {
  readonly title: string;
  readonly text?: string | undefined;
  /** The text of the button that confirms: the action itself, such as “Delete”. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** The user must type this text before the action, for actions that cannot be undone. */
  readonly typed?: string | undefined;
};

export type PendingQuestion = Question & { answer(isConfirmed: boolean): void };

const pending = shallowRef<PendingQuestion | undefined>();

/** The question that is shown now. */
export const question: Readonly<Ref<PendingQuestion | undefined>> = pending;

/** Asks the user. Resolves with whether the action is confirmed. A second question replaces the first one. */
export async function confirm(asked: Question): Promise<boolean> {
  pending.value?.answer(false);
  return new Promise((resolve) => {
    pending.value = {
      ...asked,
      answer: (isConfirmed) => {
        pending.value = undefined;
        resolve(isConfirmed);
      },
    };
  });
}
