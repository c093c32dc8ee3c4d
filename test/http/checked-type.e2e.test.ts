import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';

import { startTestServer, type TestServer } from '../support/server/start-server.ts';

/** A plugin with a type that has defaults, rules and hooks. */
const main = `export default ({ log }) => ({ types: [{
  group: 'checked.example', version: 'v1', kind: 'Booking', singular: 'booking', plural: 'bookings',
  statusSubresource: true,
  schema: { type: 'object', required: ['spec'], properties: {
    spec: {
      type: 'object',
      properties: {
        from: { type: 'integer' }, to: { type: 'integer' }, seats: { type: 'integer', default: 1 },
        owner: { type: 'string', maxLength: 63 }, note: { type: 'string' }, busy: { type: 'boolean' },
      },
      'x-kubernetes-validations': [
        { rule: '!has(self.from) || !has(self.to) || self.from < self.to',
          message: 'from must be before to', fieldPath: '.to' },
        { rule: 'self.owner == oldSelf.owner', message: 'owner cannot be changed', fieldPath: '.owner' },
      ],
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  } },
  hooks: {
    default: (object, { user }) => ({ ...object, spec: { owner: user.name.replaceAll(':', '-'), ...object.spec } }),
    validate: ({ spec }) => {
      if (spec.note === 'throw') throw new Error('boom');
      return spec.seats > 9 ? [{ pointer: '/spec/seats', detail: 'are too many' }] : undefined;
    },
    validateDelete: ({ spec }) => (spec.busy ? [{ pointer: '/spec/busy', detail: 'is in use' }] : undefined),
  },
}] });
`;

const bookings = '/apis/checked.example/v1/bookings';
const merge = { 'content-type': 'application/merge-patch+json' };

async function pluginsFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerplane-checked-'));
  await mkdir(join(folder, 'checked'));
  await writeFile(join(folder, 'checked', 'main.mjs'), main);
  const manifest = 'apiVersion: plugin.svc.run/v1alpha1\nkind: Plugin\nmetadata: { name: checked }\n';
  await writeFile(join(folder, 'checked', 'plugin.yaml'), `${manifest}spec: { version: 1.0.0, main: main.mjs }\n`);
  return folder;
}

type Sent = { readonly method?: string; readonly body?: unknown; readonly headers?: Record<string, string> };

/** Sends a request. Returns the status, and the errors or the object. */
async function sent(server: TestServer, path: string, init: Sent = {}) {
  const response = await server.call(`${bookings}${path}`, init);
  const body = (await response.json()) as {
    spec?: object;
    message?: string;
    errors?: readonly { pointer: string; detail: string }[];
  };
  return { status: response.status, spec: body.spec, errors: body.errors, message: body.message };
}

test('defaults, rules and hooks of a type hold for every way of writing', async (t) => {
  const lines: string[] = [];
  const server = await startTestServer({
    environment: { PLUGINS_DIRS: await pluginsFolder() },
    logLines: { write: (line) => lines.push(line) },
  });
  t.teardown(async () => server.remove());
  const create = (name: string, spec: object, query = '') =>
    sent(server, query, { method: 'POST', body: { metadata: { name }, spec } });
  const patch = (name: string, spec: object, query = '') =>
    sent(server, `/${name}${query}`, { method: 'PATCH', body: { spec }, headers: merge });

  t.match(await create('a', { from: 1, to: 2 }), { status: 201, spec: { from: 1, to: 2, seats: 1, owner: 'admin' } });
  t.match(await create('b', {}, '?dryRun=All'), { status: 201, spec: { seats: 1, owner: 'admin' } });
  t.match(await create('b', { from: 2, to: 1 }), {
    status: 422,
    errors: [{ pointer: '/spec/to', detail: 'from must be before to' }],
  });
  for (const query of ['', '?dryRun=All'])
    t.match(await patch('a', { owner: 'other', seats: 10 }, query), {
      status: 422,
      errors: [{ pointer: '/spec/owner', detail: 'owner cannot be changed' }],
    });
  t.match(await patch('a', { seats: 10 }), {
    status: 422,
    errors: [{ pointer: '/spec/seats', detail: 'are too many' }],
  });
  t.match(await patch('a', { seats: null }), { status: 200, spec: { seats: 1 } });
  t.match(await sent(server, '/a/status', { method: 'PATCH', body: { status: { phase: 'x' } }, headers: merge }), {
    status: 200,
  });
  t.match(await patch('a', { note: 'throw' }), {
    status: 422,
    errors: [{ pointer: '', detail: 'the hook "validate" of the type Booking, of the plugin checked, threw: boom' }],
  });
  t.match(await patch('a', { note: 'throw' }), { status: 422 });
  t.equal(lines.filter((line) => line.includes('a hook of a type fails')).length, 1, 'the failure is logged once');
  const metrics = await (await server.call('/metrics')).text();
  t.match(
    metrics,
    /^ledgerplane_failed_hooks_total\{plugin="checked",type="bookings\.checked\.example",hook="validate"\} 2$/mu,
  );
  t.match(await patch('a', { busy: true }), { status: 200 });
  for (const path of ['/a', '/a?dryRun=All', ''])
    t.match(await sent(server, path, { method: 'DELETE' }), { status: 422, message: /spec\.busy: is in use/ }, path);
  t.match(await patch('a', { busy: false }), { status: 200 });
  t.match(await sent(server, '/a', { method: 'DELETE' }), { status: 200 });
});
