import type { Rejection } from '../../command/rejection.ts';
import type { JsonObject } from '../../resource/object/object.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import { targetKey } from '../../resource/references/named-targets.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { missingTarget } from '../../write/references/reference-refusals.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import { decideShipped } from './decide-shipped.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import type { ShippedObject } from './shipped-objects.ts';
import { pointersTo } from './shipped-references.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type ShippedProblemsDependencies = ApplyDependencies & { readonly registry: Pick<TypeRegistry, 'all'> };

/** The number of problems at which the check of further objects ends. */
const problemsReportedMax = 16;

/**
 * Returns the problems of a plugin's objects, before any object is applied. The objects are checked against the types
 * of this version of the plugin, of the platform and of other plugins. A reference may name an object that the plugin
 * ships. A problem that may be resolved later is not returned, for example a missing type of another plugin, or a
 * unique value that another object holds.
 */
export async function shippedProblems(
  plugin: string,
  { types, objects }: Pick<LoadedPlugin, 'types' | 'objects'>,
  dependencies: ShippedProblemsDependencies,
): Promise<readonly string[]> {
  const all = [
    ...types,
    ...dependencies.registry
      .all()
      .filter(({ type }) => type.plugin !== plugin)
      .map(({ type }) => type),
  ].flatMap((type) => type.versions?.served ?? [type]);
  const typed = objects.map((shipped) => ({
    shipped,
    type: all.find(({ apiVersion, kind }) => apiVersion === shipped.apiVersion && kind === shipped.kind),
  }));
  const created = new Set(
    typed.flatMap(({ shipped, type }) => (type === undefined ? [] : [targetKey(type.key, shipped.name)])),
  );
  const problems: string[] = [];
  for (const { shipped, type } of typed) {
    if (type !== undefined) problems.push(...(await problemsOf(shipped, { plugin, type, created }, dependencies)));
    else problems.push(...missingType(shipped, types));
    if (problems.length >= problemsReportedMax) break;
  }
  return problems;
}

/**
 * Reports a missing type in a group in which the plugin has other types, because the name of the type is probably
 * wrong. A type in another group may belong to a plugin that starts later.
 */
function missingType({ file, apiVersion, kind }: ShippedObject, types: readonly ResourceType[]): readonly string[] {
  const near = types.filter(({ group }) => group === apiVersion.split('/', 1)[0]);
  return near.length === 0
    ? []
    : [
        `${file}: the type ${kind} of ${apiVersion} does not exist; the plugin has ` +
          near.map((type) => `${type.kind} of ${type.apiVersion}`).join(', '),
      ];
}

/**
 * Returns the rejection of an object of the plugin's own types by the type alone. A dry run may not find this
 * rejection, because before an upgrade the server may refuse all writes to a changed type.
 */
function decidedAlone(
  object: JsonObject,
  { type, plugin }: Checked,
  { domain, clock }: ShippedProblemsDependencies,
): Rejection | undefined {
  if (type.plugin !== plugin) return undefined;
  const decision = decideShipped(object, type, {
    plugin,
    domain,
    now: new Date(clock.now()).toISOString(),
    strategy: undefined,
  });
  return decision.ok ? undefined : decision.rejection;
}

type Checked = {
  readonly plugin: string;
  readonly type: ResourceType;
  /** The keys (`targetKey`) of the objects that the plugin ships, to which references may point. */
  readonly created: ReadonlySet<string>;
};

async function problemsOf(
  { file, kind, name, object }: ShippedObject,
  checked: Checked,
  dependencies: ShippedProblemsDependencies,
): Promise<readonly string[]> {
  const { plugin, type, created } = checked;
  const applied = await applyObject(
    {
      type,
      name,
      object,
      subject: { kind: 'plugin', name: plugin },
      plugin,
      origin: 'plugin',
      dryRun: true,
    },
    dependencies,
  );
  const rejection = decidedAlone(object, checked, dependencies) ?? (applied.ok ? undefined : applied.rejection);
  if (rejection?.reason !== 'invalid') return [];
  const resolved = pointersTo(created, { type, name, object });
  const violations = rejection.violations.filter(
    ({ pointer, detail }) => !(detail.startsWith(missingTarget) && resolved.has(pointer)),
  );
  return violations.map(({ pointer, detail }) => {
    const isExplained = !detail.startsWith('must') || detail.startsWith(missingTarget);
    const found = isExplained ? undefined : valueAt(object, pointer);
    const member = pointer === '' ? '' : `${pointer.slice(1).replaceAll('/', '.')} `;
    return `${file}: ${kind} ${name}: ${member}${detail}${found === undefined ? '' : `, is ${shortJson(found)}`}`;
  });
}
