import type { Strategy } from '../../command/strategy.ts';
import type { TypeDeclaration } from '../../plugin/plugin.ts';
import type { ResourceType } from '../../resource/resource-type.ts';
import { compileType, typeKeyOf } from '../../resource/type-declaration.ts';
import { roleBindingStrategy, roleBindingType } from './role-binding-type.ts';
import { roleStrategy, roleType } from './role-type.ts';
import { sessionStrategy, sessionType } from './session-type.ts';
import { core } from './type-members.ts';
import { tokenStrategy, tokenType } from './token-type.ts';
import { userStrategy, userType } from './user-type.ts';

export type PlatformType = { readonly declaration: TypeDeclaration<never>; readonly strategy: Strategy };

/** The types that access control is made of, with what each asks of a write beside its schema. */
export function platformTypes(domain: string): readonly PlatformType[] {
  return [
    { declaration: roleType, strategy: roleStrategy(domain) },
    { declaration: roleBindingType, strategy: roleBindingStrategy },
    { declaration: userType, strategy: userStrategy },
    { declaration: tokenType, strategy: tokenStrategy },
    { declaration: sessionType, strategy: sessionStrategy },
  ];
}

export const roleKey = typeKeyOf(core.group, 'roles');
export const roleBindingKey = typeKeyOf(core.group, 'rolebindings');
export const userKey = typeKeyOf(core.group, 'users');
export const tokenKey = typeKeyOf(core.group, 'personalaccesstokens');
export const sessionKey = typeKeyOf(core.group, 'sessions');

/** The same, compiled by the very rules a plugin's types are compiled by. */
export function compilePlatformTypes(domain: string): readonly ResourceType[] {
  return platformTypes(domain).map(({ declaration }) => {
    const compiled = compileType(declaration, { plugin: 'platform', bundled: true, domain });
    if (!compiled.ok) throw new Error(compiled.problems.join('; '));
    return compiled.type;
  });
}
