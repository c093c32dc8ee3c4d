import type { Steps } from '../../base/steps.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { eraseBatchObjects } from '../lifecycle/life-limits.ts';

export type FindPlugins = {
  /** Names of the plugins in plugin folders. */
  readonly folders: Iterable<string>;
  /** The type Plugin. */
  readonly objects: TypeKey;
  readonly namesOf: (
    type: TypeKey,
    page: { readonly after: string | undefined; readonly limit: number },
  ) => readonly string[];
};

/**
 * Visits the plugins in folders, then the plugins with only an object: installed packages, and plugins with a deleted
 * folder.
 */
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
