/** A replay needs room for tables of its own beside the reserve of the disk. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { noSmallDisk, smallDisk } from '../support/server/small-disk.ts';
import { startTestServer } from '../support/server/start-server.ts';
import { create, replay, widget } from './replay-stage.ts';

const mebibyte = 1_048_576;
const options = noSmallDisk === undefined ? {} : { skip: noSmallDisk };

test('a replay that would use the reserve of the disk is refused, and leaves no file', options, async (t) => {
  const disk = smallDisk(t, 96 * mebibyte);
  const environment = { DISK_RESERVE: '16MiB' };
  const server = await startTestServer({ dataDir: join(disk.dir, 'data'), environment });
  t.teardown(async () => server.close());
  await create(server, widget('w'));
  t.match(await replay(server), { status: 200, last: { equal: true } });
  disk.fill(12 * mebibyte);
  t.match(await replay(server), {
    status: 507,
    last: { message: /not enough free disk space for a replay: .* in addition to the reserve of 16/u },
  });
  const folder = join(server.dataDir, 'replay');
  t.strictSame(existsSync(folder) ? readdirSync(folder) : [], []);
});
