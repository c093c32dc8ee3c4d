import { messagesOf, type Messages } from './messages-of.ts';

export default messagesOf(import.meta.glob<Messages>('../**/messages/zh.json', { eager: true, import: 'default' }));
