import type { DeclarationReader } from '../../read/declarations.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { hasFunctions } from '../../resource/type/versions/convert.ts';
import { isOlderVersion } from '../load/manifest.ts';

export type StoredVersionsDependencies = {
  readonly declarations: Pick<DeclarationReader, 'declared'>;
  /** Returns the `apiVersion` of each version in which objects of the type are stored. */
  readonly storedVersions: (type: TypeKey) => Promise<ReadonlySet<string>>;
};

/**
 * Returns the reasons why an older version of a plugin cannot replace a newer version, one message for each type. An
 * older version cannot convert stored objects in API versions that the older version does not declare.
 */
export async function storedVersionProblems(
  { types, version }: { readonly types: readonly ResourceType[]; readonly version: string | undefined },
  { declarations, storedVersions }: StoredVersionsDependencies,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { key, apiVersion, versions } of types) {
    const last = declarations.declared(key)?.declaration;
    if (version === undefined || last === undefined || !isOlderVersion(version, last.version)) continue;
    const known = versions?.all ?? [apiVersion];
    const unknown = [...(await storedVersions(key))].filter((stored) => !known.includes(stored));
    if (unknown.length > 0)
      problems.push(
        `objects of ${key} are stored in ${unknown.join(', ')}, which version ${version} of the ` +
          `plugin does not declare; use version ${last.version} of the plugin or a newer version`,
      );
  }
  return problems;
}

/**
 * Returns the reasons why a package cannot convert stored objects, one message for each type. A type without conversion
 * functions exchanges only `apiVersion`, so that it may drop versions.
 */
export async function droppedVersionProblems(
  types: readonly ResourceType[],
  storedVersions: StoredVersionsDependencies['storedVersions'],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { key, versions } of types) {
    if (versions === undefined || !hasFunctions(versions)) continue;
    const unknown = [...(await storedVersions(key))].filter((stored) => !versions.all.includes(stored));
    if (unknown.length > 0)
      problems.push(
        `objects of ${key} are stored in ${unknown.join(', ')}, which the package does not declare; declare the ` +
          'version in versions, with served: false if clients no longer use it, and its conversion in convert',
      );
  }
  return problems;
}
