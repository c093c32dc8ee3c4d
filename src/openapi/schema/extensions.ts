import { rulesKeyword } from '../../resource/rules/rule-declaration.ts';

/**
 * Whether documents show this extension keyword of a type's schema. Of Kubernetes' keywords (`x-kubernetes-…`),
 * documents show only the declared rules. The server itself sets the keywords that Kubernetes' tools read, such as
 * `x-kubernetes-group-version-kind`.
 */
export function isShownExtension(keyword: string): boolean {
  return keyword === rulesKeyword || (keyword.startsWith('x-') && !keyword.startsWith('x-kubernetes-'));
}
