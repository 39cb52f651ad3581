import { chat } from './chat'
import type { Endpoint } from './endpoint'
import type { Reply } from './request'
import type { Dialect, Translation } from '../protocols/dialect'
import { textChatKinds } from '../catalog/chat-kinds'
import { TranslatedChat, type CallerChat } from '../wire/chat-request'
import { isObject } from '../wire/json-body'

/** Serves chat completions to callers of another format. */
export const overChat = (dialect: Dialect): Endpoint<typeof CallerChat> => ({
  ...chat,
  schema: TranslatedChat,
  kinds: textChatKinds,
  translate: dialect.read,
  // Clients of these formats know models by the names that their makers give them.
  bareNames: true,
})

/** A reply in its caller's format; unchanged where that is ours. */
export function renderForCaller(
  reply: Reply,
  translation: Translation | undefined,
  promptTokens: number,
): Reply {
  if (!translation) return reply
  if (reply.kind === 'full' && reply.isEncoded) return reply
  if (reply.kind === 'stream') {
    return { ...reply, writer: translation.writer(reply.identity, promptTokens) }
  }
  return isObject(reply.body) ? { ...reply, body: translation.answer(reply.body) } : reply
}
