import { nameProblem } from '../../resource/type/names.ts';
import type { PluginFolder } from './plugin-folder.ts';
import type { Failure } from '../lifecycle/plugin-status.ts';

/** A folder with what its plugin.yaml calls the plugin; where that does not tell, the folder's own name. */
export type DeclaredFolder = { readonly folder: PluginFolder; readonly declared: string };

/** `refused`: another folder has the name that this one declares. */
export type NamedFolder<Declared> = { readonly of: Declared; readonly refused: Failure | undefined };

export type FolderNames<Declared> = {
  readonly names: ReadonlyMap<string, NamedFolder<Declared>>;
  /** Those that nothing can be called by. */
  readonly unnamed: readonly { readonly of: Declared; readonly twin: string | undefined }[];
};

/**
 * Whose folder has its name has it, before those that were found earlier: one that is moved aside makes room for what is put in
 * its place. Any other one of a name that is given is told under its folder's name where that is free. Bundled ones come first.
 */
export function nameFolders<Declared extends DeclaredFolder>(folders: Iterable<Declared>): FolderNames<Declared> {
  const names = new Map<string, NamedFolder<Declared>>();
  const unnamed: { of: Declared; twin: string | undefined }[] = [];
  const rank = ({ folder, declared }: DeclaredFolder): number => (folder.bundled ? 0 : folder.name === declared ? 1 : 2);
  for (const of of [...folders].sort((left, right) => rank(left) - rank(right))) {
    const { folder, declared } = of;
    const twin = names.get(declared)?.of.folder.path;
    const name = twin === undefined ? declared : folder.name;
    if (names.has(name) || nameProblem(name) !== undefined) unnamed.push({ of, twin });
    else names.set(name, { of, refused: twin === undefined ? undefined : { reason: 'NameTaken', message: `plugin.yaml: the plugin ${declared} is in ${twin} already` } });
  }
  return { names, unnamed };
}
