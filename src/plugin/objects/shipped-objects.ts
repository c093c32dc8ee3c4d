import { isObject } from '../../base/guards.ts';
import { pluginObjectsMax } from '../../limits/plugins.ts';
import { nameProblem } from '../../resource/type/names.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { FileText } from '../folders/plugin-folder.ts';
import { yamlDocuments } from './yaml-documents.ts';

/** An object that a plugin ships in a YAML file. */
export type ShippedObject = {
  /** The path of the file in the plugin's folder. */
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly object: JsonObject;
  /** Whether the object is starter content: the plugin creates it once, and users may then change or delete it. */
  readonly isCreatedOnce: boolean;
};

/** Returns the name of the annotation that marks starter content with the value "true". */
export function createOnceKey(domain: string): string {
  return `plugin.${domain}/create-once`;
}

export type ShippedObjects =
  | { readonly ok: true; readonly objects: readonly ShippedObject[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type Reader = {
  readonly plugin: string;
  readonly domain: string;
};

/**
 * Decodes all objects in a plugin's files. If any document is invalid, returns no objects, so that the plugin's objects
 * are not applied in part.
 */
export function decodeShippedObjects(
  files: readonly { readonly path: string; readonly file: FileText }[],
  reader: Reader,
): ShippedObjects {
  const problems: string[] = [];
  const objects = new Map<string, ShippedObject>();
  for (const { path, file } of files) {
    const yaml = file.ok ? yamlDocuments(file.text, reader.domain) : file;
    if (!yaml.ok) {
      problems.push(`${path}: ${yaml.problem}`);
      continue;
    }
    for (const [index, document] of yaml.documents.entries()) {
      const at = `${path}, document ${String(index + 1)}`;
      const decoded = decodeDocument(document, path, reader);
      if (typeof decoded === 'string') {
        problems.push(`${at}: ${decoded}`);
        continue;
      }
      const key = `${decoded.apiVersion} ${decoded.kind} ${decoded.name}`;
      if (objects.has(key))
        problems.push(`${at}: ${decoded.kind} ${decoded.name} is declared twice in the shipped objects`);
      objects.set(key, decoded);
    }
  }
  if (objects.size > pluginObjectsMax)
    problems.push(`a plugin can ship at most ${String(pluginObjectsMax)} objects; found ${String(objects.size)}`);
  return problems.length === 0 ? { ok: true, objects: [...objects.values()] } : { ok: false, problems };
}

/**
 * The kinds with secrets. A plugin cannot ship objects of these kinds, because its files and the annotation with the
 * last applied object would contain the secrets.
 */
const unshippableKinds = new Set(['User', 'PersonalAccessToken', 'Session']);

function decodeDocument(document: JsonValue, file: string, { plugin, domain }: Reader): ShippedObject | string {
  if (!isObject(document)) return 'must be an object';
  const { apiVersion, kind, metadata } = document;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'apiVersion must be a string';
  if (typeof kind !== 'string' || kind === '') return 'kind must be a string';
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string')
    return `${kind} must have metadata.name (generateName would create another object at each start)`;
  const once = createOnceOf(metadata, domain);
  const problem =
    namingProblem(document, name, { plugin, domain }) ??
    (typeof once === 'string' ? once : secretProblem(apiVersion, kind));
  return problem === undefined
    ? { file, apiVersion, kind, name, object: document, isCreatedOnce: once === true }
    : `${kind} ${JSON.stringify(name)}: ${problem}`;
}

function secretProblem(apiVersion: string, kind: string): string | undefined {
  return !apiVersion.includes('/') && unshippableKinds.has(kind)
    ? 'a plugin cannot ship objects that contain secrets'
    : undefined;
}

function namingProblem(document: JsonObject, name: string, { plugin, domain }: Reader): string | undefined {
  const problem = nameProblem(name);
  if (problem !== undefined) return `metadata.name ${problem}`;
  return isRoleTemplate(document, domain) && !name.startsWith(plugin)
    ? `the name of a role template must begin with the plugin's name, ${plugin}`
    : undefined;
}

/**
 * Returns whether the object is created only once, or a problem. A misspelt value of the annotation is a problem,
 * because later starts would otherwise update the starter content.
 */
function createOnceOf(metadata: JsonValue | undefined, domain: string): boolean | string {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  const key = createOnceKey(domain);
  const value = isObject(annotations) ? annotations[key] : undefined;
  if (value === undefined || value === 'false') return false;
  return value === 'true' || `the annotation ${key} must be "true" or "false"`;
}

function isRoleTemplate({ apiVersion, kind, metadata }: JsonObject, domain: string): boolean {
  if (kind !== 'Role' || typeof apiVersion !== 'string' || apiVersion.includes('/') || !isObject(metadata))
    return false;
  const labels = metadata['labels'];
  return isObject(labels) && labels[`${domain}/role-template`] === 'true';
}
