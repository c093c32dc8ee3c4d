/** What an author of a plugin can write, and what does not compile. */
import { test } from 'tap';

import type { RemoteClient } from '../../src/client/client.ts';
import {
  defineReconciler,
  defineRoute,
  defineType,
  type Client,
  type FromSchema,
  type ObjectOf,
  type PluginObject,
} from '../../src/plugin/api/plugin.ts';

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters, @typescript-eslint/no-unused-vars --
   the compiler checks this file; the test that runs reports only that it did */
type Same<Left, Right> = (<T>() => T extends Left ? 1 : 2) extends <T>() => T extends Right ? 1 : 2 ? true : false;
function same<Left, Right>(..._: Same<Left, Right> extends true ? [] : ['differs', Left, Right]): void {
  // There is nothing to do at run time.
}

const names = { group: 'lamps.example', version: 'v1', plural: 'lamps' };

const lamp = defineType({
  group: 'lamps.example',
  version: 'v1',
  kind: 'Lamp',
  singular: 'lamp',
  plural: 'lamps',
  statusSubresource: true,
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['title', 'watts'],
        properties: {
          title: { type: 'string' },
          watts: { type: 'integer' },
          color: { enum: ['red', 'blue'] },
          rooms: { type: 'array', items: { type: 'object', properties: { floor: { type: 'integer' } } } },
          socket: { type: 'object', properties: { size: { type: 'number' } } },
        },
      },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  },
  indexes: [
    { name: 'spec.title' },
    { name: 'spec.watts', type: 'number', order: 'DESC' },
    { name: 'floors', multi: true, indexFunc: ({ spec }) => (spec.rooms ?? []).map(({ floor }) => String(floor)) },
  ],
});
type Lamp = ObjectOf<typeof lamp>;

const shade = defineType({
  group: 'lamps.example',
  version: 'v1',
  kind: 'Shade',
  singular: 'shade',
  plural: 'shades',
  schema: {
    type: 'object',
    properties: { spec: { type: 'object', required: ['lamp'], properties: { lamp: { type: 'string' } } } },
  },
});
type Shade = ObjectOf<typeof shade>;

/** Compiles calls without running them. */
function compiled(_calls: (client: Client) => Promise<void>): void {
  // There is nothing to do at run time.
}

/** The same for a client over HTTP. */
function compiledRemotely(_calls: (client: RemoteClient) => Promise<void>): void {
  // There is nothing to do at run time.
}
declare const signal: AbortSignal;

test('create takes the members of the schema', async () => {
  compiled(async (client) => {
    const made = await client.create(lamp, {
      metadata: { name: 'a', labels: { 'example.com/team': 'blue' } },
      spec: { title: 'A', watts: 3, color: 'red', rooms: [{ floor: 1 }], socket: { size: 2 } },
    });
    same<typeof made, Lamp>();
    await client.create(lamp, { metadata: { generateName: 'a-' }, spec: { title: 'A', watts: 3 } });
    await client.create(lamp, { spec: { title: 'A', watts: 3, color: undefined, socket: undefined } });
    const spec = { title: 'A', watts: 3 };
    // @ts-expect-error -- misspelt
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, titel: 'A' } });
    // @ts-expect-error -- misspelt in an inner object
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, socket: { sise: 2 } } });
    // @ts-expect-error -- misspelt in an array
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, rooms: [{ flor: 2 }] } });
    // @ts-expect-error -- misspelt at the top
    await client.create(lamp, { metadata: { name: 'a' }, spec, spek: {} });
    // @ts-expect-error -- misspelt metadata
    await client.create(lamp, { metadata: { nmae: 'a' }, spec });
    // @ts-expect-error -- another type
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, watts: '3' } });
    // @ts-expect-error -- not in the enum
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, color: 'green' } });
    // @ts-expect-error -- null removes a member only in a patch
    await client.create(lamp, { metadata: { name: 'a' }, spec: { ...spec, color: null } });
  });
});

const shelf = defineType({
  group: 'lamps.example',
  version: 'v1',
  kind: 'Shelf',
  singular: 'shelf',
  plural: 'shelves',
  statusSubresource: true,
  hooks: { validate: ({ spec }) => (spec.boards.length > spec.depth ? [{ pointer: '/spec', detail: 'deep' }] : []) },
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['wall', 'depth', 'boards'],
        allOf: [{ properties: { boards: { default: [] } } }],
        properties: {
          wall: { type: 'string' },
          depth: { type: 'integer', default: 3 },
          color: { enum: ['red', 'blue'], default: 'red' },
          boards: { type: 'array', items: { $ref: '#/$defs/board' } },
          feet: {
            type: 'array',
            items: {
              type: 'object',
              required: ['height', 'glued'],
              properties: { height: { type: 'number' }, glued: { type: 'boolean', default: true } },
            },
          },
          paint: {
            type: 'object',
            default: {},
            properties: { layers: { type: 'integer', default: 1 }, gloss: { type: 'number' } },
          },
          lights: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              required: ['watts'],
              properties: { watts: { type: 'integer' }, dim: { type: 'boolean', default: false } },
            },
          },
          label: { allOf: [{ default: 'none' }], type: 'string' },
        },
      },
      status: { type: 'object', required: ['full'], properties: { full: { type: 'boolean' } } },
    },
    $defs: { board: { type: 'object', required: ['length'], properties: { length: { type: 'number' } } } },
  },
});
type Shelf = ObjectOf<typeof shelf>;

