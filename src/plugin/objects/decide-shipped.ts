import type { Decision } from '../../command/decide.ts';
import type { Strategy } from '../../command/strategy.ts';
import { decideInVersion } from '../../command/versions/preferred-command.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

export type ShippedDecision = {
  readonly plugin: string;
  readonly domain: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
  readonly strategy: Strategy | undefined;
};

/**
 * Decides whether a plugin's object is valid according to its type: schema, rules, conversion and hooks. Needs no
 * server and no other object. `type` is one of the served versions of the type.
 */
export function decideShipped(
  object: JsonObject,
  type: ResourceType,
  { plugin, domain, now, strategy }: ShippedDecision,
): Decision {
  const { preferred } = type;
  return decideInVersion(
    { kind: 'absent' },
    { type: 'create', object },
    {
      type: preferred ?? type,
      now,
      uid: '00000000-0000-4000-8000-000000000000',
      suffix: 'aaaaa',
      domain,
      origin: 'plugin',
      fieldValidation: undefined,
      subject: { kind: 'plugin', name: plugin },
      strategy,
    },
    preferred === undefined ? undefined : type,
  );
}
