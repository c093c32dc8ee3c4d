import type { Strategy } from '../../command/strategy.ts';
import { platformTypes, compilePlatformTypes } from '../../auth/types/platform-types.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { compileType, typeKeyOf } from '../../resource/type/type-declaration.ts';
import { decideShipped } from '../objects/decide-shipped.ts';
import { pluginStrategy, pluginTypeDeclaration } from '../objects/plugin-type.ts';
import type { FiledObject } from './check-files.ts';
import type { PluginProblem } from './plugin-problem.ts';

export type ObjectsCheck = {
  readonly plugin: string;
  readonly domain: string;
  readonly types: readonly ResourceType[];
};

/**
 * Returns the problems of objects with a type of the plugin or of the platform. For other objects, returns the problems
 * that `missingType` finds.
 */
export function checkObjects(objects: readonly FiledObject[], check: ObjectsCheck): readonly PluginProblem[] {
  const types = [...check.types, ...platformResourceTypes(check.domain)];
  const all = types.flatMap((type) => type.versions?.served ?? [type]);
  const strategies = strategiesOf(check.domain);
  return objects.flatMap((filed) => {
    const { apiVersion, kind } = filed.object;
    const type = all.find((known) => known.apiVersion === apiVersion && known.kind === kind);
    return type === undefined ? missingType(filed, check) : violationsOf(filed, type, { check, strategies });
  });
}

type Strategies = ReadonlyMap<string, Strategy>;

type ObjectCheck = {
  readonly check: ObjectsCheck;
  readonly strategies: Strategies;
};

function violationsOf(
  { file, object, lineOf }: FiledObject,
  type: ResourceType,
  { check: { plugin, domain }, strategies }: ObjectCheck,
): readonly PluginProblem[] {
  const decision = decideShipped(object, type, {
    plugin,
    domain,
    now: '2000-01-01T00:00:00.000Z',
    strategy: strategies.get(type.key),
  });
  if (decision.ok) return [];
  const { rejection } = decision;
  if (rejection.reason !== 'invalid') return [{ file, line: lineOf(''), text: rejection.detail }];
  return rejection.violations.map(({ pointer, detail }) => {
    const found = detail.startsWith('must') ? valueAt(object, pointer) : undefined;
    const member = pointer === '' ? '' : `${pointer.slice(1).replaceAll('/', '.')}: `;
    return {
      file,
      line: lineOf(pointer),
      text: `${member}${detail}${found === undefined ? '' : `, is ${shortJson(found)}`}`,
    };
  });
}

/**
 * Reports a missing type in the core group or in a group of this plugin, because the name of the type is probably
 * wrong. A type in another group may belong to another plugin.
 */
function missingType({ file, object, lineOf }: FiledObject, { types }: ObjectsCheck): readonly PluginProblem[] {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return [];
  const near = types.filter(({ group }) => group === apiVersion.split('/', 1)[0]);
  if (near.length === 0 && apiVersion.includes('/')) return [];
  const known = near.map((type) => `${type.kind} of ${type.apiVersion}`).join(', ');
  const other = known === '' ? '' : `; the plugin has ${known}`;
  return [{ file, line: lineOf('/kind'), text: `the type ${kind} of ${apiVersion} does not exist${other}` }];
}

function platformResourceTypes(domain: string): readonly ResourceType[] {
  const plugin = compileType(pluginTypeDeclaration(domain), { plugin: 'platform', bundled: true, domain });
  return [...compilePlatformTypes(domain), ...(plugin.ok ? [plugin.type] : [])];
}

function strategiesOf(domain: string): Strategies {
  const { group, plural } = pluginTypeDeclaration(domain);
  return new Map<string, Strategy>([
    ...platformTypes(domain).map(
      ({ declaration, strategy }) => [typeKeyOf(declaration.group, declaration.plural), strategy] as const,
    ),
    [typeKeyOf(group, plural), pluginStrategy] as const,
  ]);
}
