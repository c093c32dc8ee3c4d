import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { droppedVersionProblems, storedVersionProblems } from '../../../src/plugin/packages/stored-versions.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { Serving } from '../node/node-parts.ts';
import type { SimNode } from '../node/sim-node.ts';
import { Random } from '../random.ts';
import type { World } from '../world.ts';
import { versionOf } from './expected.ts';
import { storedVersionsIn } from './node-plugin.ts';
import { stages, type Stage, type StageSource } from './stages.ts';

/** The versions of a plugin in a run: packages that an operator installs, or folders that nodes get at their times. */
export class Evolution {
  readonly random: Random;
  readonly source: StageSource;
  /** How many upgrades and rollbacks there are in a minute. */
  readonly perMinute: number;
  /** Every version so declares the type anew. */
  readonly isNew = true;
  #at: number;

  constructor(seed: number) {
    const random = (this.random = new Random(seed * 37 + 5));
    this.source = random.chance(0.3) ? 'folder' : 'package';
    this.perMinute = 15 + random.next() * 90;
    this.#at = random.pick([0, 0, 1, 2, 3]);
  }

  get stages(): readonly Stage[] {
    return stages[this.source];
  }

  get stage(): Stage {
    return must(this.stages[this.#at], 'it is one of them');
  }

  get newest(): ResourceType {
    return this.stage.type;
  }

  /** One before the present one. */
  get older(): Stage | undefined {
    return this.stages[this.#at - 1];
  }

  /** What is tried next: a folder only becomes newer. */
  draw(): Stage {
    const { random } = this;
    const isBack = this.source === 'package' && random.chance(0.35);
    const at = this.#at + (isBack ? -random.between(1, 3) : random.pick([1, 1, 1, 2]));
    return must(this.stages[Math.min(Math.max(at, 0), this.stages.length - 1)], 'it is one of them');
  }

  accept(stage: Stage): void {
    this.#at = this.stages.indexOf(stage);
  }
}

/** Now and then another version of the plugin is tried, and nodes get it at different times. */
export function evolve(world: World, nodes: readonly SimNode[], isOver: () => boolean): void {
  const { evolution, timeline } = world;
  if (evolution === undefined) return;
  const { random, perMinute } = evolution;
  timeline.schedule(Math.round((-Math.log(1 - random.next()) * 60_000) / perMinute), 'another version', () => {
    if (isOver()) return;
    void change(world, evolution, nodes, isOver).catch(world.fail);
    evolve(world, nodes, isOver);
  });
}

async function change(
  world: World,
  evolution: Evolution,
  nodes: readonly SimNode[],
  isOver: () => boolean,
): Promise<void> {
  const { random, source, stage: present } = evolution;
  const stage = evolution.draw();
  if (source === 'folder' && random.chance(0.25)) goBack(world, evolution, random.pick(nodes));
  if (stage === present) return;
  if (source === 'package' && !(await isAccepted(world, random.pick(nodes), stage, present))) return;
  if (isOver()) return;
  evolution.accept(stage);
  world.timeline.add(() => `the plugin has version ${stage.version}`);
  for (const node of nodes) {
    if (random.chance(source === 'folder' ? 0.15 : 0)) continue;
    world.timeline.schedule(random.chance(0.5) ? random.below(200) : random.below(8_000), 'files change', () => {
      node.install(evolution.newest);
    });
  }
}

/** An older folder comes to one node, and the present one again. */
function goBack(world: World, evolution: Evolution, node: SimNode): void {
  const { older, random } = evolution;
  if (older === undefined) return;
  world.coverage.note('an older folder');
  node.install(older.type);
  world.timeline.schedule(random.between(500, 6_000), 'files change', () => {
    node.install(evolution.newest);
  });
}

/** Whether the node that an operator asks accepts the package. */
async function isAccepted(world: World, node: SimNode, stage: Stage, present: Stage): Promise<boolean> {
  const { coverage, timeline } = world;
  const asked = await node.ask(async ({ models }) => {
    const problems = await packageProblems(models, stage);
    const isLacking = lacks(world, models, stage);
    if (problems.length > 0 !== isLacking)
      world.fail(new Error(`${node.name} says of ${stage.version}: ${problems.join() || 'it can be installed'}`));
    return problems;
  });
  if (asked === undefined) return false;
  const isRefused = asked.answer.length > 0;
  const what = stage.version < present.version ? 'a rollback' : 'an upgrade';
  timeline.add(() => `${node.name}: ${what} to ${stage.version} is ${isRefused ? asked.answer.join() : 'accepted'}`);
  coverage.note(`${what} ${isRefused ? 'is refused' : 'is accepted'}`);
  return !isRefused;
}

/**
 * Whether an object that the node has folded is in a version that the package cannot convert. A package without
 * conversions is compared with the last declaration only.
 */
function lacks({ history }: World, models: Serving['models'], { versions, version, convert, type }: Stage): boolean {
  const declared = models.declarations.declared(type.key)?.declaration.version;
  if (convert.length === 0 && (declared === undefined || declared <= version)) return false;
  return [...history.streams.keys()].some((stream) => {
    const after = history.at(stream, models.position())?.after;
    return after?.kind === 'live' && !versions.includes(versionOf(after.object));
  });
}

/** As an install decides. */
async function packageProblems(models: Serving['models'], { type, version }: Stage): Promise<readonly string[]> {
  const storedVersions = storedVersionsIn(models);
  const { declarations } = models;
  const stored = await storedVersionProblems({ types: [type], version }, { declarations, storedVersions });
  return stored.length > 0 ? stored : droppedVersionProblems([type], storedVersions);
}
