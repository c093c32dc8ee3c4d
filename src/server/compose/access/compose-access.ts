import { randomUUID } from 'node:crypto';

import type { PermissionTables } from '../../../../projections/permissions/permission-tables.ts';
import { SessionKeeper } from '../../../../reconcilers/platform/sessions.ts';
import { commonPasswordProblem } from '../../../auth/passwords/common-passwords.ts';
import { AccessEvents } from '../../../auth/access-events/access-events.ts';
import { unrecorded, type AccessRecorder } from '../../../auth/access-events/access-recorder.ts';
import type { Authenticator } from '../../../auth/authentication/authenticator.ts';
import { createAuthorizer, type Authorize, type IdlePlugin } from '../../../auth/authorization/authorize.ts';
import { UnfoldedWrites } from '../../../auth/authentication/unfolded-writes.ts';
import type { ProviderLogIn } from '../../../auth/provider-log-in/provider-log-in.ts';
import type { ApiRequest, Rights } from '../../../read/permission-reader.ts';
import { gatePermissions } from '../../../auth/authorization/gated-permissions.ts';
import {
  administrator,
  ensureAdministrator,
  isHeld,
  type AdministratorReport,
} from '../../../auth/super-administrator.ts';
import { roleBindingKey, sessionKey, userKey } from '../../../auth/types/platform-types.ts';
import { Slices } from '../../../base/slices.ts';
import { streamName } from '../../../log/log.ts';
import { StartError } from '../../../base/start-error.ts';
import { accountRoutes } from '../../../http/platform/account-routes.ts';
import type { PlatformRoute } from '../../../http/fixed-routes.ts';
import { permissionRoutes } from '../../../http/platform/permission-routes.ts';
import { PermissionWaits } from '../../../http/platform/permission-waits.ts';
import { RefusalLog } from '../../../http/refusal-log.ts';
import { previewRoutes, type PreviewRoutesDependencies } from '../../../http/platform/preview-routes.ts';
import { reviewRoutes } from '../../../http/platform/review-routes.ts';
import { ownSessionRoutes } from '../../../http/platform/own-session-routes.ts';
import { providerRoutes } from '../../../http/platform/provider-routes.ts';
import { sessionRoutes } from '../../../http/platform/session-routes.ts';
import { tokenRoutes } from '../../../http/platform/token-routes.ts';
import { WatchGuard, type Allows } from '../../../watch/guard.ts';
import { metadataOf } from '../compose-reconcilers.ts';
import type { Core } from '../core.ts';
import { composeProvider } from './compose-provider.ts';
import { composeAuthenticator, typeOf } from './compose-authenticator.ts';

export type AccessParts = Core & {
  /** Returns the plugin that serves a custom path; undefined without such a plugin. */
  readonly routePluginOf: (segments: readonly string[]) => string | undefined;
  /** Returns the custom routes of all plugins. */
  readonly pluginRoutes: PreviewRoutesDependencies['pluginRoutes'];
  /** Returns the state of a plugin that serves nothing on this node; undefined for other names. */
  readonly idleOf: (plugin: string) => IdlePlugin | undefined;
  /** Ends the streams of plugins, and the watches of events, that their subjects may no longer read. */
  readonly recheckStreams: (allows: Allows) => void;
};

export type Access = {
  readonly authorize: Authorize;
  /** Authorizes an open watch or stream again, and refuses expired or revoked credentials. */
  readonly authorizeStanding: Authorize;
  readonly authenticator: Authenticator;
  readonly refusals: RefusalLog;
  /** Records accesses; undefined if accesses are not recorded. */
  readonly accesses: AccessEvents | undefined;
  readonly routes: readonly PlatformRoute[];
  /**
   * Must be called after the platform's types can be listed. Before the call, and while no super administrator exists,
   * all requests except probes are refused.
   */
  open(): Promise<void>;
  /** Returns whether a super administrator exists. */
  isAdministered(): boolean;
  /** Creates the user `admin` if no user has the super role. Otherwise compares ADMIN_PASSWORD with the stored hash. */
  administer(): Promise<AdministratorReport>;
  stop(): Promise<void>;
};

export function composeAccess(parts: AccessParts): Access {
  const {
    accessTables: { permissions, secrets },
    edge: { clock, log },
    eventLog,
    models,
  } = parts;
  const unfoldedWrites = new UnfoldedWrites({ log: eventLog, reader: models, secrets });
  let isFounded = false;
  const gated = gatePermissions(permissions, () => isFounded);
  const provider = composeProvider(parts);
  const authenticator = composeAuthenticator(parts, { gated, unfoldedWrites, provider });
  const plugins = { pluginOf: (request: ApiRequest) => pluginOf(request, parts), idleOf: parts.idleOf };
  const authorize = createAuthorizer({ ...plugins, permissions: gated });
  const authorizerOf = (rights: Rights): Authorize =>
    createAuthorizer({ ...plugins, permissions: { isReady: () => gated.isReady(), rightsOf: () => rights } });
  const authorizeStanding: Authorize = (subject, request) =>
    authenticator.isValid(subject) ? authorize(subject, request) : lapsed;
  const guard = guardWatches(parts, authorizeStanding);
  const sessions = composeSessions(parts);
  const accesses = composeAccessEvents(parts);
  const refusals = new RefusalLog({
    log,
    clock,
    isUser: (name) => permissions.user(name) !== undefined,
    accesses: accesses ?? unrecorded,
  });
  return {
    authorize,
    authorizeStanding,
    authenticator,
    refusals,
    accesses,
    routes: composeRoutes(parts, {
      authenticator,
      authorize,
      authorizerOf,
      unfoldedWrites,
      provider: provider.logIn,
      refusals,
      accesses: accesses ?? unrecorded,
    }),
    open: async () => {
      await permissions.loadIn(new Slices(clock));
      isFounded = isHeld(permissions);
      sessions.open();
    },
    isAdministered: () => isHeld(permissions),
    administer: async () => {
      const report = await createAdministrator(parts);
      isFounded = true;
      return report;
    },
    stop: async () => {
      guard.stop();
      await Promise.all([sessions.stop(), accesses?.stop()]);
    },
  };
}

