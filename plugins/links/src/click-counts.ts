import type { Client, PluginLogger } from 'ledgerplane/plugin';

import { link } from './link.ts';

const roundMs = 1_000;
const linksMax = 10_000;

/** The clicks of a link that its status does not contain yet, and the last caller's client, which writes them. */
type Waiting = { clicks: number; client: Client; log: PluginLogger };

/**
 * Counts in memory, and adds the counts to the links once a second: a thousand clicks of a link in a second are one
 * event. Each node counts its own clicks. The version of the link that a node has read is a precondition of its write,
 * so no node overwrites the count of another. A server that ends loses the clicks of its last second.
 */
export class ClickCounts {
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  add(name: string, { client, log }: { readonly client: Client; readonly log: PluginLogger }): void {
    const waiting = this.#waiting.get(name);
    // Clicks of further links are not counted in this second, so that memory is bounded.
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
      // Mostly another node's write in between. The next round reads the link again.
      log.debug('clicks are written later', { link: name, clicks, error: String(error) });
      return;
    }
    const left = (this.#waiting.get(name)?.clicks ?? 0) - clicks;
    if (left > 0) this.#waiting.set(name, { ...waiting, clicks: left });
    else this.#waiting.delete(name);
  }
}
