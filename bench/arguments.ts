import { parseArgs } from 'node:util';

import { decodeResourcePath, type ServedResource } from './against/served-resource.ts';

/** The options that all runs have. */
export type RunOptions = {
  readonly json: boolean;
  /** Uses a tenth of the load and of the objects, to check that the measures work. The figures are not meaningful. */
  readonly quick: boolean;
  /** The folder for a CPU profile of each server. */
  readonly profileDir: string | undefined;
};

/** The decoded arguments of `npm run bench`. */
export type BenchArguments =
  | (RunOptions & { readonly kind: 'measures'; readonly only: readonly string[] | undefined })
  | (RunOptions & {
      readonly kind: 'against';
      readonly url: string;
      readonly token: string;
      /** The file with the authority of the server's certificate. */
      readonly caFile: string | undefined;
      readonly path: string;
    })
  /** `build`: a folder or a commit; undefined for the merge base. */
  | (RunOptions & { readonly kind: 'compare'; readonly build: string | undefined })
  | { readonly kind: 'definition'; readonly resource: ServedResource };

const options = {
  json: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  'cpu-prof': { type: 'string' },
  only: { type: 'string' },
  against: { type: 'string' },
  token: { type: 'string' },
  ca: { type: 'string' },
  resource: { type: 'string' },
  definition: { type: 'boolean', default: false },
  /** An option with the same effect as the command `compare`. */
  before: { type: 'string' },
} as const;

/**
 * Decodes the arguments of the command.
 *
 * @throws Error that names the wrong argument.
 */
export function decodeArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [command, build, ...rest] = positionals;
  const run = { json: values.json, quick: values.quick, profileDir: values['cpu-prof'] };
  if (command !== undefined && (command !== 'compare' || rest.length > 0))
    throw new RangeError(`the only command is "compare [DIR|COMMIT]", not ${JSON.stringify(positionals.join(' '))}`);
  if (command === 'compare' && values.before !== undefined)
    throw new RangeError('--before is the same as the command "compare": give one of them');
  if (command === 'compare' || values.before !== undefined) {
    refuse('a comparison', values, ['only', 'against', 'token', 'ca', 'resource', 'definition']);
    return { kind: 'compare', build: build ?? values.before, ...run };
  }
  if (values.definition) {
    refuse('--definition', values, ['only', 'against', 'token', 'ca']);
    return { kind: 'definition', resource: decodeResourcePath(needed('--definition', 'resource', values.resource)) };
  }
  if (values.against !== undefined) {
    refuse('--against', values, ['only']);
    const path = needed('--against', 'resource', values.resource);
    decodeResourcePath(path);
    const token = needed('--against', 'token', values.token);
    return { kind: 'against', url: serverUrl(values.against), token, caFile: values.ca, path, ...run };
  }
  refuse('a run without --against', values, ['token', 'ca', 'resource']);
  return { kind: 'measures', only: values.only?.split(','), ...run };
}

function needed(of: string, name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new RangeError(`${of} needs --${name}`);
  return value;
}

function refuse(of: string, values: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  const given = names.find((name) => values[name] !== undefined && values[name] !== false);
  if (given !== undefined) throw new RangeError(`${of} does not take --${given}`);
}

/** Returns the origin of a server. Its API is at the root. */
function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new RangeError(`--against must be a http: or https: URL, got ${JSON.stringify(text)}`);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new RangeError(`--against must be a URL without path, query and user, got ${JSON.stringify(text)}`);
  return url.origin;
}
