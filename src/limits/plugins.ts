/**
 * Limits of plugins. Each name contains its unit. A test checks each limit at n and n + 1, and each error message
 * states the limit.
 */

/** Time limits of a plugin's start, and of one call of a plugin's route (decision 9.2). */
export const pluginStartMs = 10_000;
export const pluginRouteMs = 30_000;
export const pluginManifestBytesMax = 65_536;
export const pluginObjectFileBytesMax = 4_194_304;
export const pluginObjectsMax = 1_000;
export const routesPerPluginMax = 1_000;
/**
 * The most aliases of a YAML file. An alias repeats its anchor, so a few bytes of nested aliases could expand to
 * gigabytes.
 */
export const yamlAliasesMax = 100;
/**
 * The most bytes of a list that a plugin can read at once. A plugin must read a larger list in pages. A hundred of the
 * largest objects fit.
 */
export const clientListBytesMax = 96 * 1_048_576;
/** The maximum length of a plugin's message. A message with a thousand problems is truncated. */
export const pluginMessageLengthMax = 8_192;
/**
 * The longest time that a starting server waits for its plugins before the server is ready: the time limit of one load.
 */
export const pluginsWaitMs = 10_000;

/**
 * The maximum heap of the process that first runs an uploaded module: modules and their top-level values are a few MiB.
 */
export const trialHeapMebibytesMax = 256;
/** The time after which a trial's process exits by itself, in case the waiting server was killed. */
export const trialProcessMs = 20_000;
/**
 * The time after which the process of `plugin check` exits by itself. The process reads all files of the plugin before
 * the module runs.
 */
export const checkProcessMs = 60_000;
/**
 * The most unfinished loads of the same files, each in another process, after which the server does not load these
 * files again.
 */
export const unfinishedLoadsMax = 2;

/** The most bytes of log lines of one plugin in memory: about a thousand lines. */
export const pluginLogBytesMax = 262_144;
/** The most bytes of log lines of all plugins in memory. */
export const pluginLogsBytesMax = 16 * 1_048_576;
/** The maximum size of one log line in memory. A longer line loses its fields, and its message is truncated. */
export const pluginLogLineBytesMax = 8_192;

/**
 * The time for which an upgrade checks stored objects before the response: enough for 400,000 small objects. Further
 * objects are counted, and checked in the background after the upgrade.
 */
export const upgradeCheckMsMax = 20_000;
/**
 * The most invalid objects that a report names, the most errors of each, and the maximum length of a pointer or detail.
 */
export const invalidObjectsShownMax = 10;
export const invalidErrorsShownMax = 4;
export const upgradeDetailLengthMax = 256;
/** The most entries of each other list of a report. */
export const upgradeEntriesMax = 100;
/**
 * The most invalid objects of a type whose names the leader records. If a type has more, its count is only updated by a
 * check of all its objects, which is repeated at the interval `invalidRecheckMs`.
 */
export const invalidKnownMax = 100_000;
export const invalidRecheckMs = 600_000;
/** The delay before a changed count is reported, since many objects may change together. */
export const invalidReportMs = 1_000;

/** The migrations of one plugin, and the length of an id, which is a metric label and part of messages. */
export const migrationsPerPluginMax = 64;
export const migrationIdLengthMax = 63;
/**
 * The objects that are migrated concurrently, and the writes in a second: requests must find time between them. The
 * names of one page are visited before the next page is read.
 */
export const migrationConcurrencyMax = 32;
export const migrationWritesPerSecondMax = 4_000;
export const migrationPageNames = 256;
/** The interval at which progress is recorded. After a crash, the objects of this time are visited again. */
export const migrationRecordMs = 2_000;
/** The shortest and longest delay before a pass is retried, for example while the log is unavailable. */
export const migrationRetryMs = 500;
export const migrationRetryMsMax = 60_000;
/** The time for which the stop of a plugin waits for the writes of its migrations. */
export const migrationStopMs = 10_000;
/** The failing objects that are known by name, and the interval of further visits of all objects while any fail. */
export const migrationFailuresKnownMax = 10_000;
export const migrationRecheckMs = 600_000;
