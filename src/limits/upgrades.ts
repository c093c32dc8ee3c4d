/**
 * Limits of upgrades of plugins. Each name ends with the unit. A test checks each limit at n and n + 1, and each error
 * message states the limit.
 */

/**
 * The time for which an upgrade checks stored objects before it answers: 400,000 small objects. Further objects are
 * counted, and checked in the background after the upgrade.
 */
export const upgradeCheckMsMax = 20_000;
/** The invalid objects that a report names, the errors of each, and the length of a pointer or detail. */
export const invalidObjectsShownMax = 10;
export const invalidErrorsShownMax = 4;
export const upgradeDetailLengthMax = 256;
/** The entries of each other list of a report. */
export const upgradeEntriesMax = 100;
/**
 * The invalid objects of a type whose names the leader knows. With more, the count of a type is up to date only after a
 * further check of all its objects, which then follows at this interval.
 */
export const invalidKnownMax = 100_000;
export const invalidRecheckMs = 600_000;
/** The delay before a changed count is reported, since many objects may change together. */
export const invalidReportMs = 1_000;
