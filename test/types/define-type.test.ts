import t, { test } from 'tap';

import {
  definePlugin,
  defineReconciler,
  defineType,
  type Client,
  type FromSchema,
  type ObjectMetadata,
  type ObjectOf,
  type ObjectOfSchema,
  type PluginObject,
  type ReconcileRequest,
} from '../../src/plugin/api/plugin.ts';

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters, @typescript-eslint/no-unused-vars --
   the compiler checks this file; the test that runs reports only that it did */
/** Two types are the same when each can stand for the other everywhere. */
type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
function same<Left, Right>(..._: Same<Left, Right> extends true ? [] : ['differs', Left, Right]): void {
  // There is nothing to do at run time.
}

type Short = { type: 'string'; maxLength: 8 };

const wheel = defineType({
  group: 'wheels.example',
  version: 'v1',
  kind: 'Wheel',
  singular: 'wheel',
  plural: 'wheels',
  shortNames: ['wh'],
  categories: ['parts'],
  scale: { specReplicas: '/spec/size', statusReplicas: '/status/size' },
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['title', 'size'],
        additionalProperties: false,
        properties: {
          title: { type: 'string', minLength: 1 },
          size: { type: 'integer', minimum: 0 },
          tags: { type: 'array', items: { type: 'string' } },
          side: { enum: ['left', 'right'] },
          hub: { type: 'object', properties: { holes: { type: 'number' } } },
        },
      },
      status: { type: 'object', properties: { phase: { const: 'turning' } } },
    },
  },
  indexes: [{ name: 'spec.tags', multi: true, indexFunc: (object) => object.spec.tags }],
});
type Wheel = ObjectOf<typeof wheel>;

test('a scale has both numbers', async () => {
  // @ts-expect-error -- the observed number is missing
  defineType({ ...wheel, scale: { specReplicas: '/spec/size' } });
  // @ts-expect-error -- one name is an array, too
  defineType({ ...wheel, shortNames: 'wh' });
});

test('hooks see it', async () => {
  defineType<Wheel>({
    ...wheel,
    hooks: {
      default: (object, { user }) => ({ ...object, spec: { ...object.spec, title: user.name } }),
      validate: ({ spec }, old, { operation }) => {
        same<typeof operation, 'create' | 'update' | 'status' | 'delete'>();
        return old !== undefined && spec.size < old.spec.size ? [{ pointer: '/spec/size', detail: 'shrinks' }] : [];
      },
      // @ts-expect-error -- a violation has a pointer
      validateDelete: () => [{ detail: 'no' }],
    },
  });
});

test('index functions see it', async (t) => {
  const { indexes, ...named } = wheel;
  const schema = {
    type: 'object',
    required: ['spec'],
    properties: { spec: { type: 'object', properties: { hub: { type: 'object', properties: {} } } } },
  } as const;
  // @ts-expect-error -- there is no such member
  defineType({ ...named, schema, indexes: [{ name: 'spec.colour', indexFunc: (object) => object.spec.colour }] });
  // @ts-expect-error -- an object is no index value
  defineType({ ...named, schema, indexes: [{ name: 'spec.hub', indexFunc: (object) => object.spec.hub }] });
  t.equal(indexes?.length, 1);
});

test("a schema's words are types", async () => {
  same<FromSchema<{ type: 'string' }>, string>();
  same<FromSchema<{ type: 'integer' }>, number>();
  same<FromSchema<{ type: 'boolean' }>, boolean>();
  same<FromSchema<{ type: readonly ['string', 'null'] }>, string | null>();
  same<FromSchema<{ type: 'string'; nullable: true }>, string | null>();
  same<FromSchema<{ type: 'array'; items: { type: 'integer' }; nullable: true }>, readonly number[] | null>();
  same<FromSchema<{ type: 'string'; nullable: false }>, string>();
  same<FromSchema<{ type: 'string'; enum: readonly ['a']; nullable: true }>, 'a'>();
  same<FromSchema<{ type: 'array' }>, readonly unknown[]>();
  same<FromSchema<{ type: 'array'; items: { type: 'number' } }>, readonly number[]>();
  same<
    FromSchema<{ type: 'array'; prefixItems: readonly [{ type: 'number' }]; items: { type: 'string' } }>,
    readonly unknown[]
  >();
  same<FromSchema<{ enum: readonly ['a', 1, null] }>, 'a' | 1 | null>();
  same<FromSchema<{ type: 'string'; const: 'a' }>, 'a'>();
  same<
    FromSchema<{ anyOf: readonly [{ type: 'string' }, { type: 'array'; items: { type: 'string' } }] }>,
    string | readonly string[]
  >();
  same<FromSchema<{ oneOf: readonly [{ type: 'string' }, { type: 'null' }] }>, string | null>();
  same<
    FromSchema<{ oneOf: readonly [{ type: 'array'; items: { type: 'string' } }, { type: 'array'; items: Short }] }>,
    readonly string[]
  >();
  same<FromSchema<{ type: 'object' }>, Readonly<Record<string, unknown>>>();
  same<FromSchema<{ type: 'object'; additionalProperties: { type: 'string' } }>, Readonly<Record<string, string>>>();
  same<
    FromSchema<{
      type: 'object';
      required: readonly ['a'];
      properties: { a: { type: 'string' }; b: { type: 'number' } };
    }>,
    { readonly a: string; readonly b?: number }
  >();
  same<
    FromSchema<{
      type: 'object';
      properties: { a: { type: 'object'; required: readonly ['b']; properties: { b: true } } };
    }>,
    { readonly a?: { readonly b: unknown } }
  >();
});

