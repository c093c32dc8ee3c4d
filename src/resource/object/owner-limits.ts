/** One text of an owner reference: the longest is an apiVersion, with a group of 253 characters and a version of 63. */
export const ownerTextLengthMax = 317;
