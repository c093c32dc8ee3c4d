import type { Command, Preconditions, WriteContext, WriteOutcome } from '../../../src/command/command.ts';
import { freshnessWaitMs } from '../../../src/limits/writes.ts';
import { logPosition, logStart, type LogPosition } from '../../../src/log/log.ts';
import type { JsonObject, JsonValue } from '../../../src/resource/object/object.ts';
import { body } from '../../support/sample.ts';
import type { Shown } from '../../support/writing.ts';
import { nameOfStream } from '../history.ts';
import type { Serving } from '../node/node-parts.ts';
import type { SimNode } from '../node/sim-node.ts';
import { names, serials, streamOf, tags, type, type Invocation, type World } from '../world.ts';

const hold = 'example.com/hold';

const kinds = { create: 2, generate: 1, put: 4, merge: 6, move: 4, finalizer: 3, remove: 5, read: 3, list: 1 };
/** Of few values, which go from object to object. */
const contendedKinds = { ...kinds, merge: 2, move: 12, finalizer: 1 };

/** A client that alternates between nodes and knows only its answers. */
export class SimClient {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  #node: SimNode;
  #writes = 0;
  /** Objects as it saw them last, which may be long ago. */
  readonly #known = new Map<string, Shown>();
  /** Of the latest thing it saw: wherever it asks next, it may ask for nothing older. */
  #seen: LogPosition = logStart;

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
    this.#node = world.random.pick(nodes);
  }

  async run(operations: number): Promise<void> {
    const { random, timeline } = this.#world;
    for (let done = 0; done < operations; done += 1) {
      await timeline.delay(random.chance(0.7) ? random.below(30) : random.below(600), 'a client thinks');
      if (random.chance(0.5)) this.#node = random.pick(this.#nodes);
      for (; this.#node.serving === undefined; this.#node = random.pick(this.#nodes))
        await timeline.delay(random.between(20, 150), 'a client waits');
      await this.#operate();
    }
  }

  async #operate(): Promise<void> {
    const { random } = this.#world;
    const kind = random.weighted(this.#world.faults().contended ? contendedKinds : kinds);
    const name = random.pick(names);
    if (kind === 'read') return this.#read(name);
    if (kind === 'list') return this.#list();
    const known = random.chance(0.4) ? this.#known.get(name) : undefined;
    const current = known ?? (await this.#look(name));
    // A missing object can mostly be created only.
    const fitting = current === undefined && kind !== 'generate' && random.chance(0.6) ? 'create' : kind;
    return this.write(this.#commandOf(fitting, name, current));
  }

  #commandOf(kind: Exclude<keyof typeof kinds, 'read' | 'list'>, name: string, current: Shown | undefined): Command {
    const { random } = this.#world;
    const mark = `${this.#name}${String(this.#writes)}`;
    switch (kind) {
      case 'create':
        return { type: 'create', object: body({ metadata: { name, ...this.#finalizers() }, spec: this.#spec(mark) }) };
      case 'generate':
        return {
          type: 'create',
          object: {
            apiVersion: type.apiVersion,
            kind: type.kind,
            metadata: { generateName: 'g-' },
            spec: this.#spec(mark),
          },
        };
      case 'put':
        return {
          type: 'replace',
          name,
          object: this.#replacement(name, mark, current),
          part: 'main',
          preconditions: this.#preconditions(current),
        };
      case 'merge': {
        const document: JsonObject = {
          spec: { size: random.below(10), free: { [`f${String(random.below(3))}`]: mark } },
          ...(random.chance(0.3) ? { metadata: { labels: { app: random.pick(['x', 'y']) } } } : {}),
        };
        return {
          type: 'patch',
          name,
          patch: { kind: 'merge', document },
          part: 'main',
          preconditions: this.#preconditions(current),
        };
      }
      case 'move': {
        const document: JsonObject = { spec: this.#moved() };
        const preconditions = this.#preconditions(current);
        return { type: 'patch', name, patch: { kind: 'merge', document }, part: 'main', preconditions };
      }
      case 'finalizer': {
        const held = random.chance(0.65) || current?.metadata.finalizers !== undefined ? null : [hold];
        return {
          type: 'patch',
          name,
          patch: { kind: 'merge', document: { metadata: { finalizers: held } } },
          part: 'main',
          preconditions: this.#preconditions(current),
        };
      }
      case 'remove':
        return { type: 'delete', name, preconditions: this.#preconditions(current) };
    }
  }

  #spec(mark: string): JsonObject {
    const { random } = this.#world;
    const serial = random.chance(0.6) ? { serial: this.#serial() } : {};
    return { title: mark, size: random.below(10), ...serial, ...this.#tags(), ...this.#parent(0.4) };
  }

  #parent(chance: number): JsonObject {
    const { random, isReferring } = this.#world;
    return isReferring && random.chance(chance) ? { parent: random.pick(names) } : {};
  }

  #tags(): JsonObject {
    const { random } = this.#world;
    return random.chance(0.25) ? { tags: random.chance(0.4) ? tags.slice(random.below(2)) : [random.pick(tags)] } : {};
  }

  #moved(): JsonObject {
    const { random, isReferring } = this.#world;
    if (isReferring && random.chance(0.6)) return random.chance(0.4) ? { parent: null } : this.#parent(1);
    if (random.chance(0.15)) return { tags: null };
    return { serial: random.chance(0.75) ? this.#serial() : null, ...this.#tags() };
  }

  #serial(): string {
    const { random, faults } = this.#world;
    if (random.chance(faults().contended ? 0.15 : 0.5)) this.#world.hotSerial = random.pick(serials);
    return this.#world.hotSerial;
  }

  #finalizers(): JsonObject {
    return this.#world.random.chance(0.25) ? { finalizers: [hold] } : {};
  }

  /** An object that was read, changed and sent back: with its version or without. */
  #replacement(name: string, mark: string, current: Shown | undefined): JsonObject {
    const { random } = this.#world;
    if (current === undefined) return body({ metadata: { name }, spec: this.#spec(mark) });
    const { finalizers, labels, version, uid } = current.metadata;
    const metadata = {
      name,
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(labels === undefined ? {} : { labels }),
      ...(random.chance(0.5) ? { version } : {}),
      ...(random.chance(0.2) ? { uid } : {}),
    };
    return body({
      metadata: metadata as unknown as JsonValue,
      spec: {
        ...(current['spec'] as JsonObject),
        title: mark,
        ...(random.chance(0.4) ? { serial: this.#serial() } : {}),
        ...this.#parent(0.2),
      },
    });
  }

  #preconditions(current: Shown | undefined): Preconditions {
    const { random } = this.#world;
    if (current === undefined || random.chance(0.6)) return {};
    const { uid, version, resourceVersion } = current.metadata;
    return random.pick<Preconditions>([
      { ifMatch: [version] },
      { ifMatch: 'any' },
      { uid },
      resourceVersion === undefined ? {} : { resourceVersion },
    ]);
  }

  /** On the node it is at, or on a given one. */
  async write(command: Command, node = this.#node): Promise<void> {
    const { timeline, invocations, coverage } = this.#world;
    this.#writes += 1;
    const id = `${this.#name}/${String(this.#writes)}`;
    const invocation: Invocation = {
      id,
      command,
      node: node.name,
      invoked: timeline.now,
      knewTime: false,
      answered: Infinity,
      outcome: undefined,
    };
    invocations.push(invocation);
    timeline.add(() => `${id} → ${node.name}: ${JSON.stringify(command)}`);
    const answered = await node.ask(async (serving) => {
      invocation.knewTime = serving.knowsTime();
      const outcome = await serving.execute(serving.type(), command, contextOf(id, command.type));
      readsItself(this.#world, serving, outcome, id);
      return outcome;
    });
    invocation.outcome = answered?.answer;
    if (answered !== undefined) invocation.answered = timeline.now;
    const verdict = verdictOf(invocation.outcome);
    timeline.add(() => `${id} ← ${node.name}: ${verdict}`);
    coverage.note(`answered ${verdict}`);
    if (invocation.outcome?.ok === true) this.#seenAt(positionOf(invocation.outcome.bytes));
    const isGone = command.type === 'delete' && invocation.outcome?.ok === true;
    if (isGone && this.#world.random.chance(0.3)) await this.write(this.#commandOf('create', command.name, undefined));
  }

  async #read(name: string): Promise<void> {
    await this.#look(name);
  }

  /** GET, sometimes with the `resourceVersion` seen on another node. */
  async #look(name: string): Promise<Shown | undefined> {
    const { random } = this.#world;
    const notBefore = random.chance(0.4) ? this.#seen : undefined;
    const asked = await this.#node.ask(async ({ models }) => {
      if (notBefore !== undefined && (await this.#isLate(models, notBefore))) return undefined;
      this.#checkRow(models, name);
      const stored = models.get(type.key, name);
      return { position: models.position(), object: stored === undefined ? undefined : shownOf(stored.bytes) };
    });
    const seen = asked?.answer;
    if (seen !== undefined) this.#seenAt(seen.position);
    if (seen?.object !== undefined) this.#known.set(name, seen.object);
    return seen?.object;
  }

  async #isLate(models: Serving['models'], notBefore: LogPosition): Promise<boolean> {
    const reached = await models.reached(notBefore, { timeoutMs: freshnessWaitMs });
    this.#world.coverage.note(`a read that waits: ${reached}`);
    if (reached === 'reached' && models.position() < notBefore)
      this.#world.fail(new Error(`reached ${notBefore.toString()} at ${models.position().toString()}`));
    return reached !== 'reached';
  }

  async #list(): Promise<void> {
    const asked = await this.#node.ask(({ models }) => {
      checkRows(this.#world, this.#node.name, models);
      return models.position();
    });
    this.#world.coverage.note('list');
    if (asked !== undefined) this.#seenAt(asked.answer);
  }

  #checkRow(models: Serving['models'], name: string): void {
    checkRow(this.#world, { node: this.#node.name, models, name });
  }

  #seenAt(position: LogPosition): void {
    if (position > this.#seen) this.#seen = position;
  }
}

/** Invariant 6: in the turn of the answer, the node that gave it shows the write or what came after. */
export function readsItself({ fail }: World, { models }: Serving, outcome: WriteOutcome, id: string): void {
  if (!outcome.ok) return;
  const position = positionOf(outcome.bytes);
  const head = models.head(type.key, outcome.name);
  const revision = head.kind === 'absent' ? -1 : head.kind === 'deleted' ? head.revision : head.stored.revision;
  if (models.position() < position || revision < outcome.version) {
    fail(
      new Error(
        `${id} was answered with version ${String(outcome.version)} at ${position.toString()}; its node shows ` +
          `${String(revision)} at ${models.position().toString()}`,
      ),
    );
  }
}

/** Invariants 7 to 9: at its position a node shows exactly what the log says, byte for byte. */
export function checkRow(
  { history, fail }: World,
  { node, models, name }: { readonly node: string; readonly models: Serving['models']; readonly name: string },
): void {
  const step = history.at(streamOf(name), models.position());
  const head = models.head(type.key, name);
  const after = step?.after.kind ?? 'absent';
  const wrong = (detail: string): void => {
    fail(
      new Error(`${node} at ${models.position().toString()} shows ${name} ${head.kind} where it is ${after}${detail}`),
    );
  };
  if (head.kind !== after) wrong('');
  else if (step?.recorded.endsAppend === false) wrong(' within an append');
  else if (head.kind === 'deleted' && step?.after.kind === 'deleted' && head.revision !== step.after.revision)
    wrong(`: revision ${String(head.revision)}, not ${String(step.after.revision)}`);
  else if (head.kind === 'live' && step?.bytes?.equals(head.stored.bytes) !== true)
    wrong(`\n${Buffer.from(head.stored.bytes).toString()}\n${step?.bytes?.toString() ?? ''}`);
}

export function checkRows(world: World, node: string, models: Serving['models']): void {
  const listed = [...models.pages(type.key, { selection: { labels: [], fields: [] }, sort: [] })].flat();
  const live: string[] = [];
  for (const stream of world.history.streams.keys()) {
    const name = nameOfStream(stream);
    checkRow(world, { node, models, name });
    if (models.get(type.key, name) !== undefined) live.push(name);
  }
  if ([...listed].sort().join() !== live.sort().join())
    world.fail(new Error(`${node} lists ${listed.join()} where ${live.join()} live`));
}

export function contextOf(requestId: string, verb: string): WriteContext {
  return {
    cause: { actor: 'client', verb, requestId },
    dryRun: false,
    fieldValidation: undefined,
    origin: 'client',
    subject: { kind: 'platform', part: 'test' },
  };
}

export function shownOf(bytes: Uint8Array): Shown {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as Shown;
}

export function positionOf(bytes: Uint8Array): LogPosition {
  return logPosition(BigInt(shownOf(bytes).metadata.resourceVersion ?? '0'));
}

export function verdictOf(outcome: WriteOutcome | undefined): string {
  if (outcome === undefined) return 'nothing';
  if (outcome.ok) return outcome.appended ? 'ok' : 'ok, unchanged';
  return outcome.rejection.reason;
}
