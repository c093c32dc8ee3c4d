import type { Decision } from '../../command/decide.ts';
import type { Strategy } from '../../command/strategy.ts';
import { decideInVersion } from '../../command/versions/preferred-command.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

export type ShippedDecision = {
  readonly plugin: string;
  readonly domain: string;
  /** The time in RFC 3339, in UTC and with milliseconds. */
  readonly now: string;
  readonly strategy: Strategy | undefined;
};

/**
 * Decides the creation of a plugin's object by its type alone: schema, rules, conversion and hooks. Needs no server and
 * no other object. `type` may be the type in any of its served versions.
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
