import { test } from 'tap';

import { LogInNetworks } from '../../src/auth/passwords/log-in-networks.ts';
import { knownNetworksPerUserMax, knownNetworksUsersMax } from '../../src/limits/access.ts';

test('networks are bounded for each user, and the latest are kept', async (t) => {
  const known = new LogInNetworks();
  for (let network = 0; network < knownNetworksPerUserMax; network += 1) known.record('u', String(network));
  known.record('u', '0');
  t.ok(known.has('u', '1'));
  known.record('u', 'one more');
  t.notOk(known.has('u', '1'));
  for (const network of ['0', '2', 'one more']) t.ok(known.has('u', network), network);
  t.notOk(known.has('v', '0'));
  t.notOk(known.has(undefined, '0'));
});

test('users are bounded, and the last ones to log in are kept', async (t) => {
  const known = new LogInNetworks();
  for (let user = 0; user < knownNetworksUsersMax; user += 1) known.record(String(user), 'n');
  t.ok(known.has('1', 'n'));
  known.record('0', 'n');
  known.record('one more', 'n');
  t.notOk(known.has('1', 'n'));
  t.ok(known.has('0', 'n'));
});
