import { join } from 'node:path';

import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';

/** The audit tables of a node, with the tree in them. */
export type SimTree = { readonly tables: AuditTables; readonly tree: TreePart };

/** Empty audit tables, used again as those of the read models are. */
export class TreePool {
  readonly #dir: string;
  readonly #all: SimTree[] = [];
  readonly #free: SimTree[] = [];

  constructor(dir: string) {
    this.#dir = dir;
  }

  take(): SimTree {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const tree = new TreePart(() => 0);
    const made = { tree, tables: new AuditTables(join(this.#dir, `audit-${String(this.#all.length)}`), [tree]) };
    this.#all.push(made);
    return made;
  }

  takeBack(): void {
    const used = this.#all.filter((tables) => !this.#free.includes(tables));
    for (const { tables } of used) tables.clear();
    this.#free.push(...used);
  }

  async close(): Promise<void> {
    for (const { tables } of this.#all) await tables.close();
  }
}
