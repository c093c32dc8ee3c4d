import { computed, shallowReactive, type ComputedRef } from 'vue';

import { isSameObject, type ReadRelated, type Related, type RelatedObject } from './related-object.ts';

/** A visible line of a tree. */
export type TreeRow = {
  readonly path: string;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly object: RelatedObject;
  /** Whether the children are shown; undefined if the object has none, or if they cannot be read. */
  readonly isOpen: boolean | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
  /** The number of children that are only counted. */
  readonly hidden: number;
  readonly isMore: boolean;
};

/** `related` is undefined while the children are being read, or if the read failed. */
type Branch = { readonly related: Related | undefined; readonly error: unknown };

/** The maximum depth of the tree. Deeper objects can be reached on the pages of the objects. */
const levelsMax = 12;

/** A tree that reads the children of an object when the user opens the object. */
export class RelationTree {
  readonly rows: ComputedRef<readonly TreeRow[]> = computed(() => this.#rowsOf([this.#root], '', []));
  readonly #root: RelatedObject;
  readonly #read: ReadRelated;
  readonly #branches = shallowReactive(new Map<string, Branch>());
  readonly #open = shallowReactive(new Set<string>());
  readonly #closing = new AbortController();

  constructor(root: RelatedObject, read: ReadRelated) {
    this.#root = root;
    this.#read = read;
  }

  async open({ path, object: { type, name } }: Pick<TreeRow, 'path' | 'object'>): Promise<void> {
    this.#open.add(path);
    if (type === undefined || (this.#branches.has(path) && this.#branches.get(path)?.error === undefined)) return;
    this.#branches.set(path, { related: undefined, error: undefined });
    const { signal } = this.#closing;
    try {
      this.#branches.set(path, { related: await this.#read({ type, name }, signal), error: undefined });
    } catch (error) {
      if (!signal.aborted) this.#branches.set(path, { related: undefined, error });
    }
  }

  async openRoot(): Promise<void> {
    await this.open({ path: pathOf('', this.#root), object: this.#root });
  }

  close(path: string): void {
    this.#open.delete(path);
  }

  /** Aborts all reads. */
  stop(): void {
    this.#closing.abort();
  }

  #rowsOf(objects: readonly RelatedObject[], parent: string, above: readonly RelatedObject[]): readonly TreeRow[] {
    return objects.flatMap((object, index): readonly TreeRow[] => {
      const path = pathOf(parent, object);
      const branch = this.#branches.get(path) ?? unread;
      const isOpen = canOpen(object, branch, above) ? this.#open.has(path) : undefined;
      const place = { path, object, level: above.length + 1, position: index + 1, siblings: objects.length };
      if (isOpen !== true) return [{ ...place, isOpen, isLoading: false, error: undefined, hidden: 0, isMore: false }];
      const { related, error } = branch;
      const { items = [], hidden = 0, isMore = false } = related ?? {};
      const isLoading = related === undefined && error === undefined;
      return [{ ...place, isOpen, isLoading, error, hidden, isMore }, ...this.#rowsOf(items, path, [...above, object])];
    });
  }
}

const unread: Branch = { related: undefined, error: undefined };

/** Returns whether an object can be opened. An object cannot be opened below itself. */
function canOpen(object: RelatedObject, { related }: Branch, above: readonly RelatedObject[]): boolean {
  const isEmpty = related?.items.length === 0 && related.hidden === 0;
  const isEnd = above.length >= levelsMax - 1 || above.some((each) => isSameObject(each, object));
  return object.type !== undefined && !isEmpty && !isEnd;
}

function pathOf(parent: string, { key }: RelatedObject): string {
  return `${parent}\u0000${key}`;
}
