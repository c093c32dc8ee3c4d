import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/guards.ts';
import { Slices } from '../../base/slices.ts';
import { inSlices, type Steps } from '../../base/steps.ts';
import { eachName, storedIn, type StoredRows } from '../../command/upgrade/stored-rows.ts';
import { callsPlugin } from '../../command/upgrade/stored-violations.ts';
import { migratedViolations } from '../../command/upgrade/migrated-violations.ts';
import { migrationStepMsMax, upgradeCheckMsMax, upgradeEntriesMax } from '../../limits/plugins.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { interruptedConversion } from '../../resource/type/versions/convert.ts';
import { typeKeyOf } from '../../resource/type/type-declaration.ts';
import type { MountedMigration } from '../api/migration-mounts.ts';
import { functionStack } from '../errors/function-place.ts';
import type { TypeNames } from '../lifecycle/plugin-memory.ts';
import { InvalidObjects, type InvalidObject } from './invalid-objects.ts';
import type { PluginParts } from './plugin-parts.ts';
import { inLimitedSlices, UnreturnedError } from './limited-steps.ts';
import { compareTypes, type RemovedType, type TypeChanges } from '../../resource/type/type-changes.ts';

export type ComparedVersions = {
  readonly from: {
    readonly version: string | undefined;
    /** The registered types; empty if the plugin does not run. */
    readonly types: readonly ResourceType[];
    /** The types of the present version and earlier versions, according to the status of the Plugin. */
    readonly recorded: readonly TypeNames[];
  };
  readonly to: {
    readonly version: string | undefined;
    readonly types: readonly ResourceType[];
    /** The migrations that the upgrade will run. */
    readonly migrations: readonly MountedMigration[];
    readonly parts: PluginParts;
  };
};

export type UpgradeReportDependencies = {
  readonly rows: StoredRows;
  readonly clock: Clock;
  /** Returns the place in the new version's code at which an error was thrown, in the form ` (at <file>:<line>)`. */
  readonly placeOf: (stack: string) => string;
};

type Checked = {
  readonly type: string;
  readonly stored: number;
  readonly checked: number;
  /** The number of objects that break the schema. */
  readonly invalid: number;
  /** The number of objects that cannot be converted, or for which a migration fails. */
  readonly failing: number;
};

type ReportedRemoval = RemovedType & { readonly objects: number };

type ReportedMigration = { readonly id: string; readonly type: string; readonly changes: number };

type ReportedMember = {
  readonly type: string;
  readonly pointer: string;
  /** The number of checked objects that lack the member after conversion, defaults and migrations. */
  readonly lacking: number;
};

/**
 * The differences between two versions of a plugin, and the stored objects that the new version cannot use. Lists are
 * bounded. A stored type without objects has no entry in `objects`. `checked` is below `stored` if the check reached
 * its time limit.
 */
export type UpgradeReport = {
  readonly from: string;
  readonly to: string;
  readonly parts: PluginParts;
  readonly removedTypes: readonly ReportedRemoval[];
  readonly removedVersions: TypeChanges['removedVersions'];
  readonly indexes: TypeChanges['indexes'];
  /** Members that requests in the same version could omit before, and members that checked objects lack. */
  readonly required: readonly ReportedMember[];
  /** The migrations that will run, each with the number of checked objects that the migration changes. */
  readonly migrations: readonly ReportedMigration[];
  readonly objects: readonly Checked[];
  /** The first invalid and failing objects, in the order of types and names. */
  readonly invalid: readonly InvalidObject[];
};

