import { test } from 'tap';

import { startTestServer } from '../../support/server/start-server.ts';

test('a first start with a common ADMIN_PASSWORD ends with 2, and a later start continues', async (t) => {
  const dataDir = t.testdir();
  for (const common of ['Password1', 'ADMIN']) {
    await t.rejects(startTestServer({ dataDir, environment: { ADMIN_PASSWORD: common } }), {
      name: 'StartError',
      exitCode: 2,
      message: /^ADMIN_PASSWORD (?:is too common|must differ)/,
    });
  }
  const first = await startTestServer({ dataDir });
  t.equal((await first.call('/api/v1alpha1/users')).status, 200, 'nothing was made before');
  await first.close();
  const later = await startTestServer({ dataDir, environment: { ADMIN_PASSWORD: 'Password1' } });
  t.equal((await later.call('/api/v1alpha1/users')).status, 200);
  await later.close();
});
