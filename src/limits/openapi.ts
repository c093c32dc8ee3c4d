/**
 * The most nested schemas in the schema of one type or route. Further schemas become a schema that accepts every value.
 */
export const openApiSchemasMax = 20_000;
/**
 * The maximum nesting of schemas in a document. Each level becomes three protobuf messages, and readers accept 100
 * levels. A deeper schema becomes a schema that accepts every value.
 */
export const openApiSchemaDepthMax = 28;
/** The maximum size of all schemas of one document. Further schemas become a schema that accepts every value. */
export const openApiDocumentBytesMax = 33_554_432;
/** The maximum nesting of schemas that is converted to a TypeScript type. A deeper schema becomes `unknown`. */
export const typedPartDepthMax = 250;