/** Compares the versions and checks the stored objects, in slices. Writes nothing. */
export async function reportUpgrade(
  { from, to }: ComparedVersions,
  { rows, clock, placeOf }: UpgradeReportDependencies,
): Promise<UpgradeReport | EndlessCheckError> {
  const compared = compareTypes(from.types, to.types);
  const slices = new Slices(clock);
  const removedTypes: ReportedRemoval[] = [];
  for (const { type, kind } of removedOf({ from, to }, compared).slice(0, upgradeEntriesMax))
    removedTypes.push({ type, kind, objects: await inSlices(countOf(rows, type), slices) });
  const found = new InvalidObjects(placeOf);
  const lacked = new LackedMembers();
  const changes = new Map(to.migrations.map(({ id }) => [id, 0]));
  const objects: Checked[] = [];
  const endMs = clock.monotonic() + upgradeCheckMsMax;
  for (const type of to.types) {
    const isOver = (): boolean => clock.monotonic() > endMs;
    const now = new Date(clock.now()).toISOString();
    const checking = { rows, found, lacked, isOver, now, placeOf, migrations: to.migrations, changes };
    const checked = await checkWithin(type, checking, slices);
    if (checked instanceof EndlessCheckError) return checked;
    if (checked.stored > 0) objects.push(checked);
  }
  return {
    from: from.version ?? '',
    to: to.version ?? '',
    parts: to.parts,
    removedTypes,
    removedVersions: compared.removedVersions.slice(0, upgradeEntriesMax),
    indexes: compared.indexes.slice(0, upgradeEntriesMax),
    required: lacked.among(compared.required).slice(0, upgradeEntriesMax),
    migrations: to.migrations.map(({ id, type: { group, plural } }) => ({
      id,
      type: typeKeyOf(group, plural),
      changes: changes.get(id) ?? 0,
    })),
    objects,
    invalid: found.first,
  };
}

/**
 * Returns an error if code of the plugin does not return for a stored object. Checks only the types for which code is
 * called. Takes at most as long as the check of an upgrade.
 */
export async function findEndlessCode(
  { types, migrations }: Pick<ComparedVersions['to'], 'types' | 'migrations'>,
  { rows, clock, placeOf }: UpgradeReportDependencies,
): Promise<EndlessCheckError | undefined> {
  const endMs = clock.monotonic() + upgradeCheckMsMax;
  const checking: Checking = {
    rows,
    found: new InvalidObjects(placeOf),
    lacked: new LackedMembers(),
    isOver: () => clock.monotonic() > endMs,
    now: new Date(clock.now()).toISOString(),
    placeOf,
    migrations,
    changes: new Map(),
  };
  const slices = new Slices(clock);
  for (const type of types) {
    if (!callsPlugin(type) && !migrations.some((each) => isOf(each, type))) continue;
    const checked = await checkWithin(type, checking, slices);
    if (checked instanceof EndlessCheckError) return checked;
  }
  return undefined;
}

function isOf({ type: { group, plural } }: MountedMigration, { key }: ResourceType): boolean {
  return typeKeyOf(group, plural) === key;
}

export function withReport(plugin: JsonObject, report: UpgradeReport): JsonObject {
  const { status } = plugin;
  return { ...plugin, status: { ...(isObject(status) ? status : {}), upgrade: report } };
}

/**
 * Returns the types that the new version removes. A present version that does not run has no registered types. The
 * recorded types in the status of the Plugin are then compared.
 */
function removedOf({ from, to }: ComparedVersions, changes: TypeChanges): readonly RemovedType[] {
  if (from.types.length > 0) return changes.removedTypes;
  return from.recorded
    .map(({ group, plural, kind }) => ({ type: typeKeyOf(group, plural), kind }))
    .filter(({ type }) => !to.types.some(({ key }) => key === type));
}

/** Counts the objects that lack a required member, by type and pointer. */
class LackedMembers {
  readonly #counts = new Map<string, number>();

