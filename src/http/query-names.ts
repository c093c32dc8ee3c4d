import { problem, type Problem } from './problem.ts';

/** Parameters of the platform's paths, without the parameters of single paths (`NamedPath.own`). */
const known = [
  'labelSelector',
  'fieldSelector',
  'sort',
  'page',
  'size',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'watch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
  'dryRun',
  'fieldValidation',
  'propagationPolicy',
] as const;
const knownNames: ReadonlySet<string> = new Set(known);
const lowercased = known.map((name) => ({ name, lower: name.toLowerCase() }));
const lengthMax = Math.max(...known.map(({ length }) => length)) + 1;

/** Parameters that Kubernetes' tools send. This server uses only `includeObject`. */
const kubernetesNames: ReadonlySet<string> = new Set([
  'pretty',
  'timeout',
  '_',
  'fieldManager',
  'force',
  'gracePeriodSeconds',
  'orphanDependents',
  'exact',
  'export',
  'includeObject',
  'includeUninitialized',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'shardSelector',
]);

export type NamedPath = {
  /** Whether the path supports `at`, which selects a past state. */
  readonly hasPast?: boolean;
  readonly isWatch?: boolean;
  /** Whether all unknown names are refused. */
  readonly isStrict?: boolean;
  /** The parameters of this path, in addition to those of all paths. */
  readonly own?: readonly string[];
};

/**
 * Refuses a misspelt parameter: the server would otherwise ignore the parameter and return a wrong result. Also refuses
 * `at` on a path without past states. Other unknown names are ignored, because tools send their own parameters, unless
 * the path is strict.
 */
export function checkParameterNames(query: URLSearchParams, path: NamedPath = {}): Problem | undefined {
  if (query.size === 0) return undefined;
  for (const given of query.keys()) {
    const refused = refusedName(given, path);
    if (refused !== undefined) return problem('bad-request', refused);
  }
  return undefined;
}

function refusedName(given: string, { own = [], isStrict, ...path }: NamedPath): string | undefined {
  if (knownNames.has(given) || own.includes(given) || kubernetesNames.has(given)) return undefined;
  const unknown = isStrict === true ? `there is no query parameter ${shownName(given)}` : undefined;
  if (given.length > lengthMax) return unknown;
  return given.toLowerCase() === 'at' ? refusedAt(given, path) : (misspeltName(given, own) ?? unknown);
}

function shownName(given: string): string {
  return JSON.stringify(given.length > shownLengthMax ? `${given.slice(0, shownLengthMax)}…` : given);
}

const shownLengthMax = 100;

function refusedAt(given: string, { hasPast, isWatch }: NamedPath): string | undefined {
  if (isWatch === true)
    return 'at: a watch does not support this parameter; to start the watch after a position, set resourceVersion';
  if (hasPast !== true) return 'at: this path does not support past states';
  return given === 'at' ? undefined : misspelt(given, 'at');
}

/** A name of at most this length is not reported as misspelt, because many other names differ from it in one letter. */
const shortLength = 3;

function misspeltName(given: string, own: readonly string[]): string | undefined {
  const lower = given.toLowerCase();
  const all = [...lowercased, ...own.map((name) => ({ name, lower: name.toLowerCase() }))];
  const meant =
    all.find((one) => one.lower === lower) ??
    all.find((one) => one.lower.length > shortLength && isOneLetterFrom(lower, one.lower));
  return meant === undefined ? undefined : misspelt(given, meant.name);
}

function misspelt(given: string, meant: string): string {
  return `there is no query parameter ${JSON.stringify(given)}; did you mean ${JSON.stringify(meant)}?`;
}

/** Returns whether the texts differ by one insertion, deletion, substitution or swap of adjacent letters. */
function isOneLetterFrom(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > 1) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let [leftEnd, rightEnd] = [left.length, right.length];
  while (leftEnd > start && rightEnd > start && left[leftEnd - 1] === right[rightEnd - 1]) {
    leftEnd -= 1;
    rightEnd -= 1;
  }
  const [ours, theirs] = [left.slice(start, leftEnd), right.slice(start, rightEnd)];
  if (ours.length <= 1 && theirs.length <= 1) return true;
  return ours.length === 2 && theirs.length === 2 && ours[0] === theirs[1] && ours[1] === theirs[0];
}
