import { deepEqual } from '../../../src/base/json.ts';
import { streamName } from '../../../src/log/log.ts';
import type { State } from '../../../src/command/evolve.ts';
import type { Stage } from './stages.ts';
import type { Command } from '../../../src/command/command.ts';
import type { ResourceObject } from '../../../src/resource/object/object.ts';
import { storedObject } from '../../../src/resource/object/shown-object.ts';
import { versionedAnswer } from '../../../src/resource/type/versions/shown-version.ts';
import { nameOfStream, type Step } from '../history.ts';
import type { Serving } from '../node/node-parts.ts';
import type { SimNode } from '../node/sim-node.ts';
import { streamOf, type, type Invocation, type World } from '../world.ts';
import { contentOf, unmigratedIn, present, shown, stageOf, versionOf, type Content } from './expected.ts';
import type { MigrationName } from './migration-steps.ts';
import type { VersionName } from './conversions.ts';

/** 9, 15: a node has each object as its own declaration gives it, with the same bytes as each node with this one. */
export function checkForms(
  world: World,
  node: string,
  { models, type: typeNow }: Pick<Serving, 'models' | 'type'>,
): void {
  const present = typeNow();
  const listed = [...models.pages(type.key, { selection: { labels: [], fields: [] }, sort: [] })].flat();
  const live: string[] = [];
  for (const stream of world.history.streams.keys()) {
    const name = nameOfStream(stream);
    checkForm(world, { node, models, type: () => present }, name);
    if (models.get(type.key, name) !== undefined) live.push(name);
  }
  if ([...listed].sort().join() !== live.sort().join())
    world.fail(new Error(`${node} lists ${listed.join()} where ${live.join()} live`));
}

export function checkForm(
  world: World,
  { node, models, type: typeNow }: Pick<Serving, 'models' | 'type'> & { readonly node: string },
  name: string,
): void {
  const stage = stageOf(typeNow());
  const position = models.position();
  const step = world.history.at(streamOf(name), position);
  const head = models.head(type.key, name);
  const after = step?.after ?? { kind: 'absent' };
  const wrong = (detail: string): void => {
    world.fail(
      new Error(`${node} at ${position.toString()} with ${stage.version} shows ${name} ${head.kind}${detail}`),
    );
  };
  if (head.kind !== after.kind) {
    wrong(` where it is ${after.kind}`);
    return;
  }
  if (head.kind !== 'live' || step === undefined || after.kind !== 'live') return;
  const { bytes } = head.stored;
  const text = Buffer.from(bytes).toString('utf8');
  const [found, expected] = [storedObject(bytes), present(after.object, stage)];
  if (!deepEqual(found, expected)) wrong(`\n${text}\n${JSON.stringify(expected)}`);
  if (versionOf(after.object) !== versionOf(expected)) world.coverage.note('a row in another version than its event');
  checkBytes(world, { node, key: `${stage.version} ${name}@${step.recorded.position.toString()}`, text });
  for (const served of typeNow().versions?.served ?? []) {
    const inVersion = storedObject(versionedAnswer(bytes, served));
    const wanted = shown(after.object, stage, served.version as VersionName);
    if (!deepEqual(inVersion, wanted))
      wrong(` in ${served.version}\n${JSON.stringify(inVersion)}\n${JSON.stringify(wanted)}`);
  }
}

function checkBytes(
  { forms, fail, coverage }: World,
  { node, key, text }: { readonly node: string; readonly key: string; readonly text: string },
): void {
  const known = forms.get(key);
  if (known === undefined) forms.set(key, text);
  else if (known === text) coverage.note('equal bytes of one declaration');
  else fail(new Error(`${node} has other bytes of ${key} than were seen before\n${text}\n${known}`));
}

/** 15: what a client wrote in a version is what the event says, and a patch changes nothing else. */
export function checkContents(world: World): void {
  const { invocations, history, judge } = world;
  const byId = new Map(invocations.map((invocation) => [invocation.id, invocation]));
  for (const steps of history.streams.values()) {
    let isForeign = false;
    for (const step of steps) {
      // A write in a version that its declaration cannot convert mixes the forms, until the object is created anew.
      if (step.before.kind !== 'live') isForeign = false;
      else isForeign ||= !judge.stagesOf(step).every((stage) => isKnown(step.before, stage));
      const invocation = byId.get(step.metadata.requestId);
      if (invocation !== undefined && !isForeign) checkContent(world, step, invocation);
    }
  }
}

