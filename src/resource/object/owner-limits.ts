/**
 * The maximum length of a text in an owner reference. The longest text is an apiVersion: a group of 253 characters, a
 * slash and a version of 63 characters.
 */
export const ownerTextLengthMax = 317;
