/** Limits of the API documents. Each name ends in its unit. */

/** Schemas within the schema of one type or route; any further one is described as accepting every value. */
export const openApiSchemasMax = 20_000;
/**
 * The nesting of schemas in a document: each level is three messages in protobuf, and readers accept 100. A deeper
 * schema is described as accepting every value.
 */
export const openApiSchemaDepthMax = 28;
/** The size of all schemas of one document; above it, types and routes are described without schemas. */
export const openApiDocumentBytesMax = 33_554_432;
/** The nesting of schemas that a TypeScript type follows; a deeper schema has the type `unknown`. */
export const typedPartDepthMax = 250;
