import { FailureLines } from '../../../../reconcilers/failure-lines.ts';
import { ObjectChecks } from '../../../../reconcilers/plugins/object-checks.ts';
import { streamRevision } from '../../../log/log.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import type { Core } from '../core.ts';

/** The leader's work after a plugin was upgraded. */
export type Upgrades = {
  readonly checks: ObjectChecks;
  /** Call this method after the read models have caught up. */
  open(): void;
  stop(): Promise<void>;
};

export function composeUpgrades(core: Core): Upgrades {
  const {
    models,
    registry,
    leadership,
    edge: { clock, log },
  } = core;
  const lines = new FailureLines(clock, (message, fields) => {
    log.error(message, fields);
  });
  const checks = new ObjectChecks({
    rows: models,
    changes: models,
    registry,
    leadership,
    clock,
    mayBreak: (type) => mayBreak(core, type),
    onError: (error, type) => {
      lines.failed('could not check the stored objects of a type', { key: type, attempts: 1 }, () => ({
        type,
        error: String(error),
      }));
    },
  });
  return {
    checks,
    open: () => {
      checks.open();
    },
    stop: async () => checks.stop(),
  };
}

/**
 * Whether objects of a type may break its schema. If the type has only one declaration, its schema has accepted all
 * objects, except for objects that were written before declarations were recorded. Such objects are rare, so the first
 * page of names shows whether any exist.
 */
function mayBreak({ models: { declarations, older } }: Core, { key }: ResourceType): boolean {
  if (declarations.declared(key)?.revision !== 0) return true;
  const page = older.page(key, streamRevision(0), undefined);
  return page.names.length > 0 || page.next !== undefined;
}
