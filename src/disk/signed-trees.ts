import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { StartError } from '../base/start-error.ts';
import type { TreeSize } from '../command/event.ts';
import { writeDurably } from './durable-file.ts';

const file = 'signed.json';

/** The maximum number of stored trees; the oldest trees are removed. Each epoch of a log has a new tree. */
const treesMax = 64;

/**
 * The largest size that this node has signed, with its root, for the origin of each tree. The file `<dir>/signed.json`
 * is in the folder of the node's key, so that a copy of the folder contains both files.
 */
export class SignedTrees {
  readonly #path: string;
  readonly #trees: Map<string, TreeSize>;

  /** @throws StartError if the file is damaged. */
  constructor(dir: string) {
    this.#path = join(dir, file);
    this.#trees = new Map(existsSync(this.#path) ? entriesIn(this.#path) : []);
  }

  last(origin: string): TreeSize | undefined {
    return this.#trees.get(origin);
  }

  /** Resolves when the record is on disk. The caller must await each call before the next call. */
  async record(origin: string, { size, root }: TreeSize): Promise<void> {
    const next = new Map(this.#trees);
    // After the deletion, `set` makes the entry the last one of the map, in which the first entries are the oldest.
    next.delete(origin);
    next.set(origin, { size, root });
    for (const oldest of [...next.keys()].slice(0, -treesMax)) next.delete(oldest);
    await writeDurably(this.#path, `${JSON.stringify(Object.fromEntries(next))}\n`);
    this.#trees.delete(origin);
    this.#trees.set(origin, { size, root });
  }
}

function entriesIn(path: string): readonly (readonly [string, TreeSize])[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return Object.entries(value).map(([origin, signed]: [string, unknown]) => [origin, treeSizeIn(signed)]);
  } catch {
    // The error below reports the damage.
  }
  throw new StartError(
    `${path} is damaged or unreadable, so this node cannot check which trees it has signed; restore the file from a ` +
      'backup of DATA_DIR/keys, or remove it together with node.key: this node then makes a new key, which auditors ' +
      'must add to their trusted keys',
    { exitCode: 2 },
  );
}

function treeSizeIn(value: unknown): TreeSize {
  const { size, root } =
    typeof value === 'object' && value !== null ? { size: undefined, root: undefined, ...value } : {};
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || typeof root !== 'string')
    throw new TypeError('the entry has no valid size and root');
  return { size, root };
}
