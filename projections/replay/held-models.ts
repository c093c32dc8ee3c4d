import { deepEqual } from '../../src/base/json.ts';
import { firstLevel } from '../../src/command/level.ts';
import { logStart, type LogPosition } from '../../src/log/log.ts';
import type { DeclarationReader, LevelReader } from '../../src/read/declarations.ts';
import type { Difference } from '../../src/read/replay.ts';
import type { HeldOrders } from '../index/type-index.ts';
import type { LmdbTables } from '../lmdb-tables.ts';
import type { ObjectIndexes } from '../object-indexes.ts';
import type { CheckedIndex } from './check-index.ts';

/** The read models in their state in one turn of the event loop, which is the state at `position`. */
export type HeldModels = {
  readonly position: LogPosition;
  /** The ready indexes, each with the rows of its type. */
  readonly indexes: readonly CheckedIndex[];
  /** The first difference between the values that the models keep in memory and the values in the tables. */
  readonly difference: Difference | undefined;
  release(): void;
};

type Held = {
  readonly tables: LmdbTables;
  readonly indexes: ObjectIndexes;
  readonly models: {
    readonly position: () => LogPosition;
    readonly folded: () => number;
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
    return {
      type,
      orders: held.orders,
      row: (name) => snapshot.rowFast(type.key, name),
    };
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
  const found = [...keysOfOthers(tables, models)][0];
  return found === undefined
    ? undefined
    : { table: 'meta in memory', key: found, detail: 'the value in memory differs from the value in the tables' };
}

function* keysOfOthers(tables: LmdbTables, { declarations, level, ...models }: Held['models']): Generator<string> {
  const { position = logStart, events = 0 } = tables.checkpoint() ?? {};
  if (models.position() !== position || models.folded() !== events) yield 'checkpoint';
  if (level.level() !== (tables.level() ?? firstLevel)) yield 'level';
  for (const [type, declared] of tables.declared())
    if (!deepEqual(asJson(declarations.declared(type)), declared)) yield `declared:${type}`;
  for (const [type, names] of tables.onceUnique())
    if (!deepEqual([...declarations.onceUnique(type)], names)) yield `unique:${type}`;
}

/** The value in the form that the tables store, without undefined members. */
function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
