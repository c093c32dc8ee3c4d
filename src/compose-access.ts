import { randomUUID } from 'node:crypto';

import { PermissionTables } from '../projections/permission-tables.ts';
import type { ObjectModels } from '../projections/object-models.ts';
import type { ReconcileBound } from '../reconcilers/bound.ts';
import type { Leadership } from '../reconcilers/lease.ts';
import { SessionKeeper } from '../reconcilers/sessions.ts';
import { commonPasswordProblem } from './auth/common-passwords.ts';
import { Authenticator } from './auth/authenticator.ts';
import { createAuthorizer, type Authorize, type IdlePlugin } from './auth/authorize.ts';
import { Elsewhere } from './auth/elsewhere.ts';
import { createGrantRules } from './auth/grant-rules.ts';
import { OidcVerifier } from './auth/oidc.ts';
import type { Passwords } from './auth/password.ts';
import type { ApiRequest } from './auth/permission-reader.ts';
import { Secrets } from './auth/secrets.ts';
import { sinceAdministered, type Judging } from './auth/since-administered.ts';
import { administrator, ensureAdministrator, isHeld, type AdministratorReport } from './auth/super-administrator.ts';
import { tokenUseWriter } from './auth/token-use.ts';
import { roleBindingKey, sessionKey, tokenKey, userKey } from './auth/types/platform-types.ts';
import type { Clock } from './base/clock.ts';
import { Slices } from './base/slices.ts';
import { must } from './base/unreachable.ts';
import type { Config } from './config.ts';
import { StartError } from './base/start-error.ts';
import type { Execute } from './execute.ts';
import { accountRoutes } from './http/account-routes.ts';
import type { PlatformRoute } from './http/fixed-routes.ts';
import { permissionRoutes } from './http/permission-routes.ts';
import { RefusalLog } from './http/refusal-log.ts';
import { reviewRoutes } from './http/review-routes.ts';
import { sessionRoutes } from './http/session-routes.ts';
import { tokenRoutes } from './http/token-routes.ts';
import type { EventLog } from './log/log.ts';
import type { PluginLogger } from './plugin/plugin.ts';
import type { TypeRegistry } from './plugin/type-registry.ts';
import type { TypeKey } from './resource/index-entry.ts';
import type { ResourceType } from './resource/resource-type.ts';
import { WatchGuard, type Allows } from './watch/guard.ts';
import type { WatchHub } from './watch/hub.ts';
import type { WriteRules } from './write-rules.ts';

/** What judges writes, which the write door needs before anything else of access control can be made. */
export type AccessTables = {
  readonly permissions: PermissionTables;
  readonly rules: WriteRules;
  readonly passwords: Passwords;
  readonly secrets: Secrets;
};

type TablesParts = {
  readonly models: ObjectModels; readonly eventLog: EventLog; readonly clock: Clock; readonly domain: string;
  readonly passwords: Passwords; readonly registry: TypeRegistry;
};

export function composeTables({ models, eventLog, clock, domain, passwords, registry }: TablesParts): AccessTables {
  const permissions = new PermissionTables({ reader: models, feed: models, domain });
  const rules = createGrantRules({ permissions, domain, typeOfKind: (group, kind) => registry.byKind(group, kind)?.type });
  return { permissions, rules, passwords, secrets: new Secrets({ log: eventLog, clock, folded: models, passwords }) };
}

export type AccessParts = {
  readonly config: Config;
  readonly tables: AccessTables;
  readonly eventLog: EventLog;
  readonly models: ObjectModels;
  readonly registry: TypeRegistry;
  readonly execute: Execute;
  /** The same for what this node must write: it waits for a log that does not answer. */
  readonly patiently: Execute;
  readonly hub: WatchHub;
  readonly leadership: Leadership;
  readonly bound: ReconcileBound;
  readonly clock: Clock;
  readonly log: PluginLogger;
  /** The plugin that serves a path of its own. */
  readonly routePluginOf: (segments: readonly string[]) => string | undefined;
  /** Why a plugin serves nothing on this node. */
  readonly idleOf: (plugin: string) => IdlePlugin | undefined;
  /** What plugins stream ends where it is not allowed any more. */
  readonly recheckStreams: (allows: Allows) => void;
};

export type Access = {
  readonly authorize: Authorize;
  /** The same of what outlives its request: whether the credential still counts is asked as well. */
  readonly authorizeStanding: Authorize;
  readonly authenticator: Authenticator;
  readonly refusals: RefusalLog;
  readonly routes: readonly PlatformRoute[];
  /** Once the platform's types can be listed: from now on, if the log has an administrator, requests are judged by it. */
  open(): Promise<void>;
  /** Whether anybody can do everything. */
  isAdministered(): boolean;
  /** Makes the super administrator where there is none. */
  administer(): Promise<AdministratorReport>;
  stop(): Promise<void>;
};

