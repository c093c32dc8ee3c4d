import { isObject } from '../../base/guards.ts';
import type { NotAuthenticated } from '../../auth/authentication/authenticated.ts';
import type { From } from '../../auth/authentication/authenticator.ts';
import { userKey } from '../../auth/types/platform-types.ts';
import { deepEqual } from '../../base/json.ts';
import type { Command, WriteContext, WriteOutcome } from '../../command/command.ts';
import { notFound } from '../../command/refuse.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import { nameProblem } from '../../resource/type/names.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import type { Violation } from '../../resource/type/resource-type.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import { refusal, type Answer } from '../answer.ts';
import { decodePasswordChange, invalidBody } from '../body/decode-request-body.ts';
import { preconditionsOf, writeContext, type JsonMembers } from '../resources/decode-write.ts';
import { fromOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { getItem, refuseAbsent, written, type ItemTarget, type ResourcePorts } from '../resources/item.ts';
import { platformType, platformApiVersion, refuseConfined } from './platform-type.ts';
import { problem } from '../problem.ts';
import { readObject } from '../body/read-object.ts';
import type { RefusalLog } from '../refusal-log.ts';

/** Verifies a password. Failures count towards the same limits as failed log-ins. */
export type VerifyPassword = (
  username: string,
  password: string,
  from: From,
) => Promise<{ readonly ok: true } | NotAuthenticated>;

export type AccountRoutesDependencies = ResourcePorts & {
  readonly domain: string;
  readonly registry: TypeRegistry;
  readonly verifyPassword: VerifyPassword;
  readonly refusals: Pick<RefusalLog, 'logInFailed'>;
};

/** Creates the routes for the caller's own User. The name `-` means the caller; no other name is served. */
export function accountRoutes({
  domain,
  registry,
  verifyPassword,
  refusals,
  ...ports
}: AccountRoutesDependencies): readonly PlatformRoute[] {
  const path = `/apis/uc.api.${domain}/${platformApiVersion}/users/-`;
  const own =
    (serve: (exchange: Exchange, target: ItemTarget) => Answer | Promise<Answer>): PlatformRoute['route'] =>
    (_params, exchange) => {
      const served = platformType(registry, userKey);
      if (!served.ok) return served.answer;
      const { subject } = exchange;
      if (subject.kind !== 'user') return refusal(problem('not-found', 'only authenticated users have an account'));
      const { type } = served;
      return nameProblem(subject.name) === undefined
        ? serve(exchange, { type, name: subject.name })
        : refusal(problem('not-found', notFound(type, subject.name)));
    };
  return [
    { method: 'GET', path, route: own((exchange, target) => getItem(exchange, target, ports)) },
    {
      method: 'PUT',
      path,
      route: own(
        async (exchange, target) =>
          refuseConfined(exchange) ?? putAccount(exchange, target, { ports, passwordPath: `${path}/password` }),
      ),
    },
    {
      method: 'PUT',
      path: `${path}/password`,
      route: own(
        async (exchange, target) =>
          refuseConfined(exchange) ?? putPassword(exchange, target, { ports, verifyPassword, refusals }),
      ),
    },
  ];
}

type Putting = { readonly ports: ResourcePorts; readonly passwordPath: string };

/**
 * Replaces the caller's User. Clients usually send a modified copy of the response. So members that the caller may not
 * change can be present, but must be unchanged.
 */
async function putAccount(exchange: Exchange, target: ItemTarget, { ports, passwordPath }: Putting): Promise<Answer> {
  const absent = await refuseAbsent(exchange, target, ports);
  if (absent !== undefined) return absent;
  const body = await readObject(exchange);
  if (!body.ok) return body.answer;
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const stored = ports.reader.get(target.type.key, target.name);
  if (stored === undefined) return refusal(problem('not-found', notFound(target.type, target.name)));
  const current = storedObject(stored.bytes);
  const violations = changesRefused(body.value, current, passwordPath);
  const command: Command = {
    type: 'patch',
    name: target.name,
    patch: { kind: 'merge', document: accountPatch(body.value, current) },
    part: 'main',
    preconditions: preconditionsOf(exchange),
  };
  const outcome = await ports.execute(target.type, command, {
    ...context.value,
    isOwn: true,
    dryRun: context.value.dryRun || violations.length > 0,
  });
  return violations.length === 0 ? written(outcome, target) : refusedChanges(outcome, target, violations);
}

/**
 * Returns the refusal of forbidden changes. If the dry run fails for another reason, such as a stale version, returns
 * that refusal instead, because a concurrent change may have caused the difference from the stored object.
 */
function refusedChanges(outcome: WriteOutcome, target: ItemTarget, violations: readonly Violation[]): Answer {
  if (!outcome.ok && outcome.rejection.reason !== 'invalid') return written(outcome, target);
  const more = !outcome.ok && 'violations' in outcome.rejection ? outcome.rejection.violations : [];
  return refusal({
    ...invalidBody(`${target.type.kind} "${target.name}"`, [...violations, ...more]),
    about: { kind: target.type.kind, name: target.name },
  });
}

const administered = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Members of the spec that the caller must not change. */
const attested = ['emailVerified', 'registeredAt', 'twoFactorAuthEnabled', 'loginHistoryLimit'] as const;

/** The members that the caller may change. A replacement that omits a member removes the member. */
const ownMembers = { displayName: null, email: null, avatar: null, bio: null, phone: null };

const unchangeable = 'cannot be changed by the user: omit the member or leave it unchanged';

/** Returns a violation for each change that the caller may not make. Absent members count as unchanged. */
function changesRefused(
  { metadata, spec }: JsonMembers,
  current: ResourceObject,
  passwordPath: string,
): readonly Violation[] {
  const violations = administered
    .filter((member) => differs(isObject(metadata) ? metadata[member] : undefined, current.metadata[member]))
    .map((member) => ({ pointer: `/metadata/${member}`, detail: unchangeable }));
  if (spec === undefined) return [...violations, { pointer: '/spec', detail: 'is required' }];
  if (!isObject(spec)) return violations;
  if (spec['password'] !== undefined)
    violations.push({
      pointer: '/spec/password',
      detail: `must be changed at ${passwordPath}, with the current password`,
    });
  const stored = isObject(current['spec']) ? current['spec'] : {};
  const isDisabled = stored['disabled'] === true;
  if (spec['disabled'] !== undefined && spec['disabled'] !== isDisabled)
    violations.push({ pointer: '/spec/disabled', detail: unchangeable });
  for (const member of attested) {
    if (differs(spec[member], stored[member])) violations.push({ pointer: `/spec/${member}`, detail: unchangeable });
  }
  return violations;
}

/**
 * Returns whether a given value differs from the stored value. An absent or null value does not differ. An empty object
 * or list equals an absent stored value.
 */
function differs(given: unknown, stored: unknown): boolean {
  if (given === undefined || given === null || deepEqual(given, stored)) return false;
  return stored !== undefined || typeof given !== 'object' || Object.keys(given).length > 0;
}

/**
 * Converts the replacement to a merge patch, so that concurrent changes by an administrator remain. A changed email
 * address loses its verification.
 */
function accountPatch({ metadata, spec, status: _status, ...rest }: JsonMembers, current: ResourceObject): JsonMembers {
  const email = isObject(current['spec']) ? current['spec']['email'] : undefined;
  return {
    ...rest,
    ...(metadata === undefined ? {} : { metadata: without(metadata, administered) }),
    ...(spec === undefined
      ? {}
      : {
          spec: isObject(spec)
            ? {
                ...ownMembers,
                ...without(spec, ['disabled', 'password', ...attested]),
                ...((spec['email'] ?? undefined) === email ? {} : { emailVerified: null }),
              }
            : spec,
        }),
  };
}

function without<T>(value: T, left: readonly string[]): T {
  if (!isObject(value)) return value;
  const kept = { ...value };
  for (const member of left) Reflect.deleteProperty(kept, member);
  return kept;
}

type Rekeying = Pick<AccountRoutesDependencies, 'verifyPassword' | 'refusals'> & { readonly ports: ResourcePorts };

/**
 * Changes the caller's password. The platform is the subject of the write, because the current password authorizes the
 * change, and no role is required.
 */
async function putPassword(
  exchange: Exchange,
  target: ItemTarget,
  { ports, verifyPassword, refusals }: Rekeying,
): Promise<Answer> {
  const { type, name } = target;
  const stored = ports.reader.get(type.key, name);
  if (stored === undefined) return refusal(problem('not-found', notFound(type, name)));
  const body = await readObject(exchange);
  if (!body.ok) return body.answer;
  const context = writeContext(exchange);
  if (!context.ok) return refusal(context.problem);
  const change = decodePasswordChange(body.value);
  if (!change.ok) return refusal(change.problem);
  const verified = await verifyPassword(name, change.value.currentPassword, fromOf(exchange));
  if (!verified.ok) {
    const {
      requestId,
      sender: { address },
    } = exchange;
    if (verified.reason !== 'unavailable')
      refusals.logInFailed({ requestId, address, reason: verified.detail, username: name });
    return refusedPassword(verified);
  }
  // The patch requires the uid and version from before the verification, so it overwrites no later change of the User.
  const {
    metadata: { uid },
  } = storedObject(stored.bytes);
  const document = {
    metadata: { uid, resourceVersion: stored.position.toString() },
    spec: { password: change.value.password },
  };
  const asPlatform: WriteContext = {
    ...context.value,
    subject: { kind: 'platform', part: 'account' },
    chargedTo: exchange.subject,
    isOwn: true,
  };
  return passwordAnswer(
    await ports.execute(
      type,
      {
        type: 'patch',
        name,
        patch: { kind: 'merge', document },
        part: 'main',
        preconditions: preconditionsOf(exchange),
      },
      asPlatform,
    ),
    target,
  );
}

function refusedPassword(refused: NotAuthenticated): Answer {
  if (refused.reason === 'unauthorized')
    return refusal(invalidBody('the password change', [{ pointer: '/currentPassword', detail: 'is wrong' }]));
  return refusal(problem(refused.reason, refused.detail, { retryAfterSeconds: refused.retryAfterSeconds }));
}

/** Returns the response. A violation of the new password points to the member of the request body. */
function passwordAnswer(outcome: WriteOutcome, target: ItemTarget): Answer {
  if (outcome.ok || outcome.rejection.reason !== 'invalid') return written(outcome, target);
  const violations = outcome.rejection.violations.map((violation) =>
    violation.pointer === '/spec/password' ? { ...violation, pointer: '/password' } : violation,
  );
  return refusal(invalidBody('the password change', violations));
}
