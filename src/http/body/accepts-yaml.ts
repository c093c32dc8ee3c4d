import { includesType, parseAccept } from './accept-header.ts';

/** What a client that names YAML prefers: it, JSON, or nothing else than YAML. */
export type YamlWish = 'no' | 'preferred' | 'only';

/** Whether `Accept` prefers YAML to JSON, in any form of objects. A wildcard means JSON. */
export function yamlWish(accept: string | undefined): YamlWish {
  // Nearly every request: nothing is parsed.
  if (accept === undefined || !/yaml/iu.test(accept)) return 'no';
  const ranges = parseAccept(accept);
  const yaml = ranges.findIndex(({ type }) => type === 'application/yaml');
  const json = ranges.findIndex((range) => includesType(range, 'application/json'));
  if (yaml === -1 || (json !== -1 && json < yaml)) return 'no';
  return json === -1 ? 'only' : 'preferred';
}
