import { nameProblem } from '../../resource/type/names.ts';
import type { PluginFolder } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

/** A folder with the plugin name in its plugin.yaml; the folder's own name if that file is unreadable. */
export type DeclaredFolder = { readonly folder: PluginFolder; readonly declared: string };

/** `refused`: another folder has the same declared name. */
export type NamedFolder<Declared> = { readonly of: Declared; readonly refused: Failure | undefined };

export type FolderNames<Declared> = {
  readonly names: ReadonlyMap<string, NamedFolder<Declared>>;
  /** Folders for which no name is left. */
  readonly unnamed: readonly { readonly of: Declared; readonly twin: string | undefined }[];
};

/**
 * Assigns names to folders. Of several folders that declare one name, the folder with exactly that name has priority,
 * then the first one found. So after a folder is moved aside, its replacement gets the name. The others are reported
 * under their folders' names if those are free. Bundled plugins come first.
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
            : { reason: 'NameTaken', message: `plugin.yaml: the plugin ${declared} is in ${twin} already` },
      });
  }
  return { names, unnamed };
}
