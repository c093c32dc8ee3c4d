import { nameProblem } from '../resource/names.ts';
import type { PluginFolder } from './plugin-folder.ts';
import type { Failure } from './plugin-status.ts';

/** A folder with what its plugin.yaml calls the plugin; where that does not tell, the folder's own name. */
export type DeclaredFolder = { readonly folder: PluginFolder; readonly declared: string };

/** `refused`: another folder has the name that this one declares. */
export type NamedFolder<Declared> = { readonly of: Declared; readonly refused: Failure | undefined };

export type FolderNames<Declared> = {
  readonly names: ReadonlyMap<string, NamedFolder<Declared>>;
  /** Those that nothing can be called by. */
  readonly unnamed: readonly { readonly of: Declared; readonly twin: string | undefined }[];
};

/** The first folder with a name has it; a second one is told under its folder's name where that is free. */
export function nameFolders<Declared extends DeclaredFolder>(folders: Iterable<Declared>): FolderNames<Declared> {
  const names = new Map<string, NamedFolder<Declared>>();
  const unnamed: { of: Declared; twin: string | undefined }[] = [];
  for (const of of folders) {
    const { folder, declared } = of;
    const twin = names.get(declared)?.of.folder.path;
    const name = twin === undefined ? declared : folder.name;
    if (names.has(name) || nameProblem(name) !== undefined) unnamed.push({ of, twin });
    else names.set(name, { of, refused: twin === undefined ? undefined : { reason: 'NameTaken', message: `plugin.yaml: the plugin ${declared} is in ${twin} already` } });
  }
  return { names, unnamed };
}
