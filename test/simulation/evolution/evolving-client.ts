import type { Command, Preconditions, WriteOutcome } from '../../../src/command/command.ts';
import type { JsonObject, ResourceObject } from '../../../src/resource/object/object.ts';
import { storedObject } from '../../../src/resource/object/shown-object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { versionedAnswer } from '../../../src/resource/type/versions/shown-version.ts';
import { contextOf, readsItself, verdictOf } from '../clients/sim-client.ts';
import { exchangeOf } from '../exchange.ts';
import type { Serving } from '../node/node-parts.ts';
import type { SimNode } from '../node/sim-node.ts';
import { names, serials, type, type Invocation, type World } from '../world.ts';
import { checkForm, checkForms, liveObjects } from './checks-evolution.ts';
import type { VersionName } from './conversions.ts';
import type { Evolution } from './evolution.ts';
import { shown, stageOf, versionOf } from './expected.ts';
import { deepEqual } from '../../../src/base/json.ts';

/** Of writes of one rival. */
const burstsMax = 8;

const hold = 'example.com/hold';
const kinds = { create: 3, put: 5, merge: 5, same: 1, label: 2, finalizer: 2, remove: 3, read: 2, list: 2 };

type Kind = Exclude<keyof typeof kinds, 'read' | 'list'>;
type Asked = { readonly version: VersionName; readonly current: ResourceObject | undefined };

/** A client that reads, lists and writes in any version that a node serves. */
export class EvolvingClient {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #name: string;
  #writes = 0;
  /** Objects as it saw them last, in the version in which it saw them. */
  readonly #known = new Map<string, Asked>();

  constructor(world: World, nodes: readonly SimNode[], name: string) {
    this.#world = world;
    this.#nodes = nodes;
    this.#name = name;
  }

