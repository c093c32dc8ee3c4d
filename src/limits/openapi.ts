/** Limits of the API documents. Each name contains its unit. */

/**
 * The most schemas within the schema of one type or route. The document describes each further schema as one that
 * accepts every value.
 */
export const openApiSchemasMax = 20_000;
/**
 * The maximum nesting of schemas in a document. Each level becomes three nested protobuf messages, and readers accept
 * 100 levels. The document describes a deeper schema as one that accepts every value.
 */
export const openApiSchemaDepthMax = 28;
/**
 * The maximum size of all schemas of one document. Above this size, the document describes types and routes without
 * schemas.
 */
export const openApiDocumentBytesMax = 33_554_432;
/** The maximum nesting of schemas that is converted to a TypeScript type. A deeper schema becomes `unknown`. */
export const typedPartDepthMax = 250;
