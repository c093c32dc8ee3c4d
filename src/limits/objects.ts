/**
 * Bounds of objects, schemas and indexes. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** One stored object's JSON. Leaves room for the event's metadata under EventStoreDB's 1 MiB an append. */
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
/** The longest generateName prefix kept: what is longer is cut so that the five drawn characters still fit. */
export const generateNameLengthMax = nameLengthMax - 5;
/** How often a drawn name is drawn again after a collision: 36^5 names make even one redraw rare. */
export const generateNameAttemptsMax = 8;
/** One index value in UTF-8. An LMDB key holds 1,978 bytes; this leaves room for what surrounds it. */
export const indexValueBytesMax = 1_024;
/** Values one object may have in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** Of where an index function threw. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** Columns of a type's table: wider than any terminal or screen. */
export const printerColumnsMax = 32;
export const schemaBytesMax = 262_144;
/** Operations of one JSON Patch: each may touch the whole document. */
export const jsonPatchOperationsMax = 1_000;
