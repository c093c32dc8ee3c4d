import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

import type { Declarer } from '../../../reconcilers/platform/declarer.ts';
import { roleKey } from '../../auth/types/platform-types.ts';
import { must } from '../../base/unreachable.ts';
import { applyBuiltInRoles } from '../../plugin/objects/built-in-roles.ts';
import type { Core } from './core.ts';

/**
 * Applies the built-in roles. While nodes of another platform version declare the type Role differently, the roles of
 * that version remain.
 */
export async function applyRoles(
  { models, registry, edge, patiently: execute }: Core,
  declarer: Pick<Declarer, 'waitUntilOwn' | 'isOther'>,
): Promise<void> {
  const { type } = must(registry.byKey(roleKey), 'the type Role is registered');
  const applied = declarer
    .waitUntilOwn(type)
    .then(async () =>
      applyBuiltInRoles({ ...edge, folder: builtInRoles, type, execute, reader: models, uuid: randomUUID }),
    );
  if (declarer.isOther(type))
    applied.catch((error: unknown) => {
      edge.log.error('could not apply the built-in roles: the stored roles remain', { error: String(error) });
    });
  else await applied;
}

/** The compiled file is dist/src/server/compose/compose-roles.js, and the folder `roles` is beside dist. */
const builtInRoles = resolve(import.meta.dirname, '../../../../roles');
