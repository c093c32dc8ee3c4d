/** The events that the platform's reconcilers append lead to the requests behind them. */
import { test, type Test } from 'tap';

import { decodeMetadata } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import { openLog as openConfiguredLog } from '../../src/server/open-log.ts';
import { Administration, as } from '../support/server/administration.ts';
import { startTestServer } from '../support/server/start-server.ts';

const posts = '/apis/content.svc.run/v1alpha1/posts';

async function opened(t: Test) {
  const logs: EventLog[] = [];
  const server = await startTestServer({
    openLog: async (...given) => {
      const opening = await openConfiguredLog(...given);
      logs.push(opening.log);
      return opening;
    },
  });
  t.teardown(async () => server.remove());
  /** The first event that fits, as soon as it is in the log. */
  const found = async (fits: (recorded: RecordedEvent) => boolean): Promise<RecordedEvent> => {
    for await (const batch of logs[0]!.subscribe({ after: logStart })) {
      const first = batch.find(fits);
      if (first !== undefined) return first;
    }
    throw new Error('the log has closed');
  };
  return { server, found };
}

const requestOf = ({ headers }: Response): string => String(headers.get('x-request-id'));

test('a value is released because of the write that moved it', async (t) => {
  const { server, found } = await opened(t);
  const slug = async (method: string, path: string, text: string): Promise<Response> =>
    server.call(path, {
      method,
      ...(method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {}),
      body: {
        metadata: { name: 'p' },
        spec: { title: 'p', slug: text, owner: 'admin', tags: [], publish: false, content: 'p' },
      },
    });
  t.equal((await slug('POST', posts, 'first')).status, 201);
  const moved = await slug('PATCH', `${posts}/p`, 'second');
  t.equal(moved.status, 200);
  const released = decodeMetadata(await found(({ type }) => type === 'ValueReleased'));
  const write = await found(({ id }) => id === released.$causationId);
  t.match(write, { type: 'ObjectUpdated', stream: `object:posts.content.svc.run/p` });
  t.match(released, { actor: 'system:claims', $correlationId: requestOf(moved) });
});

test('a session ends because of the write that gave its user another password', async (t) => {
  const { server, found } = await opened(t);
  await new Administration(server.url).user('jane');
  const password = 'the password of jane';
  const login = await fetch(`${server.url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'jane', password }),
  });
  t.equal(login.status, 200);
  const changed = await server.call('/apis/uc.api.svc.run/v1alpha1/users/-/password', {
    method: 'PUT',
    headers: as('jane'),
    body: { currentPassword: password, password: 'another password of jane' },
  });
  if (changed.status >= 300) throw new Error(await changed.text());
  const ended = await found(({ stream, type }) => stream.startsWith('object:sessions/') && type === 'ObjectDeleted');
  const metadata = decodeMetadata(ended);
  t.match(metadata, { actor: 'system:sessions', $correlationId: requestOf(changed) });
  const cause = await found(({ id }) => id === metadata.$causationId);
  t.match(cause, { type: 'ObjectUpdated', stream: 'object:users/jane' });
  t.equal(decodeMetadata(cause).requestId, requestOf(changed));
});

test('the status of a plugin is written because of the write to its Plugin object', async (t) => {
  const { server, found } = await opened(t);
  const switched = await server.call('/apis/plugin.svc.run/v1alpha1/plugins/example', {
    method: 'PATCH',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { enabled: false } },
  });
  if (!switched.ok) throw new Error(await switched.text());
  const write = await found(
    (recorded) => recorded.stream.startsWith('object:plugins.') && requestIn(recorded) === requestOf(switched),
  );
  const status = await found(({ stream, position }) => stream === write.stream && position > write.position);
  t.match(decodeMetadata(status), { $causationId: write.id, $correlationId: requestOf(switched) });
});

function requestIn(recorded: RecordedEvent): string {
  return decodeMetadata(recorded).requestId;
}
