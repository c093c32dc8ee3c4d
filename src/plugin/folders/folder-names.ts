import { nameProblem } from '../../resource/type/names.ts';
import type { PluginFolder } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

/**
 * A folder. `declared` is the plugin name in the folder's last readable plugin.yaml, or the folder's name if there was
 * none.
 */
export type DeclaredFolder = {
  readonly folder: PluginFolder;
  readonly declared: string;
};

/**
 * A folder with an assigned plugin name. `refused` is set if another folder already has the name that this folder
 * declares.
 */
export type NamedFolder<Declared> = {
  readonly of: Declared;
  readonly refused: Failure | undefined;
};

export type FolderNames<Declared> = {
  readonly names: ReadonlyMap<string, NamedFolder<Declared>>;
  /**
   * Folders without a plugin name. `twin` is the path of the folder that has the declared name; undefined if there is
   * none.
   */
  readonly unnamed: readonly { readonly of: Declared; readonly twin: string | undefined }[];
};

/**
 * Assigns plugin names to folders. If several folders declare the same name, a bundled plugin has priority, then the
 * folder with this name as its own name, then the folder that was found first. For example, if the folder `foo` is
 * renamed to `foo-old`, and a new folder `foo` replaces it, the new folder gets the name `foo`. A folder that does not
 * get its declared name is reported under its own name, if this name is valid and free.
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
