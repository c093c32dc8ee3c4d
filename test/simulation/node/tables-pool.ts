import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { AuditPool } from './audit-pool.ts';

/** In memory where there is such a place. */
const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Empty tables. Opening an environment costs more than most runs write, so they are used again. */
export class TablesPool {
  readonly #dir = mkdtempSync(join(folder, 'ledgerplane-simulation-'));
  readonly #all: LmdbTables[] = [];
  readonly #free: LmdbTables[] = [];
  readonly audits = new AuditPool(this.#dir);

  take(): LmdbTables {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const made = new LmdbTables(join(this.#dir, String(this.#all.length)));
    this.#all.push(made);
    return made;
  }

  /** Everything taken is free again, and empty: which of them a run gets makes no difference. */
  takeBack(): void {
    const used = this.#all.filter((tables) => !this.#free.includes(tables));
    for (const tables of used) tables.clear();
    this.#free.push(...used);
    this.audits.takeBack();
  }

  async close(): Promise<void> {
    for (const tables of this.#all) await tables.close();
    await this.audits.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
