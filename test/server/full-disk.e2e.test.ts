import { join } from 'node:path';

import { test } from 'tap';

import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { logStart } from '../../src/log/log.ts';
import { runCommandLine } from '../support/server/command-line.ts';

const settings = { PORT: '0', DATA_DIR: 'data', ADMIN_PASSWORD: 'a password of the test' };
const headers = {
  authorization: `Basic ${Buffer.from(`admin:${settings.ADMIN_PASSWORD}`).toString('base64')}`,
  'content-type': 'application/json',
};

test('a server with a full disk reports it and exits, with all acknowledged writes', async (t) => {
  const cwd = t.testdir();
  const run = runCommandLine(['serve'], { cwd, env: settings, fileBlocksMax: 32_768 });
  const [, url = ''] = /(http:\S+)/u.exec(await run.ready()) ?? [];
  const acknowledged: string[] = [];
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; ; turn += 1) {
      const name = `r-${String(writer)}-${String(turn)}`;
      const body = JSON.stringify({
        metadata: { name, annotations: { 'example.com/text': 'x'.repeat(100_000) } },
        apiVersion: 'v1alpha1',
        kind: 'Role',
        rules: [],
      });
      const response = await fetch(`${url}/api/v1alpha1/roles`, { method: 'POST', headers, body });
      if (response.status !== 201) throw new Error(`${String(response.status)}: ${await response.text()}`);
      acknowledged.push(name);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: 4 }, (_, writer) => write(writer)));
  t.ok(ended.every(({ status }) => status === 'rejected'));
  t.equal(await run.exited(), 1);
  t.ok(acknowledged.length > 20, String(acknowledged.length));
  t.match(
    run.stderr(),
    /could not write the log/u,
    JSON.stringify(ended.map((end) => end.status === 'rejected' && String(end.reason))),
  );
  t.notMatch(run.stderr(), /asked again/u, 'it is not away: nothing comes of waiting');

  const log = await openLmdbLog({
    dir: join(cwd, 'data', 'log'),
    onFatal: (error) => {
      throw error;
    },
  });
  const found = new Set<string>();
  for await (const batch of log.readAll({ after: logStart }))
    for (const { stream } of batch) found.add(stream.slice(stream.lastIndexOf('/') + 1));
  t.same(
    acknowledged.filter((name) => !found.has(name)),
    [],
  );
  await log.close();
});
