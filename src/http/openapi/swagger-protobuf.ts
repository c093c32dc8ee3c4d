import protobuf from 'protobufjs/minimal.js';

import { isList, isObject } from '../../base/guards.ts';
import type { Steps } from '../../base/steps.ts';
import { textOf } from '../../openapi/document-text.ts';
import { Encoded, type Part } from '../../openapi/encoded.ts';
import type { SwaggerDocument } from '../../openapi/swagger-document.ts';

const { Writer } = protobuf;
type Writer = InstanceType<typeof Writer>;

/**
 * Writes one member of a Swagger 2.0 document as a field of gnostic's message `openapi.v2.Document`. Clients of
 * Kubernetes read this message.
 */
type Write = (writer: Writer, field: number, value: unknown) => void;
/** The members of a message by name. Members without an entry are omitted, except for extensions (`x-`). */
type Table = Readonly<Record<string, readonly [field: number, write: Write]>>;

/** Wire types of protobuf. */
const varint = 0;
const fixed64 = 1;
const delimited = 2;

const text: Write = (writer, field, value) => {
  if (typeof value === 'string') writer.uint32(tag(field, delimited)).string(value);
};
const double: Write = (writer, field, value) => {
  if (typeof value === 'number') writer.uint32(tag(field, fixed64)).double(value);
};
const whole: Write = (writer, field, value) => {
  if (Number.isSafeInteger(value)) writer.uint32(tag(field, varint)).int64(Number(value));
};
const flag: Write = (writer, field, value) => {
  if (typeof value === 'boolean') writer.uint32(tag(field, varint)).bool(value);
};
/** Writes gnostic's `Any`: a JSON value as text, which is valid YAML. */
const any: Write = (writer, field, value) => {
  nested(writer, field, () => writer.uint32(tag(2, delimited)).string(textOf(value)));
};
const repeated =
  (write: Write): Write =>
  (writer, field, value) => {
    if (isList(value)) for (const one of value) write(writer, field, one);
  };
const message =
  (table: () => Table, extensionField?: number): Write =>
  (writer, field, value) => {
    nested(writer, field, () => {
      members(writer, value, { table: table(), extensionField });
    });
  };
/** Writes gnostic's form of a map: a message with a list of pairs of name and value. */
const pairs =
  (write: Write): Write =>
  (writer, field, value) => {
    nested(writer, field, () => {
      if (!isObject(value)) return;
      for (const [name, one] of Object.entries(value)) pair(writer, 1, { name, write, value: one });
    });
  };

function pair(writer: Writer, field: number, { name, write, value }: Pair): void {
  nested(writer, field, () => {
    text(writer, 1, name);
    write(writer, 2, value);
  });
}

type Pair = {
  readonly name: string;
  readonly write: Write;
  readonly value: unknown;
};

/** Writes a message with one field, which `chosen` selects. */
const choice =
  (chosen: (value: unknown) => readonly [field: number, write: Write]): Write =>
  (writer, field, value) => {
    const [inner, write] = chosen(value);
    nested(writer, field, () => {
      write(writer, inner, value);
    });
  };

const schema: Write = message(() => schemaTable, 31);
const schemaTable: Table = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  default: [5, any],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, flag],
  minimum: [9, double],
  exclusiveMinimum: [10, flag],
  maxLength: [11, whole],
  minLength: [12, whole],
  pattern: [13, text],
  maxItems: [14, whole],
  minItems: [15, whole],
  uniqueItems: [16, flag],
  maxProperties: [17, whole],
  minProperties: [18, whole],
  required: [19, repeated(text)],
  enum: [20, repeated(any)],
  additionalProperties: [21, choice((value) => (typeof value === 'boolean' ? [2, flag] : [1, schema]))],
  type: [22, wrapped(text)],
  items: [23, wrapped(schema)],
  allOf: [24, repeated(schema)],
  properties: [25, pairs(schema)],
  readOnly: [27, flag],
  example: [30, any],
};

