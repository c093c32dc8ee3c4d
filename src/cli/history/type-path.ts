import type { Json } from '../../base/json.ts';
import { listOf, textOf, textsOf } from '../answer-member.ts';
import { commandError, usageError } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';

/**
 * The form of a type argument: `<plural>` or `<plural>.<group>`. The singular, a short name or the kind can replace the
 * plural.
 */
const words = /^(?<name>[A-Za-z][A-Za-z0-9-]*)(?:\.(?<group>[a-z0-9.-]+))?$/u;
/**
 * The version in the path of a type that the server no longer serves. The server accepts any version for such a type.
 */
const anyVersion = 'v1alpha1';

/**
 * Returns the segments of a type's path, according to the server's discovery documents. For a type that the server no
 * longer serves, returns a path with the group of `type`.
 *
 * @throws CommandFailure if `type` is not the name of a type, or has no group and the server does not serve it.
 */
export async function pathOfType(client: ServerClient, type: string): Promise<readonly string[]> {
  const served = await servedPath(client, type);
  if (served !== undefined) return served;
  const { name, group } = wordsOf(type);
  // The events of objects remain in the log when the plugin of their type is uninstalled. Therefore the server may not
  // serve the group.
  if (group !== undefined && group !== '') return ['apis', group, anyVersion, name];
  throw commandError(
    `the server has no type ${type}; write <plural>.<group> for a type that the server no longer serves`,
  );
}

/**
 * Returns the segments of the path of a type; undefined if the server does not serve the type.
 *
 * @throws CommandFailure if `type` is not the name of a type.
 */
export async function servedPath(client: ServerClient, type: string): Promise<readonly string[] | undefined> {
  const { name, group } = wordsOf(type);
  for (const root of await rootsOf(client, group)) {
    const found = listOf(await client.send({ method: 'GET', path: root }), 'resources').find((row) =>
      isNamed(row, name),
    );
    if (found !== undefined) return [...root, textOf(found, 'name') ?? name];
  }
  return undefined;
}

type TypeWords = {
  readonly name: string;
  readonly group: string | undefined;
};

/** @throws CommandFailure if `type` does not match `words`. */
function wordsOf(type: string): TypeWords {
  const { name = '', group } = words.exec(type)?.groups ?? {};
  if (name === '') throw usageError(`${JSON.stringify(type)} is not a type: write <plural> or <plural>.<group>`);
  return { name, group };
}

/**
 * Returns the paths of all versions of the core group, then the paths of the preferred versions of all other groups. If
 * `group` is set, returns only the path of this group; no path if the server does not have this group.
 */
async function rootsOf(client: ServerClient, group: string | undefined): Promise<readonly (readonly string[])[]> {
  const core = group === undefined ? textsOf(await client.send({ method: 'GET', path: ['api'] }), 'versions') : [];
  const groups = listOf(await client.send({ method: 'GET', path: ['apis'] }), 'groups').filter(
    (one) => group === undefined || textOf(one, 'name') === group,
  );
  return [
    ...core.map((version) => ['api', version]),
    ...groups.map((one) => ['apis', ...(textOf(one, 'preferredVersion', 'groupVersion') ?? '').split('/')]),
  ];
}

/**
 * Whether a resource of a discovery document is a type with this name. A resource with a slash in its name is a
 * subresource.
 */
function isNamed(row: Json, name: string): boolean {
  const lower = name.toLowerCase();
  const names = [textOf(row, 'name'), textOf(row, 'singularName'), textOf(row, 'kind'), ...textsOf(row, 'shortNames')];
  return textOf(row, 'name')?.includes('/') === false && names.some((one) => one?.toLowerCase() === lower);
}
