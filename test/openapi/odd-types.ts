/** Types with every keyword that OpenAPI 3.0 lacks, and schemas that no author means. */
export const declaredTypes = [
  {
    kind: 'Widget',
    plural: 'widgets',
    statusSubresource: true,
    scale: { specReplicas: '/spec/size', statusReplicas: '/status/size', labelSelector: '/status/selector' },
    schema: {
      type: 'object',
      description: 'A widget.',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          additionalProperties: false,
          required: ['size'],
          properties: {
            size: { type: 'integer', exclusiveMinimum: 0, description: 'The size in millimetres.' },
            color: { type: ['string', 'null'], enum: ['red', 'blue', null] },
            mode: { const: 'fixed' },
            parent: { $ref: '#/$defs/part', description: 'The outer part.' },
            parts: { type: 'array', items: { $ref: '#/$defs/part' } },
            pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false, minItems: 2 },
            labels: { type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
            either: { type: ['string', 'integer'] },
          },
          if: { required: ['mode'] },
          then: { required: ['color'] },
        },
        status: { type: 'object', properties: { phase: { type: 'string', readOnly: true } } },
      },
      $defs: {
        part: {
          type: 'object',
          properties: { name: { type: 'string' }, inner: { $ref: '#/$defs/part' } },
        },
      },
    },
  },
  {
    kind: 'Endless',
    plural: 'endlesses',
    schema: {
      type: 'object',
      properties: { spec: { $ref: '#/$defs/a' } },
      $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } },
    },
  },
  {
    kind: 'Large',
    plural: 'larges',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 1_000 }, (_, index) => [`member${index.toString()}`, { type: 'string' }]),
          ),
        },
      },
    },
  },
  {
    kind: 'Deep',
    plural: 'deeps',
    schema: { type: 'object', properties: { spec: nested(200) } },
  },
  {
    kind: 'Odd',
    plural: 'odds',
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          externalDocs: 'no object',
          xml: 5,
          'x-kubernetes-group-version-kind': 'no list',
          'x-own': { any: ['thing'] },
          properties: { $ref: { type: 'string' }, '': { type: 'boolean' }, 'a/b~c': true, enum: false },
          default: { $ref: '#/nowhere' },
        },
      },
    },
  },
] as const;

function nested(levels: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < levels; level += 1) schema = { type: 'object', properties: { inner: schema } };
  return schema;
}

const schemas = declaredTypes.map(({ kind, plural, schema, ...more }) => ({
  group: 'shop.example',
  version: 'v1alpha1',
  kind,
  singular: kind.toLowerCase(),
  plural,
  schema,
  ...more,
}));

/** The same kind in another group. */
const twin = { ...schemas[0], group: 'twin.example' };

/** A module with these types, and routes with schemas. */
export const oddModule = `export default () => ({
  types: ${JSON.stringify([...schemas, twin])},
  routes: [
    {
      method: 'POST',
      path: '/apis/api.shop.example/v1alpha1/widgets/{name}/paint',
      summary: 'Paint a widget',
      request: {
        query: { times: { type: 'string', pattern: '^[0-9]+$' } },
        body: { $ref: '#/$defs/coat', $defs: { coat: { properties: { next: { $ref: '#/$defs/coat' } } } } },
      },
      responses: { 202: { description: 'Painted.', schema: { type: ['object', 'null'] } } },
      handler: () => ({ body: {} }),
    },
    { method: 'GET', path: '/apis/api.shop.example/v1alpha1/widgets/{other}/paint', handler: () => ({ body: {} }) },
  ],
});
`;