test('reads have the members with a default, at any depth', async () => {
  same<
    Shelf['spec'],
    {
      readonly wall: string;
      readonly depth: number;
      readonly color: 'red' | 'blue';
      readonly boards: readonly unknown[];
      readonly feet?: readonly { readonly height: number; readonly glued: boolean }[];
      readonly paint: { readonly layers: number; readonly gloss?: number };
      readonly lights?: Readonly<Record<string, { readonly watts: number; readonly dim: boolean }>>;
      readonly label: string;
    }
  >();
  same<Shelf['status'], { readonly full: boolean } | undefined>();
});

test('creates and updates have the required members, except for those with a default', async () => {
  compiled(async (client) => {
    const made = await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: 'north' } });
    same<typeof made, Shelf>();
    await client.update(shelf, { metadata: { name: 'a' }, spec: { wall: 'south' } });
    await client.update(shelf, made);
    await client.update(shelf, { ...made, spec: { ...made.spec, wall: 'south' } });
    await client.create(shelf, {
      spec: { wall: 'north', feet: [{ height: 1 }], paint: {}, lights: { a: { watts: 3 } } },
    });
    // @ts-expect-error -- spec is missing
    await client.create(shelf, { metadata: { name: 'a' } });
    // @ts-expect-error -- spec.wall is missing
    await client.create(shelf, { metadata: { name: 'a' }, spec: { depth: 4 } });
    // @ts-expect-error -- a required member is not undefined
    await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: undefined } });
    // @ts-expect-error -- spec.feet[].height is missing
    await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: 'north', feet: [{ glued: true }] } });
    // @ts-expect-error -- spec.lights.a.watts is missing
    await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: 'north', lights: { a: { dim: true } } } });
    // @ts-expect-error -- spec is missing
    await client.update(shelf, { metadata: { name: 'a' } });
    // @ts-expect-error -- spec.wall is missing
    await client.update(shelf, { metadata: { name: 'a' }, spec: { depth: 4 } });
    // @ts-expect-error -- status.full is missing
    await client.create(shelf, { spec: { wall: 'north' }, status: {} });
    // A patch has any of the members.
    await client.patch(shelf, 'a', { spec: { depth: 4, feet: [{}] } });
    await client.patch(shelf, 'a', {});
    await client.patchStatus(shelf, 'a', { status: {} });
  });
});

test('a default in the target of a $ref may fill in a required member', async () => {
  const bracket = defineType({
    ...{ group: 'lamps.example', version: 'v1', kind: 'Bracket', singular: 'bracket', plural: 'brackets' },
    schema: {
      type: 'object',
      required: ['spec', 'note'],
      properties: {
        spec: { type: 'object', required: ['size', 'side'], properties: { size: { $ref: '#/$defs/size' }, side: {} } },
        note: { type: 'string' },
      },
      $defs: { size: { type: 'integer', default: 3 } },
    },
  });
  compiled(async (client) => {
    await client.create(bracket, { spec: { side: 'left' }, note: '' });
    // @ts-expect-error -- spec.side is missing
    await client.create(bracket, { spec: { size: 3 }, note: '' });
    // @ts-expect-error -- note is missing
    await client.create(bracket, { spec: { side: 'left' } });
  });
});

test('a default hook may fill in any member', async () => {
  const { schema, hooks: _hooks, indexes: _indexes, ...declared } = lamp;
  const hooked = defineType({
    ...declared,
    schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required: ['title', 'watts'],
          properties: { title: { type: 'string' }, watts: { type: 'integer' } },
        },
      },
    },
    hooks: {
      default: (object, { user }) => ({ ...object, spec: { ...object.spec, title: user.name } }),
      validate: ({ spec }) => (spec.watts > 3 ? [{ pointer: '/spec/watts', detail: 'hot' }] : []),
    },
  });
  compiled(async (client) => {
    const made = await client.create(hooked, { metadata: { name: 'a' }, spec: { watts: 3 } });
    same<typeof made.spec, { readonly title: string; readonly watts: number }>();
    await client.create(hooked, {});
    await client.update(hooked, { metadata: { name: 'a' } });
    // @ts-expect-error -- misspelt
    await client.create(hooked, { metadata: { name: 'a' }, spec: { titel: 'A' } });
  });
});

