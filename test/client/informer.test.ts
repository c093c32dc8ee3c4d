import { test } from 'tap';

import { bookmark, NotingClock, object, rejection, ScriptedServer, status, thing, until } from './scripted-server.ts';

test('handlers see each difference once, with the old and the new state', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const informer = server.client({ clock }).informer(thing, { labelSelector: 'a' });
  const seen: string[] = [];
  const versionOf = (one: { metadata: { name: string; resourceVersion: string } }): string =>
    `${one.metadata.name}@${one.metadata.resourceVersion}`;
  const remove = informer.on({
    add: (one) => seen.push(`+${versionOf(one)}`),
    update: (one, before) => seen.push(`${versionOf(before)}→${versionOf(one)}`),
    delete: (one) => seen.push(`-${versionOf(one)}`),
  });
  const first = await server.asked();
  t.equal(first.url.searchParams.get('labelSelector'), 'a');
  first.event('ADDED', object('a', 1));
  first.event('ADDED', object('b', 2));
  await until(() => informer.size === 2);
  t.notOk(informer.isSynced);
  t.equal(informer.resourceVersion, undefined);
  first.event('BOOKMARK', bookmark(4, true));
  await informer.synced;
  t.ok(informer.isSynced);
  t.equal(informer.resourceVersion, '4');
  first.event('MODIFIED', object('a', 5));
  first.event('DELETED', object('b', 6));
  await until(() => informer.size === 1);
  t.strictSame(seen, ['+a@1', '+b@2', 'a@1→a@5', '-b@6']);
  t.equal(informer.get('a')?.metadata.resourceVersion, '5');
  t.equal(informer.get('b'), undefined);
  t.same(informer.list(), [object('a', 5)]);
  const late: string[] = [];
  informer.on({ add: (one) => late.push(versionOf(one)) });
  t.strictSame(late, ['a@5'], 'a handler that comes late sees what there is');
  remove();
  first.event('ADDED', object('c', 7));
  await until(() => late.length === 2);
  t.equal(seen.length, 4);
  informer.stop();
  await until(() => first.response.closed);
  t.equal(informer.size, 2, 'the cache stays readable');
});

test('objects are found by the values of index functions', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const errors: unknown[] = [];
  type Tagged = ReturnType<typeof object> & {
    readonly spec: { readonly tags?: readonly string[]; readonly size?: number };
  };
  const informer = server.client({ clock }).informer<Tagged>(thing, {
    indexes: {
      tag: ({ spec }) => spec.tags,
      size: ({ spec, metadata }) => {
        if (metadata.name === 'bad') throw new Error('no size');
        return spec.size;
      },
    },
    onError: (error) => errors.push(error),
  });
  const names = (index: string, value: string | number): string[] =>
    informer.by(index, value).map(({ metadata }) => metadata.name);
  const first = await server.asked();
  const send = (type: string, name: string, version: number, spec: object): void => {
    first.event(type, { ...object(name, version), spec });
  };
  send('ADDED', 'a', 1, { tags: ['x', 'y', 'x'], size: 0 });
  send('ADDED', 'b', 2, { tags: ['y'], size: 1 });
  send('ADDED', 'bad', 3, {});
  first.event('BOOKMARK', bookmark(3, true));
  await informer.synced;
  t.strictSame([names('tag', 'x'), names('tag', 'y'), names('size', 0)], [['a'], ['a', 'b'], ['a']]);
  send('MODIFIED', 'a', 4, { tags: ['z'] });
  send('DELETED', 'b', 5, { tags: ['y'] });
  await until(() => informer.size === 2);
  t.strictSame([names('tag', 'x'), names('tag', 'y'), names('tag', 'z'), names('size', 0)], [[], [], ['a'], []]);
  t.throws(() => informer.by('colour', 'red'), /no index "colour"/u);
  t.match(errors, [{ message: 'no size' }]);
  informer.stop();
});

test('errors of handlers are reported and stop nothing', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const errors: unknown[] = [];
  const informer = server.client({ clock }).informer(thing, { onError: (error) => errors.push(error) });
  const seen: string[] = [];
  informer.on({
    add: () => {
      throw new Error('thrown');
    },
    update: async () => Promise.reject(new Error('rejected')),
  });
  informer.on({ add: ({ metadata }) => seen.push(metadata.name), update: ({ metadata }) => seen.push(metadata.name) });
  const first = await server.asked();
  first.event('ADDED', object('a', 1));
  first.event('BOOKMARK', bookmark(1, true));
  first.event('MODIFIED', object('a', 2));
  await until(() => errors.length === 2);
  t.match(errors, [{ message: 'thrown' }, { message: 'rejected' }]);
  t.strictSame(seen, ['a', 'a']);
  informer.stop();
});

test('a refusal before the cache is full rejects `synced`; later it is reported and tried again', async (t) => {
  const [server, clock] = [await ScriptedServer.start(t), new NotingClock()];
  const errors: unknown[] = [];
  const onError = (error: unknown): unknown => errors.push(error);
  const refused = server.client({ clock }).informer(thing, { onError });
  (await server.asked()).json(403, status(403, 'Forbidden'));
  t.match(await rejection(refused.synced), { status: 403 });
  t.match(errors.splice(0), [{ status: 403 }]);

  const informer = server.client({ clock }).informer(thing, { onError });
  const seen: string[] = [];
  informer.on({
    add: ({ metadata }) => seen.push(`+${metadata.name}`),
    delete: (one) => seen.push(`-${one.metadata.name}`),
  });
  const first = await server.asked();
  first.event('ADDED', object('a', 1));
  first.event('BOOKMARK', bookmark(4, true));
  await informer.synced;
  first.event('ERROR', status(403, 'Forbidden'));
  for (const code of [401, 403]) (await server.asked()).json(code, status(code, 'Refused'));
  const again = await server.asked();
  t.equal(again.url.searchParams.get('resourceVersion'), '4');
  t.match(errors, [{ status: 403 }, { status: 401 }, { status: 403 }]);
  // A log that was replaced, and a refusal while the present objects are read: nothing is lost.
  again.event('ERROR', status(410, 'Expired'));
  const next = await server.asked();
  next.event('ADDED', object('b', 2));
  next.event('ERROR', status(403, 'Forbidden'));
  const last = await server.asked();
  t.ok(last.url.searchParams.has('sendInitialEvents'));
  last.event('ADDED', object('c', 3));
  last.event('BOOKMARK', bookmark(3, true));
  await until(() => informer.resourceVersion === '3');
  t.strictSame(seen, ['+a', '+b', '+c', '-a', '-b']);
  informer.stop();
});

test('it stops by its signal, also before it is synced', async (t) => {
  const server = await ScriptedServer.start(t);
  const aborted = server.client().informer(thing, { signal: AbortSignal.abort(new Error('never')) });
  t.match(await rejection(aborted.synced), { message: 'never' });
  const over = new AbortController();
  const errors: unknown[] = [];
  const informer = server.client().informer(thing, { signal: over.signal, onError: (error) => errors.push(error) });
  const asked = await server.asked();
  asked.response.flushHeaders();
  over.abort(new Error('enough'));
  t.match(await rejection(informer.synced), { message: 'enough' });
  t.strictSame(errors, []);
});
