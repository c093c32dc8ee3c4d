import type { Steps } from '../base/steps.ts';
import { openApiDocumentBytesMax } from '../limits/openapi.ts';
import type { Schema } from '../resource/schema/schema-check.ts';
import { membersText } from './document-text.ts';
import type { Encoded, Part } from './encoded.ts';
import type { KeptParts } from './kept-parts.ts';
import { pathItems, type Members, type Operation } from './operation.ts';
import { standardSchemas } from './standard-schemas.ts';

/**
 * The content of a document of OpenAPI 3. Paths and schemas are encoded one at a time, so that other work may run in
 * between.
 */
export type DocumentContent = {
  readonly openapi: '3.0.3' | '3.1.0';
  readonly title: string;
  readonly version: string;
  /** The operations in parts. The iterable is read once, and no two parts share a path. */
  readonly operations: Iterable<readonly Operation[]>;
  /** Schemas in addition to the standard schemas. The iterable is read once. */
  readonly schemas: Iterable<readonly [string, Schema]>;
  readonly tags?: readonly string[];
};

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A personal access token, or a token of the issuer.' },
  basic: { type: 'http', scheme: 'basic', description: 'The name and the password of a user.' },
  session: { type: 'apiKey', in: 'cookie', name: 'ledgerplane_session', description: 'The cookie of POST /login.' },
};

export function infoOf(title: string, version: string): Members {
  return { title, version, license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' } };
}

export function* documentText(content: DocumentContent, kept: KeptParts): Steps<readonly Buffer[]> {
  const { openapi, title, version, operations, schemas, tags } = content;
  const head = {
    openapi,
    info: infoOf(title, version),
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    ...(tags === undefined ? {} : { tags: tags.map((name) => ({ name })) }),
  };
  const paths = yield* membersText(inParts(operations, pathItems), kept.texts3);
  const components = yield* membersText(bounded(schemas, kept.lengths), kept.texts3);
  return [
    Buffer.from(`${JSON.stringify(head).slice(0, -1)},"paths":{`),
    ...paths,
    Buffer.from(`},"components":{"securitySchemes":${JSON.stringify(securitySchemes)},"schemas":{`),
    ...components,
    Buffer.from('}}}'),
  ];
}

export function* inParts<T>(
  parts: Iterable<readonly Operation[]>,
  itemsIn: (operations: readonly Operation[]) => Iterable<T>,
): Generator<T> {
  for (const part of parts) yield* itemsIn(part);
}

/**
 * Yields the standard schemas, then `schemas`. Reads each entry of `schemas` only when it is needed, because this read
 * may translate a type.
 */
function* withStandard(schemas: DocumentContent['schemas']): Generator<readonly [string, Schema]> {
  yield* standardSchemas;
  yield* schemas;
}

/**
 * Yields the standard schemas and the given schemas. After the total length has reached the limit of a document, each
 * schema is replaced by a schema that accepts anything. Thus all references keep their targets.
 */
export function* bounded(schemas: Iterable<readonly [string, Schema]>, lengths: Encoded<number>): Generator<Part> {
  let length = 0;
  for (const [name, schema] of withStandard(schemas)) {
    const part = schemaPart(name, schema);
    if (length < openApiDocumentBytesMax) length += lengths.of(part);
    yield length < openApiDocumentBytesMax ? part : schemaPart(name, leftOut);
  }
}

const leftOut = { description: 'Omitted: the document is too large.' };

function schemaPart(name: string, schema: Schema): Part {
  return { name, sources: [schema], value: () => schema };
}
