import type { Steps } from '../../base/steps.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { eraseBatchObjects } from '../lifecycle/life-limits.ts';

export type FindPlugins = {
  /** Names of plugins in folders. */
  readonly folders: Iterable<string>;
  /** The type of `Plugin` objects. */
  readonly objects: TypeKey;
  readonly namesOf: (type: TypeKey, page: { readonly after: string | undefined; readonly limit: number }) => readonly string[];
};

/** Takes the names of those in folders, then of those known by their object alone: of packages, or with their folder gone. */
export function* takeFound({ folders, objects, namesOf }: FindPlugins, take: (name: string) => void): Steps<undefined> {
  for (const name of folders) {
    take(name);
    yield;
  }
  let after: string | undefined;
  do {
    const names = namesOf(objects, { after, limit: eraseBatchObjects });
    for (const name of names) {
      take(name);
      yield;
    }
    after = names.at(-1);
  } while (after !== undefined);
}
