import { useI18n } from 'vue-i18n';

import type { Intent } from '../server/rights.ts';

/** The verbs and the permissions of the platform that have a translation. */
const verbs = new Set(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']);
const permissions = new Set([
  'audit:view',
  'backups:create',
  'operation:view',
  'plugins:view',
  'roles:manage',
  'roles:view',
  'users:manage',
  'users:view',
]);

/** Returns functions that describe rights in words. */
export function usePermissionWords(): {
  /** Returns the description of a UI permission, such as `plugin:platform:audit:view`. */
  readonly permission: (code: string) => string;
  readonly request: (request: Intent) => string;
} {
  const { t } = useI18n();
  return {
    permission: (code) => {
      const [, plugin = '', thing = '', action = ''] = code.split(':');
      if (plugin === 'platform' && permissions.has(`${thing}:${action}`))
        return t(`shell.permissions.${thing}.${action}`);
      return t('shell.permissions.other', { plugin, thing: thing.replaceAll('-', ' '), action });
    },
    request: ({ verb, type: { group, plural } }) => {
      const type = group === '' ? plural : `${plural}.${group}`;
      return verbs.has(verb) ? t(`shell.permissions.verbs.${verb}`, { type }) : `${verb} ${type}`;
    },
  };
}
