import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { SimNode } from './node/sim-node.ts';
import { Random } from './random.ts';
import { releasedType, type, type World } from './world.ts';

/** Seeds before it have no releases, so that their runs do not change. */
const firstSeed = 801;

/** Versions of the plugin that has the type: in some the serial is unique, in others it is not. */
export class Releases {
  readonly random: Random;
  /** How many there are in a minute. */
  readonly perMinute: number;
  #newest: ResourceType = type;
  #count = 0;

  private constructor(random: Random) {
    this.random = random;
    this.perMinute = 6 + random.next() * 40;
  }

  /** Of a run; undefined: its nodes have one version and never declare it. */
  static of(seed: number): Releases | undefined {
    const random = new Random(seed * 31 + 17);
    return seed >= firstSeed && random.chance(0.4) ? new Releases(random) : undefined;
  }

  /** The nodes' first version is no release: what comes without files is declared alike. */
  get isNew(): boolean {
    return this.#count > 0;
  }

  get newest(): ResourceType {
    return this.#newest;
  }

  build(): ResourceType {
    this.#count += 1;
    this.#newest = releasedType(this.#count, this.random.chance(0.6));
    return this.#newest;
  }
}

/** Now and then there is a release, which some nodes get sooner than others, and some not at all. */
export function release(world: World, nodes: readonly SimNode[], isOver: () => boolean): void {
  const { releases, timeline, coverage } = world;
  if (!(releases instanceof Releases)) return;
  const { random } = releases;
  timeline.schedule(Math.round((-Math.log(1 - random.next()) * 60_000) / releases.perMinute), 'a release', () => {
    if (isOver()) return;
    const built = releases.build();
    coverage.note(
      'release of ' +
        `${built.indexes.some(({ name, unique }) => unique && name === 'spec.serial') ? 'unique' : 'plain'} serials`,
    );
    for (const node of nodes) {
      if (random.chance(0.15)) continue;
      timeline.schedule(random.chance(0.5) ? random.below(200) : random.below(8_000), 'files change', () => {
        if (!isOver()) node.install(built);
      });
    }
    release(world, nodes, isOver);
  });
}
