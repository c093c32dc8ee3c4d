import { isObject } from '../../../base/guards.ts';
import { examplesPerVersionMax, versionsPerTypeMax } from '../../../limits/objects.ts';
import { compileSchema, type CompiledSchema } from '../../schema/schema.ts';
import { shortJson } from '../../schema/schema-violations.ts';
import { otherWords } from '../../schema/suggestions.ts';
import { decodePrinterColumns } from '../declared-columns.ts';
import { versionForm } from '../names.ts';
import type { PrinterColumn, VersionStep } from '../resource-type.ts';

type Members = Readonly<Record<string, unknown>>;

/** One version of a type, other than the preferred version. */
export type OtherVersion = {
  readonly name: string;
  readonly schema: CompiledSchema;
  readonly served: boolean;
  /** The warning to clients; empty for the standard warning, undefined if the version is not deprecated. */
  readonly deprecation: string | undefined;
  readonly printerColumns: readonly PrinterColumn[] | undefined;
};

export type DeclaredVersions = {
  /** The names of all versions, oldest first. */
  readonly names: readonly string[];
  readonly others: readonly OtherVersion[];
  readonly steps: readonly VersionStep[];
  /** The functions of each step, as the plugin declares them. */
  readonly written: readonly WrittenStep[];
  /** Members of sample objects, by the name of the version. */
  readonly examples: ReadonlyMap<string, readonly Members[]>;
  /**
   * The conversion functions. Their source texts identify the functions if there is no digest of the plugin's files.
   */
  readonly functions: readonly unknown[];
};

export type WrittenStep = { readonly up: unknown; readonly down: unknown };

const versionMembers = ['name', 'schema', 'served', 'deprecated', 'printerColumns', 'examples'];
const preferredMembers = ['name', 'examples'];

/**
 * Decodes `versions` and `convert`. Appends every problem to `problems`. Returns undefined if `versions` is absent, is
 * not an array or is too long. `preferred`: the member `version` of the declaration.
 */
export function decodeVersions(
  declaration: Members,
  preferred: string,
  problems: string[],
): DeclaredVersions | undefined {
  const { versions, convert } = declaration;
  if (versions === undefined) {
    if (convert !== undefined) problems.push('convert: the type has no versions between which to convert');
    return undefined;
  }
  if (!Array.isArray(versions) || versions.length > versionsPerTypeMax) {
    problems.push(`versions: must be an array of at most ${String(versionsPerTypeMax)} versions`);
    return undefined;
  }
  const entries = Array.from<unknown>(versions);
  const names = entries.map((entry) => (isObject(entry) && typeof entry['name'] === 'string' ? entry['name'] : ''));
  if (!names.includes(preferred)) problems.push(`versions: must contain the preferred version ${shortJson(preferred)}`);
  const found: OtherVersion[] = [];
  const examples = new Map<string, readonly Members[]>();
  for (const [index, entry] of entries.entries()) {
    const own: string[] = [];
    const name = names[index] ?? '';
    if (names.indexOf(name) !== index) own.push(`name: ${shortJson(name)} must not appear twice`);
    if (!isObject(entry)) own.push('must be an object');
    else {
      examples.set(name, decodeExamples(entry['examples'], own));
      const other = decodeVersion(entry, preferred, own);
      if (other !== undefined) found.push(other);
    }
    problems.push(...own.map((problem) => `versions[${String(index)}]: ${problem}`));
  }
  return { names, others: found, examples, ...decodeSteps(convert, names, problems) };
}

function decodeVersion(entry: Members, preferred: string, problems: string[]): OtherVersion | undefined {
  const { name, served, deprecated, printerColumns } = entry;
  if (name === preferred) {
    problems.push(...unknownMembers(entry, preferredMembers, ' for the preferred version'));
    return undefined;
  }
  problems.push(...unknownMembers(entry, versionMembers, ''));
  if (typeof name !== 'string' || !versionForm.test(name))
    problems.push(`name: must be of the form v1, v1beta1 or v1alpha1, is ${shortJson(name)}`);
  if (served !== undefined && typeof served !== 'boolean')
    problems.push(`served: must be true or false, is ${shortJson(served)}`);
  const deprecation = decodeDeprecation(deprecated, problems);
  const schema = compileSchema(entry['schema']);
  if (!schema.ok) problems.push(...schema.problems.map((problem) => `schema: ${problem}`));
  const columns = printerColumns === undefined ? undefined : decodePrinterColumns(printerColumns, problems);
  if (!schema.ok || typeof name !== 'string') return undefined;
  return { name, schema, served: served !== false, deprecation, printerColumns: columns };
}

