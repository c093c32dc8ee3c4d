import { rulesKeyword } from '../../resource/rules/rule-declaration.ts';

/**
 * Whether documents show an extension keyword of a type's schema. Kubernetes' own keywords, such as
 * `x-kubernetes-group-version-kind`, are set by the server, since tools of Kubernetes read them. Of Kubernetes'
 * keywords, a type may declare only rules.
 */
export function isShownExtension(keyword: string): boolean {
  return keyword === rulesKeyword || (keyword.startsWith('x-') && !keyword.startsWith('x-kubernetes-'));
}
