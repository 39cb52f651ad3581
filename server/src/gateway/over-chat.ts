import { chat } from './chat'
import type { Endpoint, Reply } from './job'
import type { Dialect, Translation } from '../dialects/dialect'
import type { Model } from '../catalog/model'
import { TranslatedChat, type ChatRequest } from '../wire/chat-request'
import { isObject, type JsonObject } from '../wire/json-body'

/** A level of thinking is a wish: a model that does not think would refuse the word. */
export function fittingChat(chat: JsonObject, { capabilities }: Model): JsonObject {
  if (capabilities.reasoning || chat['reasoning_effort'] === undefined) return chat
  const { reasoning_effort: _effort, ...rest } = chat
  return rest
}

/** Chat completions for callers of another format. */
export const overChat = (dialect: Dialect): Endpoint<typeof ChatRequest> => ({
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
