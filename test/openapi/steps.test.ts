import { test } from 'tap';

import type { Steps } from '../../src/base/steps.ts';
import { groupDocument, swaggerOf } from '../../src/openapi/documents.ts';
import { KeptParts } from '../../src/openapi/kept-parts.ts';
import { compileType } from '../../src/resource/type/type-declaration.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';

const domain = 'svc.run';
const json = ['application/json'];

/** Types that note when their schema is read. */
function typesNoting(read: (place: number) => void): readonly ResourceType[] {
  return Array.from({ length: 20 }, (_, index) => {
    const declaration = {
      group: 'shop.example',
      version: 'v1',
      kind: `Kind${index.toString()}`,
      singular: `kind${index.toString()}`,
      plural: `kinds${index.toString()}`,
      schema: { type: 'object', properties: { spec: { type: 'object' } } },
    };
    const compiled = compileType(declaration, { plugin: 'shop', bundled: false, domain });
    if (!compiled.ok) throw new Error(compiled.problems.join('; '));
    const { type } = compiled;
    return Object.defineProperty({ ...type }, 'schema', {
      get: () => {
        read(index);
        return type.schema;
      },
    });
  });
}

test('no step of a document translates the schemas of two types', async (t) => {
  for (const document of [groupDocument, swaggerOf]) {
    const read = new Set<number>();
    const types = typesNoting((place) => read.add(place));
    const media = { message: json, object: json, patch: json, answer: json };
    const settings = { domain, version: '1.0.0', media, kept: new KeptParts({ domain, media }) };
    const steps: Steps<unknown> = document(types, settings);
    let most = 0;
    for (let step = steps.next(); step.done !== true; step = steps.next()) {
      most = Math.max(most, read.size);
      read.clear();
    }
    t.equal(most, 1);
  }
});
