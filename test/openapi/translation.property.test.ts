import fc from 'fast-check';
import { test } from 'tap';

import { toOpenApi30 } from '../../src/openapi/schema/to-openapi-30.ts';
import { compileValueSchema } from '../../src/resource/schema/schema.ts';
import { drawnSchemas, drawnValues } from './drawn-schemas.ts';
import { validator30 } from './openapi-30.ts';

const runs = Number(process.env['PBT_RUNS'] ?? 200);

test('every value that a schema accepts is accepted by its translation, and an exact one accepts no other', (t) => {
  const seen = { compiled: 0, accepted: 0, exact: 0, exactRefused: 0, references: 0 };
  fc.assert(
    fc.property(drawnSchemas(), fc.array(drawnValues(), { minLength: 12, maxLength: 12 }), (input, values) => {
      const compiled = compileValueSchema(input);
      if (!compiled.ok) return;
      seen.compiled += 1;
      const translated = toOpenApi30(compiled.schema, 'Drawn');
      const accepts = validator30(translated);
      if (translated.components.size > 0) seen.references += 1;
      // References that never end have no meaning (JSON Schema, 9.4.1), and the validator refuses values at its bound.
      const isExact = translated.isExact && !translated.isEndless;
      for (const each of values) {
        const isValid = compiled.violations(each).length === 0;
        const isTaken = accepts(each);
        if (isValid) seen.accepted += 1;
        if (isExact) seen.exact += 1;
        if (isExact && !isValid) seen.exactRefused += 1;
        if (isValid && !isTaken) throw new Error(`refused: ${JSON.stringify({ each, input, translated })}`);
        if (isExact && isTaken !== isValid)
          throw new Error(`not exact: ${JSON.stringify({ each, input, translated })}`);
      }
    }),
    { numRuns: runs },
  );
  t.comment(JSON.stringify(seen));
  for (const [what, times] of Object.entries(seen)) t.ok(times > runs / 20, `${what}: ${times.toString()}`);
  t.end();
});
