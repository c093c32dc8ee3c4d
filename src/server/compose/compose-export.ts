import { auditedCategories } from '../../../projections/audit/audit-models.ts';
import type { PlatformRoute } from '../../http/fixed-routes.ts';
import { exportRoutes } from '../../http/platform/export-routes.ts';
import { exportsMax, exportsPerUserMax } from '../../limits/audit.ts';
import { SnapshotSlots } from '../../read/snapshot-slots.ts';
import type { TreeReader } from '../../read/tree.ts';
import type { Core } from './core.ts';

export function composeExport(
  { audit, edge, eventLog: log, models }: Core,
  tree: TreeReader,
): readonly PlatformRoute[] {
  const limits = { total: exportsMax, perUser: exportsPerUserMax, perAddress: exportsMax };
  return exportRoutes({
    domain: edge.domain,
    log,
    tree,
    audit: audit.models,
    reader: models,
    slots: new SnapshotSlots(edge.clock, limits),
    logger: edge.log,
    categories: auditedCategories,
    identity: () => log.identity(),
    times: audit.times,
  });
}