  async run(operations: number): Promise<void> {
    const { random, timeline } = this.#world;
    for (let done = 0; done < operations; done += 1) {
      await timeline.delay(random.chance(0.6) ? random.below(60) : random.below(1_500), 'a client thinks');
      let node = random.pick(this.#nodes);
      for (; node.serving === undefined; node = random.pick(this.#nodes))
        await timeline.delay(random.between(20, 150), 'a client waits');
      await this.#operate(node);
    }
  }

  /** While objects are migrated, it writes all of them at once, each on any node. */
  async rival(isOver: () => boolean): Promise<void> {
    const { random, timeline, coverage, history } = this.#world;
    for (let left = burstsMax; left > 0 && !isOver();) {
      await timeline.delay(random.between(3, 30), 'a rival waits');
      if (!this.#nodes.some(({ plugin }) => plugin?.isMigrating === true)) continue;
      left -= 1;
      coverage.note('writes during a migration');
      await Promise.all(
        liveObjects(history).map(async ([name]) => {
          const node = random.pick(this.#nodes);
          const asked = await this.#look(node, name);
          if (asked !== undefined) await this.write(node, this.#commandOf('merge', name, asked), asked.version);
        }),
      );
    }
  }

  async #operate(node: SimNode): Promise<void> {
    const { random } = this.#world;
    const kind = random.weighted(kinds);
    const name = random.pick(names);
    if (kind === 'list') return this.#list(node);
    const known = random.chance(0.3) ? this.#known.get(name) : undefined;
    const asked = known ?? (await this.#look(node, name));
    if (asked === undefined || kind === 'read') return;
    const fitting = asked.current === undefined && random.chance(0.7) ? 'create' : kind;
    await this.write(node, this.#commandOf(fitting, name, asked), asked.version);
  }

  /** GET in a version that the node serves. */
  async #look(node: SimNode, name: string): Promise<Asked | undefined> {
    const { random } = this.#world;
    const asked = await node.ask((serving) => {
      checkForm(this.#world, { ...serving, node: node.name }, name);
      const inVersion = random.pick(servedOf(serving));
      const stored = serving.models.get(type.key, name);
      const current = stored === undefined ? undefined : storedObject(versionedAnswer(stored.bytes, inVersion));
      return { version: inVersion.version as VersionName, current };
    });
    if (asked?.answer !== undefined) this.#known.set(name, asked.answer);
    return asked?.answer;
  }

  /** A list in a version: each object as it is at the position of the list. */
  async #list(node: SimNode): Promise<void> {
    const { random, history, coverage, fail, timeline } = this.#world;
    await node.ask(async (serving) => {
      checkForms(this.#world, node.name, serving);
      const inVersion = random.pick(servedOf(serving));
      const stage = stageOf(inVersion);
      const page = await serving.collections.list(exchangeOf('limit=10', timeline), inVersion);
      if (page.kind !== 'bytes') return;
      const { metadata, items } = JSON.parse(Buffer.from(page.bytes).toString('utf8')) as {
        readonly metadata: { readonly resourceVersion: string };
        readonly items: readonly ResourceObject[];
      };
      const at = BigInt(metadata.resourceVersion);
      const expected = [...history.streams.keys()].flatMap((stream) => {
        const step = history.at(stream, at as never);
        return step?.after.kind === 'live' ? [shown(step.after.object, stage, inVersion.version as VersionName)] : [];
      });
      const found = items.map((item) => storedObject(Buffer.from(JSON.stringify(item))));
      coverage.note(`a list in ${inVersion.version}`);
      if (!deepEqual(byName(found), byName(expected)))
        fail(
          new Error(
            `${node.name} with ${stage.version} lists in ${inVersion.version} at ${at.toString()}\n` +
              `${JSON.stringify(found)}\n${JSON.stringify(expected)}`,
          ),
        );
    });
  }

  #commandOf(kind: Kind, name: string, { version, current }: Asked): Command {
    const { random } = this.#world;
    const mark = `${this.#name}-${String(this.#writes)}`;
    const patch = (document: JsonObject): Command => {
      const preconditions = this.#preconditions(current);
      return { type: 'patch', name, patch: { kind: 'merge', document }, part: 'main', preconditions };
    };
    switch (kind) {
      case 'create':
        return { type: 'create', object: bodyOf(version, { name }, this.#spec(version, mark)) };
      case 'put':
        return {
          type: 'replace',
          name,
          object: this.#replacement(name, mark, { version, current }),
          part: 'main',
          preconditions: this.#preconditions(current),
        };
      case 'merge':
        return patch({ spec: this.#changes(version, mark) });
      case 'same':
        return patch({});
      case 'label':
        return patch({ metadata: { labels: { app: random.pick(['x', 'y']) } } });
      case 'finalizer':
        return patch({ metadata: { finalizers: current?.metadata.finalizers === undefined ? [hold] : null } });
      case 'remove':
        return { type: 'delete', name, preconditions: this.#preconditions(current) };
    }
  }

  #spec(version: VersionName, mark: string): JsonObject {
    const { random } = this.#world;
    const named = version === 'v1alpha1' ? { title: mark } : { name: mark };
    const tier = version !== 'v1alpha1' && random.chance(0.7) ? { tier: random.pick(['gold', 'silver']) } : {};
    return { ...named, ...this.#size(version), ...this.#serial(0.4), ...tier, ...this.#extras(version) };
  }

  /** Some of the members of the version. */
  #changes(version: VersionName, mark: string): JsonObject {
    const { random } = this.#world;
    const named = version === 'v1alpha1' ? { title: mark } : { name: mark };
    return {
      ...(random.chance(0.5) ? named : {}),
      ...(random.chance(0.5) ? this.#size(version) : {}),
      ...this.#serial(0.3),
      ...this.#extras(version),
    };
  }

  #size(version: VersionName): JsonObject {
    const { random } = this.#world;
    const size = random.below(10);
    if (version !== 'v2') return { size };
    return { dimensions: { width: size, ...(random.chance(0.3) ? { unit: random.pick(['cm', 'mm']) } : {}) } };
  }

  #serial(chance: number): JsonObject {
    const { random } = this.#world;
    return random.chance(chance) ? { serial: random.pick(serials) } : {};
  }

  #extras(version: VersionName): JsonObject {
    const { random } = this.#world;
    const color = version !== 'v1alpha1' && random.chance(0.3) ? { color: random.pick(['blue', 'green']) } : {};
    return { ...color, ...(version === 'v2' && random.chance(0.3) ? { mode: 'fixed' } : {}) };
  }

  /** What was read, with some changes. */
  #replacement(name: string, mark: string, { version, current }: Asked): JsonObject {
    const { random } = this.#world;
    if (current === undefined) return bodyOf(version, { name }, this.#spec(version, mark));
    const { finalizers, labels, annotations, version: revision } = current.metadata;
    const metadata = {
      name,
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(random.chance(0.6) ? { version: revision } : {}),
    };
    const spec = { ...(current['spec'] as JsonObject), ...(random.chance(0.8) ? this.#changes(version, mark) : {}) };
    return bodyOf(version, metadata, spec);
  }

  #preconditions(current: ResourceObject | undefined): Preconditions {
    const { random } = this.#world;
    if (current === undefined || random.chance(0.7)) return {};
    const { uid, version } = current.metadata;
    return random.pick<Preconditions>([{ ifMatch: [version] }, { ifMatch: 'any' }, { uid }]);
  }

  /** Undefined where the node does not serve the version, or nobody answers. */
  async write(node: SimNode, command: Command, version: VersionName): Promise<WriteOutcome | undefined> {
    const { timeline, invocations, coverage } = this.#world;
    this.#writes += 1;
    const id = `${this.#name}/${String(this.#writes)}`;
    const began = { id, command, node: node.name, version, invoked: timeline.now, knewTime: false };
    const invocation: Invocation = { ...began, answered: Infinity, outcome: undefined };
    invocations.push(invocation);
    timeline.add(() => `${id} → ${node.name} in ${version}: ${JSON.stringify(command)}`);
    const answered = await node.ask(async (serving) => {
      const asked = servedOf(serving).find((served) => served.version === version);
      if (asked === undefined) return undefined;
      invocation.knewTime = serving.knowsTime();
      const outcome = await serving.execute(asked, command, contextOf(id, command.type));
      readsItself(this.#world, serving, outcome, id);
      return outcome;
    });
    invocation.outcome = answered?.answer;
    if (invocation.outcome !== undefined) invocation.answered = timeline.now;
    const verdict = verdictOf(invocation.outcome);
    const detail = invocation.outcome?.ok === false ? ` (${invocation.outcome.rejection.detail})` : '';
    timeline.add(() => `${id} ← ${node.name}: ${verdict}${detail}`);
    coverage.note(`answered ${verdict}`);
    return invocation.outcome;
  }

  async #touch(name: string, version: VersionName, document: JsonObject): Promise<void> {
    const { random, coverage, timeline } = this.#world;
    const node = random.pick(this.#nodes);
    const patch = { kind: 'merge', document } as const;
    const command: Command = { type: 'patch', name, patch, part: 'main', preconditions: {} };
    let outcome = await this.write(node, command, version);
    // A node that was to be stopped before the faults ceased may stop now.
    while (outcome === undefined) {
      await timeline.delay(200, 'a touch is repeated');
      outcome = await this.write(node, command, version);
    }
    coverage.note(`a touch in ${version}`);
    if (!outcome.ok)
      throw new Error(
        `${name} takes no ${JSON.stringify(document)} in ${version}: ${JSON.stringify(outcome.rejection)}`,
      );
  }

  /** 15: in the end, each object takes a patch without changes and one of a label, in each served version. */
  async touchAll({ newest, stage }: Evolution): Promise<void> {
    const known = liveObjects(this.#world.history).filter(([, object]) => stage.versions.includes(versionOf(object)));
    for (const [name] of known) {
      for (const { version } of newest.versions?.served ?? []) {
        await this.#touch(name, version as VersionName, {});
        await this.#touch(name, version as VersionName, { metadata: { labels: { touched: version } } });
      }
    }
  }
}

function servedOf({ type: typeNow }: Serving): readonly ResourceType[] {
  const present = typeNow();
  return present.versions?.served ?? [present];
}

function bodyOf(version: VersionName, metadata: JsonObject, spec: JsonObject): JsonObject {
  return { apiVersion: `example.com/${version}`, kind: type.kind, metadata, spec };
}

function byName(objects: readonly ResourceObject[]): readonly ResourceObject[] {
  return [...objects].sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
}
