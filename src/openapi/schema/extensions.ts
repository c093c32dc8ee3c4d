import { rulesKeyword } from '../../resource/rules/rule-declaration.ts';

/**
 * Whether documents show an extension keyword of a type's schema. Tools of Kubernetes read its own keywords, such as
 * `x-kubernetes-group-version-kind`, which the server sets. Of these keywords, a type may declare only rules.
 */
export function isShownExtension(keyword: string): boolean {
  return keyword === rulesKeyword || (keyword.startsWith('x-') && !keyword.startsWith('x-kubernetes-'));
}
