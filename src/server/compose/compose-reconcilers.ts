import { randomUUID } from 'node:crypto';

import { Bindings } from '../../../reconcilers/platform/bindings.ts';
import { Claims } from '../../../reconcilers/platform/unique-claims.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import { FailureLines } from '../../../reconcilers/failure-lines.ts';
import { OwnerReferences } from '../../../reconcilers/platform/owner-references.ts';
import { ReferenceFollower } from '../../../reconcilers/references/reference-follower.ts';
import { RoleHealth } from '../../../reconcilers/platform/role-health.ts';
import { Tokens } from '../../../reconcilers/platform/tokens.ts';
import { roleBindingKey, roleKey, tokenKey, typesWithoutOwners, userKey } from '../../auth/types/platform-types.ts';
import { bindingsFinalizer } from '../../auth/types/user-type.ts';
import { must } from '../../base/unreachable.ts';
import { claimedValueOf, claimStream, reconcileClaim } from '../../write/unique/unique-claims.ts';
import { eventSchema, type CausingEvent, type EventMetadata } from '../../command/event.ts';
import { actorOf } from '../../command/subject.ts';
import type { DependentReader } from '../../read/operation/dependents.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Core } from './core.ts';

export type Reconcilers = {
  /** Must be called after the read models have caught up and the platform's types can be listed. */
  open(): void;
  stop(): Promise<void>;
  readonly dependents: DependentReader;
};

/** The dependencies of all platform reconcilers. */
function givenTo({ models, edge: { clock, log }, execute, bound, leadership }: Core) {
  return {
    changes: models,
    reader: models,
    execute,
    bound,
    leadership,
    clock,
    uuid: randomUUID,
    logAs: (what: string) => {
      const lines = new FailureLines(clock, (message, fields) => {
        log.error(message, fields);
      });
      return (error: unknown, key: string, attempts = 1): void => {
        lines.failed(what, { key, attempts }, () => ({ key, attempts, error: String(error) }));
      };
    },
  };
}

export function composeReconcilers(core: Core): Reconcilers {
  const { registry } = core;
  const given = givenTo(core);
  const lookUps = {
    types: (key: TypeKey) => registry.byKey(key)?.type,
    serving: () =>
      registry
        .all()
        .filter(({ serving }) => serving)
        .map(({ type }) => type),
  };
  const collector = new Collector({
    ...given,
    ...lookUps,
    onError: given.logAs('could not remove a marked object; retrying'),
  });
  const owners = new OwnerReferences({
    ...given,
    ...lookUps,
    onError: given.logAs('could not reconcile the owner references of an object; retrying'),
    withoutOwners: typesWithoutOwners,
    typeOfKind: (group, kind) => registry.byKind(group, kind)?.type,
  });
  const references = new ReferenceFollower({
    ...given,
    ...lookUps,
    references: core.models.references,
    domain: core.edge.domain,
    onError: given.logAs('could not reconcile the references of an object; retrying'),
  });
  const claims = composeClaims(core, lookUps.types);
  const accounts = composeAccountReconcilers(core);
  const unsubscribe = registry.subscribe(({ type }, change) => {
    if (change !== 'serving') return;
    collector.enqueueAll(type);
    void owners.serve(type);
    references.serve(type);
  });
  return {
    dependents: owners,
    open: () => {
      for (const reconciler of [collector, claims, references, ...accounts]) reconciler.open();
      owners.open();
    },
    stop: async () => {
      unsubscribe();
      await Promise.all(
        [collector, owners, claims, references, ...accounts].map(async (reconciler) => reconciler.stop()),
      );
    },
  };
}

/** The reconcilers of roles, bindings and tokens. */
function composeAccountReconcilers(core: Core): readonly { open(): void; stop(): Promise<void> }[] {
  const {
    registry,
    eventLog,
    accessTables: { permissions },
    edge: { domain },
  } = core;
  const given = givenTo(core);
  const typeOf = (key: TypeKey): ResourceType =>
    must(registry.byKey(key), `${key} is one of the platform's types`).type;
  const types = {
    users: typeOf(userKey),
    roleBindings: typeOf(roleBindingKey),
    roles: typeOf(roleKey),
    tokens: typeOf(tokenKey),
  };
  return [
    new Bindings({
      ...given,
      ...types,
      log: eventLog,
      finalizer: bindingsFinalizer(domain),
      onError: given.logAs('could not remove a deleted user from role bindings; retrying'),
    }),
    new RoleHealth({ ...given, ...types, domain, onError: given.logAs('could not reconcile a role; retrying') }),
    new Tokens({ ...given, ...types, permissions, onError: given.logAs('could not reconcile a token; retrying') }),
  ];
}

/** Returns a function that creates the metadata of an event without a request. */
export function metadataOf(
  part: string,
  { models, edge: { clock } }: Pick<Core, 'models' | 'edge'>,
): (cause?: CausingEvent) => EventMetadata {
  return (cause) => {
    const requestId = randomUUID();
    const time = new Date(Math.max(clock.now(), models.lastTime())).toISOString();
    return {
      actor: actorOf({ kind: 'platform', part }),
      verb: 'update',
      requestId,
      time,
      schema: eventSchema,
      $correlationId: cause?.correlationId ?? requestId,
      ...(cause === undefined ? {} : { $causationId: cause.id }),
    };
  };
}

function composeClaims(core: Core, types: (key: TypeKey) => ResourceType | undefined): Claims {
  const { eventLog: log } = core;
  const given = givenTo(core);
  const { clock, uuid } = given;
  const metadata = metadataOf('claims', core);
  return new Claims({
    ...given,
    log,
    types,
    streamOf: claimStream,
    onError: given.logAs('could not reconcile a claim; retrying'),
    settle: async (stream, { fenceOf, cause }) => {
      const claimed = must(claimedValueOf(stream), `${stream} is a claim stream`);
      const step = { log, clock, uuid, metadata: () => metadata(cause) };
      return reconcileClaim(step, { stream, value: claimed.value, fenceOf });
    },
  });
}
