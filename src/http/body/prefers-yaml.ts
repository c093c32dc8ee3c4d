import { jsonType, yamlType } from './media-types.ts';
import { includesType, isPlainJson, parseAccept } from './accept-header.ts';

/** Returns whether `Accept` prefers YAML to JSON, for objects in any representation. A wildcard means JSON. */
export function prefersYaml(accept: string | undefined): boolean {
  if (accept === undefined || isPlainJson(accept) || !/yaml/iu.test(accept)) return false;
  const ranges = parseAccept(accept);
  const yaml = ranges.findIndex(({ type }) => type === yamlType);
  const json = ranges.findIndex((range) => includesType(range, jsonType));
  return yaml !== -1 && (json === -1 || yaml < json);
}
