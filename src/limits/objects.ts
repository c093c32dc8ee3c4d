/** Limits of objects, schemas and indexes. Each name contains its unit. */

/**
 * The most bytes of one object's JSON. The rest of EventStoreDB's limit of 1 MiB for an append is for the other data of
 * the event and for its metadata.
 */
export const objectBytesMax = 786_432;
/**
 * The maximum length of metadata.name, and of a DNS subdomain (RFC 1123) such as a group or the prefix of a label key.
 */
export const nameLengthMax = 253;
/**
 * The maximum length of the name part of a key (of a label, an annotation or a finalizer), and of each name of a type,
 * such as the kind.
 */
export const labelNameLengthMax = 63;
export const labelValueLengthMax = 253;
export const labelsPerObjectMax = 256;
export const annotationsBytesMax = 262_144;
export const finalizersPerObjectMax = 64;
export const ownerReferencesPerObjectMax = 64;
/**
 * The maximum length of the `generateName` prefix in a name. A longer prefix is truncated, so that the five random
 * characters fit.
 */
export const generateNameLengthMax = nameLengthMax - 5;
/**
 * The most random names that are tried for one object, if the earlier names are taken. With 36^5 names, even one
 * collision is rare.
 */
export const generateNameAttemptsMax = 8;
/**
 * The most bytes of one index value in UTF-8. An LMDB key has at most 1,978 bytes; the rest is for the other parts of
 * the key.
 */
export const indexValueBytesMax = 1_024;
/** The most values of one object in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** The maximum length of the stack trace in a message about an error of an index function. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** The most references that a type may declare, and the most objects that one object may name in its references. */
export const referencesPerTypeMax = 16;
export const referencesPerObjectMax = 256;
/** The maximum length of the path of a reference. The path is a part of an LMDB key beside two objects' names. */
export const referenceFieldLengthMax = 256;
/**
 * The most referring objects that the refusal of a deletion names, and the most that it counts. Above the second limit,
 * the refusal says "more than 100".
 */
export const referrersShownMax = 5;
export const referrersCountedMax = 100;
/** The most columns of a type's table: more than a screen can show. */
export const printerColumnsMax = 32;
/** The most short names of a type, and the most categories of a type. Usually a type has one or two of each. */
export const typeNamesMax = 8;
/** The greatest number of replicas in a Scale. Clients read the number as a 32-bit integer. */
export const replicasMax = 2_147_483_647;
/** The maximum length of a JSON pointer in a type's `scale`. */
export const scalePointerLengthMax = 256;
/** The most versions of a type. A type needs a version until no client uses the version and no stored object has it. */
export const versionsPerTypeMax = 16;
/** The most examples of a version. All examples are converted at each start. */
export const examplesPerVersionMax = 16;
export const schemaBytesMax = 262_144;
/** The most operations of one JSON Patch. Each operation may affect the whole document. */
export const jsonPatchOperationsMax = 1_000;
