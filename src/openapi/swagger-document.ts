import type { Steps } from '../base/steps.ts';
import type { Schema } from '../resource/schema/schema-check.ts';
import { bounded, infoOf, inParts } from './document.ts';
import { membersText } from './document-text.ts';
import type { Part } from './encoded.ts';
import type { KeptParts } from './kept-parts.ts';
import { commonMembers, itemsOf, type Members, type Operation, type Parameter } from './operation.ts';
import { toSwagger20 } from './schema/to-swagger-20.ts';

/**
 * A document of OpenAPI 2.0 before its encoding as JSON or protobuf. Older clients of Kubernetes read such documents.
 */
export type SwaggerDocument = {
  readonly head: {
    readonly swagger: '2.0';
    readonly info: { readonly title: string; readonly version: string };
    readonly consumes: readonly string[];
    readonly produces: readonly string[];
  };
  readonly paths: readonly Part[];
  readonly definitions: readonly Part[];
};

export type SwaggerContent = {
  readonly title: string;
  readonly version: string;
  /** The operations in parts. The iterable is read once, and no two parts share a path. */
  readonly operations: Iterable<readonly Operation[]>;
  /** Schema objects of OpenAPI 3.0, in addition to the standard schemas. */
  readonly schemas: Iterable<readonly [string, Schema]>;
};

export function* swaggerDocument(
  { title, version, operations, schemas }: SwaggerContent,
  { lengths }: Pick<KeptParts, 'lengths'>,
): Steps<SwaggerDocument> {
  const definitions = new Map<string, Part>();
  for (const part of bounded(schemas, lengths)) {
    definitions.set(part.name, { ...part, value: () => toSwagger20(part.value()) });
    yield;
  }
  const head = {
    swagger: '2.0' as const,
    info: { title, version },
    consumes: ['application/json'],
    produces: ['application/json'],
  };
  const paths = new Map<string, Part>();
  for (const item of inParts(operations, (part) => itemsOf(part, operationOf2))) {
    paths.set(item.name, item);
    yield;
  }
  return {
    head,
    paths: [...paths.values()],
    definitions: [...definitions.values()],
  };
}

export function* swaggerText(
  { head, paths, definitions }: SwaggerDocument,
  { texts2 }: Pick<KeptParts, 'texts2'>,
): Steps<readonly Buffer[]> {
  const pathsText = yield* membersText(paths, texts2);
  const definitionsText = yield* membersText(definitions, texts2);
  const start = JSON.stringify({ ...head, info: infoOf(head.info.title, head.info.version) }).slice(0, -1);
  return [
    Buffer.from(`${start},"paths":{`),
    ...pathsText,
    Buffer.from('},"definitions":{'),
    ...definitionsText,
    Buffer.from('}}'),
  ];
}

function operationOf2(operation: Operation): Members {
  const { body, responses } = operation;
  const answered = responses.flatMap(({ content = [] }) => content.flatMap(({ types }) => types));
  return {
    ...commonMembers(operation),
    ...(body === undefined ? {} : { consumes: body.types }),
    produces: [...new Set(answered)],
    parameters: [
      ...operation.parameters.map(parameterOf2),
      ...(body === undefined
        ? []
        : [
            {
              name: 'body',
              in: 'body',
              required: body.required,
              schema: toSwagger20(body.schema),
            },
          ]),
    ],
    responses: Object.fromEntries(
      responses.map(({ status, description, content: [first] = [] }) => [
        status,
        { description, ...(first === undefined ? {} : { schema: toSwagger20(first.schema) }) },
      ]),
    ),
  };
}

/** In OpenAPI 2.0, the members of the schema are members of the parameter. */
function parameterOf2({ name, in: place, required, description, schema }: Parameter): Members {
  return {
    name,
    in: place,
    ...(place === 'path' || required === true ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    ...schema,
  };
}
