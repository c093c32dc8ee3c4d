import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { test } from 'tap';

import { decodeConfig } from '../../src/config/config.ts';
import type { DecodedConfig } from '../../src/config/config.ts';
import { readEnvironment, type Environment } from '../../src/config/environment.ts';

const folder = '/srv/ledgerplane';

function mistakesOf(decoded: DecodedConfig): readonly string[] {
  return decoded.ok ? [] : decoded.mistakes;
}

test('without a variable everything has its default', async (t) => {
  t.strictSame(decodeConfig({}, folder), {
    ok: true,
    config: {
      host: '127.0.0.1',
      port: 8090,
      allowedHosts: [],
      publicUrl: undefined,
      dataDir: '/srv/ledgerplane/data',
      backupDir: undefined,
      eventLog: { kind: 'embedded' },
      platformDomain: 'svc.run',
      diskReserveBytes: undefined,
      pluginsDirs: [],
      pluginsDisabled: [],
      trustedProxies: [],
      adminPassword: undefined,
      accessEvents: 'on',
      logLevel: 'info',
      oidc: undefined,
      writesPerUser: 100,
      writeBytesPerUser: 4_194_304,
      tls: { kind: 'off' },
      console: 'on',
    },
  });
});

test('every supported variable is read', async (t) => {
  const plugins = t.testdir({ one: {}, two: {} });
  const decoded = decodeConfig(
    {
      HOST: '::1',
      PORT: '0',
      DATA_DIR: 'here/data',
      BACKUP_DIR: 'backups',
      EVENT_LOG: 'embedded:',
      PLATFORM_DOMAIN: 'example.com',
      PLUGINS_DIRS: `${plugins}/one, ${plugins}/two,`,
      PLUGINS_DISABLED: 'loops, held ,loops',
      ALLOWED_HOSTS: 'Ledger.example.,other:8443,[::1]:80',
      CONSOLE: 'off',
      ACCESS_EVENTS: 'off',
      DISK_RESERVE: '512MiB',
      TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8,::1',
      ADMIN_PASSWORD: 'correct horse',
      LOG_LEVEL: 'debug',
      TLS: 'auto',
      OIDC_ISSUER: 'https://id.example.com/realm',
      OIDC_AUDIENCE: 'ledgerplane',
      OIDC_USERNAME_CLAIM: 'email',
      OIDC_JWKS_URL: 'http://127.0.0.1:9000/keys?x=1',
      OIDC_CLIENT_ID: 'console',
      OIDC_CLIENT_SECRET: 'a secret',
      PUBLIC_URL: 'https://ops.example.com/ledger/',
      WRITES_PER_USER: '0',
      WRITE_BYTES_PER_USER: '1000000000000',
    },
    folder,
  );
  t.strictSame(decoded, {
    ok: true,
    config: {
      host: '::1',
      port: 0,
      dataDir: '/srv/ledgerplane/here/data',
      backupDir: '/srv/ledgerplane/backups',
      eventLog: { kind: 'embedded' },
      platformDomain: 'example.com',
      pluginsDirs: [join(plugins, 'one'), join(plugins, 'two')],
      pluginsDisabled: ['loops', 'held'],
      allowedHosts: ['Ledger.example', 'other:8443', '[::1]:80'],
      publicUrl: 'https://ops.example.com/ledger',
      diskReserveBytes: 536_870_912,
      trustedProxies: ['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1'],
      adminPassword: 'correct horse',
      accessEvents: 'off',
      logLevel: 'debug',
      oidc: {
        issuer: 'https://id.example.com/realm',
        audience: 'ledgerplane',
        usernameClaim: 'email',
        jwksUrl: 'http://127.0.0.1:9000/keys?x=1',
        client: { id: 'console', secret: 'a secret' },
      },
      writesPerUser: 0,
      writeBytesPerUser: 1_000_000_000_000,
      tls: { kind: 'auto' },
      console: 'off',
    },
  });
});

test('a folder of backups in DATA_DIR is refused, and one beside it is not', async (t) => {
  for (const within of ['data', 'data/backups', './data/a/..', '/srv/ledgerplane/data/b'])
    t.strictSame(mistakesOf(decodeConfig({ BACKUP_DIR: within }, folder)), [
      'BACKUP_DIR must not be in DATA_DIR: it would be lost together with DATA_DIR',
    ]);
  for (const beside of ['backups', 'data-backups', '..', '/srv/backups'])
    t.ok(decodeConfig({ BACKUP_DIR: beside }, folder).ok, beside);
});

