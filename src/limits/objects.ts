/**
 * Limits of objects, schemas and indexes. Each name contains its unit. A test checks each limit at n and n + 1, and
 * each error message states the limit.
 */

/**
 * The most bytes of one object's JSON. The rest of EventStoreDB's limit of 1 MiB for an append is for the event's
 * metadata.
 */
export const objectBytesMax = 786_432;
/** The maximum length of metadata.name, and of the prefix of a label key (a DNS subdomain, RFC 1123). */
export const nameLengthMax = 253;
/** The maximum length of the name part of a label key (a DNS label). */
export const labelNameLengthMax = 63;
export const labelValueLengthMax = 253;
export const labelsPerObjectMax = 256;
export const annotationsBytesMax = 262_144;
export const finalizersPerObjectMax = 64;
export const ownerReferencesPerObjectMax = 64;
/** The longest generateName prefix. A longer prefix is truncated, so that the five random characters fit. */
export const generateNameLengthMax = nameLengthMax - 5;
/**
 * The most attempts to create an object with a random name after name collisions. With 36^5 names even one collision is
 * rare.
 */
export const generateNameAttemptsMax = 8;
/**
 * The most bytes of one index value in UTF-8. The rest of an LMDB key of 1,978 bytes is for the other parts of the key.
 */
export const indexValueBytesMax = 1_024;
/** The most values of one object in one multi-valued index. */
export const indexValuesPerObjectMax = 256;
/** The maximum length of the stack of an index function's error. */
export const indexTraceLengthMax = 8_192;
export const indexesPerTypeMax = 32;
export const typesPerPluginMax = 64;
/** The most references that a type declares, and the most names that one object's references contain. */
export const referencesPerTypeMax = 16;
export const referencesPerObjectMax = 256;
/** The maximum length of the path of a reference. The path is a part of an LMDB key beside two objects' names. */
export const referenceFieldLengthMax = 256;
/** The most names of referring objects in a refusal, and the most referring objects that a refusal counts. */
export const referrersShownMax = 5;
export const referrersCountedMax = 100;
/** The most columns of a type's table: more than a screen can show. */
export const printerColumnsMax = 32;
/** The most short names of a type, and the most categories of a type. Usually a type has one or two of each. */
export const typeNamesMax = 8;
/** The greatest number in a Scale: clients read it as a 32-bit integer. */
export const replicasMax = 2_147_483_647;
/** The maximum length of a JSON pointer in a type's `scale`. */
export const scalePointerLengthMax = 256;
/** The most versions of a type. A version is kept until no client uses it and no stored object has it. */
export const versionsPerTypeMax = 16;
/** The most examples of a version. They are converted at each start. */
export const examplesPerVersionMax = 16;
export const schemaBytesMax = 262_144;
/** The most operations of one JSON Patch. Each operation may affect the whole document. */
export const jsonPatchOperationsMax = 1_000;