function checkContent({ coverage }: World, step: Step, { id, command, version }: Invocation): void {
  const { event, recorded } = step;
  const expected = writtenContent(command, step);
  if (expected === undefined || event.object === undefined || event.type === 'NameFenced') return;
  const found = contentOf(event.object);
  coverage.note(`what was written in ${String(version)} is kept`);
  if (!deepEqual(plain(found), plain(expected)))
    throw new Error(
      `${recorded.stream}@${String(recorded.revision)} says ${JSON.stringify(found)} where ${id} wrote ` +
        JSON.stringify(expected),
    );
}

function writtenContent(command: Command, { before }: Step): Content | undefined {
  if (command.type === 'create' || command.type === 'replace') return contentOf(command.object as never);
  if (command.type !== 'patch' || command.patch.kind !== 'merge' || before.kind !== 'live') return undefined;
  const { spec = {}, metadata = {} } = command.patch.document as {
    readonly spec?: Readonly<Record<string, unknown>>;
    readonly metadata?: { readonly labels?: object };
  };
  const { title, name = title, dimensions, ...members } = spec;
  const sizes = dimensions === undefined ? {} : { size: (dimensions as { readonly width: unknown }).width };
  const kept = contentOf(before.object);
  const labels = { ...(kept['labels'] as object | undefined), ...metadata.labels };
  return {
    ...kept,
    ...(name === undefined ? {} : { name }),
    ...sizes,
    ...members,
    labels: Object.keys(labels).length === 0 ? undefined : labels,
  };
}

/** Without absent members, which a patch writes as null. */
function plain(content: Content): Content {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined && value !== null));
}

/** 16, once everything has settled: every object has the form that the last version of the plugin migrates to. */
export function unmigrated(world: World, nodes: readonly SimNode[]): readonly string[] {
  const { history, evolution } = world;
  if (evolution === undefined) return [];
  const { stage } = evolution;
  const pending = nodes.flatMap(({ plugin, name }) => (plugin?.isMigrating === true ? [`${name} migrates`] : []));
  const left = liveObjects(history).flatMap(([name, object]) => {
    if (!stage.versions.includes(versionOf(object))) return [];
    const ids = unmigratedIn(object, stage).filter((id) => !isChosen(world, name, id));
    return ids.map((id) => `${name} is not migrated: ${id}`);
  });
  return [...pending, ...left];
}

function isLate({ shared, coverage }: World, { metadata, recorded }: Step): boolean {
  const later = shared.stream(streamName(`type:${type.key}`))[(metadata.declared ?? -1) + 1];
  const late = later !== undefined && later.position < recorded.position;
  if (late) coverage.note('a late write is not migrated');
  return late;
}

/**
 * Whether a client wrote the object so by a declaration that already had the migration, or so late by an earlier one
 * that the next one was declared already. Such late writes are not migrated before the next upgrade.
 */
function isChosen(world: World, name: string, id: MigrationName): boolean {
  const { history, judge, invocations } = world;
  const steps = history.steps(streamOf(name)).filter(({ event }) => event.type !== 'NameFenced');
  const last = steps.at(-1);
  return (
    last !== undefined &&
    invocations.some((invocation) => invocation.id === last.metadata.requestId) &&
    (judge.stagesOf(last).every(({ migrations }) => migrations.includes(id)) || isLate(world, last))
  );
}

/**
 * A rollback is checked against the objects that its node has folded. Later writes of other nodes, by the declaration
 * that it replaces, may leave objects in a version that it lacks: they are shown unchanged until the next upgrade.
 */
export function isKnown(state: State, { versions }: Stage): boolean {
  return state.kind !== 'live' || versions.includes(versionOf(state.object));
}

export function liveObjects(history: World['history']): readonly (readonly [string, ResourceObject])[] {
  return [...history.streams].flatMap(([stream, steps]) => {
    const after = steps.at(-1)?.after;
    return after?.kind === 'live' ? [[nameOfStream(stream), after.object] as const] : [];
  });
}

/** 15: in the end, the rows still say what the last events say, whatever versions there were meanwhile. */
export function checkKept(world: World, node: string, { models, type: typeNow }: Serving): void {
  const { versions } = stageOf(typeNow());
  for (const [name, object] of liveObjects(world.history)) {
    if (!versions.includes(versionOf(object))) {
      world.coverage.note('an object in a newer version than a rollback has');
      continue;
    }
    const stored = models.get(type.key, name);
    const found = stored === undefined ? undefined : contentOf(storedObject(stored.bytes));
    if (found === undefined || !deepEqual(plain(found), plain(contentOf(object))))
      throw new Error(
        `${node} shows ${name} as ${JSON.stringify(found)}, written as ${JSON.stringify(contentOf(object))}`,
      );
  }
}