test('all mistakes are reported together', async (t) => {
  const decoded = decodeConfig(
    {
      HOST: 'not a host',
      PORT: '65536',
      DATA_DIR: 'a\0b',
      EVENT_LOG: 'mysql://root:secret@localhost',
      PLATFORM_DOMAIN: 'Svc.Run',
      PLUGINS_DIRS: '/nowhere/at/all',
      ADMIN_PASSWORD: 'x'.repeat(1_025),
      LOG_LEVEL: 'loud',
      TLS: 'on',
      TLS_CERT: 'cert.pem',
      OIDC_ISSUER: 'http://root:secret@issuer',
      OIDC_JWKS_URL: 'ftp://issuer',
      OIDC_SECRET: 'secret',
      WRITES_PER_USER: '-1',
      WRITE_BYTES_PER_USER: '4MiB',
    },
    folder,
  );
  const mistakes = mistakesOf(decoded);
  t.equal(mistakes.length, 16);
  for (const name of [
    'HOST',
    'PORT',
    'DATA_DIR',
    'EVENT_LOG',
    'PLATFORM_DOMAIN',
    'PLUGINS_DIRS',
    'ADMIN_PASSWORD',
    'LOG_LEVEL',
    'TLS',
    'TLS_CERT',
    'OIDC_ISSUER',
    'OIDC_AUDIENCE',
    'OIDC_JWKS_URL',
    'OIDC_SECRET',
    'WRITES_PER_USER',
    'WRITE_BYTES_PER_USER',
  ]) {
    t.equal(mistakes.filter((mistake) => mistake.startsWith(`${name} `)).length, 1, name);
  }
  t.notMatch(mistakes.join('\n'), /secret|xxxx/u, 'no secret is repeated');
});

test('every wrong name of ALLOWED_HOSTS is a mistake, and 256 are the most', async (t) => {
  const hosts = (value: string) => mistakesOf(decodeConfig({ ALLOWED_HOSTS: value }, folder));
  for (const wrong of ['a b', 'http://a', 'a:0', 'a:65536', 'a:', ':80', '::1', '[a]', '*', 'a:80:80', '[::1']) {
    t.equal(hosts(`${wrong},fine.example`).length, 1, wrong);
  }
  t.equal(hosts('a b,c d').length, 2, 'all at once');
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `h${String(index)}`).join();
  t.strictSame([hosts(many(256)).length, hosts(many(257)).length], [0, 1]);
});

test('every wrong range of TRUSTED_PROXIES is a mistake, and 256 are the most', async (t) => {
  const proxies = (value: string) => mistakesOf(decodeConfig({ TRUSTED_PROXIES: value }, folder));
  for (const wrong of [
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    '::1/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'proxy.example',
    '10.0.0.1:80',
    '[::1]',
    'fe80::1%lo',
    '010.0.0.1',
    '/8',
  ]) {
    t.strictSame(proxies(`127.0.0.1,${wrong}`), [
      `TRUSTED_PROXIES contains ${JSON.stringify(wrong)}, which is neither an IP address nor a CIDR range`,
    ]);
  }
  for (const all of ['0.0.0.0/0', '::/0', '10.0.0.0/00'])
    t.match(proxies(all)[0], /contains every address: list only the addresses of the proxies/u);
  for (const mapped of ['::ffff:10.0.0.1', '::FFFF:0a00:0/104'])
    t.match(proxies(mapped)[0], /is an IPv4-mapped range: use the IPv4 form/u);
  t.equal(proxies('0.0.0.0/0, x, ::ffff:1.2.3.4, ::1').length, 3, 'all at once');
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `10.0.${String(index >> 8)}.${String(index & 255)}`).join(',');
  t.strictSame(proxies(many(256)), []);
  t.strictSame(proxies(many(257)), ['TRUSTED_PROXIES must have at most 256 ranges, has 257']);
});

