/** One text of an owner reference: an apiVersion is the longest, a group of 253 characters and a version of 63. */
export const ownerTextLengthMax = 317;
