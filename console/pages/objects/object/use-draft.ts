import { ClientError } from 'ledgerplane/client';
import { computed, onScopeDispose, shallowRef, watch, type ComputedRef, type Ref } from 'vue';
import { useI18n } from 'vue-i18n';

import { after } from '../../../server/browser-clock.ts';
import type { EditorLanguage, Marked } from '../../../ui/editor/code-editor.ts';
import { readText, textOf, type ReadText } from './draft-text.ts';
import type { BrokenText } from '../form/form-context.ts';
import type { JsonObject } from './editable.ts';
import { updatedText } from './update-text.ts';

/** The status of the last dry run. `unknown`: the server could not be reached. */
export type CheckStatus = 'idle' | 'checking' | 'valid' | 'invalid' | 'unknown';

/** A problem with its place in the text, and with the pointer of its value if the problem belongs to a value. */
export type DraftMark = Marked & { readonly pointer?: string };

export type Draft = {
  readonly text: Ref<string>;
  readonly language: Ref<EditorLanguage>;
  readonly read: ComputedRef<ReadText>;
  readonly marks: ComputedRef<readonly DraftMark[]>;
  /** The problems of the last dry run, by JSON pointer. */
  readonly problems: ComputedRef<ReadonlyMap<string, string>>;
  /** The texts of fields that cannot be parsed as values, by pointer. */
  readonly broken: Readonly<Ref<ReadonlyMap<string, BrokenText>>>;
  readonly setBroken: (texts: ReadonlyMap<string, BrokenText>) => void;
  /** Whether the draft can be written. */
  readonly isReady: ComputedRef<boolean>;
  readonly status: Readonly<Ref<CheckStatus>>;
  /** The refusal, if it does not belong to a single value. */
  readonly refusal: Readonly<Ref<Error | undefined>>;
  /** Whether the text has changed since the last `reset`. */
  readonly isChanged: ComputedRef<boolean>;
  readonly reset: (value: JsonObject) => void;
  /** Replaces the value. The text keeps its comments. */
  readonly edit: (value: JsonObject) => void;
  /** Replaces the saved value, against which changes are compared, and the value of the draft. */
  readonly rebase: (saved: JsonObject, value: JsonObject) => void;
  /** Cancels the running dry run and the next one, because a write replaces them. */
  readonly stopCheck: () => void;
  readonly type: (text: string) => void;
  readonly speak: (language: EditorLanguage) => void;
  /** Shows the problems of a refused write in the same way as the problems of a dry run. */
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

type Check = { readonly stop: () => void; readonly start: () => void };

/** Runs a dry run after each pause in typing. Ignores a response for an earlier text or version. */
function checkWhileTyping(
  { text, read, isChanged }: Pick<Draft, 'text' | 'read' | 'isChanged'>,
  problems: Problems,
  dryRun: DryRun,
): Check {
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
  const stop = (): void => {
    cancel();
    checking?.abort();
    if (problems.status.value === 'checking') problems.status.value = 'idle';
  };
  const start = (): void => {
    stop();
    if (isChanged.value) cancel = after(settleMs, () => void check());
    else problems.clear('idle');
  };
  watch(text, start);
  onScopeDispose(stop);
  return { stop, start };
}

/** The text of a draft in YAML and JSON. */
function useText(initial: JsonObject): Pick<Draft, 'text' | 'language' | 'edit'> & {
  readonly write: (value: JsonObject) => void;
  readonly translate: (chosen: EditorLanguage, value: JsonObject | undefined) => void;
} {
  const language = shallowRef<EditorLanguage>('yaml');
  const text = shallowRef(textOf(initial, 'yaml'));
  /** The last YAML text. A switch back from JSON takes the comments from here, because JSON has no comments. */
  let yaml = text.value;
  return {
    text,
    language,
    write: (value) => {
      text.value = textOf(value, language.value);
      yaml = textOf(value, 'yaml');
    },
    edit: (value) => {
      text.value = language.value === 'yaml' ? updatedText(text.value, value) : textOf(value, 'json');
    },
    translate: (chosen, value) => {
      if (chosen === language.value) return;
      if (language.value === 'yaml') yaml = text.value;
      language.value = chosen;
      if (value !== undefined) text.value = chosen === 'yaml' ? updatedText(yaml, value) : textOf(value, 'json');
    },
  };
}

/**
 * The draft of an object as text. `dryRun` runs after each pause in typing. Its problems are marked at their places in
 * the text, and at the fields of a form.
 */
export function useDraft(initial: JsonObject, dryRun: DryRun): Draft {
  const { t } = useI18n();
  const saved = shallowRef(initial);
  const { text, language, edit, write, translate } = useText(initial);
  const broken = shallowRef<ReadonlyMap<string, BrokenText>>(new Map());
  const problems = useProblems();
  const read = computed(() =>
    readText(text.value, { tooLong: t('objects.edit.tooLong'), noObject: t('objects.edit.noObject') }),
  );
  const isChanged = computed(() => text.value !== textOf(saved.value, language.value) || broken.value.size > 0);
  const check = checkWhileTyping({ text, read, isChanged }, problems, dryRun);
  return {
    text,
    language,
    read,
    broken,
    marks: computed(() => marksOf(read.value, problems.found.value, broken.value)),
    problems: computed(
      () => new Map(problems.found.value.toReversed().map(({ pointer, detail }) => [pointer, detail])),
    ),
    status: problems.status,
    refusal: problems.refusal,
    isReady: computed(() => read.value.ok && broken.value.size === 0),
    isChanged,
    edit,
    reset: (value) => {
      check.stop();
      saved.value = value;
      broken.value = new Map();
      write(value);
      problems.clear('idle');
    },
    rebase: (base, value) => {
      saved.value = base;
      edit(value);
      check.start();
    },
    stopCheck: check.stop,
    setBroken: (texts) => {
      broken.value = texts;
    },
    type: (typed) => {
      text.value = typed;
    },
    speak: (chosen) => {
      translate(chosen, read.value.ok ? read.value.value : undefined);
    },
    refuse: problems.refuse,
  };
}

function marksOf(
  read: ReadText,
  found: ClientError['errors'],
  broken: ReadonlyMap<string, BrokenText>,
): readonly DraftMark[] {
  if (!read.ok) return read.marks;
  const texts = [...broken].map(([pointer, { message }]) => ({ pointer, detail: message }));
  return [...found, ...texts].map(({ pointer, detail }) => ({
    ...read.locate(pointer),
    pointer,
    message: `${pointer}: ${detail}`,
  }));
}
