import { shortJson } from '../../resource/schema/schema-violations.ts';
import { valueAt } from '../../resource/object/pointed-value.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import type { LoadedPlugin } from '../load/load-plugin.ts';
import type { ShippedObject } from './shipped-objects.ts';
import type { TypeRegistry } from '../registry/type-registry.ts';

export type ShippedProblemsDependencies = ApplyDependencies & { readonly registry: Pick<TypeRegistry, 'all'> };

/** Past it the rest is not looked for: who mends these sends the package again. */
const toldMax = 16;

/**
 * What keeps a plugin's objects from being applied, found before anything of it is: by the types of this very version, and by
 * those of the platform and of other plugins as they are. Only what is wrong with an object itself counts: what may be
 * otherwise by then (a unique value that is taken, a type of others that is not there yet) is told in the plugin's status.
 */
export async function shippedProblems(plugin: string, { types, objects }: Pick<LoadedPlugin, 'types' | 'objects'>, dependencies: ShippedProblemsDependencies): Promise<readonly string[]> {
  const all = [...types, ...dependencies.registry.all().filter(({ type }) => type.plugin !== plugin).map(({ type }) => type)];
  const problems: string[] = [];
  for (const shipped of objects) {
    const type = all.find(({ apiVersion, kind }) => apiVersion === shipped.apiVersion && kind === shipped.kind);
    if (type !== undefined) problems.push(...await problemsOf(shipped, { plugin, type }, dependencies));
    else problems.push(...missingType(shipped, types));
    if (problems.length >= toldMax) break;
  }
  return problems;
}

/** In a group of the plugin's own there is nobody to bring the type later. */
function missingType({ file, apiVersion, kind }: ShippedObject, types: readonly ResourceType[]): readonly string[] {
  const near = types.filter(({ group }) => group === apiVersion.split('/', 1)[0]);
  return near.length === 0 ? [] : [`${file}: there is no type ${kind} of ${apiVersion}: the plugin has ${near.map((type) => `${type.kind} of ${type.apiVersion}`).join(', ')}`];
}

async function problemsOf({ file, kind, name, object }: ShippedObject, { plugin, type }: { readonly plugin: string; readonly type: ResourceType }, dependencies: ShippedProblemsDependencies): Promise<readonly string[]> {
  const applied = await applyObject({ type, name, object, subject: { kind: 'plugin', name: plugin }, plugin, origin: 'plugin', dryRun: true }, dependencies);
  const rejection = applied.ok ? undefined : applied.rejection;
  if (rejection?.reason !== 'invalid') return [];
  return rejection.violations.map(({ pointer, detail }) => {
    const found = detail.startsWith('must') ? valueAt(object, pointer) : undefined;
    return `${file}: ${kind} ${name}: ${pointer === '' ? '' : `${pointer.slice(1).replaceAll('/', '.')} `}${detail}${found === undefined ? '' : `, is ${shortJson(found)}`}`;
  });
}
