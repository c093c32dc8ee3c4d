import { ClientError } from 'ledgerplane/client';
import { showToast, useFailureText, useMessages } from 'ledgerplane/console-kit';
import { computed, shallowRef, type ComputedRef, type Ref } from 'vue';

import type { PostDesk } from '../posts/post-desk.ts';
import { changesOf, type Post } from '../posts/post.ts';
import type { PostDraftState } from './use-post-draft.ts';

export type Action = 'save' | 'publish' | 'unpublish' | 'submit' | 'withdraw' | 'bin' | 'restore';

type Problems = Readonly<Record<string, string>>;

export type Saving = {
  /** The action in progress. */
  readonly running: Readonly<Ref<Action | undefined>>;
  /** The messages about invalid members, by member. */
  readonly problems: ComputedRef<Problems>;
  /** Resolves with the written post; undefined if nothing was written, or if the author must resolve a conflict. */
  readonly run: (action: Action) => Promise<Post | undefined>;
};

/**
 * The maximum number of attempts of a write. A conflict may be caused by the plugin's own writes to the post, so a
 * write is retried after a merge.
 */
const attemptsMax = 6;

export type SavingOptions = {
  readonly desk: PostDesk;
  /** The name of the post; undefined for a new post. */
  readonly name: () => string | undefined;
  readonly state: PostDraftState;
};

/**
 * Saves the draft of a post, and runs actions on the post. Shows errors beside the invalid members, or as a message.
 */
export function useSaving(options: SavingOptions): Saving {
  const { state } = options;
  const { t } = useMessages();
  const textOf = useFailureText();
  const running = shallowRef<Action>();
  const refusal = shallowRef<{ readonly of: object; readonly problems: Problems }>();

  const fail = (error: unknown): void => {
    const problems = problemsOf(error, t('editor.slugTaken'));
    refusal.value = { of: state.draft.value, problems };
    if (Object.keys(problems).length === 0) showToast('failure', textOf(error));
  };
  return {
    running,
    problems: computed(() => (refusal.value?.of === state.draft.value ? refusal.value.problems : {})),
    run: async (action) => {
      if (running.value !== undefined || state.conflicts.value.length > 0) return undefined;
      if (state.draft.value.title.trim() === '') {
        refusal.value = { of: state.draft.value, problems: { title: t('editor.titleMissing') } };
        return undefined;
      }
      running.value = action;
      try {
        const saved = await save(options, () => {
          showToast('success', t('editor.merged'));
        });
        if (saved === undefined) return undefined;
        const post = action === 'save' ? saved : await act(options, saved, action);
        if (post === undefined) showToast('failure', t('editor.changedMeanwhile'));
        else showToast('success', t(`editor.done.${action}`));
        return post ?? saved;
      } catch (error) {
        fail(error);
        return undefined;
      } finally {
        running.value = undefined;
      }
    },
  };
}

/** Returns the saved post; undefined if the author must resolve a conflict. */
async function save({ desk, name, state }: SavingOptions, onMerged: () => void): Promise<Post | undefined> {
  const known = name();
  const sent = state.draft.value;
  if (known === undefined) {
    const made = await desk.create(sent);
    state.saved(made, sent);
    return made;
  }
  for (let attempt = 1; ; attempt += 1) {
    const now = state.draft.value;
    const changes = changesOf(state.base.value.draft, now);
    try {
      if (changes === undefined) return await present(desk, known);
      const saved = await desk.patch(known, changes, state.base.value.version ?? '');
      state.saved(saved, now);
      return saved;
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error;
      const isOther = state.merge(await present(desk, known));
      if (state.conflicts.value.length > 0) return undefined;
      if (isOther) onMerged();
    }
  }
}

/** Returns the post after the action; undefined if another user has changed the text since the author saved it. */
async function act(
  { desk, state }: SavingOptions,
  saved: Post,
  action: Exclude<Action, 'save'>,
): Promise<Post | undefined> {
  const { name } = saved.metadata;
  let { resourceVersion } = saved.metadata;
  if (state.merge(saved)) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const done =
        action === 'publish' || action === 'unpublish'
          ? await desk.publish(name, action, resourceVersion)
          : await desk.patch(name, memberOf[action], resourceVersion);
      state.merge(done);
      return done;
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error;
      const now = await present(desk, name);
      if (state.merge(now)) return undefined;
      ({ resourceVersion } = now.metadata);
    }
  }
}

const memberOf = {
  submit: { submitted: true },
  withdraw: { submitted: null },
  bin: { deleted: true },
  restore: { deleted: null },
} as const;

async function present(desk: PostDesk, name: string): Promise<Post> {
  const post = await desk.get(name);
  if (post === null) throw new ClientError('the post has been deleted', { reason: 'NotFound', status: 404 });
  return post;
}

function isConflict(error: unknown): boolean {
  return error instanceof ClientError && error.status === 409 && error.reason === 'Conflict';
}

function problemsOf(error: unknown, slugTaken: string): Problems {
  if (!(error instanceof ClientError)) return {};
  if (error.reason === 'UniqueValueTaken') return { slug: slugTaken };
  return Object.fromEntries(
    error.errors.flatMap(({ pointer, detail }) => {
      const member = /^\/spec\/(\w+)/u.exec(pointer)?.[1];
      return member === undefined ? [] : [[member, detail]];
    }),
  );
}
