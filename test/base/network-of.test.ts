import { test } from 'tap';

import { networkOf } from '../../src/base/network-of.ts';

test('the network of an IPv4 address is the address, that of an IPv6 address its /64', async (t) => {
  const cases = [
    ['192.0.2.1', '192.0.2.1'],
    ['', ''],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ] as const;
  for (const [address, network] of cases) t.equal(networkOf(address), network, address);
});
