import { isObject } from '../../base/guards.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';

export type OwnTypeName = { readonly group: string; readonly version: string; readonly plural: string };

/**
 * Decodes the type of a reconciler or a migration. Adds a problem if the type is not one of the plugin's exported types
 * (`types`).
 */
export function decodeOwnType(
  declared: unknown,
  at: string,
  { types, problems }: { readonly types: readonly unknown[]; readonly problems: string[] },
): OwnTypeName | undefined {
  const { group, version, plural } = isObject(declared) ? declared : {};
  if (typeof group !== 'string' || typeof version !== 'string' || typeof plural !== 'string') {
    problems.push(`${at}: must be an object with the group, version and plural of a type`);
    return undefined;
  }
  const own = types.filter(isObject);
  const same = own.filter((type) => type['plural'] === plural && type['group'] === group);
  if (same.some((type) => type['version'] === version)) return { group, version, plural };
  const versions = same.map((type) => String(type['version'])).join(', ');
  const plurals = own.map((type) => String(type['plural']));
  const hint = same.length === 0 ? otherWords(plural, plurals) : `; the plugin has it in ${versions}`;
  problems.push(`${at}: ${plural} of ${group}/${version} is not a type of this plugin${hint}`);
  return undefined;
}
