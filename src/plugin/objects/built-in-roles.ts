import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import { isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from '../../resource/object/object.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { applyObject, type ApplyDependencies } from './apply-object.ts';
import type { PluginLogger } from '../api/plugin.ts';
import { yamlDocuments } from './yaml-documents.ts';

export type BuiltInRoles = ApplyDependencies & {
  /** The path of the folder `roles` of the platform's package. */
  readonly folder: string;
  readonly type: ResourceType;
  readonly log: PluginLogger;
};

/**
 * Applies the platform's built-in roles (docs/spec/decisions.md, 6.9) at every start. A deleted role is created again,
 * and changes by users are kept, as for objects that a plugin ships. If a role cannot be written, the start logs the
 * error and continues.
 */
export async function applyBuiltInRoles({ folder, type, log, ...dependencies }: BuiltInRoles): Promise<void> {
  for (const { name, object } of await readRoles(folder, type, dependencies.domain)) {
    const applied = await applyObject(
      {
        type,
        name,
        object,
        subject: { kind: 'platform', part: 'roles' },
        plugin: 'platform',
        origin: 'platform',
      },
      dependencies,
    );
    if (!applied.ok)
      log.error('could not apply a built-in role; the next start retries', { role: name, detail: applied.detail });
    else if (applied.kept.length > 0)
      log.warn('users and this version both changed a built-in role: the values of the users are kept', {
        role: name,
        kept: applied.kept.join(', '),
      });
  }
}

type RoleFile = {
  readonly name: string;
  readonly object: JsonObject;
};

/** Reads the built-in roles. Throws if a file is invalid, so that a damaged installation does not start. */
async function readRoles(folder: string, type: ResourceType, domain: string): Promise<readonly RoleFile[]> {
  const files = (await readdir(folder)).filter((file) => extname(file) === '.yaml').sort();
  const read = await Promise.all(
    files.map(async (file) => {
      const yaml = yamlDocuments(await readFile(join(folder, file), 'utf8'), domain);
      if (!yaml.ok) throw new Error(`the built-in roles are damaged: ${file}: ${yaml.problem}`);
      return yaml.documents.map((document) => roleIn(document, type) ?? damaged(file));
    }),
  );
  return read.flat();
}

function roleIn(document: JsonValue, { apiVersion, kind }: ResourceType): RoleFile | undefined {
  if (
    !isObject(document) ||
    document['apiVersion'] !== apiVersion ||
    document['kind'] !== kind ||
    !isObject(document['metadata'])
  )
    return undefined;
  const { name } = document['metadata'];
  return typeof name === 'string' ? { name, object: document } : undefined;
}

function damaged(file: string): never {
  throw new Error(`the built-in roles are damaged: ${file} contains a document that is not a role`);
}
