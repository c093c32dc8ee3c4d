import ajvDraft04 from 'ajv-draft-04';
import formatsModule from 'ajv-formats';

import type { TranslatedDocument } from '../../src/openapi/schema/to-openapi-30.ts';

const Ajv = ajvDraft04.default;

/**
 * A validator of OpenAPI 3.0: its schema objects are draft 4 of JSON Schema (flags for exclusive bounds, no boolean
 * schemas, siblings of a reference are ignored) with `nullable`.
 */
export function validator30({
  schema,
  components,
}: Pick<TranslatedDocument, 'schema' | 'components'>): (value: unknown) => boolean {
  const ajv = new Ajv({ strict: false, ownProperties: true, multipleOfPrecision: 6, logger: false });
  formatsModule.default(ajv);
  const validate = ajv.compile({ allOf: [schema], components: { schemas: Object.fromEntries(components) } });
  return (value) => validate(value);
}
