import type { Command } from '../../../src/command/command.ts';
import type { JsonObject } from '../../../src/resource/object/object.ts';
import { body } from '../../support/sample.ts';
import type { SimClient } from './sim-client.ts';
import type { SimNode } from '../node/sim-node.ts';
import { names, serials, streamOf, type World } from '../world.ts';

/** For how long the node that is to be behind is given no events, in ms. */
const behindMs = 5_000;

/**
 * What chance alone brings about too seldom: two writers of one object want one value for it, one of them on a node
 * that is behind while the other one's append is late, and somebody wants the same value for another object meanwhile.
 */
export class SimDuel {
  readonly #world: World;
  readonly #nodes: readonly SimNode[];
  readonly #client: SimClient;

  constructor(world: World, nodes: readonly SimNode[], client: SimClient) {
    this.#world = world;
    this.#nodes = nodes;
    this.#client = client;
  }

  async run(duels: number): Promise<void> {
    const { random, timeline } = this.#world;
    for (let fought = 0; fought < duels; fought += 1) {
      await timeline.delay(random.between(100, 2_000), 'a duel is prepared');
      await this.#fight();
    }
  }

  async #fight(): Promise<void> {
    const { random, timeline, coverage } = this.#world;
    const [ahead, behind] = this.#two(this.#nodes.filter(({ serving }) => serving !== undefined));
    const [one, other] = this.#two(names);
    if (ahead === undefined || behind === undefined || one === undefined || other === undefined) return;
    coverage.note('duel');
    for (const name of [one, other])
      await this.#client.write({ type: 'create', object: body({ metadata: { name }, spec: { title: 'x' } }) }, ahead);
    await timeline.delay(random.between(20, 300), 'both nodes come to know them');
    behind.link.stalledUntil = timeline.now + behindMs;
    await this.#client.write(changed(one, { size: random.below(10) }), ahead);
    const serial = random.pick(serials);
    this.#world.late = streamOf(one);
    const writes = [this.#client.write(changed(one, { serial }), ahead)];
    await timeline.delay(random.between(10, 150), 'the one behind writes');
    writes.push(this.#client.write(changed(one, { serial }), behind));
    await timeline.delay(random.between(10, 300), 'another object is written');
    writes.push(this.#client.write(changed(other, { serial }), random.pick(this.#nodes)));
    await Promise.all(writes);
    this.#world.late = undefined;
  }

  #two<T>(of: readonly T[]): readonly T[] {
    const { random } = this.#world;
    if (of.length < 2) return [];
    const first = random.pick(of);
    return [first, random.pick(of.filter((each) => each !== first))];
  }
}

function changed(name: string, spec: JsonObject): Command {
  return { type: 'patch', name, patch: { kind: 'merge', document: { spec } }, part: 'main', preconditions: {} };
}
