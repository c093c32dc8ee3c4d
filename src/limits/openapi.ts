/** Limits of the API documents. Each name ends in its unit. */

/** Schemas within the schema of one type or route: further ones are described as accepting anything. */
export const openApiSchemasMax = 20_000;
/**
 * Nesting of schemas in a document: each is three messages in protobuf, and readers accept 100. Deeper ones are
 * described as accepting anything.
 */
export const openApiSchemaDepthMax = 28;
/** The size of all schemas of one document; beyond it, types and routes are described without theirs. */
export const openApiDocumentBytesMax = 33_554_432;
/** Nesting of schemas that a TypeScript type follows: deeper ones have the type `unknown`. */
export const typedPartDepthMax = 250;