type RouteParts = {
  readonly authenticator: Authenticator;
  readonly authorize: Authorize;
  readonly authorizerOf: (rights: Rights) => Authorize;
  readonly unfoldedWrites: UnfoldedWrites;
  readonly provider: ProviderLogIn | undefined;
  readonly refusals: RefusalLog;
  readonly accesses: AccessRecorder;
};

/** Each start of a node records accesses in a new stream. */
function composeAccessEvents(parts: AccessParts): AccessEvents | undefined {
  const { config, eventLog, node, disk, edge } = parts;
  if (config.accessEvents === 'off') return undefined;
  const metadata = metadataOf('access', parts);
  return new AccessEvents({
    log: eventLog,
    stream: streamName(`access:${node}`),
    clock: edge.clock,
    uuid: randomUUID,
    metadata: () => ({ ...metadata(), verb: 'create' }),
    disk,
    onState: (reason) => {
      if (reason === undefined) edge.log.info('log-ins, log-outs and refusals are recorded in the event log again');
      else
        edge.log.warn(
          'cannot record log-ins, log-outs and refusals in the event log; retrying: a later event counts them all, ' +
            'but may describe only some of them',
          { reason },
        );
    },
  });
}

function composeRoutes(parts: AccessParts, routing: RouteParts): readonly PlatformRoute[] {
  const {
    accessTables: { permissions },
    edge: { domain, clock },
    registry,
    models,
    execute,
  } = parts;
  const ports = { ...routing, domain, clock, registry, permissions, reader: models, execute };
  const sessions = typeOf(parts, sessionKey);
  const verifyPassword: Authenticator['verifyPassword'] = async (...given) =>
    routing.authenticator.verifyPassword(...given);
  return [
    ...sessionRoutes({ ...ports, sessions }),
    ...providerRoutes({
      ...ports,
      sessions,
      publicUrl: parts.config.publicUrl,
      hasConsole: parts.config.console === 'on',
    }),
    ...accountRoutes({ ...ports, verifyPassword }),
    ...tokenRoutes(ports),
    ...ownSessionRoutes(ports),
    ...permissionRoutes({
      ...ports,
      waits: new PermissionWaits({ clock, changes: models, permissions, signal: parts.signal }),
    }),
    ...reviewRoutes(ports),
    ...previewRoutes({ ...ports, pluginRoutes: parts.pluginRoutes }),
  ];
}

function composeSessions(parts: AccessParts): SessionKeeper {
  const {
    accessTables: { permissions },
    edge: { clock, log },
    models,
    execute,
    leadership,
    bound,
  } = parts;
  return new SessionKeeper({
    permissions,
    changes: models,
    reader: models,
    execute,
    sessions: typeOf(parts, sessionKey),
    bound,
    leadership,
    clock,
    uuid: randomUUID,
    onError: (error, name) => {
      log.error('could not end a session; retrying', { name, error: String(error) });
    },
  });
}

async function createAdministrator(parts: AccessParts): Promise<AdministratorReport> {
  const {
    config: { dataDir, adminPassword },
    accessTables: { permissions, passwords, secrets },
    patiently,
  } = parts;
  refuseCommonPassword(adminPassword, permissions);
  return ensureAdministrator({
    permissions,
    execute: patiently,
    users: typeOf(parts, userKey),
    roleBindings: typeOf(parts, roleBindingKey),
    secrets,
    passwords,
    uuid: randomUUID,
    dataDir,
    password: adminPassword,
  });
}

/** Refuses a common ADMIN_PASSWORD while the folded log has no super administrator. */
function refuseCommonPassword(password: string | undefined, permissions: PermissionTables): void {
  if (password === undefined || isHeld(permissions)) return;
  const problem = commonPasswordProblem(password, administrator);
  if (problem !== undefined) throw new StartError(`ADMIN_PASSWORD ${problem}`, { exitCode: 2 });
}

const lapsed = { allowed: false, reason: 'forbidden: the credentials of this request are no longer valid' } as const;

/**
 * Composes the guard that ends watches after a change of rights. Permission tables are updated before watchers are
 * notified, so a subject does not receive the change that removed its right.
 */
function guardWatches(
  { accessTables: { permissions }, hub, edge: { clock }, recheckStreams }: AccessParts,
  authorize: Authorize,
): WatchGuard {
  const guard = new WatchGuard({
    hub,
    clock,
    recheckStreams,
    allows: (subject, request) => authorize(subject, request).allowed,
  });
  permissions.subscribe(() => {
    guard.recheck();
  });
  return guard;
}

/**
 * Returns the plugin that serves the requested type or custom path; undefined for the platform's own types and paths.
 */
function pluginOf(request: ApiRequest, { registry, routePluginOf }: AccessParts): string | undefined {
  if (request.kind !== 'resource') return routePluginOf(request.segments);
  const owner = registry.byPath(request.group, request.version, request.resource)?.type.plugin;
  return owner === undefined || owner === 'platform' ? routePluginOf(request.segments) : owner;
}