test('a member without a schema is unknown', async () => {
  same<FromSchema<{ $ref: '#/$defs/x' }>, unknown>();
  same<FromSchema<{ type: string }>, unknown>();
  same<FromSchema<true>, unknown>();
  same<FromSchema<{ anyOf: readonly [{ type: 'string' }, true] }>, unknown>();
  same<FromSchema<Readonly<Record<string, unknown>>>, unknown>();
  same<ObjectOfSchema<Readonly<Record<string, unknown>>>, PluginObject>();
});

test("a type's object is what its schema says", async () => {
  same<
    Wheel,
    {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: ObjectMetadata;
      readonly spec: {
        readonly title: string;
        readonly size: number;
        readonly tags?: readonly string[];
        readonly side?: 'left' | 'right';
        readonly hub?: { readonly holes?: number };
      };
      readonly status?: { readonly phase?: 'turning' };
    }
  >();
  const found: PluginObject<{ readonly title: string }, { readonly phase?: string }> | undefined = undefined as
    Wheel | undefined;
  t.equal(found, undefined, "it is a plugin's object as well");
});

test('the platform gets it as it was written', async () => {
  t.match(definePlugin({ types: [wheel], reconcilers: [] }), {
    types: [{ plural: 'wheels', schema: { properties: { spec: { required: ['title', 'size'] } } } }],
  });
});

test('reconcilers see it', async () => {
  const declared = defineReconciler({
    type: wheel,
    watches: [{ type: wheel, names: (object: Wheel) => [object.spec.title] }],
    reconcile: async ({ object, pluginClient }) => {
      same<typeof object, Wheel | undefined>();
      // @ts-expect-error -- misspelt
      if (object?.spec.titel === '') return;
      if (object !== undefined)
        await pluginClient.patchStatus(wheel, object.metadata.name, { status: { phase: 'turning' } });
    },
  });
  t.equal(declared.type.plural, 'wheels');
  // @ts-expect-error -- that is no outcome
  defineReconciler({ type: wheel, reconcile: () => ({ type: 'done' }) });
  const named = { group: 'wheels.example', version: 'v1', plural: 'wheels' };
  defineReconciler<Wheel>({
    type: named,
    reconcile: ({ object }) => {
      same<typeof object, Wheel | undefined>();
    },
  });
  defineReconciler({
    type: named,
    reconcile: (request) => {
      same<typeof request, ReconcileRequest>();
    },
  });
});

test('clients answer it where they are given the type itself', async () => {
  const use = async (client: Client): Promise<void> => {
    same<Awaited<ReturnType<typeof get>>, Wheel | undefined>();
    async function get() {
      return client.get(wheel, 'a');
    }
    same<Awaited<ReturnType<typeof list>>[number], Wheel>();
    async function list() {
      return (await client.list(wheel, { size: 1 })).items;
    }
    const made: Wheel = await client.create(wheel, { metadata: { name: 'a' }, spec: { title: 'A', size: 1 } });
    const patched: Wheel = await client.patch(wheel, made.metadata.name, {});
    // @ts-expect-error -- misspelt
    t.equal(patched.spec.sise, 1);
    const named = { group: 'wheels.example', version: 'v1', plural: 'wheels' };
    const any: PluginObject | undefined = await client.get(named, 'a');
    const typed: Wheel | undefined = await client.get<Wheel>(named, 'a');
    t.same([any, typed], []);
  };
  t.type(use, 'function', 'nothing of it is run');
});

test("an object's type can still be said", async () => {
  type Car = PluginObject<{ readonly doors: number }>;
  const car = defineType<Car>({
    group: 'cars.example',
    version: 'v1',
    kind: 'Car',
    singular: 'car',
    plural: 'cars',
    schema: { type: 'object' },
    indexes: [{ name: 'spec.doors', type: 'number', indexFunc: (object) => object.spec.doors }],
  });
  same<ObjectOf<typeof car>, Car>();
  const schema: Readonly<Record<string, unknown>> = { type: 'object' };
  const loose = defineType({
    group: 'cars.example',
    version: 'v1',
    kind: 'Car',
    singular: 'car',
    plural: 'cars',
    schema,
  });
  same<ObjectOf<typeof loose>, PluginObject>();
});
