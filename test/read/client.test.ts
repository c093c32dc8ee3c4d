/** The accounts to which limits of requests apply. */
import { test } from 'tap';

import { visitor } from '../../src/command/subject.ts';
import { accountOf, clientOf } from '../../src/read/client.ts';

const accounts = [
  { of: ['192.0.2.1'], account: 'address:192.0.2.1' },
  { of: ['2001:db8::1', '2001:db8:0:0:ffff::2', '2001:db8:0:0::/64'], account: 'address:2001:db8:0:0::/64' },
  { of: ['2001:db8:0:1::1', '2001:db8:0:1::/64'], account: 'address:2001:db8:0:1::/64' },
  { of: ['::1'], account: 'address:0:0:0:0::/64' },
];

test('all addresses of an IPv6 network are one account of visitors', (t) => {
  for (const { of, account } of accounts)
    for (const address of of) t.equal(accountOf(clientOf(visitor, address)), account, address);
  t.end();
});
