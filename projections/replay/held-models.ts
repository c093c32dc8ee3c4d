import { deepEqual } from '../../src/base/json.ts';
import { firstLevel } from '../../src/command/level.ts';
import type { LogPosition } from '../../src/log/log.ts';
import type { DeclarationReader, LevelReader } from '../../src/read/declarations.ts';
import type { Difference } from '../../src/read/replay.ts';
import type { HeldOrders } from '../index/type-index.ts';
import type { LmdbTables } from '../lmdb-tables.ts';
import type { ObjectIndexes } from '../object-indexes.ts';
import type { CheckedIndex } from './check-index.ts';

/** The read models as of one turn, which is that of `position`. */
export type HeldModels = {
  readonly position: LogPosition;
  /** The ready indexes, each with the rows of its type. */
  readonly indexes: readonly CheckedIndex[];
  /** Where the members of the models that are kept in memory differ from the tables. */
  readonly difference: Difference | undefined;
  release(): void;
};

type Held = {
  readonly tables: LmdbTables;
  readonly indexes: ObjectIndexes;
  readonly models: {
    position(): LogPosition;
    folded(): number;
    readonly declarations: Pick<DeclarationReader, 'declared' | 'onceUnique'>;
    readonly level: Pick<LevelReader, 'level'>;
  };
};

export function holdModels({ tables, indexes, models }: Held): HeldModels {
  const snapshot = tables.snapshot();
  const orders: HeldOrders[] = [];
  const checked = indexes.states().ready.map(({ type, index }): CheckedIndex => {
    const held = index.hold();
    orders.push(held);
    return { type, orders: held.orders, row: (name) => snapshot.rowFast(type.key, name) };
  });
  return {
    position: models.position(),
    indexes: checked,
    difference: differenceInMemory(tables, models),
    release: () => {
      snapshot.release();
      for (const held of orders.splice(0)) held.release();
    },
  };
}

function differenceInMemory(tables: LmdbTables, models: Held['models']): Difference | undefined {
  const checkpoint = tables.checkpoint();
  const table = 'meta in memory';
  if (models.position() !== (checkpoint?.position ?? 0n) || models.folded() !== (checkpoint?.events ?? 0))
    return { table, key: 'checkpoint', detail: 'the position in memory is not that of the tables' };
  if (models.level.level() !== (tables.level() ?? firstLevel))
    return { table, key: 'level', detail: 'the level in memory is not that of the tables' };
  for (const [type, declared] of tables.declared())
    if (!deepEqual(asJson(models.declarations.declared(type)), declared))
      return { table, key: `declared:${type}`, detail: 'the declaration in memory is not that of the tables' };
  for (const [type, names] of tables.onceUnique())
    if (!deepEqual([...models.declarations.onceUnique(type)], names))
      return { table, key: `unique:${type}`, detail: 'the unique indexes in memory are not those of the tables' };
  return undefined;
}

/** Without the members that are undefined, as the tables keep it. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
