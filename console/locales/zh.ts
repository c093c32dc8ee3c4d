import { messagesOf } from './messages-of.ts';

export default messagesOf(import.meta.glob('../**/messages/zh.json', { eager: true, import: 'default' }));
