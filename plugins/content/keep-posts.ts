import {
  defineReconciler,
  escapeSelectorValue,
  type Client,
  type DefinedType,
  type ReconcilerDeclaration,
  type ReconcileRequest,
} from '../../src/plugin/api/plugin.ts';
import { comment, isOwnedBy, ownedBy, publicCommentsOf, type Comment } from './comment.ts';
import { post, type Post } from './post.ts';
import { excerptOf, permalinkOf, readingMinutesOf } from './post-text.ts';

/**
 * The maximum number of comments that one step changes. These changes trigger the next step, which changes more
 * comments.
 */
const commentsPerStepMax = 100;

/**
 * Maintains the status of a post and the owner references of its comments. Each call makes one step, and its writes
 * trigger the next step. A finalizer blocks the removal of a post until its comments are deleted.
 */
export function keepPosts(domain: string): ReconcilerDeclaration<never> {
  const types: Types = { posts: post(domain), comments: comment(domain), finalizer: `content.${domain}/comments` };
  return defineReconciler({
    type: types.posts,
    watches: [{ type: types.comments, names: ({ spec }: Comment) => [spec.post] }],
    concurrency: 4,
    reconcile: async ({ object, ...request }) => {
      if (object === undefined) return;
      if (object.metadata.deletionTimestamp === undefined) await keep(object, types, request);
      else await release(object, types, request);
    },
  });
}

type Types = {
  readonly posts: DefinedType<Post>;
  readonly comments: DefinedType<Comment>;
  readonly finalizer: string;
};
type StepContext = Pick<ReconcileRequest, 'pluginClient' | 'signal'>;

async function keep(
  object: Post,
  { posts, comments, finalizer }: Types,
  { pluginClient, signal }: StepContext,
): Promise<void> {
  const { name, resourceVersion, finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) {
    await pluginClient.patch(
      posts,
      name,
      { metadata: { finalizers: [...finalizers, finalizer] } },
      { resourceVersion },
    );
    return;
  }
  const about = `spec.post=${escapeSelectorValue(name)}`;
  const { items: unowned } = await pluginClient.list(comments, {
    fieldSelector: [about, 'owned=false'],
    page: 1,
    size: commentsPerStepMax,
  });
  for (const found of unowned.filter((each) => !isOwnedBy(each, object))) {
    if (signal.aborted) return;
    await pluginClient.patch(
      comments,
      found.metadata.name,
      { metadata: { ownerReferences: [ownedBy(object)] } },
      { resourceVersion: found.metadata.resourceVersion },
    );
  }
  const wanted = { ...shownOf(object), comments: await count(pluginClient, comments, publicCommentsOf(name)) };
  if (
    Object.entries(wanted).every(
      ([member, value]) => new Map<string, unknown>(Object.entries(object.status ?? {})).get(member) === value,
    )
  )
    return;
  await pluginClient.patchStatus(posts, name, { status: wanted }, { resourceVersion });
}

function shownOf({
  metadata: { name },
  spec: { slug, content = '', excerpt: { autoGenerate = true, raw = '' } = {} },
}: Post): Pick<NonNullable<Post['status']>, 'permalink' | 'excerpt' | 'readingMinutes'> {
  return {
    permalink: permalinkOf(name, slug),
    excerpt: autoGenerate ? excerptOf(content) : raw,
    readingMinutes: readingMinutesOf(content),
  };
}

/** Deletes the comments on a marked post. When no comments are left, removes the finalizer of the post. */
async function release(
  object: Post,
  { posts, comments, finalizer }: Types,
  { pluginClient, signal }: StepContext,
): Promise<void> {
  const { name, resourceVersion, finalizers = [] } = object.metadata;
  if (!finalizers.includes(finalizer)) return;
  const { items, total } = await pluginClient.list(comments, {
    fieldSelector: `spec.post=${escapeSelectorValue(name)}`,
    page: 1,
    size: commentsPerStepMax,
  });
  for (const { metadata } of items.filter((found) => found.metadata.deletionTimestamp === undefined)) {
    if (signal.aborted) return;
    await pluginClient.delete(comments, metadata.name, { uid: metadata.uid });
  }
  if (total === 0)
    await pluginClient.patch(
      posts,
      name,
      { metadata: { finalizers: finalizers.filter((each) => each !== finalizer) } },
      { resourceVersion },
    );
}

async function count(client: Client, comments: Types['comments'], fieldSelector: readonly string[]): Promise<number> {
  return (await client.list(comments, { fieldSelector, page: 1, size: 1 })).total;
}
