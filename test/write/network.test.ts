import { test } from 'tap';

import { networkOf } from '../../src/write/network.ts';

const networks: Readonly<Record<string, string>> = {
  '192.0.2.1': '192.0.2.1', '::ffff:192.0.2.1': '192.0.2.1', '::FFFF:192.0.2.1': '192.0.2.1', '': '',
  '2001:db8:1:2::1': '2001:db8:1:2::/64', '2001:db8:1:2:ffff:ffff:ffff:ffff': '2001:db8:1:2::/64', '2001:0DB8:0001:0002::7': '2001:db8:1:2::/64',
  '2001:db8::1': '2001:db8:0:0::/64', '2001:db8::5:0:0:1': '2001:db8:0:0::/64', '::1': '0:0:0:0::/64', '::': '0:0:0:0::/64',
  'fe80::1%eth0': 'fe80:0:0:0::/64', '1:2:3::': '1:2:3:0::/64', '::2:3:4:5:6:7:8': '0:2:3:4::/64', 'not an address': 'not an address',
};

test('an IPv4 address and the /64 of an IPv6 address are one visitor', (t) => {
  for (const [address, network] of Object.entries(networks)) t.equal(networkOf(address), network, address);
  t.end();
});
