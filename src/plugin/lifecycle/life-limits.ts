/** A load, an index build or a stop that takes longer is reported in the status while it runs. */
export const slowStepMs = 500;
/** The interval of progress reports. */
export const progressReportMs = 1_000;
/** The time limit of a definition's `stop()`, the same as for a start. */
export const pluginStopMs = 10_000;
/** Files are read once none has changed for this long: an editor or a build writes several. */
export const filesSettleMs = 200;
/** The polling interval for files, since notifications miss changes on network drives and in containers. */
export const filesPollMs = 2_000;
/**
 * The most files of one plugin that are scanned. A plugin with more files is reported, and changes of the others do not
 * reload it.
 */
export const filesWatchedMax = 2_000;
/** The most folders of one plugin that are watched; the others are only polled. */
export const foldersWatchedMax = 64;
/** Files up to this size are compared by content, larger ones by size and time. */
export const fileComparedBytesMax = 8_388_608;
/** The most `process` listeners recorded for one plugin. */
export const processListenersMax = 256;
/** The most types recorded for one plugin, those of earlier versions included. */
export const typesRememberedMax = 256;
/** Objects read and removed in one batch when a plugin's data is deleted. */
export const eraseBatchObjects = 64;
/** The delay before a failed removal is retried. */
export const eraseRetryMs = 5_000;
/** How long the server's start waits for the log to return a package that is not unpacked here. */
export const packageWaitMs = 2_000;
/**
 * For finding the line of a syntax error: the time limit of the checking process, and the most files of a plugin that
 * it reads.
 */
export const syntaxCheckMs = 3_000;
export const syntaxCheckedFilesMax = 1_000;
/** At the start, types are registered in the order of discovery; loaded plugins wait this long for the others. */
export const loadTogetherMs = 2_000;
