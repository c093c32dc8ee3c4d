import type { Schema } from '../resource/schema/schema-check.ts';

/** Helpers for schemas with descriptions. The schemas use only keywords that all versions of OpenAPI share. */
export const text = (description: string): Schema => ({ type: 'string', description });
export const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
export const whole = (description: string): Schema => ({ type: 'integer', format: 'int64', description });
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const texts = (description: string): Schema => ({ type: 'array', items: { type: 'string' }, description });
export const textMap = (description: string): Schema => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
});
export const object = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required?: readonly string[],
): Schema => ({
  type: 'object',
  description,
  ...(required === undefined ? {} : { required }),
  properties,
});
