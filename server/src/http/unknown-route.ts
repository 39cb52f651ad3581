import { ApiError } from '../errors'

const modelPath =
  /^\/(?:chat\/completions|completions|embeddings|messages|models|responses|conversations)\b/

/** Returns the error for an unknown path. Frequent mistakes in base URLs get the right path. */
export function toUnknownRouteError(path: string): ApiError {
  const single = path.replaceAll(/\/{2,}/g, '/')
  const corrected = single.replace(/^(?:\/v1)+(?=\/)/, '/v1')
  const missing = 'The resource does not exist.'
  if (/^\/v1\/v1\/(?:messages|models)\b/.test(single)) {
    return notFound(
      `${missing} The base URL of an Anthropic client ends before /v1: use ${corrected}.`,
    )
  }
  if (corrected !== single)
    return notFound(`${missing} The path has /v1 more than once: use ${corrected}.`)
  if (single !== path)
    return notFound(`${missing} The path has two slashes in a row: use ${corrected}.`)
  if (!modelPath.test(path)) return notFound(missing)
  return notFound(`${missing} The base URL of this service ends in /v1: use /v1${path}.`)
}

/** Bounds the message, as a path may have any length. */
const maxMessage = 300

const notFound = (message: string) =>
  new ApiError('resource_not_found', { message: message.slice(0, maxMessage) })