/** Who is it, may they, and what follows when the answer changes. */
export function composeAccess(parts: AccessParts): Access {
  const { config: { platformDomain: domain, dataDir, adminPassword }, tables, eventLog, models, registry, execute, patiently, leadership, bound, clock, log } = parts;
  const { permissions, passwords, secrets } = tables;
  const typeOf = (key: TypeKey): ResourceType => must(registry.byKey(key), `${key} is one of the platform's types`).type;
  const elsewhere = new Elsewhere({ log: eventLog, reader: models, secrets, clock });
  let isFounded = false;
  const judging = sinceAdministered(permissions, () => isFounded);
  const authenticator = composeAuthenticator(parts, { judging, elsewhere, typeOf });
  const authorize = createAuthorizer({
    permissions: judging, pluginOf: (request) => pluginOf(request, parts), idleOf: parts.idleOf,
  });
  const authorizeStanding: Authorize = (subject, request) => authenticator.isValid(subject) ? authorize(subject, request) : lapsed;
  const guard = guardWatches(parts, authorizeStanding);
  const sessions = new SessionKeeper({
    permissions, changes: models, reader: models, execute, sessions: typeOf(sessionKey), bound, leadership, clock, uuid: randomUUID,
    onError: (error, name) => { log.error('could not end a session', { name, error: String(error) }); },
  });
  const ports = { reader: models, execute };
  const refusals = new RefusalLog({ log, clock, isUser: (name) => permissions.user(name) !== undefined });
  return {
    authorize, authorizeStanding, authenticator, refusals,
    routes: [
      ...sessionRoutes({ authenticator, permissions, execute, reader: models, sessions: typeOf(sessionKey), clock, refusals }),
      ...accountRoutes({
        ...ports, domain, registry, refusals, verifyPassword: async (...given) => authenticator.verifyPassword(...given),
      }),
      ...tokenRoutes({ ...ports, domain, registry }),
      ...permissionRoutes({ ...ports, domain, clock, registry, permissions, elsewhere }),
      ...reviewRoutes({ registry, permissions, authorize }),
    ],
    open: async () => {
      await permissions.loadIn(new Slices(clock));
      isFounded = isHeld(permissions);
      sessions.open();
    },
    isAdministered: () => isHeld(permissions),
    administer: async () => {
      refuseCommonPassword(adminPassword, permissions);
      const report = await ensureAdministrator({
        permissions, execute: patiently, users: typeOf(userKey), roleBindings: typeOf(roleBindingKey),
        secrets, passwords, uuid: randomUUID, dataDir, password: adminPassword,
      });
      isFounded = true;
      return report;
    },
    stop: async () => {
      guard.stop();
      await sessions.stop();
    },
  };
}

type AuthenticatorParts = {
  readonly judging: Judging;
  readonly elsewhere: Elsewhere;
  readonly typeOf: (key: TypeKey) => ResourceType;
};

/** It counts at the first start only, which is known once the log has been folded. */
function refuseCommonPassword(password: string | undefined, permissions: PermissionTables): void {
  if (password === undefined || isHeld(permissions)) return;
  const problem = commonPasswordProblem(password, administrator);
  if (problem !== undefined) throw new StartError(`ADMIN_PASSWORD ${problem}`, { exitCode: 2 });
}

function composeAuthenticator(parts: AccessParts, { judging, elsewhere, typeOf }: AuthenticatorParts): Authenticator {
  const { config: { oidc }, tables: { passwords, secrets }, models, execute, clock, log } = parts;
  const onProblem = (problem: string): void => { log.error('cannot use the identity provider', { problem }); };
  return new Authenticator({
    secrets, passwords, permissions: judging, clock,
    elsewhere,
    oidc: oidc === undefined ? undefined : new OidcVerifier({ settings: oidc, clock, fetch, onProblem }),
    noteUse: tokenUseWriter({
      execute, reader: models, tokens: typeOf(tokenKey), clock, uuid: randomUUID,
      onError: (error) => { log.error('could not record the use of a token', { error: String(error) }); },
    }),
  });
}

const lapsed = { allowed: false, reason: 'forbidden: the credentials of this request are no longer valid' } as const;

/** The tables hear of a commit before the watchers do: who has lost a right does not see the change that took it. */
function guardWatches({ tables: { permissions }, hub, clock, recheckStreams }: AccessParts, authorize: Authorize): WatchGuard {
  const guard = new WatchGuard({ hub, clock, recheckStreams, allows: (subject, request) => authorize(subject, request).allowed });
  permissions.subscribe(() => { guard.recheck(); });
  return guard;
}

/** The platform is no plugin: its types are named by their group alone. */
function pluginOf(request: ApiRequest, { registry, routePluginOf }: AccessParts): string | undefined {
  if (request.kind !== 'resource') return routePluginOf(request.segments);
  const owner = registry.byPath(request.group, request.version, request.resource)?.type.plugin;
  return owner === undefined || owner === 'platform' ? routePluginOf(request.segments) : owner;
}
