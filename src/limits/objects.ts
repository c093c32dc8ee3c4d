/**
 * Limits of objects, schemas and indexes. Each name ends in its unit. Each limit is tested at n and n + 1, and its
 * error states it.
 */

/** One object's JSON. Leaves room for the event's metadata under EventStoreDB's limit of 1 MiB for an append. */
export const objectBytesMax = 786_432;
/** metadata.name and label key prefix (a DNS subdomain, RFC 1123). */
export const nameLengthMax = 253;
/** The name part of a label key (a DNS label). */
export const labelNameLengthMax = 63;
export const labelValueLengthMax = 253;
export const labelsPerObjectMax = 256;
export const annotationsBytesMax = 262_144;
export const finalizersPerObjectMax = 64;
export const ownerReferencesPerObjectMax = 64;
/** The longest generateName prefix: longer ones are cut so that the five random characters fit. */
export const generateNameLengthMax = nameLengthMax - 5;
/** Attempts with another random name after a collision; with 36^5 names even one collision is rare. */
export const generateNameAttemptsMax = 8;
/** One index value in UTF-8. Leaves room for the rest of an LMDB key of 1,978 bytes. */
export const indexValueBytesMax = 1_024;
/** Values of one object in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** The length of the stack of an index function's error. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** Columns of a type's table: more than any screen shows. */
export const printerColumnsMax = 32;
/** Short names of a type, and its categories: a type has one or two. */
export const typeNamesMax = 8;
/** The number in a Scale: clients read it as a 32-bit integer. */
export const replicasMax = 2_147_483_647;
/** A JSON pointer of a type's `scale`. */
export const scalePointerLengthMax = 256;
export const schemaBytesMax = 262_144;
/** Operations of one JSON Patch: each may affect the whole document. */
export const jsonPatchOperationsMax = 1_000;
