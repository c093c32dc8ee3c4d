import { apiDocument } from '../../../src/openapi/documents.ts';
import { KeptParts } from '../../../src/openapi/kept-parts.ts';
import { compileType } from '../../../src/resource/type/type-declaration.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';

const domain = 'svc.run';
const json = ['application/json'];

export type Declared = {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema: object;
};

/** The members of a declaration of this kind, apart from its schema. */
export function declared(kind: string, schema: object, group = 'drawn.example'): Declared {
  return { group, kind, plural: `${kind.toLowerCase()}s`, schema };
}

/** The type as registration accepts it; undefined if it refuses the schema. */
export function registered(type: Declared): ResourceType | undefined {
  const { plural } = type;
  const compiled = compileType(
    { ...type, version: 'v1', singular: plural },
    { plugin: 'drawn', bundled: false, domain },
  );
  return compiled.ok ? compiled.type : undefined;
}

/** What a server with these types answers to `GET /v3/api-docs`. */
export function documentOf(types: readonly ResourceType[]): string {
  const media = { message: json, object: json, patch: json, answer: json };
  const settings = { domain, version: '0.0.0', media, kept: new KeptParts({ domain, media }) };
  const steps = apiDocument({ types, platform: [], routes: [] }, settings);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return Buffer.concat(step.value).toString();
  }
}
