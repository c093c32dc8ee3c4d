import type { KeptChanges } from '../../objects/applied-objects.ts';
import type { Incarnation } from '../incarnation.ts';
import { unknownTargets } from '../../registry/conflicts.ts';
import type { Notice } from './plugin-status.ts';
import type { UniqueStep } from '../../../read/uniqueness.ts';
import type { MigrationState } from '../../api/migration-mounts.ts';
import type { Unconverted } from '../../../resource/type/resource-type.ts';
import type { InvalidObjects } from '../../api/object-checks.ts';
import type { ReconcilerTrouble } from '../../api/reconciler-mounts.ts';

type Running = {
  readonly incarnation: Pick<Incarnation, 'is' | 'unindexed'> | undefined;
  readonly kept: KeptChanges;
  readonly troubles: readonly ReconcilerTrouble[];
  readonly unique: readonly UniqueStep[];
  /** The stored objects that break the schemas. */
  readonly invalid: readonly InvalidObjects[];
  readonly migrations: MigrationState;
  /** One text for each part of a role's rule that names no existing plugin, group, type or route. */
  readonly unmatched: readonly string[];
  /** Returns the place in the plugin's code at which an error was thrown, from the stack of the error. */
  readonly placeOf: (stack: string) => string;
};

export function noticesOf({
  incarnation,
  kept,
  troubles,
  unique,
  invalid,
  migrations,
  unmatched,
  placeOf,
}: Running): readonly Notice[] {
  return [
    ...(incarnation === undefined ? [] : loadedNotices(incarnation, placeOf)),
    ...keptNotices(kept),
    ...reconcilerNotices(troubles),
    ...uniqueNotices(unique),
    ...migrationNotices(migrations, placeOf),
    ...invalidNotices(invalid, placeOf),
    ...ruleNotices(unmatched),
  ];
}

function loadedNotices(
  {
    is: {
      manifest: { version },
      loaded: { definition, packageVersion, types, frontEnd },
    },
    unindexed,
  }: Pick<Incarnation, 'is' | 'unindexed'>,
  placeOf: Running['placeOf'],
): readonly Notice[] {
  const notices: Notice[] = [];
  const ignored = definition.ignoredControllers.map((path) => JSON.stringify(path));
  if (ignored.length > 0)
    notices.push({
      type: 'ControllersIgnored',
      reason: 'NoApiVersion',
      message: `controllers without an apiVersion are not served: ${ignored.join(', ')}`,
    });
  if (version !== undefined && packageVersion !== undefined && version !== packageVersion) {
    notices.push({
      type: 'VersionsDiffer',
      reason: 'PackageJson',
      message:
        `plugin.yaml has the version ${version}, which is used, ` +
        `but package.json has ${JSON.stringify(packageVersion)}`,
    });
  }
  if (frontEnd?.ok === false)
    notices.push({ type: 'FrontEndMissing', reason: 'FilesRefused', message: frontEnd.problem });
  const lost = types.flatMap((type) => unknownTargets(type, types));
  if (lost.length > 0)
    notices.push({
      type: 'ReferencesUnmatched',
      reason: 'UnknownTypes',
      message: `references name types that do not exist: ${lost.join('; ')}`,
    });
  const missing = [...unindexed].map(
    ([type, { count, first, problem = '', trace = '' }]) =>
      `${type}: ${String(count)} index values are missing, ` +
      `the first for the object ${JSON.stringify(first)}: ${problem}${placeOf(trace)}`,
  );
  if (missing.length > 0)
    notices.push({ type: 'IndexFunctionFailing', reason: 'StoredObjects', message: missing.join('; ') });
  const unconverted = types.flatMap(({ key, versions }) => {
    const found = versions?.faults.found();
    return found === undefined ? [] : [unconvertedText(key, found.first, placeOf)];
  });
  if (unconverted.length > 0)
    notices.push({
      type: 'ObjectsUnconverted',
      reason: 'ConversionFailing',
      message:
        'objects that cannot be converted are shown in their stored version, until a new version of the plugin ' +
        `converts them: ${unconverted.join('; ')}`,
    });
  return notices;
}

function unconvertedText(
  type: string,
  { name, problem, trace = '' }: Unconverted,
  placeOf: Running['placeOf'],
): string {
  return `${type}: the first of the objects is ${JSON.stringify(name)}: ${problem}${placeOf(trace)}`;
}

