import { join } from 'node:path';

import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TimePart } from '../../../projections/audit/time-part.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { VersionPart } from '../../../projections/audit/version-part.ts';
import { SimColumns } from './sim-columns.ts';

/** The audit tables of a node, and the indexes in these tables. */
export type SimAudit = {
  readonly tables: AuditTables;
  readonly tree: TreePart;
  readonly versions: VersionPart;
  readonly times: TimePart;
  readonly columns: SimColumns;
};

/** The runs do not begin new epochs. */
const identity = (): { readonly epoch: number } => ({ epoch: 0 });

/** A pool of empty audit tables. Runs reuse the tables, because opening an environment costs more than most runs. */
export class AuditPool {
  readonly #dir: string;
  readonly #all: SimAudit[] = [];
  readonly #free: SimAudit[] = [];

  constructor(dir: string) {
    this.#dir = dir;
  }

  take(): SimAudit {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const tree = new TreePart(() => identity().epoch);
    const [versions, times, columns] = [
      new VersionPart({ identity }),
      new TimePart(identity),
      new SimColumns(identity),
    ];
    const dir = join(this.#dir, `audit-${String(this.#all.length)}`);
    const made = { tree, versions, times, columns, tables: new AuditTables(dir, [tree, versions, times, columns]) };
    this.#all.push(made);
    return made;
  }

  takeBack(): void {
    const used = this.#all.filter((tables) => !this.#free.includes(tables));
    for (const { tables, columns } of used) {
      columns.end();
      tables.clear();
    }
    this.#free.push(...used);
  }

  async close(): Promise<void> {
    for (const { tables } of this.#all) await tables.close();
  }
}
