/**
 * The most bytes of one object's JSON. The rest of EventStoreDB's limit of 1 MiB is for the event's other data and
 * metadata.
 */
export const objectBytesMax = 786_432;
/** The maximum length of `metadata.name`, and of a DNS subdomain (RFC 1123) such as a group. */
export const nameLengthMax = 253;
/** The maximum length of a key's name part (of a label, an annotation or a finalizer), and of a type's names. */
export const labelNameLengthMax = 63;
export const labelValueLengthMax = 253;
export const labelsPerObjectMax = 256;
export const annotationsBytesMax = 262_144;
export const finalizersPerObjectMax = 64;
export const ownerReferencesPerObjectMax = 64;
/** A longer `generateName` prefix is truncated, so that the five random characters fit. */
export const generateNameLengthMax = nameLengthMax - 5;
/** The most random names that are tried for one object. With 36^5 names, even one collision is rare. */
export const generateNameAttemptsMax = 8;
/** The most bytes of one index value in UTF-8. An LMDB key has at most 1,978 bytes. */
export const indexValueBytesMax = 1_024;
/** The most values of one object in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** The maximum length of the stack trace in a message about an error of an index function. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** The most references that a type may declare. */
export const referencesPerTypeMax = 16;
/** The most objects that one object may name in its references. */
export const referencesPerObjectMax = 256;
/** The maximum length of the path of a reference. An LMDB key contains the path and two objects' names. */
export const referenceFieldLengthMax = 256;
/** The most referring objects that the refusal of a deletion names. */
export const referrersShownMax = 5;
/**
 * The most referring objects that the refusal of a deletion counts. Above this limit, the refusal says "more than 100".
 */
export const referrersCountedMax = 100;
export const printerColumnsMax = 32;
/** The most short names of a type, and the most categories of a type. */
export const typeNamesMax = 8;
/** The greatest number of replicas in a Scale. Clients read a 32-bit integer. */
export const replicasMax = 2_147_483_647;
/** The maximum length of a JSON pointer in a type's `scale`. */
export const scalePointerLengthMax = 256;
export const versionsPerTypeMax = 16;
/** The most examples of a version. All examples are converted at each start. */
export const examplesPerVersionMax = 16;
export const schemaBytesMax = 262_144;
/** The most members that one `properties` of a schema may declare. The compiler nests a level for each of them. */
export const schemaPropertiesMax = 1_000;
/** The most schemas within one schema. Each takes about 0.1 ms to compile, while requests wait. */
export const schemaPartsMax = 2_000;
/** The most operations of one JSON Patch. Each operation may affect the whole document. */
export const jsonPatchOperationsMax = 1_000;

/**
 * The most objects that a preview of a deletion counts and names, for each reference and for the dependents, and the
 * most names in one preview.
 */
export const impactCountedMax = 100;
export const impactShownMax = 20;
export const previewedDeletionsMax = 100;
