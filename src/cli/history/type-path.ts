import type { Json } from '../../base/json.ts';
import { listOf, textOf, textsOf } from '../answer-member.ts';
import { commandError, usageError } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';

/** The form `<plural>` or `<plural>.<group>`; a singular or short name, or a kind, may replace the plural. */
const words = /^(?<name>[A-Za-z][A-Za-z0-9-]*)(?:\.(?<group>[a-z0-9.-]+))?$/u;
/** The version in the path of a type that the server does not serve any more: every version is accepted. */
const anyVersion = 'v1alpha1';

/**
 * The segments of a type's path, according to the server's discovery documents. Of a type that the server does not
 * serve any more, the path under its group.
 */
export async function pathOfType(client: ServerClient, type: string): Promise<readonly string[]> {
  const served = await servedPath(client, type);
  if (served !== undefined) return served;
  const { name, group } = wordsOf(type);
  // The events of objects remain when the plugin of their type is uninstalled, so a group that is not served is
  // possible.
  if (group !== undefined && group !== '') return ['apis', group, anyVersion, name];
  throw commandError(
    `the server has no type ${type}; one that it does not serve any more needs its group: <plural>.<group>`,
  );
}

/** The segments of the path of a type; undefined if the server does not serve the type. */
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

function wordsOf(type: string): { readonly name: string; readonly group: string | undefined } {
  const { name = '', group } = words.exec(type)?.groups ?? {};
  if (name === '') throw usageError(`${JSON.stringify(type)} is not a type: write <plural> or <plural>.<group>`);
  return { name, group };
}

/** The paths of the groups' preferred versions, the core group first. */
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

/** Whether a row is a type with this name. Subresources have a slash in their name. */
function isNamed(row: Json, name: string): boolean {
  const lower = name.toLowerCase();
  const names = [textOf(row, 'name'), textOf(row, 'singularName'), textOf(row, 'kind'), ...textsOf(row, 'shortNames')];
  return textOf(row, 'name')?.includes('/') === false && names.some((one) => one?.toLowerCase() === lower);
}
