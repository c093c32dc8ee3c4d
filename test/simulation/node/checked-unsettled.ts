import type { AppendOutcome } from '../../../src/log/log.ts';
import { Unsettled, type Sending, type UnsettledDependencies } from '../../../src/write/unsettled.ts';
import type { World } from '../world.ts';

/** No append of an object is sent by another declaration than the last one that its node has folded. */
export class CheckedUnsettled extends Unsettled {
  readonly #world: World;
  readonly #node: string;
  readonly #declarations: UnsettledDependencies['declarations'];

  constructor(world: World, node: string, dependencies: UnsettledDependencies) {
    super(dependencies);
    this.#world = world;
    this.#node = node;
    this.#declarations = dependencies.declarations;
  }

  override async track(sending: Sending, appending: Promise<AppendOutcome>): Promise<AppendOutcome> {
    const folded = this.#declarations.declared(sending.type)?.revision;
    if (this.#world.releases !== undefined && sending.by?.revision !== folded)
      this.#world.fail(
        new Error(
          `${this.#node} sends ${sending.stream} by declaration ${String(sending.by?.revision)} after it folded ` +
            String(folded),
        ),
      );
    return super.track(sending, appending);
  }
}
