import { nameProblem } from '../../resource/type/names.ts';
import type { PluginFolder } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

/**
 * A folder of a plugin. `declared` is the plugin name in the last readable plugin.yaml of the folder. Without a
 * readable plugin.yaml, `declared` is the folder's name.
 */
export type DeclaredFolder = {
  readonly folder: PluginFolder;
  readonly declared: string;
};

/** A folder with an assigned plugin name. `refused` is set if another folder has the name that this folder declares. */
export type NamedFolder<Declared> = {
  readonly of: Declared;
  readonly refused: Failure | undefined;
};

export type FolderNames<Declared> = {
  readonly names: ReadonlyMap<string, NamedFolder<Declared>>;
  /** The folders without a plugin name. `twin` is the path of the folder that already has the declared name. */
  readonly unnamed: readonly { readonly of: Declared; readonly twin: string | undefined }[];
};

/**
 * Assigns plugin names to folders. Of several folders that declare a name, a bundled plugin has priority, then the
 * folder of this name, then the first folder. For example, if a new folder `foo` replaces a folder that is renamed to
 * `foo-old`, the new folder gets the name `foo`. A folder without its declared name gets its folder name as plugin
 * name, if this name is valid and free.
 */
export function nameFolders<Declared extends DeclaredFolder>(folders: Iterable<Declared>): FolderNames<Declared> {
  const names = new Map<string, NamedFolder<Declared>>();
  const unnamed: { of: Declared; twin: string | undefined }[] = [];
  const rank = ({ folder, declared }: DeclaredFolder): number =>
    folder.bundled ? 0 : folder.name === declared ? 1 : 2;
  for (const of of [...folders].sort((left, right) => rank(left) - rank(right))) {
    const { folder, declared } = of;
    const twin = names.get(declared)?.of.folder.path;
    const name = twin === undefined ? declared : folder.name;
    if (names.has(name) || nameProblem(name) !== undefined) unnamed.push({ of, twin });
    else
      names.set(name, {
        of,
        refused:
          twin === undefined
            ? undefined
            : {
                reason: 'NameTaken',
                message: `plugin.yaml: the folder ${twin} already declares the plugin ${declared}`,
              },
      });
  }
  return { names, unnamed };
}
