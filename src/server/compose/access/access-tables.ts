import { PermissionTables } from '../../../../projections/permissions/permission-tables.ts';
import type { ObjectModels } from '../../../../projections/object-models.ts';
import { createGrantRules } from '../../../auth/authorization/grant-rules.ts';
import type { Passwords } from '../../../auth/passwords/password.ts';
import { Secrets } from '../../../auth/authentication/secrets.ts';
import type { Clock } from '../../../base/clock.ts';
import type { EventLog } from '../../../log/log.ts';
import type { TypeRegistry } from '../../../plugin/registry/type-registry.ts';
import type { WriteRules } from '../../../write/rules.ts';

/** The tables and rules that authorize writes. The write path needs these parts before the rest of access control. */
export type AccessTables = {
  readonly permissions: PermissionTables;
  readonly rules: WriteRules;
  readonly passwords: Passwords;
  readonly secrets: Secrets;
};

type TablesParts = {
  readonly models: ObjectModels;
  readonly eventLog: EventLog;
  readonly clock: Clock;
  readonly domain: string;
  readonly passwords: Passwords;
  readonly registry: TypeRegistry;
};

export function composeTables({ models, eventLog, clock, domain, passwords, registry }: TablesParts): AccessTables {
  const permissions = new PermissionTables({ reader: models, feed: models, domain });
  const rules = createGrantRules({
    permissions,
    domain,
    typeOfKind: (group, kind) => registry.byKind(group, kind)?.type,
  });
  return {
    permissions,
    rules,
    passwords,
    secrets: new Secrets({ log: eventLog, clock, folded: models, passwords }),
  };
}
