/** Limits of plugins. Each name contains its unit. */

/** The time limits of a plugin's start, and of one call of a plugin's route (decision 9.2). */
export const pluginStartMs = 10_000;
export const pluginRouteMs = 30_000;
export const pluginManifestBytesMax = 65_536;
export const pluginObjectFileBytesMax = 4_194_304;
export const pluginObjectsMax = 1_000;
export const routesPerPluginMax = 1_000;
/**
 * The most aliases of a YAML document in a plugin's files. An alias repeats the value of its anchor, so a few bytes of
 * nested aliases could expand to gigabytes.
 */
export const yamlAliasesMax = 100;
/**
 * The most bytes of a list that a plugin can read in one call. A hundred of the largest objects fit. A plugin must read
 * a longer list in pages.
 */
export const clientListBytesMax = 96 * 1_048_576;
/**
 * The maximum length of a message in a plugin's status. A longer message, for example with a thousand problems, is
 * truncated.
 */
export const pluginMessageLengthMax = 8_192;
/**
 * The longest time that a starting server waits for its plugins before it becomes ready. The time is equal to the time
 * limit of one plugin's start.
 */
export const pluginsWaitMs = 10_000;

/**
 * The maximum heap of a process that runs a plugin's module before the plugin is accepted: for a trial, or for `plugin
 * check`. Modules with their top-level values need a few MiB.
 */
export const trialHeapMebibytesMax = 256;
/**
 * The time after which a trial's process exits by itself. Normally the server ends the process earlier. The time limit
 * applies if the server itself was killed.
 */
export const trialProcessMs = 20_000;
/**
 * The time after which the process of `plugin check` exits by itself. The time is longer than that of a trial, because
 * this process first reads all files of the plugin.
 */
export const checkProcessMs = 60_000;
/**
 * The number of server processes that may end during a load of the same plugin files. After this number, the server
 * does not load these files again.
 */
export const unfinishedLoadsMax = 2;

/** The most bytes of log lines of one plugin in memory: about a thousand lines. */
export const pluginLogBytesMax = 262_144;
/** The most bytes of log lines of all plugins in memory. */
export const pluginLogsBytesMax = 16 * 1_048_576;
/** The maximum size of one log line in memory. A longer line loses its fields, and its message is truncated. */
export const pluginLogLineBytesMax = 8_192;

/**
 * The time for which an upgrade checks stored objects before the response. The time is enough for 400,000 small
 * objects. Objects that are not checked in this time are only counted. They are checked in the background after the
 * upgrade.
 */
export const upgradeCheckMsMax = 20_000;
/**
 * The most invalid objects that the report of an upgrade names, the most errors of each object, and the maximum length
 * of an error's pointer and of its detail.
 */
export const invalidObjectsShownMax = 10;
export const invalidErrorsShownMax = 4;
export const upgradeDetailLengthMax = 256;
/** The most entries of each other list in the report of an upgrade. */
export const upgradeEntriesMax = 100;
/**
 * The most invalid objects of a type that the leader knows by name. If a type has more invalid objects, the leader does
 * not notice changes of the others, so it checks all objects of the type again at the interval `invalidRecheckMs`.
 */
export const invalidKnownMax = 100_000;
export const invalidRecheckMs = 600_000;
/** The delay before a changed number of invalid objects is reported, because many objects may change together. */
export const invalidReportMs = 1_000;

/**
 * The most migrations of one plugin, and the maximum length of a migration's id. The id is a metric label and a part of
 * messages.
 */
export const migrationsPerPluginMax = 64;
export const migrationIdLengthMax = 63;
/**
 * The most objects of a plugin that are migrated concurrently, the most writes of migrations in a second, and the
 * number of objects' names that are read at once. The limit of writes leaves the server time for requests.
 */
export const migrationConcurrencyMax = 32;
export const migrationWritesPerSecondMax = 4_000;
export const migrationPageNames = 256;
/**
 * The interval at which the progress of migrations is recorded. After a crash, the objects that were migrated since the
 * last record are visited again.
 */
export const migrationRecordMs = 2_000;
/**
 * The delay before a migration continues after a failure, for example of the log. The delay is twice the first time
 * after the first failure, doubles with each further failure, and is at most the second time.
 */
export const migrationRetryMs = 500;
export const migrationRetryMsMax = 60_000;
/** The time for which the stop of a plugin waits for the writes of its migrations. */
export const migrationStopMs = 10_000;
/**
 * The most objects of a migration that are known by name as failing, and the interval at which all objects are visited
 * again while an object fails.
 */
export const migrationFailuresKnownMax = 10_000;
export const migrationRecheckMs = 600_000;
