import { isObject } from '../../base/guards.ts';
import { targetKey, type NamedTarget } from '../../resource/references/named-targets.ts';
import { nearWord } from '../../resource/schema/suggestions.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { namesIn } from '../objects/shipped-references.ts';
import type { FiledObject } from './check-files.ts';
import type { PluginProblem } from './plugin-problem.ts';

type Shipped = {
  readonly filed: FiledObject;
  readonly type: ResourceType;
  readonly name: string;
};

/**
 * Returns warnings about references to objects of the plugin's own types that the plugin does not ship. The referenced
 * object may exist on the server.
 */
export function checkReferences(
  objects: readonly FiledObject[],
  types: readonly ResourceType[],
): readonly PluginProblem[] {
  const served = types.flatMap((type) => type.versions?.served ?? [type]);
  const shipped = objects.flatMap((filed): readonly Shipped[] => {
    const { apiVersion, kind, metadata } = filed.object;
    const type = served.find((known) => known.apiVersion === apiVersion && known.kind === kind);
    const name = isObject(metadata) ? metadata['name'] : undefined;
    return type === undefined || typeof name !== 'string' ? [] : [{ filed, type, name }];
  });
  const present = new Set(shipped.map(({ type, name }) => targetKey(type.key, name)));
  return shipped.flatMap(({ filed, type }) =>
    namesIn({ type, object: filed.object }).flatMap((named) => {
      const target = types.find(({ key }) => key === named.declared.to);
      return target === undefined || named.target === undefined || present.has(named.target)
        ? []
        : [warningOf(named, filed, { target, shipped })];
    }),
  );
}

function warningOf(
  { declared: { onMissing }, name, pointer }: NamedTarget,
  { file, lineOf }: FiledObject,
  { target, shipped }: { readonly target: ResourceType; readonly shipped: readonly Shipped[] },
): PluginProblem {
  const known = shipped.filter(({ type }) => type.key === target.key).map((each) => each.name);
  const near = nearWord(name, known);
  const meant = near === undefined ? '' : `did you mean ${JSON.stringify(near)}? `;
  const effect =
    onMissing === 'refuse'
      ? 'A server without this object refuses the plugin'
      : 'On a server without this object, the reference has no target';
  return {
    file,
    line: lineOf(pointer),
    text:
      `${pointer.slice(1).replaceAll('/', '.')}: the plugin ships no ${target.kind} ${JSON.stringify(name)}; ` +
      `${meant}${effect}`,
    isWarning: true,
  };
}