function keptNotices(kept: KeptChanges): readonly Notice[] {
  const changed = [...kept]
    .filter(([, changes]) => changes.length > 0)
    .map(([object, changes]) => `${object}: ${changes.join(', ')}`);
  return changed.length === 0
    ? []
    : [
        {
          type: 'ChangesKept',
          reason: 'ChangedByPeople',
          message: `users and the plugin both changed values, and the users' values are kept: ${changed.join('; ')}`,
        },
      ];
}

const troubleTypes = ['ReconcilerStuck', 'ReconcilerFailing', 'ReconcilerSpinning'] as const;

function reconcilerNotices(troubles: readonly ReconcilerTrouble[]): readonly Notice[] {
  return troubleTypes.flatMap((type): readonly Notice[] => {
    const messages = troubles
      .filter((trouble) => trouble.type === type)
      .map(({ reconciler, message }) => `${reconciler}: ${message}`);
    return messages.length === 0 ? [] : [{ type, reason: type, message: messages.join('; ') }];
  });
}

const duplicatesShownMax = 16;
const steps: Readonly<Record<UniqueStep['step'], string>> = {
  pending: 'waiting for earlier writes of other servers to complete',
  claiming: 'the values of stored objects are being claimed',
};

function uniqueNotices(unique: readonly UniqueStep[]): readonly Notice[] {
  if (unique.length === 0) return [];
  const reason = unique.some(({ duplicateCount }) => duplicateCount > 0)
    ? 'DuplicateValues'
    : unique.some(({ step }) => step === 'claiming')
      ? 'ClaimingValues'
      : 'WaitingForServers';
  return [{ type: 'UniqueNotEnforced', reason, message: unique.map(stepText).join('; ') }];
}

function stepText({ type: { key }, indexes, step, duplicates, duplicateCount }: UniqueStep): string {
  const where = `${key} ${indexes.join(', ')}`;
  if (duplicateCount === 0) return `${where}: ${step}, ${steps[step]}`;
  const shown = duplicates
    .slice(0, duplicatesShownMax)
    .map(({ name, index, holder }) => `${name} has the same ${index} as ${holder}`);
  const more = duplicateCount - shown.length;
  return `${where}: ${step}, ${shown.join(', ')}${more > 0 ? `, and ${String(more)} more` : ''}`;
}

function invalidNotices(invalid: readonly InvalidObjects[], placeOf: Running['placeOf']): readonly Notice[] {
  if (invalid.length === 0) return [];
  const message = invalid.map(({ type, count, first: { name, pointer, detail, trace = '' } }) => {
    const objects = count === 1 ? '1 object breaks' : `${String(count)} objects break`;
    const error = `${`${pointer} ${detail}`.trim()}${placeOf(trace)}`;
    return `${type}: ${objects} the schema, the first is ${JSON.stringify(name)}: ${error}`;
  });
  return [{ type: 'ObjectsInvalid', reason: 'SchemaViolated', message: message.join('; ') }];
}

const rulesShownMax = 16;

function ruleNotices(unmatched: readonly string[]): readonly Notice[] {
  if (unmatched.length === 0) return [];
  const more = unmatched.length - rulesShownMax;
  return [
    {
      type: 'RulesUnmatched',
      reason: 'UnknownNames',
      message:
        `rules of roles have no effect until a plugin declares the types or routes that they name: ` +
        `${unmatched.slice(0, rulesShownMax).join('; ')}${more > 0 ? `; and ${String(more)} more` : ''}`,
    },
  ];
}

function migrationNotices({ running, failures }: MigrationState, placeOf: Running['placeOf']): readonly Notice[] {
  const notices: Notice[] = [];
  if (running.length > 0)
    notices.push({
      type: 'Migrating',
      reason: 'Running',
      message: running.map(({ id, type }) => `the migration ${id} changes the objects of ${type}`).join('; '),
    });
  if (failures.length > 0)
    notices.push({
      type: 'MigrationFailing',
      reason: 'ObjectsFailing',
      message:
        `${failures.map((failure) => failureText(failure, placeOf)).join('; ')}; correct the step in a new version ` +
        'of the plugin, or change the objects',
    });
  return notices;
}

function failureText(
  { id, type, count, name, problem, trace = '', waiting }: MigrationState['failures'][number],
  placeOf: Running['placeOf'],
): string {
  const objects = count === 1 ? '1 object fails' : `${String(count)} objects fail`;
  const held = waiting.length === 0 ? '' : `; waiting for this migration: ${waiting.join(', ')}`;
  return `${id}: ${objects} in ${type}, the first is ${JSON.stringify(name)}: ${problem}${placeOf(trace)}${held}`;
}
