import { isObject } from '../../base/guards.ts';
import type { PluginObject, ReconcilerDeclaration } from '../api/plugin.ts';
import type { MountedReconciler, ReconciledType } from '../api/reconciler-mounts.ts';
import {
  reconcilerConcurrencyMax,
  reconcilerNameLengthMax,
  reconcilersPerPluginMax,
  reconcilerWatchesMax,
} from '../lifecycle/reconciler-limits.ts';
import { decodeOwnType } from './own-type.ts';
import { unknownMembers } from './unknown-members.ts';

const members = new Set(['type', 'reconcile', 'name', 'watches', 'concurrency']);

/**
 * Decodes the `reconcilers` of a plugin's export, and adds their problems to `problems`. A plugin can reconcile only
 * its exported types (`types`).
 */
export function decodeReconcilers(
  exported: unknown,
  types: readonly unknown[],
  problems: string[],
): readonly MountedReconciler[] {
  const found: Findings = { types, names: new Set(), problems };
  return listOf(exported, reconcilersPerPluginMax, 'reconcilers', problems)
    .map((reconciler, index) => decodeReconciler(reconciler, `reconcilers[${String(index)}]`, found))
    .filter((reconciler) => reconciler !== undefined);
}

type Findings = {
  readonly types: readonly unknown[];
  readonly names: Set<string>;
  readonly problems: string[];
};

function decodeReconciler(declared: unknown, at: string, found: Findings): MountedReconciler | undefined {
  const { problems } = found;
  if (!isObject(declared)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  problems.push(...unknownMembers(declared, members, at));
  const type = decodeOwnType(declared['type'], `${at}.type`, found);
  const { reconcile, concurrency = 1 } = declared;
  if (!isReconcile(reconcile)) problems.push(`${at}.reconcile: must be a function`);
  if (!isConcurrency(concurrency))
    problems.push(`${at}.concurrency: must be a whole number from 1 to ${String(reconcilerConcurrencyMax)}`);
  const watches = listOf(declared['watches'], reconcilerWatchesMax, `${at}.watches`, problems).map((watch, index) =>
    decodeWatch(watch, `${at}.watches[${String(index)}]`, found),
  );
  const name = type === undefined ? undefined : decodeName(declared['name'], type, { at, found });
  if (type === undefined || name === undefined || !isReconcile(reconcile) || !isConcurrency(concurrency))
    return undefined;
  // Calls the function with the declaration as `this`, so that the declaration may be an instance of a class.
  return {
    name,
    type,
    concurrency,
    reconcile: (request) => Reflect.apply(reconcile, declared, [request]),
    watches: watches.filter((watch) => watch !== undefined),
  };
}

type FoundAt = {
  readonly at: string;
  readonly found: Findings;
};

function decodeName(
  declared: unknown,
  type: ReconciledType,
  { at, found: { names, problems } }: FoundAt,
): string | undefined {
  const name = declared ?? `${type.plural}.${type.group}`;
  if (
    typeof name !== 'string' ||
    name.length > reconcilerNameLengthMax ||
    !/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/u.test(name)
  ) {
    problems.push(
      `${at}.name: must be at most ${String(reconcilerNameLengthMax)} letters, digits, dots, dashes ` +
        'and underscores, the first and last a letter or digit',
    );
    return undefined;
  }
  if (names.has(name)) problems.push(`${at}.name: another reconciler has the name ${name}`);
  names.add(name);
  return name;
}

const watchMembers = new Set(['type', 'names']);

function decodeWatch(declared: unknown, at: string, found: Findings): MountedReconciler['watches'][number] | undefined {
  const { problems } = found;
  if (!isObject(declared)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  problems.push(...unknownMembers(declared, watchMembers, at));
  const type = decodeOwnType(declared['type'], `${at}.type`, found);
  const { names } = declared;
  if (!isNames(names)) problems.push(`${at}.names: must be a function`);
  return type === undefined || !isNames(names)
    ? undefined
    : { type, names: (object) => Reflect.apply(names, declared, [object]) };
}

function listOf(value: unknown, countMax: number, at: string, problems: string[]): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length <= countMax) return Array.from<unknown>(value);
  problems.push(`${at}: must be an array of at most ${String(countMax)} elements`);
  return [];
}

function isConcurrency(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= reconcilerConcurrencyMax;
}

/** Checks only for a function. The result of each call is decoded later. */
function isReconcile(value: unknown): value is ReconcilerDeclaration['reconcile'] {
  return typeof value === 'function';
}

function isNames(value: unknown): value is (object: PluginObject) => readonly string[] {
  return typeof value === 'function';
}