test('writes of an explicit type have any of its members', async () => {
  type Bulb = PluginObject<{ readonly volts: number }>;
  const bulb = defineType<Bulb>({
    ...{ group: 'lamps.example', version: 'v1', kind: 'Bulb', singular: 'bulb', plural: 'bulbs' },
    schema: { type: 'object' },
  });
  compiled(async (client) => {
    await client.create(bulb, { metadata: { name: 'a' } });
    // @ts-expect-error -- misspelt
    await client.create(bulb, { metadata: { name: 'a' }, spec: { voltz: 3 } });
  });
});

test('the client over HTTP has the same types', async () => {
  compiledRemotely(async (client) => {
    const made = await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: 'north' } }, { signal });
    same<typeof made, Shelf>();
    await client.update(shelf, { ...made, spec: { ...made.spec, depth: 4 } }, { resourceVersion: '1', signal });
    await client.patch(shelf, 'a', { spec: { depth: 4 } }, { signal });
    await client.create(names, { anything: 1 });
    // @ts-expect-error -- misspelt
    await client.create(shelf, { metadata: { name: 'a' }, spec: { wall: 'north', dept: 4 } });
    // @ts-expect-error -- spec.wall is missing
    await client.create(shelf, { metadata: { name: 'a' }, spec: {} });
    // @ts-expect-error -- spec.wall is missing
    await client.update(shelf, { metadata: { name: 'a' }, spec: { depth: 4 } });
    // @ts-expect-error -- the name is missing
    await client.update(shelf, { spec: { wall: 'north' } });
    // @ts-expect-error -- misspelt
    await client.patch(shelf, 'a', { spec: { dept: 4 } });
    // @ts-expect-error -- misspelt
    await client.patchStatus(shelf, 'a', { status: { ful: true } });
  });
});

test('update takes an object with a name', async () => {
  compiled(async (client) => {
    const found = await client.get(lamp, 'a');
    if (found === undefined) return;
    await client.update(lamp, { ...found, spec: { ...found.spec, watts: 4 } });
    // @ts-expect-error -- the name is missing
    await client.update(lamp, { spec: { title: 'A', watts: 4 } });
    // @ts-expect-error -- misspelt
    await client.update(lamp, { ...found, spec: { ...found.spec, wats: 4 } });
  });
});

test('patch and patchStatus take parts, and null', async () => {
  compiled(async (client) => {
    await client.patch(lamp, 'a', { spec: { watts: 5, color: null, rooms: [{ floor: 1 }] } });
    await client.patch(lamp, 'a', { metadata: { finalizers: [], labels: { 'example.com/team': null } } });
    await client.patchStatus(lamp, 'a', { status: { phase: 'lit' } }, { resourceVersion: '1' });
    // @ts-expect-error -- misspelt
    await client.patch(lamp, 'a', { spec: { wats: 5 } });
    // @ts-expect-error -- another type
    await client.patch(lamp, 'a', { spec: { watts: 'many' } });
    // @ts-expect-error -- misspelt
    await client.patchStatus(lamp, 'a', { status: { fase: 'lit' } });
    // @ts-expect-error -- patchStatus writes the status only
    await client.patchStatus(lamp, 'a', { spec: { watts: 5 } });
  });
});

test('a type that is known by its names only takes any members', async () => {
  compiled(async (client) => {
    const made = await client.create(names, { metadata: { name: 'a' }, anything: { at: 'all' } });
    same<typeof made, PluginObject>();
    await client.update(names, { anything: 1 });
    await client.patch(names, 'a', { anything: null });
    await client.list(names, { fieldSelector: 'spec.anything=1', sort: 'spec.anything,desc' });
    await client.list<Lamp>(names, { fieldSelector: 'spec.anything=1' });
    // @ts-expect-error -- misspelt, with the type of the objects as an argument
    await client.create<Lamp>(names, { spec: { titel: 'A' } });
  });
});

