import { shallowRef, type Ref } from 'vue';

export type Question = {
  readonly title: string;
  readonly text?: string | undefined;
  /** The text of the confirming button: the action itself, such as “Delete”. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** A text that the user must type before an action that cannot be undone. */
  readonly typed?: string | undefined;
};

export type PendingQuestion = Question & { answer(isConfirmed: boolean): void };

const pending = shallowRef<PendingQuestion | undefined>();

/** The shown question; undefined if no question is open. */
export const question: Readonly<Ref<PendingQuestion | undefined>> = pending;

/**
 * Asks the user a question. Resolves with true if the user confirms the action. A second question replaces the first
 * question.
 */
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
