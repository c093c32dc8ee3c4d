import type { Client, PluginLogger } from 'ledgerplane/plugin';

import { link } from './link.ts';

const roundMs = 1_000;
const linksMax = 10_000;

/**
 * The clicks of one link that are not yet in its status. `client` and `log` belong to the request of the last click.
 */
type Waiting = { clicks: number; client: Client; log: PluginLogger };

/**
 * Counts clicks in memory, and adds the counts to the links about once a second. Thus a thousand clicks of a link in a
 * second become one event. Each node counts its own clicks. The version of the link is a precondition of a write, so no
 * node overwrites the count of another node. A server that stops loses the clicks that it has not written.
 */
export class ClickCounts {
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  add(name: string, { client, log }: { readonly client: Client; readonly log: PluginLogger }): void {
    const waiting = this.#waiting.get(name);
    // Ignores the clicks of further links until the next round has written the counts, so that the memory is limited.
    if (waiting === undefined && this.#waiting.size >= linksMax) return;
    this.#waiting.set(name, { clicks: (waiting?.clicks ?? 0) + 1, client, log });
    this.#timer ??= setTimeout(() => void this.#round(), roundMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    for (const name of [...this.#waiting.keys()]) await this.#write(name);
    this.#timer = this.#waiting.size === 0 ? undefined : setTimeout(() => void this.#round(), roundMs);
  }

  async #write(name: string): Promise<void> {
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return;
    const { clicks, client, log } = waiting;
    try {
      const found = await client.get(link, name);
      if (found !== undefined) {
        const { uid, resourceVersion } = found.metadata;
        const status = { clicks: (found.status?.clicks ?? 0) + clicks };
        await client.patchStatus(link, name, { status }, { uid, resourceVersion });
      }
    } catch (error) {
      // Usually, another node has changed the link since it was read. The next round reads the link again.
      log.debug('could not write the clicks of a link; the next round retries', {
        link: name,
        clicks,
        error: String(error),
      });
      return;
    }
    const left = (this.#waiting.get(name)?.clicks ?? 0) - clicks;
    if (left > 0) this.#waiting.set(name, { ...waiting, clicks: left });
    else this.#waiting.delete(name);
  }
}
