import type { Strategy } from '../../command/strategy.ts';
import type { TypeDeclaration } from '../../plugin/api/plugin.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { compileType, typeKeyOf } from '../../resource/type/type-declaration.ts';
import { roleBindingStrategy, roleBindingType } from './role-binding-type.ts';
import { roleStrategy, roleType } from './role-type.ts';
import { sessionStrategy, sessionType } from './session-type.ts';
import { core } from './type-members.ts';
import { tokenStrategy, tokenType } from './token-type.ts';
import { userStrategy, userType } from './user-type.ts';
import { withoutOwners } from './without-owners.ts';

export type PlatformType = {
  readonly declaration: TypeDeclaration<never>;
  readonly strategy: Strategy;
};

/** Returns the access control types, with strategies for checks that a schema cannot express. */
export function platformTypes(domain: string): readonly PlatformType[] {
  return [
    { declaration: roleType, strategy: withoutOwners(roleStrategy(domain)) },
    { declaration: roleBindingType, strategy: withoutOwners(roleBindingStrategy) },
    { declaration: userType, strategy: withoutOwners(userStrategy) },
    { declaration: tokenType, strategy: withoutOwners(tokenStrategy) },
    { declaration: sessionType, strategy: withoutOwners(sessionStrategy) },
  ];
}

export const roleKey = typeKeyOf(core.group, 'roles');
export const roleBindingKey = typeKeyOf(core.group, 'rolebindings');
export const userKey = typeKeyOf(core.group, 'users');
export const tokenKey = typeKeyOf(core.group, 'personalaccesstokens');
export const sessionKey = typeKeyOf(core.group, 'sessions');

/** The types of objects that must not have owners. Owner references of such objects in old logs are ignored. */
export const typesWithoutOwners: ReadonlySet<TypeKey> = new Set([
  roleKey,
  roleBindingKey,
  userKey,
  tokenKey,
  sessionKey,
]);

/**
 * Compiles the access control types, with the rules that also apply to plugins' types. `version` is the platform's
 * version.
 */
export function compilePlatformTypes(domain: string, version = '0.0.0'): readonly ResourceType[] {
  return platformTypes(domain).map(({ declaration }) => {
    const compiled = compileType(declaration, {
      plugin: 'platform',
      bundled: true,
      domain,
      by: { version, source: 'platform' },
    });
    if (!compiled.ok) throw new Error(compiled.problems.join('; '));
    return compiled.type;
  });
}