/** Writes a message with the value as field 1. */
function wrapped(write: Write): Write {
  return choice(() => [1, write]);
}

const bodyParameter: Write = message(
  () => ({
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, schema],
  }),
  6,
);
const pathParameter: Write = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    format: [6, text],
  }),
  22,
);
const queryParameter: Write = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    format: [7, text],
    minimum: [13, double],
    enum: [21, repeated(any)],
  }),
  23,
);
const nonBodyParameter: Write = choice((value) =>
  placeOf(value) === 'path' ? [4, pathParameter] : [3, queryParameter],
);
const parameter: Write = choice((value) => (placeOf(value) === 'body' ? [1, bodyParameter] : [2, nonBodyParameter]));

function placeOf(value: unknown): unknown {
  return isObject(value) ? value['in'] : undefined;
}

const response: Write = message(() => ({ description: [1, text], schema: [2, wrapped(schema)] }), 5);

const operation: Write = message(
  () => ({
    tags: [1, repeated(text)],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, repeated(text)],
    consumes: [7, repeated(text)],
    parameters: [8, repeated(wrapped(parameter))],
    responses: [9, pairs(wrapped(response))],
  }),
  13,
);
const pathItem: Write = message(
  () => ({
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
  }),
  10,
);
const info: Write = message(() => ({ title: [1, text], version: [2, text] }), 7);

/**
 * The field numbers of `paths` and `definitions` in the document, each followed by the number of the repeated field in
 * its message.
 */
const pathsField = 8;
const pathField = 2;
const definitionsField = 9;
const definitionField = 1;

/** Encodes documents in protobuf. The encoding of each path and definition is cached. */
export class SwaggerProtobuf {
  readonly #paths = new Encoded<Uint8Array>((name, value) => pairBytes(pathField, { name, write: pathItem, value }));
  readonly #definitions = new Encoded<Uint8Array>((name, value) =>
    pairBytes(definitionField, { name, write: schema, value }),
  );

  *of({ head, paths, definitions }: SwaggerDocument): Steps<readonly Uint8Array[]> {
    const start = Writer.create();
    text(start, 1, head.swagger);
    info(start, 2, head.info);
    repeated(text)(start, 6, head.consumes);
    repeated(text)(start, 7, head.produces);
    const pathPieces = yield* inTurns(paths, this.#paths);
    const definitionPieces = yield* inTurns(definitions, this.#definitions);
    return [
      start.finish(),
      ...delimitedPieces(pathsField, pathPieces),
      ...delimitedPieces(definitionsField, definitionPieces),
    ];
  }
}

function pairBytes(field: number, named: Pair): Uint8Array {
  const writer = Writer.create();
  pair(writer, field, named);
  return writer.finish();
}

/** Encodes each part in a separate step. */
function* inTurns(parts: readonly Part[], form: Encoded<Uint8Array>): Steps<readonly Uint8Array[]> {
  const encoded: Uint8Array[] = [];
  for (const part of parts) {
    encoded.push(form.of(part));
    yield;
  }
  return encoded;
}

function delimitedPieces(field: number, encoded: readonly Uint8Array[]): readonly Uint8Array[] {
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  return [Writer.create().uint32(tag(field, delimited)).uint32(bytes).finish(), ...encoded];
}

type Shape = {
  readonly table: Table;
  readonly extensionField: number | undefined;
};

function members(writer: Writer, value: unknown, { table, extensionField }: Shape): void {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const entry = Object.hasOwn(table, name) ? table[name] : undefined;
    if (entry !== undefined) entry[1](writer, entry[0], member);
    else if (extensionField !== undefined && name.startsWith('x-'))
      pair(writer, extensionField, { name, write: any, value: member });
  }
}

function nested(writer: Writer, field: number, write: () => void): void {
  writer.uint32(tag(field, delimited)).fork();
  write();
  writer.ldelim();
}

function tag(field: number, wireType: number): number {
  return field * 8 + wireType;
}