test('selectors and sorts know the indexed fields', async () => {
  compiled(async (client) => {
    const title = 'A';
    await client.list(lamp, { fieldSelector: `spec.title=${title}`, sort: 'spec.watts,desc', size: 5 });
    await client.list(lamp, { fieldSelector: ['spec.watts>3', 'floors in (1,2)', '!spec.title', 'spec.title'] });
    await client.list(lamp, { sort: ['metadata.creationTimestamp,desc', 'metadata.name'] });
    // @ts-expect-error -- there is no such index
    await client.list(lamp, { fieldSelector: 'spec.color=red' });
    // @ts-expect-error -- misspelt
    await client.list(lamp, { fieldSelector: `spec.titel=${title}` });
    // @ts-expect-error -- misspelt at the end
    await client.list(lamp, { fieldSelector: 'spec.titles=A' });
    // @ts-expect-error -- one of them is misspelt
    await client.list(lamp, { fieldSelector: ['spec.title=A', 'spec.wats=3'] });
    // @ts-expect-error -- there is no such index
    await client.list(lamp, { sort: 'spec.color' });
    // @ts-expect-error -- misspelt
    await client.list(lamp, { sort: ['spec.wats,desc'] });
    // @ts-expect-error -- a type without declared indexes has the default indexes
    await client.list(shade, { sort: 'spec.lamp' });
    await client.list(shade, { sort: 'metadata.name' });
  });
});

test('routes have the parameters of their path, and the types of their schemas', async (t) => {
  const route = defineRoute({
    method: 'POST',
    path: '/apis/api.lamps.example/v1/lamps/{name}/switch/{side}',
    request: {
      query: { dim: { enum: ['half', 'full'] }, room: { type: 'array', items: { type: 'string' } } },
      body: { type: 'object', required: ['on'], properties: { on: { type: 'boolean' }, note: { type: 'string' } } },
    },
    handler: ({ params, query, body, user, log }) => {
      same<typeof params, { readonly name: string; readonly side: string }>();
      same<typeof query, { readonly dim?: 'half' | 'full'; readonly room?: readonly string[] }>();
      same<typeof body, { readonly on: boolean; readonly note?: string }>();
      // @ts-expect-error -- misspelt
      log.info(params.nam);
      // @ts-expect-error -- misspelt
      log.info(query.rooms?.[0] ?? '');
      // @ts-expect-error -- misspelt
      return { body: [body.onn, user.name] };
    },
  });
  t.equal(route.method, 'POST');
  defineRoute({
    method: 'GET',
    path: '/{name}',
    handler: ({ params, query, body }) => {
      same<typeof query, Readonly<Record<string, string | readonly string[]>>>();
      same<typeof body, unknown>();
      return { body: params.name };
    },
  });
  const path: string = route.path;
  defineRoute({ method: 'GET', path, handler: ({ params }) => ({ body: params['name'] }) });
  // @ts-expect-error -- misspelt member of a route
  defineRoute({ method: 'GET', path: '/a', sumary: 'A', handler: () => undefined });
  // @ts-expect-error -- misspelt member of an answer
  defineRoute({ method: 'GET', path: '/a', handler: () => ({ boddy: 'A' }) });
  // @ts-expect-error -- there is no such method
  defineRoute({ method: 'FETCH', path: '/a', handler: () => undefined });
});

test('watches pass typed objects', async () => {
  defineReconciler({
    type: lamp,
    watches: [
      {
        type: shade,
        names: (object) => {
          same<typeof object, Shade>();
          return [object.spec?.lamp ?? ''];
        },
      },
      {
        type: lamp,
        names(object) {
          same<typeof object, Lamp>();
          // @ts-expect-error -- misspelt
          return [object.spec.titel];
        },
      },
      {
        type: names,
        names: (object) => {
          same<typeof object, PluginObject>();
          return [object.metadata.name];
        },
      },
    ],
    reconcile: ({ object }) => {
      same<typeof object, Lamp | undefined>();
    },
  });
  // @ts-expect-error -- names returns an array
  defineReconciler({ type: lamp, watches: [{ type: shade, names: () => 'a' }], reconcile: () => undefined });
});

test('hooks are synchronous, and return the members of the schema', async () => {
  const { schema, indexes, hooks, ...declared } = lamp;
  const literal = {
    type: 'object',
    required: ['spec'],
    properties: { spec: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } } },
  } as const;
  defineType({
    ...declared,
    schema: literal,
    hooks: { default: (object, { user }) => ({ ...object, spec: { ...object.spec, title: user.name } }) },
  });
  // @ts-expect-error -- a promise
  defineType({ ...declared, schema: literal, hooks: { default: async (object) => Promise.resolve(object) } });
  // @ts-expect-error -- misspelt
  defineType({ ...declared, schema: literal, hooks: { default: () => ({ spec: { titel: 'A' } }) } });
  // @ts-expect-error -- a promise
  defineType({ ...declared, schema: literal, hooks: { validate: async () => Promise.resolve([]) } });
  // @ts-expect-error -- a promise
  defineType<Lamp>({ ...lamp, hooks: { default: async (object) => Promise.resolve(object) } });
});

test('FromSchema gives the type of a schema on its own', async () => {
  const sizes = { type: 'object', required: ['width'], properties: { width: { type: 'number' } } } as const;
  same<FromSchema<typeof sizes>, { readonly width: number }>();
});
