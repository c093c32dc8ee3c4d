import { randomUUID } from 'node:crypto';

import { Authenticator } from '../../../auth/authentication/authenticator.ts';
import type { UnfoldedWrites } from '../../../auth/authentication/unfolded-writes.ts';
import { createUseRecorder, type UseRecorderDependencies } from '../../../auth/authentication/use-recorder.ts';
import type { GatedPermissions } from '../../../auth/authorization/gated-permissions.ts';
import { sessionKey, tokenKey } from '../../../auth/types/platform-types.ts';
import { must } from '../../../base/unreachable.ts';
import { sessionUseRecordMs, tokenUseRecordMs } from '../../../limits/access.ts';
import type { TypeKey } from '../../../resource/type/index-entry.ts';
import type { ResourceType } from '../../../resource/type/resource-type.ts';
import type { Core } from '../core.ts';
import type { Provider } from './compose-provider.ts';

type AuthenticatorParts = {
  readonly gated: GatedPermissions;
  readonly unfoldedWrites: UnfoldedWrites;
  readonly provider: Provider;
};

export function composeAuthenticator(
  parts: Core,
  { gated, unfoldedWrites, provider }: AuthenticatorParts,
): Authenticator {
  const {
    accessTables: { passwords, secrets },
    edge: { clock },
  } = parts;
  return new Authenticator({
    secrets,
    passwords,
    permissions: gated,
    clock,
    unfoldedWrites,
    oidc: provider.verifier,
    issuer: provider.issuer,
    recordUse: {
      token: recorderOf(parts, { key: tokenKey, part: 'tokens', intervalMs: tokenUseRecordMs }),
      session: recorderOf(parts, { key: sessionKey, part: 'sessions', intervalMs: sessionUseRecordMs }),
    },
  });
}

type RecordedUse = Pick<UseRecorderDependencies, 'part' | 'intervalMs'> & { readonly key: TypeKey };

function recorderOf(parts: Core, { key, ...recorded }: RecordedUse): (name: string) => void {
  const {
    models,
    execute,
    edge: { clock, log },
  } = parts;
  const type = typeOf(parts, key);
  return createUseRecorder({
    ...recorded,
    execute,
    reader: models,
    type,
    clock,
    uuid: randomUUID,
    onError: (error) => {
      log.error(`could not record the last use of a ${type.singular}`, { error: String(error) });
    },
  });
}

export function typeOf({ registry }: Pick<Core, 'registry'>, key: TypeKey): ResourceType {
  return must(registry.byKey(key), `${key} is one of the platform's types`).type;
}
