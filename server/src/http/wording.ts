import { ownWording } from './render'
import type { Wording } from '../dialects/dialect'
import { wording as messages } from '../dialects/messages/wording'
import { failedStream } from '../dialects/responses/failed-stream'
import { wording as responses } from '../dialects/responses/wording'

/** In a URL that may be unreadable: what a base URL that ends in `/v1` or a slash makes of a path counts too. */
const ofMessages = /^(https?:\/\/[^/]*)?(\/+v1)*\/+messages(?![\w-])/
const ofResponses = /^(https?:\/\/[^/]*)?(\/+v1)*\/+responses(?![\w-])/
const ofModels = /^(https?:\/\/[^/]*)?(\/+v1)*\/+models(?![\w-])/

/** Whether a request is for the list of models in Anthropic's shape. Source: contract 5.1. */
export const asksAnthropic = (request: Request) => request.headers.has('anthropic-version')

/** The SDKs of OpenAI take JSON and read an error by its status; Codex does not. */
const takesStreamsOnly = (request: Request) =>
  request.headers.get('accept')?.trim() === 'text/event-stream'

const streamedResponses: Wording = { ...responses, failedStream }

/** How the answers to a request word their errors: as its client reads them. */
export function wordingOf(request: Request): Wording {
  const { url } = request
  if (ofMessages.test(url)) return messages
  if (ofResponses.test(url)) return takesStreamsOnly(request) ? streamedResponses : responses
  return ofModels.test(url) && asksAnthropic(request) ? messages : ownWording
}
