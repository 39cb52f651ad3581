import { ownWording } from './render'
import type { Wording } from '../dialects/dialect'
import { wording as messages } from '../dialects/messages/wording'
import { wording as responses } from '../dialects/responses/wording'

/** In a URL that may be unreadable: what a base URL that ends in `/v1` or a slash makes of a path counts too. */
const ofMessages = /^(https?:\/\/[^/]*)?(\/+v1)*\/+messages(?![\w-])/
const ofResponses = /^(https?:\/\/[^/]*)?(\/+v1)*\/+responses(?![\w-])/
const ofModels = /^(https?:\/\/[^/]*)?(\/+v1)*\/+models(?![\w-])/

/** Whether a request is for the list of models in Anthropic's shape. Source: wire.md 13.1. */
export const asksAnthropic = (request: Request) => request.headers.has('anthropic-version')

/** How the answers to a request word their errors: as its client reads them. */
export function wordingOf(request: Request): Wording {
  const { url } = request
  if (ofMessages.test(url)) return messages
  if (ofResponses.test(url)) return responses
  return ofModels.test(url) && asksAnthropic(request) ? messages : ownWording
}
