import { deepEqual } from '../../../src/base/json.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { Step, VersionName } from './conversions.ts';
import { steps, type MigrationName } from './migration-steps.ts';
import { stages, type Stage } from './stages.ts';

const group = 'example.com';

/** The forms of objects, computed without the conversion, the defaults and the migrations of the server. */

export function versionOf({ apiVersion }: Pick<ResourceObject, 'apiVersion'>): VersionName {
  return apiVersion.slice(apiVersion.indexOf('/') + 1) as VersionName;
}

/** An object in a version: each step runs once. Unchanged if the stage cannot convert it. */
export function converted(object: ResourceObject, { versions, convert }: Stage, to: VersionName): ResourceObject {
  const [from, end] = [versions.indexOf(versionOf(object)), versions.indexOf(to)];
  if (from === -1) return convert.length === 0 ? { ...object, apiVersion: `${group}/${to}` } : object;
  let current = object;
  for (const step of convert.slice(from, end)) current = stepped(current, step, 'up');
  for (const step of convert.slice(end, from).reverse()) current = stepped(current, step, 'down');
  return current;
}

function stepped(object: ResourceObject, step: Step, way: 'up' | 'down'): ResourceObject {
  const given = object as ResourceObject & Parameters<Step['up']>[0];
  const next = way === 'up' ? step.up(given) : step.down(given);
  return { ...object, ...next, apiVersion: `${group}/${way === 'up' ? step.to : step.from}` };
}

/** As a row has it: in the preferred version, with defaults. */
export function present(object: ResourceObject, stage: Stage): ResourceObject {
  const current = converted(object, stage, preferredOf(stage));
  const spec = current['spec'] as Readonly<Record<string, unknown>>;
  if (versionOf(current) !== preferredOf(stage)) return current;
  const missing = Object.entries(stage.defaults).filter(([member]) => spec[member] === undefined);
  return { ...current, spec: { ...spec, ...Object.fromEntries(missing) } };
}

/** As reads in a version answer it. */
export function shown(object: ResourceObject, stage: Stage, version: VersionName): ResourceObject {
  return converted(present(object, stage), stage, version);
}

export function preferredOf({ versions }: Stage): VersionName {
  return versions.at(-1)!;
}

/** The migrations of the stage that would still change the object. */
export function unmigratedIn(object: ResourceObject, stage: Stage): readonly MigrationName[] {
  const current = present(object, stage);
  return stage.migrations.filter((id) => !deepEqual(steps[id](current), current));
}

export type Content = Readonly<Record<string, unknown>>;

/** What an object says in any version, with what a version fills in. Units depend on the stage. */
export function contentOf(object: ResourceObject): Content {
  const spec = object['spec'] as Readonly<Record<string, unknown>>;
  const { annotations = {} } = object.metadata;
  const of = (member: string): unknown => spec[member] ?? annotations[`example.com/${member}`];
  const { width } = (spec['dimensions'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    name: spec['name'] ?? spec['title'],
    size: spec['size'] ?? width,
    serial: spec['serial'],
    color: of('color') ?? 'red',
    tier: of('tier') ?? 'basic',
    grade: of('grade'),
    mode: of('mode') ?? 'auto',
    labels: object.metadata.labels,
  };
}

const byType = new Map<ResourceType, Stage>(
  Object.values(stages).flatMap((each) => each.map((stage) => [stage.type, stage] as const)),
);

export function stageOf(type: ResourceType): Stage {
  const stage = byType.get(type.preferred ?? type);
  if (stage === undefined) throw new Error(`${type.apiVersion} is of no stage`);
  return stage;
}