/** Returns the warning: empty for the standard warning, undefined for a version that is not deprecated. */
function decodeDeprecation(input: unknown, problems: string[]): string | undefined {
  if (input === true) return '';
  if (input === undefined || input === false) return undefined;
  if (typeof input === 'string' && warningForm.test(input)) return input;
  problems.push('deprecated: must be true, false or a warning of at most 256 printable characters');
  return undefined;
}

/** A text that a header can contain. */
const warningForm = /^[\x20-\x7e]{1,256}$/u;

function decodeExamples(input: unknown, problems: string[]): readonly Members[] {
  if (input === undefined) return [];
  if (Array.isArray(input) && input.length <= examplesPerVersionMax && input.every(isObject)) return [...input];
  problems.push(`examples: must be an array of at most ${String(examplesPerVersionMax)} objects`);
  return [];
}

const stepMembers = ['from', 'to', 'up', 'down'];

/** Decodes `convert`. Each entry must have the functions `up` and `down` for two neighbouring versions. */
function decodeSteps(
  input: unknown,
  names: readonly string[],
  problems: string[],
): Pick<DeclaredVersions, 'steps' | 'written' | 'functions'> {
  const none = { up: undefined, down: undefined };
  const steps: VersionStep[] = Array.from({ length: Math.max(0, names.length - 1) }, () => none);
  const written: WrittenStep[] = steps.map(() => none);
  if (input === undefined) return { steps, written, functions: [] };
  if (!Array.isArray(input)) {
    problems.push(`convert: must be an array of {from, to, up, down}, is ${shortJson(input)}`);
    return { steps, written, functions: [] };
  }
  const functions: unknown[] = [];
  for (const [index, entry] of Array.from<unknown>(input).entries()) {
    const own: string[] = [];
    const decoded = isObject(entry) ? decodeStep(entry, names, own) : undefined;
    if (!isObject(entry)) own.push('must be an object');
    if (decoded !== undefined && steps[decoded.at]?.up !== undefined)
      own.push('has the same versions as an earlier entry');
    else if (decoded !== undefined) {
      steps[decoded.at] = decoded.step;
      written[decoded.at] = decoded.written;
      functions.push(decoded.written.up, decoded.written.down);
    }
    problems.push(...own.map((problem) => `convert[${String(index)}]: ${problem}`));
  }
  return { steps, written, functions };
}

function decodeStep(
  entry: Members,
  names: readonly string[],
  problems: string[],
): { readonly at: number; readonly step: VersionStep; readonly written: WrittenStep } | undefined {
  problems.push(...unknownMembers(entry, stepMembers, ''));
  const { from, to, up, down } = entry;
  const at = names.indexOf(String(from));
  if (at === -1 || names[at + 1] !== to)
    problems.push(`from and to must be neighbours in versions, the older one first, are ${shortJson([from, to])}`);
  for (const [name, run] of Object.entries({ up, down }))
    if (typeof run !== 'function') problems.push(`${name}: must be a function, is ${shortJson(run)}`);
  if (problems.length > 0 || typeof up !== 'function' || typeof down !== 'function') return undefined;
  // The functions are called as methods of `entry`, so that `entry` may be an instance of a class.
  const call =
    (run: unknown) =>
    (object: unknown): unknown =>
      typeof run === 'function' ? Reflect.apply(run, entry, [object]) : undefined;
  return {
    at,
    step: { up: call(up), down: call(down) },
    written: { up, down },
  };
}

function unknownMembers(entry: Members, known: readonly string[], where: string): readonly string[] {
  return Object.keys(entry)
    .filter((member) => !known.includes(member))
    .map((member) => `${member} is not known${where}${otherWords(member, known)}`);
}
