import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { test } from 'tap';
import { parse } from 'yaml';

import { decodeConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { repository } from '../architecture/repository.ts';

type Service = {
  readonly image: string;
  readonly build?: string;
  readonly profiles?: readonly string[];
  readonly environment?: Environment;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: Readonly<Record<string, unknown>>;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};

const file = parse(await readFile(join(repository, 'docker-compose.yml'), 'utf8'), {
  merge: true,
  strict: true,
  uniqueKeys: true,
}) as Compose;
const services = Object.entries(file.services);
const environmentOf = ({ environment = {} }: Service): Environment => environment;

/** The used part of Compose's specification, with the kind of each value. */
const options: Readonly<Record<string, 'text' | 'list' | 'map' | 'flag'>> = {
  image: 'text',
  build: 'text',
  user: 'text',
  restart: 'text',
  stop_grace_period: 'text',
  read_only: 'flag',
  profiles: 'list',
  entrypoint: 'list',
  command: 'list',
  ports: 'list',
  volumes: 'list',
  tmpfs: 'list',
  cap_drop: 'list',
  security_opt: 'list',
  environment: 'map',
  depends_on: 'map',
  healthcheck: 'map',
};
const healthcheckOptions = ['test', 'interval', 'timeout', 'retries', 'start_period'];
const conditions = ['service_started', 'service_healthy', 'service_completed_successfully'];

/** The used options of EventStoreDB 23.10 as environment variables: the server does not start with an unknown one. */
const eventStoreOptions: Readonly<Record<string, RegExp>> = {
  EVENTSTORE_INSECURE: /^(?:true|false)$/u,
  EVENTSTORE_CLUSTER_SIZE: /^[135]$/u,
  EVENTSTORE_DISCOVER_VIA_DNS: /^false$/u,
  EVENTSTORE_RUN_PROJECTIONS: /^(?:None|All|System)$/u,
  EVENTSTORE_TELEMETRY_OPTOUT: /^true$/u,
  EVENTSTORE_NODE_IP: /^0\.0\.0\.0$/u,
  EVENTSTORE_REPLICATION_IP: /^0\.0\.0\.0$/u,
  EVENTSTORE_NODE_HOST_ADVERTISE_AS: /^eventstore-\d$/u,
  EVENTSTORE_REPLICATION_HOST_ADVERTISE_AS: /^eventstore-\d$/u,
  EVENTSTORE_GOSSIP_SEED: /^eventstore-\d:2113,eventstore-\d:2113$/u,
  EVENTSTORE_TRUSTED_ROOT_CERTIFICATES_PATH: /^\/certs\//u,
  EVENTSTORE_CERTIFICATE_FILE: /^\/certs\//u,
  EVENTSTORE_CERTIFICATE_PRIVATE_KEY_FILE: /^\/certs\//u,
  EVENTSTORE_CERTIFICATE_RESERVED_NODE_COMMON_NAME: /^eventstoredb-node$/u,
};

test('it holds what Compose knows, and nothing else', async (t) => {
  t.same(
    Object.keys(file).filter((name) => !name.startsWith('x-')),
    ['services', 'volumes'],
  );
  const kindOf = (value: unknown): string =>
    Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value === 'boolean' ? 'flag' : 'text';
  for (const [name, service] of services) {
    for (const [option, value] of Object.entries(service))
      t.equal(kindOf(value), options[option], `${name}: ${option}`);
    for (const option of Object.keys(service.healthcheck ?? {}))
      t.ok(healthcheckOptions.includes(option), `${name}: ${option}`);
    for (const value of Object.values(environmentOf(service)))
      t.type(value, 'string', `${name}: ${String(value)} is text, as YAML would otherwise make something else of it`);
  }
});

test('images are pinned to one version', async (t) => {
  for (const [name, { image, build }] of services) {
    if (build !== undefined) t.equal(image, 'ledgerplane', `${name} is built here`);
    else t.match(image, /^eventstore\/(?:eventstore:23\.10\.\d+-bookworm-slim|es-gencert-cli:1\.0\.2)$/u, name);
  }
});

test('nodes get settings that the server reads, with values it takes', async (t) => {
  const nodes = services.filter(([, { build }]) => build !== undefined);
  t.equal(nodes.length, 4);
  for (const [name, service] of nodes) {
    const environment = environmentOf(service);
    t.match(decodeConfig(environment, '/app'), { ok: true, config: { eventLog: { kind: 'eventstore' } } }, name);
    for (const [setting, value] of Object.entries(environment)) {
      t.not(
        JSON.stringify(decodeConfig({ [setting]: value }, '/app')),
        JSON.stringify(decodeConfig({}, '/app')),
        `${name}: ${setting} is read`,
      );
    }
    t.equal(service.read_only, true);
    t.ok(
      service.volumes?.some((volume) => volume.endsWith(':/data')),
      `${name} keeps its read models`,
    );
  }
  t.equal(new Set(nodes.map(([, { volumes }]) => volumes?.[0])).size, nodes.length, 'each has a volume of its own');
});

test('EventStoreDB gets options that it knows', async (t) => {
  for (const [name, service] of services.filter(([, { image }]) => image.startsWith('eventstore/eventstore:'))) {
    for (const [option, value] of Object.entries(environmentOf(service)))
      t.match(value, eventStoreOptions[option] ?? /(?!)/u, `${name}: ${option}`);
    t.same(
      service.volumes
        ?.map((volume) => volume.split(':')[1])
        .filter((path) => path !== '/certs')
        .sort(),
      ['/var/lib/eventstore', '/var/log/eventstore'],
      `${name} keeps its data and its logs`,
    );
    t.match(service.healthcheck, { test: ['CMD-SHELL', /^curl --fail .*\/health\/live$/u] });
  }
});

test('hosts, volumes and dependencies are there, and no port is taken twice', async (t) => {
  const published = services.flatMap(([, { ports = [] }]) => ports.map((port) => port.split(':')));
  t.equal(new Set(published.map(([, outside]) => outside)).size, published.length);
  for (const [address] of published) t.equal(address, '127.0.0.1', 'an open server is unreachable from the network');
  const mounted = new Set(
    services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] ?? '')),
  );
  t.same([...mounted].sort(), Object.keys(file.volumes).sort());
  for (const [name, service] of services) {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const needed = file.services[other];
      t.ok(needed !== undefined && conditions.includes(condition), `${name} waits for ${other}`);
      if (condition === 'service_healthy')
        t.ok(needed?.healthcheck !== undefined || needed?.build !== undefined, `${other} says when it is healthy`);
      t.ok(
        (needed?.profiles ?? []).every((profile) => service.profiles?.includes(profile) === true),
        `${other} is there whenever ${name} is`,
      );
    }
    const named = Object.values(environmentOf(service)).flatMap((value) =>
      [...(value ?? '').matchAll(/(eventstore(?:-\d)?):2113/gu)].map(([, host]) => host ?? ''),
    );
    for (const host of named) t.ok(host in file.services, `${name}: ${host}`);
    for (const [, path = ''] of Object.values(environmentOf(service)).flatMap((value) => [
      ...(value ?? '').matchAll(/(\/certs)\//gu),
    ])) {
      t.ok(
        service.volumes?.some((volume) => volume.split(':')[1] === path),
        `${name} sees ${path}`,
      );
    }
  }
});

test('each member of the cluster has a certificate, and asks the two others', async (t) => {
  const script = file.services['certificates']?.command?.[0] ?? '';
  t.match(script, /for member in 1 2 3; do/u);
  for (const member of ['1', '2', '3']) {
    const service = file.services[`eventstore-${member}`];
    t.match(script, `/certs-${member}/`);
    t.ok(service?.volumes?.includes(`certificates-${member}:/certs:ro`));
    t.same(
      environmentOf(service ?? { image: '' })['EVENTSTORE_GOSSIP_SEED']?.split(','),
      ['1', '2', '3'].filter((other) => other !== member).map((other) => `eventstore-${other}:2113`),
    );
  }
});
