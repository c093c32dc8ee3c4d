import { isObject } from '../../base/guards.ts';
import { typedObject, type MembersPart } from '../../openapi/schema/typed-part.ts';
import { commandError } from '../failure.ts';
import type { NamedType } from './type-names.ts';

/** A type with the members of its objects. `members` is undefined if the schema of the type declares no members. */
export type ServedType = NamedType & {
  readonly members: MembersPart | undefined;
  readonly description: string | undefined;
};

type Members = Readonly<Record<string, unknown>>;

const schemasPrefix = '#/components/schemas/';
const itemPath =
  /^\/(?:api\/(?<coreVersion>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))\/(?<plural>[^/]+)\/\{\w+\}$/u;
const forms: Readonly<Record<keyof NamedType, RegExp>> = {
  group: /^(?:[a-z0-9.-]{1,253})?$/u,
  version: /^[a-z0-9]{1,63}$/u,
  kind: /^[A-Z][A-Za-z0-9]{0,62}$/u,
  plural: /^[a-z][a-z0-9-]{0,62}$/u,
};

/**
 * Returns the types in the document `/v3/api-docs`, ordered by group, plural and version. The server is not trusted, so
 * invalid names of types are refused.
 */
export function servedTypes(document: string): readonly ServedType[] {
  const { paths, components } = objectIn(parsed(document));
  const schemas = objectIn(objectIn(components)['schemas']);
  const types = Object.entries(objectIn(paths)).flatMap(([path, item]) => {
    const operation = objectIn(objectIn(item)['get']);
    const named = operation['x-kubernetes-action'] === 'get' ? nameOf(path, operation) : undefined;
    return named === undefined ? [] : [{ ...named, ...schemaOf(named, operation, schemas) }];
  });
  return types.sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}

function keyOf({ group, plural, version }: NamedType): string {
  return `${group}\u0000${plural}\u0000${version}`;
}

function nameOf(path: string, operation: Members): NamedType | undefined {
  const found = itemPath.exec(path)?.groups;
  const { kind } = objectIn(operation['x-kubernetes-group-version-kind']);
  if (found === undefined) return undefined;
  const { coreVersion, group = '', version = coreVersion ?? '', plural = '' } = found;
  const named = { group, version, plural, kind: typeof kind === 'string' ? kind : '' };
  const isValid = (['group', 'version', 'kind', 'plural'] as const).every((member) =>
    forms[member].test(named[member]),
  );
  if (isValid) return named;
  throw unreadable();
}

function schemaOf(
  { kind, plural, group }: NamedType,
  operation: Members,
  schemas: Members,
): Pick<ServedType, 'members' | 'description'> {
  const answer = objectIn(objectIn(operation['responses'])['200']);
  const { $ref } = objectIn(objectIn(Object.values(objectIn(answer['content']))[0])['schema']);
  const name = typeof $ref === 'string' && $ref.startsWith(schemasPrefix) ? $ref.slice(schemasPrefix.length) : '';
  const schema = Object.hasOwn(schemas, name) ? objectIn(schemas[name]) : {};
  if (schema['x-kubernetes-group-version-kind'] === undefined)
    throw commandError(`the server's API document omits the schema of ${kind} (${plural}.${group})`);
  const declared = schema['x-ledgerplane-schema'];
  const members = typedObject(typeof declared === 'string' ? parsed(declared) : schema);
  const { description } = schema;
  return { members, description: typeof description === 'string' ? description : undefined };
}

function objectIn(value: unknown): Members {
  return isObject(value) ? value : {};
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw unreadable();
  }
}

function unreadable(): Error {
  return commandError('the response to /v3/api-docs is not the API document of a Ledgerplane server');
}
