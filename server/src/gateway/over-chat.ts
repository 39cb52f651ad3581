import { chat } from './chat'
import type { Endpoint, Reply } from './job'
import type { Dialect, Translation } from '../dialects/dialect'
import { TranslatedChat, type CallerChat } from '../wire/chat-request'
import { isObject } from '../wire/json-body'

/** Chat completions for callers of another format. */
export const overChat = (dialect: Dialect): Endpoint<typeof CallerChat> => ({
  ...chat,
  schema: TranslatedChat,
  translate: dialect.read,
})

/** A reply in the words of its caller; as it is where those are ours. */
export function told(reply: Reply, translation: Translation | undefined): Reply {
  if (!translation) return reply
  if (reply.kind === 'whole' && reply.isTold) return reply
  if (reply.kind === 'stream') return { ...reply, writer: translation.writer(reply.identity) }
  return isObject(reply.body) ? { ...reply, body: translation.answer(reply.body) } : reply
}
