/**
 * The address of an EventStoreDB, and the connection options, as in the documentation of EventStoreDB. For an unknown
 * option, the driver would print the URL with the password. This parser therefore refuses such URLs, with errors that
 * omit the user name and password.
 */
export type EventStoreUrl = {
  /**
   * True for `esdb+discover://`: the single host is asked for the members of its cluster. If false, several hosts are
   * the members of a cluster, and a single host is a node without a cluster.
   */
  readonly discover: boolean;
  readonly hosts: readonly EventStoreHost[];
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  readonly tls: boolean;
  readonly tlsCAFile: string | undefined;
  readonly userCertFile: string | undefined;
  readonly userKeyFile: string | undefined;
  readonly connectionName: string | undefined;
  readonly nodePreference: NodePreference | undefined;
  /**
   * The numeric options in milliseconds, except for `gossipTimeout` (in seconds) and `maxDiscoverAttempts` (a count).
   * -1 disables keep-alive. Missing options have the driver's defaults.
   */
  readonly numbers: Readonly<Partial<Record<NumberOption, number>>>;
};

export type EventStoreHost = {
  readonly address: string;
  readonly port: number;
};

export type DecodedEventStoreUrl =
  { readonly ok: true; readonly url: EventStoreUrl } | { readonly ok: false; readonly problem: string };

const nodePreferences = {
  leader: 'leader',
  follower: 'follower',
  random: 'random',
  readonlyreplica: 'read_only_replica',
} as const;
type NodePreference = (typeof nodePreferences)[keyof typeof nodePreferences];

type Range = {
  readonly min: number;
  readonly or?: number;
};
/**
 * The valid ranges of the driver's options. Servers close a connection with a keep-alive interval below ten seconds.
 */
const numberOptions = {
  maxDiscoverAttempts: { min: 1 },
  discoveryInterval: { min: 0 },
  gossipTimeout: { min: 1 },
  defaultDeadline: { min: 1 },
  keepAliveInterval: { min: 10_000, or: -1 },
  keepAliveTimeout: { min: 1, or: -1 },
} as const satisfies Record<string, Range>;
type NumberOption = keyof typeof numberOptions;

const textOptions = ['tlsCAFile', 'userCertFile', 'userKeyFile', 'connectionName', 'nodePreference', 'tls'] as const;
type TextOption = (typeof textOptions)[number];

/** The options of the driver that this program refuses, with the reason. */
const refusedOptions: Readonly<Record<string, string>> = {
  tlsVerifyCert:
    "has no effect: set tlsCAFile to the certificate of the authority that signed the server's certificate",
  throwOnAppendFailure: 'is not supported',
};

const known = new Map<string, string>(
  [...textOptions, ...Object.keys(numberOptions), ...Object.keys(refusedOptions)].map((name) => [flat(name), name]),
);

const defaultPort = 2113;
const numberMax = 2_147_483_647;
const host = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?\.?)$/iu;
const encode = 'characters such as @ : / ? # in a user name or a password must be percent-encoded';

/** Returns the problem of a URL; undefined for a valid URL. The problem does not contain the URL. */
export function eventStoreUrlProblem(text: string): string | undefined {
  const decoded = decodeEventStoreUrl(text);
  return decoded.ok ? undefined : decoded.problem;
}

/** Returns the hosts for messages to operators. */
export function eventStoreHosts({ hosts }: EventStoreUrl): string {
  return hosts.map(({ address, port }) => `${address}:${port.toString()}`).join(', ');
}