  add(type: TypeKey, violations: readonly Violation[]): void {
    const keys = violations.map(({ pointer }) => lackedKey(type, pointer));
    for (const key of new Set(keys)) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  among(required: TypeChanges['required']): readonly ReportedMember[] {
    return required.flatMap(({ type, pointer, wasOptional }) => {
      const lacking = this.#counts.get(lackedKey(type, pointer)) ?? 0;
      return wasOptional || lacking > 0 ? [{ type, pointer, lacking }] : [];
    });
  }
}

/** Returns a key in which the pointer has `*` for each element of an array. */
function lackedKey(type: string, pointer: string): string {
  return `${type} ${pointer.replaceAll(/\/\d+(?=\/|$)/gu, '/*')}`;
}

type Checking = {
  readonly rows: StoredRows;
  readonly found: InvalidObjects;
  readonly lacked: LackedMembers;
  readonly isOver: () => boolean;
  /** The time that hooks receive. */
  readonly now: string;
  readonly placeOf: UpgradeReportDependencies['placeOf'];
  readonly migrations: readonly MountedMigration[];
  /** The number of objects that each migration changes, by id. */
  readonly changes: Map<string, number>;
};

/** A migration, a conversion or a hook does not return for a stored object, so that the upgrade is refused. */
export class EndlessCheckError extends Error {}

/** Checks the objects of a type. Interrupts code of the plugin that does not return. */
async function checkWithin(
  type: ResourceType,
  checking: Checking,
  slices: Slices,
): Promise<Checked | EndlessCheckError> {
  const steps = checking.migrations.filter((each) => isOf(each, type));
  if (steps.length === 0 && !callsPlugin(type))
    return inSlices(checkOf(type, { steps, runs: steps }, checking), slices);
  let running: Running | undefined;
  const runs = steps.map((step) => ({
    ...step,
    up: (object: unknown) => {
      running = { step, object };
      const migrated = step.up(object);
      running = undefined;
      return migrated;
    },
  }));
  try {
    return await inLimitedSlices(checkOf(type, { steps, runs }, checking), slices, migrationStepMsMax);
  } catch (error) {
    if (!(error instanceof UnreturnedError)) throw error;
    return new EndlessCheckError(endlessText(type, running, checking));
  }
}

type Running = { readonly step: MountedMigration; readonly object: unknown };

function endlessText({ key }: ResourceType, running: Running | undefined, { placeOf }: Checking): string {
  const limit = `did not return within ${String(migrationStepMsMax / 1_000)} s`;
  if (running === undefined) {
    const conversion = interruptedConversion();
    const code = conversion === undefined ? `the hook "validate" of ${key}` : `the conversion ${conversion} of ${key}`;
    return `${code} ${limit}: it must return for every stored object`;
  }
  const { step, object } = running;
  const where = `the object ${nameIn(object)} of ${key}${placeOf(functionStack(step.declared))}`;
  return `the migration ${step.id} ${limit} for ${where}: a step must return for every stored object`;
}

function nameIn(object: unknown): string {
  const metadata = isObject(object) ? object['metadata'] : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? JSON.stringify(name) : 'without a name';
}

/** Checks the objects of a type. `runs`: the functions of `steps`, which may record the call in progress. */
function* checkOf(
  type: ResourceType,
  { steps, runs }: { readonly steps: readonly MountedMigration[]; readonly runs: readonly MountedMigration[] },
  checking: Checking,
): Steps<Checked> {
  const { rows, found, lacked, isOver, changes, now } = checking;
  let [stored, checked, invalid, failing] = [0, 0, 0, 0];
  yield* eachName(rows, { type: type.key }, (name) => {
    stored += 1;
    if (isOver()) return;
    checked += 1;
    const converted = storedIn(rows, type, name);
    if (converted === undefined) return;
    const { violations, failure, changedBy } = converted.ok
      ? migratedViolations(type, converted.object, { steps: runs, now })
      : { violations: [], failure: converted, changedBy: [] };
    for (const id of changedBy) changes.set(id, (changes.get(id) ?? 0) + 1);
    if (failure !== undefined) {
      failing += 1;
      found.fail(type, name, failure, steps);
    } else if (violations.length > 0) {
      invalid += 1;
      found.add(type, name, violations);
      lacked.add(type.key, violations);
    }
  });
  return { type: type.key, stored, checked, invalid, failing };
}

function* countOf(rows: StoredRows, type: TypeKey): Steps<number> {
  let count = 0;
  yield* eachName(rows, { type }, () => {
    count += 1;
  });
  return count;
}
