import { ownErrorFormat } from './render'
import { scimErrorFormat } from './scim-error-format'
import type { ErrorFormat } from '../protocols/dialect'
import { errorFormat as messages } from '../protocols/messages/error-format'
import { createFailedStream } from '../protocols/responses/failed-stream'
import { errorFormat as responses } from '../protocols/responses/error-format'

/** Matches a URL that may be malformed, including the repeated `/v1` or slashes of a base URL that ends in them. */
const ofMessages = /^(https?:\/\/[^/]*)?(\/+v1)*\/+messages(?![\w-])/
const ofResponses = /^(https?:\/\/[^/]*)?(\/+v1)*\/+responses(?![\w-])/
const ofModels = /^(https?:\/\/[^/]*)?(\/+v1)*\/+models(?![\w-])/

const ofScim = /^(https?:\/\/[^/]*)?\/+scim\//

/** Whether a request asks for the list of models in Anthropic's format. Source: contract 5.1. */
export const usesMessagesFormat = (request: Request) => request.headers.has('anthropic-version')

/** The SDKs of OpenAI accept JSON and read an error from its status; Codex does not. */
const takesStreamsOnly = (request: Request) =>
  request.headers.get('accept')?.trim() === 'text/event-stream'

const streamedResponses: ErrorFormat = { ...responses, failedStream: createFailedStream }

/** Returns the error format that the client of a request reads. */
export function getErrorFormat(request: Request): ErrorFormat {
  const { url } = request
  if (ofMessages.test(url)) return messages
  if (ofResponses.test(url)) return takesStreamsOnly(request) ? streamedResponses : responses
  if (ofScim.test(url)) return scimErrorFormat
  return ofModels.test(url) && usesMessagesFormat(request) ? messages : ownErrorFormat
}
