import { ClientError } from 'ledgerplane/client';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';

import { after } from '../../../server/browser-clock.ts';
import type { EditorLanguage, Marked } from '../../../ui/editor/code-editor.ts';
import { readText, textOf, type ReadText } from './draft-text.ts';
import type { JsonObject } from './editable.ts';

/** The state of the last dry run. `unknown`: the server could not be asked. */
export type CheckStatus = 'idle' | 'checking' | 'valid' | 'invalid' | 'unknown';

export type Draft = {
  readonly text: Ref<string>;
  readonly language: Ref<EditorLanguage>;
  readonly read: ComputedRef<ReadText>;
  readonly marks: ComputedRef<readonly Marked[]>;
  readonly status: Readonly<Ref<CheckStatus>>;
  /** A refusal that is about no single value. */
  readonly refusal: Readonly<Ref<Error | undefined>>;
  /** Whether the text differs from the last `reset`. */
  readonly isChanged: ComputedRef<boolean>;
  readonly reset: (value: JsonObject) => void;
  readonly replace: (value: JsonObject) => void;
  readonly type: (text: string) => void;
  readonly speak: (language: EditorLanguage) => void;
  /** Shows the problems of a refused write like those of a dry run. */
  readonly refuse: (error: unknown) => void;
};

const settleMs = 450;

type Problems = {
  readonly status: Ref<CheckStatus>;
  readonly found: Ref<ClientError['errors']>;
  readonly refusal: Ref<Error | undefined>;
  readonly clear: (status: CheckStatus) => void;
  readonly refuse: (error: unknown) => void;
};

function useProblems(): Problems {
  const status = shallowRef<CheckStatus>('idle');
  const found = shallowRef<ClientError['errors']>([]);
  const refusal = shallowRef<Error>();
  return {
    status,
    found,
    refusal,
    clear: (now) => {
      found.value = [];
      refusal.value = undefined;
      status.value = now;
    },
    refuse: (error) => {
      const isRefusal = error instanceof ClientError;
      status.value = isRefusal && error.status < 500 && error.status !== 429 ? 'invalid' : 'unknown';
      found.value = isRefusal ? error.errors : [];
      refusal.value = isRefusal && error.errors.length === 0 ? error : undefined;
    },
  };
}

type DryRun = (value: JsonObject, signal: AbortSignal) => Promise<unknown>;

/** Asks the server after each pause in typing. Only the answer about the present text counts. */
function checkWhileTyping(text: Ref<string>, read: ComputedRef<ReadText>, problems: Problems, dryRun: DryRun): void {
  let checking: AbortController | undefined;
  let cancel = (): void => undefined;
  const check = async (): Promise<void> => {
    const { value: now } = read;
    if (!now.ok) {
      problems.clear('invalid');
      return;
    }
    checking = new AbortController();
    const { signal } = checking;
    problems.status.value = 'checking';
    try {
      await dryRun(now.value, signal);
      if (!signal.aborted) problems.clear('valid');
    } catch (error) {
      if (!signal.aborted) problems.refuse(error);
    }
  };
  const forget = (): void => {
    cancel();
    checking?.abort();
  };
  watch(text, () => {
    forget();
    cancel = after(settleMs, () => void check());
  });
  onScopeDispose(forget);
}

/**
 * The draft of an object as text. After each pause in typing, `dryRun` asks the server. The problems that it finds are
 * then marked at their places in the text.
 */
export function useDraft(initial: JsonObject, dryRun: DryRun): Draft {
  const { t } = useI18n();
  const language = shallowRef<EditorLanguage>('yaml');
  const saved = shallowRef(initial);
  const text = shallowRef(textOf(initial, 'yaml'));
  const problems = useProblems();
  const read = computed(() =>
    readText(text.value, { tooLong: t('objects.edit.tooLong'), noObject: t('objects.edit.noObject') }),
  );
  const marks = computed<readonly Marked[]>(() => {
    const { value: now } = read;
    if (!now.ok) return now.marks;
    return problems.found.value.map(({ pointer, detail }) => ({
      ...now.locate(pointer),
      message: `${pointer}: ${detail}`,
    }));
  });
  checkWhileTyping(text, read, problems, dryRun);
  return {
    text,
    language,
    read,
    marks,
    status: problems.status,
    refusal: problems.refusal,
    isChanged: computed(() => text.value !== textOf(saved.value, language.value)),
    reset: (value) => {
      saved.value = value;
      text.value = textOf(value, language.value);
      problems.clear('idle');
    },
    replace: (value) => {
      text.value = textOf(value, language.value);
    },
    type: (typed) => {
      text.value = typed;
    },
    speak: (chosen) => {
      const { value: now } = read;
      language.value = chosen;
      if (now.ok) text.value = textOf(now.value, chosen);
    },
    refuse: problems.refuse,
  };
}
