/** A load, a build of indexes or a stop that takes longer than this is told in the status while it lasts. */
export const slowStepMs = 500;
/** How often it is told how far that is. */
export const progressToldMs = 1_000;
/** `stop()` of a definition has as long as a start. */
export const pluginStopMs = 10_000;
/** After a change of files nothing is read until none has changed for this long: an editor or a build writes several. */
export const filesSettleMs = 200;
/** How often files are looked at though nothing was told of them: watching misses what network drives and containers do. */
export const filesPollMs = 2_000;
/** Files of one plugin that are looked at; one with more of them is told so and not reloaded for those beyond. */
export const filesWatchedMax = 2_000;
/** Folders of one plugin that are watched; those beyond are only polled. */
export const foldersWatchedMax = 64;
/** A file is compared by its content up to this length, and beyond it by length and time. */
export const fileComparedBytesMax = 8_388_608;
/** Listeners on `process` that are remembered of one plugin. */
export const processListenersMax = 256;
/** Types remembered of one plugin, those of earlier versions included. */
export const typesRememberedMax = 256;
/** Objects read, and then removed, at a time when a plugin's data is deleted. */
export const eraseBatchObjects = 64;
/** What could not be removed is tried again after this. */
export const eraseRetryMs = 5_000;
/** How long the start of a server waits for the log to give a package that is not unpacked here. */
export const packageWaitMs = 2_000;
/** To find the line of a syntax error: how long the program that looks for it may take, and how many of a plugin's files it reads. */
export const syntaxCheckMs = 3_000;
export const syntaxCheckedFilesMax = 1_000;
/** At the start types are registered in the order of discovery, for which plugins that are loaded wait this long for those that are not. */
export const loadTogetherMs = 2_000;
