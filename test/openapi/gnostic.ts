import protobuf from 'protobufjs/light.js';

/** Fields of a message: `<number> <type>`, with `*` behind a repeated one. */
type Fields = Readonly<Record<string, string>>;

const named = (type: string): Fields => ({ name: '1 string', value: `2 ${type}` });

/** The parts of gnostic's `openapi.v2` that a document may have, written down from its description. */
const messages: Readonly<Record<string, Fields>> = {
  Document: {
    swagger: '1 string',
    info: '2 Info',
    consumes: '6 string*',
    produces: '7 string*',
    paths: '8 Paths',
    definitions: '9 Definitions',
  },
  Info: { title: '1 string', version: '2 string' },
  Paths: { path: '2 NamedPathItem*' },
  NamedPathItem: named('PathItem'),
  PathItem: {
    get: '2 Operation',
    put: '3 Operation',
    post: '4 Operation',
    delete: '5 Operation',
    patch: '8 Operation',
  },
  Operation: {
    tags: '1 string*',
    summary: '2 string',
    operationId: '5 string',
    produces: '6 string*',
    consumes: '7 string*',
    parameters: '8 ParametersItem*',
    responses: '9 Responses',
    vendorExtension: '13 NamedAny*',
  },
  ParametersItem: { parameter: '1 Parameter' },
  Parameter: { bodyParameter: '1 BodyParameter', nonBodyParameter: '2 NonBodyParameter' },
  BodyParameter: { description: '1 string', name: '2 string', in: '3 string', required: '4 bool', schema: '5 Schema' },
  NonBodyParameter: {
    queryParameterSubSchema: '3 QueryParameterSubSchema',
    pathParameterSubSchema: '4 PathParameterSubSchema',
  },
  QueryParameterSubSchema: {
    required: '1 bool',
    in: '2 string',
    description: '3 string',
    name: '4 string',
    type: '6 string',
    minimum: '13 double',
    enum: '21 Any*',
  },
  PathParameterSubSchema: {
    required: '1 bool',
    in: '2 string',
    description: '3 string',
    name: '4 string',
    type: '5 string',
  },
  Responses: { responseCode: '1 NamedResponseValue*' },
  NamedResponseValue: named('ResponseValue'),
  ResponseValue: { response: '1 Response' },
  Response: { description: '1 string', schema: '2 SchemaItem' },
  SchemaItem: { schema: '1 Schema' },
  Definitions: { additionalProperties: '1 NamedSchema*' },
  NamedSchema: named('Schema'),
  NamedAny: named('Any'),
  Any: { yaml: '2 string' },
  Properties: { additionalProperties: '1 NamedSchema*' },
  AdditionalPropertiesItem: { schema: '1 Schema', boolean: '2 bool' },
  TypeItem: { value: '1 string*' },
  ItemsItem: { schema: '1 Schema*' },
  Schema: {
    ref: '1 string',
    format: '2 string',
    title: '3 string',
    description: '4 string',
    default: '5 Any',
    multipleOf: '6 double',
    maximum: '7 double',
    exclusiveMaximum: '8 bool',
    minimum: '9 double',
    exclusiveMinimum: '10 bool',
    maxLength: '11 int64',
    minLength: '12 int64',
    pattern: '13 string',
    maxItems: '14 int64',
    minItems: '15 int64',
    uniqueItems: '16 bool',
    maxProperties: '17 int64',
    minProperties: '18 int64',
    required: '19 string*',
    enum: '20 Any*',
    additionalProperties: '21 AdditionalPropertiesItem',
    type: '22 TypeItem',
    items: '23 ItemsItem',
    allOf: '24 Schema*',
    properties: '25 Properties',
    readOnly: '27 bool',
    example: '30 Any',
    vendorExtension: '31 NamedAny*',
  },
};

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(messages).map(([name, fields]) => [
      name,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, text]) => {
            const [id = '', type = ''] = text.split(' ');
            const plain = { id: Number(id), type: type.replace('*', '') };
            return [field, type.endsWith('*') ? { ...plain, rule: 'repeated' } : plain];
          }),
        ),
      },
    ]),
  ),
});

export type Pairs = readonly { readonly name: string; readonly value: unknown }[];

/** The message as a plain value; throws for bytes that are none. */
export function decodeDocument(bytes: Uint8Array): unknown {
  const type = root.lookupType('Document');
  return type.toObject(type.decode(bytes), { longs: Number });
}

type Message = Readonly<Record<string, unknown>>;

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pairsOf(value: unknown): Pairs {
  return (isMessage(value) ? (Object.values(value)[0] ?? []) : []) as Pairs;
}

function anyOf(value: unknown): unknown {
  return JSON.parse((value as { readonly yaml: string }).yaml);
}

/** A decoded schema in the form of JSON. */
export function schemaOf(value: unknown): Message {
  if (!isMessage(value)) return {};
  const { ref, type, items, allOf, properties, additionalProperties, vendorExtension, ...rest } = value;
  const extensions = (vendorExtension ?? []) as Pairs;
  const additional = additionalProperties as { readonly boolean?: boolean; readonly schema?: unknown } | undefined;
  return {
    ...Object.fromEntries(
      Object.entries(rest).map(([name, one]) => {
        if (name === 'enum') return [name, (one as readonly unknown[]).map(anyOf)];
        return [name, name === 'default' || name === 'example' ? anyOf(one) : one];
      }),
    ),
    ...(ref === undefined ? {} : { $ref: ref }),
    ...(type === undefined ? {} : { type: (type as { readonly value: readonly string[] }).value[0] }),
    ...(items === undefined ? {} : { items: schemaOf((items as { readonly schema: readonly unknown[] }).schema[0]) }),
    ...(allOf === undefined ? {} : { allOf: (allOf as readonly unknown[]).map(schemaOf) }),
    ...(properties === undefined ? {} : { properties: schemasOf(properties) }),
    ...(additional === undefined ? {} : { additionalProperties: additional.boolean ?? schemaOf(additional.schema) }),
    ...Object.fromEntries(extensions.map(({ name, value: any }) => [name, anyOf(any)])),
  };
}

/** Decoded pairs of names and schemas. */
export function schemasOf(value: unknown): Message {
  return Object.fromEntries(pairsOf(value).map(({ name, value: schema }) => [name, schemaOf(schema)]));
}
