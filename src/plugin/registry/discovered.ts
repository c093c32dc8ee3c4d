import type { Steps } from '../../base/steps.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import { eraseBatchObjects } from '../lifecycle/life-limits.ts';

type NamePage = {
  readonly after: string | undefined;
  readonly limit: number;
};

export type FindPlugins = {
  /** The names of the plugins in plugin folders. */
  readonly folders: Iterable<string>;
  /** The key of the type Plugin. */
  readonly objects: TypeKey;
  /** Returns up to `limit` names of a type's objects, in order, beginning after the name `after`. */
  readonly namesOf: (type: TypeKey, page: NamePage) => readonly string[];
};

/**
 * Calls `take` for the plugins in folders, and then for all plugins with an object. Installed packages and plugins with
 * a deleted folder have only an object.
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
