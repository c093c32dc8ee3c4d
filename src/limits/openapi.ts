/** Limits of the API documents. Each name contains its unit. */

/**
 * The most schemas that are nested in the schema of one type or route. The document replaces each further nested schema
 * by a schema that accepts every value.
 */
export const openApiSchemasMax = 20_000;
/**
 * The maximum nesting of schemas in a document. Each level becomes three nested protobuf messages, and readers accept
 * 100 levels. The document replaces a deeper schema by a schema that accepts every value.
 */
export const openApiSchemaDepthMax = 28;
/**
 * The maximum size of all schemas of one document. The document replaces each further schema by a schema that accepts
 * every value.
 */
export const openApiDocumentBytesMax = 33_554_432;
/** The maximum nesting of schemas that is converted to a TypeScript type. A deeper schema becomes `unknown`. */
export const typedPartDepthMax = 250;
