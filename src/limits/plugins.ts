/** The time limits of a plugin's start, and of one call of a plugin's route. */
export const pluginStartMs = 10_000;
export const pluginRouteMs = 30_000;
export const pluginManifestBytesMax = 65_536;
export const pluginObjectFileBytesMax = 4_194_304;
export const pluginObjectsMax = 1_000;
export const routesPerPluginMax = 1_000;
/** The most aliases of a YAML document in a plugin's files. A few bytes of nested aliases could expand to gigabytes. */
export const yamlAliasesMax = 100;
/** The most bytes of a list that a plugin can read in one call. A plugin must read a longer list in pages. */
export const clientListBytesMax = 96 * 1_048_576;
/** The maximum length of a message in a plugin's status. A longer message is truncated. */
export const pluginMessageLengthMax = 8_192;
/** The longest time that a starting server waits for its plugins before it becomes ready. */
export const pluginsWaitMs = 10_000;

/** The maximum heap of a process that runs a plugin's module in a trial or for `plugin check`. */
export const trialHeapMebibytesMax = 256;
/** The time after which a trial's process exits by itself, in case the server was killed during the trial. */
export const trialProcessMs = 20_000;
/**
 * The time after which the process of `plugin check` exits by itself. This process also reads all files of the plugin.
 */
export const checkProcessMs = 60_000;
/**
 * After this number of server processes has ended during a load of the same plugin files, the files are not loaded
 * again.
 */
export const unfinishedLoadsMax = 2;

/** The most bytes of log lines of one plugin in memory: about a thousand lines. */
export const pluginLogBytesMax = 262_144;
/** The most bytes of log lines of all plugins in memory. */
export const pluginLogsBytesMax = 16 * 1_048_576;
/** The maximum size of one log line in memory. A longer line loses its fields, and its message is truncated. */
export const pluginLogLineBytesMax = 8_192;

/**
 * The time for which an upgrade checks stored objects before the response: enough for 400,000 small objects. The other
 * objects are checked after the upgrade.
 */
export const upgradeCheckMsMax = 20_000;
/**
 * The time after which an upgrade is refused if a step of a migration has not returned. Usually, a step takes far less
 * than a millisecond.
 */
export const migrationStepMsMax = 5_000;
/** The most invalid objects that the report of an upgrade names. */
export const invalidObjectsShownMax = 10;
/** The most errors of each invalid object in the report of an upgrade. */
export const invalidErrorsShownMax = 4;
/** The maximum length of an error's pointer, and of its detail, in the report of an upgrade. */
export const upgradeDetailLengthMax = 256;
/** The most entries of each other list in the report of an upgrade. */
export const upgradeEntriesMax = 100;
/** The most entries of each list in the report of an upgrade for which no other limit is set. */
export const invalidKnownMax = 100_000;
/**
 * If more than `invalidKnownMax` objects of a type are invalid, the leader checks all objects of the type at this
 * interval.
 */
export const invalidRecheckMs = 600_000;
/** The delay before a changed number of invalid objects is reported, because many objects may change together. */
export const invalidReportMs = 1_000;

export const migrationsPerPluginMax = 64;
/** The maximum length of a migration's id, which is a metric label and a part of messages. */
export const migrationIdLengthMax = 63;
/**
 * The most objects of a plugin that are migrated concurrently. With more, requests wait longer until their writes are
 * folded.
 */
export const migrationConcurrencyMax = 16;
/** The most writes of migrations in a second. The rest of the server's time is for requests. */
export const migrationWritesPerSecondMax = 4_000;
/** The number of objects' names that a migration reads at once. */
export const migrationPageNames = 256;
/**
 * The interval at which the progress of migrations is recorded. After a crash, objects after the last record are
 * visited again.
 */
export const migrationRecordMs = 2_000;
/** The delay before a failed migration continues is twice this time, and doubles with each further failure. */
export const migrationRetryMs = 500;
/** The longest delay before a failed migration continues. */
export const migrationRetryMsMax = 60_000;
/** The time for which the stop of a plugin waits for the writes of its migrations. */
export const migrationStopMs = 10_000;
/** The most failing objects of a migration that are known by name. */
export const migrationFailuresKnownMax = 10_000;
/** The interval at which all objects of a migration are visited again while an object fails. */
export const migrationRecheckMs = 600_000;

/** The most files of a plugin's front end, including compressed forms. */
export const frontEndFilesMax = 256;
/** The most bytes of all files of a front end, including compressed forms. */
export const frontEndBytesMax = 8_388_608;
/** The most bytes of the files of the console and of all front ends in memory. */
export const webFilesKeptBytesMax = 64 * 1_048_576;
/** The most folders between the folder of a front end and a file. */
export const frontEndDepthMax = 4;
/** The maximum length of the name of a file or folder of a front end. */
export const frontEndNameLengthMax = 128;
