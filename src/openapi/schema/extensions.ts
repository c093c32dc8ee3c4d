import { rulesKeyword } from '../../resource/rules/rule-declaration.ts';

/**
 * Whether documents show an extension keyword of a type's schema. Tools of Kubernetes read its own keywords, such as
 * `x-kubernetes-group-version-kind`, which the server sets; of those only rules are a type's to declare.
 */
export function isShownExtension(keyword: string): boolean {
  return keyword === rulesKeyword || (keyword.startsWith('x-') && !keyword.startsWith('x-kubernetes-'));
}
