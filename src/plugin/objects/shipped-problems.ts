import { shortJson } from '../../resource/schema/schema-violations.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import type { ShippedObject } from './shipped-objects.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type ShippedProblemsDependencies = ApplyDependencies & { readonly registry: Pick<TypeRegistry, 'all'> };

/** The number of problems at which the check of further objects ends. */
const problemsReportedMax = 16;

/**
 * Returns the problems of a plugin's objects, before any object is applied. The objects are checked against the types
 * of this version of the plugin, and against the present types of the platform and of other plugins. Only problems of
 * the objects themselves are returned. Problems that may be resolved later, such as a unique value of another object or
 * a missing type of another plugin, are reported in the plugin's status.
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
  const problems: string[] = [];
  for (const shipped of objects) {
    const type = all.find(({ apiVersion, kind }) => apiVersion === shipped.apiVersion && kind === shipped.kind);
    if (type !== undefined) problems.push(...(await problemsOf(shipped, { plugin, type }, dependencies)));
    else problems.push(...missingType(shipped, types));
    if (problems.length >= problemsReportedMax) break;
  }
  return problems;
}

/** Reports a missing type if its group belongs to this plugin, because other plugins cannot add types to the group. */
function missingType({ file, apiVersion, kind }: ShippedObject, types: readonly ResourceType[]): readonly string[] {
  const near = types.filter(({ group }) => group === apiVersion.split('/', 1)[0]);
  return near.length === 0
    ? []
    : [
        `${file}: the type ${kind} of ${apiVersion} does not exist; the plugin has ` +
          near.map((type) => `${type.kind} of ${type.apiVersion}`).join(', '),
      ];
}

async function problemsOf(
  { file, kind, name, object }: ShippedObject,
  { plugin, type }: { readonly plugin: string; readonly type: ResourceType },
  dependencies: ShippedProblemsDependencies,
): Promise<readonly string[]> {
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
  const rejection = applied.ok ? undefined : applied.rejection;
  if (rejection?.reason !== 'invalid') return [];
  return rejection.violations.map(({ pointer, detail }) => {
    const found = detail.startsWith('must') ? valueAt(object, pointer) : undefined;
    const member = pointer === '' ? '' : `${pointer.slice(1).replaceAll('/', '.')} `;
    return `${file}: ${kind} ${name}: ${member}${detail}${found === undefined ? '' : `, is ${shortJson(found)}`}`;
  });
}
