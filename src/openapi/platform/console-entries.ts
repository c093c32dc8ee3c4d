import { operationEntries } from './operation-entries.ts';
import type { PlatformContext } from './platform-context.ts';
import { json, members, texts, type Entries } from './platform-entries.ts';

const root = '/apis/api.console.*/v1alpha1';

/** The entries of the API for front ends. */
export function consoleEntries({ media, schemaOf }: PlatformContext): Entries {
  const permissions = {
    types: json,
    schema: members({
      roles: { type: 'array', items: schemaOf('Role') },
      permissions: { type: 'array', items: schemaOf('Role') },
      uiPermissions: texts,
    }),
  };
  const upload = {
    types: ['multipart/form-data'],
    schema: members({ file: { type: 'string', format: 'binary' } }, ['file']),
  };
  return {
    ...operationEntries,
    [`GET ${root}/users/{name}/permissions`]: {
      id: 'getUserPermissions',
      tag: 'Permissions',
      summary: 'Get the roles and permissions of a user; the name - means the caller',
      answer: permissions,
    },
    [`POST ${root}/users/{name}/permissions`]: {
      id: 'replaceUserRoles',
      tag: 'Permissions',
      summary: 'Replace the roles of a user',
      body: { types: media.object, schema: members({ roles: texts }, ['roles']) },
      answer: permissions,
    },
    [`GET ${root}/roletemplates`]: {
      id: 'listRoleTemplates',
      tag: 'Permissions',
      summary: 'List the roles for assignment, by module',
      answer: { types: json, schema: { type: 'array', items: { type: 'object' } } },
    },
    [`POST ${root}/plugins/install`]: {
      id: 'installPlugin',
      tag: 'Plugins',
      summary: 'Install a plugin from a package',
      body: upload,
      status: '201',
      answer: { types: json, schema: { type: 'object' } },
    },
    [`POST ${root}/plugins/{name}/upgrade`]: {
      id: 'upgradePlugin',
      tag: 'Plugins',
      summary: 'Replace the package of a plugin',
      body: upload,
      answer: { types: json, schema: { type: 'object' } },
    },
    [`GET ${root}/plugins/{name}/logs`]: {
      id: 'readPluginLogs',
      tag: 'Plugins',
      summary: 'The last log lines of a plugin on this node, from the cursor `after` on',
      answer: { types: json, schema: { type: 'object' } },
    },
  };
}