test('one wrong value is one mistake that shows it', async (t) => {
  const wrong: readonly [Environment, RegExp][] = [
    [{ PORT: '-1' }, /^PORT must be a whole number from 0 to 65535, is "-1"$/u],
    [{ PLUGINS_DISABLED: 'loops,Not A Name' }, /^PLUGINS_DISABLED contains "Not A Name", which is not a plugin name$/u],
    [
      { PLUGINS_DISABLED: Array.from({ length: 257 }, (_, index) => `p${index.toString()}`).join(',') },
      /^PLUGINS_DISABLED must have at most 256 names, has 257$/u,
    ],
    [{ DISK_RESERVE: '5 %' }, /^DISK_RESERVE must be a number of bytes such as 1073741824, 512MiB or 2GB, is "5 %"$/u],
    [{ DISK_RESERVE: '-1' }, /^DISK_RESERVE /u],
    [{ WRITES_PER_USER: '1.5' }, /^WRITES_PER_USER must be a whole number from 0 to 1000000000000, is "1\.5"$/u],
    [
      { WRITE_BYTES_PER_USER: '1000000000001' },
      /^WRITE_BYTES_PER_USER must be a whole number from 0 to 1000000000000/u,
    ],
    [{ PORT: '80.5' }, /is "80\.5"/u],
    [{ PORT: '0x50' }, /is "0x50"/u],
    [{ PORT: ' ' }, /is " "/u],
    [{ HOST: 'http://localhost' }, /^HOST must be an address or a host name/u],
    [{ LOG_LEVEL: 'INFO' }, /^LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, is "INFO"$/u],
    [{ PLATFORM_DOMAIN: 'a_b.run' }, /^PLATFORM_DOMAIN must be a DNS subdomain/u],
    [{ PLATFORM_DOMAIN: `${'a'.repeat(60)}.`.repeat(4) }, /at most 190 characters/u],
    [{ EVENT_LOG: 'embedded' }, /^EVENT_LOG must be embedded: or esdb:/u],
    [{ EVENT_LOG: 'esdb://admin:changeit@localhost:2113?tls=maybe' }, /^EVENT_LOG (?!.*changeit).*tls/u],
    [{ EVENT_LOG: 'esdb+srv://localhost' }, /^EVENT_LOG must be embedded: or esdb:/u],
    [
      { EVENTSTORE_PREFIX: 'platform' },
      /^EVENTSTORE_PREFIX must begin with a letter or a digit, end with - .* is "platform"$/u,
    ],
    [{ EVENTSTORE_PREFIX: '$platform-' }, /^EVENTSTORE_PREFIX must begin/u],
    [{ EVENTSTORE_PREFIX: '-' }, /^EVENTSTORE_PREFIX must begin/u],
    [{ EVENTSTORE_PREFIX: 'a:b-' }, /^EVENTSTORE_PREFIX must begin/u],
    [{ EVENTSTORE_PREFIX: `${'a'.repeat(64)}-` }, /^EVENTSTORE_PREFIX must be at most 64 characters, is 65$/u],
    [{ TLS: 'on' }, /^TLS must be one of off, auto, files, is "on"$/u],
    [{ TLS_KEY: 'key.pem' }, /^TLS_KEY has no effect unless TLS is files$/u],
    [{ TLS: 'auto', TLS_CERT: 'cert.pem' }, /^TLS_CERT has no effect unless TLS is files$/u],
    [{ TLS: 'files', TLS_CERT: 'cert.pem' }, /^TLS_KEY is required when TLS is files$/u],
    [{ TLS: 'files', TLS_KEY: 'key.pem' }, /^TLS_CERT is required when TLS is files$/u],
    [
      { TLS: 'auto', EVENT_LOG: 'esdb://localhost:2113?tls=false' },
      /^TLS must not be auto with an EventStoreDB: use files, because several nodes need one certificate authority$/u,
    ],
    [
      { OIDC_ANYTHING: '1' },
      new RegExp(
        '^OIDC_ANYTHING is not a setting; the OIDC settings are OIDC_ISSUER, OIDC_AUDIENCE, ' +
          'OIDC_USERNAME_CLAIM, OIDC_JWKS_URL, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET$',
        'u',
      ),
    ],
    [{ OIDC_ISSUER: 'https://id.example.com' }, /^OIDC_AUDIENCE is required when any OIDC_\* setting is set$/u],
    [{ OIDC_AUDIENCE: 'x' }, /^OIDC_ISSUER is required when any OIDC_\* setting is set$/u],
    [{ OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'http://id.example.com' }, /^OIDC_ISSUER must be an https URL/u],
    [{ OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'https://id.example.com/?realm=x' }, /^OIDC_ISSUER must have no query$/u],
    [{ OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'https://a:b@id.example.com' }, /^OIDC_ISSUER must be an https URL/u],
    [{ OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'id.example.com' }, /^OIDC_ISSUER must be an https URL/u],
    [{ OIDC_AUDIENCE: 'a\u0000', OIDC_ISSUER: 'http://[::1]:80' }, /^OIDC_AUDIENCE must be at most 1024 characters/u],
    [{ OIDC_CLIENT_ID: 'x' }, /^OIDC_ISSUER is required when any OIDC_\* setting is set$/u],
    [
      { OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_SECRET: 'hidden' },
      /^OIDC_CLIENT_SECRET requires OIDC_CLIENT_ID$/u,
    ],
    ...['ftp://a', 'a', 'https://a:b@c', 'https://a/?b', 'https://a/#b', 'https://a /'].map(
      (url): [Environment, RegExp] => [{ PUBLIC_URL: url }, /^PUBLIC_URL must be an http or https URL without cred/u],
    ),
    [{ OIDC_AUDIENCE: 'x', OIDC_ISSUER: 'http://localhost.example.com' }, /^OIDC_ISSUER must be an https URL/u],
  ];
  for (const [environment, expected] of wrong) {
    const mistakes = mistakesOf(decodeConfig(environment, folder));
    t.equal(mistakes.length, 1, JSON.stringify(environment));
    t.match(mistakes[0], expected);
  }
});

