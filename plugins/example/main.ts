import { definePlugin } from '../../src/plugin/api/plugin.ts';
import { phases } from './keep-phase.ts';
import { widget } from './widget.ts';

export default definePlugin({ types: [widget], reconcilers: [phases] });
