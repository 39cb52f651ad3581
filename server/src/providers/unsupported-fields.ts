import { invalidRequest } from '../errors'
import type { ChatRequest } from '../wire/chat-request'

/** A field that changes the meaning of the answer, and has no counterpart there. Source: contract 4. */
export const unsupported = (param: string, message: string) =>
  invalidRequest(param, 'unsupported_by_model', message)

const modalityNames: Readonly<Record<string, string>> = { audio: 'audio', image: 'images' }

/**
 * Throws for fields that no dialect without counterparts may leave out in silence. `madeModalities`: what its answers
 * can have beside text.
 */
export function refuseForeign(chat: ChatRequest, madeModalities: readonly string[] = []): void {
  if (chat.n && chat.n > 1) {
    throw unsupported(
      'n',
      'This model returns one choice per request. Send several requests instead.',
    )
  }
  const foreignModality = chat.modalities?.find(
    (name) => name !== 'text' && !madeModalities.includes(name),
  )
  if (foreignModality) {
    throw unsupported(
      'modalities',
      `This model does not produce ${modalityNames[foreignModality]}.`,
    )
  }
  if (chat['web_search_options']) {
    throw unsupported(
      'web_search_options',
      'This model does not support web search by this option.',
    )
  }
  if (chat['moderation']) {
    throw unsupported('moderation', 'This model does not support moderation.')
  }
}
