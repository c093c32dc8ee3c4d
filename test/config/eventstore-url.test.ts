import fc from 'fast-check';
import { test } from 'tap';

import { decodeEventStoreUrl, eventStoreHosts, eventStoreUrlProblem } from '../../src/config/eventstore-url.ts';
import type { EventStoreUrl } from '../../src/config/eventstore-url.ts';

const seed = Number(process.env['PBT_SEED'] ?? 20_260_401);
const numRuns = Number(process.env['PBT_RUNS'] ?? 300);

function url(text: string): EventStoreUrl {
  const decoded = decodeEventStoreUrl(text);
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.url;
}

test('one node, a cluster by its members, and a cluster by one of them', async (t) => {
  t.match(url('esdb://localhost'), {
    discover: false,
    hosts: [{ address: 'localhost', port: 2113 }],
    credentials: undefined,
    tls: true,
  });
  t.match(url('esdb+discover://cluster.example.com:3000'), {
    discover: true,
    hosts: [{ address: 'cluster.example.com', port: 3000 }],
  });
  t.match(url('esdb://10.0.0.1:1,[::1]:2,node3/?tls=false'), {
    tls: false,
    hosts: [
      { address: '10.0.0.1', port: 1 },
      { address: '[::1]', port: 2 },
      { address: 'node3', port: 2113 },
    ],
  });
  t.equal(eventStoreHosts(url('esdb://admin:secret@a:1,b:2')), 'a:1, b:2');
});

test('credentials are decoded, and may contain encoded characters', async (t) => {
  t.same(url('esdb://admin:a%40b%3Ac%2Fd%3Fe@localhost').credentials, { username: 'admin', password: 'a@b:c/d?e' });
});

test('options are known by any case, and have values that count', async (t) => {
  const { numbers, connectionName, nodePreference, tlsCAFile } = url(
    'esdb://h?KeepAliveInterval=-1&keep-alive-timeout=5000&connectionName=a%20b&nodePreference=readOnlyReplica' +
      '&tlsCAFile=%2Fca.crt&gossipTimeout=3',
  );
  t.same(numbers, { keepAliveInterval: -1, keepAliveTimeout: 5_000, gossipTimeout: 3 });
  t.same([connectionName, nodePreference, tlsCAFile], ['a b', 'read_only_replica', '/ca.crt']);
});

const mistakes: Readonly<Record<string, RegExp>> = {
  'http://localhost': /must begin with esdb:\/\//u,
  'ESDB://localhost': /must begin with/u,
  'esdb://': /must have hosts of the form/u,
  'esdb://a,,b': /must have hosts of the form/u,
  'esdb://a b': /must have hosts of the form/u,
  'esdb://a:0': /ports from 1 to 65535/u,
  'esdb://a:65536': /ports from 1 to 65535/u,
  'esdb+discover://a,b': /accepts only one host/u,
  'esdb://admin@a': /username:password/u,
  'esdb://admin:pa:ss@a': /percent-encoded/u,
  'esdb://admin:pa?ss@a': /percent-encoded/u,
  'esdb://admin:pa#ss@a': /percent-encoded/u,
  'esdb://admin:pa/ss@a': /percent-encoded/u,
  'esdb://admin:%zz@a': /invalid percent-encoding in the password/u,
  'esdb://a?tls=maybe': /invalid value for the option tls: it must be true or false/u,
  'esdb://a?tls=true&tls=true': /twice/u,
  'esdb://a?tls': /without a value/u,
  'esdb://a?tls=': /without a value/u,
  'esdb://a?speed=9': /unknown option speed/u,
  'esdb://a?9=9': /without the form name=value/u,
  'esdb://a?tlsVerifyCert=false': /tlsVerifyCert, which has no effect.*tlsCAFile/u,
  'esdb://a?throwOnAppendFailure=false': /is not supported/u,
  'esdb://a?nodePreference=best': /leader, follower, random or readOnlyReplica/u,
  'esdb://a?keepAliveInterval=9999': /from 10000 to 2147483647, or -1/u,
  'esdb://a?defaultDeadline=0': /from 1 to/u,
  'esdb://a?defaultDeadline=1.5': /whole number/u,
  'esdb://a?discoveryInterval=2147483648': /from 0 to 2147483647/u,
  'esdb://a?tls=false&tlsCAFile=x': /has certificate options, but also tls=false/u,
  'esdb://a?userCertFile=x': /userCertFile and userKeyFile together/u,
};

test('every mistake has its sentence', async (t) => {
  for (const [text, sentence] of Object.entries(mistakes))
    t.match(eventStoreUrlProblem(text) ?? 'none', sentence, text);
});

test('a password is never repeated, however a URL is wrong', async (t) => {
  const secret = fc.stringMatching(/^[A-Z]{8}$/u);
  const around = fc.stringMatching(/^[@:/?#&=%,a-z]{0,4}$/u);
  fc.assert(
    fc.property(
      secret,
      around,
      around,
      fc.stringMatching(/^[a-z@:/?#&=%,]{0,12}$/u),
      (password, before, after, rest) => {
        const problem = eventStoreUrlProblem(`esdb://admin:${before}${password}${after}@localhost${rest}`);
        return problem === undefined || !problem.includes(password);
      },
    ),
    { seed, numRuns },
  );
  t.pass();
});
