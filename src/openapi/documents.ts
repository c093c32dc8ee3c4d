import type { Steps } from '../base/steps.ts';
import type { Schema } from '../resource/schema/schema-check.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { documentText } from './document.ts';
import type { KeptParts } from './kept-parts.ts';
import { referenceTo, schemaNameOf, UniqueNames } from './names.ts';
import type { Operation } from './operation.ts';
import { platformOperations, platformSchemas, type PlatformPath } from './platform/platform-operations.ts';
import { routeOperation, type DescribedRoute } from './route-operations.ts';
import { scaleName, scaleSchema } from './standard-schemas.ts';
import { swaggerDocument, type SwaggerDocument } from './swagger-document.ts';
import type { MediaTypes } from './type-operations.ts';

export type DocumentSettings = {
  readonly domain: string;
  readonly version: string;
  readonly media: MediaTypes;
  readonly kept: KeptParts;
};

const title = 'Ledgerplane';

/**
 * Returns the key of a group and version in the index of documents (`/openapi/v3`): the path of the API without the
 * leading slash.
 */
export function groupKeyOf({ group, version }: Pick<ResourceType, 'group' | 'version'>): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

export function groupDocument(types: readonly ResourceType[], settings: DocumentSettings): Steps<readonly Buffer[]> {
  const content = {
    openapi: '3.0.3' as const,
    title,
    version: settings.version,
    operations: operationsByType(types, settings),
    schemas: schemas30(types, settings),
  };
  return documentText(content, settings.kept);
}

/** Builds the document of paths that belong to no type, in OpenAPI 3.0. */
export function platformDocument(paths: readonly PlatformPath[], settings: DocumentSettings): Steps<readonly Buffer[]> {
  const ids = new UniqueNames();
  const operations = platformOperations(paths, { ...settings, ids, schemaOf: () => ({ type: 'object' }) });
  const schemas = platformSchemas(paths);
  const { version, kept } = settings;
  return documentText({ openapi: '3.0.3', title, version, operations: [operations], schemas }, kept);
}

/** Builds the document of all generated APIs, in OpenAPI 2.0. */
export function swaggerOf(types: readonly ResourceType[], settings: DocumentSettings): Steps<SwaggerDocument> {
  const content = {
    title,
    version: settings.version,
    operations: operationsByType(types, settings),
    schemas: schemas30(types, settings),
  };
  return swaggerDocument(content, settings.kept);
}

function* operationsByType(
  types: readonly ResourceType[],
  { kept }: DocumentSettings,
): Generator<readonly Operation[]> {
  const ids = new UniqueNames();
  for (const type of types) yield kept.operations.of(type, ids);
}

function* schemas30(types: readonly ResourceType[], { kept }: DocumentSettings): Generator<readonly [string, Schema]> {
  for (const type of types) yield* kept.schemas.of30(type);
  if (types.some(({ scale }) => scale !== undefined)) yield [scaleName, scaleSchema];
}

export type Everything = {
  readonly types: readonly ResourceType[];
  readonly platform: readonly PlatformPath[];
  readonly routes: readonly DescribedRoute[];
};

/**
 * Builds the document of the whole server, in OpenAPI 3.1. The operations of generated APIs are added first, so that no
 * other route replaces them.
 */
export function* apiDocument(
  { types, platform, routes }: Everything,
  settings: DocumentSettings,
): Steps<readonly Buffer[]> {
  const { version, kept } = settings;
  const ids = new UniqueNames();
  const schemas = new Map<string, Schema>();
  const operations = new UniqueOperations();
  for (const type of types) {
    for (const [name, schema] of kept.schemas.of31(type)) schemas.set(name, schema);
    if (type.scale !== undefined) schemas.set(scaleName, scaleSchema);
    operations.add(kept.operations.of(type, ids));
    yield;
  }
  const schemaOf = (kind: string): Schema => {
    const name = schemaNameOf({ group: '', version: 'v1alpha1', kind }, settings.domain);
    return schemas.has(name) ? referenceTo(name) : { type: 'object' };
  };
  for (const [name, schema] of platformSchemas(platform)) schemas.set(name, schema);
  operations.add(platformOperations(platform, { ...settings, ids, schemaOf }));
  for (const route of routes) {
    const operation = operations.has(route)
      ? undefined
      : routeOperation(route, { ids, schemas, media: settings.media });
    if (operation !== undefined) operations.add([operation]);
    yield;
  }
  const all = operations.all();
  const tags = [...new Set(all.map(({ tag }) => tag))].sort();
  return yield* documentText({ openapi: '3.1.0', title, version, operations: [all], schemas, tags }, kept);
}

type DocumentedRoute = {
  readonly method: string;
  readonly path: string;
};

/**
 * A set of operations, unique by method and shape of path. Paths with the same shape differ only in the names of
 * parameters.
 */
class UniqueOperations {
  readonly #byPlace = new Map<string, Operation>();
  /** The path of each shape. The first path of a shape determines the names of parameters. */
  readonly #paths = new Map<string, string>();

  has({ method, path }: DocumentedRoute): boolean {
    return this.#byPlace.has(`${method.toLowerCase()} ${shapeOf(path)}`);
  }

  add(operations: readonly Operation[]): void {
    for (const operation of operations) {
      const shape = shapeOf(operation.path);
      const place = `${operation.method} ${shape}`;
      if (this.#byPlace.has(place)) continue;
      const path = this.#paths.get(shape) ?? operation.path;
      this.#paths.set(shape, path);
      this.#byPlace.set(place, path === operation.path ? operation : renamed(operation, path));
    }
  }

  all(): readonly Operation[] {
    return [...this.#byPlace.values()];
  }
}

function shapeOf(path: string): string {
  return path.replaceAll(/\{\w+\}/gu, '{}');
}

function renamed(operation: Operation, path: string): Operation {
  const [from, to] = [namesIn(operation.path), namesIn(path)];
  const parameters = operation.parameters.map((parameter) => {
    const name = parameter.in === 'path' ? to[from.indexOf(parameter.name)] : undefined;
    return name === undefined ? parameter : { ...parameter, name };
  });
  return { ...operation, path, parameters };
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => name);
}