export function decodeEventStoreUrl(text: string): DecodedEventStoreUrl {
  try {
    return { ok: true, url: decode(text.trim()) };
  } catch (error) {
    if (error instanceof UrlProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

class UrlProblem extends Error {}

function decode(text: string): EventStoreUrl {
  const [, scheme, rest = ''] = /^(esdb|esdb\+discover):\/\/(.*)$/u.exec(text) ?? [];
  if (scheme === undefined) throw new UrlProblem('must begin with esdb:// or esdb+discover://');
  const mark = rest.indexOf('?');
  const authority = (mark < 0 ? rest : rest.slice(0, mark)).replace(/\/+$/u, '');
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (query.includes('@') || rest.includes('#')) throw new UrlProblem(`is ambiguous: ${encode}`);
  const discover = scheme === 'esdb+discover';
  const at = authority.lastIndexOf('@');
  const credentials = at < 0 ? undefined : credentialsIn(authority.slice(0, at));
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map(hostIn);
  if (discover && hosts.length > 1)
    throw new UrlProblem('has several hosts, but esdb+discover:// accepts only one host: use esdb://');
  const options = optionsIn(query);
  return { discover, hosts, credentials, ...settingsOf(options), numbers: numbersOf(options) };
}

type UrlCredentials = {
  readonly username: string;
  readonly password: string;
};

function credentialsIn(text: string): UrlCredentials {
  const [, username, password] = /^([^:@/?#]+):([^:@/?#]+)$/u.exec(text) ?? [];
  if (username === undefined || password === undefined)
    throw new UrlProblem(`must have username:password before the @; ${encode}`);
  return { username: percentDecoded(username, 'the user name'), password: percentDecoded(password, 'the password') };
}

function hostIn(text: string): EventStoreHost {
  const [, address = '', , port] = /^(.*?)(:(\d{1,5}))?$/u.exec(text) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  if (!host.test(address)) throw new UrlProblem('must have hosts of the form host or host:port, separated by commas');
  if (number < 1 || number > 65_535) throw new UrlProblem('must have ports from 1 to 65535');
  return { address, port: number };
}

/** Returns the decoded options by the names in EventStoreDB's documentation. */
function optionsIn(query: string): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  if (query === '') return options;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const key = equals < 0 ? pair : pair.slice(0, equals);
    const value = equals < 0 ? '' : pair.slice(equals + 1).trim();
    const name = known.get(flat(key));
    if (name === undefined)
      throw new UrlProblem(
        /^[a-z_-]{1,40}$/iu.test(key) ? `has the unknown option ${key}` : 'has an option without the form name=value',
      );
    const refusal = refusedOptions[name];
    if (refusal !== undefined) throw new UrlProblem(`has the option ${name}, which ${refusal}`);
    if (options.has(name)) throw new UrlProblem(`has the option ${name} twice`);
    if (value === '') throw new UrlProblem(`has the option ${name} without a value`);
    options.set(name, percentDecoded(value, `the option ${name}`));
  }
  return options;
}

type Settings = Pick<
  EventStoreUrl,
  'tls' | 'tlsCAFile' | 'userCertFile' | 'userKeyFile' | 'connectionName' | 'nodePreference'
>;

function settingsOf(options: ReadonlyMap<string, string>): Settings {
  const text = (name: TextOption): string | undefined => options.get(name);
  const tls = text('tls') ?? 'true';
  if (tls !== 'true' && tls !== 'false')
    throw new UrlProblem('has an invalid value for the option tls: it must be true or false');
  const files = {
    tlsCAFile: text('tlsCAFile'),
    userCertFile: text('userCertFile'),
    userKeyFile: text('userKeyFile'),
  };
  if (tls === 'false' && Object.values(files).some((file) => file !== undefined))
    throw new UrlProblem('has certificate options, but also tls=false');
  if ((files.userCertFile === undefined) !== (files.userKeyFile === undefined))
    throw new UrlProblem('must have userCertFile and userKeyFile together');
  return {
    tls: tls === 'true',
    ...files,
    connectionName: text('connectionName'),
    nodePreference: preferenceOf(text('nodePreference')),
  };
}

function preferenceOf(given: string | undefined): NodePreference | undefined {
  if (given === undefined) return undefined;
  const found = Object.entries(nodePreferences).find(([name]) => name === flat(given));
  if (found === undefined)
    throw new UrlProblem(
      'has an invalid value for the option nodePreference: it must be leader, follower, random or readOnlyReplica',
    );
  return found[1];
}

function numbersOf(options: ReadonlyMap<string, string>): EventStoreUrl['numbers'] {
  const numbers: Partial<Record<NumberOption, number>> = {};
  for (const name of numberNames) {
    const text = options.get(name);
    if (text === undefined) continue;
    const { min, or }: Range = numberOptions[name];
    const value = /^-?\d{1,10}$/u.test(text) ? Number(text) : NaN;
    if (value !== or && !(value >= min && value <= numberMax)) {
      const except = or === undefined ? '' : `, or ${or.toString()}`;
      throw new UrlProblem(
        `has an invalid value for the option ${name}: it must be a whole number from ${min.toString()} to ` +
          `${numberMax.toString()}${except}`,
      );
    }
    numbers[name] = value;
  }
  return numbers;
}

const numberNames: readonly NumberOption[] = [
  'maxDiscoverAttempts',
  'discoveryInterval',
  'gossipTimeout',
  'defaultDeadline',
  'keepAliveInterval',
  'keepAliveTimeout',
];

/** Normalizes the name of an option. The driver accepts any case, and dashes and underscores between words. */
function flat(name: string): string {
  return name.toLowerCase().replace(/[_-]/gu, '');
}

function percentDecoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UrlProblem(`has an invalid percent-encoding in ${what}: a literal % must be encoded as %25`);
  }
}
