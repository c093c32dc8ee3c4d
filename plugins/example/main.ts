import { definePlugin } from '../../src/plugin/plugin.ts';
import { widget } from './widget.ts';

export default definePlugin({ types: [widget] });
