import { isList, isObject } from '../../base/guards.ts';
import type { Schema } from '../../resource/schema/schema-check.ts';

/**
 * Returns the names of the components that lead to a cycle of references in which each reference applies to the whole
 * value. An example is a schema `A` with `allOf: [{$ref: A}]`. Readers would follow such references forever.
 */
export function endlessIn(components: ReadonlyMap<string, Schema>): ReadonlySet<string> {
  const aliases = new Map([...components].map(([name, schema]) => [name, new Set(inPlace(schema))]));
  const users = new Map<string, string[]>();
  for (const [name, used] of aliases) for (const one of used) append(users, one, name);
  const open = new Map([...aliases].map(([name, used]) => [name, used.size]));
  const ended = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  for (let name = ended.pop(); name !== undefined; name = ended.pop()) {
    open.delete(name);
    for (const user of users.get(name) ?? []) {
      const left = (open.get(user) ?? 0) - 1;
      open.set(user, left);
      if (left === 0) ended.push(user);
    }
  }
  return new Set(open.keys());
}

/** Yields the names of the components that the schema applies to the whole value, instead of a part of the value. */
function* inPlace(schema: unknown): Generator<string> {
  if (!isObject(schema)) return;
  const { $ref } = schema;
  if (typeof $ref === 'string') yield $ref.slice($ref.lastIndexOf('/') + 1);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[keyword];
    if (isList(parts)) for (const part of parts) yield* inPlace(part);
  }
  yield* inPlace(schema['not']);
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