test('an event log in EventStoreDB is named by its URL', async (t) => {
  for (const url of [
    'esdb://localhost:2113?tls=false',
    'esdb://admin:change%40it@a,b:2114,c',
    'esdb+discover://cluster.example.com',
  ]) {
    t.match(decodeConfig({ EVENT_LOG: url }, folder), {
      ok: true,
      config: { eventLog: { kind: 'eventstore', url, prefix: 'ledgerplane-' } },
    });
    for (const prefix of ['Staging-', 'a1.b_c-d-', '0-', `${'a'.repeat(63)}-`]) {
      t.match(decodeConfig({ EVENT_LOG: url, EVENTSTORE_PREFIX: prefix }, folder), {
        ok: true,
        config: { eventLog: { prefix } },
      });
    }
  }
});

test('ports 0 and 65535 and a domain of 190 characters are allowed', async (t) => {
  const domain = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.defghij`;
  t.equal(domain.length, 190);
  t.ok(decodeConfig({ PORT: '0', PLATFORM_DOMAIN: domain }, folder).ok);
  t.ok(decodeConfig({ PORT: '65535', HOST: 'localhost', ADMIN_PASSWORD: 'x'.repeat(1_024) }, folder).ok);
  t.notOk(decodeConfig({ PLATFORM_DOMAIN: `${domain}k` }, folder).ok);
});

test('unknown variables are ignored', async (t) => {
  t.ok(decodeConfig({ PATH: '/bin', PORTS: 'x', HOSTNAME: '???' }, folder).ok);
});

test('.env is read, the process wins over it, and a variable set to nothing is not set', async (t) => {
  const dir = t.testdir();
  t.strictSame(readEnvironment(dir, { PORT: '1' }), { PORT: '1' }, 'there need not be one');
  writeFileSync(join(dir, '.env'), '# settings\nPORT=2\nexport HOST="::1"\nDATA_DIR=\'with spaces\'\nLOG_LEVEL=\n');
  t.strictSame(readEnvironment(dir, { PORT: '1', HOST: '', LOG_LEVEL: '' }), {
    PORT: '1',
    HOST: '::1',
    DATA_DIR: 'with spaces',
  });
});

test('a .env that cannot be read is a mistake of its own', async (t) => {
  const dir = t.testdir();
  mkdirSync(join(dir, '.env'));
  t.throws(() => readEnvironment(dir, {}), { name: 'StartError', exitCode: 2, message: /\.env cannot be read/u });
});
