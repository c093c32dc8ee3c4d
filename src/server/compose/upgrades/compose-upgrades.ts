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
 * Objects of a type with only one declaration were all accepted by its schema. Objects from before declarations were
 * recorded are rare, so that the first page of names tells whether there are any.
 */
function mayBreak({ models: { declarations, older } }: Core, { key }: ResourceType): boolean {
  if (declarations.declared(key)?.revision !== 0) return true;
  const page = older.page(key, streamRevision(0), undefined);
  return page.names.length > 0 || page.next !== undefined;
}
